"""MineLib files: open pits, ``.upit`` or ``.cpit`` beside ``.prec``.

A ``.upit`` holds the value of each block, the ``.prec`` beside it, of the same name, the blocks that each
block needs. A ``.cpit`` adds resources and their limits in each period: a schedule. Read as a selection it
asks what can be dug by the end of the last period: a resource is a cost, its limits over the periods add up
to its budget, nothing is discounted. The blocks of any schedule are a feasible selection.

Source: D. Espinoza, M. Goycoolea, E. Moreno, A. Newman, MineLib: a library of open pit mining problems,
Annals of Operations Research 206, 2013; MineLib file format specification 1.0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, TypeVar, cast

import numpy as np
import numpy.typing as npt

from memorepair.errors import InvalidFile, InvalidInput
from memorepair.formats import linear
from memorepair.formats.format import Content
from memorepair.formats.instance_json import instance_only
from memorepair.formats.linear import Exact
from memorepair.formats.text import count, fault, number, place, read_text, write_text
from memorepair.graphs.digraph import Digraph
from memorepair.problems import SelectionInstance

_SEPARATORS = re.compile(r"[ \t:]+")
_INDEX_DIGITS = 10
_COUNTS = ("NBLOCKS", "NPERIODS", "NRESOURCE_SIDE_CONSTRAINTS")
_OBJECTIVE, _COEFFICIENTS, _LIMITS = (
    "OBJECTIVE_FUNCTION",
    "RESOURCE_CONSTRAINT_COEFFICIENTS",
    "RESOURCE_CONSTRAINT_LIMITS",
)
_CPIT_ONLY = (*_COUNTS[1:], "DISCOUNT_RATE", _COEFFICIENTS, _LIMITS)

Key = TypeVar("Key")


class Upit:
    """MineLib's ultimate pit."""

    name: ClassVar[str] = "upit"
    suffixes: ClassVar[tuple[str, ...]] = (".upit",)

    def read(self, path: Path, /) -> SelectionInstance:
        """The pit in `path` and the ``.prec`` beside it; blocks are the candidates 0 .. k - 1."""
        return _read(path, "UPIT")

    def write(self, content: Content, path: Path, /) -> None:
        """Writes `path` and the ``.prec`` beside it.

        Raises
        ------
        InvalidFile
            The instance has a budget, something required or not executable, or a profit without finite
            decimal.
        """
        instance = _pit(content, self.name)
        if instance.budget is not None:
            raise InvalidFile("upit cannot hold a budget: cpit can", witness="budget")
        _write(path, ["NAME: closure", "TYPE: UPIT", f"NBLOCKS: {instance.k}", *_values(instance)], instance)


class Cpit:
    """MineLib's constrained pit."""

    name: ClassVar[str] = "cpit"
    suffixes: ClassVar[tuple[str, ...]] = (".cpit",)

    def read(self, path: Path, /) -> SelectionInstance:
        """The pit in `path` and the ``.prec`` beside it, its budgets what all periods allow together."""
        return _read(path, "CPIT")

    def write(self, content: Content, path: Path, /) -> None:
        """Writes `path`, of one period, and the ``.prec`` beside it.

        Raises
        ------
        InvalidFile
            The instance has no budget, something required or not executable, or a number without finite
            decimal.
        """
        instance = _pit(content, self.name)
        budgets = linear.budget_rows(instance)
        if not budgets:
            raise InvalidFile("cpit needs a budget: upit does not", witness="budget")
        text = [
            "NAME: closure",
            "TYPE: CPIT",
            f"NBLOCKS: {instance.k}",
            "NPERIODS: 1",
            f"NRESOURCE_SIDE_CONSTRAINTS: {len(budgets)}",
            "DISCOUNT_RATE: 0",
            *_values(instance),
            f"{_COEFFICIENTS}:",
            *(
                f"{block} {resource} {cost}"
                for resource, (costs, _) in enumerate(budgets)
                for block, cost in enumerate(costs)
                if cost not in ("0", "0.0")
            ),
            f"{_LIMITS}:",
            *(f"{resource} 0 L {limit}" for resource, (_, limit) in enumerate(budgets)),
        ]
        _write(path, text, instance)


