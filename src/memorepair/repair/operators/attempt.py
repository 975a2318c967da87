"""Calling an operator: the one place where whatever it raises or returns becomes a value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

from memorepair.errors import InvalidInput, MemoRepairError, StepFailed
from memorepair.memory.artifact import Key
from memorepair.memory.values import check_text
from memorepair.repair.operators.operator import Call, Made, Operator


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why an operator made nothing, and what it spent on it (None: not known)."""

    reason: str
    cost: float | None = None


def attempt(operator: Operator, call: Call) -> Made | Failure:
    """What the operator makes of the call, checked, or why it makes nothing.

    What is raised by an operator that was given the artifact's own version is told by its type alone, unless
    it says that its words quote nothing of that version: they may quote what was withdrawn.
    """
    # Operators are other people's code: whatever they raise is the failure of one step, never of the repair.
    try:
        made: object = operator.make(call)
    except Exception as error:  # noqa: BLE001 - the boundary to operators; the reason is kept and reported
        hidden = call.own is not None and not (isinstance(error, StepFailed) and error.quotes_own is False)
        reason = type(error).__name__ if hidden else told(error)
        return Failure(reason=reason, cost=number(error.cost) if isinstance(error, StepFailed) else None)
    if not isinstance(made, Made):
        return Failure(reason=f"the operator returned {type(made).__name__}, not Made")
    return _checked(made)


def told(error: Exception) -> str:
    """Type and words of somebody else's error; the type alone where no words are to be had."""
    name = type(error).__name__
    try:
        words = str(error).encode(errors="replace").decode()
    except Exception:  # noqa: BLE001 - the words of a foreign error are foreign code as well
        return name
    if isinstance(error, MemoRepairError):
        return words
    return f"{name}: {words}" if words else name


def number(value: object) -> float | None:
    """A finite number that is not negative, NumPy's among them; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        found = float(value)
    except (OverflowError, ValueError):
        return None
    return found if math.isfinite(found) and found >= 0 else None


def _checked(made: Made) -> Made | Failure:
    try:
        check_text(made.content, "the operator's content", None)
    except InvalidInput as error:
        return Failure(reason=str(error))
    cost = None if made.cost is None else number(made.cost)
    if made.cost is not None and cost is None:
        return Failure(reason="the operator's cost is no number that is finite and >= 0")
    cites: object = made.cites
    if cites is not None and not (
        isinstance(cites, tuple | list) and all(isinstance(one, Key) for one in cites)
    ):
        return Failure(reason="what the operator cites are not keys")
    return Made(content=made.content, cost=cost, cites=None if made.cites is None else tuple(made.cites))
