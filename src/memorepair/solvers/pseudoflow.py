"""Pseudoflow for maximum closure: the default solver."""

from __future__ import annotations

import logging
from collections.abc import Callable, MutableSequence, Sequence
from functools import cache
from typing import ClassVar, cast

import numpy as np

from memorepair.compiling import compiled
from memorepair.graphs.digraph import Index
from memorepair.problems import Certificate, Closure, ClosureInstance
from memorepair.problems.integers import Integers
from memorepair.problems.proof import Ties
from memorepair.solvers.limits import never

logger = logging.getLogger(__name__)

COMPILED_FROM = 50_000
"""Nodes plus arcs from which loading the compiled kernel (0.8 s) pays; Python needs 5 microseconds each."""

LOADED_FROM = 20
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

    def solve(self, instance: ClosureInstance, /, *, stop: Index | None = None) -> Closure:
        """The smallest optimal closure with its dual; O(k + m) memory, measured near linear time.

        Where ``stop[0]`` turns 1 on the way: the empty closure, with a pi >= 0 that bounds all others.
        """
        stop = never() if stop is None else stop
        requires, k, m = instance.requires, instance.requires.n, instance.requires.m
        loaded = compiled_kernel.cache_info().currsize > 0
        big = instance.profit.dtype == np.object_
        if big or k + m < (LOADED_FROM if loaded else COMPILED_FROM):
            chosen, arc, flow = [0] * k, [0] * k, [0] * k
            carrying = solve_closure(
                requires.offsets.tolist(),
                requires.heads.tolist(),
                instance.profit.tolist(),
                chosen,
                arc,
                flow,
                [0] * k,
                [0] * (FIELDS * k),
                [0] * (k + 3),
                [0] * (k + 3),
                [0] * (k + 1),
                [0] * m,
                stop,
            )
            mask, arcs = np.array(chosen, np.bool_), np.array(arc, np.int32)
            flows = cast(Integers, np.array(flow, instance.profit.dtype))
        else:
            mask, arcs, flows = np.empty(k, np.bool_), np.empty(k, np.int32), np.empty(k, np.int64)
            # Scratch kept between calls was no faster: the allocator hands the same pages out again.
            carrying = compiled_kernel()(
                np.require(requires.offsets, requirements=("C", "A")),
                np.require(requires.heads, requirements=("C", "A")),
                instance.profit.copy(),
                mask,
                arcs,
                flows,
                np.empty(k, np.int32),
                np.empty(FIELDS * k, np.int32),
                np.zeros(k + 3, np.int32),
                np.zeros(k + 3, np.int32),
                np.empty(k + 1, np.int32),
                np.zeros(m, np.int32),
                stop,
            )
        return Closure(mask=mask, certificate=Certificate(arcs=arcs[:carrying], amounts=flows[:carrying]))


PARENT, ARC, CHILD, NEXT, PREVIOUS, SCAN_CHILD, SCAN_ARC = range(7)
FIELDS = 8
"""A node's record: one cache line holds two. The label, which every scanned arc reads, is kept apart."""

PATIENCE = 32
"""Arcs a node that excess travels before the order of service turns; 0.3 to 11 on every family measured."""

SIGNATURE = (
    "(Array(int32, 1, 'C', True), Array(int32, 1, 'C', True), int64[::1], boolean[::1], int32[::1], "
    "int64[::1], int32[::1], int32[::1], int32[::1], int32[::1], int32[::1], int32[::1], int32[::1])"
)
"""The kernel's parameters as numba writes them; read-only arrays (True) are any."""

Ints = Sequence[int]
IntsOut = MutableSequence[int]


