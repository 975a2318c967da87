"""CPLEX LP files: the closure as a linear program that any solver of such reads.

Read back is what can be a closure: a maximum, rows ``x - y <= 0`` and budgets, bounds of 0 and 1. All else is
refused. Beyond the format: every section begins on a line of its own.

Source: IBM, ILOG CPLEX Optimization Studio, File formats: LP.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from memorepair.errors import InvalidFile
from memorepair.formats import linear
from memorepair.formats.format import Content
from memorepair.formats.instance_json import instance_only
from memorepair.formats.linear import Exact, Program, Row
from memorepair.formats.lp_plain import BELOW, NAME, NUMBER, plain_bounds, plain_rows, plain_sum
from memorepair.formats.text import fault, number, read_text, write_text
from memorepair.problems import SelectionInstance

_TOKEN = re.compile(
    rf"\s*(?:(?P<number>{NUMBER}(?![^\s:+\-<>=]))"
    rf"|(?P<sense><=|=<|>=|=>|<|>|=)|(?P<sign>[+\-])|(?P<label>{NAME}\s*:)|(?P<name>{NAME}))"
)
_SECTIONS = {
    **dict.fromkeys(("maximize", "maximise", "maximum", "max"), "objective"),
    **dict.fromkeys(("subject to", "such that", "st", "s.t.", "st."), "rows"),
    **dict.fromkeys(("bounds", "bound"), "bounds"),
    **dict.fromkeys(("generals", "general", "gen"), "generals"),
    **dict.fromkeys(("binaries", "binary", "bin"), "binaries"),
    "end": "end",
}
_BEGINNINGS = {name[:3] for name in _SECTIONS}
_ORDER = ("", "objective", "rows", "bounds", "generals", "binaries", "end")
_TERMS_A_LINE = 5


class Lp:
    """CPLEX LP."""

    name: ClassVar[str] = "lp"
    suffixes: ClassVar[tuple[str, ...]] = (".lp",)

    def read(self, path: Path, /) -> SelectionInstance:
        """As `parse_lp`."""
        return parse_lp(read_text(path))

    def write(self, content: Content, path: Path, /) -> None:
        """As `format_lp`; a network is refused."""
        write_text(path, format_lp(instance_only(content, self.name)))


def format_lp(instance: SelectionInstance) -> str:
    """`instance` as text; its candidates are x0, x1, ... in order.

    Raises
    ------
    InvalidFile
        A profit, cost or limit has no finite decimal (witness: the id); costs that neither a tradeoff nor a
        budget counts; a budget without candidates.
    """
    if instance.budget is not None and not instance.k:
        raise InvalidFile(
            "lp cannot hold a budget of no candidates: a row needs a variable", witness="budget"
        )
    names = [linear.variable(place) for place in range(instance.k)]
    rows = [f" r{row}: x{tail} - x{head} <= 0" for row, (tail, head) in enumerate(linear.arcs(instance))]
    for kind, (costs, limit) in enumerate(linear.budget_rows(instance)):
        rows.append(f" budget{kind}:{_sum(costs, names)} <= {limit}")
    bounds = zip(instance.required.tolist(), names, instance.executable.tolist(), strict=True)
    text = [
        *(f"\\ {comment}" for comment in linear.comments(instance)),
        "Maximize",
        f" obj:{_sum(linear.net(instance), names)}",
        "Subject To",
        *rows,
        "Bounds",
        *(f" {int(low)} <= {name} <= {int(high)}" for low, name, high in bounds),
    ]
    if instance.budget is not None:
        text += ["Generals", *(f" {name}" for name in names)]
    return "\n".join([*text, "End", ""])


def parse_lp(text: str) -> SelectionInstance:
    """The instance that `text` spells.

    Raises
    ------
    InvalidFile
        Not the format, or a program that is no closure (witness: the line).
    """
    sections: dict[str, list[tuple[int, str]]] = {name: [] for name in _ORDER}
    section, line = "", 0
    for line, raw in enumerate(text.split("\n"), 1):
        content = raw.partition("\\")[0].strip()
        if not content:
            continue
        following = None
        if content[:3].lower() in _BEGINNINGS:
            following = _SECTIONS.get(" ".join(content.lower().split()))
        if following is not None:
            if _ORDER.index(following) <= _ORDER.index(section):
                raise fault(line, f"{content!r} is out of place")
            section = following
        elif section in ("", "end"):
            raise fault(line, "expected 'Maximize'" if not section else "text after 'End'")
        else:
            sections[section].append((line, content))
    if section != "end":
        raise fault(line, "the file ends before 'End'")
    return _program(sections, line).instance()


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


class _Reader:
    """Tokens of a section, taken one by one; `now` is the next."""

    __slots__ = ("_tokens", "now")

    def __init__(self, lines: list[tuple[int, str]]) -> None:
        self._tokens = _tokens(lines)
        self.now = next(self._tokens)

    def skip(self) -> None:
        """Take the next token."""
        self.now = next(self._tokens)

    def take(self, kind: str) -> _Token:
        """The next token, which must be of `kind`."""
        token = self.now
        if token.kind != kind:
            raise fault(token.line, f"expected a {kind}, not {token.text[:40]!r}")
        self.now = next(self._tokens)
        return token

    def label(self) -> None:
        """Pass over 'name:'."""
        if self.now.kind == "label":
            self.skip()

    def constant(self) -> Exact:
        """A number with its sign."""
        sign = self._sign()
        token = self.take("number")
        return sign * number(token.text, token.line, "number")

    def terms(self) -> list[tuple[str, Exact, int]]:
        """Name, coefficient and line of each term up to what is none."""
        found: list[tuple[str, Exact, int]] = []
        while self.now.kind in ("number", "name") or self.now.kind == "sign":
            sign = self._sign(needed=bool(found))
            coefficient: Exact = sign
            if self.now.kind == "number":
                token = self.take("number")
                coefficient = sign * number(token.text, token.line, "coefficient")
            name = self.take("name")
            found.append((name.text, coefficient, name.line))
        return found

    def _sign(self, *, needed: bool = False) -> int:
        token = self.now
        if token.kind != "sign":
            if needed:
                raise fault(token.line, f"expected + or - before {token.text[:40]!r}")
            return 1
        self.skip()
        return -1 if token.text == "-" else 1


def _tokens(lines: list[tuple[int, str]]) -> Iterator[_Token]:
    line = 0
    for line, content in lines:
        at, end = 0, len(content)
        while at < end:
            found = _TOKEN.match(content, at)
            if found is None or found.lastgroup is None:
                raise fault(line, f"cannot read {content[at : at + 20]!r}")
            yield _Token(found.lastgroup, found[found.lastgroup], line)
            at = found.end()
    while True:
        yield _Token("end", "the end of the section", line)


def _program(sections: dict[str, list[tuple[int, str]]], last: int) -> Program:
    objective = plain_sum(sections["objective"])
    if objective is None or len(dict(objective)) < len(objective):
        objective = _objective(_Reader(sections["objective"]))
    place = {name: number for number, (name, _) in enumerate(objective)}
    bounds = plain_bounds(sections["bounds"])
    if bounds is None or not place.keys() >= bounds[1].keys():
        bounds = _bounds(_Reader(sections["bounds"]), place)
    low, high = bounds
    whole: set[int] = set()
    for section in ("generals", "binaries"):
        words = {word for _, content in sections[section] for word in content.split()}
        if section == "generals" and words <= place.keys():
            whole.update(place[word] for word in words)
            continue
        names = _Reader(sections[section])
        while names.now.kind != "end":
            token = names.take("name")
            whole.add(_known(token.text, token.line, place))
            if section == "binaries":
                high.setdefault(token.text, 1)
    for name in place:
        if name not in high:
            raise fault(last, f"the file ends without an upper bound of 1 for {name!r}")
    arcs, rows, left = plain_rows(sections["rows"], place)
    for statement in left:
        rows += _rows(_Reader(statement), place)
    return Program(
        names=list(place),
        profits=[coefficient for _, coefficient in objective],
        arcs=np.array(arcs, np.int64).reshape(-1, 2),
        rows=rows,
        lower=[low.get(name, 0) for name in place],
        upper=[high[name] for name in place],
        whole=len(whole) == len(place),
    )


def _objective(reader: _Reader) -> list[tuple[str, Exact]]:
    reader.label()
    terms = reader.terms()
    if reader.now.kind != "end":
        raise fault(reader.now.line, f"cannot read {reader.now.text[:40]!r}")
    seen: set[str] = set()
    for name, _, line in terms:
        if name in seen:
            raise fault(line, f"{name!r} stands twice in the objective")
        seen.add(name)
    return [(name, coefficient) for name, coefficient, _ in terms]


def _rows(reader: _Reader, place: dict[str, int]) -> list[Row]:
    rows = []
    while reader.now.kind != "end":
        reader.label()
        terms = reader.terms()
        sense = reader.take("sense")
        limit = reader.constant()
        if sense.text == "=":
            raise fault(sense.line, "a closure has no equations")
        sign = 1 if sense.text in BELOW else -1
        columns = [_known(name, line, place) for name, _, line in terms]
        if len(set(columns)) < len(columns):
            raise fault(sense.line, "a variable stands twice in a row")
        coefficients = [sign * coefficient for _, coefficient, _ in terms]
        rows.append(Row(columns=columns, coefficients=coefficients, limit=sign * limit, line=sense.line))
    return rows


def _bounds(reader: _Reader, place: dict[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    low: dict[str, int] = {}
    high: dict[str, int] = {}
    while reader.now.kind != "end":
        if reader.now.kind != "name":
            left = _binary(reader.constant(), reader.now.line)
            sense = reader.take("sense")
            if sense.text not in BELOW:
                raise fault(sense.line, "expected 'LOW <= x <= HIGH'")
            _set(low, reader.now, left)
        name = reader.take("name")
        _known(name.text, name.line, place)
        if reader.now.kind == "sense":
            sense = reader.take("sense")
            right = _binary(reader.constant(), name.line)
            if sense.text in (*BELOW, "="):
                _set(high, name, right)
            if sense.text not in BELOW:
                _set(low, name, right)
    return low, high


def _set(bounds: dict[str, int], name: _Token, bound: int) -> None:
    if name.text in bounds:
        raise fault(name.line, f"{name.text!r} has a bound twice")
    bounds[name.text] = bound


def _binary(bound: Exact, line: int) -> int:
    if bound not in (0, 1):
        raise fault(line, f"a closure has bounds of 0 and 1, not {bound}")
    return int(bound)


def _known(name: str, line: int, place: dict[str, int]) -> int:
    if name not in place:
        raise fault(line, f"{name!r} is not in the objective")
    return place[name]


def _sum(coefficients: list[str], names: list[str]) -> str:
    """Terms with their signs, a few on each line."""
    terms = [
        f" {'-' if text.startswith('-') else '+'} {text.removeprefix('-')} {name}"
        for text, name in zip(coefficients, names, strict=True)
    ]
    groups = ["".join(terms[start : start + _TERMS_A_LINE]) for start in range(0, len(terms), _TERMS_A_LINE)]
    return "\n ".join(groups)
