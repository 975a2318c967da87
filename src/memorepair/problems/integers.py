"""Exact numbers: profits as int64 with one rational scale, or with a proven bound on what rounding lost.

A float stands for the shortest decimal that reads back as it, so a tradeoff of 0.3 is exactly 3/10.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TypeAlias, cast

import numpy as np
import numpy.typing as npt

from memorepair.errors import InvalidInstance
from memorepair.graphs.digraph import Int64, read_only

Number = int | float | Fraction | Decimal
NumbersLike: TypeAlias = npt.ArrayLike | Sequence[Number]
Numbers = npt.NDArray[np.int64] | npt.NDArray[np.float64] | npt.NDArray[np.object_]
Integers: TypeAlias = npt.NDArray[np.int64] | npt.NDArray[np.object_]
"""Integers of 64 bits, or Python's where those could wrap."""

TOTAL_LIMIT = 2**62
"""An instance's absolute profits add up to less: no sum, no difference of two sums wraps int64."""

BIGNUM_NODES = 20_000
"""Up to this many floats are read digit by digit; of more, only the vectorised reading is exact."""

_DIGITS = 15
_SAMPLE = 1_000
_DECIMAL_EXPONENT = 5_000  # a dozen bytes such as 1e999999999 must not become a gigabyte
_DENOMINATOR_BITS = 2**16
_FLOAT_SUM_DIGITS = 700  # shortest decimals of floats lie on a grid of 10^-341 and below 10^309


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


def shown(value: object) -> str:
    """`value` as a message names it, also a number of more digits than Python prints."""
    try:
        return str(value) if isinstance(value, (int, float, Fraction, Decimal, np.generic)) else repr(value)
    except ValueError:
        return f"{type(value).__name__} of too many digits"


def digits(exact: int | Fraction) -> str:
    """`exact` as ``7`` or ``1/3``, of any number of digits."""
    # Python writes integers of up to 4,300 digits; a Decimal holds one of any length and writes it.
    top, bottom = (str(Decimal(part)) for part in exact.as_integer_ratio())
    return top if bottom == "1" else f"{top}/{bottom}"


def nearest(exact: int | Fraction) -> float:
    """The float nearest to `exact`; an infinity beyond their range."""
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def fraction(number: object) -> Fraction:
    """The rational that `number` stands for.

    Raises
    ------
    InvalidInstance
        Not a finite number (witness: it).
    """
    if type(number) is Fraction:
        return number
    if isinstance(number, np.generic):
        number = float(str(number)) if isinstance(number, np.floating) else number.item()
    if isinstance(number, bool) or not isinstance(number, (int, float, Fraction, Decimal)):
        raise InvalidInstance(f"{shown(number)} is not a number", witness=number)
    if (isinstance(number, Decimal) and not number.is_finite()) or (
        isinstance(number, float) and not math.isfinite(number)
    ):
        raise InvalidInstance(f"{number} is not finite", witness=number)
    if isinstance(number, Decimal) and number and abs(int(number.as_tuple().exponent)) > _DECIMAL_EXPONENT:
        raise InvalidInstance(f"{number} has an exponent beyond {_DECIMAL_EXPONENT}", witness=number)
    return Fraction(float.__repr__(number)) if isinstance(number, float) else Fraction(number)


def scalar(number: Number, name: str) -> Number:
    """The plain Python number that stands for the same rational as `number`.

    Raises
    ------
    InvalidInstance
        Not a finite number (witness: it).
    """
    try:
        exact = fraction(number)
    except InvalidInstance as error:
        raise InvalidInstance(f"{name}: {error}", witness=error.witness) from None
    if isinstance(number, (float, np.floating)):
        return float(str(number)) if isinstance(number, np.generic) else float(number)
    return number if isinstance(number, Decimal) else int(exact) if exact.denominator == 1 else exact


