"""Parametric closure: one run gives the smallest optimum at every price.

Let X(l) be the smallest closure that maximises w(X) - l c(X). Costs are not negative, so X(l) shrinks as the
price l grows, and there are at most k different ones: an ordered partition of the nodes into groups, the
dearest first, describes them all. A group enters at its break-even price, its total value over its total
cost.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, MutableSequence, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from memorepair.compiling import compiled
from memorepair.errors import InvalidInput
from memorepair.graphs.closure import least_closed_superset
from memorepair.graphs.digraph import Digraph, Index, Int64, Mask, read_only
from memorepair.problems import Closure, ClosureInstance
from memorepair.problems.integers import TOTAL_LIMIT, exact_total
from memorepair.solvers.limits import never
from memorepair.solvers.pseudoflow import Pseudoflow

logger = logging.getLogger(__name__)

COMPILED_FROM = 3_000
"""Nodes plus arcs from which loading the compiled kernel pays."""

LOADED_FROM = 100
"""The same once the compiled kernel is loaded."""

Close = Callable[[ClosureInstance], Closure]

COLUMNS = 19
"""Index columns the kernel works in."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Groups:
    """All smallest optima of a parametric closure, g groups of nodes.

    Attributes
    ----------
    of : (k,) int32
        Number of each node's group; -1 for a node that is in no smallest optimum, at whatever price.
    value, cost : (g,) int64
        Totals. value / cost strictly descends; only the first cost may be 0, then its value is positive and
        it is in at every price.
    """

    of: Index
    value: Int64
    cost: Int64

    def __post_init__(self) -> None:
        for array in (self.of, self.value, self.cost):
            read_only(array)


def price_groups(
    requires: Digraph,
    value: Int64,
    cost: Int64,
    close: Close | None = None,
    *,
    stop: Index | None = None,
    budget: int = -1,
) -> Groups:
    """The groups that enter as the price falls, from plus to minus infinity.

    Parameters
    ----------
    requires
        k nodes; an arc i -> j reads "i requires j".
    value, cost : (k,) int64
        w of any sign, c at least 0; absolute values add up to less than 2^62 each.
    close
        Finds the smallest optimal closure of what costs nothing; the cut alone where left out.
    stop : (1,)
        Once it holds 1 the segments under way are not split further: they stand as groups, of several prices
        perhaps, still in descending order, and what is dearer than one of them is still a closure.
    budget
        The groups between which this total cost lies are split first.

    Notes
    -----
    Divide and conquer: a segment between two nested optima is cut at the price that makes it worth 0. Where
    the smallest closure is empty the segment is one group, else that closure enters above the price, the rest
    at or below it. Each split is decided in integers: in 64 bits where a bound proves that they suffice, else
    in two limbs of 62 bits, which hold every case. O(k + m) memory; a node takes part in at most one cut a
    level, about 16 levels at 10^5 nodes.

    Source of the nesting: G. Gallo, M. D. Grigoriadis, R. E. Tarjan, A fast parametric maximum flow algorithm
    and applications, SIAM J. Comput. 18 (1989).
    """
    if exact_total(np.abs(value)) >= TOTAL_LIMIT or exact_total(cost) >= TOTAL_LIMIT:
        raise InvalidInput("absolute values or costs add up to 2^62 or more", witness=len(value))
    needed = _ever_chosen(requires, value, cost, close or Pseudoflow().solve)
    of = np.full(requires.n, -1, np.int32)
    if not needed.any():
        return Groups(of=of, value=np.zeros(0, np.int64), cost=np.zeros(0, np.int64))
    inner = requires if needed.all() else requires.induced(needed)
    w, c = value[needed], cost[needed]
    order, first = _order(inner, w, c, never() if stop is None else stop, budget)
    starts = np.flatnonzero(first)
    numbers = np.empty(inner.n, np.int32)
    numbers[order] = np.cumsum(first, dtype=np.int32) - 1
    of[needed] = numbers
    return Groups(of=of, value=np.add.reduceat(w[order], starts), cost=np.add.reduceat(c[order], starts))


def _ever_chosen(requires: Digraph, value: Int64, cost: Int64, close: Close) -> Mask:
    """The smallest optimum as the price falls for ever: what any smallest optimum holds."""
    # There the optimum has all cost there is, hence all nodes of positive cost with what they require; of the
    # rest, which costs nothing, the smallest closure of most value.
    needed = least_closed_superset(requires, cost > 0)
    free = np.flatnonzero(~needed)
    if len(free) == 0 or not (value[free] > 0).any():
        return needed
    rest = ClosureInstance(profit=value[free], requires=requires.induced(~needed))
    needed[free[close(rest).mask]] = True
    return needed


