"""JSON documents read strictly: exact numbers, no field twice, no field unknown."""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from memorepair.errors import InvalidFile
from memorepair.formats.text import decimal
from memorepair.problems.integers import Number, shown

_NUMBER = (int, Decimal)


def parse(text: str) -> object:
    """The JSON document `text`, decimals as Decimal.

    Raises
    ------
    InvalidFile
        Not JSON, or nested too deep (witness: the line); a field twice, NaN or an infinity, a number of more
        digits than Python reads (witness: its path).
    """
    reader = _Reader()
    try:
        document = json.loads(
            text,
            parse_int=reader.integer,
            parse_float=reader.decimal,
            parse_constant=reader.constant,
            object_pairs_hook=reader.fields,
        )
    except json.JSONDecodeError as error:
        raise InvalidFile(f"line {error.lineno}: not JSON: {error.msg}", witness=error.lineno) from error
    except RecursionError:
        line = _deepest(text)
        raise InvalidFile(f"line {line}: nested too deep", witness=line) from None
    if reader.refused:
        raise _first(document)
    return document


def mapping(entry: object, where: str, known: set[str]) -> dict[str, object]:
    """`entry` as an object that has no field but `known` ones."""
    if not isinstance(entry, dict):
        raise InvalidFile(f"{where} must be an object", witness=where)
    unknown = sorted(set(entry) - known)
    if unknown:
        raise InvalidFile(f"{where} has an unknown field {unknown[0]!r}", witness=f"{where}.{unknown[0]}")
    return entry


def entries(record: Mapping[str, object], name: str, where: str = "") -> list[object]:
    """The list in the field `name`."""
    found = record.get(name)
    if not isinstance(found, list):
        raise InvalidFile(f"{_path(where, name)} must be a list", witness=_path(where, name))
    return found


def number(record: Mapping[str, object], name: str, where: str, default: int) -> Number:
    """The number in the field `name`, `default` where it is left out."""
    return _number(record.get(name, default), _path(where, name))


def amounts(record: Mapping[str, object], name: str, where: str) -> Number | list[Number]:
    """The number in the field `name`, or the list of numbers; 0 where it is left out."""
    entry = record.get(name, 0)
    if isinstance(entry, list):
        return [_number(one, f"{_path(where, name)}[{place}]") for place, one in enumerate(entry)]
    return _number(entry, _path(where, name))


def flag(record: Mapping[str, object], name: str, where: str) -> None:
    """Refuse a field that is there but no boolean."""
    if not isinstance(record.get(name, False), bool):
        raise InvalidFile(f"{_path(where, name)} must be true or false", witness=_path(where, name))


def identity(entry: object, where: str) -> Hashable:
    """`entry` as an id."""
    if not isinstance(entry, (str, int)) or isinstance(entry, bool):
        raise InvalidFile(f"{where}: an id is text or an integer, not {entry!r}", witness=where)
    return entry


def identity_text(id: Hashable) -> str:
    """An id as JSON.

    Raises
    ------
    InvalidFile
        It is neither text nor an integer (witness: it).
    """
    if not isinstance(id, (str, int, np.integer)) or isinstance(id, bool):
        raise InvalidFile(f"id {shown(id)} is neither text nor an integer", witness=id)
    if isinstance(id, str):
        return json.dumps(id, ensure_ascii=not id.isprintable())
    try:
        return str(int(id))
    except ValueError:  # Python writes and reads integers of up to 4,300 digits
        raise InvalidFile("an id has too many digits to write", witness=id) from None


def amounts_text(amount: Number | list[Number] | tuple[Number, ...], witness: object) -> str:
    """A number, or several as a list, as JSON."""
    if isinstance(amount, (list, tuple)):
        return f"[{', '.join(decimal(one, witness) for one in amount)}]"
    return decimal(amount, witness)


def _number(entry: object, where: str) -> Number:
    if not isinstance(entry, _NUMBER) or isinstance(entry, bool):
        raise InvalidFile(f"{where} must be a number, not {entry!r}", witness=where)
    return entry


def _path(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


@dataclass(frozen=True, slots=True)
class _Refused:
    """Stands in a document where something must not."""

    why: str


class _Reader:
    """Hooks of the parser, which tells them no place: what they refuse is marked in the document."""

    def __init__(self) -> None:
        self.refused = False

    def integer(self, text: str) -> int | _Refused:
        try:
            return int(text)
        except ValueError:  # more digits than Python converts
            return self.refuse(f"is a number of {len(text)} digits")

    def decimal(self, text: str) -> Decimal | _Refused:
        try:
            return Decimal(text)
        except ArithmeticError:
            return self.refuse(f"is {text[:40]}, beyond what is read")

    def constant(self, name: str) -> _Refused:
        return self.refuse(f"is {name}, not a number")

    def fields(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        found: dict[str, object] = dict(pairs)
        if len(found) < len(pairs):
            seen: set[str] = set()
            for name, _ in pairs:
                if name in seen:
                    found[name] = self.refuse("is given twice")
                seen.add(name)
        return found

    def refuse(self, why: str) -> _Refused:
        self.refused = True
        return _Refused(why)


def _first(document: object) -> InvalidFile:
    """The error of the first thing refused in `document`, with its path."""
    # What was refused stands in the document, or in a value dropped for one of the same name, which is marked
    # itself: the search ends before it runs out.
    waiting = [("", document)]
    while True:
        where, entry = waiting.pop()
        if isinstance(entry, _Refused):
            return InvalidFile(f"{where or 'the document'} {entry.why}", witness=where or "the document")
        if isinstance(entry, dict):
            waiting.extend((_path(where, name), one) for name, one in reversed(entry.items()))
        elif isinstance(entry, list):
            places = range(len(entry) - 1, -1, -1)
            waiting.extend((f"{where}[{place}]", entry[place]) for place in places)


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]')


def _deepest(text: str) -> int:
    """The line on which `text` is nested as deep as no reader follows."""
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        if depth > _DEPTH:
            return text.count("\n", 0, token.start()) + 1
    return text.count("\n") + 1


_DEPTH = 100
