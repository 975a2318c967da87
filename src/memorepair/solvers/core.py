"""Core: what a bound leaves undecided of a part, searched by a kernel, proved on the whole part."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib import import_module
from types import ModuleType

import numpy as np

from memorepair.graphs.digraph import Digraph, Index, Int64, Mask
from memorepair.graphs.reach import reach, slice_to
from memorepair.problems.integers import TOTAL_LIMIT, Integers
from memorepair.problems.leaves import Decision
from memorepair.problems.proof import Certificate, Question, dual_bound, reduced_profits
from memorepair.solvers.pricing import Bound, Fixed, PriceSearch

logger = logging.getLogger(__name__)

CORE = 200
"""Nodes of a core at most: the search keeps two sets of it for each level."""

DECISIONS = 2_000
"""Decisions of one search at most."""

CELLS = 4_000_000
"""Room for pi: as many leaves times nodes."""

DEAREST = 4
"""Prices up to so many times that of the part are looked at."""

FEWEST_BITS = 12
"""A price with fewer binary digits is too coarse."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Losing:
    """The bound of a part and what it can spare.

    Let B be that bound with its price and pi, r as in `proof`. Flow of t along a path of arcs, or against
    arcs whose pi is at least t, is another pi >= 0; it lowers r by t where the path begins and raises it
    where it ends. So where r >= t at the beginning and the end is decided out, or r <= -t at the end and
    the beginning is decided in, the bound is B - t at most.

    Attributes
    ----------
    requires, free
        The part: its free nodes, (k,) bool.
    arcs : (a,) int
        Arcs between free nodes.
    against, pi : (t,)
        Those with pi > 0.
    r : (k,)
        Reduced profits.
    spare
        A bound that loses more needs no further look.
    """

    requires: Digraph
    free: Mask
    arcs: Int64
    against: Index
    pi: Integers
    r: Integers
    spare: int

    def decided(self) -> tuple[Mask, Mask]:
        """Nodes that cannot be out, and nodes that cannot be in, without a loss of more than that."""
        back = self.against[self.pi > self.spare]
        tails, heads = self.requires.tails(), self.requires.heads
        residual = Digraph.from_arcs(
            self.requires.n,
            np.concatenate((tails[self.arcs], heads[back])),
            np.concatenate((heads[self.arcs], tails[back])),
        )
        return (
            reach(residual, self.free & (self.r > self.spare)),
            slice_to(residual, self.free & (self.r < -self.spare)),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Proved:
    """A leaf of the tree below a part."""

    decisions: tuple[Decision, ...]
    bound: Bound


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Dug:
    """What a search of a core came back with.

    Attributes
    ----------
    mask : (k,) bool
        The best set of the part that was found, within the budget; None where none was worth more.
    leaves
        Of a tree that splits the part; None where there is none.
    decided
        Decisions taken, those of trees that were given up included.
    """

    mask: Mask | None
    leaves: list[Proved] | None
    decided: int


def losing(search: PriceSearch, part: Fixed, bound: Bound, enough: int) -> Losing:
    """What it costs the bound of `part` to decide a node against its side."""
    instance = search.instance
    profit, unit, charges = instance.amounts.priced(bound.price)
    question = Question(requires=instance.requires, profit=profit, forced=part.inside, barred=part.outside)
    arcs, pi = bound.certificate.arcs, bound.certificate.amounts
    r = reduced_profits(question, arcs, pi)
    whole = dual_bound(question, r) + charges[0] * instance.amounts.budget[0]
    free, tails, heads = part.free, search.tails, instance.requires.heads
    carries = free[tails[arcs]] & free[heads[arcs]]
    return Losing(
        requires=instance.requires,
        free=free,
        arcs=np.flatnonzero(free[tails] & free[heads]),
        against=arcs[carries],
        pi=pi[carries],
        r=r,
        spare=whole - unit * (enough + 1),  # a loss of more brings the bound, rounded down, to `enough`
    )


def dig(search: PriceSearch, part: Fixed, bound: Bound, worth: int, gap: float, limit: int) -> Dug:
    """Search the core of `part` for more than `worth`, by at most `limit` decisions.

    There is no tree where the core is too large, nothing was to decide, or a limit was reached before the
    tree was proved.

    Notes
    -----
    A better set leaves a smaller core: the search begins anew with it, and only the last tree is proved.
    """
    amounts, base, taken = search.instance.amounts, search.instance.base, 0
    mask: Mask | None = None
    nothing = Dug(mask=None, leaves=None, decided=0)
    if bound.value is None or len(amounts.budget) != 1:
        return nothing
    unit, most = _unit(amounts.magnitudes, bound.price[0])
    if unit < 2**FEWEST_BITS:
        return nothing
    start = min(most, round(bound.price[0] * unit))
    room = min(DECISIONS, CELLS // max(1, int(part.free.sum())))
    while True:
        losses = losing(search, part, bound, worth + math.floor(gap * abs(worth + base)))
        inside, outside = losses.decided()
        core = part.free & ~inside & ~outside
        if int(core.sum()) > CORE:
            return Dug(mask=mask, leaves=None, decided=taken)
        chain = _chain(search, part, inside, outside)
        left = limit - taken - len(chain) // 2
        if left <= 0 or room == 0 or search.limits.late:
            return Dug(mask=mask, leaves=None, decided=taken)
        held = part.inside | inside
        events, starts, found, best = _search(
            search, held, core, (start, unit, most), worth, gap, min(left, room)
        )
        decided = int((events >= 0).sum())
        taken += decided
        if found > worth:
            mask = held | best
        if found == worth or decided == left:
            break
        worth = found
    worth, taken = found, taken + len(chain) // 2
    if len(chain) + decided == 0:
        return Dug(mask=mask, leaves=None, decided=taken)
    tree = np.concatenate((chain, events)), np.concatenate((np.full(len(chain), start), starts))
    enough = worth + math.floor(gap * abs(worth + base))
    leaves = _leaves(search, part, *tree, unit, most, enough)
    return Dug(mask=mask, leaves=leaves, decided=taken)


def _search(
    search: PriceSearch,
    held: Mask,
    core: Mask,
    prices: tuple[int, int, int],
    worth: int,
    gap: float,
    limit: int,
) -> tuple[Int64, Int64, int, Mask]:
    """The tree in preorder, its nodes numbered as in the instance, its prices; the best worth, its nodes."""
    kernel = _kernel()
    amounts, base = search.instance.amounts, search.instance.base
    graph, nodes, _ = search.induced(core)
    events, starts = np.empty(2 * limit + 1, np.int32), np.empty(2 * limit + 1, np.int64)
    best = np.zeros(len(nodes), np.int8)
    count, found, _ = kernel.search(
        *_both(graph),
        amounts.value[nodes],
        amounts.cost[nodes, 0],
        int(amounts.value[held].sum()),
        amounts.budget[0] - amounts.spent(held)[0],
        *prices,
        worth,
        base,
        gap,
        limit,
        events,
        starts,
        best,
        search.limits.stop,
    )
    chosen = np.zeros(len(core), np.bool_)
    chosen[nodes[best.astype(np.bool_)]] = True
    return renumbered(events[:count], nodes), starts[:count], found, chosen


@cache
def _kernel() -> ModuleType:
    logger.info("loading the core search; the first time on a machine it is compiled, some ten seconds")
    return import_module("memorepair.solvers.core_kernel")


def renumbered(events: Int64 | Index, numbers: Int64 | Index) -> Int64:
    """A tree in preorder with its nodes by other numbers."""
    tree = np.full(len(events), -1, np.int64)
    decided = np.flatnonzero(events >= 0)
    tree[decided] = 2 * numbers[events[decided] >> 1] + (events[decided] & 1)
    return tree


def _chain(search: PriceSearch, part: Fixed, inside: Mask, outside: Mask) -> Int64:
    """Decisions that put nodes inside and outside as a tree in preorder, the side that loses a leaf each."""
    kernel = _kernel()
    free = np.flatnonzero(part.free)
    graph, _, _ = search.induced(part.free)
    offsets, heads, back_offsets, back_heads = _both(graph)
    state = np.zeros(graph.n, np.int8)
    events: list[Int64] = []
    for mask, arcs, side, begin, end in (
        (inside, (offsets, heads), kernel.IN, graph.heads, graph.tails()),
        (outside, (back_offsets, back_heads), kernel.OUT, graph.tails(), graph.heads),
    ):
        own = mask[part.free]
        # What nothing else of the set drags along comes first: all the others then follow, but for cycles.
        dragged = np.bincount(begin[own[end] & own[begin] & (begin != end)], minlength=graph.n) > 0
        order = np.concatenate((np.flatnonzero(own & ~dragged), np.flatnonzero(own & dragged))).astype(
            np.int32
        )
        kept = np.empty(len(order), np.int32)
        count = kernel.generators(*arcs, state, order, side, kept)
        decisions = np.full(2 * count, -1, np.int64)
        decisions[::2] = 2 * free[kept[:count]] + (side == kernel.IN)  # the losing side is looked at first
        events.append(decisions)
    return np.concatenate(events)


def _leaves(
    search: PriceSearch, part: Fixed, events: Int64, starts: Int64, unit: int, most: int, enough: int
) -> list[Proved] | None:
    """The leaves of the tree `events`, its nodes numbered as in the instance, bounded on all of `part`.

    None where time was up before.
    """
    amounts = search.instance.amounts
    graph, nodes, arcs = search.induced(part.free)
    place = np.cumsum(part.free, dtype=np.int32) - np.int32(1)
    inner = renumbered(events, place).astype(np.int32)
    number = int((events < 0).sum())
    bounds, prices, ends = (np.empty(number, np.int64) for _ in range(3))
    carrying, carried = np.empty(number * graph.n, np.int32), np.empty(number * graph.n, np.int64)
    kernel = _kernel()
    proved = kernel.prove(
        *_both(graph),
        amounts.value[nodes],
        amounts.cost[nodes, 0],
        int(amounts.value[part.inside].sum()),
        amounts.budget[0] - amounts.spent(part.inside)[0],
        unit,
        most,
        enough,
        inner,
        starts,
        bounds,
        prices,
        ends,
        carrying,
        carried,
        search.limits.stop,
    )
    if proved < number:
        return None
    nothing = np.zeros(search.instance.requires.n, np.bool_)
    leaves: list[Proved] = []
    begin = 0
    for decisions, value, price, end in zip(
        _paths(events.tolist()), bounds.tolist(), prices.tolist(), ends.tolist(), strict=True
    ):
        certificate = Certificate.zero()
        if value > -(1 << 62):
            scale = unit if price else 1
            certificate = search.certificate(arcs[carrying[begin:end]], carried[begin:end].copy(), scale)
        begin = end
        bound = Bound(
            value=value if value > -(1 << 62) else None,
            price=(Fraction(price, unit) if price else Fraction(0),),
            certificate=certificate,
            low=nothing,
            critical=nothing,
        )
        leaves.append(Proved(decisions=decisions, bound=bound))
    return leaves


def _paths(events: list[int]) -> list[tuple[Decision, ...]]:
    """Decisions down to each leaf of a tree in preorder."""
    paths: list[tuple[Decision, ...]] = []
    pending: list[tuple[Decision, ...]] = [()]
    for event in events:
        path = pending.pop()
        if event < 0:
            paths.append(path)
        else:
            node, out = event >> 1, bool(event & 1)
            pending += [(*path, (node, out)), (*path, (node, not out))]
    return paths


def _unit(magnitudes: tuple[int, ...], price: Fraction) -> tuple[int, int]:
    """The largest power of two K, and the dearest price in units of 1 / K, whose profits fit."""
    value, cost = magnitudes
    dearest = DEAREST * price if price else Fraction(value + 1, cost + 1)
    bits = math.floor(TOTAL_LIMIT / 4 / (value + dearest * cost + 1)).bit_length() - 1
    unit = 1 << max(0, min(bits, 40))
    return unit, math.ceil(dearest * unit) + 1


def _both(graph: Digraph) -> tuple[Index, Index, Index, Index]:
    back = graph.reverse()
    return graph.offsets, graph.heads, back.offsets, back.heads