def numbers(values: NumbersLike, name: str) -> Numbers:
    """A fresh read-only array of finite numbers, (k,) int64, float64, or object of int or Fraction.

    Raises
    ------
    InvalidInstance
        Not one-dimensional, an entry is masked, or not a finite number (witness: its position).
    """
    check_unmasked(values, name)
    if isinstance(values, (list, tuple)):
        array = _homogeneous(values)
        if array is None:
            return _frozen(_exact_objects(values, name))
    else:
        array = np.asarray(values)
    if array.ndim != 1:
        raise InvalidInstance(f"{name} must be one-dimensional", witness=array.shape)
    if array.dtype.kind in "iu" and array.dtype != np.uint64:
        return _frozen(array.astype(np.int64))
    if array.dtype.kind == "f" and array.dtype.itemsize <= np.dtype(np.float64).itemsize:
        narrow = (
            array.dtype != np.float64
        )  # a float32 stands for its own shortest decimal, not for its digits
        floats = array.astype(np.str_).astype(np.float64) if narrow else array.astype(np.float64)
        if not np.isfinite(floats).all():
            place = int(np.flatnonzero(~np.isfinite(floats))[0])
            raise InvalidInstance(f"{name} {floats[place]} is not finite", witness=place)
        return _frozen(floats)
    if array.dtype in (np.uint64, np.object_):
        return _frozen(_exact_objects(array.tolist(), name))
    raise InvalidInstance(f"{name} must be numbers, not {array.dtype}", witness=0)


def check_unmasked(values: object, name: str) -> None:
    """Raise InvalidInstance where `values` is an array with masked entries (witness: the first place)."""
    if np.ma.is_masked(values):
        place = np.argwhere(np.ma.getmaskarray(cast("npt.NDArray[np.generic]", values)))[0].tolist()
        raise InvalidInstance(f"{name} has masked entries", witness=place[0] if len(place) == 1 else place)


def is_table(values: object) -> bool:
    """Whether `values` has rows, several numbers each, rather than single numbers."""
    if isinstance(values, (list, tuple)):
        return len(values) > 0 and isinstance(values[0], (list, tuple, np.ndarray))
    return np.ndim(values) == 2 if isinstance(values, np.ndarray) else False


def table(values: NumbersLike, name: str) -> Numbers:
    """Rows of finite numbers as a fresh read-only array, (k, d), of the types of `numbers`.

    Raises
    ------
    InvalidInstance
        Rows of different lengths (witness: the first length that differs), or an entry is not a finite number
        (witness: its row).
    """
    check_unmasked(values, name)
    if isinstance(values, np.ndarray):
        columns = [numbers(column, name) for column in np.ascontiguousarray(values.T)]
    else:
        rows = [list(row) for row in cast("Sequence[Sequence[Number]]", values)]
        odd = next((row for row in rows if len(row) != len(rows[0])), None)
        if odd is not None:
            raise InvalidInstance(f"{name} has rows of {len(rows[0])} and of {len(odd)}", witness=len(odd))
        columns = [numbers(list(column), name) for column in zip(*rows, strict=True)]
    if not columns:
        raise InvalidInstance(f"{name} has rows without numbers", witness=name)
    if len({column.dtype for column in columns}) > 1:
        columns = [_exact_objects(column.tolist(), name) for column in columns]
    return _frozen(cast(Numbers, np.stack(columns, axis=1)))


def _frozen(array: Numbers) -> Numbers:
    read_only(array)
    return array


def _homogeneous(values: Sequence[object]) -> Numbers | None:
    # numpy reads a list that mixes floats with integers beyond 2^53 as floats and drops digits.
    kinds = set(map(type, values))
    if bool in kinds or not all(issubclass(kind, (int, float, np.integer)) for kind in kinds):
        return None
    if all(issubclass(kind, (int, np.integer)) for kind in kinds):
        try:
            return np.array(values, np.int64)
        except OverflowError:
            return None
    try:
        floats = np.array(values, np.float64)
    except OverflowError:
        return None
    return floats if len(kinds) == 1 or not np.abs(floats).max() >= 2.0**53 else None


