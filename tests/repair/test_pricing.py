"""Prices follow use and size, can be overridden, and are never nonsense."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorepair import Memory
from memorepair.errors import InvalidInput, StepFailed
from memorepair.graphs.digraph import Digraph
from memorepair.graphs.terms import Arch, Kind
from memorepair.memory.artifact import Key, Recipe, State
from memorepair.memory.exchange import Member, OperatorCost
from memorepair.repair.candidates import Bar, Candidates
from memorepair.repair.history import Estimate, History
from memorepair.repair.modes import Mode
from memorepair.repair.operators.operator import Call, Made
from memorepair.repair.operators.recompute import operator
from memorepair.repair.pricing import Pricing, Quote, normalised

DAY = 86_400 * 10**9
BAD = (-1.0, math.nan, math.inf)


def member(
    name: str = "it",
    *,
    kind: Kind = Kind.RECORD,
    uses: int = 0,
    dependents: int = 0,
    size: int = 400,
    updated_at: int = 0,
    last_accessed_at: int | None = None,
) -> Member:
    return Member(
        key=Key((), name),
        version=1,
        kind=kind,
        arch=Arch.NONE,
        state=State.WITHDRAWN,
        digest="",
        root=False,
        updated_at=updated_at,
        uses=uses,
        last_accessed_at=last_accessed_at,
        dependents=dependents,
        size=size,
    )


def known(
    *,
    operator: str = "op@1",
    unit: str = "tokens",
    octave: int = 8,
    runs: int = 3,
    succeeded: int = 3,
    measured: int = 3,
    size: float = 400.0,
    cost: float | None = 1.0,
    spread: float | None = 0.5,
) -> OperatorCost:
    return OperatorCost(
        operator=operator,
        unit=unit,
        octave=octave,
        runs=runs,
        succeeded=succeeded,
        seconds=1.0,
        measured=measured,
        size=size,
        cost=cost,
        spread=spread,
    )


def prices(
    *members: Member,
    pricing: Pricing | None = None,
    mode: Mode = Mode.REGEN,
    read: float = 400.0,
    recipes: Mapping[Key, Recipe] | None = None,
    costs: Sequence[OperatorCost] = (),
) -> tuple[list[float], list[float]]:
    k = len(members)
    value, cost = (pricing or Pricing()).prices(
        members,
        [mode] * k,
        [None if mode is Mode.REMOVE else "op@1"] * k,
        input_sizes=np.full(k, read),
        recipes=recipes or {},
        history=History(costs, unit=(pricing or Pricing()).unit),
    )
    return value.tolist(), cost.tolist()


def test_value_grows_with_use_dependents_kind_and_recency() -> None:
    (plain, used, needed, summary, skill), _ = prices(
        member(),
        member(uses=5),
        member(dependents=3),
        member(kind=Kind.SUMMARY),
        member(kind=Kind.SKILL),
    )
    assert plain < used
    assert plain < needed
    assert plain < summary < skill
    (old, touched, young), _ = prices(
        member(), member(last_accessed_at=30 * DAY), member(updated_at=60 * DAY)
    )
    assert young == 2 * touched == 4 * old
    (ancient, _), _ = prices(member(), member(updated_at=10_000 * DAY))
    assert ancient == 0.1


@given(st.integers(0, 2**62), st.lists(st.integers(0, 100), min_size=1, max_size=5))
def test_a_price_does_not_depend_on_when_it_is_asked(shift: int, days: list[int]) -> None:
    early = prices(*(member(updated_at=day * DAY) for day in days))
    late = prices(*(member(updated_at=day * DAY + shift) for day in days))
    assert early == late


def test_cost_is_in_tokens_and_a_recomputation_is_cheaper() -> None:
    assert Pricing().unit == "tokens"
    _, (regen,) = prices(member(size=400), read=800.0)
    assert regen == 300
    _, (recompute,) = prices(member(size=400), read=800.0, mode=Mode.RECOMPUTE)
    assert recompute == 75
    _, (nothing,) = prices(member(), mode=Mode.REMOVE)
    assert nothing == 0


def test_the_nearest_price_wins() -> None:
    it = member()
    recipes = {it.key: Recipe(value=7.0, cost=5.0)}
    costs = [known(cost=4.0)]
    listed = Pricing(per_operator={"op": 9.0})
    assert prices(it, costs=costs)[1] == [4.0]
    assert prices(it, costs=costs, pricing=listed)[1] == [9.0]
    exact = Pricing(per_operator={"op": 9.0, "op@1": 8.0})
    assert prices(it, costs=costs, pricing=exact)[1] == [8.0]
    assert prices(it, costs=costs, pricing=listed, recipes=recipes) == ([7.0], [5.0])
    last = Pricing(value=lambda quote: quote.price * 2, cost=lambda quote: quote.price + quote.input_size)
    assert prices(it, costs=costs, pricing=last, recipes=recipes) == ([14.0], [405.0])


def test_a_callable_sees_the_candidate() -> None:
    seen: list[Quote] = []

    def ask(quote: Quote) -> float:
        seen.append(quote)
        return 1.0

    it = member(uses=3)
    prices(it, pricing=Pricing(cost=ask))
    assert seen == [Quote(member=it, mode=Mode.REGEN, operator="op@1", input_size=400.0, price=200.0)]
    prices(it, pricing=Pricing(cost=ask), mode=Mode.REMOVE)
    assert len(seen) == 1


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize(
    "ask",
    [
        lambda bad, it: prices(it, pricing=Pricing(value=lambda quote: bad)),
        lambda bad, it: prices(it, pricing=Pricing(cost=lambda quote: bad)),
    ],
)
def test_a_price_that_is_none_names_the_artifact(bad: float, ask: Callable[[float, Member], object]) -> None:
    with pytest.raises(InvalidInput) as refused:
        ask(bad, member("culprit"))
    assert refused.value.witness == Key((), "culprit")


@pytest.mark.parametrize("bad", BAD)
def test_a_price_list_is_checked_when_it_is_made(bad: float) -> None:
    with pytest.raises(InvalidInput) as refused:
        Pricing(per_operator={"op": bad})
    assert refused.value.witness == "op"
    with pytest.raises(InvalidInput):
        Pricing(half_life_days=bad)
    with pytest.raises(InvalidInput):
        Pricing(half_life_days=0)


def candidates(value: list[float], cost: list[float], executable: list[bool] | None = None) -> Candidates:
    k = len(value)
    runs = [True] * k if executable is None else executable
    return Candidates(
        keys=tuple(Key((), f"{place:03}") for place in range(k)),
        modes=(Mode.REGEN,) * k,
        operators=("op@1",) * k,
        executable=np.array(runs, np.bool_),
        value=np.array(value, np.float64),
        cost=np.array(cost, np.float64),
        unit="tokens",
        prerequisites=Digraph.from_arcs(k, [], []),
        bars=tuple(None if one else Bar(reason="no operator", witness=()) for one in runs),
    )


def _median(array: npt.NDArray[np.float64]) -> float:
    return float(np.median(array[array > 0]))


amounts = st.lists(st.sampled_from((0.0, 0.5, 1.0, 3.0, 70.0, 1e6)), min_size=3, max_size=12)


@given(amounts, amounts)
def test_normalised_prices_have_median_one(value: list[float], cost: list[float]) -> None:
    k = min(len(value), len(cost))
    scaled = normalised(candidates(value[:k], cost[:k]))
    for array, given_prices in ((scaled.value, value[:k]), (scaled.cost, cost[:k])):
        if any(given_prices):
            assert _median(array) == pytest.approx(1)
        assert (array == 0).tolist() == [price == 0 for price in given_prices]
    assert scaled.unit == "medians"


def test_zeros_and_what_cannot_be_executed_do_not_set_the_scale() -> None:
    scaled = normalised(candidates([0, 0, 4, 4, 100], [0, 0, 0, 0, 0], [True, True, True, True, False]))
    assert scaled.value.tolist() == [0, 0, 1, 1, 25]
    assert scaled.cost.tolist() == [0, 0, 0, 0, 0]
    assert normalised(candidates([], [])).keys == ()


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("name", ["value", "cost"])
def test_candidates_refuse_bad_prices(name: str, bad: float) -> None:
    good = candidates([1, 1], [1, 1])
    array = np.array([1.0, bad])
    with pytest.raises(InvalidInput) as refused:
        replace(good, value=array) if name == "value" else replace(good, cost=array)
    assert refused.value.witness == Key((), "001")


def test_candidates_are_as_many_everywhere() -> None:
    good = candidates([1, 1], [1, 1])
    with pytest.raises(InvalidInput):
        replace(good, bars=(None,))
    with pytest.raises(InvalidInput):
        replace(good, executable=np.ones(3, np.bool_))
    with pytest.raises(InvalidInput):
        replace(good, value=np.ones(2, np.float32))
    with pytest.raises(ValueError, match="read-only"):
        good.cost[0] = 2


# history ---------------------------------------------------------------------------------------------


def test_an_estimate_comes_from_inputs_of_this_size_or_of_the_nearest() -> None:
    history = History(
        [
            known(octave=3, size=10.0, cost=30.0, spread=3.0, measured=5),
            known(octave=8, size=400.0, cost=100.0, spread=None, measured=1),
            known(octave=12, measured=0, cost=None, spread=None),  # runs that have told no cost
            known(octave=5, size=40.0, unit="usd"),
            known(operator="other@1", octave=5, size=40.0),
        ]
    )
    assert history.estimate("op@1", 15.0) == Estimate(cost=45.0, spread=4.5, runs=5)
    assert history.estimate("op@1", 300.0) == Estimate(cost=75.0, spread=None, runs=1)
    assert history.estimate("op@1", 1.0) == Estimate(cost=3.0, spread=3.0 * (1.0 / 10.0), runs=5)
    assert history.estimate("op@1", 5_000.0) == Estimate(cost=1_250.0, spread=None, runs=1)
    assert history.estimate("op@1", 40.0) == Estimate(cost=120.0, spread=12.0, runs=5)
    assert history.estimate("unknown@1", 40.0) is None
    assert History([known(cost=1e308)]).estimate("op@1", 1e9) is None


def test_success_is_a_rule_of_succession_over_all_runs() -> None:
    history = History([known(runs=3, succeeded=3), known(unit="usd", runs=5, succeeded=1)])
    assert history.success("op@1") == 5 / 10
    assert history.success("unknown@1") == 1 / 2


def test_success_weighs_the_value_where_that_is_asked_for() -> None:
    it = member()
    costs = [known(runs=8, succeeded=1)]
    (plain,), _ = prices(it, costs=costs)
    (weighed,), _ = prices(it, costs=costs, pricing=Pricing(weigh_success=True))
    assert weighed == pytest.approx(plain * 0.2)
    assert prices(it, costs=costs, pricing=Pricing(weigh_success=True), mode=Mode.REMOVE)[0] == [plain]
    own = {it.key: Recipe(value=10.0)}
    assert prices(it, costs=costs, recipes=own, pricing=Pricing(weigh_success=True))[0] == [2.0]


def test_costs_in_another_unit_are_left_alone() -> None:
    costs = [known(cost=4.0), known(unit="usd", cost=0.25)]
    assert prices(member(), costs=costs)[1] == [4.0]
    assert prices(member(), costs=costs, pricing=Pricing(unit="usd"))[1] == [0.25]
    assert prices(member(), costs=costs, pricing=Pricing(unit="eur"))[1] == [200.0]


@pytest.mark.parametrize(
    "bad",
    [
        {"weigh_success": 1},
        {"unit": 3},
        {"unit": ""},
        {"value": 5},
        {"cost": 5},
        {"per_operator": [("op", 1.0)]},
        {"per_operator": {3: 1.0}},
    ],
)
def test_a_malformed_pricing_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        Pricing(**bad)


def test_what_failed_counts_as_failed_and_costs_what_it_said(tmp_path: Path) -> None:
    @operator(name="half")
    def half(call: Call) -> Made:
        if "bad" in call.inputs[0].content:
            raise StepFailed("no", cost=7.0)
        return Made(content=call.inputs[0].content.upper(), cost=3.0)

    with Memory.open(tmp_path / "a.db", operators=[half]) as memory:
        for name in ("one", "two"):
            memory.record(name, id=name)
            with memory.deriving(kind="cache", operator="half") as d:
                d.write(d.read(name).content.upper())
        report = memory.repair(
            memory.correct({"one": "good", "two": "bad!"}, reason="r", actor="a"), solver="repair-all"
        )
        assert report.cost == 10.0
        (cost,) = memory.store.operator_costs()
    assert (cost.operator, cost.runs, cost.succeeded, cost.measured, cost.cost) == ("half@1", 2, 1, 2, 5.0)
    assert cost.spread == pytest.approx(math.sqrt(8))
