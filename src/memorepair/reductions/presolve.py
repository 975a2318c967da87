"""Presolve: takes out nodes with at most one prerequisite and at most one dependent."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np

from memorepair.graphs.digraph import Digraph, Index, Int64, Mask
from memorepair.problems import Certificate, Closure, ClosureInstance
from memorepair.reductions.part import Part

logger = logging.getLogger(__name__)

WORTH_FROM = 50_000
"""Nodes plus arcs from which loading the compiled steps (0.3 s) pays."""

WORTH_SHARE = 0.25
"""Share of nodes that can go at the start from which it pays.

Measured at 1e5 nodes, cut with presolve over cut without (that share): chain 0.1 (1.0), tree 0.3 (0.75),
diamond 0.4 (0.67), star 1.0 (1.0), prov 0.8 (0.55), provD 0.8 (0.28), provR 1.8 (0.55, of 5 ms), bip 1.1
(0.05), mine5 1.1, mine9 1.2 (0.0). Merging every node into its only prerequisite or only dependent, whatever
its other arcs, by union-find, took longer than it saved except on chains, diamonds and dense provenance.
"""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Elimination:
    """What went, in order, t steps.

    Attributes
    ----------
    profit : (k,) int64
        Of each node when it went, or at the end.
    steps : (3 t,) int32
        Node, arc from its dependent, arc to its prerequisite; -1 for what it does not have.
    tails, heads : (m,) int32
        Ends of the arcs, as they were when their nodes went.
    part
        What is left.
    least
        Profit from which a node gains: 1, or 0 where the largest optimum is asked for.
    """

    profit: Int64
    steps: Index
    tails: Index
    heads: Index
    part: Part
    least: int


class Presolve:
    """Leaves and inner nodes of paths go, one by one; forests and paths, directed anyhow, go altogether.

    What is barred has gone before (`Barred`).
    """

    # Let i have at most one arc u -> i and at most one i -> w, loops apart; f is the flow on an arc of the
    # instance without i. Say that i gains if p > 0, or p = 0 where the largest optimum is asked for. In the
    # extreme optimum x, and with the dual pi:
    #
    #   neither    x_i = i gains
    #   i -> w     x_i = i gains and x_w; p_w grows by max(0, p)      pi(i -> w) = max(0, p), r_i = min(0, p)
    #   u -> i     x_i = i gains or x_u; p_u grows by min(0, p)       pi(u -> i) = max(0, -p), r_i = max(0, p)
    #   both       x_i = x_w, p_w grows by p, where i gains;          pi(i -> w) = f + max(0, p),
    #              x_i = x_u, p_u grows by p, where not;              pi(u -> i) = f + max(0, -p), r_i = 0
    #              u -> w takes the place of both arcs, with flow f; where u = w there is none, f = 0
    #
    # For i's own x: x_u <= x_i <= x_w leaves it that choice, as every optimum in which i could be in or out
    # at the same value takes the one that ties ask for. For the dual: the r of u and of w are what they are
    # without i, and max(0, r_i) is what the objective gains beside. So an extreme optimum with its proof
    # becomes an extreme optimum with its proof.
    #
    # Whether i may go depends on degrees alone. A step lowers no degree but that of the one neighbour of a
    # leaf (or of a cycle of two): all that can go is found by looking at each node once, then on from the
    # neighbour. The exclusive or of a node's arcs is its arc where it has one.
    #
    # Nothing wraps: a step moves profit, so the sum P of absolute profits does not grow; and pi on an arc s
    # -> t stays within P - max(0, p_t) - max(0, -p_s): true of a forest's flow, and kept by each step back.

    def apply(self, instance: ClosureInstance, /) -> tuple[ClosureInstance, Elimination | None]:
        """What is left, with the steps; the instance itself with None where that would not pay."""
        requires, k, m = instance.requires, instance.requires.n, instance.requires.m
        if k + m < WORTH_FROM:
            return instance, None
        tails, nodes = np.empty(m, np.int32), np.zeros(_FIELDS * k, np.int32)
        compiled = _compiled()
        able = compiled.count(requires.offsets, requires.heads, tails, nodes)
        if able < WORTH_SHARE * k:
            return instance, None
        heads, profit = requires.heads.copy(), instance.profit.copy()
        steps = np.empty(_STEP * k, np.int32)
        gone = compiled.eliminate(heads, tails, profit, nodes, steps)
        kept = np.empty(k, np.bool_)
        inner_offsets, inner_heads = np.zeros(k - gone + 1, np.int32), np.empty(m, np.int32)
        arcs = np.empty(m, np.int32)
        size = compiled.keep(requires.offsets, heads, nodes, kept, inner_offsets, inner_heads, arcs)
        # What is given back owns its memory and no more of it.
        reduced = replace(
            instance,
            profit=profit[kept],
            requires=Digraph(offsets=inner_offsets, heads=inner_heads[:size].copy()),
        )
        part = Part(nodes=kept, arcs=arcs[:size].copy())
        record = Elimination(
            profit=profit,
            steps=steps[: _STEP * gone],
            tails=tails,
            heads=heads,
            part=part,
            least=1 if instance.ties == "fewest" else 0,
        )
        return reduced, record

    def invert(self, solution: Closure, record: Elimination | None, /) -> Closure:
        """Every step taken back, the last first; O(k + m)."""
        if record is None:
            return solution
        wide = record.part.widened(solution, rest=False)
        pi = np.zeros(len(record.heads), np.int64)
        if wide.certificate is not None:
            pi[wide.certificate.arcs] = wide.certificate.amounts
        compiled = _compiled()
        compiled.put_back(
            record.profit, record.least, record.steps, record.tails, record.heads, wide.mask, pi
        )
        if wide.certificate is None:
            return wide
        carrying = np.count_nonzero(pi)
        arcs, amounts = np.empty(carrying + 1, np.int32), np.empty(carrying + 1, np.int64)
        compiled.gather(pi, arcs, amounts)
        certificate = Certificate(arcs=arcs[:carrying], amounts=amounts[:carrying])
        return Closure(mask=wide.mask, certificate=certificate)


_OUT, _OUT_ARCS, _IN, _IN_ARCS = range(4)  # a node's degrees, and the exclusive or of its arcs' numbers
_FIELDS: Final = 4
_GONE: Final = -1
_STEP: Final = 3


def _count(offsets: Index, heads: Index, tails: Index, nodes: Index) -> int:
    """Degrees, tails; how many nodes may go at the start. `nodes` is given as zeros."""
    k, able = len(offsets) - 1, 0
    for i in range(k):
        degree, arcs = 0, 0
        for arc in range(offsets[i], offsets[i + 1]):
            j = heads[arc]
            tails[arc] = i
            if j != i:
                degree += 1
                arcs ^= arc
                nodes[_FIELDS * j + _IN] += 1
                nodes[_FIELDS * j + _IN_ARCS] ^= arc
        nodes[_FIELDS * i + _OUT] = degree
        nodes[_FIELDS * i + _OUT_ARCS] = arcs
    for i in range(k):
        if nodes[_FIELDS * i + _OUT] <= 1 and nodes[_FIELDS * i + _IN] <= 1:
            able += 1
    return able


def _eliminate(heads: Index, tails: Index, profit: Int64, nodes: Index, steps: Index) -> int:
    """All steps; how many. `heads`, `profit` and `nodes` become those of what is left."""
    gone = 0
    for start in range(len(profit)):
        i = start
        while i >= 0:
            at = _FIELDS * i
            needs, serves = nodes[at + _OUT], nodes[at + _IN]
            if needs == _GONE or needs > 1 or serves > 1:
                break
            from_arc, u, to_arc, w, following = -1, -1, -1, -1, -1
            p = profit[i]
            if needs == 1:
                to_arc = nodes[at + _OUT_ARCS]
                w = heads[to_arc]
            if serves == 1:
                from_arc = nodes[at + _IN_ARCS]
                u = tails[from_arc]
            if needs == 1 and serves == 1:
                profit[w if p > 0 else u] += p
            elif needs == 1:
                profit[w] += max(0, p)
            elif serves == 1:
                profit[u] += min(0, p)
            if needs == 1 and serves == 1 and u != w:
                heads[from_arc] = w
                nodes[_FIELDS * w + _IN_ARCS] ^= from_arc ^ to_arc
            else:
                if needs == 1:
                    nodes[_FIELDS * w + _IN] -= 1
                    nodes[_FIELDS * w + _IN_ARCS] ^= to_arc
                    following = w
                if serves == 1:
                    nodes[_FIELDS * u + _OUT] -= 1
                    nodes[_FIELDS * u + _OUT_ARCS] ^= from_arc
                    following = u
            nodes[at + _OUT] = _GONE
            step = _STEP * gone
            steps[step], steps[step + 1], steps[step + 2] = i, from_arc, to_arc
            gone += 1
            i = following
    return gone


def _keep(
    offsets: Index, heads: Index, nodes: Index, kept: Mask, to_offsets: Index, to_heads: Index, arcs: Index
) -> int:
    """What is left, numbered anew, with each arc's number before; how many arcs."""
    number = 0
    for i in range(len(kept)):
        kept[i] = nodes[_FIELDS * i + _OUT] != _GONE
        nodes[_FIELDS * i + _IN] = number if kept[i] else _GONE  # one place to look for both
        if kept[i]:
            number += 1
    number, size = 0, 0
    for i in range(len(kept)):
        if kept[i]:
            for arc in range(offsets[i], offsets[i + 1]):
                j = heads[arc]
                if nodes[_FIELDS * j + _IN] != _GONE and j != i:
                    to_heads[size] = nodes[_FIELDS * j + _IN]
                    arcs[size] = arc
                    size += 1
            number += 1
            to_offsets[number] = size
    return size


