"""Presolve: takes out nodes with at most one prerequisite and at most one dependent."""

from __future__ import annotations

import logging
from collections.abc import Callable, MutableSequence, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

import numpy as np

from memorepair.compiling import compiled
from memorepair.graphs.digraph import Digraph, Index, Int64
from memorepair.problems import Certificate, Closure, ClosureInstance
from memorepair.reductions.part import Part

logger = logging.getLogger(__name__)

COMPILED_FROM = 50_000
"""Nodes plus arcs from which loading the compiled steps (0.3 s) pays."""

LOADED_FROM = 10_000
"""The same once they are loaded."""

WORTH_FROM = 1_000
"""Below, the calls cost what they save. Above, a chain costs the cut alone quadratic time."""

ALWAYS_SHARE, WORTH_SHARE, PAYING_SHARE = 0.6, 0.25, 0.2
"""When it pays: where the share of nodes that can go at the start is at least the first; or at least the
second while there are so many arcs a node, the third, from gain to loss: without them a cut has little to do.

Measured at 1e5 nodes, cut with presolve over cut without (share; arcs from gain to loss a node): chain 0.1
(1.0), tree 0.3 (0.75), diamond 0.2 (0.67), star 0.9 (1.0), prov 0.7 (0.55; 0.40), provD 0.8 (0.28; 0.66),
provR 1.5 (0.55; 0.13), bip 1.1 (0.05), mine5 1.1, mine9 1.4 (0.0). Merging every node into its only
prerequisite or only dependent, whatever its other arcs, by union-find, took longer than it saved except on
chains, diamonds and dense provenance.
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
    then
        What went from what was left.
    """

    profit: Int64
    steps: Index
    tails: Index
    heads: Index
    part: Part
    least: int
    then: Elimination | None = None


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
    # Of parallel arcs, which paths that go leave behind, one is kept, pi = 0 on the others: then more may go.
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
        if instance.profit.dtype != np.int64:  # Python integers are for the solver alone
            return instance, None
        if k + m < WORTH_FROM or _dense(requires):
            return instance, None
        run = _run(k + m)
        offsets, tails, nodes = run.read(requires.offsets), run.room(m), run.zeros(_FIELDS * k)
        heads = run.copy(requires.heads)
        able = run.count(offsets, heads, tails, nodes)
        if able < WORTH_SHARE * k:
            return instance, None
        profit = run.copy(instance.profit)
        if able < ALWAYS_SHARE * k and run.paying(tails, heads, profit) < PAYING_SHARE * k:
            return instance, None
        steps = run.room(_STEP * k)
        gone = run.eliminate(heads, tails, profit, nodes, steps)
        inner_offsets, inner_heads, arcs = run.zeros(k - gone + 1), run.room(m), run.room(m)
        size, parallel, left = 0, 0, np.zeros(k, np.bool_)
        if gone < k:
            kept = run.room(k)
            size, parallel = run.keep(offsets, heads, nodes, kept, inner_offsets, inner_heads, arcs)
            left = np.array(kept, np.bool_)
        # What is given back owns its memory and no more of it.
        part = Part(nodes=left, arcs=np.array(arcs[:size], np.int32))
        record = Elimination(
            profit=np.asarray(profit, np.int64),
            steps=np.asarray(steps[: _STEP * gone], np.int32),
            tails=np.asarray(tails, np.int32),
            heads=np.asarray(heads, np.int32),
            part=part,
            least=1 if instance.ties == "fewest" else 0,
        )
        inner = Digraph(
            offsets=np.asarray(inner_offsets, np.int32), heads=np.array(inner_heads[:size], np.int32)
        )
        reduced = replace(instance, profit=record.profit[part.nodes], requires=inner)
        if parallel == 0 or parallel < WORTH_SHARE * inner.n:
            return reduced, record
        reduced, then = self.apply(reduced)  # a quarter of the nodes goes each time
        return reduced, replace(record, then=then)

    def invert(self, solution: Closure, record: Elimination | None, /) -> Closure:
        """Every step taken back, the last first; O(k + m)."""
        if record is None:
            return solution
        wide = record.part.widened(self.invert(solution, record.then), rest=False)
        dual = np.zeros(len(record.heads), np.int64)
        if wide.certificate is not None:
            dual[wide.certificate.arcs] = wide.certificate.amounts
        run = _run(len(wide.mask) + len(dual))
        given = (run.read(array) for array in (record.profit, record.steps, record.tails, record.heads))
        chosen, pi = run.read(wide.mask), run.read(dual)
        run.put_back(record.least, *given, chosen, pi)
        mask = np.asarray(chosen, np.bool_)
        if wide.certificate is None:
            return Closure(mask=mask, certificate=None)
        carrying = int(np.count_nonzero(pi))
        arcs, amounts = run.room(carrying + 1), run.read(np.empty(carrying + 1, np.int64))
        run.gather(pi, arcs, amounts)
        certificate = Certificate(
            arcs=np.asarray(arcs[:carrying], np.int32), amounts=np.asarray(amounts[:carrying], np.int64)
        )
        return Closure(mask=mask, certificate=certificate)


