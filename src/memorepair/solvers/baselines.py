"""Baselines: take all, take none."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from memorepair.problems import Certificate, Closure, ClosureInstance
from memorepair.solvers.solver import Baseline


class RepairAll(Baseline):
    """Every node that may be chosen."""

    name: ClassVar[str] = "repair-all"

    def solve(self, instance: ClosureInstance, /) -> Closure:
        """All nodes: the largest closure."""
        return Closure(mask=np.ones(instance.requires.n, np.bool_), certificate=Certificate.zero())


class RepairNone(Baseline):
    """Only what must be chosen."""

    name: ClassVar[str] = "repair-none"

    def solve(self, instance: ClosureInstance, /) -> Closure:
        """No node: the empty closure."""
        return Closure(mask=np.zeros(instance.requires.n, np.bool_), certificate=Certificate.zero())
