"""Profits: int64 with one rational scale, or with a proven bound on what rounding lost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from memorepair.errors import InvalidInstance
from memorepair.graphs.digraph import Int64
from memorepair.problems.integers import (
    BIGNUM_NODES,
    SAMPLE,
    TOTAL_LIMIT,
    Integers,
    Number,
    Numbers,
    as_decimals,
    common_denominator,
    exact_total,
    fraction,
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Profits:
    """What each node is worth, in integers.

    Attributes
    ----------
    profit : (k,) int64
        Nearest to ``scale * (value - tradeoff * cost)``; absolute values add up to less than 2^62.
    scale
        Integer units per original unit, > 0.
    loss
        No node set's total differs from ``sum(profit) / scale`` by more, in original units; 0 when exact.
    """

    profit: Int64
    scale: Fraction
    loss: Fraction


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BigProfits:
    """As `Profits`, with profits of any size.

    Attributes
    ----------
    profit : (k,) int64, or Python integers where they do not fit
    scale, loss
        As there.
    """

    profit: Integers
    scale: Fraction
    loss: Fraction


def profits(value: Numbers, cost: Numbers, tradeoff: Number) -> Profits:
    """``value - tradeoff * cost`` in integers.

    Parameters
    ----------
    value, cost : (k,)
        As `numbers` returns them.
    tradeoff
        The price lambda.

    Notes
    -----
    Exact whenever the exact integers fit 2^62, for ints, Fractions, Decimals, floats of up to 15 digits of
    any number and floats of any digits up to `BIGNUM_NODES` nodes. Otherwise rounded to a power of two that
    uses 60 or more bits, with the loss bounded.
    """
    price, cost = _priced(cost, tradeoff)
    exact = _vectorised(value, cost, price)
    if exact is not None:
        return exact
    objects = np.object_ in (value.dtype, cost.dtype)
    if objects or (len(value) <= BIGNUM_NODES and _may_fit(value, cost, price)):
        exact = _bignum(value, cost, price)
        if exact is not None:
            return exact
    rounded = _rounded(value, cost, price) or _bignum(value, cost, price)
    if rounded is None:
        raise InvalidInstance("numbers beyond the range of a float, with denominators too varied", witness=0)
    return rounded


def _priced(cost: Numbers, tradeoff: Number) -> tuple[Fraction, Numbers]:
    """The price and what it applies to; costs without price, or a price without costs, cost no digits."""
    price = fraction(tradeoff)
    if price and np.any(cost != 0):
        return price, cost
    return Fraction(0), np.zeros(len(cost), np.int64)


def _may_fit(value: Numbers, cost: Numbers, price: Fraction) -> bool:
    """Whether exact integers are not ruled out by a sample of the nodes."""
    # The common unit of all profits divides that of the sample: if the floats' total in the sample's unit is
    # far above 2^62, so is the total in the common unit.
    few = slice(SAMPLE // 10)
    sample = _bignum(value[few], cost[few], price)
    if sample is None or sample.loss or price >= 10**308:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        magnitude = float(np.abs(value.astype(np.float64) - float(price) * cost.astype(np.float64)).sum())
    return not magnitude > 2 * TOTAL_LIMIT / sample.scale


def _vectorised(value: Numbers, cost: Numbers, price: Fraction) -> Profits | None:
    values, costs = as_decimals(value), as_decimals(cost)
    if values is None or costs is None:
        return None
    digits = max(values[1], costs[1])
    factor = price.denominator * 10 ** (digits - values[1])
    charge = price.numerator * 10 ** (digits - costs[1])
    if _magnitude(values[0]) * factor + _magnitude(costs[0]) * charge >= TOTAL_LIMIT:
        return None
    # Every product and difference is bounded by the sum just checked: nothing wraps.
    profit = _times(values[0], factor) - _times(costs[0], charge)
    return Profits(profit=profit, scale=Fraction(price.denominator * 10**digits), loss=Fraction(0))


def _magnitude(integers: Int64) -> int:
    """Sum of the absolute values; abs itself would wrap at -2^63."""
    return exact_total(integers[integers > 0]) - exact_total(integers[integers < 0])


def _times(integers: Int64, factor: int) -> Int64:
    return integers * factor if integers.any() else np.zeros(len(integers), np.int64)


def big_profits(value: Numbers, cost: Numbers, tradeoff: Number, *, big: bool) -> BigProfits:
    """As `profits`; if `big`, in Python integers, exact, where those would be rounded."""
    found = profits(value, cost, tradeoff)
    price, cost = _priced(cost, tradeoff)
    exact = _exact(value, cost, price) if found.loss and big else None
    if exact is None:
        return BigProfits(profit=found.profit, scale=found.scale, loss=found.loss)
    return BigProfits(profit=np.array(exact[0], np.object_), scale=exact[1], loss=Fraction(0))


def _bignum(value: Numbers, cost: Numbers, price: Fraction) -> Profits | None:
    """Profits through Python integers: exact where they fit, else each rounded once."""
    exact = _exact(value, cost, price)
    if exact is None:
        return None
    profit, scale = exact
    magnitude = sum(map(abs, profit))
    if magnitude < TOTAL_LIMIT:
        return Profits(profit=np.array(profit, np.int64), scale=scale, loss=Fraction(0))
    # Let scale = a / b. magnitude b < 2^s and a >= 2^(t - 1) for their bit lengths s, t, so with unit
    # 2^(60 - s + t) the total is below 2^61; rounding adds at most half a unit a node, together less than
    # 2^30.
    bits = (magnitude * scale.denominator).bit_length() - scale.numerator.bit_length()
    unit = Fraction(2) ** (60 - bits)
    top, bottom = (unit / scale).as_integer_ratio()
    rounded = np.array([(2 * p * top + bottom) // (2 * bottom) for p in profit], np.int64)
    return Profits(profit=rounded, scale=unit, loss=Fraction(len(profit)) / (2 * unit))


def _exact(value: Numbers, cost: Numbers, price: Fraction) -> tuple[list[int], Fraction] | None:
    """Profits as integers without common divisor, and their scale; None where denominators vary too much."""
    values, costs = common_denominator(value), common_denominator(cost)
    if values is None or costs is None:
        return None
    factor = costs[1] * price.denominator
    charge = values[1] * price.numerator
    profit = [factor * w - charge * c for w, c in zip(values[0], costs[0], strict=True)]
    common = math.gcd(*profit)
    if common == 0:
        return profit, Fraction(1)
    scale = values[1] * costs[1] * price.denominator
    return [p // common for p in profit], Fraction(scale, common)


def _rounded(value: Numbers, cost: Numbers, price: Fraction) -> Profits | None:
    """Profits through float arithmetic with its error bounded, or None where that overflows."""
    try:
        w, c, charge = value.astype(np.float64), cost.astype(np.float64), float(price)
    except OverflowError:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        profit = w - charge * c
        magnitude = float(np.abs(w).sum() + abs(charge) * np.abs(c).sum())
    if not math.isfinite(magnitude):
        return None
    exponent = 61 - math.frexp(float(np.abs(profit).sum()))[1]
    # The sum is below 2^(61 - exponent) up to a relative 2^-20; scaled by 2^exponent the total stays below
    # 2^62, half a unit of rounding a node included (together less than 2^30).
    #
    # With u = 2^-53: reading w and c, the price, the product and the difference err by at most u each,
    # relative to |w| or |price c| (the difference to their sum), so by less than 5u (|w| + |price c|) a node
    # to first order; 8u covers the higher orders and the rounding of `magnitude` itself. A subnormal product
    # errs by 2^-1075 more.
    unit = Fraction(2) ** exponent
    rounding = Fraction(len(w)) / (2 * unit) + len(w) * Fraction(1, 2**1074)
    return Profits(
        profit=np.rint(np.ldexp(profit, exponent)).astype(np.int64),
        scale=unit,
        loss=rounding + Fraction(magnitude) / 2**50,
    )