def solve_closure(
    offsets: Ints,
    heads: Ints,
    amount: IntsOut,
    chosen: IntsOut,
    carrying_arc: IntsOut,
    carried: IntsOut,
    label: IntsOut,
    node: IntsOut,
    first: IntsOut,
    count: IntsOut,
    stack: IntsOut,
    carrier: IntsOut,
    stop: Index,
) -> int:
    """The kernel, written for lists and for arrays alike: it runs as Python and compiled.

    Parameters
    ----------
    offsets, heads
        The arcs by tail.
    amount : (k,)
        The profits; overwritten by a root's excess, a child's flow on the arc to its parent.
    chosen : (k,)
        Result: whether the node is in the smallest optimal closure.
    carrying_arc, carried : (k,)
        Result: the arcs with flow, ascending, and their flows, in the first places.
    label : (k,), node : (FIELDS k,), stack : (k + 1,)
        Scratch.
    first, count : (k + 3,), carrier : (m,)
        Scratch, given as zeros; the places of labels that do not occur are never touched.
    stop : (1,)
        Looked at where a tree finds no way; once it holds 1 nothing is chosen, and pi is what it is by then.

    Returns
    -------
    int
        How many arcs carry flow.
    """
    # Invariants. Tree edges are arcs of the graph, each with a flow >= 0; every other arc has flow 0. Every
    # node but a root has excess 0; a root is strong when its excess is positive. A child's label is at least
    # its parent's; an arc u -> v has label[u] <= label[v] + 1, and so has every tree arc against its flow. So
    # a strong root of the highest label below which a label is missing has no way to a deficit.
    #
    # node[ARC] is a where arc a runs from the node to its parent, ~a where it runs from the parent to the
    # node. first[l] is 0, or 1 + the last strong root of label l to arrive; the one before it follows by
    # NEXT, which a root does not need for siblings.
    #
    # Nothing wraps: excess and flow stay within the sum of absolute profits, below 2^62 where it is compiled.
    k = len(offsets) - 1

    def enqueue(root: int) -> None:
        node[FIELDS * root + NEXT] = first[label[root]] - 1
        first[label[root]] = root + 1

    def detach(child: int, above: int) -> None:
        before, after = node[FIELDS * child + PREVIOUS], node[FIELDS * child + NEXT]
        if before >= 0:
            node[FIELDS * before + NEXT] = after
        else:
            node[FIELDS * above + CHILD] = after
        if after >= 0:
            node[FIELDS * after + PREVIOUS] = before
        if node[FIELDS * above + SCAN_CHILD] == child:
            node[FIELDS * above + SCAN_CHILD] = after

    # The last root to arrive is the first to be served. Prerequisites first, where numbers tell: then most
    # trees find their way blocked or free at once. But on a long path each excess would travel alone down all
    # of it, in quadratic time; when excess has travelled far, roots are served dependents first: then it adds
    # up on its way down.
    down = 0
    for i in range(k):
        for position in range(offsets[i], offsets[i + 1]):
            if heads[position] < i:
                down += 1
    strong = 0
    for turn in range(k):
        i = k - 1 - turn if 2 * down >= len(heads) else turn
        at = FIELDS * i
        node[at + PARENT] = -1
        node[at + CHILD] = -1
        node[at + SCAN_CHILD] = -1
        node[at + SCAN_ARC] = offsets[i]
        if amount[i] > 0:
            label[i] = 1
            strong += 1
            enqueue(i)
        else:
            label[i] = 0
    count[0], count[1] = k - strong, strong

    highest, travelled, patience = 1, 0, PATIENCE * (k + 1)
    while True:
        if travelled > patience:
            patience = 1 << 62
            for bucket in range(highest + 1):
                first[bucket] = 0
            for turn in range(k):
                i = turn if 2 * down >= len(heads) else k - 1 - turn
                if amount[i] > 0 and node[FIELDS * i + PARENT] < 0 and label[i] <= highest:
                    enqueue(i)

        # The next strong root, of the highest label. Where no node has the label below, none of its trees can
        # reach a weak root any more: they leave the search with label k + 1.
        root = -1
        while highest > 0 and root < 0:
            top_root = first[highest] - 1
            if top_root >= 0 and count[highest - 1] > 0:
                root = top_root
                first[highest] = node[FIELDS * root + NEXT] + 1
            else:
                first[highest] = 0
                while top_root >= 0:
                    stack[0] = top_root
                    top_root = node[FIELDS * top_root + NEXT]
                    top = 1
                    while top > 0:
                        top -= 1
                        i = stack[top]
                        count[label[i]] -= 1
                        label[i] = k + 1
                        child = node[FIELDS * i + CHILD]
                        while child >= 0:
                            stack[top] = child
                            top += 1
                            child = node[FIELDS * child + NEXT]
                highest -= 1
        if root < 0:
            top_root = first[0] - 1
            if top_root < 0:
                break
            first[0] = 0
            while top_root >= 0:  # roots that turned strong at label 0
                i = top_root
                top_root = node[FIELDS * i + NEXT]
                label[i] = 1
                node[FIELDS * i + SCAN_ARC] = offsets[i]
                count[0] -= 1
                count[1] += 1
                enqueue(i)
            highest = 1
            continue

        # Depth first through the root's tree, nodes of its label only, for an arc to a node one label lower.
        # A node whose arcs and children are exhausted rises by one label.
        i, at, below = root, FIELDS * root, highest - 1
        node[at + SCAN_CHILD] = node[at + CHILD]
        found = -1
        while True:
            position, end = node[at + SCAN_ARC], offsets[i + 1]
            while position < end:
                if label[heads[position]] == below:
                    found = heads[position]
                    break
                position += 1
            node[at + SCAN_ARC] = position
            if found >= 0:
                break
            child = node[at + SCAN_CHILD]
            while child >= 0 and label[child] != highest:
                child = node[FIELDS * child + NEXT]
            if child >= 0:
                node[at + SCAN_CHILD] = node[FIELDS * child + NEXT]
                i, at = child, FIELDS * child
                node[at + SCAN_CHILD] = node[at + CHILD]
                continue
            count[highest] -= 1
            label[i] = highest + 1
            count[highest + 1] += 1
            node[at + SCAN_ARC] = offsets[i]
            if i == root:
                break
            i = node[at + PARENT]
            at = FIELDS * i
        if found < 0:
            if stop[0]:
                break
            highest += 1
            enqueue(root)
            continue

        # Merge: the strong tree is turned to have i as its root, which becomes a child of `found`.
        excess = amount[root]
        above, arc, flow = found, node[at + SCAN_ARC], 0
        while True:
            at = FIELDS * i
            old_parent, old_arc, old_flow = node[at + PARENT], node[at + ARC], amount[i]
            if old_parent >= 0:
                detach(i, old_parent)
            sibling = node[FIELDS * above + CHILD]
            if sibling >= 0:
                node[FIELDS * sibling + PREVIOUS] = i
            node[FIELDS * above + CHILD] = i
            node[at + PARENT], node[at + NEXT], node[at + PREVIOUS] = above, sibling, -1
            node[at + ARC], amount[i] = arc, flow
            if old_parent < 0:
                break
            above, i, arc, flow = i, old_parent, ~old_arc, old_flow

        # Push the excess of the old root up the path to the weak root. Where an arc parent -> node has less
        # flow to give back than there is excess, it is emptied and leaves the forest, and the node stays a
        # strong root.
        while excess > 0:
            travelled += 1
            at = FIELDS * i
            above = node[at + PARENT]
            if above < 0:
                weak = amount[i] <= 0
                amount[i] += excess
                if weak and amount[i] > 0:
                    enqueue(i)
                break
            flow = amount[i]
            if node[at + ARC] >= 0:
                amount[i] = flow + excess
            elif flow >= excess:
                amount[i] = flow - excess
            else:
                detach(i, above)
                node[at + PARENT] = -1
                amount[i] = excess - flow
                enqueue(i)
                excess = flow
            i = above

    stopped = stop[0] != 0

    # No strong node can reach a deficit, so pi = flow is optimal, and the smallest closure is what the excess
    # reaches along arcs and against tree arcs with flow. A parent reaches its child unless the arc runs from
    # the child and is empty: where there is no such arc among strong nodes, they are the closure.
    loose = False
    for i in range(k):
        at = FIELDS * i
        in_strong = label[i] > k and not stopped
        chosen[i] = in_strong
        if node[at + PARENT] >= 0:
            if amount[i] > 0:
                carrier[node[at + ARC] if node[at + ARC] >= 0 else ~node[at + ARC]] = i + 1
            elif in_strong and node[at + ARC] >= 0:
                loose = True
    if loose:
        top = 0
        for i in range(k):
            chosen[i] = label[i] > k and node[FIELDS * i + PARENT] < 0
            if chosen[i]:
                stack[top] = i
                top += 1
        while top > 0:
            top -= 1
            i = stack[top]
            at = FIELDS * i
            for position in range(offsets[i], offsets[i + 1]):
                if not chosen[heads[position]]:
                    chosen[heads[position]] = 1
                    stack[top] = heads[position]
                    top += 1
            above = node[at + PARENT]
            if above >= 0 and node[at + ARC] < 0 and amount[i] > 0 and not chosen[above]:
                chosen[above] = 1
                stack[top] = above
                top += 1
            child = node[at + CHILD]
            while child >= 0:
                if node[FIELDS * child + ARC] >= 0 and amount[child] > 0 and not chosen[child]:
                    chosen[child] = 1
                    stack[top] = child
                    top += 1
                child = node[FIELDS * child + NEXT]

    carrying = 0
    for arc in range(len(heads)):
        if carrier[arc] > 0:
            carrying_arc[carrying] = arc
            carried[carrying] = amount[carrier[arc] - 1]
            carrying += 1
    return carrying


@cache
def compiled_kernel() -> Callable[..., int]:
    """`solve_closure` compiled for arrays; the first call in a process loads or compiles it."""
    logger.info(
        "loading the compiled closure kernel; the first time on a machine it is compiled, a few seconds"
    )
    return compiled(solve_closure, SIGNATURE)
