"""frontier(): the whole trade of value against cost, from one run."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from memorepair.errors import InvalidInput, MissingDependency, NoSolution
from memorepair.graphs.closure import least_closed_superset
from memorepair.graphs.digraph import Digraph, Index, Int64, Mask, read_only
from memorepair.problems import Figure, Selection, SelectionInstance, asking, check_ties, figure
from memorepair.problems.asking import Problem, Requires
from memorepair.problems.integers import Number, NumbersLike, fraction, nearest, shown
from memorepair.problems.leaves import Leaf
from memorepair.problems.profits import Profits, profits
from memorepair.problems.proof import Certificate, Ties
from memorepair.reductions.barred import Barred, witnesses
from memorepair.reductions.knapsack import Knapsack
from memorepair.reductions.lagrange import Lagrange
from memorepair.reductions.part import Part
from memorepair.selection.closing import close
from memorepair.solvers.parametric import Groups, price_groups

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]

PATH = "price path"
"""What a selection read off the curve names as its solver."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BreakEven:
    """Price at which each candidate enters or leaves; k candidates on s steps.

    Attributes
    ----------
    step : (k,) int32
        Each candidate's step, dearest first; 0 for what is in at every price, -1 for what is in at none.
    numerators, denominators : (s,) int64
        A step's price in `unit`, strictly descending; 1 / 0 at step 0.
    unit
        Price of one unit of value for one unit of cost, in original units; 1 where both are whole numbers.
    at_price
        Whether a candidate is in at its price itself (the largest optimum), or only below (the smallest).
    """

    step: Index
    numerators: Int64
    denominators: Int64
    unit: Fraction
    at_price: bool

    def __post_init__(self) -> None:
        for array in (self.step, self.numerators, self.denominators):
            read_only(array)

    def exact(self, position: int) -> Fraction | float:
        """The price of the candidate at `position`; inf where it is in at every price, -inf at none."""
        step = int(self.step[position])
        return self.price_of(step) if step > 0 else (math.inf if step == 0 else -math.inf)

    def floats(self) -> Floats:
        """All prices, (k,), each the nearest float."""
        steps = [
            math.inf,
            *(nearest(self.price_of(step)) for step in range(1, len(self.numerators))),
            -math.inf,
        ]
        return np.array(steps)[self.step]

    def chosen(self, price: Fraction) -> Mask:
        """The optimum at `price`, (k,) bool, fresh; O(k)."""
        return (self.step >= 0) & (self.step < self.entered(price))

    def entered(self, price: Fraction) -> int:
        """How many steps are in at `price`; they are the first."""

        # Prices descend, so the steps that are out form a tail: the first of them is found by halving.
        def out(step: int) -> bool:
            own = self.price_of(step)
            return own < price if self.at_price else own <= price

        return bisect_left(range(1, len(self.numerators)), True, key=out) + 1

    def price_of(self, step: int) -> Fraction:
        """The price of step 1, 2, ..."""
        return self.unit * Fraction(int(self.numerators[step]), int(self.denominators[step]))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Frontier:
    """All optima as the tradeoff falls from infinity to 0.

    Attributes
    ----------
    instance
        The problem; its own tradeoff is not looked at.
    fewest, most
        Break-even prices lambda*_i and mu_i: {i : lambda*_i > lambda} is the smallest optimum at lambda, {i :
        mu_i >= lambda} the largest. They differ only on sets of total value and cost 0. Below 0 the price is
        the subsidy per unit of cost that the candidate waits for.
    step_values, step_costs : (s,) int64
        Totals of the steps of `fewest`, in units of 1 / value_scale and 1 / cost_scale.
    value_scale, cost_scale
        Integer units per original unit.
    value_loss, cost_loss
        No set's value or cost differs from its integers by more, in original units; 0 when exact.
    """

    instance: SelectionInstance
    fewest: BreakEven
    most: BreakEven
    step_values: Int64
    step_costs: Int64
    value_scale: Fraction
    cost_scale: Fraction
    value_loss: Fraction
    cost_loss: Fraction

    def __post_init__(self) -> None:
        read_only(self.step_values)
        read_only(self.step_costs)

    @property
    def price(self) -> Floats:
        """lambda*_i, (k,), each the nearest float; inf for what is required, -inf for what is barred."""
        return self.fewest.floats()

    def break_even(self, id: Hashable) -> Fraction | float:
        """lambda*_i of the candidate `id`, exact: it is chosen at every tradeoff below."""
        return self.fewest.exact(self.instance.position(id))

    def at(self, tradeoff: Number, *, ties: Ties = "fewest") -> Mask:
        """What `select` chooses at `tradeoff`, (k,) bool, without solving again; O(k).

        Where the numbers were rounded it may differ from that, by at most ``loss(tradeoff)`` of objective.

        Raises
        ------
        InvalidInput
            `tradeoff` is negative or not finite, or `ties` is no tie rule.
        """
        check_ties(ties)
        price = fraction(tradeoff)
        if price < 0:
            raise InvalidInput(f"tradeoff {tradeoff} is negative", witness=tradeoff)
        return (self.fewest if ties == "fewest" else self.most).chosen(price)

    def loss(self, tradeoff: Number) -> Fraction:
        """No set is worth more than ``at(tradeoff)`` by more than this, in original units; 0 when exact.

        Of two sets, rounding moves each one's value by `value_loss` and its cost by `cost_loss` at most.
        """
        return 2 * (self.value_loss + abs(fraction(tradeoff)) * self.cost_loss)

    def for_budget(self, budget: Number) -> Selection:
        """The corner of the curve with most value that costs at most `budget`, and the bound beside it.

        Parameters
        ----------
        budget
            beta, finite, at least 0.

        Returns
        -------
        Selection
            OPTIMAL where the corner meets the bound, else FEASIBLE; its one leaf is the price at which the
            next step enters. INFEASIBLE where what is required costs more. `select` with a budget searches
            further.

        Notes
        -----
        The corner is read off; one cut finds the dual of the leaf. O(k + m) memory.
        """
        fraction(budget)  # None would be no budget
        instance = replace(self.instance, budget=budget, tradeoff=0)
        barred_by = witnesses(instance.requires, instance.executable).nearest
        knapsack, freed = Knapsack().apply(instance)
        if knapsack is None:
            return Selection.overrun(instance, barred_by=barred_by, solver=PATH)
        amounts, step = freed.amounts, self.fewest.step
        costs = np.zeros(len(self.step_costs), np.int64)
        np.add.at(costs, step[step >= 0], amounts.cost[step >= 0, 0])
        pays = self.fewest.entered(Fraction(0))
        entered = int(np.searchsorted(np.cumsum(costs[:pays]), amounts.budget[0], side="right"))
        # What is free on the curve may cost a unit of the coarser amounts here: then not even step 0 enters.
        next_step = max(entered, 1)
        price = self.fewest.price_of(next_step) if next_step < pays else Fraction(0)
        payable = knapsack.amounts.payable([price * amounts.value_scale / amounts.cost_scales[0]])
        relaxed, _ = Lagrange(price=payable).apply(knapsack)
        proof = close(relaxed).certificate or Certificate.zero()
        free = ((step >= 0) & (step < entered))[freed.part.nodes]
        leaf = Leaf(decisions=(), price=payable, certificate=proof)
        mask, leaves = Knapsack().invert(free, [leaf], freed)
        return Selection.bounded(instance, mask, leaves, barred_by=barred_by, solver=PATH)

    @property
    def breakpoints(self) -> Floats:
        """Prices above 0 at which the smallest optimum changes, (b,), descending."""
        positive = self.fewest.entered(Fraction(0))
        return np.array([nearest(self.fewest.price_of(step)) for step in range(1, positive)])

    @property
    def costs(self) -> Floats:
        """Cost of the optimum above each breakpoint, then of that at price 0, (b + 1,), ascending."""
        return _curve(self.step_costs, self.fewest.entered(Fraction(0)), self.cost_scale)

    @property
    def values(self) -> Floats:
        """Value beside each of `costs`: the corners of a concave curve that no choice lies above."""
        return _curve(self.step_values, self.fewest.entered(Fraction(0)), self.value_scale)

    def total(self, steps: int) -> tuple[Figure, Figure]:
        """Value and cost of the first `steps` steps together."""
        value = Fraction(int(self.step_values[:steps].sum())) / self.value_scale
        cost = Fraction(int(self.step_costs[:steps].sum())) / self.cost_scale
        return figure(self.instance, value), figure(self.instance, cost)

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw value against cost.

        Parameters
        ----------
        axes
            Where; a new figure where left out.

        Raises
        ------
        MissingDependency
            matplotlib is not installed.
        """
        try:
            from matplotlib.figure import Figure as Canvas
        except ImportError:
            raise MissingDependency(
                "plot needs matplotlib: pip install 'memorepair[plot]'", witness="matplotlib"
            ) from None
        if axes is None:
            axes = Canvas(layout="constrained").subplots()
        axes.plot(self.costs, self.values, marker="." if len(self.costs) <= 100 else "", linewidth=1)
        axes.set(xlabel="cost", ylabel="value", title=f"{len(self.breakpoints)} breakpoints")
        return axes

    def __repr__(self) -> str:
        value, cost = self.total(self.fewest.entered(Fraction(0)))
        return (
            f"<Frontier of {self.instance.k} candidates, {len(self.breakpoints)} breakpoints, "
            f"value {nearest(fraction(value)):g} at cost {nearest(fraction(cost)):g}>"
        )

    def _repr_html_(self) -> str:
        costs, values, prices = self.costs, self.values, self.breakpoints
        shown = np.unique(np.linspace(0, len(costs) - 1, min(len(costs), _ROWS)).astype(int)).tolist()
        rows = "".join(
            f"<tr><td>{prices[point]:g}</td><td>{costs[point]:g}</td><td>{values[point]:g}</td></tr>"
            if point < len(prices)
            else f"<tr><td>0</td><td>{costs[point]:g}</td><td>{values[point]:g}</td></tr>"
            for point in shown
        )
        return (
            f"<table><caption>{len(prices)} breakpoints of {self.instance.k} candidates</caption>"
            f"<tr><th>tradeoff from</th><th>cost</th><th>value</th></tr>{rows}</table>"
        )


_ROWS = 12


def frontier(
    problem: Problem | None = None,
    /,
    *,
    value: NumbersLike | None = None,
    cost: NumbersLike | None = None,
    requires: Requires | None = None,
    executable: npt.ArrayLike | None = None,
    required: npt.ArrayLike | Iterable[Hashable] = (),
    ids: Iterable[Hashable] | None = None,
) -> Frontier:
    """Every candidate's break-even price, hence the optimum at every tradeoff.

    Parameters
    ----------
    problem, value, cost, requires, executable, required, ids
        As `select` takes them.

    Returns
    -------
    Frontier
        Exact where values and costs fit integers of 62 bits, else exact for the rounded ones: then
        ``loss(tradeoff)`` bounds what rounding costs an answer.

    Raises
    ------
    InvalidInput
        The problem is malformed (InvalidInstance), or given twice.
    NoSolution
        A required candidate is barred (witness: the path that proves it).

    Notes
    -----
    O(k + m) memory; as long as some ten single selections.

    Examples
    --------
    >>> curve = frontier(value=[3, 4, 6], cost=[1, 2, 6], requires=[(2, 1)])
    >>> [str(curve.break_even(id)) for id in (0, 1, 2)], curve.at(1).tolist()
    (['3', '2', '1'], [True, True, False])
    """
    instance = asking.as_instance(
        problem,
        value=value,
        cost=cost,
        requires=requires,
        executable=executable,
        required=required,
        ids=ids,
        tradeoff=None,
        budget=None,
    )
    if instance.kinds > 1:
        raise InvalidInput("several costs have no one price", witness=instance.kinds)
    found = witnesses(instance.requires, instance.executable)
    conflict = np.flatnonzero(instance.required & (found.step >= 0))
    if len(conflict):
        path = instance.named(found.path(int(conflict[0])))
        raise NoSolution(
            f"{shown(path[0])} is required but needs {shown(path[-1])}, which cannot be executed",
            witness=path,
        )
    kept, unbarred = Barred().drop(instance, found)
    values = profits(kept.value, np.zeros(kept.k, np.int64), 0)
    costs = profits(kept.cost, np.zeros(kept.k, np.int64), 0)
    forced = least_closed_superset(kept.requires, kept.required)
    free, rest = Part.induced(kept.requires, ~forced)
    w, c = values.profit[~forced], costs.profit[~forced]
    groups = price_groups(free, w, c, close)
    # In original units a step's price is (value / value_scale) / (cost / cost_scale).
    unit = costs.scale / values.scale
    place = np.flatnonzero(unbarred.nodes)[rest.nodes]
    fixed = np.flatnonzero(unbarred.nodes)[~rest.nodes]
    fewest = _break_even(instance.k, place, fixed, groups, unit)
    most = _largest(instance.k, place, fixed, free, w, c, unit, fewest)
    totals = [_step_totals(fewest, place, array, forced) for array in (values, costs)]
    return Frontier(
        instance=instance,
        fewest=fewest,
        most=most,
        step_values=totals[0],
        step_costs=totals[1],
        value_scale=values.scale,
        cost_scale=costs.scale,
        value_loss=values.loss,
        cost_loss=costs.loss,
    )


def _break_even(k: int, place: Int64, fixed: Int64, groups: Groups, unit: Fraction) -> BreakEven:
    # Step 0 is what is required and, if there is one, the group that costs nothing.
    free = int(len(groups.cost) > 0 and groups.cost[0] == 0)
    step = np.full(k, -1, np.int32)
    step[fixed] = 0
    step[place] = np.where(groups.of < 0, -1, groups.of + 1 - free)
    common = np.gcd(groups.value, groups.cost)[free:]
    return BreakEven(
        step=step,
        numerators=np.concatenate((np.ones(1, np.int64), groups.value[free:] // common)),
        denominators=np.concatenate((np.zeros(1, np.int64), groups.cost[free:] // common)),
        unit=unit,
        at_price=False,
    )


def _largest(
    k: int,
    place: Int64,
    fixed: Int64,
    requires: Digraph,
    value: Int64,
    cost: Int64,
    unit: Fraction,
    fewest: BreakEven,
) -> BreakEven:
    if (cost > 0).all():  # two optima differ by a set of value and cost 0: there is none
        step, numerators, denominators = fewest.step, fewest.numerators, fewest.denominators
        return BreakEven(
            step=step, numerators=numerators, denominators=denominators, unit=unit, at_price=True
        )
    # The largest optimum at l is the complement of the smallest closure of the reversed arcs that maximises
    # -w - (-l) c: what enters there as its price -l falls leaves here as l rises. So a mirrored price m is
    # -mu, in descending order of m; what never enters there is always in here, what always is there never
    # here.
    mirrored = price_groups(requires.reverse(), -value, cost, close)
    count = len(mirrored.value)
    never = int(count > 0 and mirrored.cost[0] == 0)
    step = np.full(k, -1, np.int32)
    step[fixed] = 0
    own = np.where(mirrored.of < 0, 0, count - mirrored.of)
    if never:
        own[mirrored.of == 0] = -1
    step[place] = own
    common = np.gcd(mirrored.value, mirrored.cost)[never:]
    return BreakEven(
        step=step,
        numerators=np.concatenate((np.ones(1, np.int64), (-mirrored.value[never:] // common)[::-1])),
        denominators=np.concatenate((np.zeros(1, np.int64), (mirrored.cost[never:] // common)[::-1])),
        unit=unit,
        at_price=True,
    )


def _step_totals(prices: BreakEven, place: Int64, amounts: Profits, forced: Mask) -> Int64:
    totals = np.zeros(len(prices.numerators), np.int64)
    totals[0] = amounts.profit[forced].sum()
    steps = prices.step[place]
    np.add.at(totals, steps[steps >= 0], amounts.profit[~forced][steps >= 0])
    return totals


def _curve(amounts: Int64, steps: int, scale: Fraction) -> Floats:
    totals = np.cumsum(amounts[:steps])
    if abs(math.log10(scale.numerator) - math.log10(scale.denominator)) < _FLOAT_SCALE:
        return totals.astype(np.float64) / float(scale)
    return np.array([nearest(one / scale) for one in totals.tolist()])


_FLOAT_SCALE = 280  # a total of 62 bits over a scale of 10 to so much is a float, and no subnormal one
