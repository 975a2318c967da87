"""Values of the core: what is asked of select(), what a solver sees, what comes back."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from itertools import pairwise
from typing import get_args

import numpy as np
import numpy.typing as npt

from memorepair import proof
from memorepair.errors import InvalidInput, InvalidInstance, NoSolution, ProofFailed, UnknownId
from memorepair.graphs.closure import greatest_closed_subset, least_closed_superset
from memorepair.graphs.digraph import Digraph, Index, Int64, Mask, read_only
from memorepair.integers import (
    TOTAL_LIMIT,
    Number,
    Numbers,
    Profits,
    exact_total,
    fraction,
    numbers,
    profits,
    total,
)
from memorepair.proof import Question, Ties

Figure = int | float | Fraction
"""A float where the instance holds a float, else exact."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SelectionInstance:
    """Candidates to choose from, k of them, with their prerequisites.

        max  sum_i (w_i - lambda c_i) x_i    s.t.  x_i <= v_i,  x_i <= x_j where i requires j,  x_i = 1 for i
        in R

    Attributes
    ----------
    value, cost : (k,) int64, float64 or object
        w_i, finite, of any sign; c_i, finite, at least 0. Ints, floats, Fractions, Decimals; a float stands
        for the shortest decimal that reads back as it.
    requires : Digraph
        k nodes; an arc i -> j reads "i requires j" (j in P_i). Cycles are legal: all of a cycle or nothing.
    executable : (k,) bool
        v_i; what is false, and what requires it directly or not, is barred.
    required : (k,) bool
        R; these are chosen, with all they require.
    ids : tuple, or None
        Names of the candidates, hashable, unique; None names them 0 .. k - 1.
    tradeoff
        lambda, finite, at least 0: value per unit of cost.

    Raises
    ------
    InvalidInstance
        One of the above does not hold; the witness is the id at fault, or the shape.
    """

    value: Numbers
    cost: Numbers
    requires: Digraph
    executable: Mask
    required: Mask
    ids: tuple[Hashable, ...] | None = None
    tradeoff: Number = 0

    def __post_init__(self) -> None:
        k = self.requires.n
        if self.ids is not None:
            self._check_ids(k)
        for name in ("value", "cost"):
            try:
                array = numbers(getattr(self, name), name)
            except InvalidInstance as error:
                if isinstance(error.witness, int) and error.witness < k:
                    raise InvalidInstance(
                        f"{error} at {self.id_of(error.witness)!r}", witness=self.id_of(error.witness)
                    ) from None
                raise
            if len(array) != k:
                raise InvalidInstance(
                    f"{len(array)} entries of {name} for {k} candidates", witness=array.shape
                )
            object.__setattr__(self, name, array)
        negative = np.flatnonzero(self.cost < 0)
        if len(negative):
            id = self.id_of(int(negative[0]))
            raise InvalidInstance(f"cost of {id!r} is negative: {self.cost[negative[0]]}", witness=id)
        for name in ("executable", "required"):
            mask = np.array(getattr(self, name))
            if mask.shape != (k,) or mask.dtype != np.bool_:
                raise InvalidInstance(f"{name} must be boolean of shape ({k},)", witness=mask.shape)
            read_only(mask)
            object.__setattr__(self, name, mask)
        if fraction(self.tradeoff) < 0:
            raise InvalidInstance(f"tradeoff {self.tradeoff} is negative", witness=self.tradeoff)

    def _check_ids(self, k: int) -> None:
        ids = self.ids or ()
        if len(ids) != k:
            raise InvalidInstance(f"{len(ids)} ids for {k} candidates", witness=len(ids))
        try:
            if len(set(ids)) == k:
                return
        except TypeError:
            unhashable = next(id for id in ids if not isinstance(id, Hashable))
            raise InvalidInstance(f"id {unhashable!r} is not hashable", witness=unhashable) from None
        seen: set[Hashable] = set()
        for id in ids:
            if id in seen:
                raise InvalidInstance(f"id {id!r} is given twice", witness=id)
            seen.add(id)

    @property
    def k(self) -> int:
        """Number of candidates."""
        return self.requires.n

    def id_of(self, position: int) -> Hashable:
        """Name of the candidate at `position`."""
        return position if self.ids is None else self.ids[position]

    def position(self, id: Hashable) -> int:
        """Place of the candidate `id`; O(k).

        Raises
        ------
        UnknownId
            No candidate has this id.
        """
        if self.ids is None:
            if isinstance(id, int) and 0 <= id < self.k:
                return id
        elif id in self.ids:
            return self.ids.index(id)
        raise UnknownId(f"no candidate has the id {id!r}", witness=id)

    def named(self, positions: Iterable[int]) -> tuple[Hashable, ...]:
        """Names of the candidates at `positions`, in order."""
        return tuple(map(self.id_of, positions))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Certificate:
    """The dual pi of a closure: what each arc carries from a candidate's profit to what it requires.

    Attributes
    ----------
    arcs : (t,) int32
        Numbers of the arcs of `requires` with pi > 0, ascending.
    amounts : (t,) int64
        pi there, > 0, in integer profit units.
    """

    arcs: Index
    amounts: Int64

    def __post_init__(self) -> None:
        for name, array, dtype in (("arcs", self.arcs, np.int32), ("amounts", self.amounts, np.int64)):
            if array.dtype != dtype or array.shape != (len(self.arcs),):
                raise InvalidInput(
                    f"{name} must be {dtype.__name__} of shape (t,)", witness=(str(array.dtype), array.shape)
                )
        if len(self.arcs) and (self.arcs[0] < 0 or np.any(np.diff(self.arcs) <= 0)):
            raise InvalidInput("arcs must ascend from 0 without repetition", witness=int(self.arcs.min()))
        if len(self.amounts) and self.amounts.min() <= 0:
            raise InvalidInput("amounts must be positive", witness=int(self.amounts.min()))
        read_only(self.arcs)
        read_only(self.amounts)

    @classmethod
    def of(cls, arcs: npt.NDArray[np.integer], amounts: Int64) -> Certificate:
        """From arcs in any order, each at most once, and amounts >= 0."""
        positive = np.flatnonzero(amounts > 0)
        order = positive[np.argsort(arcs[positive], kind="stable")]
        return cls(arcs=arcs[order].astype(np.int32), amounts=amounts[order])

    @classmethod
    def zero(cls) -> Certificate:
        """pi = 0: it proves that no closure is worth more than all positive profits together."""
        return cls(arcs=np.zeros(0, np.int32), amounts=np.zeros(0, np.int64))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClosureInstance:
    """Maximum closure in integers: all a solver sees.

    Attributes
    ----------
    profit : (k,) int64
        p_i; absolute values add up to less than 2^62.
    requires : Digraph
        k nodes; an arc i -> j reads "i requires j".
    scale
        Profit units per original unit: p = scale (w - lambda c), rounded where `loss` is not 0.
    loss
        No closure's value in original units is off by more because of rounding.
    ties
        Which optimum is asked for: the smallest ("fewest") or the largest ("most").
    """

    profit: Int64
    requires: Digraph
    scale: Fraction = Fraction(1)
    loss: Fraction = Fraction(0)
    ties: Ties = "fewest"

    def __post_init__(self) -> None:
        if self.profit.dtype != np.int64 or self.profit.shape != (self.requires.n,):
            witness = (str(self.profit.dtype), self.profit.shape)
            raise InvalidInstance(f"profit must be int64 of shape ({self.requires.n},)", witness=witness)
        largest = max(int(self.profit.max(initial=0)), -int(self.profit.min(initial=0)))
        if largest * self.requires.n >= TOTAL_LIMIT:
            gain = exact_total(self.profit[self.profit > 0])
            expense = exact_total(self.profit[self.profit < 0])
            if gain - expense >= TOTAL_LIMIT:
                raise InvalidInstance("absolute profits add up to 2^62 or more", witness=gain - expense)
        check_ties(self.ties)
        read_only(self.profit)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Closure:
    """A solver's answer to a ClosureInstance.

    Attributes
    ----------
    mask : (k,) bool
        The closure.
    certificate
        pi on the instance's arcs; None from a solver that has no dual.
    """

    mask: Mask
    certificate: Certificate | None


