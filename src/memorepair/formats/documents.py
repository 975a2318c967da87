"""JSON documents read strictly: exact numbers, no field twice, no field unknown."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from decimal import Decimal
from typing import NoReturn

import numpy as np

from memorepair.errors import InvalidFile
from memorepair.formats.text import decimal
from memorepair.integers import Number

_NUMBER = (int, Decimal)


def parse(text: str) -> object:
    """The JSON document `text`, decimals as Decimal.

    Raises
    ------
    InvalidFile
        Not JSON (witness: the line), nested too deep, a field twice, NaN or an infinity.
    """
    try:
        return json.loads(
            text, parse_float=Decimal, parse_constant=_refuse_constant, object_pairs_hook=_unrepeated
        )
    except json.JSONDecodeError as error:
        raise InvalidFile(f"line {error.lineno}: not JSON: {error.msg}", witness=error.lineno) from error
    except RecursionError as error:
        raise InvalidFile("not JSON a computer should read: nested too deep", witness=len(text)) from error
    except InvalidFile:
        raise
    except (ValueError, ArithmeticError) as error:  # a number of more digits than Python converts
        raise InvalidFile(f"not JSON: {error}", witness=len(text)) from error


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
        raise InvalidFile(f"id {id!r} is neither text nor an integer", witness=id)
    return json.dumps(id, ensure_ascii=not id.isprintable()) if isinstance(id, str) else str(int(id))


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


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidFile(f"{name} is not a number", witness=name)


def _unrepeated(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields: dict[str, object] = {}
    for name, entry in pairs:
        if name in fields:
            raise InvalidFile(f"field {name!r} is given twice", witness=name)
        fields[name] = entry
    return fields
