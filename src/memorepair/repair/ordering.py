"""Ordering: the members of a cascade, each after what it reads."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from memorepair.graphs.digraph import Digraph, Index
from memorepair.graphs.order import strong_components, waves
from memorepair.repair.candidates import Candidates
from memorepair.repair.footing import Footing


def reading_waves(candidates: Candidates, footing: Footing, chosen: Collection[int]) -> Index:
    """Wave of each position, after those it reads; on a cycle only prerequisites count, which have none."""
    k = len(candidates.keys)
    position = {key: place for place, key in enumerate(candidates.keys)}
    pairs = [
        (place, position[arc.parent])
        for key, place in position.items()
        for arc in footing.arcs(key)
        if arc.parent in position and arc.parent != key
    ]
    tails = np.array([tail for tail, _ in pairs], np.int64)
    heads = np.array([head for _, head in pairs], np.int64)
    component = strong_components(Digraph.from_arcs(k, tails, heads))
    between = component[tails] != component[heads]
    prerequisites = _among(candidates.prerequisites, chosen)
    # A cycle of the arcs kept would lie inside one component, where only prerequisites among chosen ones
    # are kept, and the plan has put those into waves.
    read = Digraph.from_arcs(
        k,
        np.concatenate([tails[between], prerequisites[:, 0]]),
        np.concatenate([heads[between], prerequisites[:, 1]]),
    )
    return waves(read)


def _among(requires: Digraph, chosen: Collection[int]) -> Index:
    """The arcs between chosen nodes, (arcs, 2)."""
    mask = np.zeros(requires.n, np.bool_)
    mask[sorted(chosen)] = True
    tails, heads = requires.tails(), requires.heads
    kept = mask[tails] & mask[heads]
    return np.column_stack([tails[kept], heads[kept]])
