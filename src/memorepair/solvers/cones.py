"""Cones: what a node drags in or takes along, with its value and cost."""

from __future__ import annotations

from collections.abc import Callable, MutableSequence, Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from memorepair.compiling import compiled
from memorepair.graphs.digraph import Digraph, Index, Int64, Mask

COMPILED_FROM = 1_000
"""Nodes plus arcs from which the compiled kernels are used."""

FILL_NODES = 2_000
FILL_CONE = 5_000
FILL_ROUNDS = 400

Ints = Sequence[int]
IntsOut = MutableSequence[int]
Floats = Sequence[float]
Array = npt.NDArray[np.float64]


def cone_totals(
    requires: Digraph, inside: Mask, nodes: Index, value: Array, cost: Array, stop: Index
) -> tuple[Array, Array]:
    """Value and cost of what each of `nodes` reaches within `inside`, itself counted, (q,) float64 each.

    Notes
    -----
    O(q (k + m)) at worst; 0 for those that were not looked at when ``stop[0]`` turned 1.
    """
    values, costs = np.zeros(len(nodes)), np.zeros(len(nodes))
    mark, stack = np.zeros((2, requires.n), np.int32)
    if requires.n + requires.m >= COMPILED_FROM:
        _compiled("totals")(
            requires.offsets, requires.heads, inside, nodes, value, cost, values, costs, mark, stack, stop
        )
        return values, costs
    sums, charges = [0.0] * len(nodes), [0.0] * len(nodes)
    totals(
        requires.offsets.tolist(),
        requires.heads.tolist(),
        inside.tolist(),
        nodes.tolist(),
        value.tolist(),
        cost.tolist(),
        sums,
        charges,
        mark.tolist(),
        stack.tolist(),
        stop,
    )
    return np.array(sums), np.array(charges)


def totals(
    offsets: Ints,
    heads: Ints,
    inside: Ints,
    nodes: Ints,
    value: Floats,
    cost: Floats,
    values: MutableSequence[float],
    costs: MutableSequence[float],
    mark: IntsOut,
    stack: IntsOut,
    stop: Index,
) -> None:
    """The kernel of `cone_totals`, as Python and compiled; `mark` is given as zeros."""
    for place in range(len(nodes)):
        if stop[0]:
            return
        stamp = place + 1
        stack[0] = nodes[place]
        mark[nodes[place]] = stamp
        top = 1
        while top > 0:
            top -= 1
            node = stack[top]
            values[place] += value[node]
            costs[place] += cost[node]
            for arc in range(offsets[node], offsets[node + 1]):
                head = heads[arc]
                if inside[head] and mark[head] != stamp:
                    mark[head] = stamp
                    stack[top] = head
                    top += 1


def fill_cones(
    requires: Digraph,
    value: Int64,
    cost: Int64,
    room: Sequence[int],
    order: Index,
    chosen: Mask,
    stop: Index,
) -> Mask:
    """`chosen` with cones added that fit, the best ratio of value to share of the budgets first.

    Parameters
    ----------
    requires
        k nodes.
    value, cost : (k,), (k, d) int64
        Amounts.
    room : d ints
        What is left of each budget.
    order : (k,) int
        Only the first 2,000 nodes in it that are not chosen are tried, cones of up to 5,000 nodes.
    chosen : (k,) bool
        A closure.
    stop : (1,)
        Nothing more is added once it holds 1.

    Notes
    -----
    At most 400 rounds, each walks all cones anew.
    """
    few = order[~chosen[order]][:FILL_NODES].astype(np.int32)
    left, grown = np.array(room, np.int64), chosen.astype(np.int8)
    used, scale = np.zeros_like(left), 1.0 / (1.0 + left)
    mark, stack = np.zeros((2, requires.n), np.int32)
    offsets, heads, limits = requires.offsets, requires.heads, (FILL_ROUNDS, FILL_CONE, stop)
    if requires.n + requires.m >= COMPILED_FROM:
        _compiled("fill")(offsets, heads, value, cost, left, few, grown, mark, stack, used, scale, *limits)
        return grown.astype(np.bool_)
    added = grown.tolist()
    fill(
        offsets.tolist(),
        heads.tolist(),
        value.tolist(),
        cost.tolist(),
        left.tolist(),
        few.tolist(),
        added,
        mark.tolist(),
        stack.tolist(),
        used.tolist(),
        scale.tolist(),
        *limits,
    )
    return np.array(added, np.bool_)


def fill(
    offsets: Ints,
    heads: Ints,
    value: Ints,
    cost: Sequence[Ints],
    left: IntsOut,
    few: Ints,
    chosen: IntsOut,
    mark: IntsOut,
    stack: IntsOut,
    used: IntsOut,
    scale: Floats,
    rounds: int,
    largest: int,
    stop: Index,
) -> None:
    """The kernel of `fill_cones`, as Python and compiled; `mark` is given as zeros."""
    stamp = 0
    for _ in range(rounds):
        best, best_worth, best_share = -1, 0.0, 1.0
        for place in range(len(few)):
            if stop[0]:
                return
            first = few[place]
            if chosen[first]:
                continue
            stamp += 1
            stack[0] = first
            mark[first] = stamp
            top, size, worth, share = 1, 0, 0.0, 0.0
            fits = True
            for kind in range(len(left)):
                used[kind] = 0
            while top > 0 and fits:
                top -= 1
                node = stack[top]
                size += 1
                worth += value[node]
                for kind in range(len(left)):
                    used[kind] += cost[node][kind]
                    if used[kind] > left[kind] or size > largest:
                        fits = False
                for arc in range(offsets[node], offsets[node + 1]):
                    head = heads[arc]
                    if not chosen[head] and mark[head] != stamp:
                        mark[head] = stamp
                        stack[top] = head
                        top += 1
            for kind in range(len(left)):
                share += used[kind] * scale[kind]
            if fits and worth * best_share > best_worth * share:
                best, best_worth, best_share = first, worth, share
        if best < 0:
            return
        stack[0] = best
        chosen[best] = 1
        top = 1
        while top > 0:
            top -= 1
            node = stack[top]
            for kind in range(len(left)):
                left[kind] -= cost[node][kind]
            for arc in range(offsets[node], offsets[node + 1]):
                head = heads[arc]
                if not chosen[head]:
                    chosen[head] = 1
                    stack[top] = head
                    top += 1


@cache
def _compiled(name: str) -> Callable[..., None]:
    kernel: Callable[..., None] = totals if name == "totals" else fill
    return compiled(kernel)
