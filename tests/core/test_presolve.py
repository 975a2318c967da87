"""Presolve: the same extreme optimum, proved on the instance as it was asked."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from memorepair import Selection, SelectionInstance, Status, select
from memorepair.graphs import Digraph, generate
from memorepair.problems import Closure, ClosureInstance
from memorepair.problems.proof import Question, Ties, dual_bound, reduced_profits
from memorepair.reductions import presolve
from memorepair.reductions.presolve import Presolve
from memorepair.solvers.exhaustive import Exhaustive
from memorepair.solvers.pseudoflow import Pseudoflow

Draw = Callable[[np.random.Generator], SelectionInstance]


@pytest.fixture(params=["compiled", "as Python"])
def always(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Presolve whatever the share of nodes that can go, at every size compiled or not."""
    size = 0 if request.param == "compiled" else 2**31
    monkeypatch.setattr(presolve, "COMPILED_FROM", size)
    monkeypatch.setattr(presolve, "LOADED_FROM", size)
    monkeypatch.setattr(presolve, "WORTH_FROM", 0)
    monkeypatch.setattr(presolve, "ALWAYS_SHARE", 0.0)
    monkeypatch.setattr(presolve, "WORTH_SHARE", 0.0)


def drawn(rng: np.random.Generator, ties: Ties) -> ClosureInstance:
    """Up to 12 nodes with few arcs a node, so that most of them can go: forests, paths, cycles, loops."""
    k = int(rng.integers(0, 13))
    m = int(rng.integers(0, max(1, round(k * rng.choice([0.5, 1.0, 1.3]))) + 1)) if k else 0
    tails, heads = rng.integers(0, max(k, 1), (2, m))
    if rng.random() < 0.5:
        tails, heads = np.maximum(tails, heads), np.minimum(tails, heads)
    if rng.random() < 0.3:  # paths
        tails, heads = np.arange(1, k), np.arange(k - 1)
        turned = rng.random(len(tails)) < rng.choice([0.0, 0.5])
        tails, heads = np.where(turned, heads, tails), np.where(turned, tails, heads)
    spread = int(rng.choice([1, 3, 1000]))
    return ClosureInstance(
        profit=rng.integers(-spread, spread + 1, k),
        requires=Digraph.from_arcs(k, tails, heads),
        ties=ties,
    )


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("ties", ["fewest", "most"])
def test_presolve_keeps_the_extreme_optimum_and_its_proof(ties: Ties) -> None:
    rng = np.random.default_rng(5)
    gone = 0
    for _ in range(1500):
        instance = drawn(rng, ties)
        reduced, steps = Presolve().apply(instance)
        assert steps is not None
        gone += instance.requires.n - reduced.requires.n
        dual = Pseudoflow().solve(reduced).certificate  # an optimal pi proves every optimum
        closure = Presolve().invert(Closure(mask=Exhaustive().solve(reduced).mask, certificate=dual), steps)
        best = Exhaustive().solve(instance)
        assert np.array_equal(closure.mask, best.mask)
        none = np.zeros(instance.requires.n, np.bool_)
        question = Question(requires=instance.requires, profit=instance.profit, forced=none, barred=none)
        assert closure.certificate is not None
        r = reduced_profits(question, closure.certificate.arcs, closure.certificate.amounts)
        assert dual_bound(question, r) == instance.profit[best.mask].sum()
    assert gone > 5000


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("ties", ["fewest", "most"])
def test_selections_are_proved_through_presolve(draw: Draw, ties: Ties) -> None:
    rng = np.random.default_rng(6)
    for _ in range(300):
        instance = draw(rng)
        selection, oracle = (
            select(instance, ties=ties, solver=name) for name in ("pseudoflow", "exhaustive")
        )
        assert selection.status is oracle.status
        if selection.status is Status.OPTIMAL:
            assert selection.verify()
            assert np.array_equal(selection.mask, oracle.mask)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize(
    "name", ["chain-1e3", "chainw-1e3", "star-1e3", "tree-1e3", "greedy-1e3", "diamond-1e3"]
)
def test_forests_and_diamonds_go_altogether(name: str) -> None:
    instance = ClosureInstance(profit=generate(name).profits(), requires=generate(name).requires)
    reduced, steps = Presolve().apply(instance)
    assert reduced.requires.n == 0
    closure = Presolve().invert(Pseudoflow().solve(reduced), steps)
    assert np.array_equal(closure.mask, Pseudoflow().solve(instance).mask)


@pytest.mark.usefixtures("always")
def test_a_cycle_of_two_and_a_loop_are_one_node() -> None:
    instance = ClosureInstance(
        profit=np.array([3, -2, -4, 2]), requires=Digraph.from_arcs(4, [0, 1, 1, 2, 3], [1, 0, 1, 3, 2])
    )
    reduced, steps = Presolve().apply(instance)
    assert reduced.requires.n == 0
    closure = Presolve().invert(Pseudoflow().solve(reduced), steps)
    assert closure.mask.tolist() == [True, True, False, False]


def test_presolve_stays_out_of_the_way_where_it_does_not_pay() -> None:
    for name in ("mine5-1e5", "bip-1e5", "mine9-1e4", "provR-1e5", "chain-1e2"):
        instance = ClosureInstance(profit=generate(name).profits(), requires=generate(name).requires)
        reduced, steps = Presolve().apply(instance)
        assert reduced is instance
        assert steps is None


@pytest.mark.parametrize("name", ["prov-1e5", "provD-1e5", "diamond-1e5", "chain-1e6"])
@pytest.mark.parametrize("ties", ["fewest", "most"])
def test_large_selections_are_proved_through_presolve(name: str, ties: Ties) -> None:
    instance = generate(name)
    assert Presolve().apply(ClosureInstance(profit=instance.profits(), requires=instance.requires))[1]
    selection: Selection = select(value=instance.profits(), requires=instance.requires, ties=ties)
    assert selection.status is Status.OPTIMAL
    assert selection.verify()
