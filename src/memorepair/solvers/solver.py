"""Solver: what every algorithm declares about itself."""

from __future__ import annotations

from typing import ClassVar, Protocol, runtime_checkable

from memorepair.graphs.network import Cut, MinCutNetwork
from memorepair.problems import Closure, ClosureInstance
from memorepair.problems.proof import Ties


class Capabilities(Protocol):
    """Class attributes of a solver."""

    name: ClassVar[str]
    """What `get_solver` and ``select(solver=)`` call it."""
    exact: ClassVar[bool]
    """Its answer is an optimum; otherwise it is some closure."""
    ties: ClassVar[frozenset[Ties]]
    """Tie rules it follows by itself; empty where it is not exact."""
    max_size: ClassVar[int | None]
    """Largest number of nodes it takes, None for no limit but int32."""
    package: ClassVar[str | None]
    """Package to import, where that is optional."""


class Baseline:
    """Declares what the baselines have in common: no optimum, no limit, no package."""

    exact: ClassVar[bool] = False
    ties: ClassVar[frozenset[Ties]] = frozenset()
    max_size: ClassVar[int | None] = None
    package: ClassVar[str | None] = None


@runtime_checkable
class ClosureSolver(Capabilities, Protocol):
    """Solves maximum closure."""

    def solve(self, instance: ClosureInstance, /) -> Closure:
        """A closure, an optimal one by the instance's tie rule where the solver is exact.

        Its certificate is pi, None where the algorithm has no dual.
        """
        ...


@runtime_checkable
class FlowSolver(Capabilities, Protocol):
    """Solves minimum cut; its flow decides every tie."""

    def cut(self, network: MinCutNetwork, /) -> Cut:
        """A minimum cut with a maximum flow, not yet verified."""
        ...


Solver = ClosureSolver | FlowSolver
