"""Numbers: exact where int64 can hold them, and honest about the loss where it cannot."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorepair.errors import InvalidInstance
from memorepair.problems.integers import (
    BIGNUM_NODES,
    TOTAL_LIMIT,
    Number,
    NumbersLike,
    exact_total,
    fraction,
    numbers,
    total,
)
from memorepair.problems.profits import Profits, big_profits, profits

finite = st.floats(allow_nan=False, allow_infinity=False)
any_number = st.one_of(
    st.integers(-(10**25), 10**25),
    finite,
    st.fractions(max_denominator=10**6),
    st.decimals(allow_nan=False, allow_infinity=False, places=4),
)


def of(value: NumbersLike, cost: NumbersLike | None = None, tradeoff: Number = 0) -> Profits:
    worth = numbers(value, "value")
    return profits(worth, numbers([0] * len(worth) if cost is None else cost, "cost"), tradeoff)


def assert_holds(result: Profits, value: Sequence[Number], cost: Sequence[Number], tradeoff: Number) -> None:
    """The promise of `profits`, checked in rationals."""
    exact = [fraction(w) - fraction(tradeoff) * fraction(c) for w, c in zip(value, cost, strict=True)]
    errors = [abs(Fraction(p) / result.scale - e) for p, e in zip(result.profit.tolist(), exact, strict=True)]
    assert sum(map(abs, result.profit.tolist())) < TOTAL_LIMIT
    assert sum(errors) <= result.loss


def test_a_float_is_its_shortest_decimal() -> None:
    assert fraction(0.3) == Fraction(3, 10)
    assert fraction(0.1 + 0.2) == Fraction(30000000000000004, 10**17)
    assert fraction(np.float32(0.3)) == Fraction(3, 10)
    assert fraction(np.int8(-3)) == -3
    assert fraction(Decimal("1e400")) == 10**400
    sums = of([0.1 + 0.2, 0.3])
    assert sums.loss == 0
    assert sums.profit[0] > sums.profit[1]


@pytest.mark.parametrize(
    ("value", "profit", "scale"),
    [
        pytest.param([3.5, -1], [35, -10], 10, id="a half"),
        pytest.param([2**40, -(2**40) + 1], [2**40, -(2**40) + 1], 1, id="int64"),
        pytest.param(np.array([1, 2], np.uint8), [1, 2], 1, id="uint8"),
        pytest.param(np.array([1, -2], np.int16), [1, -2], 1, id="int16"),
        pytest.param([np.int32(4), 5], [4, 5], 1, id="numpy scalars"),
        pytest.param([0, 0], [0, 0], 1, id="zeros"),
        pytest.param([0.0, -0.0], [0, 0], 1, id="float zeros"),
        pytest.param([Fraction(1, 3), Fraction(1, 2)], [2, 3], 6, id="fractions"),
        pytest.param([Decimal("0.10"), 1], [1, 10], 10, id="decimals"),
        pytest.param([10**30, 2 * 10**30], [1, 2], Fraction(1, 10**30), id="huge with a common factor"),
        pytest.param(np.array([2**63], np.uint64), [1], Fraction(1, 2**63), id="uint64"),
        pytest.param([1e300, -3e300], [1, -3], Fraction(1, 10**300), id="huge floats"),
        pytest.param([1e-300, 2e-300], [1, 2], 10**300, id="tiny floats"),
        pytest.param([], [], 1, id="none"),
    ],
)
def test_exact_where_it_fits(value: NumbersLike, profit: list[int], scale: int | Fraction) -> None:
    result = of(value)
    assert result.profit.dtype == np.int64
    assert result.profit.tolist() == profit
    assert result.scale == scale
    assert result.loss == 0


def test_the_price_is_exact() -> None:
    assert of([3, 3], [10, 11], 0.3).profit.tolist() == [0, -3]
    assert of([0.1], [Fraction(1, 3)], 0.3).profit.tolist() == [0]
    assert of([1.5, 0.25], [0.5, 1e-3], Decimal("0.1")).profit.tolist() == [14500, 2499]


def test_weights_too_far_apart_lose_what_is_reported() -> None:
    value = [1e-9, 1e12]
    result = of(value)
    assert result.loss > 0
    assert_holds(result, value, [0, 0], 0)
    assert of([1e-9, 1e9]).loss == 0


def test_huge_integers_that_do_not_fit_lose_what_is_reported() -> None:
    value = [10**30, 10**30 + 1, -(10**30)]
    result = of(value)
    assert 0 < result.loss < 10**13
    assert_holds(result, value, [0] * 3, 0)


@given(
    st.lists(st.tuples(any_number, any_number.map(abs)), max_size=8),
    st.one_of(st.floats(0, 1e3), st.fractions(0, 10)),
)
def test_loss_bounds_every_rounding(pairs: list[tuple[Number, Number]], tradeoff: Number) -> None:
    value: list[Number] = [w for w, _ in pairs]
    cost: list[Number] = [c for _, c in pairs]
    assert_holds(of(value, cost, tradeoff), value, cost, tradeoff)


@pytest.mark.parametrize("sigma", [1, 20, 100])
def test_loss_bounds_every_rounding_of_many_floats(sigma: float) -> None:
    rng = np.random.default_rng(1)
    value, cost = rng.lognormal(0, sigma, (2, BIGNUM_NODES + 1))
    result = profits(numbers(value, "value"), numbers(cost, "cost"), 0.3)
    assert result.loss > 0
    assert_holds(result, value.tolist(), cost.tolist(), 0.3)


def test_many_short_floats_stay_exact() -> None:
    rng = np.random.default_rng(2)
    cents = rng.integers(-(10**6), 10**6, BIGNUM_NODES + 1)
    result = of(cents / 100)
    assert result.scale == 100
    assert result.loss == 0
    assert np.array_equal(result.profit, cents)
    assert total(numbers(cents / 100, "value")) == Fraction(int(cents.sum()), 100)


@given(st.lists(st.tuples(any_number, any_number.map(abs)), max_size=8), st.fractions(0, 10))
def test_big_profits_lose_nothing(pairs: list[tuple[Number, Number]], tradeoff: Fraction) -> None:
    value, cost = numbers([w for w, _ in pairs], "value"), numbers([c for _, c in pairs], "cost")
    found = big_profits(value, cost, tradeoff, big=True)
    exact = [fraction(w) - tradeoff * fraction(c) for w, c in pairs]
    assert found.loss == 0
    assert [Fraction(int(p)) / found.scale for p in found.profit.tolist()] == exact


def test_a_total_beyond_floats_is_exact() -> None:
    values = np.full(BIGNUM_NODES + 1, 1.0000000000000002e305)
    assert total(numbers(values, "value")) == (BIGNUM_NODES + 1) * fraction(1.0000000000000002e305)


@given(st.lists(any_number, max_size=8))
def test_total_is_exact(values: list[Number]) -> None:
    assert total(numbers(values, "value")) == sum(map(fraction, values), Fraction(0))


@given(st.lists(finite, max_size=8))
def test_total_of_floats_is_the_sum_of_their_decimals(values: list[float]) -> None:
    assert total(numbers(np.array(values), "value")) == sum(map(fraction, values), Fraction(0))


@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_exact_total_never_wraps(values: list[int]) -> None:
    assert exact_total(np.array(values, np.int64)) == sum(values)


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ([1.0, float("nan")], 1),
        ([float("inf")], 0),
        (np.array([0.0, -np.inf]), 1),
        ([1, "2"], 1),
        ([True, 1], 0),
        ([None], 0),
        ([1, Decimal("NaN")], 1),
        ([Decimal("sNaN")], 0),
        ([Decimal("-Infinity")], 0),
        ([1, np.ma.masked], 1),
        (np.ma.array([1.0, 2.0], mask=[False, True]), 1),
        ([Fraction(1, 2), Decimal("1e999999999")], 1),
        ([1, [2]], 1),
        ([1j], 0),
        (np.array([True]), 0),
        (np.array(["1"]), 0),
        (np.array(["2020-01-01"], "datetime64[D]"), 0),
    ],
)
def test_what_is_no_finite_number_is_named(values: NumbersLike, place: int) -> None:
    with pytest.raises(InvalidInstance) as caught:
        numbers(values, "value")
    assert caught.value.witness == place


def test_float32_means_its_own_decimal() -> None:
    assert numbers(np.array([0.3, 1.1], np.float32), "value").tolist() == [0.3, 1.1]