def _dense(requires: Digraph) -> bool:
    """Whether too many nodes have two arcs or more for the others to be worth a look."""
    most = (1 - WORTH_SHARE) * requires.n
    return requires.m >= 2 * most and bool(np.count_nonzero(np.diff(requires.offsets) > 1) > most)


_OUT, _OUT_ARCS, _IN, _IN_ARCS = range(4)  # a node's degrees, and the exclusive or of its arcs' numbers
_FIELDS: Final = 4
_GONE: Final = -1
_STEP: Final = 3

Ints = Sequence[int]
IntsOut = MutableSequence[int]

# The steps are written for lists and for arrays alike, like the kernel: they run as Python and compiled.


def _count(offsets: Ints, heads: Ints, tails: IntsOut, nodes: IntsOut) -> int:
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


def _paying(tails: Ints, heads: Ints, profit: Ints) -> int:
    """How many arcs lead from gain to loss."""
    paying = 0
    for arc in range(len(heads)):
        paying += (profit[tails[arc]] > 0) & (profit[heads[arc]] < 0)
    return paying


def _eliminate(heads: IntsOut, tails: Ints, profit: IntsOut, nodes: IntsOut, steps: IntsOut) -> int:
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
    offsets: Ints,
    heads: Ints,
    nodes: IntsOut,
    kept: IntsOut,
    to_offsets: IntsOut,
    to_heads: IntsOut,
    arcs: IntsOut,
) -> tuple[int, int]:
    """What is left, numbered anew, with each arc's number before; how many arcs, how many parallel ones."""
    number = 0
    for i in range(len(kept)):
        kept[i] = nodes[_FIELDS * i + _OUT] != _GONE
        nodes[_FIELDS * i + _IN] = number if kept[i] else _GONE  # one place to look for both
        number += kept[i]
    number, size, parallel = 0, 0, 0
    for i in range(len(kept)):
        if kept[i]:
            for arc in range(offsets[i], offsets[i + 1]):
                j = heads[arc]
                if nodes[_FIELDS * j + _IN] == _GONE or j == i:
                    continue
                if nodes[_FIELDS * j + _OUT_ARCS] == ~i:  # the last tail that an arc to j was kept for
                    parallel += 1
                    continue
                nodes[_FIELDS * j + _OUT_ARCS] = ~i
                to_heads[size] = nodes[_FIELDS * j + _IN]
                arcs[size] = arc
                size += 1
            number += 1
            to_offsets[number] = size
    return size, parallel


def _put_back(
    least: int, profit: Ints, steps: Ints, tails: Ints, heads: Ints, chosen: IntsOut, pi: IntsOut
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


def _gather(pi: Ints, arcs: IntsOut, amounts: IntsOut) -> None:
    """Arcs with pi > 0 and their pi; there is room for one more."""
    carrying = 0
    for arc in range(len(pi)):  # no branch: where pi flickers between 0 and more, guessing costs more
        arcs[carrying] = arc
        amounts[carrying] = pi[arc]
        carrying += pi[arc] > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """The steps as Python or compiled, with what makes of an array what they read or write, and scratch.

    `room` is for what is written whole before it is read: to zero it would be to write it twice.
    """

    read: Callable[..., Any]
    copy: Callable[..., Any]
    zeros: Callable[[int], Any]
    room: Callable[[int], Any]
    count: Callable[..., int] = _count
    paying: Callable[..., int] = _paying
    eliminate: Callable[..., int] = _eliminate
    keep: Callable[..., tuple[int, int]] = _keep
    put_back: Callable[..., None] = _put_back
    gather: Callable[..., None] = _gather


_AS_PYTHON: Final = _Run(
    read=np.ndarray.tolist,
    copy=np.ndarray.tolist,
    zeros=lambda size: [0] * size,
    room=lambda size: [0] * size,
)


def _run(size: int) -> _Run:
    loaded = _compiled.cache_info().currsize > 0
    return _compiled() if size >= (LOADED_FROM if loaded else COMPILED_FROM) else _AS_PYTHON


@cache
def _compiled() -> _Run:
    logger.info("loading the compiled presolve; the first time on a machine it is compiled, a few seconds")
    return _Run(
        read=np.asarray,
        copy=np.copy,
        zeros=lambda size: np.zeros(size, np.int32),
        room=lambda size: np.empty(size, np.int32),
        count=compiled(_count),
        paying=compiled(_paying),
        eliminate=compiled(_eliminate),
        keep=compiled(_keep),
        put_back=compiled(_put_back),
        gather=compiled(_gather),
    )
