"""Plain MPS files, read in bulk: fixed numbers of fields a line, as this package and most solvers write them.

What is not plain gives None: `mps` reads it line by line, and names the line at fault.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from memorepair.formats.linear import Exact, Program, Row
from memorepair.formats.text import quick_number
from memorepair.graphs.digraph import Int64, Mask

SECTIONS = ("NAME", "OBJSENSE", "ROWS", "COLUMNS", "RHS", "BOUNDS", "ENDATA")
MARKS = "'INTORG'", "'INTEND'"

_END = "\0"


def plain_program(text: str) -> Program | None:
    """The program that `text` spells, where it is plain."""
    blocks = _blocks(text)
    if blocks is None or [line.split() for line in blocks["OBJSENSE"][1]] != [["MAX"]]:
        return None
    first, block = blocks["ROWS"]
    heads = _table(block, 2)
    if heads is None or heads[0][:1] != ["N"] or not set(heads[0][1:]) <= {"L"}:
        return None
    row_place = {name: place for place, name in enumerate(heads[1])}  # 0 is the objective
    block = blocks["COLUMNS"][1]
    whole = len(block) > 1 and [line.split()[1:] for line in (block[0], block[-1])] == [
        ["'MARKER'", mark] for mark in MARKS
    ]
    entries = _table(block[1:-1] if whole else block, 3)
    limits = _table(blocks["RHS"][1], 3)
    if entries is None or limits is None or len(row_place) < len(heads[1]):
        return None
    names, amounts = dict.fromkeys(entries[0]), _numbers(entries[2])
    bounds = _bounds(blocks["BOUNDS"][1], tuple(names))
    limit = dict(zip(limits[1], _numbers(limits[2]) or (), strict=False))
    known = row_place.keys() - {heads[1][0]}
    if amounts is None or bounds is None or len(limit) < len(limits[1]) or not limit.keys() <= known:
        return None
    if not row_place.keys() >= set(entries[1]):
        return None
    column_place = {name: place for place, name in enumerate(names)}
    columns, rows = _places(entries[0], column_place), _places(entries[1], row_place)
    order = np.argsort(rows, kind="stable")
    by_row, by_column = rows[order], columns[order]
    twice = (by_row[1:] == by_row[:-1]) & (by_column[1:] == by_column[:-1])
    if (np.diff(columns) < 0).any() or twice.any():  # a column in pieces, or twice in a row
        return None
    profits: list[Exact] = [0] * len(names)
    objective = order[: int(np.searchsorted(by_row, 1))].tolist()
    for entry in objective:
        profits[int(columns[entry])] = amounts[entry]
    limited = np.zeros(len(heads[1]), np.bool_)
    limited[[row_place[name] for name, most in limit.items() if most != 0]] = True
    pairs, others = _arcs(by_row, limited, _units(entries[2])[order])
    starts = np.searchsorted(by_row, np.arange(len(heads[1]) + 1))
    return Program(
        names=list(names),
        profits=profits,
        arcs=by_column[pairs],
        rows=[
            Row(
                columns=by_column[starts[row] : starts[row + 1]].tolist(),
                coefficients=[amounts[entry] for entry in order[starts[row] : starts[row + 1]].tolist()],
                limit=limit.get(heads[1][row], 0),
                line=first + row,
            )
            for row in others
        ],
        lower=bounds[0],
        upper=bounds[1],
        whole=whole or not names,
    )


def _blocks(text: str) -> dict[str, tuple[int, list[str]]] | None:
    """Each section's lines, with the number of the first; None where one is missing, or holds comments."""
    if _END in text:
        return None
    lines = text.split("\n")
    heads = [place for place, line in enumerate(lines) if line and not line[0].isspace() and line[0] != "*"]
    words = [lines[place].split() for place in heads]
    if [word[0] for word in words] != list(SECTIONS) or any(len(word) > 1 for word in words[1:]):
        return None
    ends = [*heads[1:], len(lines)]
    blocks = {
        name: (head + 2, lines[head + 1 : end]) for name, head, end in zip(SECTIONS, heads, ends, strict=True)
    }
    commented = any(line.startswith("*") for line in lines[heads[0] :])
    loose = [*lines[: heads[0]], *blocks["NAME"][1], *blocks["ENDATA"][1]]
    return None if commented or any(line.strip() and line[0] != "*" for line in loose) else blocks


def _table(block: Sequence[str], width: int) -> list[list[str]] | None:
    """Columns of a block whose lines all have `width` fields."""
    words = f" {_END} ".join([*block, ""]).split()
    # There are as many ends as lines; if every word at a line's end is one, none stands elsewhere.
    if len(words) != (width + 1) * len(block) or words[width :: width + 1].count(_END) != len(block):
        return None
    return [words[place :: width + 1] for place in range(width)]


def _numbers(texts: Sequence[str]) -> list[Exact] | None:
    known: dict[str, Exact] = {}
    for text in set(texts):
        found = quick_number(text)
        if found is None:
            return None
        known[text] = found
    return [known[text] for text in texts]


def _places(names: Iterable[str], place: dict[str, int]) -> Int64:
    return np.array([place[name] for name in names], np.int64)


def _units(texts: Sequence[str]) -> Int64:
    """1 or -1 where a text spells it, else 0."""
    unit = {text: int(text) if text.lstrip("+-") == "1" else 0 for text in set(texts)}
    return np.array([unit[text] for text in texts], np.int64)


def _arcs(by_row: Int64, limited: Mask, units: Int64) -> tuple[Int64, list[int]]:
    """Entries of x and of y of each row ``x - y <= 0``, (m, 2); the other rows but the objective."""
    counts = np.bincount(by_row, minlength=len(limited))
    starts = np.cumsum(counts) - counts
    pairs = np.flatnonzero((counts == 2) & ~limited)
    pairs = pairs[pairs > 0]
    one, other = units[starts[pairs]], units[starts[pairs] + 1]
    pairs = pairs[(one != 0) & (one + other == 0)]
    first = units[starts[pairs]] == 1
    tails, heads = starts[pairs] + ~first, starts[pairs] + first
    rest = np.ones(len(limited), np.bool_)
    rest[pairs], rest[0] = False, False
    return np.column_stack([tails, heads]).astype(np.int64), np.flatnonzero(rest).tolist()


def _bounds(block: Sequence[str], names: Sequence[str]) -> tuple[list[int], list[int]] | None:
    """Lower and upper bounds in order of the columns; None where one is not 0 or 1, or given twice."""
    table = _table(block, 4)
    if table is None or not set(table[0]) <= {"LO", "UP"} or not set(table[3]) <= {"0", "1"}:
        return None
    sides: dict[str, dict[str, int]] = {"LO": {}, "UP": {}}
    for kind, name, bound in zip(table[0], table[2], table[3], strict=True):
        sides[kind][name] = int(bound)
    given = sum(map(len, sides.values()))
    if given < len(block) or sides["UP"].keys() != set(names) or not sides["LO"].keys() <= set(names):
        return None
    return [sides["LO"].get(name, 0) for name in names], [sides["UP"][name] for name in names]
