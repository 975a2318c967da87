"""One run answers every tradeoff: the frontier equals select() at, between and beyond its breakpoints."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from memorepair import SelectionInstance, explain, frontier, select
from memorepair.errors import InvalidInput, MissingDependency, NoSolution
from memorepair.graphs import generate
from memorepair.problems import Closure, ClosureInstance
from memorepair.problems.integers import Number, fraction, nearest
from memorepair.problems.proof import Ties
from memorepair.selection.frontier import Frontier
from memorepair.solvers.pseudoflow import Pseudoflow

Draw = Callable[[np.random.Generator], SelectionInstance]


def prices_of(curve: Frontier) -> list[Fraction]:
    exact = {side.exact(place) for side in (curve.fewest, curve.most) for place in range(curve.instance.k)}
    return sorted(price for price in exact if isinstance(price, Fraction) and price >= 0)


@pytest.mark.parametrize("ties", ["fewest", "most"])
def test_every_tradeoff_has_the_answer_of_select(draw: Draw, ties: Ties) -> None:
    asked = 0
    for seed in range(120):
        instance = draw(np.random.default_rng(seed))
        try:
            curve = frontier(instance)
        except NoSolution:
            continue
        points = [Fraction(0), *prices_of(curve), Fraction(10**6)]
        points += [(a + b) / 2 for a, b in pairwise(points)]
        for tradeoff in points:
            expected = select(instance, tradeoff=tradeoff, ties=ties)
            assert np.array_equal(curve.at(tradeoff, ties=ties), expected.mask)
            asked += 1
    assert asked > 500


def test_optima_are_nested_and_the_curve_is_concave(draw: Draw) -> None:
    for seed in range(250, 400):
        try:
            curve = frontier(draw(np.random.default_rng(seed)))
        except NoSolution:
            continue
        prices = [Fraction(0), *prices_of(curve)]
        for low, high in pairwise(prices):
            for ties in ("fewest", "most"):
                assert not (curve.at(high, ties=ties) & ~curve.at(low, ties=ties)).any()
            assert not (curve.at(high) & ~curve.at(high, ties="most")).any()
        costs, values = curve.costs, curve.values
        assert (np.diff(costs) > 0).all()
        assert np.allclose(np.diff(values) / np.diff(costs), curve.breakpoints)
        assert (np.diff(curve.breakpoints) < 0).all()
        chosen = curve.at(0)
        assert costs[-1] == curve.instance.cost[chosen].sum()
        assert values[-1] == curve.instance.value[chosen].sum()


def test_barred_required_and_free_candidates() -> None:
    curve = frontier(
        value=[3, 4, -5, 7, 9, -1],
        cost=[1, 2, 0, 0, 1, 4],
        requires=[("barred", "bar")],
        executable=[True, True, True, True, True, False],
        required=["required"],
        ids=["a", "required", "bad", "free", "barred", "bar"],
    )
    assert curve.break_even("a") == 3
    assert (curve.break_even("required"), curve.break_even("free")) == (math.inf, math.inf)
    assert (curve.break_even("bad"), curve.break_even("barred")) == (-math.inf, -math.inf)
    assert curve.price.tolist() == [3, math.inf, -math.inf, math.inf, -math.inf, -math.inf]
    assert (curve.costs.tolist(), curve.values.tolist()) == ([2, 3], [11, 14])


def test_a_required_candidate_that_is_barred_has_no_frontier() -> None:
    with pytest.raises(NoSolution) as caught:
        frontier(value=[1, 1], requires=[(0, 1)], executable=[True, False], required=[0])
    assert caught.value.witness == (0, 1)


def test_prices_are_exact_where_floats_are_not() -> None:
    curve = frontier(value=[0.1 + 0.2, 0.3], cost=[1, 1])
    assert curve.break_even(1) == Fraction(3, 10)
    assert curve.break_even(0) > Fraction(3, 10)
    assert curve.at(0.3).tolist() == [True, False]
    assert curve.at(0.3, ties="most").tolist() == [True, True]


def test_floats_of_all_digits_record_what_rounding_lost() -> None:
    drawn = generate("prov-3e4")
    curve = frontier(value=drawn.value, cost=drawn.cost, requires=drawn.requires, executable=drawn.executable)
    assert 0 < curve.value_loss < 1e-9
    assert 0 < curve.cost_loss < 1e-9
    expected = select(
        value=drawn.value,
        cost=drawn.cost,
        requires=drawn.requires,
        executable=drawn.executable,
        tradeoff=0.7,
    )
    assert np.array_equal(curve.at(0.7), expected.mask)


@pytest.mark.parametrize("tradeoff", [-1, math.nan, math.inf, "1"])
def test_a_tradeoff_is_a_finite_number_from_0(tradeoff: float) -> None:
    curve = frontier(value=[1], cost=[1])
    with pytest.raises(InvalidInput):
        curve.at(tradeoff)


def test_an_unknown_tie_rule_is_refused() -> None:
    with pytest.raises(InvalidInput):
        frontier(value=[1], cost=[1]).at(0, ties="any")  # type: ignore[arg-type]


def test_no_candidate() -> None:
    curve = frontier(value=[])
    assert (len(curve.at(0)), curve.costs.tolist(), curve.values.tolist()) == (0, [0], [0])


def test_the_tradeoff_of_the_problem_is_not_looked_at(draw: Draw) -> None:
    instance = draw(np.random.default_rng(3))
    a, b = frontier(instance), frontier(replace(instance, tradeoff=7))
    assert np.array_equal(a.price, b.price)


def test_it_can_be_looked_at() -> None:
    curve = frontier(value=[3, 4, 6], cost=[1, 2, 6], requires=[(2, 1)])
    assert "3 breakpoints" in repr(curve)
    assert curve._repr_html_().count("<tr>") == 5
    line = curve.plot().get_lines()[0]
    assert np.asarray(line.get_xdata()).tolist() == [0, 1, 3, 9]
    assert np.asarray(line.get_ydata()).tolist() == [0, 3, 7, 13]


def test_plot_names_the_extra_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingDependency, match="plot"):
        frontier(value=[1]).plot()


@pytest.mark.parametrize("value", [10**400, Fraction(1, 10**400), Decimal("1e4999"), Decimal("1e-4999")])
def test_numbers_beyond_floats_have_a_curve(value: Number) -> None:
    curve = frontier(value=[value, -fraction(value)], cost=[1, 2], requires=[(1, 0)])
    selection = select(curve.instance)
    assert curve.break_even(0) == fraction(value)
    assert (curve.price[0], curve.breakpoints.tolist()) == (nearest(fraction(value)), [curve.price[0]])
    assert curve.values.tolist() == [0, curve.price[0]]
    assert "Frontier" in repr(curve)
    assert "<table>" in curve._repr_html_()
    found = explain(selection, 0, curve=curve)
    assert "is chosen" in str(found)
    assert json.loads(json.dumps(found.to_json()))["id"] == 0


def test_a_long_chain_that_costs_nothing_takes_linear_work(monkeypatch: pytest.MonkeyPatch) -> None:
    cut, nodes = Pseudoflow.solve, []

    def counted(self: Pseudoflow, instance: ClosureInstance) -> Closure:
        nodes.append(instance.requires.n)
        return cut(self, instance)

    monkeypatch.setattr(Pseudoflow, "solve", counted)
    k = 50_000
    chain = np.stack((np.arange(1, k), np.arange(k - 1)), axis=1)
    for arcs in (chain, chain[:, ::-1].copy()):
        for payer in (0, k - 1):
            value = np.full(k, -1)
            value[payer] = k + 5
            curve = frontier(value=value, cost=np.zeros(k, np.int64), requires=arcs)
            assert int(curve.at(0).sum()) in (1, k)
    assert len(nodes) <= 8  # one cut a tie rule, and what is left for it to do is next to nothing
    assert max(nodes) <= 10


def test_what_rounding_may_cost_is_bounded() -> None:
    rng = np.random.default_rng(8)
    rounded = 0
    for _ in range(40):
        k = 8
        value = [Fraction(int(a), int(b)) for a, b in rng.integers(1, 2**40, (k, 2))]
        cost = [Fraction(int(a), int(b)) for a, b in rng.integers(1, 2**40, (k, 2))]
        arcs = [(i, int(rng.integers(0, i))) for i in range(1, k)]
        curve = frontier(value=value, cost=cost, requires=arcs)
        for tradeoff in (Fraction(1, 3), Fraction(1), Fraction(7, 2)):
            worth = [w - tradeoff * c for w, c in zip(value, cost, strict=True)]
            best = max(
                sum((worth[i] for i in range(k) if code >> i & 1), Fraction(0))
                for code in range(1 << k)
                if all(code >> j & 1 for i, j in arcs if code >> i & 1)
            )
            told = sum((worth[i] for i in np.flatnonzero(curve.at(tradeoff)).tolist()), Fraction(0))
            assert told <= best <= told + curve.loss(tradeoff)
        rounded += curve.loss(1) > 0
    assert rounded == 40
    assert frontier(value=[1, 2], cost=[1, 1]).loss(3) == 0
