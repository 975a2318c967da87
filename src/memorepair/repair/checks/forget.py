"""Forget: a model behaves on what it had to forget as one that never saw it."""

from __future__ import annotations

import numpy as np

from memorepair.repair.checks.check import Check, Context, Word
from memorepair.repair.modes import Mode
from memorepair.repair.operators.learner import Learner

TOLERANCE = 1e-6
"""Largest difference of two scores, in parts of the largest score, that rounding may make."""


def _applies(context: Context) -> bool:
    return context.mode is Mode.PARAM


def _judge(context: Context) -> tuple[Word, str]:
    operator, call = context.operator, context.call
    if not isinstance(operator, Learner):
        return Word.FAIL, "its operator does not show how a model behaves"
    retrained = operator.train(call.inputs, call.params)
    for part, sources in (("forget", context.forget), ("reference", call.inputs)):
        there = operator.scores(context.made.content, sources)
        wanted = operator.scores(retrained, sources)
        if there.shape != wanted.shape or not np.isfinite(there).all():
            return Word.FAIL, f"on the {part} set it knows other labels than a model that never saw the rest"
        apart = float(np.abs(there - wanted).max(initial=0.0))
        largest = float(np.abs(wanted).max(initial=1.0))
        if apart > TOLERANCE * largest:
            return Word.FAIL, f"on the {part} set its scores are {apart:.2g} from those of such a model"
    return Word.PASS, f"as if {len(context.forget)} sources had never been there"


FORGET: Check[Context] = Check(name="forget", applies=_applies, judge=_judge)
