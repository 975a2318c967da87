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

PRIOR = 4
"""Runs as foreseen that an operator's record counts as having had: one dear step says little of the next."""

MOST = 64
"""Re-selections of one repair at most: each one takes a plan's time."""

Replan: TypeAlias = Callable[[Candidates, float | None], RepairPlan]
"""Chooses among candidates within what is left of a budget."""


class Reselection:
    """Watches the steps of one execution, and chooses the rest anew where they give reason.

    What was spent is sunk: it counts neither for nor against what is left. What stands costs nothing more and
    satisfies who requires it; what failed bars its dependents; what is left is expected to cost as much more,
    or less, as the steps of its operator have so far, shrunk to what was foreseen.

    Expected costs keep money back for surprises. What is still there when the choice is carried out was not
    needed, so that last choice is made at the costs as foreseen, by which steps are begun (`remainder`).
    """

    def __init__(self, candidates: Candidates, replan: Replan) -> None:
        self._candidates = candidates
        self._replan = replan
        self._sums: dict[str | None, tuple[int, float, float]] = {}
        self._due = False
        self._spare = False
        self.times = 0

    @property
    def due(self) -> bool:
        """Whether something has happened since the last choice."""
        return self._due and self.times < MOST

    def saw(self, place: int, cost: float, *, failed: bool) -> None:
        """What became of a step that was begun."""
        foreseen = float(self._candidates.cost[place])
        operator = self._candidates.operators[place]
        runs, before, spent = self._sums.get(operator, (0, 0.0, 0.0))
        self._sums[operator] = (runs + 1, before + foreseen, spent + cost)
        self._due |= failed or cost > foreseen * SURPRISE
        self._spare |= failed or cost != foreseen

    def remainder(self, lost_or_standing: Collection[int], left: float | None) -> bool:
        """Whether money is left, by steps that went another way, for a step that was not begun."""
        given = self._candidates
        if not self._spare or left is None or self.times >= MOST:
            return False
        open_ = given.executable.copy()
        open_[list(lost_or_standing)] = False
        return bool((given.cost[open_] <= left).any())

    def chosen(
        self,
        standing: Collection[int],
        lost: Collection[int],
        left: float | None,
        *,
        expected: bool = True,
    ) -> set[int]:
        """Positions to carry out of what is neither standing nor lost; O(k + arcs) besides the selection.

        `expected`: at expected costs, else as foreseen.
        """
        given = self._candidates
        k = len(given.keys)
        done, gone = np.zeros(k, np.bool_), np.zeros(k, np.bool_)
        done[list(standing)] = True
        gone[list(lost)] = True
        cost = given.cost
        if expected:
            cost = cost * [self._ratio(operator) for operator in given.operators]
        tails, heads = given.prerequisites.tails(), given.prerequisites.heads
        open_arcs = ~done[tails] & ~done[heads]
        rest = replace(
            given,
            executable=given.executable & ~gone & ~done,
            value=np.where(done, 0.0, given.value),
            cost=np.where(done, 0.0, np.minimum(cost, np.finfo(np.float64).max)),
            prerequisites=Digraph.from_arcs(k, tails[open_arcs], heads[open_arcs]),
        )
        self._due, self._spare = False, expected
        self.times += 1
        return {place for wave in self._replan(rest, left).waves for place in wave}

    def _ratio(self, operator: str | None) -> float:
        runs, foreseen, spent = self._sums.get(operator, (0, 0.0, 0.0))
        return (runs * spent / foreseen + PRIOR) / (runs + PRIOR) if foreseen > 0 else 1.0
