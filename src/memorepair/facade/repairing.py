"""Verbs that repair what an event took out."""

from __future__ import annotations

from collections.abc import Callable

from memorepair.facade.base import Opened, check_callable
from memorepair.memory.arguments import CaseLike, as_case
from memorepair.memory.values import check_flags, check_word
from memorepair.problems.proof import Ties
from memorepair.repair import engine
from memorepair.repair.plan import RepairPlan


class Repairing(Opened):
    """Verbs that repair what an event took out."""

    def plan(
        self,
        case: CaseLike,
        *,
        tradeoff: float | None = None,
        budget: float | None = None,
        ties: Ties = "fewest",
        solver: str = "pseudoflow",
    ) -> RepairPlan:
        """What `repair` would do for the case, why, and at what cost; changes nothing.

        Parameters
        ----------
        tradeoff
            The value that a unit of cost must bring, both counted in medians of the case's candidates; 0.3
            unless given, and 0 where there is a budget.
        budget
            The most that the chosen may be foreseen to cost together, in the unit of the pricing; none unless
            given. ``selection.gap`` proves how much better another choice could be at most.
        ties
            Of several optima the smallest ("fewest") or the largest ("most").
        solver
            A name of `memorepair.solvers.solvers()`, or "repair-all"; with a budget there is one, and no tie
            rule.

        Raises
        ------
        InvalidInput
            The case is undone; a number is negative or not finite; a solver or a tie rule beside a budget.
        UnknownId
            There is no such case or solver.
        """
        check_word(solver, "a solver")
        return engine.plan(
            self._store,
            as_case(case),
            operators=self._operators,
            pricing=self._pricing,
            tradeoff=tradeoff,
            budget=budget,
            ties=ties,
            solver=solver,
        )

    def repair(
        self,
        case: CaseLike,
        *,
        tradeoff: float | None = None,
        budget: float | None = None,
        ties: Ties = "fewest",
        solver: str = "pseudoflow",
        wait: float = 0.0,
        retry: bool = False,
        reselect: bool = False,
        suspected: float | None = None,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> engine.RepairReport:
        """Select, execute, validate, and publish what is validated; the rest stays withdrawn.

        A case that was closed in part is taken up where it stands. A deletion that erases ends with it.

        `tradeoff`, `budget`, `ties` and `solver` are those of `plan`. With a budget no step is begun that is
        foreseen to cost more than what is left of it; the report tells what was foreseen and what was spent.
        The budget is that of this call: a case taken up again has another one.

        With `reselect`, what is left is chosen anew after a step that failed or cost more than foreseen: what
        was spent is sunk, what cannot be completed is not paid for, what has come into reach is taken up.

        With `suspected`, what accepted suspicions from this probability on lead to from the case is withdrawn
        first, and repaired with the rest.

        Raises
        ------
        InvalidInput, UnknownId
            As `plan`; nothing was changed.
        RepairInProgress
            Another repair holds the store and `wait` seconds have passed.
        RepairsFailed
            Three repairs of the case have died or raised, in any process; `retry` begins another one.
        """
        check_flags(retry=retry, reselect=reselect)
        check_word(solver, "a solver")
        if progress is not None:
            check_callable(progress, "progress")
        report = engine.repair(
            self._store,
            as_case(case),
            operators=self._operators,
            pricing=self._pricing,
            tradeoff=tradeoff,
            budget=budget,
            ties=ties,
            solver=solver,
            wait=wait,
            retry=retry,
            reselect=reselect,
            checks=self._checks,
            suspected=suspected,
            progress=progress,
        )
        if report.receipt is not None:
            self._forget_words()
        return report
