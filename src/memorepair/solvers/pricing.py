"""Price search: the least Lagrangian bound of a knapsack some of whose nodes are fixed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from memorepair.graphs.digraph import Digraph, Int64, Mask
from memorepair.problems import Closure, ClosureInstance, KnapsackInstance
from memorepair.problems.amounts import Price
from memorepair.problems.integers import Integers, exact_total
from memorepair.problems.proof import Certificate, Question, dual_bound, reduced_profits
from memorepair.solvers.limits import Limits
from memorepair.solvers.pseudoflow import Pseudoflow, compiled_kernel

CUTS = 40
"""Cuts at most for one bound; some five were enough on every family measured."""

COMPILED_FROM = 3_000
"""Nodes plus arcs from which the compiled cut is loaded: a search makes several cuts."""

DENOMINATORS = 2**20
"""A price that a linear program gives in floats is the nearest fraction with a denominator up to this."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fixed:
    """A part of the feasible sets: nodes fixed in, nodes fixed out, the rest free."""

    inside: Mask
    outside: Mask

    @property
    def free(self) -> Mask:
        """What is neither."""
        return ~self.inside & ~self.outside


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bound:
    """What is known of a part.

    Attributes
    ----------
    value
        No set of the part is worth more; None where the part is empty.
    price, certificate
        Its proof; the certificate's arcs are those of the knapsack.
    low : (k,) bool
        A set of the part that keeps the budgets.
    critical : (k,) bool
        Nodes that enter at the best price, or where that is not known the free nodes outside `low`.
    """

    value: int | None
    price: Price
    certificate: Certificate
    low: Mask
    critical: Mask


class PriceSearch:
    """Bounds parts of one knapsack.

    An optimum lies inside the optimum without budgets, so the cuts look at that alone. Outside, r <= 0 holds
    at price 0 with the pi found there; with K pi it holds at every price of denominator K, since costs only
    lower profits. An arc from outside to inside carries nothing in an optimal pi, so the two certificates add
    up.
    """

    def __init__(self, instance: KnapsackInstance, limits: Limits) -> None:
        self.instance = instance
        self.limits = limits
        requires = instance.requires
        self.large = requires.n + requires.m >= COMPILED_FROM
        if self.large:
            compiled_kernel()
        self.tails = requires.tails()
        self._zero = (Fraction(0),) * len(instance.amounts.budget)
        relaxed = Pseudoflow().solve(instance.at(self._zero), stop=limits.stop)
        # Of a cut that was stopped nothing is known to lie beyond.
        self.unbounded = relaxed.mask | bool(limits.stop[0])
        pi = relaxed.certificate or Certificate.zero()
        beyond = ~self.unbounded[self.tails[pi.arcs]]
        self._beyond = Certificate(arcs=pi.arcs[beyond], amounts=pi.amounts[beyond])

    def root(self) -> Fixed:
        """Nothing decided."""
        return Fixed(inside=np.zeros(self.instance.requires.n, np.bool_), outside=~self.unbounded)

    def bound(self, part: Fixed, start: Price, hints: Sequence[Mask], enough: int) -> Bound:
        """The least bound over prices, from `start` on; stops at one that is at most `enough`, or late.

        `hints` are sets of the part, closed, whether or not they keep the budgets.
        """
        amounts, n = self.instance.amounts, self.instance.requires.n
        gone = amounts.spent(part.inside)
        room = [limit - spent for limit, spent in zip(amounts.budget, gone, strict=True)]
        nothing = np.zeros(n, np.bool_)
        if min(room, default=0) < 0:
            return Bound(
                value=None, price=self._zero, certificate=Certificate.zero(), low=nothing, critical=nothing
            )
        search = _Search(self, part, room)
        if len(room) == 1:
            search.secants(start[0], hints, enough)
        else:
            search.planes(start, enough)
        return search.result()

    def induced(self, free: Mask) -> tuple[Digraph, Int64, Int64]:
        """The graph on `free` with its node and arc numbers."""
        requires = self.instance.requires
        arcs = np.flatnonzero(free[self.tails] & free[requires.heads])
        nodes = np.flatnonzero(free)
        number = np.cumsum(free, dtype=np.int32) - np.int32(1)
        offsets = np.zeros(len(nodes) + 1, np.int32)
        np.cumsum(np.bincount(number[self.tails[arcs]], minlength=len(nodes)), out=offsets[1:])
        return Digraph(offsets=offsets, heads=number[requires.heads[arcs]]), nodes, arcs

    def certificate(self, arcs: Int64, amounts: Integers, unit: int) -> Certificate:
        """pi = `amounts` on `arcs`, ascending, with K times what proves that nothing beyond pays."""
        beyond = self._beyond
        if len(beyond.arcs) == 0:
            return Certificate(arcs=arcs.astype(np.int32), amounts=amounts)
        return Certificate.of(
            np.concatenate((arcs, beyond.arcs)),
            np.concatenate((amounts, unit * beyond.amounts)).astype(np.int64, copy=False),
        )


