"""Calling an operator: the one place where whatever it raises becomes a value."""

from __future__ import annotations

import math
from dataclasses import dataclass

from memorepair.errors import MemoRepairError
from memorepair.repair.operators.operator import Call, Made, Operator


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why an operator made nothing."""

    reason: str


def attempt(operator: Operator, call: Call) -> Made | Failure:
    """What the operator makes of the call, or why it makes nothing."""
    try:
        made: object = operator.make(call)
    except MemoRepairError as error:
        return Failure(reason=str(error))
    # Operators are other people's code: whatever they raise is the failure of one step, never of the repair.
    except Exception as error:  # noqa: BLE001 - the boundary to operators; the reason is kept and reported
        return Failure(reason=f"{type(error).__name__}: {error}")
    if not isinstance(made, Made):
        return Failure(reason=f"the operator returned {type(made).__name__}, not Made")
    content: object = made.content
    if not isinstance(content, str):
        return Failure(reason=f"the operator's content is {type(content).__name__}, not text")
    if made.cost is not None and not (math.isfinite(made.cost) and made.cost >= 0):
        return Failure(reason=f"the operator's cost is {made.cost}, not finite and >= 0")
    return made
