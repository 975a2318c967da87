"""Task cases: what the recipe says a successor must still state, or must not."""

from __future__ import annotations

from memorepair.repair.checks.check import Check, Context, Word


def _applies(context: Context) -> bool:
    return bool(context.recipe.cases)


def _judge(context: Context) -> tuple[Word, str]:
    content = context.made.content
    for case in context.recipe.cases:
        # By number: the texts may be what was withdrawn.
        for number, text in enumerate(case.contains, start=1):
            if text not in content:
                return Word.FAIL, f"case {case.name}: text {number} that it must state is missing"
        for number, text in enumerate(case.excludes, start=1):
            if text in content:
                return Word.FAIL, f"case {case.name}: it states text {number} that it must not"
    return Word.PASS, f"{len(context.recipe.cases)} cases hold"


CASES = Check(name="cases", applies=_applies, judge=_judge)