def _exact_objects(entries: Iterable[object], name: str) -> npt.NDArray[np.object_]:
    exact: list[Fraction] = []
    for place, entry in enumerate(entries):
        try:
            exact.append(fraction(entry))
        except InvalidInstance as error:
            raise InvalidInstance(f"{name}: {error}", witness=place) from None
    return np.array([None, *exact], np.object_)[1:].copy()  # None: numpy must not look inside


def total(values: Numbers) -> Fraction:
    """Sum of `values`, exact; of more than `BIGNUM_NODES` floats of 16 or 17 digits, the nearest float."""
    decimals = _decimals(values)
    if decimals is not None:
        integers, digits = decimals
        return Fraction(exact_total(integers), 10**digits)
    if values.dtype == np.object_:
        common = _common_denominator(values)
        return sum(values.tolist(), Fraction(0)) if common is None else Fraction(sum(common[0]), common[1])
    if len(values) > BIGNUM_NODES and float(np.abs(values).max()) * len(values) < math.inf:
        return Fraction(math.fsum(values.tolist()))
    with localcontext(prec=_FLOAT_SUM_DIGITS):
        return Fraction(sum((Decimal(repr(x)) for x in values.tolist()), Decimal(0)))


def exact_total(integers: Integers) -> int:
    """Sum of integers as a Python integer, never wrapped; fewer than 2^31 of them."""
    if integers.dtype == np.object_:
        return sum(integers.tolist())
    # n = (n >> 32) * 2^32 + (n & (2^32 - 1)) for negative n too; both halves lie within 2^32, fewer than 2^31
    # of each.
    return (int((integers >> 32).sum()) << 32) + int((integers & 0xFFFFFFFF).sum())


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
    few = slice(_SAMPLE // 10)
    sample = _bignum(value[few], cost[few], price)
    if sample is None or sample.loss or price >= 10**308:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        magnitude = float(np.abs(value.astype(np.float64) - float(price) * cost.astype(np.float64)).sum())
    return not magnitude > 2 * TOTAL_LIMIT / sample.scale


def _decimals(values: Numbers) -> tuple[Int64, int] | None:
    """Integers and d with ``values = integers / 10**d`` as decimals, or None where that is not proved."""
    if values.dtype == np.int64:
        return values.astype(np.int64, copy=False), 0
    if values.dtype != np.float64:
        return None
    floats = values.astype(np.float64, copy=False)
    largest = float(np.abs(floats).max(initial=0.0))
    for digits in range(23):
        power = 10.0**digits
        if largest * power >= 10.0**_DIGITS:
            return None
        # Let N = rint(x 10^d), |N| < 10^15 < 2^53, d <= 22: N and 10^d are floats, so N / 10^d is the float
        # nearest to the decimal N 10^-d. If it is x, that decimal reads back as x. It has at most 15 digits,
        # different decimals of at most 15 digits are different floats, so the shortest that reads back as x
        # is this one.
        for part in (floats[:_SAMPLE], floats):
            integers = np.rint(part * power)
            if not np.array_equal(integers / power, part):
                break
        else:
            return integers.astype(np.int64), digits
    return None


def _vectorised(value: Numbers, cost: Numbers, price: Fraction) -> Profits | None:
    values, costs = _decimals(value), _decimals(cost)
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
    values, costs = _common_denominator(value), _common_denominator(cost)
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


def _common_denominator(values: Numbers) -> tuple[list[int], int] | None:
    if values.dtype == np.int64:
        return values.tolist(), 1
    if values.dtype == np.float64:
        ratios = [Decimal(repr(x)).as_integer_ratio() for x in values.tolist()]
    else:
        ratios = [x.as_integer_ratio() for x in values.tolist()]
    denominator = 1
    for bottom in {bottom for _, bottom in ratios}:
        denominator = math.lcm(denominator, bottom)
        if denominator.bit_length() > _DENOMINATOR_BITS:  # a float's denominator divides 10^324, 1,077 bits
            return None
    return [top * (denominator // bottom) for top, bottom in ratios], denominator


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
