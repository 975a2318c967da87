"""Canary: no withdrawn content in what was made anew, unless what it was made from says the same."""

from __future__ import annotations

from memorepair.repair.checks.check import Check, Context, Word
from memorepair.repair.checks.marks import marked, recognised, runs
from memorepair.repair.events import EventKind
from memorepair.repair.modes import Mode


def _applies(context: Context) -> bool:
    return context.mode in (Mode.REGEN, Mode.PARAM)


def _judge(context: Context) -> tuple[Word, str]:
    # What a migration carries over was true before it; what a model forgets was not.
    migrates = context.event is EventKind.MIGRATE
    own = (context.call.own,) if migrates and context.call.own is not None else ()
    given_away = recognised(
        runs(context.made.content),
        [context.root_marks, marked(context.parent_texts)],
        [*(source.content for source in context.call.inputs), *context.fresh, *own],
    )
    if given_away:
        return Word.QUARANTINE, f"it repeats withdrawn content of {', '.join(map(str, given_away[:3]))}"
    return Word.PASS, f"nothing of the roots and {len(context.parent_texts)} parents"


CANARY: Check[Context] = Check(name="canary", applies=_applies, judge=_judge)
