"""Free MPS files: the closure as a linear program, column by column.

Read back is what can be a closure: OBJSENSE MAX, rows ``x - y <= 0`` and budgets, bounds of 0 and 1. All else
is refused.

Source: IBM, ILOG CPLEX Optimization Studio, File formats: MPS.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import numpy as np

from memorepair.formats import linear
from memorepair.formats.format import Content
from memorepair.formats.instance_json import instance_only
from memorepair.formats.linear import Exact, Program, Row
from memorepair.formats.mps_plain import MARKS, SECTIONS, plain_program
from memorepair.formats.text import fault, number, read_text, write_text
from memorepair.problems import SelectionInstance


class Mps:
    """Free MPS."""

    name: ClassVar[str] = "mps"
    suffixes: ClassVar[tuple[str, ...]] = (".mps",)

    def read(self, path: Path, /) -> SelectionInstance:
        """As `parse_mps`."""
        return parse_mps(read_text(path))

    def write(self, content: Content, path: Path, /) -> None:
        """As `format_mps`; a network is refused."""
        write_text(path, format_mps(instance_only(content, self.name)))


def format_mps(instance: SelectionInstance) -> str:
    """`instance` as text; its candidates are x0, x1, ... in order.

    Raises
    ------
    InvalidFile
        A profit, cost or limit has no finite decimal (witness: the id).
    """
    arcs, budgets, profits = linear.arcs(instance), linear.budget_rows(instance), linear.net(instance)
    columns: list[list[str]] = [
        [f" {linear.variable(place)} obj {profit}"] for place, profit in enumerate(profits)
    ]
    for row, (tail, head) in enumerate(arcs):
        columns[tail].append(f" x{tail} r{row} 1")
        columns[head].append(f" x{head} r{row} -1")
    for kind, (costs, _) in enumerate(budgets):
        for place, cost in enumerate(costs):
            columns[place].append(f" x{place} budget{kind} {cost}")
    entries = [entry for column in columns for entry in column]
    if budgets:
        entries = [f" MARKER 'MARKER' {MARKS[0]}", *entries, f" MARKER 'MARKER' {MARKS[1]}"]
    bounds = [
        f" {kind} BND x{place} {int(bound)}"
        for place, (low, high) in enumerate(
            zip(instance.required.tolist(), instance.executable.tolist(), strict=True)
        )
        for kind, bound in (("LO", low), ("UP", high))
    ]
    return "\n".join(
        [
            *(f"* {comment}" for comment in linear.comments(instance)),
            "NAME closure",
            "OBJSENSE",
            " MAX",
            "ROWS",
            " N obj",
            *(f" L r{row}" for row in range(len(arcs))),
            *(f" L budget{kind}" for kind in range(len(budgets))),
            "COLUMNS",
            *entries,
            "RHS",
            *(f" RHS budget{kind} {limit}" for kind, (_, limit) in enumerate(budgets)),
            "BOUNDS",
            *bounds,
            "ENDATA",
            "",
        ]
    )


def parse_mps(text: str) -> SelectionInstance:
    """The instance that `text` spells.

    Raises
    ------
    InvalidFile
        Not the format, or a program that is no closure (witness: the line).
    """
    program = plain_program(text)
    return (read_program(text) if program is None else program).instance()


def read_program(text: str) -> Program:
    """The program that `text` spells, read line by line; raises as `parse_mps`."""
    reader = _Reader()
    section, line = "", 0
    for line, fields, indented in _fields(text):
        if section == "ENDATA":
            raise fault(line, "text after ENDATA")
        if not indented:
            name = fields[0].upper()
            before = -1 if not section else SECTIONS.index(section)
            if name not in SECTIONS or SECTIONS.index(name) <= before:
                raise fault(line, f"section {fields[0][:20]!r} is unknown or out of place")
            if len(fields) > 1:
                if name == "OBJSENSE":
                    reader.sense(line, fields[1:])
                elif name != "NAME":
                    raise fault(line, f"{name} stands alone on its line")
            section = name
        elif section == "OBJSENSE":
            reader.sense(line, fields)
        elif section == "ROWS":
            reader.row(line, fields)
        elif section == "COLUMNS":
            reader.column(line, fields)
        elif section == "RHS":
            reader.limit(line, fields)
        elif section == "BOUNDS":
            reader.bound(line, fields)
        else:
            raise fault(line, "data before a section")
    if section != "ENDATA":
        raise fault(line, "the file ends before ENDATA")
    return reader.program(line)


class _Reader:
    """What the sections have said so far."""

    def __init__(self) -> None:
        self.maximised = False
        self.objective: str | None = None
        self.rows: dict[str, tuple[int, list[tuple[int, Exact]]]] = {}
        self.signs: dict[str, int] = {}
        self.limits: dict[str, Exact] = {}
        self.names: dict[str, int] = {}
        self.profits: list[Exact] = []
        self.whole: list[bool] = []
        self.marked = False
        self.low: dict[int, int] = {}
        self.high: dict[int, int] = {}

    def sense(self, line: int, fields: list[str]) -> None:
        if [field.upper() for field in fields] not in (["MAX"], ["MAXIMIZE"]):
            raise fault(line, "a closure is a maximum: OBJSENSE MAX")
        self.maximised = True

    def row(self, line: int, fields: list[str]) -> None:
        if len(fields) != 2:
            raise fault(line, "expected a kind of row and its name")
        kind, name = fields[0].upper(), fields[1]
        if name in self.rows or name == self.objective:
            raise fault(line, f"row {name!r} is given twice")
        if kind == "N" and self.objective is None:
            self.objective = name
        elif kind in ("L", "G"):
            self.rows[name] = line, []
            self.signs[name] = 1 if kind == "L" else -1
        else:
            raise fault(line, f"a closure has no row of kind {kind!r} here")

    def column(self, line: int, fields: list[str]) -> None:
        if len(fields) == 3 and fields[1] == "'MARKER'":
            if fields[2] != MARKS[self.marked]:
                raise fault(line, f"expected the marker {MARKS[self.marked]}")
            self.marked = not self.marked
            return
        name = fields[0]
        if name not in self.names:
            self.names[name] = len(self.names)
            self.profits.append(0)
            self.whole.append(self.marked)
        elif self.names[name] != len(self.names) - 1:
            raise fault(line, f"column {name!r} is not in one piece")
        place = self.names[name]
        for row, text in _pairs(line, fields):
            amount = number(text, line, "coefficient")
            if row == self.objective:
                self.profits[place] += amount
            elif row in self.rows:
                found = self.rows[row][1]
                if found and found[-1][0] == place:
                    raise fault(line, f"column {name!r} stands twice in row {row!r}")
                found.append((place, self.signs[row] * amount))
            else:
                raise fault(line, f"there is no row {row!r}")

    def limit(self, line: int, fields: list[str]) -> None:
        for row, text in _pairs(line, fields):
            if row not in self.rows or row in self.limits:
                raise fault(line, f"there is no row {row!r} here, or it has its limit")
            self.limits[row] = self.signs[row] * number(text, line, "limit")

    def bound(self, line: int, fields: list[str]) -> None:
        kind = fields[0].upper()
        if len(fields) == 3 and kind == "BV":
            fields = [*fields, "1"]
        if len(fields) != 4 or kind not in ("UP", "LO", "FX", "BV") or fields[2] not in self.names:
            raise fault(line, "expected UP, LO, FX or BV, a name, a column, a bound")
        bound = number(fields[3], line, "bound")
        if bound not in (0, 1):
            raise fault(line, f"a closure has bounds of 0 and 1, not {bound}")
        place = self.names[fields[2]]
        for bounds in ([self.low] if kind in ("LO", "FX") else []) + (
            [self.high] if kind in ("UP", "FX", "BV") else []
        ):
            if place in bounds:
                raise fault(line, f"column {fields[2]!r} has a bound twice")
            bounds[place] = int(bound)
        if kind == "BV":
            self.whole[place] = True

    def program(self, last: int) -> Program:
        """The program that all of it spells; its last line is at fault for what is not there."""
        if not self.maximised or self.objective is None:
            raise fault(last, "a closure is a maximum: the file ends without OBJSENSE MAX, or a row N")
        if self.marked:
            raise fault(last, f"the file ends without the marker {MARKS[1]}")
        for name, place in self.names.items():
            if place not in self.high:
                raise fault(last, f"the file ends without an upper bound of 1 for {name!r}")
        return Program(
            names=list(self.names),
            profits=self.profits,
            arcs=np.zeros((0, 2), np.int64),
            rows=[
                Row(
                    columns=[place for place, _ in found],
                    coefficients=[amount for _, amount in found],
                    limit=self.limits.get(name, 0),
                    line=line,
                )
                for name, (line, found) in self.rows.items()
            ],
            lower=[self.low.get(place, 0) for place in self.names.values()],
            upper=[self.high[place] for place in self.names.values()],
            whole=all(self.whole),
        )


def _fields(text: str) -> Iterator[tuple[int, list[str], bool]]:
    for line, raw in enumerate(text.split("\n"), 1):
        fields = raw.split()
        if fields and not raw.startswith("*"):
            yield line, fields, raw[0].isspace()


def _pairs(line: int, fields: list[str]) -> Iterator[tuple[str, str]]:
    if len(fields) not in (3, 5):
        raise fault(line, "expected a name, then one or two rows with their numbers")
    yield from zip(fields[1::2], fields[2::2], strict=True)
