"""Provenance: which artifact was made from which."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from memorepair.errors import InvalidInput, UnknownId
from memorepair.graphs.digraph import Digraph, Index, Int64, Mask, arc_order, read_only
from memorepair.graphs.reach import reach, slice_to
from memorepair.graphs.support import FORMS, Evidence, Policy, SupportForm, weigh
from memorepair.graphs.terms import PROPAGATING, Arch, Kind, Relation

Bytes = npt.NDArray[np.uint8]
Id = TypeVar("Id", bound=Hashable)
Number = TypeVar("Number", bound=np.integer)

_KINDS = np.array(sorted(Kind), np.uint8)
_ARCHES = np.array(sorted(Arch), np.uint8)
_RELATIONS = np.array(sorted(Relation), np.uint8)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProvenanceGraph(Generic[Id]):
    """n artifacts or trace steps, with the arcs that say what each was made from.

    Build it with `ProvenanceBuilder`. Nodes are numbered in the order of `ids`; arrays over arcs follow the
    arc order of `influence`.

    Attributes
    ----------
    ids
        n different hashable ids.
    kind : (n,) uint8
        A `Kind` each.
    arch : (n,) uint8
        An `Arch` each: NONE exactly where the kind is not SKILL.
    born : (n,) int64
        Time of birth, nanoseconds since the epoch.
    influence : Digraph
        E_inf: an arc u -> v says that v was produced with u as causal support.
    relation : (m,) uint8
        A `Relation` for each influence arc.
    group : (m,) int32
        Support group of each influence arc; arcs with equal head and equal number form one group.
    support_form
        How the groups of a node are read. ``"alternatives"``: every arc of a group is needed, one group is
        enough (memory, traces). ``"requirements"``: one arc of a group is enough, every group is needed
        (package dependencies).
    semantic : Digraph
        E_sem on the same nodes: similarity as recorded. It serves retrieval; no cascade follows it.

    Raises
    ------
    InvalidInput
        An array of the wrong dtype or length, a repeated id, a number that is no kind or relation.
    """

    ids: tuple[Id, ...]
    kind: Bytes
    arch: Bytes
    born: Int64
    influence: Digraph
    relation: Bytes
    group: Index
    support_form: SupportForm
    semantic: Digraph
    _number: MappingProxyType[Id, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        n, m = len(self.ids), self.influence.m
        if self.influence.n != n or self.semantic.n != n:
            witness = (n, self.influence.n, self.semantic.n)
            raise InvalidInput("ids, influence, semantic differ in their number of nodes", witness=witness)
        _check("kind", self.kind, n, np.uint8, _KINDS)
        _check("arch", self.arch, n, np.uint8, _ARCHES)
        _check("born", self.born, n, np.int64)
        _check("relation", self.relation, m, np.uint8, _RELATIONS)
        _check("group", self.group, m, np.int32)
        if self.support_form not in FORMS:
            raise InvalidInput(f"no support form {self.support_form!r}", witness=self.support_form)
        number = {id: node for node, id in enumerate(self.ids)}
        if len(number) < n:
            repeated = next(id for node, id in enumerate(self.ids) if number[id] != node)
            raise InvalidInput(f"{repeated!r} is declared twice", witness=repeated)
        odd = (self.kind == Kind.SKILL) == (self.arch == Arch.NONE)
        if odd.any():
            id = self.ids[int(np.flatnonzero(odd)[0])]
            raise InvalidInput(f"{id!r}: a skill has an architecture, nothing else has one", witness=id)
        object.__setattr__(self, "_number", MappingProxyType(number))

    @property
    def n(self) -> int:
        """Number of nodes."""
        return len(self.ids)

    def __contains__(self, id: object) -> bool:
        return id in self._number

    def number(self, id: Id) -> int:
        """Node number of `id`.

        Raises
        ------
        UnknownId
            No node has it (witness: the id).
        """
        try:
            return self._number[id]
        except KeyError:
            raise UnknownId(f"no node {id!r}", witness=id) from None

    def mask(self, ids: Iterable[Id]) -> Mask:
        """The set `ids` as a mask, (n,) bool; UnknownId for one that is not here."""
        mask = np.zeros(self.n, np.bool_)
        mask[[self.number(id) for id in ids]] = True
        return mask

    def named(self, mask: Mask) -> tuple[Id, ...]:
        """The ids where `mask` (n,) is true, in node order."""
        return tuple(self.ids[node] for node in np.flatnonzero(mask).tolist())

    def along(self, relations: Collection[Relation]) -> Digraph:
        """The influence arcs of the given relations, on the same nodes; O(n + m)."""
        kept = np.isin(self.relation, np.array(sorted(relations), np.uint8))
        if kept.all():
            return self.influence
        return Digraph.from_arcs(self.n, self.influence.tails()[kept], self.influence.heads[kept])

    def reach(self, roots: Iterable[Id], *, relations: Collection[Relation] = PROPAGATING) -> Mask:
        """What the roots have influenced, directly or not, the roots included: Reach(F; E_inf).

        Parameters
        ----------
        roots
            Ids of F.
        relations
            Relations to follow. The default leaves out SUPERSEDE, which counts in the lineage of a failed run
            only: pass ``frozenset(Relation)`` there.

        Returns
        -------
        (n,) bool

        Raises
        ------
        UnknownId
            A root is not in the graph.

        Notes
        -----
        O(n + m). Semantic arcs are never followed.
        """
        return reach(self.along(relations), self.mask(roots))

    def cascade(self, roots: Iterable[Id]) -> tuple[Id, ...]:
        """C(F): the ids of `reach`, in node order."""
        return self.named(self.reach(roots))

    def descendants(self, roots: Iterable[Id]) -> tuple[Id, ...]:
        """D(F): the cascade without its roots, in node order."""
        given = self.mask(roots)
        return self.named(reach(self.along(PROPAGATING), given) & ~given)

    def sources(
        self, targets: Iterable[Id], *, relations: Collection[Relation] = PROPAGATING
    ) -> tuple[Id, ...]:
        """The backward slice: ids that have influenced `targets`, the targets included, in node order."""
        return self.named(slice_to(self.along(relations), self.mask(targets)))

    def evidence(
        self,
        roots: Iterable[Id],
        *,
        policy: Policy,
        relations: Collection[Relation] = PROPAGATING,
        same_origin: Iterable[Iterable[Id]] = (),
    ) -> Evidence:
        """What the roots affect, and what of it stays on support that they leave; `weigh` has the policies.

        Parameters
        ----------
        roots
            Ids of F.
        policy
            ``none``, ``direct`` or ``grounded``.
        relations
            Relations the fault follows. Support are those that propagate.
        same_origin
            Sets of ids that count as one source each.

        Raises
        ------
        UnknownId
            A root or a source is not in the graph.
        InvalidInput
            There is no such policy.
        """
        kept = np.isin(self.relation, np.array(sorted(relations), np.uint8))
        justifies = np.isin(self.relation, np.array(sorted(PROPAGATING), np.uint8))
        return weigh(
            self.along(relations),
            self.group[kept],
            self.mask(roots),
            policy=policy,
            form=self.support_form,
            justifies=justifies[kept],
            same_origin=[[self.number(id) for id in one] for one in same_origin],
        )

    def withdrawn(
        self, roots: Iterable[Id], *, policy: Policy, same_origin: Iterable[Iterable[Id]] = ()
    ) -> tuple[Id, ...]:
        """W: the ids of the cascade without those that evidence spares, in node order."""
        given = self.mask(roots)
        found = self.evidence(self.named(given), policy=policy, same_origin=same_origin)
        return self.named(given | (found.affected & ~found.spared))


class ProvenanceBuilder(Generic[Id]):
    """Collects nodes and arcs by id, in any order, for one `ProvenanceGraph`.

    Parameters
    ----------
    support_form
        As in `ProvenanceGraph`.

    Examples
    --------
    >>> builder = ProvenanceBuilder[str]()
    >>> builder.add("home", kind=Kind.RECORD)
    >>> builder.add("profile", kind=Kind.SUMMARY)
    >>> builder.influence("home", "profile")
    >>> builder.build().cascade(["home"])
    ('home', 'profile')
    """

    def __init__(self, *, support_form: SupportForm = "alternatives") -> None:
        self._support_form: SupportForm = support_form
        self._number: dict[Id, int] = {}
        self._nodes: list[tuple[Kind, Arch, int]] = []
        self._influence: list[tuple[Id, Id]] = []
        self._labels: list[tuple[Relation, int]] = []
        self._semantic: list[tuple[Id, Id]] = []

    def add(self, id: Id, *, kind: Kind, arch: Arch = Arch.NONE, born: int = 0) -> None:
        """Declare a node.

        Raises
        ------
        InvalidInput
            The id is declared already (witness: the id).
        """
        if id in self._number:
            raise InvalidInput(f"{id!r} is declared twice", witness=id)
        self._number[id] = len(self._nodes)
        self._nodes.append((kind, arch, born))

    def influence(self, tail: Id, head: Id, *, relation: Relation = Relation.DERIVE, group: int = 0) -> None:
        """Declare that `head` was produced with `tail` as support, in support group `group` of `head`."""
        self._influence.append((tail, head))
        self._labels.append((relation, group))

    def semantic(self, tail: Id, head: Id) -> None:
        """Declare a similarity, which no cascade follows."""
        self._semantic.append((tail, head))

    def build(self) -> ProvenanceGraph[Id]:
        """The graph of what was declared.

        Raises
        ------
        InvalidInput
            An arc ends at an id that was never declared (witness: the arc), or a value does not fit.
        """
        n = len(self._nodes)
        tails, heads = self._ends(self._influence)
        order = arc_order(tails)
        kind, arch, born = zip(*self._nodes, strict=True) if self._nodes else ((), (), ())
        relation, group = zip(*self._labels, strict=True) if self._labels else ((), ())
        return ProvenanceGraph(
            ids=tuple(self._number),
            kind=_filled("kind", kind, np.uint8),
            arch=_filled("arch", arch, np.uint8),
            born=_filled("born", born, np.int64),
            influence=Digraph.from_arcs(n, tails, heads),
            relation=_filled("relation", relation, np.uint8)[order],
            group=_filled("group", group, np.int32)[order],
            support_form=self._support_form,
            semantic=Digraph.from_arcs(n, *self._ends(self._semantic)),
        )

    def _ends(self, arcs: list[tuple[Id, Id]]) -> tuple[Index, Index]:
        number = self._number
        try:
            tails = [number[tail] for tail, _ in arcs]
            heads = [number[head] for _, head in arcs]
        except KeyError:
            dangling = next(arc for arc in arcs if arc[0] not in number or arc[1] not in number)
            raise InvalidInput(f"arc {dangling} ends at an undeclared id", witness=dangling) from None
        return np.array(tails, np.int32), np.array(heads, np.int32)


def _check(
    name: str,
    array: npt.NDArray[np.integer],
    length: int,
    dtype: type[np.integer],
    allowed: Bytes | None = None,
) -> None:
    if array.dtype != dtype or array.shape != (length,):
        witness = (str(array.dtype), array.shape)
        raise InvalidInput(f"{name} must be {dtype.__name__} of shape ({length},)", witness=witness)
    if allowed is not None:
        strange = ~np.isin(array, allowed)
        if strange.any():
            number = int(array[strange][0])
            raise InvalidInput(f"{name} has no number {number}", witness=number)
    read_only(array)


def _filled(name: str, values: Sequence[int], dtype: type[Number]) -> npt.NDArray[Number]:
    limits = np.iinfo(dtype)
    for value in (min(values, default=0), max(values, default=0)):
        if not limits.min <= value <= limits.max:
            raise InvalidInput(f"{name} {value} does not fit {dtype.__name__}", witness=value)
    return np.array(values, dtype)