def read_precedences(path: Path | str) -> Digraph:
    """The digraph in a ``.prec`` file: i -> j where block i needs block j.

    Raises
    ------
    InvalidFile
        A line is not ``BLOCK COUNT BLOCK ...``, or not each block has one (witness: the line, or the block).
    """
    return parse_precedences(read_text(Path(path)))


def parse_precedences(text: str) -> Digraph:
    """The digraph that the text of a ``.prec`` file spells; raises as `read_precedences`."""
    rows = list(_rows(text))
    n = len(rows)
    needed: list[list[int] | None] = [None] * n
    for line, fields in rows:
        digits = "".join(fields)
        plain = digits.isascii() and digits.isdigit() and len(max(fields, key=len)) <= _INDEX_DIGITS
        numbers = [int(one) for one in fields] if plain else []
        if len(numbers) < 2 or numbers[1] != len(numbers) - 2:
            raise fault(line, "expected a block, how many blocks it needs, and these")
        block, needs = numbers[0], numbers[2:]
        last = max(block, *needs, 0)
        if last >= n:
            raise fault(line, f"block {last} has no line of its own among {n}")
        if needed[block] is not None:
            raise fault(line, f"block {block} has a second line")
        needed[block] = needs
    lists = [needs or [] for needs in needed]
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum([len(needs) for needs in lists], out=offsets[1:])
    heads = np.fromiter((block for needs in lists for block in needs), np.int32, int(offsets[-1]))
    try:
        return Digraph.from_arcs(n, np.repeat(np.arange(n), np.diff(offsets)), heads)
    except InvalidInput as error:
        raise InvalidFile(str(error), witness=error.witness) from error


@dataclass(slots=True)
class _Model:
    """What the optimisation file has said so far."""

    header: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    values: dict[int, Exact] = field(default_factory=dict)
    coefficients: dict[tuple[int, int], Exact] = field(default_factory=dict)
    limits: dict[tuple[int, int], Exact] = field(default_factory=dict)
    last: int = 0

    def head(self, line: int, key: str, rest: list[str]) -> None:
        """A line KEY: VALUE."""
        if key in self.header or (key != "NAME" and len(rest) != 1):
            raise fault(line, f"expected one value of {key}, once")
        self.header[key] = rest[0] if rest else ""
        if key in _COUNTS:
            self.counts[key] = count(rest[0], line, key)
        if key == "DISCOUNT_RATE" and number(rest[0], line, key) < 0:
            raise fault(line, "the discount rate is negative")

    def objective(self, line: int, fields: list[str]) -> None:
        """BLOCK VALUE."""
        if len(fields) != 2:
            raise fault(line, "expected a block and its value")
        block = self._index(fields[0], line, "block", "NBLOCKS")
        _once(self.values, block, number(fields[1], line, "value"), line)

    def coefficient(self, line: int, fields: list[str]) -> None:
        """BLOCK RESOURCE AMOUNT; what is left out is 0."""
        if len(fields) != 3:
            raise fault(line, "expected a block, a resource, an amount")
        block = self._index(fields[0], line, "block", "NBLOCKS")
        resource = self._index(fields[1], line, "resource", "NRESOURCE_SIDE_CONSTRAINTS")
        amount = number(fields[2], line, "amount")
        if amount < 0:
            raise fault(line, f"block {block} yields resource {resource}: a budget has costs of at least 0")
        _once(self.coefficients, (block, resource), amount, line)

    def limit(self, line: int, fields: list[str]) -> None:
        """RESOURCE PERIOD L LIMIT."""
        if len(fields) != 4 or fields[2] != "L":
            raise fault(line, "expected a resource, a period, L, a limit: a budget has upper limits only")
        resource = self._index(fields[0], line, "resource", "NRESOURCE_SIDE_CONSTRAINTS")
        period = self._index(fields[1], line, "period", "NPERIODS")
        limit = number(fields[3], line, "limit")
        if limit < 0:
            raise fault(line, f"limit {limit} is negative")
        _once(self.limits, (resource, period), limit, line)

    def instance(self, requires: Digraph) -> SelectionInstance:
        """The model as a selection."""
        n, periods, resources = (self.counts.get(key, 0) for key in _COUNTS)
        if len(self.values) != n:
            raise fault(self.last, f"the file ends with a value for {len(self.values)} of {n} blocks")
        if len(self.limits) != periods * resources:
            told = f"{len(self.limits)} limits for {resources} resources in {periods} periods"
            raise fault(self.last, f"the file ends with {told}")
        if requires.n != n:
            raise fault(self.last, f"{n} blocks have a value, {requires.n} blocks have precedences")
        costs: list[list[Exact]] = [[0] * n for _ in range(resources)]
        for (block, resource), amount in self.coefficients.items():
            costs[resource][block] = amount
        limits: list[Exact] = [0] * resources
        for (resource, _), limit in self.limits.items():
            limits[resource] += limit
        cost = costs[0] if resources == 1 else list(zip(*costs, strict=True)) if costs else [0] * n
        return SelectionInstance(
            value=cast("npt.NDArray[np.object_]", [self.values[block] for block in range(n)]),
            cost=cast("npt.NDArray[np.object_]", cost),
            requires=requires,
            executable=np.ones(n, np.bool_),
            required=np.zeros(n, np.bool_),
            budget=None if not limits else limits[0] if resources == 1 else tuple(limits),
        )

    def _index(self, text: str, line: int, what: str, key: str) -> int:
        if key not in self.counts:
            raise fault(line, f"{key} must come first")
        return place(text, line, what, 0, self.counts[key])


