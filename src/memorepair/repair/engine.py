"""The engine: Algorithm 1, from a declared event to what is published."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction

from memorepair.errors import InvalidInput, RepairsFailed, StaleRead, Withdrawn
from memorepair.memory.artifact import Case, CaseStatus, Erasure, Key
from memorepair.memory.exchange import Progress, UndoReport
from memorepair.memory.store import Store
from memorepair.memory.values import is_number
from memorepair.problems.integers import fraction
from memorepair.problems.proof import Ties
from memorepair.repair.assignment import OperatorTable
from memorepair.repair.build import build_candidates
from memorepair.repair.candidates import Candidates
from memorepair.repair.cascade import Cascade, read_ancestry, read_cascade
from memorepair.repair.events import RepairEvent
from memorepair.repair.execution import execute
from memorepair.repair.operators.attempt import number
from memorepair.repair.outcomes import Execution
from memorepair.repair.plan import REPAIR_ALL, RepairPlan, check_budget, make_plan, worded
from memorepair.repair.pricing import Pricing, scale_of
from memorepair.repair.publication import publish
from memorepair.repair.report import RepairReport, make_report
from memorepair.repair.reselection import Replan
from memorepair.repair.validation import Checks
from memorepair.repair.withdrawal import event_of, withdraw

__all__ = ["ATTEMPTS", "FAILURES", "RepairReport", "plan", "repair", "undo", "why", "withdraw"]

ATTEMPTS = 3
"""How often a repair plans again when other events or updates come between."""

_NEAR = 1_000
"""Up to so many members above an artifact are looked at by themselves; beyond, the whole plan is as quick."""

FAILURES = 3
"""Repairs of one case that may die or raise, in any process, before another one has to be asked for."""


def plan(
    store: Store,
    case: int,
    *,
    operators: OperatorTable,
    pricing: Pricing | None = None,
    tradeoff: float | None = None,
    budget: float | None = None,
    ties: Ties = "fewest",
    solver: str = "pseudoflow",
) -> RepairPlan:
    """What `repair` would do for a case; changes nothing.

    Raises
    ------
    UnknownId
        There is no such case or solver.
    InvalidInput
        The case is undone, or the budget is not a number that is finite and not negative.
    NoSolution
        The solver reached its limit before its first answer.
    """
    check_budget(budget)
    event, cascade = _state(store, case)
    terms = _Terms(
        operators=operators, pricing=pricing, tradeoff=tradeoff, budget=budget, ties=ties, solver=solver
    )
    return _plan(store, event, cascade, terms)


def why(
    store: Store,
    case: int,
    key: Key,
    *,
    operators: OperatorTable,
    pricing: Pricing | None = None,
    tradeoff: float | None = None,
    budget: float | None = None,
    ties: Ties = "fewest",
    solver: str = "pseudoflow",
) -> str | None:
    """What the plan of a case says of one artifact: `chosen`, `price`, `budget`, or its bar with the witness.

    None where the artifact is no candidate of the case. A bar is found from what the artifact stands on; only
    the choice needs the whole plan.

    Raises
    ------
    UnknownId, InvalidInput
        As `plan`.
    """
    near = bar_of(store, case, key, operators=operators, pricing=pricing)
    if near is not None:
        return near
    whole = plan(
        store,
        case,
        operators=operators,
        pricing=pricing,
        tradeoff=tradeoff,
        budget=budget,
        ties=ties,
        solver=solver,
    )
    return next((row.why for row in whole.rows() if row.key == key), None)


def bar_of(
    store: Store, case: int, key: Key, *, operators: OperatorTable, pricing: Pricing | None = None
) -> str | None:
    """The bar of one artifact with its witness, found from what the artifact stands on.

    None where it has no bar, is no candidate, or stands on so much that a plan is as quick.

    Raises
    ------
    UnknownId, InvalidInput
        As `plan`.
    """
    event = _event(store, case)
    near = read_ancestry(store, case, key, most=_NEAR)
    if near is None:
        return None
    candidates = build_candidates(store, near, event, operators, pricing or Pricing())
    bar = candidates.bars[candidates.keys.index(key)] if key in candidates.keys else None
    return None if bar is None else worded(bar.reason, bar.witness)


def repair(
    store: Store,
    case: int,
    *,
    operators: OperatorTable,
    pricing: Pricing | None = None,
    tradeoff: float | None = None,
    budget: float | None = None,
    ties: Ties = "fewest",
    solver: str = "pseudoflow",
    wait: float = 0.0,
    retry: bool = False,
    reselect: bool = False,
    cutoff: bool = True,
    checks: Checks | None = None,
    suspected: float | None = None,
    progress: Progress | None = None,
) -> RepairReport:
    """Repair the members of a case that are still withdrawn; `withdraw` has put the barrier up before.

    With `suspected`, what accepted suspicions from this probability on lead to from the case is withdrawn
    first, and repaired with the rest.

    Raises
    ------
    RepairInProgress
        Another repair holds the store, still after `wait` seconds.
    StaleRead
        Other events or updates came between in every attempt.
    InvalidInput, NoSolution
        As `plan`; or an installed check cannot be loaded.
    RepairsFailed
        `FAILURES` repairs of the case have died or raised, and `retry` was not given.

    Notes
    -----
    A repair that raises takes back what it staged, and leaves the case in the status it had and the barrier
    up.

    A budget is what this call may spend. What an attempt spent that another event made void is gone: the next
    plan gets what is left. A step is begun only where its foreseen cost is left (`execute`); so the cost
    exceeds the budget at most by what steps cost more than foreseen. The next call, after a crash too, has a
    budget of its own.

    With `reselect` a step that fails, or costs more than foreseen, has the rest chosen anew, what was spent
    being sunk. Without `cutoff` nothing is released early (`execute`): for comparison.
    """
    check_budget(budget)
    terms = _Terms(
        operators=operators, pricing=pricing, tradeoff=tradeoff, budget=budget, ties=ties, solver=solver
    )
    judges = checks or Checks()
    with admitted(store, case, wait=wait, retry=retry, suspected=suspected, checks=judges) as declared:
        store.discard_staged(case)  # of a repair that died
        if suspected is not None:
            store.widen_case(case, suspected, actor=declared.actor, reason=declared.reason)
            declared = store.case(case)
        try:
            report = _repair(
                store, case, terms, checks=judges, reselect=reselect, cutoff=cutoff, progress=progress
            )
        except BaseException:
            store.discard_staged(case)
            if store.case(case).status is CaseStatus.RUNNING:
                died = declared.status is CaseStatus.RUNNING
                store.set_status(case, CaseStatus.OPEN if died else declared.status)
            raise
        if report.case.erasure is None:
            return report
        if report.case.erasure is Erasure.PENDING:
            store.purge()
        return replace(report, case=store.case(case), receipt=store.receipt(case))


@contextmanager
def admitted(
    store: Store,
    case: int,
    *,
    wait: float = 0.0,
    retry: bool = False,
    suspected: float | None = None,
    checks: Checks | None = None,
) -> Iterator[Case]:
    """Hold the store for a repair of the case, where one may begin; errors as `repair`. Changes nothing."""
    store.require_writable()
    if suspected is not None and not is_number(suspected, 0, 1):
        raise InvalidInput("suspected is a probability", witness=suspected)
    if number(wait) is None:
        raise InvalidInput("a wait is a number of seconds, finite and not negative", witness=wait)
    (checks or Checks()).all()  # one that cannot be loaded is told before anything is done
    with store.repairing(case, wait=wait):
        declared = store.case(case)
        if declared.attempts >= FAILURES and not retry:
            raise RepairsFailed(
                f"{declared.attempts} repairs of case {case} have failed; find out why, then retry",
                witness=declared.attempts,
            )
        yield declared


def undo(
    store: Store, case: int, *, actor: str, reason: str, wait: float = 0.0, dry_run: bool = False
) -> UndoReport:
    """Take a case back, by a person: what it withdrew is served again, what it brought is archived.

    Raises
    ------
    RepairInProgress
        A repair holds the store, still after `wait` seconds.
    UndoRefused
        It is undone already, later work stands on it, or content it needs is gone; nothing was changed.
    """
    with store.repairing(case, wait=wait):
        return store.undo(case, actor=actor, reason=reason, dry_run=dry_run)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Terms:
    """What the plans of a call are made by, as `plan` takes it."""

    operators: OperatorTable
    pricing: Pricing | None
    tradeoff: float | None
    budget: float | None
    ties: Ties
    solver: str


def _repair(
    store: Store,
    case: int,
    terms: _Terms,
    *,
    checks: Checks,
    reselect: bool,
    cutoff: bool,
    progress: Progress | None,
) -> RepairReport:
    spent = Fraction(0)
    for attempt in range(1, ATTEMPTS + 1):
        event, cascade = _state(store, case)  # kappa_e, C(F), D(F), Ret(e); B is up
        left = None if terms.budget is None else float(max(fraction(terms.budget) - spent, Fraction(0)))
        chosen = _plan(store, event, cascade, replace(terms, budget=left))
        store.begin_repair(case, chosen.digest, again=attempt > 1)
        store.set_scale(case, scale_of(chosen.candidates))  # the first plan's stays
        replan = _replanning(store, cascade, chosen, terms) if reselect else None
        execution = execute(
            store,
            event,
            cascade,
            chosen,
            terms.operators,
            checks=checks,
            replan=replan,
            cutoff=cutoff,
            progress=progress,
        )
        if _published(store, chosen, execution):
            closed = store.close_case(case)
            return make_report(
                closed,
                chosen,
                cascade,
                execution,
                spent_before=float(spent),
                attempts=attempt,
                budget=terms.budget,
            )
        store.discard_staged(case)
        spent += fraction(execution.cost)
    raise StaleRead(f"case {case} changed in each of {ATTEMPTS} attempts", witness=case)


def _replanning(store: Store, cascade: Cascade, first: RepairPlan, terms: _Terms) -> Replan | None:
    """How the rest of a plan is chosen anew; None where everything was required anyway."""
    if terms.solver == REPAIR_ALL:
        return None
    scale = store.case(cascade.case).scale

    def replan(rest: Candidates, left: float | None) -> RepairPlan:
        plan = make_plan(
            cascade,
            rest,
            tradeoff=first.tradeoff,
            budget=left,
            ties=terms.ties,
            solver=terms.solver,
            scale=scale,
        )
        store.begin_repair(cascade.case, plan.digest, again=True)
        return plan

    return replan


def _published(store: Store, chosen: RepairPlan, execution: Execution) -> bool:
    """Whether nothing has come between; if something has, nothing was published."""
    if execution.stale is not None:
        return False
    try:
        publish(store, chosen, execution)
    except (StaleRead, Withdrawn):
        return False
    return True


def _state(store: Store, case: int) -> tuple[RepairEvent, Cascade]:
    return _event(store, case), read_cascade(store, case)


def _event(store: Store, case: int) -> RepairEvent:
    declared: Case = store.case(case)
    if declared.status is CaseStatus.UNDONE:
        raise InvalidInput(f"case {case} has been undone", witness=case)
    return event_of(store, declared)


def _plan(store: Store, event: RepairEvent, cascade: Cascade, terms: _Terms) -> RepairPlan:
    candidates = build_candidates(store, cascade, event, terms.operators, terms.pricing or Pricing())
    made = make_plan(
        cascade,
        candidates,
        tradeoff=terms.tradeoff,
        budget=terms.budget,
        ties=terms.ties,
        solver=terms.solver,
        scale=store.case(cascade.case).scale,
    )
    return replace(made, suspected=tuple(store.suspects(cascade.case)))
