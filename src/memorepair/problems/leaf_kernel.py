"""Kernel of the check of leaves: the same law as in `leaves`, for a tree of many.

Numba is needed to import this module. It shares nothing with the search that finds the leaves.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from memorepair.compiling import compiled
from memorepair.graphs.digraph import Index, Int64

FREE, IN, OUT = 0, 1, 2
WHOLE, MISSING, OTHER = 0, 1, 2

Bytes = npt.NDArray[np.int8]


@compiled
def spread(offsets: Index, heads: Index, state: Bytes, node: int, side: int, trail: Index, top: int) -> int:
    """Set `node` and all it leads to; the new end of `trail`, as -1 - end where the other side is met."""
    met = state[node] == IN + OUT - side
    bottom = top
    if state[node] == FREE:
        state[node] = side
        trail[top] = node
        top += 1
    while bottom < top:
        i = trail[bottom]
        bottom += 1
        for position in range(offsets[i], offsets[i + 1]):
            j = heads[position]
            if state[j] == FREE:
                state[j] = side
                trail[top] = j
                top += 1
            elif state[j] != side:
                met = True
    return -1 - top if met else top


@compiled
def check_tree(
    offsets: Index,
    heads: Index,
    tails: Index,
    back_offsets: Index,
    back_heads: Index,
    state: Bytes,
    value: Int64,
    cost: Int64,
    budget: Int64,
    nodes: Int64,
    sides: npt.NDArray[np.bool_],
    ends: Int64,
    units: Int64,
    charges: Int64,
    arcs: Index,
    pi: Int64,
    pi_ends: Int64,
    sums: Int64,
    empty: npt.NDArray[np.bool_],
) -> tuple[int, int, int]:
    """Whether q leaves split the sets, and what each sums up to.

    Parameters
    ----------
    offsets, heads, tails, back_offsets, back_heads
        n nodes, m arcs by tail and by head.
    state : (n,)
        IN where forced, OUT where barred, else FREE; the same at the end.
    value, cost, budget : (n,), (n, d), (d,)
        Amounts.
    nodes, sides, ends : (t,), (t,), (q + 1,)
        The decisions, leaf after leaf, and where each begins and ends.
    units, charges : (q,), (q, d)
        K and K price of each leaf.
    arcs, pi, pi_ends : (s,), (s,), (q + 1,)
        The certificates, leaf after leaf.
    sums, empty : (q,)
        Result: the sum of r over the forced nodes and of its positive part over the free ones; whether no set
        is feasible.

    Returns
    -------
    tuple of int
        What is wrong, the leaf and the depth at which it shows.
    """
    n, q = len(state), len(units)
    order = np.arange(q)
    trail, r = np.empty(n, np.int32), np.empty(n, np.int64)
    begin, end = np.empty(2 * q + 2, np.int64), np.empty(2 * q + 2, np.int64)
    level, bottom = np.empty(2 * q + 2, np.int64), np.empty(2 * q + 2, np.int64)
    decided, against = np.empty(2 * q + 2, np.int64), np.empty(2 * q + 2, np.bool_)
    begin[0], end[0], level[0], bottom[0], decided[0], against[0] = 0, q, 0, 0, -1, False
    groups, top = 1, 0
    while groups > 0:
        groups -= 1
        a, b, depth, code, met = begin[groups], end[groups], level[groups], decided[groups], against[groups]
        while top > bottom[groups]:
            top -= 1
            state[trail[top]] = FREE
        if a == b:
            return MISSING, int(order[min(a, q - 1)]), int(depth)
        if code >= 0:
            if code & 1:
                top = spread(offsets, heads, state, code >> 1, IN, trail, top)
            else:
                top = spread(back_offsets, back_heads, state, code >> 1, OUT, trail, top)
            if top < 0:
                top, met = -1 - top, True
        leaf = order[a]
        if b - a > 1 or ends[leaf + 1] - ends[leaf] > depth:
            node, middle = -1, a
            for place in range(a, b):
                leaf = order[place]
                at = ends[leaf] + depth
                if at >= ends[leaf + 1]:
                    return MISSING, leaf, depth
                if place > a and nodes[at] != node:
                    return OTHER, leaf, depth
                node = nodes[at]
                if sides[at]:
                    order[place] = order[middle]
                    order[middle] = leaf
                    middle += 1
            begin[groups], end[groups], level[groups], bottom[groups] = middle, b, depth + 1, top
            decided[groups], against[groups] = 2 * node, met
            groups += 1
            begin[groups], end[groups], level[groups], bottom[groups] = a, middle, depth + 1, top
            decided[groups], against[groups] = 2 * node + 1, met
            groups += 1
            continue
        empty[leaf] = met
        for kind in range(len(budget)):
            spent = 0
            for i in range(n):
                if state[i] == IN:
                    spent += cost[i, kind]
            if spent > budget[kind]:
                empty[leaf] = True
        if empty[leaf]:
            continue
        for i in range(n):
            r[i] = units[leaf] * value[i]
            for kind in range(len(budget)):
                r[i] -= charges[leaf, kind] * cost[i, kind]
        for place in range(pi_ends[leaf], pi_ends[leaf + 1]):
            r[tails[arcs[place]]] -= pi[place]
            r[heads[arcs[place]]] += pi[place]
        total = 0
        for i in range(n):
            if state[i] == IN or (state[i] == FREE and r[i] > 0):
                total += r[i]
        sums[leaf] = total
    return WHOLE, 0, 0
