"""Greedy by ratio: a baseline without guarantee."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from memorepair.problems import Certificate, Closure, ClosureInstance
from memorepair.proof import Ties

WORK_PER_ITEM = 100


class Greedy:
    """Takes profitable nodes with all they still lack, best ratio first, once through.

    Nodes of positive profit are visited by descending p_i / (1 + sum of |p_j| over direct prerequisites j of
    negative profit), lower number first among equals. A node is taken, with every prerequisite not yet taken,
    when those profits add up to more than 0. The search ends when it has walked 100 (k + m) arcs and nodes.
    """

    name: ClassVar[str] = "greedy"
    exact: ClassVar[bool] = False
    ties: ClassVar[frozenset[Ties]] = frozenset()
    max_size: ClassVar[int | None] = None
    package: ClassVar[str | None] = None

    def solve(self, instance: ClosureInstance, /) -> Closure:
        """A closure worth at least 0."""
        requires, profit = instance.requires, instance.profit
        k, m = requires.n, requires.m
        expense = np.bincount(requires.tails(), np.maximum(-profit, 0)[requires.heads], k) + 1.0
        gains = np.flatnonzero(profit > 0)
        order = gains[np.argsort(-profit[gains] / expense[gains], kind="stable")].tolist()
        offsets, heads, worth = requires.offsets.tolist(), requires.heads.tolist(), profit.tolist()
        taken, work = [False] * k, WORK_PER_ITEM * (k + m)
        for first in order:
            if taken[first]:
                continue
            missing, seen = [first], {first}
            for node in missing:  # grows while it is walked
                for head in heads[offsets[node] : offsets[node + 1]]:
                    if head not in seen and not taken[head]:
                        seen.add(head)
                        missing.append(head)
                work -= 1 + offsets[node + 1] - offsets[node]
            if sum(worth[node] for node in missing) > 0:
                for node in missing:
                    taken[node] = True
            if work < 0:
                break
        return Closure(mask=np.array(taken, np.bool_), certificate=Certificate.zero())