class _Search:
    """One part: the free graph, the room left, the best price yet."""

    def __init__(self, owner: PriceSearch, part: Fixed, room: Sequence[int]) -> None:
        amounts = owner.instance.amounts
        self.owner, self.room = owner, room
        self.graph, self.nodes, self.arcs = owner.induced(part.free)
        self.inside = part.inside
        self.base = exact_total(amounts.value[part.inside])
        self.amounts = amounts.part(part.free, amounts.spent(part.inside))
        self.best: int | None = None
        self.price: Price = owner._zero
        self.closure = Closure(mask=np.zeros(len(self.nodes), np.bool_), certificate=Certificate.zero())
        self.unit = 1
        self.low = np.zeros(len(self.nodes), np.bool_)
        self.high = np.zeros(len(self.nodes), np.bool_)

    def cut(self, price: Price) -> tuple[Mask, int, tuple[int, ...]]:
        """The smallest optimum at `price` with its value and costs; notes its bound."""
        profit, unit, charges = self.amounts.priced(price)
        closure = Pseudoflow().solve(
            ClosureInstance(profit=profit, requires=self.graph), stop=self.owner.limits.stop
        )
        allowance = sum(charge * room for charge, room in zip(charges, self.room, strict=True))
        # No sum wraps: profits fit 62 bits together, amounts 41.
        most = int(profit[closure.mask].sum())
        if self.owner.limits.stop[0]:  # before its end, perhaps, the cut bounds by its pi alone
            most = _dual(self.graph, profit, closure)
        bound = self.base + (most + allowance) // unit
        if self.best is None or bound < self.best:
            self.best, self.price, self.closure, self.unit = bound, price, closure, unit
        return closure.mask, int(self.amounts.value[closure.mask].sum()), self.amounts.spent(closure.mask)

    def secants(self, start: Fraction, hints: Sequence[Mask], enough: int) -> None:
        """One cost: the bound is convex in the price, the largest of a line for each set."""
        # `left` is the dearest set known to fit, `right` the cheapest known not to: the least of the two
        # lines' maximum is where they meet, and the sets are nested.
        left = (0, 0)
        right: tuple[int, int] | None = None
        for hint in hints:
            mask = hint[self.nodes]
            value, (cost,) = exact_total(self.amounts.value[mask]), self.amounts.spent(mask)
            if left[1] < cost <= self.room[0]:
                left, self.low = (value, cost), mask
            elif cost > self.room[0] and (right is None or cost < right[1]):
                right, self.high = (value, cost), mask
        price = max(Fraction(right[0] - left[0], right[1] - left[1]), Fraction(0)) if right else start
        last: Price | None = None
        for _ in range(CUTS):
            payable = self.amounts.payable([price])
            if payable == last:
                return
            last = payable
            mask, value, (cost,) = self.cut(payable)
            same = (value, cost) == right or (right is not None and (value, cost) == left)
            if cost <= self.room[0]:
                left, self.low = (value, cost), mask
            else:
                right, self.high = (value, cost), mask
            if same or self._done(enough) or (cost <= self.room[0] and payable[0] == 0):
                return
            # Lines of sets that are optimal at no price, as hints may be, could meet below 0.
            slope = Fraction(right[0] - left[0], right[1] - left[1]) if right else Fraction(0)
            price = max(slope, Fraction(0))

    def planes(self, start: Price, enough: int) -> None:
        """Several costs: each set is a plane over the prices; the least point of those known is next.

        Source: J. E. Kelley, The cutting-plane method for solving convex programs, 1960.
        """
        from scipy.optimize import linprog

        worth = float(np.abs(self.amounts.value).sum()) + 1.0
        scale = np.array(self.room, np.float64) + 1.0
        slopes, heights = [np.array(self.room) / scale], [0.0]  # the empty set
        most, last = 0, None
        price = start
        for _ in range(CUTS):
            payable = self.amounts.payable(price)
            if payable == last:
                return
            last = payable
            mask, value, costs = self.cut(payable)
            if self.amounts.keeps(mask):
                if value > most:
                    most, self.low = value, mask
            else:
                self.high = self.high | mask
            slopes.append((np.array(self.room) - np.array(costs)) / scale)
            heights.append(value / worth)
            if self._done(enough):
                return
            # min t  s.t.  t >= height + slope price for each set, price >= 0, in shares of worth and of room.
            table = np.column_stack((np.array(slopes), -np.ones(len(slopes))))
            limits = [(0.0, float(one)) for one in scale] + [(0.0, None)]
            objective = np.append(np.zeros(len(scale)), 1.0)
            least = linprog(objective, A_ub=table, b_ub=-np.array(heights), bounds=limits)
            if least.x is None or least.fun is None:
                return
            if self.base + least.fun * worth >= (self.best or 0) - 1e-9 * worth:  # no price does better
                return
            corner = (least.x[:-1] * worth / scale).tolist()
            price = tuple(Fraction(one).limit_denominator(DENOMINATORS) for one in corner)

    def _done(self, enough: int) -> bool:
        return (self.best is not None and self.best <= enough) or self.owner.limits.late

    def result(self) -> Bound:
        n = self.owner.instance.requires.n
        low, critical = self.inside.copy(), np.zeros(n, np.bool_)
        low[self.nodes[self.low]] = True
        between = self.high & ~self.low
        critical[self.nodes[between if between.any() else ~self.low]] = True
        certificate = self.closure.certificate or Certificate.zero()
        return Bound(
            value=self.best,
            price=self.price,
            certificate=self.owner.certificate(self.arcs[certificate.arcs], certificate.amounts, self.unit),
            low=low,
            critical=critical,
        )


def _dual(requires: Digraph, profit: Integers, closure: Closure) -> int:
    """What the certificate of `closure` proves of all closures."""
    nothing = np.zeros(requires.n, np.bool_)
    question = Question(requires=requires, profit=profit, forced=nothing, barred=nothing)
    certificate = closure.certificate or Certificate.zero()
    return dual_bound(question, reduced_profits(question, certificate.arcs, certificate.amounts))
