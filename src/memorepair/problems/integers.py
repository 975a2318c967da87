"""Exact numbers: what a caller hands over, read as rationals and written back.

A float stands for the shortest decimal that reads back as it, so a tradeoff of 0.3 is exactly 3/10.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
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
SAMPLE = 1_000
"""So many numbers are looked at before all are."""
_DECIMAL_EXPONENT = 5_000  # a dozen bytes such as 1e999999999 must not become a gigabyte
_DENOMINATOR_BITS = 2**16
_FLOAT_SUM_DIGITS = 700  # shortest decimals of floats lie on a grid of 10^-341 and below 10^309


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
    decimals = as_decimals(values)
    if decimals is not None:
        integers, digits = decimals
        return Fraction(exact_total(integers), 10**digits)
    if values.dtype == np.object_:
        common = common_denominator(values)
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


def as_decimals(values: Numbers) -> tuple[Int64, int] | None:
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
        for part in (floats[:SAMPLE], floats):
            integers = np.rint(part * power)
            if not np.array_equal(integers / power, part):
                break
        else:
            return integers.astype(np.int64), digits
    return None


def common_denominator(values: Numbers) -> tuple[list[int], int] | None:
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
