"""Composed validation: every check that applies to a successor must let it through."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.metadata import entry_points

from memorepair.errors import InvalidInput
from memorepair.repair.checks.canary import CANARY
from memorepair.repair.checks.cases import CASES
from memorepair.repair.checks.check import Check, Context, Given, Shown, Verdict, Word
from memorepair.repair.checks.dryrun import DRY_RUN
from memorepair.repair.checks.forget import FORGET
from memorepair.repair.checks.params import PARAMS
from memorepair.repair.checks.reference import REFERENCE
from memorepair.repair.checks.replay import REPLAY
from memorepair.repair.checks.schema import SCHEMA
from memorepair.repair.checks.support import SUPPORT

GROUP = "memorepair.checks"
"""Entry point group: each entry loads to a `Check`, or an iterable of them."""

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

Judge = Callable[[Context], "tuple[Word, str] | None"]
"""A check as a function: its word and what it saw; None where it does not apply."""


def check(*, name: str) -> Callable[[Judge], Check[Context]]:
    """Turn a function of the successor into a check; handing it over is a separate step.

    Examples
    --------
    >>> @check(name="short")
    ... def short(context):
    ...     size = len(context.made.content)
    ...     return (Word.PASS if size < 500 else Word.FAIL), f"it has {size} characters"
    >>> short.name
    'short'
    """

    return lambda judge: Check(name=name, applies=lambda context: True, judge=judge)


class Checks:
    """The checks of a memory: the built-in ones, those handed over, those that installed packages bring.

    None of them replaces another: all that apply must let a successor through.
    """

    def __init__(self, more: Iterable[Check[Context]] = ()) -> None:
        self._given = _distinct([*CHECKS, *more])
        self._all: tuple[Check[Context], ...] | None = None

    def all(self) -> tuple[Check[Context], ...]:
        """In the order in which they judge; installed ones are loaded when first asked for.

        Raises
        ------
        InvalidInput
            An installed package has no checks to give under its entry point, or a name is there twice: a
            check that cannot be loaded must not pass as satisfied.
        """
        if self._all is None:
            self._all = _distinct([*self._given, *_installed()])
        return self._all

    def validate(self, context: Context) -> tuple[Verdict, ...]:
        """The verdicts on a successor."""
        return _verdicts(context, self.all())


def _distinct(checks: Iterable[object]) -> tuple[Check[Context], ...]:
    found: dict[str, Check[Context]] = {}
    for one in checks:
        if not isinstance(one, Check):
            kind = type(one).__name__
            raise InvalidInput(f"a check is a Check, not of type {kind}; see `check(name=...)`", witness=kind)
        if not isinstance(one.name, str) or not one.name.strip() or not one.name.isprintable():
            raise InvalidInput("the name of a check is printable text", witness=one.name)
        if one.name in found:
            raise InvalidInput(f"check {one.name} is there twice", witness=one.name)
        found[one.name] = one
    return tuple(found.values())


def _installed() -> list[object]:
    found: list[object] = []
    for entry in entry_points(group=GROUP):
        # To load it is to run other people's code, which may raise anything, also while it lists its checks.
        try:
            loaded: object = entry.load()
            listed = [loaded] if isinstance(loaded, Check) or not isinstance(loaded, Iterable) else [*loaded]
        except Exception as error:
            raise InvalidInput(f"the checks of {entry.name} cannot be loaded", witness=entry.value) from error
        found += listed
    return found


def admit(given: Given) -> tuple[Verdict, ...]:
    """The verdicts on a step before it runs."""
    return _verdicts(given, BEFORE)


def validate(context: Context) -> tuple[Verdict, ...]:
    """The verdicts of the built-in checks on a successor."""
    return _verdicts(context, CHECKS)


def _verdicts(shown: Shown, checks: tuple[Check[Shown], ...]) -> tuple[Verdict, ...]:
    """Of all checks that apply, in order."""
    verdicts = (check(shown) for check in checks)
    return tuple(verdict for verdict in verdicts if verdict is not None)


def first_refusal(verdicts: tuple[Verdict, ...]) -> Verdict | None:
    """The first verdict that keeps the successor out, None where it may be published."""
    return next((verdict for verdict in verdicts if not verdict.passed), None)
