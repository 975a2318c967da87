"""Pseudoflow for maximum closure: the default solver."""

from __future__ import annotations

import logging
from collections.abc import Callable, MutableSequence, Sequence
from functools import cache
from typing import ClassVar

import numpy as np

from memorepair.problems import Certificate, Closure, ClosureInstance
from memorepair.proof import Ties

logger = logging.getLogger(__name__)

COMPILED_FROM = 50_000
"""Nodes plus arcs from which loading the compiled kernel (0.8 s) pays; Python needs 5 microseconds each."""

LOADED_FROM = 1_000
"""The same once the compiled kernel is loaded."""


class Pseudoflow:
    """Hochbaum's pseudoflow, highest label first, specialised to closures.

    The prerequisite arcs are uncuttable, so an arc outside the current forest carries no flow: no source,
    sink or reverse arcs are needed, only the arcs by tail and one flow a node. The certificate is the
    forest's flow.

    Source: D. S. Hochbaum, The pseudoflow algorithm: a new algorithm for the maximum-flow problem, Operations
    Research 56 (2008).
    """

    name: ClassVar[str] = "pseudoflow"
    exact: ClassVar[bool] = True
    ties: ClassVar[frozenset[Ties]] = frozenset(("fewest",))
    max_size: ClassVar[int | None] = None
    package: ClassVar[str | None] = None

    def solve(self, instance: ClosureInstance, /) -> Closure:
        """The smallest optimal closure with its dual; O(k + m) memory, measured near linear time."""
        requires, k = instance.requires, instance.requires.n
        loaded = compiled_kernel.cache_info().currsize > 0
        if k + requires.m < (LOADED_FROM if loaded else COMPILED_FROM):
            chosen = [0] * k
            flow, arc = [0] * k, [-1] * k
            solve_closure(
                requires.offsets.tolist(),
                requires.heads.tolist(),
                instance.profit.tolist(),
                flow,
                arc,
                chosen,
                [[0] * (k + 3) for _ in range(COLUMNS)],
            )
            flows, arcs, mask = np.array(flow, np.int64), np.array(arc, np.int32), np.array(chosen, np.bool_)
        else:
            flows, arcs, mask = np.zeros(k, np.int64), np.full(k, -1, np.int32), np.zeros(k, np.bool_)
            compiled_kernel()(
                requires.offsets,
                requires.heads,
                instance.profit.copy(),
                flows,
                arcs,
                mask,
                np.zeros((COLUMNS, k + 3), np.int32),
            )
        carrying = flows > 0
        return Closure(mask=mask, certificate=Certificate.of(arcs[carrying], flows[carrying]))


COLUMNS = 13
"""Index columns the kernel works in."""

Ints = Sequence[int]
IntsOut = MutableSequence[int]


