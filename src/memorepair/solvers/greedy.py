"""Greedy baselines: each takes cones that pay, in its own order, without guarantee."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from memorepair.problems import Certificate, Closure, ClosureInstance
from memorepair.solvers.solver import Baseline

WORK_PER_ITEM = 100
"""A search ends when it has walked this many nodes and arcs for each node and arc of the instance."""


class _Taking:
    """A closure that grows by cones: a node with all its prerequisites that are not yet taken."""

    def __init__(self, instance: ClosureInstance) -> None:
        requires = instance.requires
        self.taken = [False] * requires.n
        self.work = WORK_PER_ITEM * (requires.n + requires.m)
        self._offsets, self._heads = requires.offsets.tolist(), requires.heads.tolist()
        self._worth: list[int] = instance.profit.tolist()

    def cone(self, first: int) -> list[int]:
        """What taking `first` takes."""
        missing, seen = [first], {first}
        for node in missing:  # grows while it is walked
            for head in self._heads[self._offsets[node] : self._offsets[node + 1]]:
                if head not in seen and not self.taken[head]:
                    seen.add(head)
                    missing.append(head)
            self.work -= 1 + self._offsets[node + 1] - self._offsets[node]
        return missing

    def gain(self, cone: list[int]) -> int:
        """Total profit of `cone`."""
        return sum(self._worth[node] for node in cone)

    def expense(self, cone: list[int]) -> int:
        """Total loss of those that lose."""
        return -sum(min(0, self._worth[node]) for node in cone)

    def take(self, cone: list[int]) -> None:
        """All of `cone` is in."""
        for node in cone:
            self.taken[node] = True

    def take_what_pays(self, order: list[int]) -> Closure:
        """Once through `order`: each cone worth more than 0 is taken."""
        for first in order:
            if not self.taken[first]:
                cone = self.cone(first)
                if self.gain(cone) > 0:
                    self.take(cone)
                if self.work < 0:
                    break
        return self.closure()

    def closure(self) -> Closure:
        """What is taken; no bound but the sum of all gains."""
        return Closure(mask=np.array(self.taken, np.bool_), certificate=Certificate.zero())


def _direct_expense(instance: ClosureInstance) -> npt.NDArray[np.float64]:
    """Losses among each node's direct prerequisites, (k,); floats, as parallel arcs count each."""
    requires = instance.requires
    losses = np.maximum(-instance.profit, 0)[requires.heads]
    return np.bincount(requires.tails(), losses, requires.n).astype(np.float64)


class Greedy(Baseline):
    """Best ratio first: p_i / (1 + losses among its direct prerequisites), lower number among equals."""

    name: ClassVar[str] = "greedy"

    def solve(self, instance: ClosureInstance, /) -> Closure:
        """A closure worth at least 0."""
        gains = np.flatnonzero(instance.profit > 0)
        ratio = instance.profit[gains] / (1.0 + _direct_expense(instance)[gains])
        return _Taking(instance).take_what_pays(gains[np.argsort(-ratio, kind="stable")].tolist())


class CheapestFirst(Baseline):
    """Least losses among direct prerequisites first, larger profit among equals."""

    name: ClassVar[str] = "cheapest-first"

    def solve(self, instance: ClosureInstance, /) -> Closure:
        """A closure worth at least 0."""
        gains = np.flatnonzero(instance.profit > 0)
        order = np.lexsort((-instance.profit[gains], _direct_expense(instance)[gains]))
        return _Taking(instance).take_what_pays(gains[order].tolist())


class ConeRatio(Baseline):
    """Best ratio first: p_i / (1 + losses among all its prerequisites, direct or not)."""

    name: ClassVar[str] = "cone-ratio"

    def solve(self, instance: ClosureInstance, /) -> Closure:
        """A closure worth at least 0; cones not walked when half the work is done come last."""
        taking = _Taking(instance)
        ranked, half = [], taking.work // 2
        for node in np.flatnonzero(instance.profit > 0).tolist():
            if taking.work < half:
                ranked.append((0.0, node))
            else:
                ranked.append((-int(instance.profit[node]) / (1 + taking.expense(taking.cone(node))), node))
        return taking.take_what_pays([node for _, node in sorted(ranked)])


class MarginalGain(Baseline):
    """Again and again the cone that adds most to what is taken, lower number among equals."""

    name: ClassVar[str] = "marginal-gain"

    def solve(self, instance: ClosureInstance, /) -> Closure:
        """A closure worth at least 0; no cone pays any more, unless the work ran out."""
        taking, progress = _Taking(instance), True
        gains = np.flatnonzero(instance.profit > 0).tolist()
        while progress and taking.work > 0:
            # A gain only changes when something is taken, and then for the better too, where cones share
            # losses. So the heap's gains are looked at again when they come up, and all of them, in another
            # round, until a round takes nothing.
            progress = False
            heap: list[tuple[int, int]] = []
            for node in gains:
                if not taking.taken[node] and taking.work > 0:
                    heappush(heap, (-taking.gain(taking.cone(node)), node))
            while heap and taking.work > 0:
                before, node = heappop(heap)
                if taking.taken[node]:
                    continue
                cone = taking.cone(node)
                now = -taking.gain(cone)
                if now > before:
                    heappush(heap, (now, node))
                elif now < 0:
                    taking.take(cone)
                    progress = True
        return taking.closure()
