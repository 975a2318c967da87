"""Outcomes: what became of each step of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from memorepair.errors import StaleRead, Withdrawn
from memorepair.memory.artifact import Key, Read
from memorepair.problems.integers import fraction
from memorepair.repair.checks.check import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """A validated successor in quarantine, ready to be published.

    `omitted` names what of the description before it was not taken over, for it repeats what was withdrawn.
    """

    version: int
    digest: str
    reads: tuple[Read, ...]
    verdicts: tuple[Verdict, ...]
    cost: float
    omitted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchanged:
    """Executed, validated, and the same as before: the old version can be released."""

    reads: tuple[Read, ...]
    verdicts: tuple[Verdict, ...]
    cost: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """Not executed: everything it read is there again exactly as it read it."""

    reads: tuple[Read, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """No successor; `rejected` is the version that validation refused, None where there is none."""

    reason: str
    cost: float
    verdicts: tuple[Verdict, ...] = ()
    rejected: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """Not executed because a prerequisite has no successor."""

    because: Key


@dataclass(frozen=True, slots=True, kw_only=True)
class Unaffordable:
    """Not begun: it was foreseen to cost more than other steps, dearer than foreseen, left of the budget."""

    foreseen: float
    left: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """Not begun: planned at first, not worth its price any more after what became of other steps."""


Outcome: TypeAlias = Staged | Unchanged | Released | Failed | Skipped | Unaffordable | Dropped


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """What became of each chosen or released member, in the order of execution; nothing is published yet.

    `stale` is what ended it early, another event or an update that came between; None where nothing did.
    `reselections` counts how often the rest was chosen anew.
    """

    outcomes: Mapping[Key, Outcome]
    stale: StaleRead | Withdrawn | None = None
    reselections: int = 0

    @property
    def cost(self) -> float:
        """What was actually spent, in the candidates' unit."""
        run = (one for one in self.outcomes.values() if isinstance(one, Staged | Unchanged | Failed))
        return float(sum((fraction(one.cost) for one in run), Fraction(0)))
