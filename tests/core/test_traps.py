"""Where solvers of other libraries fail without a word."""

from __future__ import annotations

import numpy as np
import pytest

from memorepair import select
from memorepair.errors import InvalidInput
from memorepair.graphs import Digraph, MinCutNetwork
from memorepair.problems import ClosureInstance
from memorepair.problems.proof import Ties
from memorepair.reductions import MinCut
from memorepair.solvers import get_solver, solvers
from memorepair.solvers.ortools_flow import OrtoolsFlow

LIMITS = {"scipy": 2**30, "cbc": 10**8, "highs": 2**50, "cp-sat": 2**59}
"""Profits of this size are refused, with an error: never narrowed, never rounded."""

EXACT = [name for name in solvers() if get_solver(name).exact]


@pytest.mark.parametrize("solver", EXACT)
@pytest.mark.parametrize("base", [2**31, 2**32 + 5, 2**40, 2**58])
def test_capacities_beyond_int32(solver: str, base: int) -> None:
    value, requires = [base + 5, -base, 1, -1], [(0, 1), (2, 3)]
    if base >= LIMITS.get(solver, 2**62):
        with pytest.raises(InvalidInput):
            select(value=value, requires=requires, solver=solver)
        return
    selection = select(value=value, requires=requires, solver=solver)
    assert (selection.chosen, selection.objective, selection.gap) == ((0, 1), 5, 0)


@pytest.mark.parametrize("solver", EXACT)
@pytest.mark.parametrize("ties", ["fewest", "most"])
@pytest.mark.parametrize(
    ("value", "requires", "fewest"),
    [
        pytest.param([1, 2], [(0, 1)], 2, id="no arc touches the sink"),
        pytest.param([-1, -2], [(0, 1)], 0, id="no arc touches the source"),
        pytest.param([0, 0], [(0, 1)], 0, id="neither"),
        pytest.param([5], [], 1, id="one node"),
        pytest.param([], [], 0, id="no node"),
    ],
)
def test_no_source_or_sink_to_see(
    solver: str, ties: Ties, value: list[int], requires: list[tuple[int, int]], fewest: int
) -> None:
    selection = select(value=value, requires=requires, ties=ties, solver=solver)
    assert len(selection.chosen) == (2 if ties == "most" and value == [0, 0] else fewest)


@pytest.mark.parametrize("solver", EXACT)
def test_floats_are_not_truncated(solver: str) -> None:
    halves = select(value=[3.5, -3.25, 0.75, -1], requires=[(0, 1), (2, 3)], solver=solver)
    assert (halves.chosen, halves.objective) == ((0, 1), 0.25)
    assert select(value=[0.3, -0.3], requires=[(0, 1)], solver=solver, ties="most").chosen == (0, 1)
    value, requires = [0.9, -0.8, 0.3, -0.1 - 0.2], [(0, 1), (2, 3)]
    if LIMITS.get(solver, 2**62) <= 10**17:
        with pytest.raises(InvalidInput):  # 17 digits are 17 digits
            select(value=value, requires=requires, solver=solver)
        return
    selection = select(value=value, requires=requires, solver=solver)
    assert selection.chosen == (0, 1)
    assert selection.objective == pytest.approx(0.1)


def test_uncuttable_is_finite_and_never_cut() -> None:
    profit = np.array([2**60, -(2**61), 2**60 - 1])
    instance = ClosureInstance(profit=profit, requires=Digraph.from_arcs(3, [0, 2], [1, 1]))
    network, record = MinCut().apply(instance)
    assert network.capacities.max() == 2**61
    cut = OrtoolsFlow().cut(network)
    cut.verify()
    assert not MinCut().invert(cut, record).mask.any()


def test_supply_that_could_overflow_is_refused() -> None:
    network = MinCutNetwork(
        n=2,
        tails=np.array([0], np.int32),
        heads=np.array([1], np.int32),
        capacities=np.array([2**62], np.int64),
        source=0,
        sink=1,
    )
    with pytest.raises(InvalidInput):
        OrtoolsFlow().cut(network)


def test_a_long_path_needs_no_deep_stack() -> None:
    k = 20_000
    chain = np.stack((np.arange(1, k), np.arange(k - 1)), axis=1)
    value = np.full(k, -1)
    value[-1] = k
    assert len(select(value=value, requires=chain).chosen) == k
    value[-1] = k - 1
    assert select(value=value, requires=chain).chosen == ()
    assert len(select(value=value, requires=chain, ties="most").chosen) == k
