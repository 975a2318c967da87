"""Asking: what a user hands to select(), as a SelectionInstance."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Sized
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, issparse

from memorepair.errors import InvalidInput, InvalidInstance
from memorepair.graphs.convert import Sparse, from_sparse
from memorepair.graphs.digraph import Digraph, Mask
from memorepair.problems import SelectionInstance, check_hashable
from memorepair.problems.integers import Number, NumbersLike, check_unmasked, shown

if TYPE_CHECKING:
    import networkx as nx

Problem: TypeAlias = "SelectionInstance | Sequence[object] | nx.DiGraph"
Requires: TypeAlias = Digraph | Sparse | npt.NDArray[np.integer] | Iterable[tuple[Hashable, Hashable]]

_MISSING = object()


def as_instance(
    problem: Problem | None,
    *,
    value: NumbersLike | None,
    cost: NumbersLike | None,
    requires: Requires | None,
    executable: npt.ArrayLike | None,
    required: npt.ArrayLike | Iterable[Hashable],
    ids: Iterable[Hashable] | None,
    tradeoff: Number | None,
    budget: Number | Sequence[Number] | None,
) -> SelectionInstance:
    """The instance that `problem`, or else the arrays, stand for.

    `tradeoff` and `budget` go before its own, `required` is added to its own.

    Raises
    ------
    InvalidInput
        Malformed (InvalidInstance), or given twice (witness: the problem's type).
    """
    price: Number = 0 if tradeoff is None else tradeoff
    limit = _limit(budget)
    given = (value, cost, requires, executable, ids)
    kind = type(problem).__name__
    if problem is not None and any(argument is not None for argument in given):
        raise InvalidInput("a problem already holds its arrays: pass either", witness=kind)
    if isinstance(problem, SelectionInstance):
        instance = problem if tradeoff is None else replace(problem, tradeoff=tradeoff)
    elif isinstance(problem, (str, bytes)):
        raise InvalidInput("a problem is not text; read_instance reads files", witness=problem[:80])
    elif isinstance(problem, Sequence):
        instance = from_records(problem, price)
    elif problem is not None and hasattr(problem, "is_directed"):
        instance = from_graph(problem, price)
    elif problem is not None:
        raise InvalidInput(f"cannot select from a {kind}", witness=kind)
    elif value is None:
        raise InvalidInput("this needs a problem, or value= and the other arrays", witness=None)
    else:
        return from_arrays(
            value=value,
            cost=cost,
            requires=requires,
            executable=executable,
            required=required,
            ids=ids,
            tradeoff=price,
            budget=limit,
        )
    if not (isinstance(required, tuple) and not required):
        mask = _required(required, instance.k, _places(instance.ids, instance.k))
        instance = replace(instance, required=instance.required | mask)
    return instance if limit is None else replace(instance, budget=limit)


def _limit(budget: object) -> Number | tuple[Number, ...] | None:
    if isinstance(budget, np.ndarray) and budget.ndim == 0:
        return cast(Number, budget[()])
    if isinstance(budget, (Sequence, np.ndarray)) and not isinstance(budget, (str, bytes)):
        return tuple(budget)
    return cast("Number | None", budget)


def from_arrays(
    *,
    value: NumbersLike,
    cost: NumbersLike | None,
    requires: Requires | None,
    executable: npt.ArrayLike | None,
    required: npt.ArrayLike | Iterable[Hashable],
    ids: Iterable[Hashable] | None,
    tradeoff: Number,
    budget: Number | tuple[Number, ...] | None = None,
) -> SelectionInstance:
    """An instance from arrays; see `select` for what each may be."""
    if not isinstance(value, Sized):
        raise InvalidInstance("value must be an array or a list", witness=value)
    if issparse(value) or (isinstance(value, np.ndarray) and value.ndim == 0):  # these have no length
        raise InvalidInstance("value must have one dimension", witness=type(value).__name__)
    k = len(value)
    names = None if ids is None else _names(ids, k)
    place = _places(names, k)
    return SelectionInstance(
        value=cast("npt.NDArray[np.float64]", value),
        cost=cast("npt.NDArray[np.float64]", np.zeros(k, np.int64) if cost is None else cost),
        requires=_digraph(requires, k, names, place),
        executable=np.ones(k, np.bool_) if executable is None else _flags(executable, "executable"),
        required=_required(required, k, place),
        ids=names,
        tradeoff=tradeoff,
        budget=budget,
    )


def from_records(records: Sequence[object], tradeoff: Number) -> SelectionInstance:
    """An instance from candidate records, mappings or objects.

    A record has id and value and, unless left out, cost, requires (ids), executable, required; a mapping has
    no other field, as a misspelt one would drop a constraint.

    Raises
    ------
    InvalidInstance
        A record lacks id or value, or a field is not what it should be (witness: the id, or the record's
        position).
    """
    ids: list[Hashable] = []
    columns: dict[str, list[object]] = {"value": [], "cost": [], "executable": [], "required": []}
    prerequisites: list[Iterable[Hashable]] = []
    for position, record in enumerate(records):
        field = record.get if isinstance(record, Mapping) else partial(getattr, record)
        id = field("id", _MISSING)
        if id is _MISSING:
            raise InvalidInstance(f"record {position} has no id", witness=position)
        try:
            hash(id)
        except TypeError:
            raise InvalidInstance(f"id {shown(id)} is not hashable", witness=position) from None
        if isinstance(record, Mapping) and not record.keys() <= _FIELDS:
            unknown = next(name for name in record if name not in _FIELDS)
            raise InvalidInstance(f"candidate {shown(id)} has an unknown field {shown(unknown)}", witness=id)
        ids.append(id)
        for name, default in _COLUMNS:
            entry = field(name, default)
            if entry is _MISSING:
                raise InvalidInstance(f"candidate {shown(id)} has no {name}", witness=id)
            columns[name].append(entry)
        wanted = field("requires", ())
        if isinstance(wanted, str) or not isinstance(wanted, Iterable):
            raise InvalidInstance(f"requires of {shown(id)} must be a list of ids", witness=id)
        prerequisites.append(wanted)
    names = tuple(ids)
    k = len(names)
    return SelectionInstance(
        value=cast("npt.NDArray[np.float64]", columns["value"]),
        cost=cast("npt.NDArray[np.float64]", columns["cost"]),
        requires=_named_digraph(
            ((id, head) for id, heads in zip(names, prerequisites, strict=True) for head in heads),
            k,
            _places(names, k),
        ),
        executable=_named_flags(columns["executable"], "executable", names),
        required=_named_flags(columns["required"], "required", names),
        ids=names,
        tradeoff=tradeoff,
    )


_COLUMNS = (("value", _MISSING), ("cost", 0), ("executable", True), ("required", False))
_FIELDS = {"id", "requires", *(name for name, _ in _COLUMNS)}


def from_graph(graph: nx.DiGraph, tradeoff: Number) -> SelectionInstance:
    """An instance from a networkx DiGraph with these node attributes; i -> j reads "i requires j"."""
    if not graph.is_directed():
        raise InvalidInput(
            "the graph must be directed: i -> j reads 'i requires j'", witness=type(graph).__name__
        )
    records = []
    for id, about in graph.nodes(data=True):
        for name in ("id", "requires"):
            if name in about:
                raise InvalidInstance(
                    f"node {shown(id)} has an attribute {name!r}: nodes are ids, arcs say what they require",
                    witness=id,
                )
        records.append({**about, "id": id, "requires": list(graph.successors(id))})
    return from_records(records, tradeoff)


def _names(ids: Iterable[Hashable], k: int) -> tuple[Hashable, ...]:
    if not isinstance(ids, Iterable) or isinstance(ids, (set, frozenset)):
        raise InvalidInstance("ids must be in order, a list or an array", witness=type(ids).__name__)
    names = tuple(ids)
    if len(names) != k:
        raise InvalidInstance(f"{len(names)} ids for {k} candidates", witness=len(names))
    check_hashable(names)
    return names


Places = Callable[[Hashable], int]


def _places(names: tuple[Hashable, ...] | None, k: int) -> Places:
    """Position of a candidate by its name, hashable; raises KeyError for a name that is none."""
    if names is not None:
        return {id: place for place, id in enumerate(names)}.__getitem__

    def place(name: Hashable) -> int:
        if isinstance(name, (int, np.integer)) and not isinstance(name, bool) and 0 <= name < k:
            return int(name)
        raise KeyError(name)

    return place


def _digraph(requires: Requires | None, k: int, names: tuple[Hashable, ...] | None, place: Places) -> Digraph:
    if requires is None:
        return Digraph.from_arcs(k, (), ())
    if isinstance(requires, Digraph):
        if requires.n != k:
            raise InvalidInstance(f"requires has {requires.n} nodes for {k} candidates", witness=requires.n)
        return requires
    if issparse(requires):
        shape = requires.shape
        if shape != (k, k):  # before anything of that size is allocated
            raise InvalidInstance(f"requires has shape {shape} for {k} candidates", witness=shape)
        return from_sparse(coo_array(requires))
    check_unmasked(requires, "requires")
    if isinstance(requires, np.ndarray) or (names is None and isinstance(requires, (list, tuple))):
        try:
            pairs = np.asarray(requires) if len(requires) else np.zeros((0, 2), np.int64)
        except ValueError:
            raise InvalidInstance(
                "requires must be pairs (i, j), all of two", witness=len(requires)
            ) from None
        if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.issubdtype(pairs.dtype, np.integer):
            raise InvalidInstance(
                "requires must be pairs (i, j) of positions", witness=(str(pairs.dtype), pairs.shape)
            )
        return _from_pairs(pairs, k)
    return _named_digraph(cast("Iterable[tuple[Hashable, Hashable]]", requires), k, place)


def _from_pairs(pairs: npt.NDArray[np.integer], k: int) -> Digraph:
    try:
        return Digraph.from_arcs(k, pairs[:, 0], pairs[:, 1])
    except InvalidInput as error:
        raise InvalidInstance(f"requires: {error}", witness=error.witness) from None


def _named_digraph(pairs: Iterable[tuple[Hashable, Hashable]], k: int, place: Places) -> Digraph:
    arcs: list[tuple[int, int]] = []
    if isinstance(pairs, (str, bytes, Mapping)) or not isinstance(pairs, Iterable):
        kind = type(pairs).__name__
        raise InvalidInstance(
            f"requires must be pairs, an array, a Digraph, sparse; not {kind}", witness=kind
        )
    for pair in pairs:
        try:
            tail, head = pair
            arcs.append((place(tail), place(head)))
        except KeyError as error:
            tail, head, missing = shown(pair[0]), shown(pair[1]), shown(error.args[0])
            raise InvalidInstance(
                f"{tail} requires {head}, but no candidate is {missing}", witness=pair
            ) from None
        except (TypeError, ValueError):
            raise InvalidInstance(
                f"requires must hold pairs of ids, not {shown(pair)}", witness=pair
            ) from None
    return _from_pairs(np.array(arcs, np.int64).reshape(-1, 2), k)


def _flags(values: npt.ArrayLike, name: str) -> Mask:
    check_unmasked(values, name)
    flags = np.asarray(values)
    if flags.dtype == np.bool_ or flags.size == 0:
        return flags.astype(np.bool_)
    if np.issubdtype(flags.dtype, np.integer) and np.isin(flags, (0, 1)).all():
        return flags.astype(np.bool_)
    raise InvalidInstance(f"{name} must be booleans, or 0 and 1", witness=str(flags.dtype))


def _named_flags(values: list[object], name: str, names: tuple[Hashable, ...]) -> Mask:
    for id, entry in zip(names, values, strict=True):
        if not isinstance(entry, (bool, np.bool_)) and not (
            isinstance(entry, (int, np.integer)) and entry in (0, 1)
        ):
            raise InvalidInstance(
                f"{name} of {shown(id)} must be true or false, not {shown(entry)}", witness=id
            )
    return np.array(values, np.bool_)


def _required(required: npt.ArrayLike | Iterable[Hashable], k: int, place: Places) -> Mask:
    if isinstance(required, (str, bytes)) or not isinstance(required, Iterable):
        raise InvalidInstance("required must be ids or a mask", witness=required)
    check_unmasked(required, "required")
    if isinstance(required, np.ndarray) and required.ndim != 1:
        raise InvalidInstance("required must have one dimension", witness=required.shape)
    entries = (
        required.tolist() if isinstance(required, np.ndarray) else list(cast("Iterable[Hashable]", required))
    )
    if len(entries) == k and all(isinstance(entry, (bool, np.bool_)) for entry in entries):
        return np.array(entries, np.bool_)
    mask = np.zeros(k, np.bool_)
    for entry in entries:
        try:
            mask[place(entry)] = True
        except (KeyError, TypeError):
            raise InvalidInstance(
                f"required names {shown(entry)}, which is no candidate", witness=entry
            ) from None
    narrow = isinstance(required, np.ndarray) and required.dtype.itemsize == 1
    if len(entries) == k and set(entries) <= {0, 1} and (narrow or int(mask.sum()) < k):
        raise InvalidInstance("required is ids or a mask of booleans, not of 0 and 1", witness=k)
    return mask
