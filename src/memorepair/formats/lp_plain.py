"""Plain parts of LP files, read in bulk: sums of signed terms, rows ``x - y <= 0``, bounds of 0 and 1.

What is not plain gives None: `lp` reads it token by token, and names the line at fault.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from memorepair.formats.linear import Exact, Row
from memorepair.formats.text import quick_number

Lines = Sequence[tuple[int, str]]
"""Numbers and contents; comments and blanks are gone."""

NAME = r"[^\s:+\-<>=0-9.\[\]^*/][^\s:+\-<>=\[\]^*/]*"
NUMBER = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
BELOW = ("<", "<=", "=<")

_TERM = re.compile(rf" ?([+\-]?) ?(?:({NUMBER}) )?({NAME})")
_SUM = re.compile(rf"(?:{NAME} ?:)?([^:<>=]*)")
_ARC = re.compile(rf"(?:{NAME}\s*:)?\s*(?:\+\s*)?(?:1\s+)?({NAME})\s*-\s*(?:1\s+)?({NAME})\s*(?:<=|=<|<)\s*0")
_ROW = re.compile(rf"(?:{NAME} ?:)?([^:<>=]*?) ?(?:<=|=<|<) ?({NUMBER})")
_CLOSED = re.compile(rf"(?:[<>]=?|=[<>]?)(?:\s*[+\-])?\s*{NUMBER}$")
_BOUND = re.compile(rf"(?:([01])\s*<=\s*)?({NAME})\s*<=\s*([01])")


def plain_sum(lines: Lines) -> list[tuple[str, Exact]] | None:
    """Name and coefficient of each term of a sum that may have a label."""
    found = _SUM.fullmatch(_joined(lines))
    return None if found is None else _terms(found[1])


def plain_bounds(lines: Lines) -> tuple[dict[str, int], dict[str, int]] | None:
    """Lower and upper bounds by name, where each line is one statement and no name has two."""
    low: dict[str, int] = {}
    high: dict[str, int] = {}
    lows = 0
    for _, content in lines:
        found = _BOUND.fullmatch(content)
        if found is None:
            return None
        least, name, most = found.groups()
        high[name] = int(most)
        if least is not None:
            low[name] = int(least)
            lows += 1
    return (low, high) if (len(low), len(high)) == (lows, len(lines)) else None


def plain_rows(
    lines: Lines, place: Mapping[str, int]
) -> tuple[list[tuple[int, int]], list[Row], list[list[tuple[int, str]]]]:
    """Prerequisites, plain rows of any length, and the lines of what is left, statement by statement.

    A statement ends where a line ends with a sense and a number, for no token goes over the end of a line.
    """
    arcs: list[tuple[int, int]] = []
    rows: list[Row] = []
    left: list[list[tuple[int, str]]] = []
    statement: list[tuple[int, str]] = []
    for line, content in lines:
        found = None if statement else _ARC.fullmatch(content)
        if found is not None:
            tail, head = place.get(found[1]), place.get(found[2])
            if tail is not None and head is not None and tail != head:
                arcs.append((tail, head))
                continue
        statement.append((line, content))
        if _CLOSED.search(content) is not None:
            row = _row(statement, place)
            if row is None:
                left.append(statement)
            else:
                rows.append(row)
            statement = []
    if statement:
        left.append(statement)
    return arcs, rows, left


def _row(lines: Lines, place: Mapping[str, int]) -> Row | None:
    found = _ROW.fullmatch(_joined(lines))
    limit = None if found is None else quick_number(found[2])
    terms = None if found is None else _terms(found[1])
    if limit is None or terms is None:
        return None
    columns = [place.get(name, -1) for name, _ in terms]
    if -1 in columns or len(set(columns)) < len(columns):
        return None
    coefficients = [coefficient for _, coefficient in terms]
    return Row(columns=columns, coefficients=coefficients, limit=limit, line=lines[-1][0])


def _joined(lines: Lines) -> str:
    return " ".join(" ".join(content for _, content in lines).split())


def _terms(text: str) -> list[tuple[str, Exact]] | None:
    """Terms of a text with single blanks, each but the first with its sign."""
    terms: list[tuple[str, Exact]] = []
    at, end, match = 0, len(text.rstrip()), _TERM.match
    while at < end:
        found = match(text, at)
        if found is None:
            return None
        sign, digits, name = found.groups()
        amount = 1 if digits is None else quick_number(digits)
        if amount is None or not (sign or not terms):
            return None
        terms.append((name, -amount if sign == "-" else amount))
        at = found.end()
    return terms
