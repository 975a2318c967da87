"""Kernels of the core search: depth first over decisions, each part bounded by cuts at a few prices.

Numba is needed to import this module. Parts and prices are those of `part_kernel`.
"""

from __future__ import annotations

import numpy as np

from memorepair.compiling import compiled
from memorepair.graphs.digraph import Index, Int64, Mask
from memorepair.solvers.part_kernel import FREE, IN, OUT, Bytes, Ints, Result, assign, clear, part_bound


@compiled
def decide(offsets: Index, heads: Index, state: Bytes, node: int, side: int, trail: Index, top: int) -> int:
    """Set `node` and what a path of free nodes leads to, to `side`; the new end of `trail`."""
    bottom = top
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
    return top


@compiled
def turn(
    state: Bytes, trail: Index, begin: Index, second: Mask, side: Bytes, depth: int, top: int
) -> tuple[int, int]:
    """Go up to the last decision with a side not looked at, turn it; its depth, and where `trail` ends.

    What was decided below is free again. The depth is -1 where no decision is left.
    """
    while depth > 0:
        depth -= 1
        while top > begin[depth]:
            top -= 1
            state[trail[top]] = FREE
        if not second[depth]:
            second[depth] = True
            side[depth] = IN + OUT - side[depth]
            return depth, top
    return -1, top


@compiled
def generators(offsets: Index, heads: Index, state: Bytes, order: Index, side: int, kept: Index) -> int:
    """Those of `order` that none before them decides, in `kept`; how many."""
    trail = np.empty(len(state), np.int32)
    count = 0
    for node in order:
        if state[node] == FREE:
            decide(offsets, heads, state, node, side, trail, 0)
            kept[count] = node
            count += 1
    return count


@compiled
def cone(
    offsets: Index,
    heads: Index,
    group: Bytes,
    value: Ints,
    cost: Ints,
    node: int,
    mark: Index,
    stamp: int,
    stack: Index,
) -> tuple[int, int]:
    """Value and cost of what `node` reaches inside `group`."""
    stack[0] = node
    mark[node] = stamp
    top, worth, spent = 1, 0, 0
    while top > 0:
        top -= 1
        i = stack[top]
        worth += value[i]
        spent += cost[i]
        for position in range(offsets[i], offsets[i + 1]):
            j = heads[position]
            if group[j] and mark[j] != stamp:
                mark[j] = stamp
                stack[top] = j
                top += 1
    return worth, spent


@compiled
def choose(
    offsets: Index,
    heads: Index,
    back_offsets: Index,
    back_heads: Index,
    value: Ints,
    cost: Ints,
    group: Bytes,
    left: int,
    room: float,
    mark: Index,
    stack: Index,
) -> tuple[int, int]:
    """The node of `group` whose decision is guessed to lower both bounds most, and its better side.

    The guess is that of `Tree`: what is left of the group stays one block, worth the same per cost; `left` is
    what the budget leaves for it, `room` what a bound may lose.
    """
    total, weight = 0.0, 0.0
    for i in range(len(group)):
        if group[i]:
            total += value[i]
            weight += cost[i]
    whole = total / weight * left if weight > 0 else total
    best, node, first = -1.0, -1, IN
    stamp = 0
    clear(mark)
    for i in range(len(group)):
        if not group[i]:
            continue
        stamp += 1
        w, c = cone(offsets, heads, group, value, cost, i, mark, stamp, stack)
        up = room
        if c <= left:
            up = whole - w - ((total - w) / (weight - c) * (left - c) if weight > c else 0.0)
        stamp += 1
        w, c = cone(back_offsets, back_heads, group, value, cost, i, mark, stamp, stack)
        down = whole - ((total - w) / (weight - c) * min(float(left), weight - c) if weight > c else 0.0)
        up, down = min(max(up, 0.0), room), min(max(down, 0.0), room)
        score = 5 * min(up, down) + max(up, down)
        if score > best:
            best, node, first = score, i, IN if up <= down else OUT
    return node, first


