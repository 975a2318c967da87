"""Prices: the frontier of all events of a workload together, and greedy choices beside it at every price."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from memorepair.graphs.digraph import Digraph, Mask
from memorepair.problems import SelectionInstance
from memorepair.problems.integers import fraction
from memorepair.repair.candidates import Candidates
from memorepair.selection import select
from memorepair.selection.frontier import Frontier, frontier

SHARE = 0.57
"""Of repair-all's cost: the lowest that the paper reports."""

RECOVERED = 0.943
"""Of repair-all's value: the highest that the paper reports."""

GREEDY: Mapping[str, str] = {
    "greedy_ratio": "greedy",
    "greedy_cone": "cone-ratio",
    "greedy_marginal": "marginal-gain",
}


_NODES = 100
"""Of the exact solver's search: a bound is proved all the same, and does not depend on the machine."""

_NOISE = 1e-9
"""Objectives below this share of all value are 0 but for rounding: what just enters has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Priced:
    """What the frontier of a workload says.

    Attributes
    ----------
    price
        The smallest one, in value a unit of cost, whose choice costs at most `SHARE` of all.
    value, cost
        Foreseen there, as shares of all that can be executed.
    best, bound
        Of the choices of at most `SHARE` of all cost: the best that the exact solver found, and what none is
        worth more than, by the leaves of its search, which are verified. Shares of all value.
    curve
        (price, share of cost, share of value) along the frontier.
    margins
        A greedy selector -> (price, share of min cut's objective that it misses) wherever there is one.
    """

    price: float
    value: float
    cost: float
    best: float
    bound: float
    curve: tuple[tuple[float, float, float], ...]
    margins: Mapping[str, Sequence[tuple[float, float]]]


def together(events: Sequence[Candidates]) -> SelectionInstance:
    """The candidates of all events side by side."""
    offsets = np.cumsum([0, *(len(one.keys) for one in events)])
    tails = [one.prerequisites.tails() + at for one, at in zip(events, offsets, strict=False)]
    heads = [one.prerequisites.heads + at for one, at in zip(events, offsets, strict=False)]
    k = int(offsets[-1])
    return SelectionInstance(
        value=np.concatenate([one.value for one in events]),
        cost=np.concatenate([one.cost for one in events]),
        requires=Digraph.from_arcs(k, np.concatenate(tails), np.concatenate(heads)),
        executable=np.concatenate([one.executable for one in events]),
        required=np.zeros(k, np.bool_),
        ids=tuple(range(k)),
        tradeoff=0,
        budget=None,
    )


def price(events: Sequence[Candidates], *, prices: int | None) -> Priced:
    """The frontier of these events; greedy is compared at so many of its prices, at all where None.

    Raises
    ------
    AssertionError
        A greedy selector is better than min cut at some price: min cut is not the optimum.
    """
    whole = together(events)
    curve = frontier(whole)
    able = whole.executable
    value, cost = math.fsum(whole.value[able].tolist()), math.fsum(whole.cost[able].tolist())
    steps = [Fraction(0), *sorted(_prices(curve))]
    points = []
    chosen_price: float | None = None
    for step in steps:
        mask = curve.at(step)
        spent = math.fsum(whole.cost[mask].tolist()) / cost
        points.append((float(step), spent, math.fsum(whole.value[mask].tolist()) / value))
        if chosen_price is None and spent <= SHARE:
            chosen_price = math.nextafter(float(step), math.inf) if step else 0.0
    chosen_price = 0.0 if chosen_price is None else chosen_price
    mask = curve.at(chosen_price)
    within = select(replace(whole, budget=SHARE * cost), time_limit=None, node_limit=_NODES)
    assert within.verify(), "the bound is not proved"
    return Priced(
        price=chosen_price,
        value=math.fsum(whole.value[mask].tolist()) / value,
        cost=math.fsum(whole.cost[mask].tolist()) / cost,
        best=float(within.value) / value,
        bound=float(within.bound) / value,
        curve=tuple(points),
        margins=_margins(whole, curve, _thinned(steps, prices)),
    )


def _prices(curve: Frontier) -> set[Fraction]:
    """Break-even prices of those that enter above 0."""
    exact = {curve.fewest.price_of(step) for step in range(1, len(curve.fewest.numerators))}
    return {one for one in exact if one > 0}


def _thinned(steps: Sequence[Fraction], prices: int | None) -> Sequence[Fraction]:
    if prices is None or len(steps) <= prices:
        return steps
    places = np.unique(np.linspace(0, len(steps) - 1, prices).round().astype(int))
    return [steps[place] for place in places.tolist()]


def _margins(
    whole: SelectionInstance, curve: Frontier, steps: Sequence[Fraction]
) -> dict[str, list[tuple[float, float]]]:
    value = math.fsum(whole.value[whole.executable].tolist())
    missed: dict[str, list[tuple[float, float]]] = {name: [] for name in GREEDY}
    for step in steps:
        at = replace(whole, tradeoff=step)
        best = select(at).objective
        exact = Fraction(best)
        slack = Fraction(1, 10**6) * max(Fraction(1), abs(exact))
        assert abs(exact - _worth(at, curve.at(step))) <= slack, f"the frontier errs at price {float(step)}"
        for name, solver in GREEDY.items():
            found = select(at, solver=solver).objective
            assert found <= best, f"{name} beats min cut at price {float(step)}"
            if best > _NOISE * value:
                share = float(1 - Fraction(found) / Fraction(best))
                missed[name].append((float(step), round(share, 6)))
    return missed


def summary(margins: Sequence[tuple[float, float]]) -> dict[str, float]:
    """The largest and the mean share missed, at how many prices there is any, and how many there are."""
    shares = [share for _, share in margins]
    return {
        "worst": round(max(shares, default=0.0), 5),
        "mean": round(float(np.mean(shares or [0.0])), 5),
        "worse_at": sum(share > 0 for share in shares),
        "prices": len(shares),
    }


def _worth(at: SelectionInstance, mask: Mask) -> Fraction:
    places = np.flatnonzero(mask).tolist()
    value = sum((Fraction(float(at.value[place])) for place in places), Fraction(0))
    cost = sum((Fraction(float(at.cost[place])) for place in places), Fraction(0))
    return value - fraction(at.tradeoff) * cost
