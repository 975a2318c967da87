"""Every exact solver equals exhaustive search: same status, same set, both tie rules."""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
import pytest

from memorepair import SelectionInstance, Status, select
from memorepair.problems.proof import Ties
from memorepair.solvers import get_solver, pseudoflow, solvers

EXACT = ["pseudoflow", "ortools"]  # the slower ones are compared in test_vendors.py
SEEDS = 50 if os.environ.get("MEMOREPAIR_NIGHTLY") else 10
"""200 instances each."""

HEURISTIC = [name for name in solvers() if not get_solver(name).exact]

Draw = Callable[[np.random.Generator], SelectionInstance]


def brute_force(instance: SelectionInstance, ties: Ties) -> set[int] | None:
    """The definition, in Python: no array, no reduction, no integer profit."""
    k, best, answer = instance.k, None, None
    executable, required = instance.executable.tolist(), instance.required.tolist()
    needs = [set(instance.requires.successors(i).tolist()) for i in range(k)]
    worth = [
        10 * w - round(10 * float(instance.tradeoff)) * c
        for w, c in zip(instance.value.tolist(), instance.cost.tolist(), strict=True)
    ]
    for code in range(1 << k):
        members = {i for i in range(k) if code >> i & 1}
        if any(not executable[i] or not needs[i] <= members for i in members):
            continue
        if any(required[i] and i not in members for i in range(k)):
            continue
        key = (sum(worth[i] for i in members), -len(members) if ties == "fewest" else len(members))
        if best is None or key > best:
            best, answer = key, members
    return answer


@pytest.mark.parametrize("ties", ["fewest", "most"])
def test_exhaustive_follows_the_definition(draw: Draw, ties: Ties) -> None:
    rng = np.random.default_rng(20)
    for _ in range(60):
        instance = draw(rng)
        if instance.k > 8:
            continue
        selection = select(instance, ties=ties, solver="exhaustive")
        expected = brute_force(instance, ties)
        found = set(selection.chosen) if selection.status is Status.OPTIMAL else None
        assert found == expected


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("ties", ["fewest", "most"])
def test_exact_solvers_equal_exhaustive_search(draw: Draw, ties: Ties, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(200):
        instance = draw(rng)
        oracle = select(instance, ties=ties, solver="exhaustive")
        for solver in EXACT:
            selection = select(instance, ties=ties, solver=solver)
            assert selection.status is oracle.status
            assert selection.verify()
            if oracle.status is Status.OPTIMAL:
                assert np.array_equal(selection.mask, oracle.mask)
                assert selection.objective == oracle.objective == selection.bound
                assert selection.gap == 0


@pytest.mark.parametrize("ties", ["fewest", "most"])
def test_compiled_kernel_equals_exhaustive_search(
    draw: Draw, ties: Ties, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pseudoflow, "COMPILED_FROM", 0)
    monkeypatch.setattr(pseudoflow, "LOADED_FROM", 0)
    rng = np.random.default_rng(99)
    for _ in range(300):
        instance = draw(rng)
        selection, oracle = (
            select(instance, ties=ties, solver=name) for name in ("pseudoflow", "exhaustive")
        )
        assert selection.status is oracle.status
        assert selection.status is Status.INFEASIBLE or np.array_equal(selection.mask, oracle.mask)


@pytest.mark.parametrize("solver", HEURISTIC)
def test_heuristics_are_feasible_and_say_how_far_they_are(draw: Draw, solver: str) -> None:
    rng = np.random.default_rng(7)
    for _ in range(200):
        instance = draw(rng)
        oracle, selection = select(instance, solver="exhaustive"), select(instance, solver=solver)
        assert selection.verify()
        assert selection.ties is None
        if oracle.status is Status.INFEASIBLE:
            assert selection.status is Status.INFEASIBLE
            continue
        assert selection.objective <= oracle.objective <= selection.bound
        if solver not in ("repair-all", "repair-none"):
            assert selection.objective >= select(instance, solver="repair-none").objective
        assert (
            (selection.status is Status.OPTIMAL)
            == (selection.objective == selection.bound)
            == (selection.gap == 0)
        )


def test_baselines_are_the_extremes(draw: Draw) -> None:
    rng = np.random.default_rng(8)
    for _ in range(100):
        instance = draw(rng)
        best = select(instance)
        if best.status is Status.INFEASIBLE:
            continue
        everything, nothing = select(instance, solver="repair-all"), select(instance, solver="repair-none")
        assert np.array_equal(everything.mask, everything.report.barred_by < 0)
        assert nothing.mask.sum() == nothing.report.forced
        assert not (nothing.mask & ~best.mask).any()
        assert not (best.mask & ~everything.mask).any()


def test_greedy_takes_a_profitable_cone_and_misses_a_shared_cost() -> None:
    assert select(value=[3, -1], requires=[(0, 1)], solver="greedy").chosen == (0, 1)
    shared = select(value=[3, 3, -5], requires=[(0, 2), (1, 2)], solver="greedy")
    assert (shared.chosen, shared.status, shared.bound) == ((), Status.FEASIBLE, 6)
    assert select(value=[3, 3, -5], requires=[(0, 2), (1, 2)]).chosen == (0, 1, 2)
