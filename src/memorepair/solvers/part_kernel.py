"""Kernel of a part's bound: cuts at a few prices, each where the lines of two known sets meet.

Numba is needed to import this module. A part is `state`: FREE, IN or OUT of each node. Prices are whole
numbers of 1 / unit, odd or 0, so that no fraction of them can be shortened and pi is in the same unit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from memorepair.compiling import compiled
from memorepair.graphs.digraph import Index, Int64
from memorepair.solvers.pseudoflow import FIELDS, compiled_kernel

cut = compiled_kernel()

CUTS = 40
FREE, IN, OUT = 0, 1, 2

Ints = Sequence[int]
Bytes = npt.NDArray[np.int8]
Result = tuple[int, int, int]


# A loop compiles in a tenth of the time of numba's assignment to a slice.
@compiled
def clear(target: Bytes | Index) -> None:
    """All zeros."""
    for i in range(len(target)):
        target[i] = 0


@compiled
def assign(target: Bytes, source: Bytes) -> None:
    """What `source` holds."""
    for i in range(len(target)):
        target[i] = source[i]


@compiled
def part_bound(
    offsets: Index,
    heads: Index,
    value: Ints,
    cost: Ints,
    state: Bytes,
    base: int,
    room: int,
    start: int,
    unit: int,
    most: int,
    enough: int,
    low: Bytes,
    high: Bytes,
    carrying_arc: Index,
    carried: Int64,
    stop: Index,
) -> Result:
    """The least bound of a part over prices from `start` to `most`, until one is at most `enough`.

    Parameters
    ----------
    offsets, heads, value, cost, state
        n nodes.
    base, room
        Value gained outside, budget left, before what `state` has in.
    low, high : (n,)
        Given: two closed sets, of whose free nodes a hint is made. At the end: the free nodes of the best set
        that fits, and of the cheapest known that does not, empty where none is known.
    carrying_arc, carried : (n,)
        Result: pi of the bound.
    stop : (1,)
        Once it holds 1 the bound is that of the cuts before.

    Returns
    -------
    tuple of int
        Bound, its price, how many arcs carry. The bound is below every worth where nothing fits.
    """
    # The bound is convex in the price, the largest of a line for each set: `left` is the dearest set known
    # to fit, `right` the cheapest known not to, and the next price is where their lines meet.
    n = len(state)
    number = np.empty(n, np.int32)
    nodes = np.empty(n, np.int32)
    k = 0
    left_value, left_cost, right_value, right_cost, known = 0, 0, 0, 0, False
    low_value, low_cost, high_value, high_cost = 0, 0, 0, 0
    for i in range(n):
        number[i] = -1
        if state[i] == FREE:
            number[i] = k
            nodes[k] = i
            k += 1
            if low[i]:
                low_value += value[i]
                low_cost += cost[i]
            if high[i]:
                high_value += value[i]
                high_cost += cost[i]
        else:
            low[i] = 0
            high[i] = 0
            if state[i] == IN:
                base += value[i]
                room -= cost[i]
    if room < 0:
        return -(1 << 62), start, 0
    if high_cost > room:
        right_value, right_cost, known = high_value, high_cost, True
    if low_cost > room:
        if not known or low_cost < right_cost:
            assign(high, low)
            right_value, right_cost, known = low_value, low_cost, True
        clear(low)
    else:
        left_value, left_cost = low_value, low_cost
    if not known:
        clear(high)

    inner_offsets = np.empty(k + 1, np.int32)
    arcs = 0
    for a in range(k):
        inner_offsets[a] = arcs
        for position in range(offsets[nodes[a]], offsets[nodes[a] + 1]):
            if number[heads[position]] >= 0:
                arcs += 1
    inner_offsets[k] = arcs
    inner_heads, inner_arcs = np.empty(arcs, np.int32), np.empty(arcs, np.int32)
    arcs = 0
    for a in range(k):
        for position in range(offsets[nodes[a]], offsets[nodes[a] + 1]):
            if number[heads[position]] >= 0:
                inner_heads[arcs] = number[heads[position]]
                inner_arcs[arcs] = position
                arcs += 1
    profit, chosen = np.empty(k, np.int64), np.empty(k, np.bool_)
    amount, flow = np.empty(k, np.int64), np.empty(k, np.int64)
    arc, label, stack = np.empty(k, np.int32), np.empty(k, np.int32), np.empty(k + 1, np.int32)
    record, first, count = (
        np.empty(FIELDS * k, np.int32),
        np.empty(k + 3, np.int32),
        np.empty(k + 3, np.int32),
    )
    carrier = np.empty(arcs, np.int32)

    price, last, best, best_price, carrying = start, -1, 1 << 62, 0, 0
    for _ in range(CUTS):
        price = min(max(price, 0), most)
        if price > 0:
            price |= 1
        if price == last:
            break
        last = price
        scale = unit if price > 0 else 1
        for a in range(k):
            profit[a] = scale * value[nodes[a]] - price * cost[nodes[a]]
            amount[a] = profit[a]
        clear(first)
        clear(count)
        clear(carrier)
        found = cut(
            inner_offsets,
            inner_heads,
            amount,
            chosen,
            arc,
            flow,
            label,
            record,
            first,
            count,
            stack,
            carrier,
            stop,
        )
        if stop[0]:
            break
        total, worth, spent = 0, 0, 0
        for a in range(k):
            if chosen[a]:
                total += profit[a]
                worth += value[nodes[a]]
                spent += cost[nodes[a]]
        bound = base + (total + price * room) // scale
        if bound < best:
            best, best_price, carrying = bound, price, found
            for t in range(found):
                carrying_arc[t] = inner_arcs[arc[t]]
                carried[t] = flow[t]
        if spent <= room:
            same = known and worth == left_value and spent == left_cost
            left_value, left_cost = worth, spent
            for a in range(k):
                low[nodes[a]] = chosen[a]
        else:
            same = known and worth == right_value and spent == right_cost
            right_value, right_cost, known = worth, spent, True
            for a in range(k):
                high[nodes[a]] = chosen[a]
        if same or best <= enough or (spent <= room and price == 0):
            break
        price = 0
        if known and right_value > left_value:
            slope = 2 * (right_cost - left_cost)
            price = (2 * unit * (right_value - left_value) + slope // 2) // slope
    return best, best_price, carrying
