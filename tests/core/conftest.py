"""Random instances and the names of solvers, for the tests of the core."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from memorepair.graphs import Digraph
from memorepair.problems import SelectionInstance

Draw = Callable[[np.random.Generator], SelectionInstance]


@pytest.fixture(scope="session")
def draw() -> Draw:
    """Draws up to 14 candidates: cycles, loops, parallel arcs, ties, barred and required ones."""

    def instance(rng: np.random.Generator) -> SelectionInstance:
        k = int(rng.integers(0, 15))
        m = int(rng.integers(0, 2 * k + 1))
        tails, heads = rng.integers(0, max(k, 1), (2, m))
        if rng.random() < 0.6:  # mostly acyclic, as memories are; the rest with cycles and loops
            tails, heads = np.maximum(tails, heads), np.minimum(tails, heads)
        spread = int(rng.choice([2, 5, 1000]))
        return SelectionInstance(
            value=rng.integers(-spread // 2, spread + 1, k),
            cost=rng.integers(0, spread + 1, k),
            requires=Digraph.from_arcs(k, tails, heads),
            executable=rng.random(k) > rng.choice([0.0, 0.15]),
            required=rng.random(k) < rng.choice([0.0, 0.1]),
            tradeoff=float(rng.choice([0.0, 0.3, 1.0, 1.5])),
        )

    return instance
