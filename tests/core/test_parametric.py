"""Every price has its smallest optimum, by exhaustive search; a split is decided to the last digit."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from memorepair.errors import InvalidInput
from memorepair.graphs import Digraph, generate
from memorepair.graphs.digraph import Int64
from memorepair.problems import ClosureInstance
from memorepair.solvers import parametric
from memorepair.solvers.parametric import price_groups
from memorepair.solvers.pseudoflow import Pseudoflow


@pytest.fixture(params=["python", "compiled"])
def kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    limit = 0 if request.param == "compiled" else 10**9
    monkeypatch.setattr(parametric, "COMPILED_FROM", limit)
    monkeypatch.setattr(parametric, "LOADED_FROM", limit)
    return str(request.param)


def smallest_optimum(requires: Digraph, value: Int64, cost: Int64, price: Fraction) -> int:
    """The definition, over all closures as bit patterns."""
    k, best = requires.n, None
    needs = [sum({1 << j for j in requires.successors(i).tolist()}) for i in range(k)]
    worth = [w - price * c for w, c in zip(value.tolist(), cost.tolist(), strict=True)]
    for members in range(1 << k):
        inside = [i for i in range(k) if members >> i & 1]
        if all(members & needs[i] == needs[i] for i in inside):
            key = (sum(worth[i] for i in inside), -len(inside))
            if best is None or key > best[0]:
                best = (key, members)
    assert best is not None
    return best[1]


@pytest.mark.parametrize("unit", [1, 2**56], ids=["in 64 bits", "in two limbs"])
def test_every_price_has_its_smallest_optimum(kernel: str, unit: int) -> None:
    rng = np.random.default_rng(17)
    for _ in range(120):
        k = int(rng.integers(1, 8))
        requires = Digraph.from_arcs(k, *rng.integers(0, k, (2, int(rng.integers(0, 2 * k + 1)))))
        digits = 0 if unit == 1 else 3  # next to a multiple of 2^56, so that only the last digits decide
        value = rng.integers(-6, 7, k) * unit + rng.integers(0, digits + 1, k)
        cost = np.maximum(0, rng.integers(-2, 6, k)) * unit + rng.integers(0, digits + 1, k)
        groups = price_groups(requires, value, cost)
        free = len(groups.cost) > 0 and groups.cost[0] == 0
        prices = [Fraction(int(w), int(c)) for w, c in zip(groups.value, groups.cost, strict=True) if c]
        assert prices == sorted(set(prices), reverse=True)
        probes = [*prices, *((a + b) / 2 for a, b in pairwise(prices))]
        probes += [prices[0] + 1, prices[-1] - 1] if prices else [Fraction(1)]
        for probe in probes:
            entered = sum(price > probe for price in prices) + free
            found = sum(1 << i for i in range(k) if 0 <= groups.of[i] < entered)
            assert found == smallest_optimum(requires, value, cost, probe)


def test_two_ratios_that_no_float_tells_apart(kernel: str) -> None:
    big = 2**60
    apart = Digraph.from_arcs(2, [], [])
    groups = price_groups(apart, np.array([big + 1, big]), np.array([big + 2, big + 1]))
    assert float(Fraction(big + 1, big + 2)) == float(Fraction(big, big + 1))
    assert groups.of.tolist() == [0, 1]
    equal = price_groups(apart, np.array([big, big // 2]), np.array([big, big // 2]))
    assert equal.of.tolist() == [0, 0]


@pytest.mark.parametrize("name", ["prov-1e4", "mine5-1e4", "chain-1e4", "star-1e4", "bip-1e4"])
def test_large_paths_equal_single_cuts(name: str) -> None:
    drawn = generate(name)
    value = np.rint(drawn.value * 1000).astype(np.int64)
    cost = np.rint(drawn.cost * 1000).astype(np.int64)
    groups = price_groups(drawn.requires, value, cost)
    rng = np.random.default_rng(1)
    priced = np.flatnonzero(groups.cost > 0)
    for group in rng.choice(priced, 8).tolist():  # at a breakpoint, where ties are
        top, bottom = int(groups.value[group]), int(groups.cost[group])
        profit = value * bottom - cost * top
        mask = Pseudoflow().solve(ClosureInstance(profit=profit, requires=drawn.requires)).mask
        assert np.array_equal(mask, (groups.of >= 0) & (groups.of < group))


def test_shifted_numbers_have_the_same_groups() -> None:
    drawn = generate("prov-1e4")
    value = np.rint(drawn.value * 1000).astype(np.int64)
    cost = np.rint(drawn.cost * 1000).astype(np.int64)
    narrow = price_groups(drawn.requires, value, cost)
    wide = price_groups(drawn.requires, value << 34, cost << 34)
    assert np.array_equal(narrow.of, wide.of)
    assert np.array_equal(narrow.value << 34, wide.value)


@pytest.mark.parametrize(
    ("value", "cost", "of"),
    [
        pytest.param([], [], [], id="no node"),
        pytest.param([5], [0], [0], id="free and good"),
        pytest.param([0], [0], [-1], id="nothing at all"),
        pytest.param([-5], [0], [-1], id="free and bad"),
        pytest.param([-5], [2], [0], id="only for a subsidy"),
        pytest.param([5, -3, 2], [0, 0, 1], [0, -1, 1], id="free beside priced"),
    ],
)
def test_nodes_without_cost(kernel: str, value: list[int], cost: list[int], of: list[int]) -> None:
    requires = Digraph.from_arcs(len(value), [], [])
    groups = price_groups(requires, np.array(value, np.int64), np.array(cost, np.int64))
    assert groups.of.tolist() == of


def test_totals_beyond_the_limit_are_refused() -> None:
    with pytest.raises(InvalidInput):
        price_groups(Digraph.from_arcs(2, [], []), np.array([2**61, 2**61]), np.array([1, 1]))
