"""Within a budget: answers against enumeration, bounds at every limit, real graphs to the optimum."""

from __future__ import annotations

import json
import lzma
import math
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from memorepair import SelectionInstance, Status, frontier, select
from memorepair.errors import InvalidInput, InvalidInstance, NoSolution, UnknownId
from memorepair.graphs import Digraph, generate, is_closed
from memorepair.problems.integers import Number
from memorepair.reductions.knapsack import Knapsack
from memorepair.solvers import cones, ilp
from memorepair.solvers.ilp import Effort, Proposal, ilp_solvers

Draw = Callable[[np.random.Generator], SelectionInstance]
RealInput = Callable[[str], Path]


def budgeted(draw: Draw, rng: np.random.Generator, largest: int = 11) -> SelectionInstance:
    """Up to `largest` candidates with one budget, or with two or three."""
    while True:
        instance = draw(rng)
        if 0 < instance.k <= largest:
            break
    if rng.random() < 0.6:
        limit = int(rng.integers(0, 1 + max(1, int(instance.cost.sum()))))
        return replace(instance, budget=limit)
    cost = rng.integers(0, 6, (instance.k, int(rng.integers(1, 4))))
    limits = tuple(int(rng.integers(0, 1 + max(1, total))) for total in cost.sum(axis=0).tolist())
    return replace(instance, cost=cost, budget=limits, tradeoff=0)


def enumerated(instance: SelectionInstance) -> Fraction | None:
    """The best worth of any feasible set, by the definition; None where there is none."""
    k, best = instance.k, None
    needs = [sum({1 << j for j in instance.requires.successors(i).tolist()}) for i in range(k)]
    costs = instance.cost.reshape(k, -1).astype(np.int64).tolist()
    price = Fraction(repr(float(instance.tradeoff)))
    worth = [w - (price * c[0] if price else 0) for w, c in zip(instance.value.tolist(), costs, strict=True)]
    for code in range(1 << k):
        inside = [i for i in range(k) if code >> i & 1]
        if any(code & needs[i] != needs[i] or not instance.executable[i] for i in inside):
            continue
        if any(not code >> i & 1 for i in np.flatnonzero(instance.required).tolist()):
            continue
        spent = [sum(costs[i][kind] for i in inside) for kind in range(instance.kinds)]
        if any(gone > limit for gone, limit in zip(spent, instance.limits, strict=True)):
            continue
        total = sum((worth[i] for i in inside), Fraction(0))
        if best is None or total > best:
            best = total
    return best


@pytest.mark.parametrize("node_limit", [0, 1, 3, 1_000])
def test_answers_and_bounds_enclose_the_optimum(draw: Draw, node_limit: int) -> None:
    rng = np.random.default_rng(node_limit)
    for _ in range(120):
        instance = budgeted(draw, rng)
        selection = select(instance, gap=0, node_limit=node_limit, ilp=None)
        assert selection.verify()
        best = enumerated(instance)
        if best is None:
            assert selection.status is Status.INFEASIBLE
            continue
        assert float(selection.objective) <= float(best) + 1e-9
        assert float(selection.bound) >= float(best) - 1e-9
        if node_limit == 1_000:
            assert selection.status is Status.OPTIMAL


