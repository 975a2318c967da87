"""Recomputation: deterministic Python functions as operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

from memorepair.errors import InvalidInput, StepFailed
from memorepair.memory.artifact import Json, Key
from memorepair.repair.jsontext import canonical, parse
from memorepair.repair.modes import Mode
from memorepair.repair.operators.operator import Call, Made

Function: TypeAlias = Callable[[Call], "str | Made"]
Tool: TypeAlias = Callable[[Mapping[Key, Json], Mapping[str, Json]], Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionOperator:
    """A plain function of the call, equal for equal calls."""

    name: str
    function: Function
    version: str = "1"
    reads_own_version: bool = False
    mode: Mode = field(default=Mode.RECOMPUTE, init=False)
    deterministic: bool = field(default=True, init=False)

    def make(self, call: Call) -> Made:
        """The function's result.

        Raises
        ------
        StepFailed
            The function returned neither text nor `Made`.
        """
        result: object = self.function(call)
        if isinstance(result, Made):
            return result
        if not isinstance(result, str):
            returned = type(result).__name__
            raise StepFailed(f"{self.name} returned {returned}, not text or Made", witness=returned)
        return Made(content=result)


def operator(
    *, name: str, version: str = "1", reads_own_version: bool = False
) -> Callable[[Function], FunctionOperator]:
    """Turn a function of the call into a recompute operator; registering it is a separate step.

    Examples
    --------
    >>> @operator(name="shout")
    ... def shout(call):
    ...     return " ".join(source.content.upper() for source in call.inputs)
    >>> shout.name, shout.version
    ('shout', '1')
    """

    def wrap(function: Function) -> FunctionOperator:
        return FunctionOperator(
            name=name, function=function, version=version, reads_own_version=reads_own_version
        )

    return wrap


def rows_of(call: Call) -> Mapping[Key, Json]:
    """The data source of a call: each input parsed; a text that is not JSON stands for itself."""
    rows: dict[Key, Json] = {}
    for source in call.inputs:
        try:
            rows[source.key] = parse(source.content)
        except InvalidInput:
            rows[source.key] = source.content
    return MappingProxyType(rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOperator:
    """A recorded read tool replayed over a data source that is exactly the call's inputs.

    `tool(rows, params)` gets the parsed inputs by key, and the recipe's params as its arguments; there is
    nothing else it could read. It returns text as it is to be stored, or a JSON value, stored canonically.
    """

    name: str
    tool: Tool
    version: str = "1"
    mode: Mode = field(default=Mode.RECOMPUTE, init=False)
    deterministic: bool = field(default=True, init=False)
    reads_own_version: bool = field(default=False, init=False)

    def make(self, call: Call) -> Made:
        """The tool's result over the inputs."""
        result = self.tool(rows_of(call), call.params)
        return Made(content=result if isinstance(result, str) else canonical(result))
