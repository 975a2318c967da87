"""Whenever a search is stopped, what it has by then is a closure, and what it says of the rest holds."""

from __future__ import annotations

import threading
from fractions import Fraction
from itertools import pairwise
from typing import cast

import numpy as np
import pytest

from memorepair import Selection, compiling, select
from memorepair.graphs import Digraph, generate
from memorepair.graphs.closure import is_closed
from memorepair.graphs.digraph import Index, Int64
from memorepair.problems import ClosureInstance, KnapsackInstance
from memorepair.problems.proof import Certificate, Question, dual_bound, reduced_profits
from memorepair.reductions.knapsack import Freed, Knapsack
from memorepair.selection.closing import close
from memorepair.solvers import parametric
from memorepair.solvers.budgeted import solve_budgeted
from memorepair.solvers.limits import WATCH, Limits
from memorepair.solvers.parametric import price_groups
from memorepair.solvers.pseudoflow import Pseudoflow

LOOKS = (0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144)


class Countdown:
    """A flag that is up after so many looks at it."""

    def __init__(self, looks: int) -> None:
        self.looks = looks

    def __getitem__(self, place: int) -> int:
        self.looks -= 1
        return int(self.looks < 0)


def flag(looks: int) -> Index:
    return cast(Index, Countdown(looks))


def drawn(rng: np.random.Generator) -> tuple[Digraph, Int64, Int64]:
    k = 30
    requires = Digraph.from_arcs(k, *rng.integers(0, k, (2, 45)))
    return requires, rng.integers(-9, 10, k), rng.integers(0, 9, k)


@pytest.mark.parametrize("looks", LOOKS)
def test_a_cut_that_is_stopped_bounds_every_closure(looks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memorepair.solvers.pseudoflow.LOADED_FROM", 10**9)
    rng = np.random.default_rng(looks)
    for _ in range(20):
        requires, profit, _ = drawn(rng)
        instance = ClosureInstance(profit=profit, requires=requires)
        stop = flag(looks)
        found = Pseudoflow().solve(instance, stop=stop)
        pi = found.certificate or Certificate.zero()
        best = int(profit[Pseudoflow().solve(instance).mask].sum())
        nothing = np.zeros(requires.n, np.bool_)
        question = Question(requires=requires, profit=profit, forced=nothing, barred=nothing)
        bound = dual_bound(question, reduced_profits(question, pi.arcs, pi.amounts))
        assert is_closed(requires, found.mask)
        assert bound >= best
        if found.mask.any():  # it came to its end
            assert bound == best == int(profit[found.mask].sum())


@pytest.mark.parametrize("looks", LOOKS)
def test_a_path_that_is_stopped_is_a_coarser_one(looks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(looks)
    monkeypatch.setattr(parametric, "LOADED_FROM", 10**9)
    coarse = 0
    for _ in range(20):
        requires, value, cost = drawn(rng)
        budget = int(cost.sum()) // 3
        whole = price_groups(requires, value, cost)
        with monkeypatch.context() as patch:
            patch.setattr(parametric, "never", lambda: flag(looks))
            groups = price_groups(requires, value, cost, budget=budget)
        prices = [Fraction(int(w), int(c)) for w, c in zip(groups.value, groups.cost, strict=True) if c]
        assert all(dearer > cheaper for dearer, cheaper in pairwise(prices))
        ends = set(np.cumsum(whole.cost).tolist())
        assert set(np.cumsum(groups.cost).tolist()) <= ends
        for entered in range(len(groups.value)):
            assert is_closed(requires, (groups.of >= 0) & (groups.of <= entered))
        assert np.array_equal(groups.of < 0, whole.of < 0)
        coarse += len(prices) < len(whole.value)
    assert coarse or looks > 100


def test_the_groups_around_a_budget_are_split_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parametric, "LOADED_FROM", 10**9)
    rng = np.random.default_rng(1)
    nearer = []
    for _ in range(40):
        requires, value, cost = drawn(rng)
        budget = int(cost.sum()) // 2
        widths = []
        for first in (-1, budget):
            with monkeypatch.context() as patch:
                patch.setattr(parametric, "never", lambda: flag(60))
                ends = np.cumsum(price_groups(requires, value, cost, budget=first).cost)
            at = int(np.searchsorted(ends, budget, side="right"))
            widths.append(int(ends[at]) - (int(ends[at - 1]) if at else 0))
        nearer.append(widths[0] - widths[1])
    assert sum(nearer) > 0


def knapsack(rng: np.random.Generator) -> tuple[Selection, KnapsackInstance, Freed]:
    requires, value, cost = drawn(rng)
    best = select(
        value=value, cost=cost, requires=requires, budget=int(cost.sum()) // 3, gap=0, time_limit=None
    )
    reduced, freed = Knapsack().apply(best.instance)
    assert reduced is not None
    return best, reduced, freed


@pytest.mark.parametrize("looks", LOOKS)
def test_a_search_that_is_stopped_answers_with_a_proof(looks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memorepair.solvers.pseudoflow.LOADED_FROM", 10**9)
    monkeypatch.setattr("memorepair.solvers.cones.COMPILED_FROM", 10**9)
    rng = np.random.default_rng(looks)
    for _ in range(8):
        best, reduced, freed = knapsack(rng)
        # So few decisions need no compiled kernel, which would want an array.
        stopped = solve_budgeted(reduced, Limits(gap=0.0, nodes=8, stop=flag(looks)), None, close)
        mask, leaves = Knapsack().invert(stopped.mask, stopped.leaves, freed)
        selection = Selection.bounded(
            best.instance, mask, leaves, barred_by=best.report.barred_by, solver=best.solver
        )
        assert selection.objective <= best.objective <= selection.bound
        assert selection.verify()


def test_a_kernel_hears_that_time_is_up() -> None:
    bounds = Limits(gap=0.0, nodes=1, until=compiling.clock() + 0.01)
    with bounds.watched():
        while not bounds.stop[0]:
            pass
    assert bounds.late
    assert not Limits(gap=0.0, nodes=1).late


def test_who_watches_leaves_with_the_search() -> None:
    bounds = Limits(gap=0.0, nodes=1, until=compiling.clock() + 3600.0)
    with bounds.watched():
        assert [one.name for one in threading.enumerate()].count(WATCH) == 1
    assert WATCH not in [one.name for one in threading.enumerate()]
    assert not bounds.stop[0]


@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.2])
def test_a_pit_that_is_hard_to_dig_is_left_in_time_with_a_proof(seconds: float) -> None:
    pit = generate("mine5-1e4")
    value = np.rint(pit.value * 3_000).astype(np.int64) - np.rint(pit.cost * 1_000).astype(np.int64)
    selection = select(
        value=value,
        cost=np.full(len(value), 1_000),
        requires=pit.requires,
        budget=1_000_000,
        gap=0,
        time_limit=seconds,
        ilp=None,
    )
    assert selection.verify()
    assert 0 <= selection.objective <= selection.bound


def test_a_limit_holds_where_no_thread_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    for time_limit in (0, 60):
        selection = select(value=[3, 1, 2], cost=[2, 1, 2], budget=3, time_limit=time_limit)
        assert selection.verify()
