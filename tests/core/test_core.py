"""The core search decides nothing that a better set contradicts; leaves are checked alike when compiled."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from memorepair import SelectionInstance, Status, select
from memorepair.errors import ProofFailed
from memorepair.graphs import Digraph, generate
from memorepair.problems import leaves
from memorepair.reductions.knapsack import Knapsack
from memorepair.solvers import branching
from memorepair.solvers.core import losing
from memorepair.solvers.limits import Limits
from memorepair.solvers.pricing import PriceSearch

Draw = Callable[[np.random.Generator], SelectionInstance]


def knapsack(rng: np.random.Generator) -> SelectionInstance:
    """Up to 12 candidates, one budget that binds."""
    k = int(rng.integers(2, 13))
    tails, heads = rng.integers(0, k, (2, int(rng.integers(0, 2 * k))))
    cost = rng.integers(0, 30, k)
    return SelectionInstance(
        value=rng.integers(-10, 60, k),
        cost=cost,
        requires=Digraph.from_arcs(k, np.maximum(tails, heads), np.minimum(tails, heads)),
        executable=np.ones(k, np.bool_),
        required=np.zeros(k, np.bool_),
        budget=int(cost.sum() * rng.random()),
    )


def feasible_sets(instance: SelectionInstance) -> list[tuple[int, np.ndarray]]:
    """Every closure within the budget, with its worth."""
    found = []
    k = instance.k
    needs = [sum({1 << j for j in instance.requires.successors(i).tolist()}) for i in range(k)]
    for code in range(1 << k):
        inside = np.array([bool(code >> i & 1) for i in range(k)])
        if all(code & needs[i] == needs[i] for i in range(k) if inside[i]) and int(
            instance.cost[inside].sum()
        ) <= int(instance.limits[0]):
            found.append((int(instance.value[inside].sum()), inside))
    return found


def test_the_core_search_finds_and_proves_the_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(branching, "PATIENCE", 0)
    rng = np.random.default_rng(3)
    dug = 0
    for _ in range(150):
        instance = knapsack(rng)
        selection = select(instance, gap=0, ilp=None)
        assert selection.status is Status.OPTIMAL
        assert selection.objective == max(worth for worth, _ in feasible_sets(instance))
        assert selection.verify()
        dug += len(selection.leaves) > 1
    assert dug > 30


def test_what_the_bound_decides_holds_in_every_better_set() -> None:
    rng = np.random.default_rng(4)
    decided = 0
    for _ in range(150):
        instance = knapsack(rng)
        reduced, _ = Knapsack().apply(instance)
        assert reduced is not None
        search = PriceSearch(reduced, Limits(gap=0.0, nodes=0))
        root = search.root()
        bound = search.bound(root, (Fraction(1),), (), -(10**9))
        assert bound.value is not None
        value = reduced.amounts.value  # in its own unit
        best = max(int(value[members].sum()) for _, members in feasible_sets(instance))
        for enough in (best - 5, best - 1):
            inside, outside = losing(search, root, bound, enough).decided()
            decided += int(inside.sum()) + int(outside.sum())
            for _, members in feasible_sets(instance):
                within = members & search.unbounded  # the rest adds nothing
                if int(value[within].sum()) > enough:
                    assert not (inside & ~within).any()
                    assert not (outside & within).any()
    assert decided > 100


@pytest.fixture(scope="module")
def many() -> tuple[SelectionInstance, tuple[leaves.Leaf, ...]]:
    drawn = generate("prov-1e2")
    value = np.rint(drawn.value * 1000).astype(np.int64)
    cost = np.maximum(1, np.rint(drawn.cost * 1000).astype(np.int64))
    selection = select(value=value, cost=cost, requires=drawn.requires, budget=int(0.3 * cost.sum()), gap=0)
    assert len(selection.leaves) > leaves.MANY
    return selection.instance, selection.leaves


def both(
    instance: SelectionInstance, given: tuple[leaves.Leaf, ...], monkeypatch: pytest.MonkeyPatch
) -> tuple[object, object]:
    """The bound, or that there is none, by the compiled check and by the plain one."""
    from memorepair.problems import budgeted_amounts

    amounts, forced, barred = budgeted_amounts(instance)
    told: list[object] = []
    for limit in (1, 10**9):
        monkeypatch.setattr(leaves, "MANY", limit)
        try:
            told.append(leaves.upper_bound(instance.requires, amounts, forced, barred, given))
        except ProofFailed:
            told.append(ProofFailed)
    return told[0], told[1]


def test_the_compiled_check_of_leaves_is_the_plain_one(
    many: tuple[SelectionInstance, tuple[leaves.Leaf, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    instance, tree = many
    compiled, plain = both(instance, tree, monkeypatch)
    assert compiled == plain
    assert both(instance, tree[::-1], monkeypatch) == (plain, plain)
    node, side = tree[0].decisions[-1]
    forged = [
        tree[1:],
        (*tree, tree[0]),
        (),
        *(
            (replace(tree[0], decisions=(*tree[0].decisions[:-1], other)), *tree[1:])
            for other in ((node, not side), (10**6, side), (-1, side), ((node + 1) % 100, side))
        ),
    ]
    for attempt in forged:
        assert both(instance, attempt, monkeypatch) == (ProofFailed, ProofFailed) or attempt == ()
    weaker = tuple(replace(leaf, price=(leaf.price[0] / 2,)) for leaf in tree)
    compiled, plain = both(instance, weaker, monkeypatch)
    assert compiled == plain != both(instance, tree, monkeypatch)[1]


def test_the_compiled_check_of_random_trees(draw: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    for _ in range(80):
        instance = draw(rng)
        if instance.k == 0:
            continue
        instance = replace(instance, budget=int(instance.cost.sum()) // 2)
        selection = select(instance, gap=0, ilp=None, node_limit=int(rng.integers(0, 6)))
        if selection.leaves:
            compiled, plain = both(instance, selection.leaves, monkeypatch)
            assert compiled == plain


def test_a_tree_is_searched_the_same_way_whatever_was_loaded_before() -> None:
    drawn = generate("provD-1e2")
    cost = np.maximum(1, np.rint(drawn.cost * 1000).astype(np.int64))
    value = np.rint(drawn.value * 1000).astype(np.int64)
    found = [
        select(value=value, cost=cost, requires=drawn.requires, budget=int(cost.sum()) // 3, gap=0)
        for _ in range(2)
    ]
    assert np.array_equal(found[0].mask, found[1].mask)
    assert [leaf.decisions for leaf in found[0].leaves] == [leaf.decisions for leaf in found[1].leaves]
    assert math.isclose(found[0].gap, 0)