def _order(requires: Digraph, value: Int64, cost: Int64, stop: Index, budget: int) -> tuple[Index, Mask]:
    """Nodes by group, and where a group begins."""
    n, m = requires.n, requires.m
    loaded = compiled_split.cache_info().currsize > 0
    if n + m < (LOADED_FROM if loaded else COMPILED_FROM):
        order, first = list(range(n)), [0] * n
        split(
            requires.offsets.tolist(),
            requires.heads.tolist(),
            value.tolist(),
            cost.tolist(),
            order,
            first,
            [0] * m,
            [[0] * (n + 3) for _ in range(COLUMNS)],
            [[0] * n for _ in range(5)],
            never(),  # so few nodes take no time
            budget,
        )
        return np.array(order, np.int32), np.array(first, np.bool_)
    permutation, begins = np.arange(n, dtype=np.int32), np.zeros(n, np.bool_)
    compiled_split()(
        requires.offsets,
        requires.heads,
        value,
        cost,
        permutation,
        begins,
        np.zeros(m, np.int32),
        np.zeros((COLUMNS, n + 3), np.int32),
        np.zeros((5, n), np.int64),
        stop,
        budget,
    )
    return permutation, begins


Ints = Sequence[int]
IntsOut = MutableSequence[int]


def split(
    offsets: Ints,
    heads: Ints,
    value: Ints,
    cost: Ints,
    order: IntsOut,
    first: IntsOut,
    inner_heads: IntsOut,
    work: Sequence[IntsOut],
    amounts: Sequence[IntsOut],
    stop: Index,
    budget: int,
) -> None:
    """The kernel, written for lists and for arrays alike: it runs as Python and compiled.

    Parameters
    ----------
    offsets, heads, value, cost
        The graph, each node of which some smallest optimum holds.
    order : (n,)
        Given as 0 .. n - 1; at the end the nodes, group after group.
    first : (n,)
        Given as zeros; at the end whether a group begins at this place of `order`.
    inner_heads : (m,), work : (COLUMNS, n + 3), amounts : (5, n)
        Scratch; `work` is given as zeros.
    stop : (1,), budget
        As in `price_groups`.
    """
    # A segment order[a:b] has value W and cost C > 0, and profits p = w C - c W that add up to 0. They and
    # all flows between them stay within the sum of absolute profits, at most (sum |w| + |W|) C < 2^125: an
    # amount is high 2^62 + low with 0 <= low < 2^62 and |high| < 2^63. Where that sum is below 2^62, low
    # alone is the amount, signed. The floats of the test err by a relative 2^-50, far less than its factor of
    # 2.
    #
    # The cut itself is the kernel of pseudoflow.py, where its invariants are stated; no dual is kept.
    n = len(offsets) - 1
    label, parent, first_child, next_sibling, previous_sibling = work[0], work[1], work[2], work[3], work[4]
    upward, scan_child, scan_arc = work[5], work[6], work[7]
    bucket_first, bucket_last, bucket_next, count, stack = work[8], work[9], work[10], work[11], work[12]
    inner_offsets, place, segment, begin, end_of, below = (
        work[13],
        work[14],
        work[15],
        work[16],
        work[17],
        work[18],
    )
    excess_high, excess, flow_high, flow, ahead = amounts[0], amounts[1], amounts[2], amounts[3], amounts[4]
    mask = (1 << 62) - 1
    half = (1 << 31) - 1

    def enqueue(root: int) -> None:
        bucket = label[root]
        if bucket_last[bucket] < 0:
            bucket_first[bucket] = root
        else:
            bucket_next[bucket_last[bucket]] = root
        bucket_last[bucket] = root

    def dequeue(bucket: int) -> int:
        root = bucket_first[bucket]
        bucket_first[bucket] = bucket_next[root]
        bucket_next[root] = -1
        if bucket_first[bucket] < 0:
            bucket_last[bucket] = -1
        return root

    def detach(child: int) -> None:
        before, after, above = previous_sibling[child], next_sibling[child], parent[child]
        if before >= 0:
            next_sibling[before] = after
        else:
            first_child[above] = after
        if after >= 0:
            previous_sibling[after] = before
        if scan_child[above] == child:
            scan_child[above] = after
        parent[child] = -1
        next_sibling[child] = -1
        previous_sibling[child] = -1

    begin[0], end_of[0] = 0, n
    segments, stamp = 1, 0
    while segments > 0:
        segments -= 1
        a, b = begin[segments], end_of[segments]
        k = b - a
        total, magnitude, expense = 0, 0, 0
        for t in range(a, b):
            i = order[t]
            total += value[i]
            magnitude += abs(value[i])
            expense += cost[i]
        if k == 1 or expense == 0 or stop[0]:
            first[a] = 1
            continue
        wide = (float(magnitude) + abs(float(total))) * float(expense) >= 2.0**61

        # Profits and the arcs inside the segment.
        stamp += 1
        for t in range(a, b):
            segment[order[t]] = stamp
            place[order[t]] = t - a
        arcs = 0
        for i in range(k + 3):
            bucket_first[i] = -1
            bucket_last[i] = -1
            count[i] = 0
        for t in range(a, b):
            i = order[t]
            v = t - a
            if wide:
                # x y = x1 y1 2^62 + (x1 y0 + x0 y1) 2^31 + x0 y0 for x = x1 2^31 + x0 of either sign.
                w1, w0, e1, e0 = value[i] >> 31, value[i] & half, expense >> 31, expense & half
                middle = w1 * e0 + w0 * e1
                low = w0 * e0 + ((middle & half) << 31)
                high = w1 * e1 + (middle >> 31) + (low >> 62)
                low = low & mask
                c1, c0, t1, t0 = cost[i] >> 31, cost[i] & half, total >> 31, total & half
                middle = c1 * t0 + c0 * t1
                less = c0 * t0 + ((middle & half) << 31)
                high -= c1 * t1 + (middle >> 31) + (less >> 62)
                low -= less & mask
                excess_high[v] = high + (low >> 62)
                excess[v] = low & mask
                positive = excess_high[v] > 0 or (excess_high[v] == 0 and excess[v] > 0)
            else:
                excess_high[v] = 0
                excess[v] = value[i] * expense - cost[i] * total
                positive = excess[v] > 0
            flow_high[v] = 0
            flow[v] = 0
            parent[v] = -1
            first_child[v] = -1
            next_sibling[v] = -1
            previous_sibling[v] = -1
            scan_child[v] = -1
            bucket_next[v] = -1
            upward[v] = 0
            scan_arc[v] = arcs
            inner_offsets[v] = arcs
            for position in range(offsets[i], offsets[i + 1]):
                j = heads[position]
                if segment[j] == stamp:
                    inner_heads[arcs] = place[j]
                    arcs += 1
            if positive:
                label[v] = 1
                enqueue(v)
            else:
                label[v] = 0
            count[label[v]] += 1
        inner_offsets[k] = arcs

        highest = 1
        while not stop[0]:
            root = -1
            while highest > 0 and root < 0:
                if bucket_first[highest] >= 0 and count[highest - 1] > 0:
                    root = dequeue(highest)
                else:
                    while bucket_first[highest] >= 0:
                        stack[0] = dequeue(highest)
                        top = 1
                        while top > 0:
                            top -= 1
                            node = stack[top]
                            count[label[node]] -= 1
                            label[node] = k + 1
                            child = first_child[node]
                            while child >= 0:
                                stack[top] = child
                                top += 1
                                child = next_sibling[child]
                    highest -= 1
            if root < 0:
                if bucket_first[0] < 0:
                    break
                while bucket_first[0] >= 0:
                    node = dequeue(0)
                    label[node] = 1
                    scan_arc[node] = inner_offsets[node]
                    count[0] -= 1
                    count[1] += 1
                    enqueue(node)
                highest = 1
                continue

            node = root
            scan_child[node] = first_child[node]
            found = -1
            while found < 0:
                position = scan_arc[node]
                end = inner_offsets[node + 1]
                while position < end and label[inner_heads[position]] != highest - 1:
                    position += 1
                scan_arc[node] = position
                if position < end:
                    found = inner_heads[position]
                    break
                child = scan_child[node]
                while child >= 0 and label[child] != highest:
                    child = next_sibling[child]
                if child >= 0:
                    scan_child[node] = next_sibling[child]
                    node = child
                    scan_child[node] = first_child[node]
                    continue
                count[highest] -= 1
                label[node] = highest + 1
                count[highest + 1] += 1
                scan_arc[node] = inner_offsets[node]
                if node == root:
                    break
                node = parent[node]
            if found < 0:
                highest += 1
                enqueue(root)
                continue

            above, up, moved_high, moved = found, 1, 0, 0
            while node >= 0:
                old_parent, old_up, old_high, old = parent[node], upward[node], flow_high[node], flow[node]
                if old_parent >= 0:
                    detach(node)
                sibling = first_child[above]
                parent[node] = above
                next_sibling[node] = sibling
                if sibling >= 0:
                    previous_sibling[sibling] = node
                first_child[above] = node
                upward[node] = up
                flow_high[node] = moved_high
                flow[node] = moved
                above, node, up, moved_high, moved = node, old_parent, 1 - old_up, old_high, old

            # Push the excess of the old root towards the new one; `deficit`: the last node had none to spare.
            node = root
            deficit = False
            while parent[node] >= 0 and (excess[node] != 0 or excess_high[node] != 0):
                above = parent[node]
                moved_high, moved = excess_high[node], excess[node]
                deficit = excess_high[above] < 0 or (excess_high[above] == 0 and excess[above] <= 0)
                leaves = False
                if upward[node] == 1:
                    low = flow[node] + moved
                    if wide:
                        flow_high[node] += moved_high + (low >> 62)
                        low = low & mask
                    flow[node] = low
                elif flow_high[node] > moved_high or (flow_high[node] == moved_high and flow[node] >= moved):
                    low = flow[node] - moved
                    if wide:
                        flow_high[node] += (low >> 62) - moved_high
                        low = low & mask
                    flow[node] = low
                else:
                    leaves = True
                    moved_high, moved = flow_high[node], flow[node]
                    flow_high[node] = 0
                    flow[node] = 0
                low = excess[above] + moved
                if wide:
                    excess_high[above] += moved_high + (low >> 62)
                    low = low & mask
                excess[above] = low
                low = excess[node] - moved
                if wide:
                    excess_high[node] += (low >> 62) - moved_high
                    low = low & mask
                excess[node] = low
                if leaves:
                    detach(node)
                    enqueue(node)
                node = above
            if (
                deficit
                and parent[node] < 0
                and (excess_high[node] > 0 or (excess_high[node] == 0 and excess[node] > 0))
            ):
                enqueue(node)

        if stop[0]:
            first[a] = 1
            continue

        # The smallest closure: what excess reaches along arcs and against tree arcs with flow. It gets label
        # -1.
        top = 0
        for v in range(k):
            if excess_high[v] > 0 or (excess_high[v] == 0 and excess[v] > 0):
                label[v] = -1
                stack[top] = v
                top += 1
        chosen = top
        while top > 0:
            top -= 1
            node = stack[top]
            for position in range(inner_offsets[node], inner_offsets[node + 1]):
                j = inner_heads[position]
                if label[j] >= 0:
                    label[j] = -1
                    stack[top] = j
                    top += 1
                    chosen += 1
            above = parent[node]
            if (
                above >= 0
                and upward[node] == 0
                and label[above] >= 0
                and (flow[node] != 0 or flow_high[node] != 0)
            ):
                label[above] = -1
                stack[top] = above
                top += 1
                chosen += 1
            child = first_child[node]
            while child >= 0:
                if upward[child] == 1 and label[child] >= 0 and (flow[child] != 0 or flow_high[child] != 0):
                    label[child] = -1
                    stack[top] = child
                    top += 1
                    chosen += 1
                child = next_sibling[child]

        # Profits add up to 0, so a closure of positive profit is not the whole segment.
        if chosen == 0:
            first[a] = 1
            continue
        left, right, dearer = a, 0, ahead[segments]
        for v in range(k):
            i = order[a + v]
            if label[v] < 0:
                order[left] = i
                left += 1
                dearer += cost[i]
            else:
                below[right] = i
                right += 1
        for v in range(right):
            order[left + v] = below[v]
        # The half that the budget ends in is next, else the dearer one.
        upper, lower = segments + 1, segments
        if dearer <= budget:
            upper, lower = segments, segments + 1
        ahead[upper] = ahead[segments]
        ahead[lower] = dearer
        begin[upper], end_of[upper] = a, left
        begin[lower], end_of[lower] = left, b
        segments += 2


@cache
def compiled_split() -> Callable[..., None]:
    """`split` compiled; the first call in a process loads it from numba's cache or compiles it."""
    logger.info("loading the compiled path kernel; the first time on a machine it is compiled, some seconds")
    return compiled(split)
