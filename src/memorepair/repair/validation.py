"""Composed validation: every check that applies to a successor must let it through."""

from __future__ import annotations

from memorepair.repair.checks.canary import CANARY
from memorepair.repair.checks.cases import CASES
from memorepair.repair.checks.check import Check, Context, Given, Shown, Verdict
from memorepair.repair.checks.dryrun import DRY_RUN
from memorepair.repair.checks.forget import FORGET
from memorepair.repair.checks.params import PARAMS
from memorepair.repair.checks.reference import REFERENCE
from memorepair.repair.checks.replay import REPLAY
from memorepair.repair.checks.schema import SCHEMA
from memorepair.repair.checks.support import SUPPORT

BEFORE: tuple[Check[Given], ...] = (PARAMS,)
"""What a step must pass before its operator is called; params applies to deletions and corrections."""

CHECKS: tuple[Check[Context], ...] = (REPLAY, SCHEMA, CANARY, SUPPORT, CASES, DRY_RUN, FORGET, REFERENCE)
"""In this order. A new check is one file in `checks` and one entry here; each says itself where it applies.

| check | applies to |
|---|---|
| replay | recomputation |
| schema | artifacts whose recipe has one |
| canary | regeneration, models |
| support | regeneration |
| cases | artifacts whose recipe has some |
| dry-run | chain skills |
| forget, reference | models |
"""


def admit(given: Given) -> tuple[Verdict, ...]:
    """The verdicts on a step before it runs."""
    return _verdicts(given, BEFORE)


def validate(context: Context) -> tuple[Verdict, ...]:
    """The verdicts on a successor."""
    return _verdicts(context, CHECKS)


def _verdicts(shown: Shown, checks: tuple[Check[Shown], ...]) -> tuple[Verdict, ...]:
    """Of all checks that apply, in order."""
    return tuple(check(shown) for check in checks if check.applies(shown))


def first_refusal(verdicts: tuple[Verdict, ...]) -> Verdict | None:
    """The first verdict that keeps the successor out, None where it may be published."""
    return next((verdict for verdict in verdicts if not verdict.passed), None)
