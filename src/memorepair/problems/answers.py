"""Answers: what comes back from select(), with its proof."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from itertools import pairwise
from typing import get_args

import numpy as np

from memorepair.errors import InvalidInput, NoSolution, ProofFailed
from memorepair.graphs.closure import least_closed_superset
from memorepair.graphs.digraph import Index, Mask, read_only
from memorepair.problems import proof
from memorepair.problems.checking import (
    Figure,
    affordable,
    budgeted_amounts,
    check_choice,
    check_same,
    check_witnesses,
    costs_of,
    figure,
    is_leaf,
    places_of,
    question_of,
)
from memorepair.problems.instances import Closure, SelectionInstance
from memorepair.problems.integers import (
    exact_total,
    fraction,
    shown,
    total,
)
from memorepair.problems.leaves import Leaf, upper_bound
from memorepair.problems.proof import Certificate as Certificate
from memorepair.problems.proof import Question, Ties


class Status(Enum):
    """How an answer stands to its problem."""

    OPTIMAL = "optimal"
    """Proved: the bound, what rounding could hide included, is the objective, the same number."""
    FEASIBLE = "feasible"
    """Closed, nothing barred; the gap bounds what could be better, and what rounding could hide."""
    INFEASIBLE = "infeasible"
    """A required candidate is barred; the report holds the path that proves it."""
    NO_SOLUTION = "no solution"
    """A limit ended the search before the first answer."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answer:
    """What was chosen and what it is worth.

    Attributes
    ----------
    mask : (k,) bool
        x.
    value, cost, objective
        sum w x, sum c x, and value - tradeoff * cost; each computed exactly and then turned into a `Figure`.
        A tuple of costs where there are several.
    bound
        No feasible set is worth more: what the integers prove plus the report's loss.
    gap
        (bound - objective) / max(|bound|, |objective|) before they become figures, 0 exactly where the status
        is OPTIMAL.
    """

    mask: Mask
    value: Figure
    cost: Figure | tuple[Figure, ...]
    objective: Figure
    bound: Figure
    gap: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Report:
    """What selection saw.

    Attributes
    ----------
    barred_by : (k,) int32
        Position of the nearest non-executable candidate that each requires, itself counted; -1 where not
        barred.
    forced
        Number of candidates fixed because they are required, directly or not.
    loss
        No set's objective differs from its integer objective by more, in original units; 0 when arithmetic
        was exact. Counted into bound, gap and status; not into `ties`, which are those of the integers.
    infeasible
        Empty, or ids along which a required candidate (first) requires a non-executable one (last).
    overrun
        Empty, or what is required costs together, each cost, where that is more than the budget.
    slack
        Of each budget: what rounding may have kept from the answer; 0 when arithmetic was exact. The bound
        holds for all of the budget.
    """

    barred_by: Index
    forced: int
    loss: Fraction = Fraction(0)
    infeasible: tuple[Hashable, ...] = ()
    overrun: tuple[Figure, ...] = ()
    slack: tuple[Fraction, ...] = ()

    @property
    def barred(self) -> int:
        """Number of candidates that are, or require, a non-executable one."""
        return int((self.barred_by >= 0).sum())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Selection:
    """Answer to a SelectionInstance, with its proof.

    Attributes
    ----------
    instance
        The problem.
    status
        OPTIMAL, FEASIBLE, INFEASIBLE, NO_SOLUTION.
    solver
        Name of the solver that found it.
    ties
        Which of several optima it is: "fewest" the smallest, "most" the largest; None from a solver without
        tie rule.
    report
        Barred candidates with their witness, rounding loss, the path that makes it infeasible.
    answer
        The figures; None where the status has none. The properties below read them.
    certificate
        pi on the arcs of ``instance.requires``; None where there is no answer, or a budget.
    leaves
        With a budget: decisions, price, pi of each part, the proof of the bound; else empty.
    ilp_bound
        What an integer programming solver claims as bound, unproved; None where none was asked or it had
        none.
    """

    instance: SelectionInstance
    status: Status
    solver: str
    ties: Ties | None
    report: Report
    answer: Answer | None = None
    certificate: Certificate | None = None
    leaves: tuple[Leaf, ...] = ()
    ilp_bound: Figure | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.status, Status):
            raise InvalidInput(f"{self.status!r} is no status", witness=self.status)
        has_answer = self.status in (Status.OPTIMAL, Status.FEASIBLE)
        has_proof = (self.certificate is not None) or bool(self.leaves)
        if has_answer != (self.answer is not None) or has_answer != has_proof:
            raise InvalidInput(f"status {self.status.value} does not go with its answer", witness=self.status)

    @classmethod
    def proved(
        cls,
        instance: SelectionInstance,
        closure: Closure,
        *,
        barred_by: Index,
        solver: str,
        ties: Ties | None,
    ) -> Selection:
        """The selection that `closure`, on the nodes and arcs of `instance`, proves by its certificate.

        Raises
        ------
        ProofFailed
            Not closed, something barred in or required left out, or another optimum than `ties` promises
            (witness: the arc or node).
        """
        mask, certificate = closure.mask, closure.certificate or Certificate.zero()
        if len(certificate.arcs) and certificate.arcs[-1] >= instance.requires.m:
            raise ProofFailed(
                "the certificate names an arc that does not exist", witness=int(certificate.arcs[-1])
            )
        question, priced = question_of(instance, big=certificate.amounts.dtype == np.object_)
        check_choice(instance, question, mask, barred_by)
        r = proof.reduced_profits(question, certificate.arcs, certificate.amounts)
        bound, objective = proof.dual_bound(question, r), exact_total(question.profit[mask])
        if bound == objective and ties is not None:
            proof.check_extreme(question, r, certificate.arcs, ties, mask)
        status, answer = _judged(instance, mask, bound, objective, priced.scale, priced.loss)
        return cls(
            instance=instance,
            status=status,
            solver=solver,
            ties=ties,
            report=Report(barred_by=barred_by, forced=int(question.forced.sum()), loss=priced.loss),
            answer=answer,
            certificate=certificate,
        )

    @classmethod
    def bounded(
        cls,
        instance: SelectionInstance,
        mask: Mask,
        leaves: tuple[Leaf, ...],
        *,
        barred_by: Index,
        solver: str,
        ilp_bound: Figure | None = None,
    ) -> Selection:
        """The selection `mask` within the budget of `instance`, with the bound that `leaves` prove.

        Raises
        ------
        ProofFailed
            Not closed, over budget, something barred in or required left out (witness: the arc or node, the
            costs); leaves that do not split the problem, or bound less than the answer is worth.
        """
        amounts, forced, barred = budgeted_amounts(instance)
        question = Question(requires=instance.requires, profit=amounts.value, forced=forced, barred=barred)
        check_choice(instance, question, mask, barred_by)
        if not amounts.keeps(mask):
            raise ProofFailed("the answer costs more than the budget", witness=amounts.spent(mask))
        whole = replace(amounts, budget=amounts.widest)  # all that keeps the budget, rounded or not
        bound = upper_bound(instance.requires, whole, forced, barred, leaves)
        objective = exact_total(amounts.value[mask])
        if bound is None or bound < objective:
            raise ProofFailed("the leaves bound less than the answer is worth", witness=bound)
        status, answer = _judged(instance, mask, bound, objective, amounts.value_scale, amounts.loss)
        return cls(
            instance=instance,
            status=status,
            solver=solver,
            ties=None,
            report=Report(
                barred_by=barred_by, forced=int(forced.sum()), loss=amounts.loss, slack=amounts.slack
            ),
            answer=answer,
            leaves=leaves,
            ilp_bound=ilp_bound,
        )

    @classmethod
    def overrun(cls, instance: SelectionInstance, *, barred_by: Index, solver: str) -> Selection:
        """What is required, with what it requires, costs more than the budget."""
        costs = costs_of(instance, least_closed_superset(instance.requires, instance.required))
        report = Report(barred_by=barred_by, forced=0, overrun=costs)
        return cls(instance=instance, status=Status.INFEASIBLE, solver=solver, ties=None, report=report)

    @classmethod
    def infeasible(
        cls,
        instance: SelectionInstance,
        path: tuple[Hashable, ...],
        *,
        barred_by: Index,
        solver: str,
        ties: Ties | None,
    ) -> Selection:
        """No closure that holds the first of `path`, which is required, lacks the last, which is barred."""
        report = Report(barred_by=barred_by, forced=0, infeasible=path)
        return cls(instance=instance, status=Status.INFEASIBLE, solver=solver, ties=ties, report=report)

    @property
    def figures(self) -> Answer:
        """The answer.

        Raises
        ------
        NoSolution
            The status has none (witness: the path that proves infeasibility, or the status).
        """
        if self.answer is None:
            path, costs = self.report.infeasible, self.report.overrun
            because = (
                f": {shown(path[0])} is required but needs {shown(path[-1])}, which cannot be executed"
                if path
                else ""
            )
            if costs:
                because = f": what is required costs {', '.join(map(shown, costs))}, more than the budget"
            raise NoSolution(
                f"there is no selection to read, status {self.status.value}{because}",
                witness=path or costs or self.status,
            )
        return self.answer

    @property
    def mask(self) -> Mask:
        """What is chosen, (k,) bool; NoSolution where the status has no answer, as for all below."""
        return self.figures.mask

    @property
    def chosen(self) -> tuple[Hashable, ...]:
        """Ids of the chosen candidates, in the instance's order."""
        return self.instance.named(np.flatnonzero(self.mask).tolist())

    @property
    def value(self) -> Figure:
        """Total value of what is chosen."""
        return self.figures.value

    @property
    def cost(self) -> Figure | tuple[Figure, ...]:
        """Total cost of what is chosen, a tuple where there are several costs."""
        return self.figures.cost

    @property
    def objective(self) -> Figure:
        """value - tradeoff * cost."""
        return self.figures.objective

    @property
    def bound(self) -> Figure:
        """No feasible set is worth more, ``report.loss`` included."""
        return self.figures.bound

    @property
    def gap(self) -> float:
        """(bound - objective) / max(|bound|, |objective|), 0 where the status is OPTIMAL."""
        return self.figures.gap

    def barred(self) -> dict[Hashable, Hashable]:
        """Each barred candidate's id with the id of the nearest non-executable one it requires (or is)."""
        barred = np.flatnonzero(self.report.barred_by >= 0).tolist()
        return dict(
            zip(
                self.instance.named(barred),
                self.instance.named(self.report.barred_by[barred].tolist()),
                strict=True,
            )
        )

    def verify(self) -> bool:
        """Check the answer against its definition and its proof, trusting no solver and no reduction.

        Returns
        -------
        bool
            True; anything else raises.

        Raises
        ------
        ProofFailed
            Not closed, over budget, something barred or required left out, figures that do not add up, a
            status or gap the proof does not hold up, another optimum than `ties` promises, a report that is
            not true, anything of a kind that does not belong there (witness: what is at fault).

        Notes
        -----
        O(k + m): one pass over pi, three searches; with a budget so much for each leaf; O(k log k) more where
        something is barred. What an ILP solver claims (`ilp_bound`) is not proved.
        """
        self._check_kinds()
        check_witnesses(self.instance, self.report.barred_by)
        report = self.report
        if self.status is Status.INFEASIBLE:
            self._check_infeasible()
            truth = Report(
                barred_by=report.barred_by, forced=0, infeasible=report.infeasible, overrun=report.overrun
            )
        elif self.status is Status.NO_SOLUTION:
            truth = Report(barred_by=report.barred_by, forced=0)
        else:
            proved = self._proved_again()
            truth = proved.report
            for name in ("value", "cost", "objective", "bound", "gap", "status"):
                check_same(name, getattr(self, name), getattr(proved, name))
        for name in ("loss", "forced", "slack", "infeasible", "overrun"):
            check_same(name, getattr(report, name), getattr(truth, name))
        return True

    def _proved_again(self) -> Selection:
        answer, certificate = self.figures, self.certificate or Certificate.zero()
        barred_by = self.report.barred_by
        if self.instance.budget is None:
            closure = Closure(mask=answer.mask, certificate=certificate)
            return Selection.proved(
                self.instance, closure, barred_by=barred_by, solver=self.solver, ties=self.ties
            )
        return Selection.bounded(
            self.instance, answer.mask, self.leaves, barred_by=barred_by, solver=self.solver
        )

    def _check_kinds(self) -> None:
        budgeted = self.instance.budget is not None
        for name, holds in (
            ("ties", self.ties is None or (self.ties in get_args(Ties) and not budgeted)),
            ("report", isinstance(self.report, Report)),
            ("answer", self.answer is None or isinstance(self.answer, Answer)),
            (
                "certificate",
                self.certificate is None or (isinstance(self.certificate, Certificate) and not budgeted),
            ),
            (
                "leaves",
                isinstance(self.leaves, tuple)
                and all(is_leaf(leaf, self.instance.kinds) for leaf in self.leaves)
                and (budgeted or not self.leaves),
            ),
            ("ilp_bound", self.ilp_bound is None or budgeted),
        ):
            if not holds:
                raise ProofFailed(f"{name} does not belong to such an answer", witness=name)

    def _check_infeasible(self) -> None:
        instance, path, costs = self.instance, self.report.infeasible, self.report.overrun
        if not isinstance(path, tuple) or not isinstance(costs, tuple) or bool(path) == bool(costs):
            raise ProofFailed("either a path or costs prove that there is no selection", witness=path)
        if costs:
            forced = least_closed_superset(instance.requires, instance.required)
            if instance.budget is None or affordable(instance, forced):
                raise ProofFailed("what is required keeps the budget", witness=costs)
            check_same("overrun", costs, costs_of(instance, forced))
            return
        places = places_of(instance, path)
        if not instance.required[places[0]] or instance.executable[places[-1]]:
            raise ProofFailed("no path from a required to a non-executable candidate is given", witness=path)
        for tail, head in pairwise(places):
            if head not in instance.requires.successors(tail):
                ends = f"{shown(instance.id_of(tail))} does not require {shown(instance.id_of(head))}"
                raise ProofFailed(ends, witness=path)


def _judged(
    instance: SelectionInstance, mask: Mask, bound: int, objective: int, scale: Fraction, loss: Fraction
) -> tuple[Status, Answer]:
    """Status and figures of `mask`, worth `objective` in integer units where no set is worth over `bound`."""
    value = total(instance.value[mask])
    costs = costs_of(instance, mask)
    priced = fraction(instance.tradeoff)
    worth = value - priced * total(instance.cost[mask]) if priced else value
    # A set of integer value at most `bound` is worth at most bound / scale + loss; this set is worth `worth`.
    most = max(bound / scale + loss, worth)
    told, limit = figure(instance, worth), figure(instance, most)
    optimal = bound == objective and told == limit
    read_only(mask)
    return Status.OPTIMAL if optimal else Status.FEASIBLE, Answer(
        mask=mask,
        value=figure(instance, value),
        cost=costs if instance.cost.ndim == 2 else costs[0],
        objective=told,
        bound=limit,
        gap=0.0 if optimal else float((most - worth) / max(abs(most), abs(worth))),
    )
