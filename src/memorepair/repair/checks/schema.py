"""Schema: a successor satisfies the JSON Schema of its recipe, in the subset written here."""

from __future__ import annotations

from collections.abc import Mapping

from memorepair.errors import InvalidInput
from memorepair.memory.artifact import Json
from memorepair.memory.schemas import TYPES
from memorepair.repair.checks.check import Check, Context, Word
from memorepair.repair.jsontext import canonical, parse


def violation(schema: Mapping[str, Json], value: Json) -> str | None:
    """The first place where the value breaks the schema, as ``keyword at path``; None where it satisfies it.

    The schema is one that `require_schema` lets pass, as every recipe's does.
    """
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
    if names and not any(isinstance(name, str) and TYPES[name](value) for name in names):
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
    broken = violation(schema, value)
    return (Word.PASS, "it satisfies its schema") if broken is None else (Word.FAIL, broken)


SCHEMA = Check(name="schema", applies=_applies, judge=_judge)
