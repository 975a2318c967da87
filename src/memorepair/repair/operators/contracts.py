"""Contracts: what the tools of an interface take and give, and what they were before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from memorepair.errors import InvalidInput
from memorepair.memory.artifact import Json
from memorepair.memory.schemas import require_schema
from memorepair.repair.jsontext import parse
from memorepair.repair.operators.operator import Call
from memorepair.repair.operators.procedures import as_name, as_names, as_object, require_fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An argument or an output in a contract.

    Attributes
    ----------
    renamed_from
        The name it had before; None where it was not renamed.
    required
        Of an argument.
    fills, default
        Of an argument: whether the interface gives a value for steps that have none, and which; null is one.
    supplied_by
        Where the tool was split: the part, and its output, that this argument is taken from.
    schema
        JSON Schema of its value; None where the interface does not say.
    """

    renamed_from: str | None
    required: bool
    fills: bool
    default: Json
    supplied_by: tuple[str, str] | None
    schema: Mapping[str, Json] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """What a tool takes and gives.

    Attributes
    ----------
    renamed_from, split_from
        The tool that it was before, alone or as one part of several; None where it was none.
    arguments
    outputs
        None where the interface does not say.
    dropped_arguments, dropped_outputs
        Names before that it has no more and that nothing replaces.
    """

    renamed_from: str | None
    split_from: str | None
    arguments: Mapping[str, Entry]
    outputs: Mapping[str, Entry] | None
    dropped_arguments: tuple[str, ...]
    dropped_outputs: tuple[str, ...]


def interfaces_of(call: Call) -> list[str]:
    """The texts among which the interfaces in force are: the call's inputs, and what the event brought."""
    return [source.content for source in call.inputs] + list(call.interfaces.values())


def read_contracts(texts: Iterable[str]) -> dict[str, Contract]:
    """The tools of those texts that are interfaces: JSON objects with a `tools` object.

    Raises
    ------
    InvalidInput
        An interface is malformed, or two of them disagree on a tool.
    """
    contracts: dict[str, Contract] = {}
    for text in texts:
        try:
            whole = parse(text)
        except InvalidInput:
            continue  # prose beside the interfaces
        if not isinstance(whole, dict) or "tools" not in whole:
            continue
        for name, value in as_object(whole["tools"], "tools").items():
            contract = _contract(name, as_object(value, f"tool {name}"))
            if contracts.setdefault(as_name(name, "a tool"), contract) != contract:
                raise InvalidInput(f"two interfaces disagree on the tool {name}", witness=name)
    return contracts


def _contract(name: str, value: Mapping[str, Json]) -> Contract:
    outputs = value.get("outputs")
    dropped = as_object(value.get("dropped", {}), f"dropped of {name}")
    require_fields(dropped, ("arguments", "outputs"), f"dropped of {name}")
    former = [field for field in ("renamed_from", "split_from") if field in value]
    if len(former) > 1:
        raise InvalidInput(f"the tool {name} is either renamed or split off", witness=name)
    arguments = _entries(value.get("arguments", {}), f"arguments of {name}")
    entries = None if outputs is None else _entries(outputs, f"outputs of {name}")
    gone = [
        as_names(dropped.get(field, []), f"dropped {field} of {name}") for field in ("arguments", "outputs")
    ]
    for names, now in zip(gone, (arguments, entries or {}), strict=True):
        both = {one.renamed_from for one in now.values()} & set(names)
        if both:
            raise InvalidInput(f"{name} drops what it has renamed", witness=min(filter(None, both)))
    return Contract(
        renamed_from=_former(value, "renamed_from", name),
        split_from=_former(value, "split_from", name),
        arguments=arguments,
        outputs=entries,
        dropped_arguments=gone[0],
        dropped_outputs=gone[1],
    )


def _former(value: Mapping[str, Json], field: str, name: str) -> str | None:
    former = value.get(field)
    return None if former is None else as_name(former, f"{field} of {name}")


def _entries(value: Json, what: str) -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    for name, one in as_object(value, what).items():
        here = as_object(one, f"{name} in {what}")
        schema = here.get("schema")
        if schema is not None:
            require_schema(as_object(schema, f"the schema of {name} in {what}"))
        entries[as_name(name, what)] = Entry(
            renamed_from=_former(here, "renamed_from", name),
            required=_flag(here.get("required", False), f"required of {name} in {what}"),
            fills="default" in here,
            default=here.get("default"),
            supplied_by=_supplier(here.get("supplied_by"), f"supplied_by of {name} in {what}"),
            schema=schema if isinstance(schema, dict) else None,
        )
    return entries


def _flag(value: Json, what: str) -> bool:
    if isinstance(value, bool):
        return value
    raise InvalidInput(f"{what} is true or false", witness=what)


def _supplier(value: Json, what: str) -> tuple[str, str] | None:
    if value is None:
        return None
    tool, dot, output = value.partition(".") if isinstance(value, str) else ("", "", "")
    if not dot:
        raise InvalidInput(f"{what} is written tool.output", witness=what)
    return as_name(tool, what), as_name(output, what)