def test_the_kernels_agree_compiled_and_not(draw: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    instances = [budgeted(draw, rng) for _ in range(60)]
    uncompiled = [select(one, gap=0, ilp=None) for one in instances]
    monkeypatch.setattr(cones, "COMPILED_FROM", 0)
    for one, before in zip(instances, uncompiled, strict=True):
        after = select(one, gap=0, ilp=None)
        assert after.status is before.status
        if before.answer is not None:
            assert np.array_equal(after.mask, before.mask)
            assert len(after.leaves) == len(before.leaves)


def test_real_graphs_are_proved_optimal(real_input: RealInput) -> None:
    folder = real_input("closure-budgeted-real-graphs")
    cases = json.loads(lzma.decompress((folder / "cases.json.xz").read_bytes()))
    assert len(cases) == 14
    for case in cases:
        arcs = np.array(case["prerequisites"]).reshape(-1, 2)
        instance = SelectionInstance(
            value=np.array(case["values"]),
            cost=np.array(case["costs"]),
            requires=Digraph.from_arcs(case["n"], arcs[:, 0], arcs[:, 1]),
            executable=np.ones(case["n"], np.bool_),
            required=np.zeros(case["n"], np.bool_),
            budget=case["budget"],
        )
        selection = select(instance, gap=0, time_limit=None)
        assert (selection.status, selection.objective) == (Status.OPTIMAL, case["optimum"]), case["case"]
        assert selection.verify()
        assert select(instance, budget=10**9, time_limit=None).objective == case["unbudgeted_optimum"]


def test_a_budget_that_does_not_bind_gives_the_answer_of_select(draw: Draw) -> None:
    for seed in range(80):
        instance = draw(np.random.default_rng(seed))
        free, within = select(instance), select(instance, budget=int(instance.cost.sum()), gap=0, ilp=None)
        assert within.status is free.status
        if free.answer is not None:
            assert within.objective == free.objective
            assert len(within.leaves) == 1


def test_more_budget_is_never_worth_less(draw: Draw) -> None:
    rng = np.random.default_rng(9)
    for _ in range(15):
        instance = draw(rng)
        instance = replace(instance, required=np.zeros(instance.k, np.bool_))
        worths = [float(select(instance, budget=beta, gap=0, ilp=None).objective) for beta in range(0, 12, 3)]
        assert worths == sorted(worths)


def test_the_corner_of_the_curve_and_its_bound(draw: Draw) -> None:
    rng = np.random.default_rng(2)
    met = 0
    for _ in range(150):
        instance = replace(draw(rng), tradeoff=0)
        try:
            curve = frontier(instance)
        except NoSolution:
            continue
        budget = int(rng.integers(0, 1 + max(1, int(instance.cost.sum()))))
        corner, searched = curve.for_budget(budget), select(instance, budget=budget, gap=0, ilp=None)
        assert corner.verify()
        assert (corner.answer is None) == (searched.answer is None)
        if corner.answer is None:
            continue
        assert corner.objective <= searched.objective <= corner.bound
        met += corner.status is Status.OPTIMAL
        assert (corner.status is Status.OPTIMAL) == (corner.objective == corner.bound)
        affordable = [v for c, v in zip(curve.costs, curve.values, strict=True) if c <= budget]
        assert corner.objective == affordable[-1]
    assert met > 10


def test_what_the_curve_takes_for_free_may_cost_more_than_a_rounded_budget() -> None:
    # 1e-9 beside 1e12: nothing on the curve, a unit of the coarser amounts that a budget needs.
    curve = frontier(value=[3.5, 1.0], cost=[1e-9, 1e12])
    corner = curve.for_budget(2)
    assert corner.verify()
    assert (corner.chosen, corner.status) == ((), Status.FEASIBLE)
    assert corner.bound >= 3.5
    with pytest.raises(InvalidInput):
        curve.for_budget(cast("int", None))


def test_large_instances_keep_the_gap_they_promise() -> None:
    drawn = generate("prov-1e4")
    value = np.rint(drawn.value * 1000).astype(np.int64)
    cost = np.maximum(1, np.rint(drawn.cost * 1000).astype(np.int64))
    budget = int(0.3 * cost.sum())
    selection = select(
        value=value, cost=cost, requires=drawn.requires, budget=budget, gap=1e-5, time_limit=None
    )
    assert selection.gap <= 1e-5
    assert isinstance(selection.cost, int)
    assert selection.cost <= budget
    assert is_closed(drawn.requires, selection.mask)
    assert selection.verify()


def test_one_huge_critical_group_is_torn_apart() -> None:
    drawn = generate("mine5-1e4")
    value = np.rint(drawn.value * 3000).astype(np.int64) - np.rint(drawn.cost * 1000).astype(np.int64)
    tonnage = np.full(len(value), 1000)
    pit = int(select(value=value, requires=drawn.requires).mask.sum())
    selection = select(
        value=value, cost=tonnage, requires=drawn.requires, budget=pit * 500, gap=1e-3, time_limit=None
    )
    assert selection.gap <= 1e-3
    assert selection.verify()
    assert selection.objective <= 8_267_691 <= selection.bound


def test_floats_are_scaled_and_the_loss_is_recorded() -> None:
    drawn = generate("prov-1e3")
    selection = select(
        value=drawn.value, cost=drawn.cost, requires=drawn.requires, budget=200.0, node_limit=5
    )
    assert selection.verify()
    assert isinstance(selection.cost, float)
    assert selection.cost <= 200.0
    assert 0 < selection.report.loss < 1e-6
    assert 0 < selection.report.slack[0] < 1e-5
    exact = select(value=[0.1, 0.2, 0.3], cost=[0.1, 0.2, 0.3], budget=0.3, gap=0)
    assert (exact.objective, exact.status) == (0.3, Status.OPTIMAL)
    assert exact.report.loss == 0


def test_what_costs_little_never_comes_free() -> None:
    cost: list[Number] = [1e-12, 1e12, 3.3]
    selection = select(value=[1, 5, 2], cost=cost, budget=0)
    assert selection.chosen == ()
    assert select(value=[1, 5, 2], cost=cost, budget=10).chosen == (0, 2)


def test_several_budgets_bind_each() -> None:
    cost = [[1, 5], [5, 1], [3, 3]]
    selection = select(value=[4, 4, 5], cost=cost, budget=[6, 6], gap=0)
    assert (selection.chosen, selection.cost, selection.status) == ((0, 1), (6, 6), Status.OPTIMAL)
    assert select(value=[4, 4, 5], cost=cost, budget=[5, 5], gap=0).chosen == (2,)
    assert len(selection.leaves[0].price) == 2


def test_required_and_barred_within_a_budget() -> None:
    arrays: dict[str, Any] = {
        "value": [-2, 5, 4, 9],
        "cost": [3, 2, 2, 1],
        "executable": [True, True, True, False],
    }
    selection = select(**arrays, requires=[(1, 0)], required=[0], budget=5, gap=0)
    assert (selection.chosen, selection.objective) == ((0, 1), 3)
    assert selection.barred() == {3: 3}
    over = select(**arrays, requires=[(1, 0)], required=[1], budget=4)
    assert (over.status, over.report.overrun) == (Status.INFEASIBLE, (5,))
    assert over.verify()
    with pytest.raises(NoSolution, match="more than the budget"):
        _ = over.mask
    assert frontier(**arrays, required=[0]).for_budget(2).status is Status.INFEASIBLE
    barred = select(**arrays, required=[3], budget=5)
    assert barred.report.infeasible == (3,)


def test_tradeoff_and_budget_together() -> None:
    selection = select(value=[5, 5, 5], cost=[1, 3, 9], tradeoff=1, budget=4, gap=0)
    assert (selection.chosen, selection.objective, selection.cost) == ((0, 1), 6, 4)
    dear = select(value=[5, 5, 5], cost=[1, 3, 9], tradeoff=4, budget=100, gap=0)
    assert (dear.chosen, dear.objective) == ((0,), 1)


@pytest.mark.parametrize("name", ilp_solvers())
def test_integer_programs_agree_on_small_instances(draw: Draw, name: str) -> None:
    pytest.importorskip({"highspy": "highspy", "cp-sat": "ortools", "cbc": "pulp"}.get(name, "scipy"))
    rng = np.random.default_rng(4)
    for _ in range(8):
        instance = budgeted(draw, rng)
        knapsack, freed = Knapsack().apply(instance)
        if knapsack is None or knapsack.requires.n == 0:
            continue
        found = ilp.propose(name, knapsack, Effort(gap=0.0, nodes=10_000, seconds=20.0))
        best = select(instance, gap=0, ilp=None)
        assert found.mask is not None
        worth = int(knapsack.amounts.value[found.mask].sum()) + knapsack.base
        assert float(worth / freed.amounts.value_scale) == pytest.approx(float(best.objective))


def test_what_an_integer_program_claims_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    knapsack, _ = Knapsack().apply(
        SelectionInstance(
            value=np.array([5, 5]),
            cost=np.array([3, 3]),
            requires=Digraph.from_arcs(2, [0], [1]),
            executable=np.ones(2, np.bool_),
            required=np.zeros(2, np.bool_),
            budget=4,
        )
    )
    assert knapsack is not None
    for mask in ([True, False], [True, True]):  # not closed; over budget
        lie = Proposal(mask=np.array(mask), bound=math.inf)
        liar = SimpleNamespace(propose=lambda instance, effort, lie=lie: lie)
        monkeypatch.setattr(ilp, "import_module", lambda name, liar=liar: liar)
        believed = ilp.propose("highs", knapsack, Effort(gap=0.0, nodes=1, seconds=None))
        assert (believed.mask, believed.bound) == (None, None)


def test_ilp_bound_is_apart_from_the_proof() -> None:
    drawn = generate("prov-1e2")
    value = np.rint(drawn.value * 1000).astype(np.int64)
    cost = np.maximum(1, np.rint(drawn.cost * 1000).astype(np.int64))
    selection = select(
        value=value, cost=cost, requires=drawn.requires, budget=int(0.3 * cost.sum()), gap=0, node_limit=0
    )
    assert selection.ilp_bound == selection.objective == 96_200
    assert selection.status is Status.FEASIBLE
    assert selection.bound > selection.objective


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        pytest.param({"budget": -1}, InvalidInstance, id="negative"),
        pytest.param({"budget": float("nan")}, InvalidInstance, id="not a number"),
        pytest.param({"budget": [1, 2]}, InvalidInstance, id="two budgets, one cost"),
        pytest.param({"budget": 1, "gap": 1.0}, InvalidInput, id="gap of 1"),
        pytest.param({"budget": 1, "gap": -0.1}, InvalidInput, id="negative gap"),
        pytest.param({"budget": 1, "node_limit": -1}, InvalidInput, id="negative nodes"),
        pytest.param({"budget": 1, "time_limit": -1}, InvalidInput, id="negative time"),
        pytest.param({"budget": 1, "gap": "0"}, InvalidInput, id="gap in words"),
        pytest.param({"budget": 1, "node_limit": 1.5}, InvalidInput, id="half a node"),
        pytest.param({"budget": 1, "time_limit": "5"}, InvalidInput, id="time in words"),
        pytest.param({"budget": 1, "time_limit": Decimal("nan")}, InvalidInput, id="time that is none"),
        pytest.param({"budget": "1"}, InvalidInstance, id="budget in words"),
        pytest.param({"budget": 1, "ties": "most"}, InvalidInput, id="tie rule"),
        pytest.param({"budget": 1, "solver": "greedy"}, InvalidInput, id="other solver"),
        pytest.param({"budget": 1, "ilp": "gurobi"}, UnknownId, id="unknown program"),
        pytest.param({"cost": [[1, 2], [3]], "budget": [1, 1]}, InvalidInstance, id="ragged costs"),
        pytest.param({"cost": [[1, 2], [3, 4]], "budget": 1}, InvalidInstance, id="one budget, two costs"),
        pytest.param(
            {"cost": [[1, 2], [3, 4]], "budget": (1, 1), "tradeoff": 1}, InvalidInstance, id="tradeoff"
        ),
        pytest.param({"cost": [[1, -2], [3, 4]], "budget": (1, 1)}, InvalidInstance, id="negative cost"),
    ],
)
def test_malformed_budgets_are_refused(arguments: dict[str, Any], error: type[Exception]) -> None:
    given: dict[str, Any] = {"value": [1, 2], "cost": [1, 1], **arguments}
    with pytest.raises(error):
        select(**given)