@compiled
def search(
    offsets: Index,
    heads: Index,
    back_offsets: Index,
    back_heads: Index,
    value: Ints,
    cost: Ints,
    base: int,
    room: int,
    start: int,
    unit: int,
    most: int,
    worth: int,
    offset: int,
    gap: float,
    limit: int,
    events: Index,
    prices: Int64,
    best: Bytes,
    stop: Index,
) -> Result:
    """Depth-first search for a set worth more than `worth`, every part split until its bound is good enough.

    Parameters
    ----------
    offsets, heads, back_offsets, back_heads, value, cost
        k nodes, their arcs by tail and by head.
    base, room, start, unit, most
        As `part_bound`.
    worth, offset, gap
        A bound b is good enough where b <= worth + gap |worth + offset|, `worth` growing with what is found.
    limit
        Decisions at most; what is open then is left as a leaf.
    events, prices : (2 limit + 1,)
        Result: the tree in preorder, -1 for a leaf, 2 i or 2 i + 1 where node i is decided, first in (2 i) or
        first out; the price of each part's bound.
    best : (k,)
        Result: the best set found, untouched where none is worth more.
    stop : (1,)
        No more decisions are taken once it holds 1.

    Returns
    -------
    tuple of int
        How many events, the best worth, how many decisions.
    """
    k = len(value)
    state = np.zeros(k, np.int8)
    mark, stack, trail = np.empty(k, np.int32), np.empty(k, np.int32), np.empty(k, np.int32)
    lows, highs = np.zeros((k + 1, k), np.int8), np.zeros((k + 1, k), np.int8)
    node, side = np.empty(k + 1, np.int32), np.empty(k + 1, np.int8)
    second, begin = np.empty(k + 1, np.bool_), np.empty(k + 1, np.int32)
    price, group = np.empty(k + 1, np.int64), np.empty(k, np.int8)
    arc, flow = np.empty(k, np.int32), np.empty(k, np.int64)
    count, decided, depth, top = 0, 0, 0, 0
    price[0] = start
    while True:
        enough = worth + int(np.floor(gap * abs(float(worth + offset))))
        low, high = lows[depth], highs[depth]
        pick, first = -1, IN
        if decided < limit and not stop[0]:
            # A part begins with its parent's price and sets.
            if depth > 0:
                assign(low, lows[depth - 1])
                assign(high, highs[depth - 1])
                price[depth] = price[depth - 1]
            bound, price[depth], _ = part_bound(
                offsets,
                heads,
                value,
                cost,
                state,
                base,
                room,
                price[depth],
                unit,
                most,
                enough,
                low,
                high,
                arc,
                flow,
                stop,
            )
            if bound > -(1 << 62):
                found, spent = base, 0
                for i in range(k):
                    if low[i] or state[i] == IN:
                        found += value[i]
                        spent += cost[i]
                if found > worth:
                    worth = found
                    for i in range(k):
                        best[i] = low[i] or state[i] == IN
                    enough = worth + int(np.floor(gap * abs(float(worth + offset))))
                if bound > enough:
                    size = 0
                    for i in range(k):
                        group[i] = state[i] == FREE and high[i] and not low[i]
                        size += group[i]
                    if size == 0:
                        for i in range(k):
                            group[i] = state[i] == FREE and not low[i]
                    pick, first = choose(
                        offsets,
                        heads,
                        back_offsets,
                        back_heads,
                        value,
                        cost,
                        group,
                        room - spent,
                        float(bound - enough),
                        mark,
                        stack,
                    )
        prices[count] = price[depth]
        events[count] = -1
        count += 1
        if pick >= 0:
            events[count - 1] = 2 * pick + (first == OUT)
            node[depth], side[depth], second[depth], begin[depth] = pick, first, False, top
            decided += 1
        else:
            depth, top = turn(state, trail, begin, second, side, depth, top)
            if depth < 0:
                return count, worth, decided
        if side[depth] == IN:
            top = decide(offsets, heads, state, node[depth], IN, trail, top)
        else:
            top = decide(back_offsets, back_heads, state, node[depth], OUT, trail, top)
        depth += 1
        price[depth] = price[depth - 1]


@compiled
def prove(
    offsets: Index,
    heads: Index,
    back_offsets: Index,
    back_heads: Index,
    value: Ints,
    cost: Ints,
    base: int,
    room: int,
    unit: int,
    most: int,
    enough: int,
    events: Index,
    starts: Int64,
    bounds: Int64,
    prices: Int64,
    ends: Int64,
    carrying_arc: Index,
    carried: Int64,
    stop: Index,
) -> int:
    """Bound the leaves of a tree that `search` found, on a graph that may be larger than the core.

    Parameters
    ----------
    events, starts
        The tree in preorder, as `search` returns it, nodes by their numbers here.
    bounds, prices, ends
        Result, a leaf each: its bound, its price, where its pi ends in the two arrays that follow.
    carrying_arc, carried
        Result: pi, leaf after leaf.
    stop : (1,)
        No more leaves are bounded once it holds 1.

    Returns
    -------
    int
        How many leaves.
    """
    k = len(value)
    state = np.zeros(k, np.int8)
    low, high = np.empty(k, np.int8), np.empty(k, np.int8)
    trail = np.empty(k, np.int32)
    node, side = np.empty(len(events) + 1, np.int32), np.empty(len(events) + 1, np.int8)
    second, begin = np.empty(len(events) + 1, np.bool_), np.empty(len(events) + 1, np.int32)
    depth, top, leaves, filled = 0, 0, 0, 0
    for place in range(len(events)):
        if events[place] >= 0:
            node[depth], second[depth], begin[depth] = events[place] >> 1, False, top
            side[depth] = OUT if events[place] & 1 else IN
        else:
            clear(low)
            clear(high)
            bounds[leaves], prices[leaves], found = part_bound(
                offsets,
                heads,
                value,
                cost,
                state,
                base,
                room,
                starts[place],
                unit,
                most,
                enough,
                low,
                high,
                carrying_arc[filled:],
                carried[filled:],
                stop,
            )
            if stop[0]:
                return leaves
            filled += found
            ends[leaves] = filled
            leaves += 1
            depth, top = turn(state, trail, begin, second, side, depth, top)
            if depth < 0:
                return leaves
        if state[node[depth]] == FREE:
            if side[depth] == IN:
                top = decide(offsets, heads, state, node[depth], IN, trail, top)
            else:
                top = decide(back_offsets, back_heads, state, node[depth], OUT, trail, top)
        depth += 1
    return leaves
