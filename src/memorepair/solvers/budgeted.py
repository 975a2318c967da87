"""Budgeted closure: bound from the price path, fill, integer program on the core, branch and bound."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from memorepair.compiling import clock
from memorepair.graphs.digraph import Index, Mask
from memorepair.problems import KnapsackInstance
from memorepair.problems.amounts import Price
from memorepair.problems.leaves import Leaf
from memorepair.solvers.branching import Tree
from memorepair.solvers.cones import fill_cones
from memorepair.solvers.ilp import Effort, propose
from memorepair.solvers.limits import Limits
from memorepair.solvers.parametric import Close, price_groups

CORE = 400
"""Nodes nearest the critical price that an integer program is given."""

CORE_AT_MOST = 1_000
"""Groups of one price are not torn apart; beyond this the program is too hard to help."""

SMALL = 40
"""Up to this many nodes branch and bound needs no help."""

ILP_NODES = 1_000

FLOATS = 1e-6
"""Relative error of the bound that a program claims."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Budgeted:
    """Answer to a KnapsackInstance.

    Attributes
    ----------
    mask : (k,) bool
        A closure within the budgets.
    leaves
        What bounds all others; prices per integer unit.
    ilp_bound
        What an integer program claims for the whole instance; None where it was not asked.
    """

    mask: Mask
    leaves: tuple[Leaf, ...]
    ilp_bound: int | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Path:
    """The nodes by price: `rank` (k,) counts price groups, of which the first `entered` keep the budgets.

    `pays` groups have a price above 0.
    """

    rank: Index
    entered: int
    pays: int
    critical: Price

    @property
    def base(self) -> Mask:
        return self.rank < self.entered


def solve_budgeted(
    instance: KnapsackInstance, limits: Limits, ilp: str | None, close: Close | None = None
) -> Budgeted:
    """The best closure found within the budgets, and leaves that bound the others; `close` as `price_groups`.

    Notes
    -----
    The price path, in half of the time at most, gives the bound and a set below the critical price; cones
    that still fit are added; where few nodes can still go either way, they are searched; an integer program
    looks at the nodes around the critical price, at all where they are few; branch and bound on the price
    path proves, or improves, what they found.
    """
    with limits.watched():
        amounts = instance.amounts
        path = _path(instance, limits.half(), close) if len(amounts.budget) == 1 else _ratios(instance)
        tree = Tree(instance, path.base, limits)
        room = [limit - gone for limit, gone in zip(amounts.budget, amounts.spent(path.base), strict=True)]
        order = np.argsort(path.rank, kind="stable").astype(np.int32)
        filled = fill_cones(
            instance.requires, amounts.value, amounts.cost, room, order, path.base, limits.stop
        )
        tree.offer(filled)
        tree.plant(path.critical, (path.base, path.rank <= path.entered))
        tree.begin()
        claim = None
        if ilp is not None and not tree.settled and not limits.late:
            claim = _ask(ilp, tree, path, order, limits)
        tree.grow(limits.nodes)
    return Budgeted(mask=tree.mask, leaves=tree.all_leaves(), ilp_bound=claim)


def _path(instance: KnapsackInstance, limits: Limits, close: Close | None) -> _Path:
    amounts = instance.amounts
    with limits.watched():
        groups = price_groups(
            instance.requires,
            amounts.value,
            amounts.cost[:, 0],
            close,
            stop=limits.stop,
            budget=amounts.budget[0],
        )
    pays = int((groups.value > 0).sum())
    entered = int(np.searchsorted(np.cumsum(groups.cost[:pays]), amounts.budget[0], side="right"))
    price = Fraction(0)
    if entered < pays:
        price = Fraction(int(groups.value[entered]), int(groups.cost[entered]))
    rank = np.where(groups.of < 0, np.int32(len(groups.value)), groups.of)
    return _Path(rank=rank, entered=entered, pays=pays, critical=(price,))


def _ratios(instance: KnapsackInstance) -> _Path:
    # Several costs have no path: nodes stand by value per share of the budgets, none is in, the prices begin
    # at 0.
    amounts, k = instance.amounts, instance.requires.n
    share = amounts.cost @ (1.0 / (1.0 + np.array(amounts.budget)))
    rank = np.empty(k, np.int32)
    rank[np.argsort(-amounts.value / (1e-9 + share), kind="stable")] = np.arange(k)
    return _Path(rank=rank, entered=0, pays=k, critical=(Fraction(0),) * len(amounts.budget))


def _ask(ilp: str, tree: Tree, path: _Path, order: Index, limits: Limits) -> int | None:
    """Offer the tree what an integer program finds; its bound where it was given all nodes."""
    pays = tree.search.unbounded
    nodes = order[pays[order]]
    first, last = 0, path.pays
    if len(path.critical) == 1:
        entered = int(path.base[nodes].sum())
        first = int(path.rank[nodes[max(0, entered - CORE // 2)]])
        last = int(path.rank[nodes[min(len(nodes), entered + CORE // 2) - 1]])
    # Whole groups, so that what is dearer is a closure, and what is cheaper is not required.
    core = pays & (path.rank >= first) & (path.rank <= last)
    dearer = path.rank < first
    if not SMALL < int(core.sum()) <= CORE_AT_MOST:
        return None
    instance = tree.instance
    part = KnapsackInstance(
        requires=instance.requires.induced(core),
        amounts=instance.amounts.part(core, instance.amounts.spent(dearer)),
    )
    left = None if limits.until == math.inf else max(0.0, limits.until - clock())
    found = propose(ilp, part, Effort(gap=limits.gap, nodes=ILP_NODES, seconds=left))
    if found.mask is not None:
        chosen = dearer.copy()
        chosen[core] = found.mask
        tree.offer(chosen)
    whole = int(core.sum()) == len(nodes)
    if not whole or found.bound is None:
        return None
    # Programs count in floats: 454.999999 stands for 455.
    return max(tree.worth, math.floor(found.bound + FLOATS * max(1.0, abs(found.bound))))
