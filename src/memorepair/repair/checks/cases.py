"""Task cases: what the recipe says a successor must still state, or must not."""

from __future__ import annotations

from memorepair.repair.checks.check import Check, Context, Word


def _applies(context: Context) -> bool:
    return bool(context.recipe.cases)


def _judge(context: Context) -> tuple[Word, str]:
    content = context.made.content
    for case in context.recipe.cases:
        if any(text not in content for text in case.contains):
            return Word.FAIL, f"case {case.name}: something it must state is missing"
        if any(text in content for text in case.excludes):
            return Word.FAIL, f"case {case.name}: it states something it must not"
    return Word.PASS, f"{len(context.recipe.cases)} cases hold"


CASES = Check(name="cases", applies=_applies, judge=_judge)
