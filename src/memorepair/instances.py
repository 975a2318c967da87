"""Instance files: a SelectionInstance as JSON text, numbers as exact decimals (docs/formats.md)."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import NoReturn

import numpy as np

from memorepair.asking import from_records
from memorepair.errors import InvalidFile
from memorepair.integers import Number
from memorepair.problems import SelectionInstance

FORMAT = "memorepair.selection"
VERSION = 1

_HEAD = {"format", "version", "tradeoff", "candidates"}
_FIELDS = {"id", "value", "cost", "requires", "executable", "required"}
_NUMBER = (int, Decimal)


def read_instance(path: Path | str) -> SelectionInstance:
    """The instance in the file at `path`.

    Raises
    ------
    InvalidFile
        It cannot be read, is not UTF-8 or JSON, or is not in the format (witness: the line, or the field's
        path).
    InvalidInstance
        It is in the format, but no instance: an id twice, a dangling prerequisite, a negative cost (witness:
        the id).
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidFile(f"{path} cannot be read: {error}", witness=str(path)) from error
    return parse_instance(text)


def parse_instance(text: str) -> SelectionInstance:
    """The instance that `text` spells; raises as `read_instance`."""
    try:
        document = json.loads(
            text, parse_float=Decimal, parse_constant=_refuse_constant, object_pairs_hook=_unrepeated
        )
    except json.JSONDecodeError as error:
        raise InvalidFile(f"line {error.lineno}: not JSON: {error.msg}", witness=error.lineno) from error
    except RecursionError as error:
        raise InvalidFile("not JSON a computer should read: nested too deep", witness=len(text)) from error
    except InvalidFile:
        raise
    except ValueError as error:  # an integer of more digits than Python converts
        raise InvalidFile(f"not JSON: {error}", witness=len(text)) from error
    head = _mapping(document, "the document", _HEAD)
    if head.get("format") != FORMAT:
        raise InvalidFile(f"format is {head.get('format')!r}, not {FORMAT!r}", witness="format")
    if head.get("version") != VERSION or isinstance(head["version"], bool):
        raise InvalidFile(f"version {head.get('version')!r} is not {VERSION}", witness="version")
    candidates = head.get("candidates")
    if not isinstance(candidates, list):
        raise InvalidFile("candidates must be a list", witness="candidates")
    records = [_record(entry, f"candidates[{place}]") for place, entry in enumerate(candidates)]
    return from_records(records, _number(head, "tradeoff", "", 0))


def write_instance(instance: SelectionInstance, path: Path | str) -> None:
    """Write `instance` to `path`; reading it gives the same instance, number by number.

    Raises
    ------
    InvalidFile
        An id is neither text nor integer, or a number is no finite decimal, such as 1/3 (witness: the id).
    """
    Path(path).write_text(format_instance(instance), encoding="utf-8")


def format_instance(instance: SelectionInstance) -> str:
    """`instance` as text, one candidate a line; raises as `write_instance`."""
    heads, offsets = instance.requires.heads.tolist(), instance.requires.offsets.tolist()
    ids = [_id_text(instance.id_of(place)) for place in range(instance.k)]
    value, cost = instance.value.tolist(), instance.cost.tolist()
    lines = []
    for place, id in enumerate(ids):
        fields = [
            f'"id": {id}',
            f'"value": {_decimal(value[place], id)}',
            f'"cost": {_decimal(cost[place], id)}',
        ]
        arcs = heads[offsets[place] : offsets[place + 1]]
        fields.append(f'"requires": [{", ".join(ids[head] for head in arcs)}]')
        fields.append(f'"executable": {json.dumps(bool(instance.executable[place]))}')
        fields.append(f'"required": {json.dumps(bool(instance.required[place]))}')
        lines.append("    {" + ", ".join(fields) + "}")
    body = ",\n".join(lines)
    return (
        f'{{\n  "format": "{FORMAT}",\n  "version": {VERSION},\n'
        f'  "tradeoff": {_decimal(instance.tradeoff, "tradeoff")},\n  "candidates": [\n{body}\n  ]\n}}\n'
    )


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidFile(f"{name} is not a number", witness=name)


def _unrepeated(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields: dict[str, object] = {}
    for name, entry in pairs:
        if name in fields:
            raise InvalidFile(f"field {name!r} is given twice", witness=name)
        fields[name] = entry
    return fields


def _mapping(entry: object, where: str, known: set[str]) -> dict[str, object]:
    if not isinstance(entry, dict):
        raise InvalidFile(f"{where} must be an object", witness=where)
    unknown = sorted(set(entry) - known)
    if unknown:
        raise InvalidFile(f"{where} has an unknown field {unknown[0]!r}", witness=f"{where}.{unknown[0]}")
    return entry


def _record(entry: object, where: str) -> Mapping[str, object]:
    record = _mapping(entry, where, _FIELDS)
    for name in ("id", "value"):
        if name not in record:
            raise InvalidFile(f"{where} has no {name}", witness=f"{where}.{name}")
    _id(record["id"], f"{where}.id")
    requires = record.get("requires", [])
    if not isinstance(requires, list):
        raise InvalidFile(f"{where}.requires must be a list of ids", witness=f"{where}.requires")
    for id in requires:
        _id(id, f"{where}.requires")
    for name in ("executable", "required"):
        if not isinstance(record.get(name, False), bool):
            raise InvalidFile(f"{where}.{name} must be true or false", witness=f"{where}.{name}")
    return {**record, "value": _number(record, "value", where, 0), "cost": _number(record, "cost", where, 0)}


def _id(entry: object, where: str) -> None:
    if not isinstance(entry, (str, int)) or isinstance(entry, bool):
        raise InvalidFile(f"{where}: an id is text or an integer, not {entry!r}", witness=where)


def _number(record: Mapping[str, object], name: str, where: str, default: int) -> Number:
    entry = record.get(name, default)
    if not isinstance(entry, _NUMBER) or isinstance(entry, bool):
        raise InvalidFile(
            f"{where}.{name} must be a number, not {entry!r}".lstrip("."),
            witness=f"{where}.{name}".lstrip("."),
        )
    return entry


def _id_text(id: Hashable) -> str:
    if not isinstance(id, (str, int, np.integer)) or isinstance(id, bool):
        raise InvalidFile(f"id {id!r} is neither text nor an integer", witness=id)
    return json.dumps(id, ensure_ascii=False) if isinstance(id, str) else str(int(id))


def _decimal(number: Number, witness: object) -> str:
    if isinstance(number, float):
        return repr(number)
    if not isinstance(number, Fraction):
        return str(number)
    digits, rest = 0, number.denominator
    for factor in (2, 5):
        power = 0
        while rest % factor == 0:
            rest, power = rest // factor, power + 1
        digits = max(digits, power)
    if rest != 1:
        raise InvalidFile(f"{number} has no finite decimal", witness=witness)
    whole, tail = divmod(abs(int(number * 10**digits)), 10**digits)
    return ("-" if number < 0 else "") + str(whole) + (f".{tail:0{digits}d}" if digits else "")
