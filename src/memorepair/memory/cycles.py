"""Cycles: those a write would close."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from memorepair.graphs.digraph import Digraph
from memorepair.graphs.order import strong_components
from memorepair.memory.artifact import Key
from memorepair.memory.connection import Connection
from memorepair.memory.graph import arcs_ahead, keys_of


def closed_cycles(
    db: Connection, written: Mapping[int, Key], existed: Iterable[int], arcs: Iterable[tuple[int, int]]
) -> tuple[tuple[Key, ...], ...]:
    """One cycle for each strong component that new arcs close.

    Parameters
    ----------
    written
        Artifacts (aid) about to be written, with their names.
    existed
        Those of them that had a version before.
    arcs
        The new arcs (src, dst) into them, which replace their old ones.

    Notes
    -----
    A cycle has a new arc and enters a written artifact by it; the old arcs on it lead on from written
    artifacts that existed. So the new arcs, and the old ones ahead of those, hold every new cycle. O(arcs
    looked at).
    """
    new = list(dict.fromkeys(arcs))
    read_something = {dst for _, dst in new}
    updated = [aid for aid in existed if aid in read_something]
    if not updated and not any(src in written for src, _ in new):
        return ()
    old = [arc for arc in arcs_ahead(db, updated) if arc[1] not in written]
    aids, flat = np.unique(np.array(new + old, np.int64).ravel(), return_inverse=True)
    ends = flat.reshape(-1, 2)
    digraph = Digraph.from_arcs(len(aids), ends[:, 0], ends[:, 1])
    component = strong_components(digraph)
    tails = digraph.tails()
    inside = np.flatnonzero(component[tails] == component[digraph.heads])
    # In a strong component every node with an arc inside leads to another such node; the first one twice
    # closes a cycle.
    nodes, first = np.unique(tails[inside], return_index=True)
    step = dict(zip(nodes.tolist(), digraph.heads[inside[first]].tolist(), strict=True))
    fresh = set(component[np.isin(aids, np.fromiter(written, np.int64, len(written)))].tolist())
    labels, starts = np.unique(component[nodes], return_index=True)
    cycles = [
        [int(aids[node]) for node in _walk(step, int(nodes[start]))]
        for label, start in zip(labels.tolist(), starts.tolist(), strict=True)
        if label in fresh
    ]
    names = dict(written)
    names |= keys_of(db, [aid for cycle in cycles for aid in cycle if aid not in written])
    return tuple(tuple(names[aid] for aid in cycle) for cycle in cycles)


def _walk(step: Mapping[int, int], node: int) -> Sequence[int]:
    seen: dict[int, int] = {}
    while node not in seen:
        seen[node] = len(seen)
        node = step[node]
    return list(seen)[seen[node] :]