def solve_closure(
    offsets: Ints,
    heads: Ints,
    excess: IntsOut,
    flow: IntsOut,
    arc: IntsOut,
    chosen: IntsOut,
    work: Sequence[IntsOut],
) -> None:
    """The kernel, written for lists and for arrays alike: it runs as Python and compiled.

    Parameters
    ----------
    offsets, heads
        The arcs by tail.
    excess : (k,)
        The profits; overwritten, at the end r_i.
    flow, arc, chosen : (k,)
        Results, given as 0, -1, 0: the flow on each node's tree arc, that arc's number, whether the node is
        chosen.
    work : (COLUMNS, k + 3) zeros
        Scratch.
    """
    # Invariants. Tree edges are arcs of the graph, each with a flow >= 0; every other arc has flow 0. Every
    # node but a root has excess 0; a root is strong when its excess is positive. A child's label is at least
    # its parent's; an arc u -> v has label[u] <= label[v] + 1, and so has every tree arc against its flow. So
    # a strong root of the highest label below which a label is missing has no way to a deficit.
    #
    # Nothing wraps: excess and flow stay within the sum of absolute profits, below 2^62.
    k = len(offsets) - 1
    label, parent, first_child, next_sibling, previous_sibling = work[0], work[1], work[2], work[3], work[4]
    upward = work[5]  # 1: the tree arc runs from the node to its parent, 0: from the parent to the node
    scan_child, scan_arc = work[6], work[7]
    bucket_first, bucket_last, bucket_next = (
        work[8],
        work[9],
        work[10],
    )  # strong roots by label, first in, first out
    count, stack = work[11], work[12]  # nodes by label

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

    def attach(child: int, to: int) -> None:
        first = first_child[to]
        parent[child] = to
        next_sibling[child] = first
        previous_sibling[child] = -1
        if first >= 0:
            previous_sibling[first] = child
        first_child[to] = child

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

    for i in range(k + 3):
        bucket_first[i] = -1
        bucket_last[i] = -1
        bucket_next[i] = -1
    for i in range(k):
        parent[i] = -1
        first_child[i] = -1
        next_sibling[i] = -1
        previous_sibling[i] = -1
        scan_child[i] = -1
        scan_arc[i] = offsets[i]
        if excess[i] > 0:
            label[i] = 1
            enqueue(i)
        count[label[i]] += 1

    highest = 1
    while True:
        # The next strong root, of the highest label. Where no node has the label below, none of its trees can
        # reach a weak root any more: they leave the search with label k + 1.
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
            while bucket_first[0] >= 0:  # roots that turned strong at label 0
                node = dequeue(0)
                label[node] = 1
                scan_arc[node] = offsets[node]
                count[0] -= 1
                count[1] += 1
                enqueue(node)
            highest = 1
            continue

        # Depth first through the root's tree, nodes of its label only, for an arc to a node one label lower.
        # A node whose arcs and children are exhausted rises by one label.
        node = root
        scan_child[node] = first_child[node]
        found = -1
        while found < 0:
            position = scan_arc[node]
            end = offsets[node + 1]
            while position < end and label[heads[position]] != highest - 1:
                position += 1
            scan_arc[node] = position
            if position < end:
                found = heads[position]
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
            scan_arc[node] = offsets[node]
            if node == root:
                break
            node = parent[node]
        if found < 0:
            highest += 1
            enqueue(root)
            continue

        # Merge: the strong tree is turned to have `node` as its root, which becomes a child of `found`.
        above, up, amount, number = found, 1, 0, scan_arc[node]
        while node >= 0:
            old_parent, old_up, old_amount, old_number = parent[node], upward[node], flow[node], arc[node]
            if old_parent >= 0:
                detach(node)
            attach(node, above)
            upward[node] = up
            flow[node] = amount
            arc[node] = number
            above, node, up, amount, number = node, old_parent, 1 - old_up, old_amount, old_number

        # Push the excess of the old root up the path to the weak root; where an arc parent -> node has less
        # flow to give back than there is excess, it is emptied and leaves the forest, and the node stays a
        # strong root.
        node = root
        before = excess[root]
        while parent[node] >= 0 and excess[node] != 0:
            above = parent[node]
            amount = excess[node]
            before = excess[above]
            if upward[node] == 1:
                flow[node] += amount
                excess[above] = before + amount
                excess[node] = 0
            elif flow[node] >= amount:
                flow[node] -= amount
                excess[above] = before + amount
                excess[node] = 0
            else:
                excess[above] = before + flow[node]
                excess[node] = amount - flow[node]
                flow[node] = 0
                arc[node] = -1
                detach(node)
                enqueue(node)
            node = above
        if excess[node] > 0 and before <= 0 and parent[node] < 0:
            enqueue(node)

    # No strong node can reach a deficit, so pi = flow is optimal, and the smallest closure is what the excess
    # reaches along arcs and against tree arcs with flow.
    top = 0
    for i in range(k):
        if excess[i] > 0:
            chosen[i] = 1
            stack[top] = i
            top += 1
    while top > 0:
        top -= 1
        node = stack[top]
        for position in range(offsets[node], offsets[node + 1]):
            reached = heads[position]
            if not chosen[reached]:
                chosen[reached] = 1
                stack[top] = reached
                top += 1
        above = parent[node]
        if above >= 0 and upward[node] == 0 and flow[node] > 0 and not chosen[above]:
            chosen[above] = 1
            stack[top] = above
            top += 1
        child = first_child[node]
        while child >= 0:
            if upward[child] == 1 and flow[child] > 0 and not chosen[child]:
                chosen[child] = 1
                stack[top] = child
                top += 1
            child = next_sibling[child]


@cache
def compiled_kernel() -> Callable[..., None]:
    """`solve_closure` compiled; the first call in a process loads it from numba's cache or compiles it."""
    import numba

    logger.info(
        "loading the compiled closure kernel; the first time on a machine it is compiled, a few seconds"
    )
    try:
        return numba.njit(cache=True, nogil=True)(solve_closure)
    except RuntimeError:  # no place to keep the cache
        return numba.njit(nogil=True)(solve_closure)