class Status(Enum):
    """How an answer stands to its problem."""

    OPTIMAL = "optimal"
    """Proved by the certificate: nothing is worth more."""
    FEASIBLE = "feasible"
    """Closed, nothing barred; the certificate bounds what could be better."""
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
        sum w x, sum c x, and value - tradeoff * cost; floats where the instance holds floats, else exact.
    bound
        No feasible set is worth more, up to the report's rounding loss.
    gap
        (bound - objective) / max(|bound|, |objective|) of the integer instance, 0 where they are equal.
    """

    mask: Mask
    value: Figure
    cost: Figure
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
        was exact. Status, bound and gap hold for the integer objective.
    infeasible
        Empty, or ids along which a required candidate (first) requires a non-executable one (last).
    """

    barred_by: Index
    forced: int
    loss: Fraction = Fraction(0)
    infeasible: tuple[Hashable, ...] = ()

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
        pi on the arcs of ``instance.requires``; None where there is no answer.
    """

    instance: SelectionInstance
    status: Status
    solver: str
    ties: Ties | None
    report: Report
    answer: Answer | None = None
    certificate: Certificate | None = None

    def __post_init__(self) -> None:
        has_answer = self.status in (Status.OPTIMAL, Status.FEASIBLE)
        if has_answer != (self.answer is not None) or has_answer != (self.certificate is not None):
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
        if mask.shape != (instance.k,) or mask.dtype != np.bool_:
            raise ProofFailed(f"mask must be boolean of shape ({instance.k},)", witness=mask.shape)
        if len(certificate.arcs) and certificate.arcs[-1] >= instance.requires.m:
            raise ProofFailed(
                "the certificate names an arc that does not exist", witness=int(certificate.arcs[-1])
            )
        question, priced = _question(instance)
        proof.check_feasible(question, mask)
        if (
            not np.array_equal(barred_by >= 0, question.barred)
            or instance.executable[barred_by[question.barred]].any()
        ):
            raise ProofFailed("the witnesses of what is barred are wrong", witness=int(question.barred.sum()))
        r = proof.reduced_profits(question, certificate.arcs, certificate.amounts)
        bound, objective = proof.dual_bound(question, r), exact_total(question.profit[mask])
        if bound == objective and ties is not None:
            proof.check_extreme(question, r, certificate.arcs, ties, mask)
        value, cost = total(instance.value[mask]), total(instance.cost[mask])
        read_only(mask)
        return cls(
            instance=instance,
            status=Status.OPTIMAL if bound == objective else Status.FEASIBLE,
            solver=solver,
            ties=ties,
            report=Report(barred_by=barred_by, forced=int(question.forced.sum()), loss=priced.loss),
            answer=Answer(
                mask=mask,
                value=figure(instance, value),
                cost=figure(instance, cost),
                objective=figure(instance, value - fraction(instance.tradeoff) * cost),
                bound=figure(instance, bound / priced.scale),
                gap=0.0
                if bound == objective
                else float(Fraction(bound - objective, max(abs(bound), abs(objective)))),
            ),
            certificate=certificate,
        )

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
            path = self.report.infeasible
            because = (
                f": {path[0]!r} is required but needs {path[-1]!r}, which cannot be executed" if path else ""
            )
            raise NoSolution(
                f"there is no selection to read, status {self.status.value}{because}",
                witness=path or self.status,
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
    def cost(self) -> Figure:
        """Total cost of what is chosen."""
        return self.figures.cost

    @property
    def objective(self) -> Figure:
        """value - tradeoff * cost."""
        return self.figures.objective

    @property
    def bound(self) -> Figure:
        """No feasible set is worth more, up to ``report.loss``."""
        return self.figures.bound

    @property
    def gap(self) -> float:
        """(bound - objective) / max(|bound|, |objective|), 0 where they are equal."""
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
        """Check the answer against its definition and its certificate, trusting no solver and no reduction.

        Returns
        -------
        bool
            True; anything else raises.

        Raises
        ------
        ProofFailed
            Not closed, something barred or required left out, figures that do not add up, a status or gap the
            certificate does not prove, another optimum than `ties` promises (witness: what is at fault).

        Notes
        -----
        O(k + m): one pass over pi, three searches.
        """
        if self.status is Status.NO_SOLUTION:
            return True
        if self.status is Status.INFEASIBLE:
            self._check_infeasible()
            return True
        answer, certificate = self.figures, self.certificate or Certificate.zero()
        truth = Selection.proved(
            self.instance,
            Closure(mask=answer.mask, certificate=certificate),
            barred_by=self.report.barred_by,
            solver=self.solver,
            ties=self.ties,
        )
        for name in ("value", "cost", "objective", "bound", "gap", "status"):
            claimed, found = getattr(self, name), getattr(truth, name)
            if claimed != found:
                raise ProofFailed(f"{name} is {found}, not {claimed}", witness=claimed)
        for name in ("loss", "forced"):
            claimed, found = getattr(self.report, name), getattr(truth.report, name)
            if claimed != found:
                raise ProofFailed(f"{name} is {found}, not {claimed}", witness=claimed)
        return True

    def _check_infeasible(self) -> None:
        instance, path = self.instance, self.report.infeasible
        try:
            places = [instance.position(id) for id in path]
        except UnknownId as error:
            raise ProofFailed(str(error), witness=path) from None
        if not places or not instance.required[places[0]] or instance.executable[places[-1]]:
            raise ProofFailed("no path from a required to a non-executable candidate is given", witness=path)
        for tail, head in pairwise(places):
            if head not in instance.requires.successors(tail):
                raise ProofFailed(
                    f"{instance.id_of(tail)!r} does not require {instance.id_of(head)!r}", witness=path
                )


def check_ties(ties: str) -> None:
    """Raise InvalidInput unless `ties` is "fewest" or "most"."""
    if ties not in get_args(Ties):
        raise InvalidInput(f'ties must be "fewest" or "most", not {ties!r}', witness=ties)


def _question(instance: SelectionInstance) -> tuple[Question, Profits]:
    # Profits are scaled over what is not barred, so that what cannot be chosen costs no digits.
    requires = instance.requires
    barred = ~instance.executable
    if barred.any():
        barred = ~greatest_closed_subset(requires, instance.executable)
    priced = profits(instance.value[~barred], instance.cost[~barred], instance.tradeoff)
    profit = np.zeros(instance.k, np.int64)
    profit[~barred] = priced.profit
    forced = least_closed_superset(requires, instance.required)
    return Question(requires=requires, profit=profit, forced=forced, barred=barred), priced


def figure(instance: SelectionInstance, exact: Fraction) -> Figure:
    """`exact` as the caller of `instance` reads it: a float where it holds floats."""
    if isinstance(instance.tradeoff, float) or np.float64 in (instance.value.dtype, instance.cost.dtype):
        try:
            return float(exact)
        except OverflowError:
            return exact
    return int(exact) if exact.denominator == 1 else exact
