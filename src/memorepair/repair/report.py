"""Reports: what a repair did, member by member, with the reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from types import MappingProxyType

from memorepair.memory.artifact import Case, Json, Key
from memorepair.memory.exchange import Receipt
from memorepair.problems.integers import fraction
from memorepair.repair.cascade import Cascade
from memorepair.repair.outcomes import (
    Dropped,
    Execution,
    Failed,
    Outcome,
    Released,
    Skipped,
    Staged,
    Unaffordable,
    Unchanged,
)
from memorepair.repair.plan import BUDGET, PRICE, PlanRow, RepairPlan


class Fate(StrEnum):
    """What became of a descendant; the last three leave it out of service."""

    REPUBLISHED = "republished"
    UNCHANGED = "unchanged"
    RELEASED = "released"
    FAILED = "failed"
    SKIPPED = "skipped"
    LEFT = "left"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberReport:
    """One descendant: its fate, why, and what was spent on it."""

    key: Key
    fate: Fate
    why: str
    cost: float

    @property
    def withdrawn(self) -> bool:
        """Whether it is still out of service."""
        return self.fate in (Fate.FAILED, Fate.SKIPPED, Fate.LEFT)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairReport:
    """What `repair` did for a case.

    Attributes
    ----------
    case
        As it is now.
    plan
        What was carried out.
    cascade
        Members of C(F), roots included.
    members
        The descendants that were withdrawn when the repair began, in order of keys.
    verdicts
        How many times each check said each word.
    cost, cost_all
        Spent, and the price of all executable candidates, in `plan.candidates.unit`.
    budget
        What this repair was allowed to spend, all its attempts together; None for no limit. `plan.budget` is
        what void attempts had left of it, and `plan.cost` what was foreseen for the last one.
    attempts
        How many times it was planned; more than 1 where another event came between.
    receipt
        What the close of the case has erased; None where nothing was to be erased.
    reselections
        How often what was left was chosen anew, after a failure or a cost beyond what was foreseen.
    spared
        Members that evidence kept in service, each with what it stands on.
    """

    case: Case
    plan: RepairPlan
    cascade: int
    members: tuple[MemberReport, ...]
    verdicts: Mapping[tuple[str, str], int]
    cost: float
    cost_all: float
    attempts: int
    budget: float | None = None
    receipt: Receipt | None = None
    reselections: int = 0
    spared: Mapping[Key, tuple[Key, ...]] = field(default_factory=lambda: MappingProxyType({}))

    def keys(self, *fates: Fate) -> tuple[Key, ...]:
        """Members of one of these fates."""
        return tuple(member.key for member in self.members if member.fate in fates)

    @property
    def republished(self) -> tuple[Key, ...]:
        """Served again as a new version."""
        return self.keys(Fate.REPUBLISHED)

    @property
    def unchanged(self) -> tuple[Key, ...]:
        """Executed, came out the same, served again as they were."""
        return self.keys(Fate.UNCHANGED)

    @property
    def released(self) -> tuple[Key, ...]:
        """Served again without execution (early cutoff)."""
        return self.keys(Fate.RELEASED)

    @property
    def failed(self) -> tuple[Key, ...]:
        """Executed without a successor that passes."""
        return self.keys(Fate.FAILED)

    @property
    def still_withdrawn(self) -> tuple[MemberReport, ...]:
        """Out of service, each with the reason and its witness."""
        return tuple(member for member in self.members if member.withdrawn)

    @property
    def cost_ratio(self) -> float | None:
        """Spent in parts of repairing all that is executable; None where that costs nothing."""
        return self.cost / self.cost_all if self.cost_all > 0 else None

    @property
    def over_budget(self) -> float:
        """What was spent beyond the budget, by steps that cost more than foreseen; 0 without one."""
        if self.budget is None:
            return 0.0
        return float(max(fraction(self.cost) - fraction(self.budget), Fraction(0)))

    def to_json(self) -> dict[str, Json]:
        """The report as JSON; keys in their written form."""
        selection = self.plan.selection
        fates = Counter(member.fate for member in self.members)
        return {
            "case": self.case.id,
            "event": self.case.event,
            "status": self.case.status.value,
            "roots": [str(root) for root in self.case.roots],
            "cascade": self.cascade,
            "plan": {
                "digest": self.plan.digest,
                "candidates": len(self.plan.candidates.keys),
                "executable": int(self.plan.candidates.executable.sum()),
                "chosen": sum(map(len, self.plan.waves)),
                "waves": len(self.plan.waves),
                "status": selection.status.value,
                "objective": float(selection.objective),
                "bound": float(selection.bound),
                "gap": float(selection.gap),
                "tradeoff": self.plan.tradeoff,
                "budget": self.plan.budget,
                "cost": self.plan.cost,
            },
            **{fate.value: fates[fate] for fate in Fate},
            "members": [
                {
                    "key": str(member.key),
                    "fate": member.fate.value,
                    "why": member.why,
                    "cost": member.cost,
                }
                for member in self.members
            ],
            "verdicts": [
                {"check": check, "word": word, "times": times}
                for (check, word), times in sorted(self.verdicts.items())
            ],
            "unit": self.plan.candidates.unit,
            "budget": self.budget,
            "over_budget": self.over_budget,
            "cost": self.cost,
            "cost_all": self.cost_all,
            "cost_ratio": self.cost_ratio,
            "spared": [
                {"key": str(key), "stands_on": [str(one) for one in by]} for key, by in self.spared.items()
            ],
            "attempts": self.attempts,
            "reselections": self.reselections,
            "erasure": None if self.receipt is None else self.receipt.status.value,
            "erased": 0 if self.receipt is None else len(self.receipt.versions),
        }


def make_report(
    case: Case,
    plan: RepairPlan,
    cascade: Cascade,
    execution: Execution,
    *,
    spent_before: float,
    attempts: int,
    budget: float | None,
) -> RepairReport:
    """The report of an execution that has been published.

    Parameters
    ----------
    cascade
        As it was planned for.
    spent_before
        On attempts that another event made void.
    budget
        For all attempts together.
    """
    return RepairReport(
        case=case,
        plan=plan,
        cascade=len(cascade.members),
        spared=cascade.evidence,
        members=tuple(_member(row, execution.outcomes.get(row.key)) for row in plan.rows()),
        verdicts=_words(execution.outcomes.values()),
        cost=spent_before + execution.cost,
        cost_all=plan.cost_all,
        attempts=attempts,
        budget=budget,
        reselections=execution.reselections,
    )


def _member(row: PlanRow, outcome: Outcome | None) -> MemberReport:
    match outcome:
        case Staged():
            why = f"version {outcome.version}"
            if outcome.omitted:
                why += f", without {', '.join(outcome.omitted)}: it repeats what was withdrawn"
            return MemberReport(key=row.key, fate=Fate.REPUBLISHED, why=why, cost=outcome.cost)
        case Unchanged():
            return MemberReport(key=row.key, fate=Fate.UNCHANGED, why="came out as before", cost=outcome.cost)
        case Released():
            return MemberReport(
                key=row.key, fate=Fate.RELEASED, why="everything it read is as it was", cost=0.0
            )
        case Failed():
            return MemberReport(key=row.key, fate=Fate.FAILED, why=outcome.reason, cost=outcome.cost)
        case Skipped():
            why = f"requires {outcome.because}, which has no successor"
            return MemberReport(key=row.key, fate=Fate.SKIPPED, why=why, cost=0.0)
        case Unaffordable():
            why = f"{BUDGET}: foreseen to cost {outcome.foreseen:g}, {outcome.left:g} was left"
            return MemberReport(key=row.key, fate=Fate.SKIPPED, why=why, cost=0.0)
        case Dropped():
            why = f"{PRICE}: not worth it any more after what became of other steps"
            return MemberReport(key=row.key, fate=Fate.LEFT, why=why, cost=0.0)
        case None:
            return MemberReport(key=row.key, fate=Fate.LEFT, why=row.why, cost=0.0)


def _words(outcomes: Iterable[Outcome]) -> dict[tuple[str, str], int]:
    return dict(
        Counter(
            (verdict.check, verdict.word.value)
            for outcome in outcomes
            if isinstance(outcome, Staged | Unchanged | Failed)
            for verdict in outcome.verdicts
        )
    )
