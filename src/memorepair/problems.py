"""Values of the core: what is asked of select(), what a solver sees, what comes back."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from itertools import pairwise
from typing import cast, get_args

import numpy as np
from scipy.sparse.csgraph import dijkstra

from memorepair import proof
from memorepair.amounts import Amounts, Price
from memorepair.errors import InvalidInput, InvalidInstance, NoSolution, ProofFailed, UnknownId
from memorepair.graphs.closure import greatest_closed_subset, least_closed_superset
from memorepair.graphs.convert import to_csr
from memorepair.graphs.digraph import Digraph, Index, Mask, read_only
from memorepair.integers import (
    TOTAL_LIMIT,
    BigProfits,
    Integers,
    Number,
    Numbers,
    big_profits,
    check_unmasked,
    exact_total,
    fraction,
    is_table,
    numbers,
    scalar,
    shown,
    table,
    total,
)
from memorepair.leaves import Leaf, upper_bound
from memorepair.proof import Certificate as Certificate
from memorepair.proof import Question, Ties

Figure = int | float | Fraction
"""A float where values or costs are a float64 array or the tradeoff is a float; else exact, an int or, where
it is not whole, a Fraction, Decimals included. Beyond the range of a float it is exact too."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SelectionInstance:
    """Candidates to choose from, k of them, with their prerequisites.

        max  sum_i (w_i - lambda c_i) x_i    s.t.  x_i <= v_i,  x_i <= x_j where i requires j,  x_i = 1 for i
        in R,  sum_i c_i x_i <= beta

    Attributes
    ----------
    value : (k,) int64, float64 or object
        w_i, finite, of any sign. Ints, floats, Fractions, Decimals, these with an exponent of at most 5,000;
        a float stands for the shortest decimal that reads back as it. Mixed or beyond 64 bits they are kept
        as Fractions.
    cost : (k,), or (k, d) for d costs side by side
        c_i, finite, at least 0, numbers as above.
    requires : Digraph
        k nodes; an arc i -> j reads "i requires j" (j in P_i). Cycles are legal: all of a cycle or nothing.
    executable : (k,) bool
        v_i; what is false, and what requires it directly or not, is barred.
    required : (k,) bool
        R; these are chosen, with all they require.
    ids : tuple, or None
        Names of the candidates, hashable, unique; None names them 0 .. k - 1.
    tradeoff
        lambda, finite, at least 0: value per unit of cost; 0 where there are several costs.
    budget
        beta, finite, at least 0: a number, or d of them for d costs; None for no limit.

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
    budget: Number | tuple[Number, ...] | None = None

    def __post_init__(self) -> None:
        k = self.requires.n
        if self.ids is not None:
            self._check_ids(k)
        for name in ("value", "cost"):
            try:
                given = getattr(self, name)
                array = table(given, name) if name == "cost" and is_table(given) else numbers(given, name)
            except InvalidInstance as error:
                if isinstance(error.witness, int) and error.witness < k:
                    id = self.id_of(error.witness)
                    raise InvalidInstance(f"{error} at {shown(id)}", witness=id) from None
                raise
            if len(array) != k:
                raise InvalidInstance(
                    f"{len(array)} entries of {name} for {k} candidates", witness=array.shape
                )
            object.__setattr__(self, name, array)
        negative = np.argwhere(self.cost < 0)
        if len(negative):
            id = self.id_of(int(negative[0][0]))
            amount = shown(self.cost[*negative[0]])
            raise InvalidInstance(f"cost of {shown(id)} is negative: {amount}", witness=id)
        for name in ("executable", "required"):
            check_unmasked(getattr(self, name), name)
            mask = np.array(getattr(self, name))
            if mask.shape != (k,) or mask.dtype != np.bool_:
                raise InvalidInstance(f"{name} must be boolean of shape ({k},)", witness=mask.shape)
            read_only(mask)
            object.__setattr__(self, name, mask)
        object.__setattr__(self, "tradeoff", scalar(self.tradeoff, "tradeoff"))
        if self.tradeoff < 0:
            raise InvalidInstance(f"tradeoff {shown(self.tradeoff)} is negative", witness=self.tradeoff)
        if self.cost.ndim == 2 and fraction(self.tradeoff) != 0:
            raise InvalidInstance("several costs have no one tradeoff", witness=self.tradeoff)
        if self.budget is not None:
            self._check_budget()

    def _check_budget(self) -> None:
        if isinstance(self.budget, tuple) != (self.cost.ndim == 2) or len(self.limits) != self.kinds:
            raise InvalidInstance(
                f"{len(self.limits)} budgets for {self.kinds} costs a candidate", witness=self.budget
            )
        limits = tuple(scalar(limit, "budget") for limit in self.limits)
        for limit in limits:
            if limit < 0:
                raise InvalidInstance(f"budget {shown(limit)} is negative", witness=limit)
        object.__setattr__(self, "budget", limits if isinstance(self.budget, tuple) else limits[0])

    def _check_ids(self, k: int) -> None:
        ids = self.ids or ()
        if len(ids) != k:
            raise InvalidInstance(f"{len(ids)} ids for {k} candidates", witness=len(ids))
        check_hashable(ids)
        if len(set(ids)) == k:
            return
        seen: set[Hashable] = set()
        for id in ids:
            if id in seen:
                raise InvalidInstance(f"id {shown(id)} is given twice", witness=id)
            seen.add(id)

    @property
    def k(self) -> int:
        """Number of candidates."""
        return self.requires.n

    @property
    def kinds(self) -> int:
        """d, the number of costs a candidate has."""
        return 1 if self.cost.ndim == 1 else self.cost.shape[1]

    @property
    def limits(self) -> tuple[Number, ...]:
        """The budgets, one a cost; empty where there is none."""
        if self.budget is None:
            return ()
        return self.budget if isinstance(self.budget, tuple) else (self.budget,)

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
            if isinstance(id, (int, np.integer)) and not isinstance(id, bool) and 0 <= id < self.k:
                return int(id)
        elif id in self.ids:
            return self.ids.index(id)
        raise UnknownId(f"no candidate has the id {shown(id)}", witness=id)

    def named(self, positions: Iterable[int]) -> tuple[Hashable, ...]:
        """Names of the candidates at `positions`, in order."""
        return tuple(map(self.id_of, positions))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClosureInstance:
    """Maximum closure in integers: all a solver sees.

    Attributes
    ----------
    profit : (k,) int64, or Python integers
        p_i; in int64 absolute values add up to less than 2^62. Python integers, of any size, only where the
        solver is the default one.
    requires : Digraph
        k nodes; an arc i -> j reads "i requires j".
    scale
        Profit units per original unit: p = scale (w - lambda c), rounded where `loss` is not 0.
    loss
        No closure's value in original units is off by more because of rounding.
    ties
        Which optimum is asked for: the smallest ("fewest") or the largest ("most").
    """

    profit: Integers
    requires: Digraph
    scale: Fraction = Fraction(1)
    loss: Fraction = Fraction(0)
    ties: Ties = "fewest"

    def __post_init__(self) -> None:
        if self.profit.dtype not in (np.int64, np.object_) or self.profit.shape != (self.requires.n,):
            witness = (str(self.profit.dtype), self.profit.shape)
            raise InvalidInstance(f"profit must be int64 of shape ({self.requires.n},)", witness=witness)
        if self.profit.dtype == np.object_:
            proof.check_integers(self.profit, "profit")
        else:
            self._check_total()
        check_ties(self.ties)
        read_only(self.profit)

    def _check_total(self) -> None:
        largest = max(int(self.profit.max(initial=0)), -int(self.profit.min(initial=0)))
        if largest * self.requires.n >= TOTAL_LIMIT:
            gain = exact_total(self.profit[self.profit > 0])
            expense = exact_total(self.profit[self.profit < 0])
            if gain - expense >= TOTAL_LIMIT:
                raise InvalidInstance("absolute profits add up to 2^62 or more", witness=gain - expense)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KnapsackInstance:
    """Maximum closure within budgets, in integers: a precedence-constrained knapsack.

    Attributes
    ----------
    requires : Digraph
        k nodes; an arc i -> j reads "i requires j".
    amounts
        Value, d costs, d budgets of at least 0 on the nodes.
    base
        What is already gained outside, in units of value: gaps are relative to the sum.
    """

    requires: Digraph
    amounts: Amounts
    base: int = 0

    def __post_init__(self) -> None:
        if self.amounts.value.shape != (self.requires.n,):
            raise InvalidInstance("amounts and nodes differ in number", witness=self.amounts.value.shape)
        if min(self.amounts.budget, default=0) < 0:
            raise InvalidInstance("a budget is negative", witness=self.amounts.budget)

    def at(self, price: Price) -> ClosureInstance:
        """The closure that is left when each cost has a price instead of a budget."""
        profit, unit, _ = self.amounts.priced(price)
        return ClosureInstance(profit=profit, requires=self.requires, scale=Fraction(unit))


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
        question, priced = _question(instance, big=certificate.amounts.dtype == np.object_)
        _check_choice(instance, question, mask, barred_by)
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
        _check_choice(instance, question, mask, barred_by)
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
        costs = _costs(instance, least_closed_superset(instance.requires, instance.required))
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
        _check_witnesses(self.instance, self.report.barred_by)
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
                _check_same(name, getattr(self, name), getattr(proved, name))
        for name in ("loss", "forced", "slack", "infeasible", "overrun"):
            _check_same(name, getattr(report, name), getattr(truth, name))
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
                and all(_is_leaf(leaf, self.instance.kinds) for leaf in self.leaves)
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
            if affordable(instance, forced):
                raise ProofFailed("what is required keeps the budget", witness=costs)
            _check_same("overrun", costs, _costs(instance, forced))
            return
        places = _places(instance, path)
        if not instance.required[places[0]] or instance.executable[places[-1]]:
            raise ProofFailed("no path from a required to a non-executable candidate is given", witness=path)
        for tail, head in pairwise(places):
            if head not in instance.requires.successors(tail):
                ends = f"{shown(instance.id_of(tail))} does not require {shown(instance.id_of(head))}"
                raise ProofFailed(ends, witness=path)


def check_ties(ties: str) -> None:
    """Raise InvalidInput unless `ties` is "fewest" or "most"."""
    if not isinstance(ties, str) or ties not in get_args(Ties):
        raise InvalidInput(f'ties must be "fewest" or "most", not {shown(ties)}', witness=ties)


def check_hashable(ids: Iterable[object]) -> None:
    """Raise InvalidInstance where an id cannot be hashed (witness: it)."""
    for id in ids:
        try:
            hash(id)
        except TypeError:
            raise InvalidInstance(f"id {shown(id)} is not hashable", witness=id) from None


def budgeted_amounts(instance: SelectionInstance) -> tuple[Amounts, Mask, Mask]:
    """Amounts on all candidates, 0 where barred; what is forced; what is barred."""
    barred = _barred(instance)
    kept = Amounts.of(instance.value[~barred], instance.cost[~barred], instance.tradeoff, instance.limits)
    value = np.zeros(instance.k, np.int64)
    cost = np.zeros((instance.k, instance.kinds), np.int64)
    value[~barred], cost[~barred] = kept.value, kept.cost
    forced = least_closed_superset(instance.requires, instance.required)
    amounts = replace(kept, value=value, cost=cost)
    if any(amounts.slack) and not amounts.keeps(forced) and affordable(instance, forced):
        # The rounded budget grows to what is required; a set that keeps it then adds nothing that costs.
        limits = tuple(map(max, amounts.budget, amounts.spent(forced)))
        amounts = replace(amounts, budget=limits, widest=tuple(map(max, amounts.widest, limits)))
    return amounts, forced, barred


def affordable(instance: SelectionInstance, nodes: Mask) -> bool:
    """Whether `nodes` keep every budget, in exact arithmetic."""
    columns = instance.cost[nodes].reshape(-1, instance.kinds).T
    return all(
        total(cast(Numbers, np.ascontiguousarray(column))) <= fraction(limit)
        for column, limit in zip(columns, instance.limits, strict=True)
    )


def _barred(instance: SelectionInstance) -> Mask:
    if instance.executable.all():
        return ~instance.executable
    return ~greatest_closed_subset(instance.requires, instance.executable)


def _places(instance: SelectionInstance, path: Sequence[Hashable]) -> list[int]:
    """Positions of the ids on a path, all at once."""
    named = None if instance.ids is None else {id: place for place, id in enumerate(instance.ids)}
    try:
        return [instance.position(id) if named is None else named[id] for id in path]
    except (KeyError, TypeError):
        raise ProofFailed("the path names what is no candidate", witness=path) from None


def _is_leaf(leaf: object, kinds: int) -> bool:
    return (
        isinstance(leaf, Leaf)
        and isinstance(leaf.certificate, Certificate)
        and isinstance(leaf.price, tuple)
        and len(leaf.price) == kinds
        and all(isinstance(one, (int, Fraction)) for one in leaf.price)
        and isinstance(leaf.decisions, tuple)
        and all(
            isinstance(one, tuple) and len(one) == 2 and type(one[0]) is int and type(one[1]) is bool
            for one in leaf.decisions
        )
    )


def _check_same(name: str, claimed: object, found: object) -> None:
    if not _same(claimed, found):
        raise ProofFailed(f"{name} is {shown(found)}, not {shown(claimed)}", witness=claimed)


def _same(claimed: object, found: object) -> bool:
    if isinstance(claimed, tuple) and isinstance(found, tuple):
        return len(claimed) == len(found) and all(map(_same, claimed, found))
    return type(claimed) is type(found) and bool(claimed == found)


def _check_witnesses(instance: SelectionInstance, barred_by: Index) -> None:
    """`barred_by` names, for what is barred and nothing else, a nearest non-executable prerequisite."""
    k, requires = instance.k, instance.requires
    if not isinstance(barred_by, np.ndarray) or barred_by.dtype != np.int32 or barred_by.shape != (k,):
        raise ProofFailed(f"barred_by must be int32 of shape ({k},)", witness=type(barred_by).__name__)
    barred = _barred(instance)
    wrong = np.where(barred, (barred_by < 0) | (barred_by >= k), barred_by != -1)
    if barred.any() and not wrong.any():
        # By induction on the distance d to what is not executable: a node at d > 0 whose witness is that of a
        # prerequisite at d - 1 has a path of d arcs to it, and one that is not executable is its own.
        distance = dijkstra(
            to_csr(requires.reverse()),
            indices=np.flatnonzero(~instance.executable),
            unweighted=True,
            min_only=True,
        )
        tails, heads = requires.tails(), requires.heads
        nearer = (distance[tails] == distance[heads] + 1) & (barred_by[tails] == barred_by[heads])
        held = np.where(instance.executable, False, barred_by == np.arange(k))
        held[tails[nearer]] = True
        wrong = barred & ~held
    if wrong.any():
        place = int(np.flatnonzero(wrong)[0])
        raise ProofFailed("the witnesses of what is barred are wrong", witness=instance.id_of(place))


def _check_choice(instance: SelectionInstance, question: Question, mask: Mask, barred_by: Index) -> None:
    if not isinstance(mask, np.ndarray) or mask.shape != (instance.k,) or mask.dtype != np.bool_:
        raise ProofFailed(f"mask must be boolean of shape ({instance.k},)", witness=type(mask).__name__)
    proof.check_feasible(question, mask)
    if (
        not np.array_equal(barred_by >= 0, question.barred)
        or instance.executable[barred_by[question.barred]].any()
    ):
        raise ProofFailed("the witnesses of what is barred are wrong", witness=int(question.barred.sum()))


def _judged(
    instance: SelectionInstance, mask: Mask, bound: int, objective: int, scale: Fraction, loss: Fraction
) -> tuple[Status, Answer]:
    """Status and figures of `mask`, worth `objective` in integer units where no set is worth over `bound`."""
    value = total(instance.value[mask])
    costs = _costs(instance, mask)
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


def _costs(instance: SelectionInstance, mask: Mask) -> tuple[Figure, ...]:
    costs = instance.cost[mask].reshape(-1, instance.kinds)
    columns = [cast(Numbers, np.ascontiguousarray(costs[:, kind])) for kind in range(instance.kinds)]
    return tuple(figure(instance, total(column)) for column in columns)


def _question(instance: SelectionInstance, *, big: bool) -> tuple[Question, BigProfits]:
    # Profits are scaled over what is not barred, so that what cannot be chosen costs no digits.
    requires = instance.requires
    barred = _barred(instance)
    priced = big_profits(instance.value[~barred], instance.cost[~barred], instance.tradeoff, big=big)
    profit = cast(Integers, np.zeros(instance.k, priced.profit.dtype))
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
