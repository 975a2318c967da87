"""Re-selection: what is left of a plan, chosen anew after a failure or a cost that nobody foresaw."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from memorepair.graphs.digraph import Digraph
from memorepair.repair.candidates import Candidates
from memorepair.repair.plan import RepairPlan

SURPRISE = 1.1
"""A step that costs more than so many times what was foreseen is a reason to choose anew."""

MOST = 64
"""Re-selections of one repair at most: each one takes a plan's time."""

Replan: TypeAlias = Callable[[Candidates, float | None], RepairPlan]
"""Chooses among candidates within what is left of a budget."""


class Reselection:
    """Watches the steps of one execution, and chooses the rest anew where they give reason.

    What was spent is sunk: it counts neither for nor against what is left. What stands costs nothing more and
    satisfies who requires it; what failed bars its dependents; what is left costs as much more, or less, as
    the steps of its operator have so far.
    """

    def __init__(self, candidates: Candidates, replan: Replan) -> None:
        self._candidates = candidates
        self._replan = replan
        self._sums: dict[str | None, tuple[float, float]] = {}
        self._due = False
        self.times = 0

    @property
    def due(self) -> bool:
        """Whether something has happened since the last choice."""
        return self._due and self.times < MOST

    def saw(self, place: int, cost: float, *, failed: bool) -> None:
        """What became of a step that was begun."""
        foreseen = float(self._candidates.cost[place])
        operator = self._candidates.operators[place]
        before, spent = self._sums.get(operator, (0.0, 0.0))
        self._sums[operator] = (before + foreseen, spent + cost)
        self._due |= failed or cost > foreseen * SURPRISE

    def chosen(self, standing: Collection[int], lost: Collection[int], left: float | None) -> set[int]:
        """Positions to carry out of what is neither standing nor lost; O(k + arcs) besides the selection."""
        given = self._candidates
        k = len(given.keys)
        done, gone = np.zeros(k, np.bool_), np.zeros(k, np.bool_)
        done[list(standing)] = True
        gone[list(lost)] = True
        cost = given.cost * [self._ratio(operator) for operator in given.operators]
        tails, heads = given.prerequisites.tails(), given.prerequisites.heads
        open_arcs = ~done[tails] & ~done[heads]
        rest = replace(
            given,
            executable=given.executable & ~gone & ~done,
            value=np.where(done, 0.0, given.value),
            cost=np.where(done, 0.0, np.minimum(cost, np.finfo(np.float64).max)),
            prerequisites=Digraph.from_arcs(k, tails[open_arcs], heads[open_arcs]),
        )
        self._due = False
        self.times += 1
        return {place for wave in self._replan(rest, left).waves for place in wave}

    def _ratio(self, operator: str | None) -> float:
        foreseen, spent = self._sums.get(operator, (0.0, 0.0))
        return spent / foreseen if foreseen > 0 else 1.0
