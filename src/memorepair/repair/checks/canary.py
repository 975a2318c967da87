"""Canary: no withdrawn content in a regenerated text, unless what it was made from says the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from memorepair.memory.artifact import Key
from memorepair.repair.checks.check import Check, Context, Word
from memorepair.repair.checks.marks import Run, marked, runs
from memorepair.repair.modes import Mode


def leaks(
    text: str, withdrawn: Iterable[Mapping[Run, Key]], allowed: Iterable[str], template: str = ""
) -> list[Key]:
    """The withdrawn artifacts that the text gives away.

    Parameters
    ----------
    withdrawn
        Marks of what was withdrawn (`marked`).
    allowed
        Texts that may be quoted: what a withdrawn text has in common with them gives nothing away.
    template
        A person's frame around the text: its single words may stand, its passages may not.

    Notes
    -----
    Linear in the texts, whatever number of marks there are.
    """
    said = set(runs(text))
    suspects: dict[Run, Key] = {}
    for marks in withdrawn:
        suspects.update((run, marks[run]) for run in said if run in marks)
    if not suspects:
        return []
    for content in allowed:
        for run in runs(content):
            suspects.pop(run, None)
    for run in runs(template):
        if len(run) == 1:
            suspects.pop(run, None)
    return sorted(set(suspects.values()))


def _applies(context: Context) -> bool:
    return context.mode is Mode.REGEN


def _judge(context: Context) -> tuple[Word, str]:
    call = context.call
    own = () if call.own is None else (call.own,)
    template = call.params.get("template")
    given_away = leaks(
        context.made.content,
        [context.root_marks, marked(context.parent_texts)],
        [*(source.content for source in call.inputs), *context.fresh, *own],
        template if isinstance(template, str) else "",
    )
    if given_away:
        return Word.QUARANTINE, f"it repeats withdrawn content of {', '.join(map(str, given_away[:3]))}"
    return Word.PASS, f"nothing of the roots and {len(context.parent_texts)} affected parents"


CANARY = Check(name="canary", applies=_applies, judge=_judge)
