"""Replay consistency: the same operator on the same inputs makes the same content again."""

from __future__ import annotations

from memorepair.repair.checks.check import Check, Context, Word
from memorepair.repair.modes import Mode
from memorepair.repair.operators.attempt import Failure, attempt


def _applies(context: Context) -> bool:
    return context.mode is Mode.RECOMPUTE


def _judge(context: Context) -> tuple[Word, str]:
    for key, (stored, given) in sorted(context.parents.items()):
        if stored != given:
            return Word.FAIL, f"the operator was given another text of {key} than the store holds"
    again = attempt(context.operator, context.call)
    if isinstance(again, Failure):
        return Word.FAIL, "the second run failed"
    if again.content != context.made.content:
        first, second = again.content, context.made.content
        place = next((at for at, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), None)
        place = min(len(first), len(second)) if place is None else place
        return Word.FAIL, f"two runs on the same inputs differ from character {place + 1} on"
    return Word.PASS, f"two runs agree on {len(context.parents)} inputs"


REPLAY = Check(name="replay", applies=_applies, judge=_judge)
