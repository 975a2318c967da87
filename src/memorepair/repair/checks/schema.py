"""Schema: a successor satisfies the JSON Schema of its recipe, in the subset written here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from memorepair.errors import InvalidInput
from memorepair.memory.artifact import Json
from memorepair.repair.checks.check import Check, Context, Word
from memorepair.repair.jsontext import canonical, parse


def _is_integer(value: Json) -> bool:
    return (isinstance(value, int) and not isinstance(value, bool)) or (
        isinstance(value, float) and value.is_integer()
    )


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: Mapping[str, Callable[[Json], bool]] = MappingProxyType(
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


def _is_size(value: Json) -> bool:
    return _is_integer(value) and _is_number(value) and float(str(value)) >= 0


def _is_names(value: Json) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _is_type(value: Json) -> bool:
    names = value if isinstance(value, list) else [value]
    return bool(names) and all(isinstance(name, str) and name in _TYPES for name in names)


_KEYWORDS: Mapping[str, Callable[[Json], bool]] = MappingProxyType(
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


def require_schema(schema: Mapping[str, Json]) -> None:
    """Refuse a schema outside the subset: what is not understood must not pass as satisfied.

    The keywords are type, properties, required, items, enum, minLength, maxLength, minimum, maximum,
    additionalProperties; title and description say nothing of the value.

    Raises
    ------
    InvalidInput
        An unknown keyword, or one with a value it cannot have; the witness is the keyword.
    """
    unread: list[Mapping[str, Json]] = [schema]
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


def violation(schema: Mapping[str, Json], value: Json) -> str | None:
    """The first place where the value breaks the schema, as ``keyword at path``; None where it satisfies it.

    Raises
    ------
    InvalidInput
        As `require_schema`.
    """
    require_schema(schema)
    unread: list[tuple[str, Mapping[str, Json], Json]] = [("", schema, value)]
    while unread:
        path, rules, here = unread.pop()
        broken = _broken(rules, here)
        if broken is not None:
            return f"{broken} at {path or '/'}"
        unread += reversed(_inner(path, rules, here))
    return None


def _broken(rules: Mapping[str, Json], value: Json) -> str | None:
    kind = rules.get("type")
    names = kind if isinstance(kind, list) else [] if kind is None else [kind]
    if names and not any(isinstance(name, str) and _TYPES[name](value) for name in names):
        return "type"
    options = rules.get("enum")
    if isinstance(options, list) and canonical(value) not in {canonical(option) for option in options}:
        return "enum"
    if isinstance(value, str):
        return _outside(rules, "Length", len(value))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _outside(rules, "imum", value)
    if isinstance(value, dict):
        required = rules.get("required")
        if isinstance(required, list) and any(
            name not in value for name in required if isinstance(name, str)
        ):
            return "required"
        properties = rules.get("properties")
        known = properties if isinstance(properties, dict) else {}
        if rules.get("additionalProperties") is False and any(name not in known for name in value):
            return "additionalProperties"
    return None


def _outside(rules: Mapping[str, Json], suffix: str, measure: float) -> str | None:
    low, high = rules.get(f"min{suffix}"), rules.get(f"max{suffix}")
    if isinstance(low, int | float) and measure < low:
        return f"min{suffix}"
    if isinstance(high, int | float) and measure > high:
        return f"max{suffix}"
    return None


def _inner(path: str, rules: Mapping[str, Json], value: Json) -> list[tuple[str, Mapping[str, Json], Json]]:
    items = rules.get("items")
    if isinstance(value, list) and isinstance(items, dict):
        return [(f"{path}/{place}", items, one) for place, one in enumerate(value)]
    if not isinstance(value, dict):
        return []
    properties = rules.get("properties")
    known = properties if isinstance(properties, dict) else {}
    others = rules.get("additionalProperties")
    found: list[tuple[str, Mapping[str, Json], Json]] = []
    for name, one in value.items():
        inner = known.get(name, others)
        if isinstance(inner, dict):
            # A name that the schema does not know is content: it is not quoted.
            found.append((f"{path}/{name}" if name in known else f"{path}/*", inner, one))
    return found


def _applies(context: Context) -> bool:
    return context.recipe.schema is not None


def _judge(context: Context) -> tuple[Word, str]:
    schema = context.recipe.schema or {}
    value: Json = context.made.content
    if schema.get("type") != "string":
        try:
            value = parse(context.made.content)
        except InvalidInput:
            value = context.made.content  # text that is not JSON stands for itself
    try:
        broken = violation(schema, value)
    except InvalidInput as error:
        return Word.FAIL, str(error)
    return (Word.PASS, "it satisfies its schema") if broken is None else (Word.FAIL, broken)


SCHEMA = Check(name="schema", applies=_applies, judge=_judge)
