"""Schemas: the subset of JSON Schema that a recipe may ask of successors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from memorepair.errors import InvalidInput


def _is_integer(value: object) -> bool:
    return (isinstance(value, int) and not isinstance(value, bool)) or (
        isinstance(value, float) and value.is_integer()
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


TYPES: Mapping[str, Callable[[object], bool]] = MappingProxyType(
    {
        "null": lambda value: value is None,
        "boolean": lambda value: isinstance(value, bool),
        "integer": _is_integer,
        "number": _is_number,
        "string": lambda value: isinstance(value, str),
        "array": lambda value: isinstance(value, list),
        "object": lambda value: isinstance(value, dict),
    }
)
"""What the keyword type may name."""


def _is_size(value: object) -> bool:
    return _is_integer(value) and isinstance(value, int | float) and value >= 0


def _is_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _is_type(value: object) -> bool:
    names = value if isinstance(value, list) else [value]
    return bool(names) and all(isinstance(name, str) and name in TYPES for name in names)


_KEYWORDS: Mapping[str, Callable[[object], bool]] = MappingProxyType(
    {
        "type": _is_type,
        "properties": lambda value: isinstance(value, dict),
        "required": _is_names,
        "items": lambda value: isinstance(value, dict),
        "enum": lambda value: isinstance(value, list) and bool(value),
        "minLength": _is_size,
        "maxLength": _is_size,
        "minimum": _is_number,
        "maximum": _is_number,
        "additionalProperties": lambda value: isinstance(value, bool | dict),
        "title": lambda value: isinstance(value, str),
        "description": lambda value: isinstance(value, str),
    }
)


def require_schema(schema: Mapping[str, object]) -> None:
    """Refuse a schema outside the subset: what is not understood must not pass as satisfied.

    The keywords are type, properties, required, items, enum, minLength, maxLength, minimum, maximum,
    additionalProperties; title and description say nothing of the value.

    Raises
    ------
    InvalidInput
        An unknown keyword, or one with a value it cannot have; the witness is the keyword.
    """
    unread: list[Mapping[str, object]] = [schema]
    while unread:
        here = unread.pop()
        for keyword, value in here.items():
            known = _KEYWORDS.get(keyword)
            if known is None:
                raise InvalidInput(f"schema keyword {keyword} is not supported", witness=keyword)
            if not known(value):
                raise InvalidInput(f"schema keyword {keyword} cannot have this value", witness=keyword)
        properties = here.get("properties")
        below = [*properties.values()] if isinstance(properties, dict) else []
        below += [here[name] for name in ("items", "additionalProperties") if name in here]
        for inner in below:
            if isinstance(inner, dict):
                unread.append(inner)
            elif not isinstance(inner, bool):
                raise InvalidInput("schema keyword properties holds schemas", witness="properties")
