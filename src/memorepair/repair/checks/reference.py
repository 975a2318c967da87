"""Reference: a model that forgot still knows what it was to keep."""

from __future__ import annotations

from memorepair.errors import InvalidInput
from memorepair.memory.values import is_number
from memorepair.repair.checks.check import Check, Context, Word
from memorepair.repair.modes import Mode
from memorepair.repair.operators.learner import Learner

ALLOWED_LOSS = 0.1
"""Share of the reference set that may be lost, unless the param `allowed_loss` says otherwise."""


def _applies(context: Context) -> bool:
    return context.mode is Mode.PARAM


def _judge(context: Context) -> tuple[Word, str]:
    operator, call = context.operator, context.call
    if not isinstance(operator, Learner):
        return Word.FAIL, "its operator does not show how a model behaves"
    allowed = call.params.get("allowed_loss", ALLOWED_LOSS)
    if not isinstance(allowed, int | float) or not is_number(allowed, 0, 1):
        return Word.FAIL, "param allowed_loss is a number in 0 .. 1"
    now = operator.accuracy(context.made.content, call.inputs)
    saw = f"it knows {now:.1%} of {len(call.inputs)} reference sources"
    if call.own is None:
        return Word.PASS, saw
    try:
        before = operator.accuracy(call.own, call.inputs)
    except InvalidInput:
        return Word.WARN, f"{saw}; the version before cannot be asked"
    if before - now > allowed:
        return Word.QUARANTINE, f"{saw}, {before:.1%} before"
    return (Word.PASS if now >= before else Word.WARN), f"{saw}, {before:.1%} before"


REFERENCE: Check[Context] = Check(name="reference", applies=_applies, judge=_judge)