@pytest.mark.parametrize("type", [int, float, Fraction, Decimal, np.int8, np.float32, np.array])
def test_a_budget_and_its_limits_are_numbers_of_any_type(type: Any) -> None:
    limits = {} if type is np.array else {"gap": type(0), "time_limit": type(60)}
    found = select(value=[3, 4, 6], cost=[1, 2, 3], budget=type(4), **limits)
    assert (found.chosen, found.status) == ((0, 2), Status.OPTIMAL)


@pytest.mark.parametrize("name", ["highs", "highspy", "cp-sat", "cbc"])
def test_programs_write_nothing(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip({"highspy": "highspy", "cp-sat": "ortools", "cbc": "pulp"}.get(name, "scipy"))
    drawn = generate("provD-1e2")
    cost = np.rint(drawn.cost * 1000).astype(np.int64)
    found = select(
        value=np.rint(drawn.value * 1000).astype(np.int64),
        cost=cost,
        requires=drawn.requires,
        budget=int(cost.sum()) // 3,
        gap=0,
        node_limit=1,
        ilp=name,
    )
    assert name == "cbc" or found.ilp_bound is not None  # it was asked
    assert capfd.readouterr() == ("", "")


def test_highspy_writes_no_banner_at_its_first_use() -> None:
    pytest.importorskip("highspy")
    code = (
        "import numpy as np; from memorepair import select; from memorepair.graphs import generate\n"
        "d = generate('provD-1e2'); c = np.rint(d.cost * 1000).astype(int)\n"
        "s = select(value=np.rint(d.value * 1000).astype(int), cost=c, requires=d.requires,\n"
        "           budget=int(c.sum()) // 3, gap=0, node_limit=1, ilp='highspy')\n"
        "assert s.ilp_bound is not None\n"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (told.stdout, told.stderr) == ("", "")


def test_a_time_limit_of_0_still_answers_with_a_proof() -> None:
    drawn = generate("prov-1e3")
    value = np.rint(drawn.value * 1000).astype(np.int64)
    cost = np.maximum(1, np.rint(drawn.cost * 1000).astype(np.int64))
    selection = select(
        value=value, cost=cost, requires=drawn.requires, budget=int(0.3 * cost.sum()), gap=0, time_limit=0
    )
    assert selection.status is Status.FEASIBLE
    assert 0 < selection.gap < 1e-3
    assert selection.verify()


@pytest.mark.parametrize("nodes", [0, 1, 10, 60])
@pytest.mark.parametrize("family", ["prov-1e2", "provD-1e2"])
def test_no_more_decisions_than_allowed(family: str, nodes: int) -> None:
    drawn = generate(family)
    value = np.rint(drawn.value * 1000).astype(np.int64)
    cost = np.maximum(1, np.rint(drawn.cost * 1000).astype(np.int64))
    selection = select(
        value=value,
        cost=cost,
        requires=drawn.requires,
        budget=int(0.3 * cost.sum()),
        gap=0,
        node_limit=nodes,
        time_limit=None,
        ilp=None,
    )
    assert len(selection.leaves) <= nodes + 1
    assert selection.verify()


def test_the_same_answer_in_every_process() -> None:
    code = (
        "import numpy as np; from memorepair import select; from memorepair.graphs import generate\n"
        "d = generate('provD-1e2'); c = np.maximum(1, np.rint(d.cost * 1000).astype(int))\n"
        "s = select(value=np.rint(d.value * 1000).astype(int), cost=c, requires=d.requires,\n"
        "           budget=int(c.sum()) // 3, gap=0, node_limit=30, time_limit=None)\n"
        "print(s.mask.nonzero()[0].tolist(), s.bound, len(s.leaves))\n"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(told) == 1


def test_a_budget_met_to_the_last_digit_is_not_called_exceeded() -> None:
    # Totals of more than 40 bits are rounded, and the rounded budget is smaller: the two still fit together.
    big = 2**50
    cost = [big + 1, big + 3, 5]
    selection = select(value=[3, 4, 1], cost=cost, budget=2 * big + 4, gap=0)
    assert selection.verify()
    assert selection.report.slack[0] > 0
    assert selection.bound >= 7
    assert (selection.status is Status.OPTIMAL) == (selection.objective == 7)
    both = select(value=[3, 4, 1], cost=cost, required=[0, 1], budget=2 * big + 4, gap=0)
    assert (both.chosen, both.objective) == ((0, 1), 7)
    assert both.verify()
    over = select(value=[3, 4, 1], cost=cost, required=[0, 1], budget=2 * big + 3, gap=0)
    assert over.status is Status.INFEASIBLE
    assert over.verify()


def test_rounded_budgets_are_optimal_only_where_that_is_proved() -> None:
    rng = np.random.default_rng(12)
    short = 0
    for _ in range(60):
        k = int(rng.integers(2, 7))
        cost = [int(one) for one in rng.integers(2**44, 2**45, k)]
        value = [int(one) for one in rng.integers(1, 20, k)]
        chosen = rng.random(k) < 0.5
        limit = sum(c for c, one in zip(cost, chosen, strict=True) if one)  # met exactly
        best = max(
            sum(value[i] for i in range(k) if code >> i & 1)
            for code in range(1 << k)
            if sum(cost[i] for i in range(k) if code >> i & 1) <= limit
        )
        selection = select(value=value, cost=cost, budget=limit, gap=0)
        assert selection.verify()
        assert selection.objective <= best <= selection.bound
        assert selection.status is not Status.OPTIMAL or selection.objective == best
        short += selection.objective < best
    assert short > 0


@pytest.mark.parametrize("node_limit", [0, 5, 40])
def test_densest_subgraphs_stay_hard_and_say_so(node_limit: int) -> None:
    rng = np.random.default_rng(1)
    vertices, size = 14, 6
    pairs = [(i, j) for i in range(vertices) for j in range(i)]
    edges = [pairs[one] for one in rng.permutation(len(pairs))[:40].tolist()]
    best = max(
        sum(i in chosen and j in chosen for i, j in edges) for chosen in combinations(range(vertices), size)
    )
    selection = select(
        value=[0] * vertices + [1] * len(edges),
        cost=[1] * vertices + [0] * len(edges),
        requires=[(vertices + e, end) for e, ends in enumerate(edges) for end in ends],
        budget=size,
        gap=0,
        node_limit=node_limit,
        ilp=None,
    )
    assert selection.verify()
    assert selection.objective <= best <= selection.bound
    if node_limit == 0:
        assert (selection.status, selection.gap > 0.1) == (Status.FEASIBLE, True)


def test_several_budgets_have_a_lagrangian_bound_and_an_integer_program() -> None:
    rng = np.random.default_rng(2)
    k = 60
    cost = rng.integers(1, 20, (k, 2))
    arcs = [(i, int(rng.integers(0, i))) for i in range(1, k)]
    limits = (cost.sum(axis=0) // 3).tolist()
    rough = select(value=rng.integers(0, 30, k), cost=cost, requires=arcs, budget=limits, gap=0, node_limit=0)
    assert rough.verify()
    assert rough.ilp_bound is not None
    assert rough.objective == rough.ilp_bound <= rough.bound
    assert any(rough.leaves[0].price)
    assert 0 < rough.gap < 0.05