def _once(found: dict[Key, Exact], key: Key, amount: Exact, line: int) -> None:
    if key in found:
        raise fault(line, f"{key} is given twice")
    found[key] = amount


def _read(path: Path, kind: str) -> SelectionInstance:
    model = _parse(read_text(path), kind)
    beside = path.with_suffix(".prec")
    try:
        requires = read_precedences(beside)
    except InvalidFile as error:
        raise InvalidFile(f"{beside.name}: {error}", witness=error.witness) from error
    return model.instance(requires)


def _parse(text: str, kind: str) -> _Model:
    model = _Model()
    read = {_OBJECTIVE: model.objective, _COEFFICIENTS: model.coefficient, _LIMITS: model.limit}
    section, line, over = "", 0, False
    for line, fields in _rows(text):
        key = fields[0].upper()
        if over:
            raise fault(line, "text after EOF")
        if key == "EOF":
            over = True
        elif kind == "UPIT" and key in _CPIT_ONLY:
            raise fault(line, f"{key} in an ultimate pit")
        elif key in read:
            if key in model.header or len(fields) > 1:
                raise fault(line, f"{key} stands alone, once")
            model.header[key], section = "", key
        elif key in ("NAME", "TYPE", "DISCOUNT_RATE", *_COUNTS):
            model.head(line, key, fields[1:])
        elif section and key[0] in "+-0123456789.":
            read[section](line, fields)
        else:
            raise fault(line, f"unknown key {fields[0][:40]!r}")
        if key == "TYPE" and fields[1].upper() != kind:
            raise fault(line, f"type {fields[1]!r} is not {kind}")
    wanted = ["NBLOCKS", _OBJECTIVE] if kind == "UPIT" else [*_COUNTS, _OBJECTIVE, _COEFFICIENTS, _LIMITS]
    for key in wanted:
        if key not in model.header:
            raise fault(line, f"the file ends without {key}")
    model.last = line
    return model


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    for line, raw in enumerate(text.split("\n"), 1):
        content = raw.strip(" \t\r:")
        if content and not content.startswith("%"):
            yield line, _SEPARATORS.split(content)


def _pit(content: Content, format: str) -> SelectionInstance:
    instance = instance_only(content, format)
    for what, nodes in (("required", instance.required), ("not executable", ~instance.executable)):
        if nodes.any():
            id = instance.id_of(int(np.flatnonzero(nodes)[0]))
            raise InvalidFile(f"{format} cannot say that {id!r} is {what}", witness=id)
    return instance


def _values(instance: SelectionInstance) -> list[str]:
    return [f"{_OBJECTIVE}:", *(f"{block} {profit}" for block, profit in enumerate(linear.net(instance)))]


def _write(path: Path, model: list[str], instance: SelectionInstance) -> None:
    heads, offsets = instance.requires.heads.tolist(), instance.requires.offsets.tolist()
    needs = (heads[offsets[block] : offsets[block + 1]] for block in range(instance.k))
    lines = [" ".join(map(str, (block, len(found), *found))) for block, found in enumerate(needs)]
    write_text(path, "\n".join([*model, "EOF", ""]))
    write_text(path.with_suffix(".prec"), "\n".join([*lines, ""]))
