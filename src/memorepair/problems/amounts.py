"""Amounts of a budgeted problem: integers small enough that any price of use leaves profits in 64 bits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from memorepair.errors import InvalidInput
from memorepair.graphs.digraph import Int64, Mask, read_only
from memorepair.problems.integers import TOTAL_LIMIT, Number, Numbers, exact_total, fraction
from memorepair.problems.profits import profits

AMOUNT_BITS = 40
"""Bits of a total; what has more is rounded, which leaves 20 bits and more for a price."""

PRICE_BITS = 30

Price = tuple[Fraction, ...]
"""Value units per unit of each cost, all at least 0."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Amounts:
    """Value, d costs, d budgets in integers.

    Attributes
    ----------
    value : (k,) int64
        w - lambda_0 c of any sign.
    cost : (k, d) int64
        At least 0; positive wherever the original is.
    budget : tuple of d ints
        A set whose integer costs keep these keeps the original budgets.
    value_scale, cost_scales
        Integer units per original unit.
    loss
        No set's original value differs from its integer value by more because of rounding.
    widest : tuple of d ints
        A set that keeps the original budgets has integer costs of at most these; `budget` itself when exact.
    slack : tuple of d Fractions
        A set that leaves so much of each original budget keeps the integer budgets; 0 when exact.
    magnitudes : tuple of d + 1 ints
        Sums of absolute values and of costs over the whole problem, of which this may be a part: what any
        price must leave room for.
    """

    value: Int64
    cost: Int64
    budget: tuple[int, ...]
    value_scale: Fraction
    cost_scales: tuple[Fraction, ...]
    loss: Fraction
    widest: tuple[int, ...]
    slack: tuple[Fraction, ...]
    magnitudes: tuple[int, ...]

    def __post_init__(self) -> None:
        read_only(self.value)
        read_only(self.cost)

    @classmethod
    def of(cls, value: Numbers, cost: Numbers, tradeoff: Number, budget: Sequence[Number]) -> Amounts:
        """From a problem's own numbers; cost (k,) or (k, d), tradeoff 0 where there are several costs."""
        columns = [cost] if cost.ndim == 1 else list(cost.T)
        priced = profits(value, columns[0], tradeoff)
        worth, value_scale, loss = _small(priced.profit, priced.scale, priced.loss)
        costs, scales, limits, widest, slack = [], [], [], [], []
        for column, limit in zip(columns, budget, strict=True):
            exact = profits(column, np.zeros(len(value), np.int64), 0)
            units, scale, lost = _small(exact.profit, exact.scale, exact.loss)
            tiny = (units == 0) & np.asarray(column > 0, np.bool_)
            units[tiny] = 1  # by at most one unit more: what costs anything shall not come free
            lost += int(tiny.sum()) / scale
            # Integer costs above 0 are off by `lost` at most; integer cost 0 means that nothing costs
            # anything.
            room = max(0, math.floor((fraction(limit) - lost) * scale))
            costs.append(units)
            scales.append(scale)
            most = math.floor((fraction(limit) + lost) * scale)
            limits.append(min(room, exact_total(units)))
            widest.append(min(most, exact_total(units)))
            slack.append(2 * lost)
        table = np.stack(costs, axis=1) if costs else np.zeros((len(value), 0), np.int64)
        return cls(
            value=worth,
            cost=table,
            budget=tuple(limits),
            value_scale=value_scale,
            cost_scales=tuple(scales),
            loss=loss,
            widest=tuple(widest),
            slack=tuple(slack),
            magnitudes=(exact_total(np.abs(worth)), *(exact_total(units) for units in costs)),
        )

    def part(self, nodes: Mask, spent: Sequence[int]) -> Amounts:
        """The amounts on `nodes`, with `spent` of each budget gone."""
        return Amounts(
            value=self.value[nodes],
            cost=self.cost[nodes],
            budget=tuple(limit - gone for limit, gone in zip(self.budget, spent, strict=True)),
            value_scale=self.value_scale,
            cost_scales=self.cost_scales,
            loss=self.loss,
            widest=tuple(limit - gone for limit, gone in zip(self.widest, spent, strict=True)),
            slack=self.slack,
            magnitudes=self.magnitudes,
        )

    def spent(self, mask: Mask) -> tuple[int, ...]:
        """Costs of a set."""
        if self.cost.shape[1] == 1:
            return (int(self.cost[mask, 0].sum()),)
        return tuple(self.cost[mask].sum(axis=0).tolist())

    def keeps(self, mask: Mask) -> bool:
        """Whether a set keeps every budget."""
        return all(gone <= limit for gone, limit in zip(self.spent(mask), self.budget, strict=True))

    def charges(self, price: Price) -> tuple[int, tuple[int, ...]]:
        """The common denominator K of the prices, and K price.

        Raises
        ------
        InvalidInput
            A price is negative, or the profits may not fit (witness: the price).
        """
        unit = math.lcm(*(one.denominator for one in price))
        charges = tuple(one.numerator * (unit // one.denominator) for one in price)
        if len(price) != len(self.budget) or min(charges) < 0 or not self._fits(unit, charges):
            raise InvalidInput("the price is negative, or its profits do not fit 62 bits", witness=price)
        return unit, charges

    def profits(self, unit: int, charges: Sequence[int]) -> Int64:
        """K value - (K price) cost, (k,)."""
        if len(charges) == 1:
            return unit * self.value - charges[0] * self.cost[:, 0]
        return unit * self.value - self.cost @ np.array(charges, np.int64)

    def priced(self, price: Price) -> tuple[Int64, int, tuple[int, ...]]:
        """K (value - price cost) as (k,) int64, K, and K price; raises as `charges`."""
        unit, charges = self.charges(price)
        return self.profits(unit, charges), unit, charges

    def payable(self, price: Sequence[float] | Sequence[Fraction]) -> Price:
        """`price` itself where its profits fit, else the nearest price with few enough binary digits."""
        exact = [Fraction(one) for one in price]
        unit = math.lcm(*(one.denominator for one in exact))
        if self._fits(unit, [int(one * unit) for one in exact]):
            return tuple(exact)
        for bits in range(PRICE_BITS, -1, -1):
            charges = [round(one * 2**bits) for one in exact]
            if self._fits(2**bits, charges):
                return tuple(Fraction(one, 2**bits) for one in charges)
        # Any price from 0 gives a bound: the largest whole ones that fit, in proportion.
        needed = sum(one * total for one, total in zip(exact, self.magnitudes[1:], strict=True))
        share = Fraction(TOTAL_LIMIT - self.magnitudes[0] - 1) / needed
        return tuple(Fraction(math.floor(one * share)) for one in exact)

    def _fits(self, unit: int, charges: Sequence[int]) -> bool:
        return (
            sum(one * total for one, total in zip((unit, *charges), self.magnitudes, strict=True))
            < TOTAL_LIMIT
        )


def _small(units: Int64, scale: Fraction, loss: Fraction) -> tuple[Int64, Fraction, Fraction]:
    common = int(np.gcd.reduce(units)) if len(units) else 0
    if common > 1:
        units, scale = units // common, scale / common
    shift = exact_total(np.abs(units)).bit_length() - AMOUNT_BITS
    if shift > 0:
        units, scale = (units + (1 << (shift - 1))) >> shift, scale / 2**shift
        loss += Fraction(len(units)) / (2 * scale)
    return units.copy(), scale, loss
