"""Chain procedures as data, with their strict reader."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from memorepair.errors import InvalidInput
from memorepair.memory.artifact import Json
from memorepair.repair.jsontext import canonical

PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
"""A reference inside an argument template: ``{input}`` or ``{step.output}``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One tool call: arguments are templates, `outputs` the fields of its result that later steps may use."""

    name: str
    tool: str
    arguments: Mapping[str, Json]
    outputs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure:
    """A chain: what it is given, its steps in order, the template of its result. Data, never code."""

    inputs: tuple[str, ...]
    steps: tuple[Step, ...]
    result: Json


def as_object(value: Json, what: str) -> dict[str, Json]:
    """The value, which must be an object."""
    if isinstance(value, dict):
        return value
    raise InvalidInput(f"{what} is a JSON object", witness=what)


def as_name(value: Json, what: str) -> str:
    """The value, which must be a name that templates can refer to."""
    if isinstance(value, str) and value and not set(value) & set("{}."):
        return value
    raise InvalidInput(f"{what} is a non-empty text without braces or dots", witness=what)


def as_names(value: Json, what: str) -> tuple[str, ...]:
    """The value, which must be a list of different names."""
    if not isinstance(value, list):
        raise InvalidInput(f"{what} is a list of names", witness=what)
    names = tuple(as_name(one, what) for one in value)
    if len(set(names)) < len(names):
        raise InvalidInput(f"{what} names something twice", witness=what)
    return names


def require_fields(value: Mapping[str, Json], known: Iterable[str], what: str) -> None:
    """Refuse an object with a field that is not known."""
    odd = sorted(set(value) - set(known))
    if odd:
        raise InvalidInput(f"{what} has an unknown field", witness=odd[0])


def read_procedure(value: Json) -> Procedure:
    """Read a procedure from JSON (docs/procedures.md).

    What is wrong is said by position: a procedure may be what was withdrawn.

    Raises
    ------
    InvalidInput
        A field is missing, unknown or of another type, or a name is given twice.
    """
    whole = as_object(value, "a procedure")
    require_fields(whole, ("inputs", "steps", "result"), "a procedure")
    listed = whole.get("steps")
    if not isinstance(listed, list):
        raise InvalidInput("steps is a list", witness="steps")
    steps: list[Step] = []
    for place, one in enumerate(listed, start=1):
        here = as_object(one, f"step {place}")
        require_fields(here, ("name", "tool", "arguments", "outputs"), f"step {place}")
        steps.append(
            Step(
                name=as_name(here.get("name"), f"the name of step {place}"),
                tool=as_name(here.get("tool"), f"the tool of step {place}"),
                arguments=as_object(here.get("arguments", {}), f"arguments of step {place}"),
                outputs=as_names(here.get("outputs", []), f"outputs of step {place}"),
            )
        )
    inputs = as_names(whole.get("inputs", []), "inputs")
    taken = [*inputs, *(step.name for step in steps)]
    if len(set(taken)) < len(taken):
        first = {name: place for place, name in reversed(list(enumerate(taken)))}
        place = next(place for place, name in enumerate(taken) if first[name] < place)
        whose = f"input {place + 1}" if place < len(inputs) else f"step {place - len(inputs) + 1}"
        raise InvalidInput(f"{whose} has a name that was given before", witness=whose)
    return Procedure(inputs=inputs, steps=tuple(steps), result=whole.get("result"))


def written(procedure: Procedure) -> str:
    """The canonical JSON text of a procedure."""
    return canonical(
        {
            "inputs": list(procedure.inputs),
            "steps": [
                {
                    "name": step.name,
                    "tool": step.tool,
                    "arguments": dict(step.arguments),
                    "outputs": list(step.outputs),
                }
                for step in procedure.steps
            ],
            "result": procedure.result,
        }
    )


def map_texts(value: Json, change: Callable[[str], str]) -> Json:
    """A copy of the JSON value with `change` applied to every text in it, keys apart; iterative."""
    whole: list[Json] = [value]
    unvisited: list[tuple[Callable[[Json], None], Json]] = [(partial(whole.__setitem__, 0), value)]
    while unvisited:
        put, here = unvisited.pop()
        if isinstance(here, str):
            put(change(here))
        elif isinstance(here, list):
            items = list(here)
            put(items)
            unvisited += [(partial(items.__setitem__, at), one) for at, one in enumerate(items)]
        elif isinstance(here, dict):
            fields = dict(here)
            put(fields)
            unvisited += [(partial(fields.__setitem__, name), one) for name, one in fields.items()]
    return whole[0]
