"""Exhaustive search over all closures: the oracle for small instances."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from memorepair.problems import Closure, ClosureInstance
from memorepair.problems.proof import Ties


class Exhaustive:
    """Looks at all 2^k node sets, vectorised; O(2^k k) time, O(2^k) memory."""

    name: ClassVar[str] = "exhaustive"
    exact: ClassVar[bool] = True
    ties: ClassVar[frozenset[Ties]] = frozenset(("fewest", "most"))
    max_size: ClassVar[int | None] = 20
    package: ClassVar[str | None] = None

    def solve(self, instance: ClosureInstance, /) -> Closure:
        """The optimum with fewest or most members: one, as unions and intersections of optima are optima."""
        requires, k = instance.requires, instance.requires.n
        sets = np.arange(1 << k, dtype=np.int64)  # bit i of a set's number says whether it holds node i
        worth, size, closed = np.zeros_like(sets), np.zeros_like(sets), np.ones(len(sets), np.bool_)
        for node in range(k):
            holds = (sets >> node) & 1
            worth += holds * instance.profit[node]
            size += holds
            needs = int(np.bitwise_or.reduce(np.int64(1) << requires.successors(node).astype(np.int64)))
            closed &= (holds == 0) | (sets & needs == needs)
        optima = np.flatnonzero(closed & (worth == worth[closed].max()))
        best = optima[size[optima].argmin() if instance.ties == "fewest" else size[optima].argmax()]
        return Closure(mask=(best >> np.arange(k)) & 1 == 1, certificate=None)
