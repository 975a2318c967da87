"""Order among prerequisites: waves where there is one, a cycle as witness where there is none."""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import connected_components

from memorepair.errors import CycleFound
from memorepair.graphs.convert import to_csr
from memorepair.graphs.digraph import Digraph, Index


def waves(digraph: Digraph) -> Index:
    """Wave of each node when an arc i -> j reads "i requires j": every prerequisite stands in an earlier one.

    Parameters
    ----------
    digraph
        n nodes, m arcs without a directed cycle; parallel arcs allowed.

    Returns
    -------
    (n,) int32
        0 for a node that requires nothing, else 1 + the largest wave among its successors: the fewest waves
        possible, each node as early as it can be.

    Raises
    ------
    CycleFound
        Nodes require each other; the witness is a cycle as `find_cycle` gives it.

    Notes
    -----
    O(n + m), about one second a million nodes.

    Source: A. B. Kahn, Topological sorting of large networks, 1962.
    """
    # Plain lists and a loop: a wave at a time in numpy would cost a call per wave, a million on a long chain.
    reverse = digraph.reverse()
    offsets, dependents = reverse.offsets.tolist(), reverse.heads.tolist()
    unmet = np.diff(digraph.offsets)
    wave = [0] * digraph.n
    queue = np.flatnonzero(unmet == 0).tolist()
    missing = unmet.tolist()
    # The queue holds nodes by ascending wave: it begins with wave 0, and what a node appends stands one wave
    # after it. So the last prerequisite taken from it is one of largest wave, and no maximum is needed.
    for node in queue:
        after = wave[node] + 1
        for dependent in dependents[offsets[node] : offsets[node + 1]]:
            missing[dependent] -= 1
            if missing[dependent] == 0:
                wave[dependent] = after
                queue.append(dependent)
    if len(queue) < digraph.n:
        cycle = find_cycle(digraph)
        raise CycleFound("nodes require each other", witness=cycle)
    return np.array(wave, np.int32)


def strong_components(digraph: Digraph) -> Index:
    """Component of each node: two nodes share a number exactly when paths lead both ways between them.

    Returns
    -------
    (n,) int32
        Numbers 0 .. (number of components) - 1, in no promised order.

    Notes
    -----
    O(n + m log m), no recursion. SciPy does the search.

    Source: D. J. Pearce, An improved algorithm for finding the strongly connected components of a directed
    graph, 2005.
    """
    if digraph.n == 0:
        return np.zeros(0, np.int32)
    graph = to_csr(digraph)
    graph.sum_duplicates()  # SciPy's search, as of 1.17, never returns on some graphs with parallel arcs
    graph.data.fill(1)  # 256 parallel arcs add up to 0 in int8
    _, labels = connected_components(graph, directed=True, connection="strong")
    return np.asarray(labels, np.int32)


def find_cycle(digraph: Digraph) -> tuple[int, ...] | None:
    """One directed cycle, or None when there is none.

    Returns
    -------
    tuple of int, or None
        Distinct nodes; an arc leads from each to the next, from the last to the first. A loop is one node.

    Notes
    -----
    O(n + m); the cycle is some cycle, not the shortest.
    """
    component = strong_components(digraph)
    tails = digraph.tails()
    inside = np.flatnonzero(component[tails] == component[digraph.heads])
    if len(inside) == 0:
        return None
    # In a strong component every node with an arc inside leads to another such node, for ever; the first
    # repetition closes a cycle. Taking each node's first inner arc makes the walk deterministic.
    nodes, first = np.unique(tails[inside], return_index=True)
    step = np.full(digraph.n, -1, np.int32)
    step[nodes] = digraph.heads[inside[first]]
    following = step.tolist()
    seen: dict[int, int] = {}
    node = int(nodes[0])
    while node not in seen:
        seen[node] = len(seen)
        node = following[node]
    return tuple(list(seen)[seen[node] :])
