"""Compiling is no part of the time that a search may take."""

from __future__ import annotations

import numpy as np
import pytest
from numba.core import event

from memorepair import Status, compiling, select
from memorepair.graphs import Digraph, generate
from memorepair.graphs.digraph import Index, Int64
from memorepair.solvers import budgeted
from memorepair.solvers.parametric import Close, Groups, price_groups

HOUR = 3600.0


class Hands:
    """A clock that stands still unless it is put on."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def hands(monkeypatch: pytest.MonkeyPatch) -> Hands:
    hands = Hands()
    monkeypatch.setattr(compiling, "monotonic", hands)
    return hands


def kernel(x: int) -> int:
    return x + 1


def test_the_clock_stands_still_while_numba_compiles(hands: Hands) -> None:
    compiling.compiled(kernel)  # from now on numba is listened to
    before = compiling.clock()
    with event.trigger_event("numba:compiler_lock"):
        hands.now += HOUR
        with event.trigger_event("numba:compiler_lock"):
            hands.now += HOUR
        assert compiling.clock() == before
    assert compiling.clock() == before
    hands.now += 1.0
    assert compiling.clock() == before + 1.0


@pytest.mark.parametrize("compiles", [True, False])
def test_a_time_limit_counts_the_search_alone(
    hands: Hands, monkeypatch: pytest.MonkeyPatch, compiles: bool
) -> None:
    compiling.compiled(kernel)

    def slow(
        requires: Digraph, value: Int64, cost: Int64, close: Close, *, stop: Index, budget: int
    ) -> Groups:
        if compiles:
            with event.trigger_event("numba:compiler_lock"):
                hands.now += HOUR
        else:
            hands.now += HOUR
        return price_groups(requires, value, cost, close, stop=stop, budget=budget)

    monkeypatch.setattr(budgeted, "price_groups", slow)
    drawn = generate("prov-1e2")
    cost = np.rint(drawn.cost * 1000).astype(np.int64)
    selection = select(
        value=np.rint(drawn.value * 1000).astype(np.int64),
        cost=cost,
        requires=drawn.requires,
        budget=int(0.3 * cost.sum()),
        gap=0,
        time_limit=60,
        ilp=None,
    )
    assert (selection.status is Status.OPTIMAL) is compiles