def _put_back(
    profit: Int64, least: int, steps: Index, tails: Index, heads: Index, chosen: Mask, pi: Int64
) -> None:
    """`chosen` and `pi` of what is left become those of all."""
    for step in range(len(steps) - _STEP, -1, -_STEP):
        i, from_arc, to_arc = steps[step], steps[step + 1], steps[step + 2]
        p, gains = profit[i], profit[i] >= least
        if from_arc >= 0 and to_arc >= 0:
            chosen[i] = chosen[heads[to_arc] if gains else tails[from_arc]]
            pi[to_arc] = pi[from_arc] + max(0, p)
            pi[from_arc] += max(0, -p)
        elif to_arc >= 0:
            chosen[i] = gains & chosen[heads[to_arc]]
            pi[to_arc] = max(0, p)
        elif from_arc >= 0:
            chosen[i] = gains | chosen[tails[from_arc]]
            pi[from_arc] = max(0, -p)
        else:
            chosen[i] = gains


def _gather(pi: Int64, arcs: Index, amounts: Int64) -> None:
    """Arcs with pi > 0 and their pi; there is room for one more."""
    carrying = 0
    for arc in range(len(pi)):  # no branch: where pi flickers between 0 and more, guessing costs more
        arcs[carrying] = arc
        amounts[carrying] = pi[arc]
        carrying += pi[arc] > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Steps:
    count: Callable[..., int]
    eliminate: Callable[..., int]
    keep: Callable[..., int]
    put_back: Callable[..., None]
    gather: Callable[..., None]


@cache
def _compiled() -> _Steps:
    import numba

    logger.info("loading the compiled presolve; the first time on a machine it is compiled, a few seconds")
    compiler = numba.njit(cache=True, nogil=True)
    try:
        compiler(_count)
    except RuntimeError:  # no place to keep the cache
        compiler = numba.njit(nogil=True)
    return _Steps(
        count=compiler(_count),
        eliminate=compiler(_eliminate),
        keep=compiler(_keep),
        put_back=compiler(_put_back),
        gather=compiler(_gather),
    )
