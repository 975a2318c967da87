"""Replay of a recorded look: does its operator make the recorded result from what it read?"""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType

from memorepair.adapters.tau_bench.operators import OPERATORS, PREFIX
from memorepair.adapters.tau_bench.traces import ToolCall
from memorepair.errors import StepFailed
from memorepair.graphs.terms import Relation
from memorepair.memory.artifact import Draft, Key
from memorepair.repair.operators.operator import Call, Input, Operator

_BY_NAME = MappingProxyType({operator.name: operator for operator in OPERATORS})


def operator_of(tool: str) -> Operator | None:
    """The operator that stands for a recorded tool, None where there is none."""
    return _BY_NAME.get(PREFIX + tool)


def disagreement(operator: Operator, key: Key, call: ToolCall, read: Iterable[Draft]) -> str | None:
    """Why `operator` does not make the recorded result of `call` again from `read`; None where it does.

    The operator is given what repair would give it and nothing else, so agreement also proves the arcs.
    """
    inputs = tuple(
        Input(key=draft.key, version=1, kind=draft.kind, relation=Relation.PRODUCE, content=draft.content)
        for draft in read
    )
    given = Call(key=key, inputs=inputs, params=call.arguments, interfaces={}, own=None)
    try:
        made = operator.make(given).content
    except StepFailed as error:
        return error.message
    if made == call.result:
        return None
    pairs = enumerate(zip(made, call.result, strict=False))
    place = next((at for at, (a, b) in pairs if a != b), min(len(made), len(call.result)))
    return f"the replay differs at character {place}"
