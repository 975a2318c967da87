"""Canary: no withdrawn content in a regenerated text, unless what it was made from says the same."""

from __future__ import annotations

from memorepair.repair.checks.check import Check, Context, Word
from memorepair.repair.checks.marks import marked, recognised, runs
from memorepair.repair.modes import Mode


def _applies(context: Context) -> bool:
    return context.mode is Mode.REGEN


def _judge(context: Context) -> tuple[Word, str]:
    own = () if context.call.own is None else (context.call.own,)
    given_away = recognised(
        runs(context.made.content),
        [context.root_marks, marked(context.parent_texts)],
        [*(source.content for source in context.call.inputs), *context.fresh, *own],
    )
    if given_away:
        return Word.QUARANTINE, f"it repeats withdrawn content of {', '.join(map(str, given_away[:3]))}"
    return Word.PASS, f"nothing of the roots and {len(context.parent_texts)} parents"


CANARY: Check[Context] = Check(name="canary", applies=_applies, judge=_judge)
