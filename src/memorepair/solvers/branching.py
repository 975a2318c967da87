"""Branch and bound on the price path: decides one node of the critical group at a time."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from memorepair.graphs.digraph import Mask
from memorepair.graphs.reach import reach
from memorepair.problems import KnapsackInstance
from memorepair.problems.amounts import Price
from memorepair.problems.integers import exact_total
from memorepair.problems.leaves import Decision, Leaf
from memorepair.solvers.cones import cone_totals
from memorepair.solvers.core import dig
from memorepair.solvers.limits import Limits
from memorepair.solvers.pricing import Bound, Fixed, PriceSearch
from memorepair.solvers.pseudoflow import compiled_kernel

CANDIDATES = 400
"""Nodes of the critical group that are looked at for a decision."""

PATIENCE = 8
"""Decisions after which compiled kernels are loaded whatever the size."""


@dataclass(frozen=True, slots=True, order=True)
class _Open:
    """A part that is still to be split, the largest bound first, the older first among equals."""

    rank: tuple[int, int]
    decisions: tuple[Decision, ...] = field(compare=False)
    fixed: Fixed = field(compare=False)
    bound: Bound = field(compare=False)


class Tree:
    """The search tree over one knapsack.

    Decide a node r of the critical group: x_r = 1 forces its cone, x_r = 0 forbids all that requires it. Each
    child is the same kind of problem with fewer free nodes and has its own least bound over the prices. The
    set below the critical price of every part is a candidate for the answer.
    """

    def __init__(self, instance: KnapsackInstance, mask: Mask, limits: Limits) -> None:
        self.instance = instance
        self.limits = limits
        self.dependents = instance.requires.reverse()
        self.mask = mask
        self.worth = exact_total(instance.amounts.value[mask])
        self.search = PriceSearch(instance, limits)
        self.leaves: list[Leaf] = []
        self.open: list[_Open] = []
        self.first: _Open | None = None
        self.decided = 0
        self._count = 0

    def offer(self, mask: Mask) -> None:
        """Keep `mask`, a closure, if it keeps the budgets and is worth more."""
        worth = exact_total(self.instance.amounts.value[mask])
        if worth > self.worth and self.instance.amounts.keeps(mask):
            self.mask, self.worth = mask, worth

    @property
    def enough(self) -> int:
        """A part whose bound is at most this needs no further split."""
        return self.worth + math.floor(self.limits.gap * abs(self.worth + self.instance.base))

    @property
    def settled(self) -> bool:
        """Whether the leaves, with the open parts, meet the gap."""
        return not self.open or -self.open[0].rank[0] <= self.enough

    def plant(self, start: Price, hints: Sequence[Mask]) -> None:
        """The root, its price searched from `start`, closed sets `hints` known."""
        root = self.search.root()
        bound = self._bound(root, start, hints)
        self.first = self._place((), root, bound, bound)

    def begin(self) -> None:
        """The quick part of the search: a few decisions where few may do, then the core of the whole."""
        if not self.search.large:
            self.grow(min(self.limits.nodes, PATIENCE))
            if self.settled or self.first is None or self.decided >= self.limits.nodes or self.limits.late:
                return
            # So much is ahead that loading the kernels pays on any size; one core of the whole makes a
            # smaller tree than those of the parts.
            compiled_kernel()
            self.search.large = True
            self.leaves, self.open = [], [self.first]
        if self.open and not self.settled and not self.limits.late:
            part = heapq.heappop(self.open)
            if not self._dig(part):
                heapq.heappush(self.open, part)

    def grow(self, nodes: int) -> None:
        """Split open parts until the gap is met, `nodes` decisions are taken, or time is up."""
        diving: _Open | None = None
        dive = True
        while diving or (self.open and not self.settled):
            if self.decided >= nodes or self.limits.late:
                break
            part = diving or heapq.heappop(self.open)
            diving = None
            if self.search.large and self._dig(part):
                continue
            if self.decided >= nodes or self.limits.late:
                diving = part
                break
            self.decided += 1
            # A plunge to a leaf at nodes 1, 2, 4, 8, ... finds answers that best-first order alone does not
            # reach.
            dive = dive or self.decided & (self.decided - 1) == 0
            kept = self._split(part)
            if dive and kept:
                diving = min(kept)
                self.open.remove(diving)
                heapq.heapify(self.open)
            else:
                dive = False
        if diving is not None:
            heapq.heappush(self.open, diving)

    def all_leaves(self) -> tuple[Leaf, ...]:
        """The leaves of the tree as it stands, open ones included."""
        return (*self.leaves, *(_leaf(part.decisions, part.bound) for part in sorted(self.open)))

    def _dig(self, part: _Open) -> bool:
        """Whether a search of the core took the part's place by parts of it."""
        limits = self.limits
        dug = dig(self.search, part.fixed, part.bound, self.worth, limits.gap, limits.nodes - self.decided)
        self.decided += dug.decided
        if dug.mask is not None:
            self.offer(dug.mask)
        if dug.leaves is None:
            return False
        for leaf in dug.leaves:
            decisions, bound = (*part.decisions, *leaf.decisions), leaf.bound
            if bound.value is None or bound.value <= self.enough or limits.late:
                self.leaves.append(_leaf(decisions, bound))
                continue
            fixed = self._fixed(part.fixed, leaf.decisions)
            self._place(decisions, fixed, self._bound(fixed, bound.price, ()), bound)
        return True

    def _fixed(self, part: Fixed, decisions: Sequence[Decision]) -> Fixed:
        """The part of `part` that `decisions` leave."""
        chosen, left = ([node for node, one in decisions if one is side] for side in (True, False))
        return Fixed(
            inside=part.inside | reach(self.instance.requires, chosen),
            outside=part.outside | reach(self.dependents, left),
        )

    def _split(self, part: _Open) -> list[_Open]:
        node = self._choose(part)
        if node is None:
            self.leaves.append(_leaf(part.decisions, part.bound))
            return []
        kept = []
        low, high = part.bound.low, part.bound.low | part.bound.critical
        for side in (True, False):
            # The node is in `high` with its cone, and not in `low`, nor is what requires it.
            if side:
                cone = reach(self.instance.requires, [node])
                fixed = Fixed(inside=part.fixed.inside | cone, outside=part.fixed.outside)
                hints = (low | cone, high)
            else:
                above = reach(self.dependents, [node])
                fixed = Fixed(inside=part.fixed.inside, outside=part.fixed.outside | above)
                hints = (low, high & ~above)
            bound = self._bound(fixed, part.bound.price, hints)
            placed = self._place((*part.decisions, (node, side)), fixed, bound, part.bound)
            if placed is not None:
                kept.append(placed)
        return kept

    def _place(
        self, decisions: tuple[Decision, ...], fixed: Fixed, bound: Bound, known: Bound
    ) -> _Open | None:
        """The part by its own bound, or by one `known` that was better when time was up."""
        if bound.value is not None and known.value is not None and known.value < bound.value:
            bound = known
        if bound.value is None or bound.value <= self.enough:
            self.leaves.append(_leaf(decisions, bound))
            return None
        self._count += 1
        part = _Open((-bound.value, self._count), decisions, fixed, bound)
        heapq.heappush(self.open, part)
        return part

    def _bound(self, fixed: Fixed, start: Price, hints: Sequence[Mask]) -> Bound:
        bound = self.search.bound(fixed, start, hints, self.enough)
        if bound.value is not None:
            self.offer(bound.low)
        return bound

    def _choose(self, part: _Open) -> int | None:
        """The node of the critical group whose decision is guessed to lower both children's bounds most."""
        # Guess: what is left of the group after the node's cone is taken, or its dependents removed, stays
        # one block that is worth the same per cost.
        amounts = self.instance.amounts
        group = part.bound.critical
        nodes = np.flatnonzero(group).astype(np.int32)
        if len(nodes) == 0:
            return None
        if len(nodes) > CANDIDATES:
            nodes = np.sort(np.random.default_rng(0).choice(nodes, CANDIDATES, replace=False))
        price = np.array([float(one) for one in part.bound.price])
        weights = price if price.any() else np.ones(len(price))
        value, cost = amounts.value.astype(np.float64), amounts.cost.astype(np.float64) @ weights
        spent = amounts.spent(part.bound.low)
        left = float(np.array([b - s for b, s in zip(amounts.budget, spent, strict=True)]) @ weights)
        total, weight = value[group].sum(), max(cost[group].sum(), 1e-300)
        room = float((part.bound.value or 0) - self.enough)
        whole = total / weight * left
        with np.errstate(divide="ignore", invalid="ignore"):
            w, c = cone_totals(self.instance.requires, group, nodes, value, cost, self.limits.stop)
            rest = np.where(weight > c, (total - w) / (weight - c) * (left - c), 0.0)
            chosen = np.where(c > left, np.inf, whole - w - rest)
            w, c = cone_totals(self.dependents, group, nodes, value, cost, self.limits.stop)
            rest = np.where(weight > c, (total - w) / (weight - c) * np.minimum(left, weight - c), 0.0)
            forbidden = whole - rest
        up, down = np.clip(chosen, 0, room), np.clip(forbidden, 0, room)
        score = 5 * np.minimum(up, down) + np.maximum(up, down)
        return int(nodes[np.argmax(score)])


def _leaf(decisions: tuple[Decision, ...], bound: Bound) -> Leaf:
    return Leaf(decisions=decisions, price=bound.price, certificate=bound.certificate)
