"""Shapes: what a piece of foreign JSON must be before anything else looks at it."""

from __future__ import annotations

from typing import TypeAlias

from memorepair.errors import InvalidInput
from memorepair.memory.artifact import Json

Row: TypeAlias = dict[str, Json]


def as_object(value: Json, where: str) -> Row:
    """`value` when it is an object; InvalidInput with `where` as witness otherwise."""
    if not isinstance(value, dict):
        raise InvalidInput(f"{where} must be an object", witness=where)
    return value


def as_list(value: Json, where: str) -> list[Json]:
    """`value` when it is a list; InvalidInput with `where` as witness otherwise."""
    if not isinstance(value, list):
        raise InvalidInput(f"{where} must be a list", witness=where)
    return value


def as_text(value: Json, where: str) -> str:
    """`value` when it is a text that can be stored; InvalidInput with `where` as witness otherwise."""
    if not isinstance(value, str):
        raise InvalidInput(f"{where} must be a text", witness=where)
    try:
        value.encode()
    except UnicodeEncodeError as error:  # half of a surrogate pair, which JSON can spell
        raise InvalidInput(f"{where} is not a text of Unicode characters", witness=where) from error
    return value


def as_number(value: Json, where: str) -> int | float:
    """`value` when it is a number (true is none); InvalidInput with `where` as witness otherwise."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(f"{where} must be a number", witness=where)
    return value


def as_int(value: Json, where: str) -> int:
    """`value` when it is a whole number; InvalidInput with `where` as witness otherwise."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(f"{where} must be a whole number", witness=where)
    return value


def field(row: Row, name: str, where: str) -> Json:
    """Field `name` of `row`; InvalidInput where it is missing (null is a value)."""
    if name not in row:
        raise InvalidInput(f"{where} has no field {name!r}", witness=f"{where}.{name}")
    return row[name]


def text_of(row: Row, name: str, where: str) -> str:
    """Text field `name` of `row`."""
    return as_text(field(row, name, where), f"{where}.{name}")


def object_of(row: Row, name: str, where: str) -> Row:
    """Object field `name` of `row`."""
    return as_object(field(row, name, where), f"{where}.{name}")


def list_of(row: Row, name: str, where: str) -> list[Json]:
    """List field `name` of `row`."""
    return as_list(field(row, name, where), f"{where}.{name}")
