"""Support: every source that a regenerated text cites was given to it, retained or republished."""

from __future__ import annotations

from memorepair.repair.checks.check import Check, Context, Word
from memorepair.repair.modes import Mode


def _applies(context: Context) -> bool:
    return context.mode is Mode.REGEN or context.made.cites is not None


def _judge(context: Context) -> tuple[Word, str]:
    given = {source.key for source in context.call.inputs}
    cited = given if context.made.cites is None else set(context.made.cites)
    if not given:
        return Word.FAIL, "it stands on nothing"
    if not cited:
        return Word.FAIL, "it cites nothing"
    foreign = sorted(cited - given)
    if foreign:
        return Word.FAIL, f"it cites {foreign[0]}, which it was not given"
    return Word.PASS, f"{len(cited)} of {len(given)} sources cited"


SUPPORT = Check(name="support", applies=_applies, judge=_judge)
