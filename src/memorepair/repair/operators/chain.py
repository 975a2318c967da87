"""Chain procedures as data: their reader, and the rewrite that carries one to a new interface."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial

from memorepair.errors import InvalidInput, StepFailed
from memorepair.memory.artifact import Json
from memorepair.repair.jsontext import canonical, parse
from memorepair.repair.modes import Mode
from memorepair.repair.operators.operator import Call, Made

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A tool, an argument or an output in a contract, and the name it had before, where it was renamed."""

    renamed_from: str | None
    required: bool
    default: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """What a tool takes and gives; `outputs` None where the interface does not say."""

    renamed_from: str | None
    arguments: Mapping[str, Entry]
    outputs: Mapping[str, Entry] | None


def _object(value: Json, what: str) -> dict[str, Json]:
    if isinstance(value, dict):
        return value
    raise InvalidInput(f"{what} is a JSON object", witness=what)


def _name(value: Json, what: str) -> str:
    if isinstance(value, str) and value and not set(value) & set("{}."):
        return value
    raise InvalidInput(f"{what} is a non-empty text without braces or dots", witness=what)


def _names(value: Json, what: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise InvalidInput(f"{what} is a list of names", witness=what)
    names = tuple(_name(one, what) for one in value)
    if len(set(names)) < len(names):
        raise InvalidInput(f"{what} names something twice", witness=what)
    return names


def _only(value: Mapping[str, Json], known: Iterable[str], what: str) -> None:
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
    whole = _object(value, "a procedure")
    _only(whole, ("inputs", "steps", "result"), "a procedure")
    listed = whole.get("steps")
    if not isinstance(listed, list):
        raise InvalidInput("steps is a list", witness="steps")
    steps: list[Step] = []
    for place, one in enumerate(listed, start=1):
        here = _object(one, f"step {place}")
        _only(here, ("name", "tool", "arguments", "outputs"), f"step {place}")
        steps.append(
            Step(
                name=_name(here.get("name"), f"the name of step {place}"),
                tool=_name(here.get("tool"), f"the tool of step {place}"),
                arguments=_object(here.get("arguments", {}), f"arguments of step {place}"),
                outputs=_names(here.get("outputs", []), f"outputs of step {place}"),
            )
        )
    inputs = _names(whole.get("inputs", []), "inputs")
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


def read_contracts(texts: Iterable[str]) -> dict[str, Contract]:
    """The tools of those texts that are interfaces: JSON objects with a `tools` object.

    Raises
    ------
    InvalidInput
        An interface is malformed, two tools claim one former name, or two interfaces hold one tool.
    """
    contracts: dict[str, Contract] = {}
    for text in texts:
        try:
            whole = parse(text)
        except InvalidInput:
            continue  # prose beside the interfaces
        if not isinstance(whole, dict) or "tools" not in whole:
            continue
        for name, value in _object(whole["tools"], "tools").items():
            here = _object(value, f"tool {name}")
            outputs = here.get("outputs")
            contract = Contract(
                renamed_from=_former(here, name),
                arguments=_entries(here.get("arguments", {}), f"arguments of {name}"),
                outputs=None if outputs is None else _entries(outputs, f"outputs of {name}"),
            )
            if contracts.setdefault(_name(name, "a tool"), contract) != contract:
                raise InvalidInput(f"two interfaces disagree on the tool {name}", witness=name)
    return contracts


def _former(value: Mapping[str, Json], name: str) -> str | None:
    former = value.get("renamed_from")
    return None if former is None else _name(former, f"renamed_from of {name}")


def _entries(value: Json, what: str) -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    for name, one in _object(value, what).items():
        here = _object(one, f"{name} in {what}")
        entries[_name(name, what)] = Entry(
            renamed_from=_former(here, name),
            required=here.get("required") is True,
            default=here.get("default"),
        )
    return entries


def _new_names(former: Mapping[str, str | None], *, old_words: bool) -> dict[str, str]:
    """Old name -> new name: of every renamed one with `old_words`, else only where the old name is gone."""
    new: dict[str, str] = {}
    for name, old in former.items():
        if old is None or (not old_words and old in former):
            continue
        if old in new:
            raise InvalidInput(f"both {new[old]} and {name} were renamed from {old}", witness=old)
        new[old] = name
    return new


def adapt(procedure: Procedure, contracts: Mapping[str, Contract], *, old_words: bool) -> Procedure:
    """Carry a procedure to the contracts: tools, arguments and outputs renamed, missing defaults filled in.

    Parameters
    ----------
    old_words
        The procedure is known to be written for the interface before; then a name that old and new interface
        both use is translated too (two tools may have swapped names). Otherwise only names the contracts do
        not have are translated, and adapting twice is adapting once.

    Raises
    ------
    InvalidInput
        Two names of the contracts were renamed from the same one.
    """
    tools = _new_names({name: one.renamed_from for name, one in contracts.items()}, old_words=old_words)
    steps: list[Step] = []
    outputs_of: dict[str, dict[str, str]] = {}
    for step in procedure.steps:
        tool = tools.get(step.tool, step.tool)
        contract = contracts.get(tool)
        arguments = {name: _redirect(value, outputs_of) for name, value in step.arguments.items()}
        outputs = step.outputs
        if contract is not None:
            renamed = _new_names(
                {name: one.renamed_from for name, one in contract.arguments.items()}, old_words=old_words
            )
            arguments = {renamed.get(name, name): value for name, value in arguments.items()}
            for name, entry in contract.arguments.items():
                if entry.default is not None:
                    arguments.setdefault(name, entry.default)
            now = _new_names(
                {name: one.renamed_from for name, one in (contract.outputs or {}).items()},
                old_words=old_words,
            )
            outputs = tuple(now.get(name, name) for name in outputs)
            outputs_of[step.name] = now
        steps.append(Step(name=step.name, tool=tool, arguments=arguments, outputs=outputs))
    result = _redirect(procedure.result, outputs_of)
    return Procedure(inputs=procedure.inputs, steps=tuple(steps), result=result)


def _redirect(template: Json, outputs_of: Mapping[str, Mapping[str, str]]) -> Json:
    """The template with ``{step.output}`` references following renamed outputs."""

    def follow(match: re.Match[str]) -> str:
        step, dot, output = match[1].partition(".")
        return f"{{{step}{dot}{outputs_of.get(step, {}).get(output, output)}}}"

    return map_texts(template, lambda text: PLACEHOLDER.sub(follow, text))


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainRewrite:
    """Carries a chain procedure to the interfaces in force, by what they say was renamed or added.

    In a migration it rewrites the version before (`Call.own`), written in the old interface's words. After
    any other event the procedure is made again from the steps stored in the recipe's `procedure` param,
    adapted to the interfaces among the inputs where it names what they no longer have. A text that needs no
    change is returned as it is.
    """

    name: str = "rewrite-chain"
    version: str = "1"
    mode: Mode = field(default=Mode.REGEN, init=False)
    deterministic: bool = field(default=True, init=False)
    reads_own_version: bool = field(default=True, init=False)

    def make(self, call: Call) -> Made:
        """The procedure for the interfaces in force.

        Raises
        ------
        StepFailed
            There is no version to rewrite, and the recipe stores no steps.
        InvalidInput
            The procedure or an interface is malformed.
        """
        if call.own is not None:
            before = parse(call.own)
        elif "procedure" in call.params:
            before = call.params["procedure"]
        else:
            raise StepFailed("the recipe stores no procedure to make the chain from", witness=call.key)
        procedure = read_procedure(before)
        after = procedure
        if call.own is not None:
            after = adapt(after, read_contracts(call.interfaces.values()), old_words=True)
        after = adapt(after, read_contracts(interfaces_of(call)), old_words=False)
        if call.own is not None and after == procedure:
            return Made(content=call.own)
        return Made(content=written(after))


def interfaces_of(call: Call) -> list[str]:
    """The texts among which the interfaces in force are: the call's inputs, and what the event brought."""
    return [source.content for source in call.inputs] + list(call.interfaces.values())
