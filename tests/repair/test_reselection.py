"""Re-selection: what is left is chosen as if what was spent were gone and what stands were there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorepair import Call, Made, Memory, RepairReport, StepFailed
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import Case, Draft, Key, Read, Recipe
from memorepair.repair.operators.recompute import FunctionOperator
from memorepair.repair.report import Fate


@contextmanager
def world(
    arcs: Mapping[str, tuple[str, ...]],
    prices: Mapping[str, tuple[float, float]],
    real: Mapping[str, float | None],
    *,
    shared: bool = False,
) -> Iterator[tuple[Memory, Case]]:
    """Caches over the root `r`, each with value and cost; `real` is what one costs, None where it fails.

    Each has an operator of its own, unless `shared`.
    """

    def make(call: Call) -> Made:
        cost = real.get(call.key.id, prices[call.key.id][1])
        if cost is None:
            raise StepFailed("no")
        return Made(content=f"{call.key.id}: {' '.join(one.content for one in call.inputs)}", cost=cost)

    made_by = {name: "make" if shared else f"make-{name}" for name in arcs}
    operators = [FunctionOperator(name=name, function=make) for name in sorted({*made_by.values()})]
    with TemporaryDirectory() as folder, Memory.open(Path(folder) / "a.db", operators=operators) as memory:
        memory.record("old", id="r")
        memory.ingest(
            [
                Draft(
                    key=Key((), name),
                    content=f"old {name}",
                    kind=Kind.CACHE,
                    reads=tuple(Read(key=Key((), one)) for one in above),
                    recipe=Recipe(operator=made_by[name], value=prices[name][0], cost=prices[name][1]),
                )
                for name, above in arcs.items()
            ]
        )
        yield memory, memory.correct("r", "new", reason="wrong", actor="me")


def fates(report: RepairReport) -> dict[str, Fate]:
    return {member.key.id: member.fate for member in report.members}


# `fails` and `dear` are needed for `goal` only; without `goal`, `dear` is not worth its cost.
TREE = {"fails": ("r",), "x": ("r",), "dear": ("x",), "goal": ("fails", "dear"), "own": ("r",)}
PRICES = {"fails": (0.0, 1.0), "x": (0.0, 1.0), "dear": (0.0, 50.0), "goal": (100.0, 1.0), "own": (9.0, 1.0)}


def test_what_cannot_be_completed_is_not_paid_for() -> None:
    outcomes = {}
    for reselect in (False, True):
        with world(TREE, PRICES, {"fails": None}) as (memory, case):
            outcomes[reselect] = memory.repair(case, tradeoff=0.01, reselect=reselect)
    plain, anew = outcomes[False], outcomes[True]
    assert (plain.cost, plain.reselections) == (53.0, 0)
    assert (anew.cost, anew.reselections) == (3.0, 1)
    assert fates(plain)["dear"] is Fate.REPUBLISHED
    assert fates(anew) == {
        "fails": Fate.FAILED,
        "x": Fate.REPUBLISHED,
        "own": Fate.REPUBLISHED,
        "dear": Fate.LEFT,
        "goal": Fate.SKIPPED,
    }
    (left,) = (one for one in anew.still_withdrawn if one.key.id == "dear")
    assert left.why.startswith("price")


def test_what_was_spent_is_sunk() -> None:
    # p was thought to cost 1 and cost 90; q on top of it is worth its own cost, though not p's as well.
    arcs = {"p": ("r",), "q": ("p",)}
    prices = {"p": (0.0, 1.0), "q": (10.0, 1.0)}
    with world(arcs, prices, {"p": 90.0}) as (memory, case):
        report = memory.repair(case, tradeoff=0.1, reselect=True)
        assert report.republished == (Key((), "p"), Key((), "q"))
        assert (report.cost, report.reselections) == (91.0, 1)


def test_a_budget_that_a_failure_frees_is_spent_on_what_is_best_then() -> None:
    # Within 10: a, b (for goal, 100). b fails; what goal would have cost goes to second.
    arcs = {"b": ("r",), "a": ("r",), "goal": ("b", "a"), "s": ("a",)}
    prices = {"b": (0.0, 2.0), "a": (0.0, 1.0), "goal": (100.0, 7.0), "s": (5.0, 6.0)}
    for reselect in (False, True):
        with world(arcs, prices, {"b": None}) as (memory, case):
            report = memory.repair(case, budget=10.0, reselect=reselect)
            assert (fates(report)["s"] is Fate.REPUBLISHED) == reselect
            assert report.cost <= 10.0
            assert report.plan.cost == 10.0


def test_money_kept_back_for_dear_steps_is_spent_when_they_do_not_come() -> None:
    # One operator. The first step is dear, so the others are expected to be dear too; they are not.
    arcs = {"first": ("r",), **{f"n{number}": ("first",) for number in range(4)}}
    prices = dict.fromkeys(arcs, (5.0, 10.0))
    with world(arcs, prices, {"first": 20.0}, shared=True) as (memory, case):
        report = memory.repair(case, budget=60.0, reselect=True)
        assert not report.still_withdrawn
        assert (report.cost, report.reselections) == (60.0, 2)


def test_over_many_surprises_it_recovers_no_less_than_plain_execution() -> None:
    worth = {False: 0.0, True: 0.0}
    for seed in range(12):
        draw = np.random.default_rng(seed)
        names = [f"n{place}" for place in range(14)]
        arcs = {
            name: ("r", *(names[one] for one in draw.choice(place, min(place, 2), replace=False).tolist()))
            if draw.random() < 0.6
            else ("r",)
            for place, name in enumerate(names)
        }
        prices = {name: (float(draw.integers(1, 30)), float(draw.integers(1, 20))) for name in names}
        fate = draw.random(len(names))
        real = {
            name: None if luck < 0.15 else prices[name][1] * (3 if luck > 0.75 else 1)
            for name, luck in zip(names, fate.tolist(), strict=True)
        }
        budget = 0.6 * sum(cost for _, cost in prices.values())
        for reselect in worth:
            with world(arcs, prices, real, shared=True) as (memory, case):
                report = memory.repair(case, budget=budget, reselect=reselect)
                worth[reselect] += sum(prices[key.id][0] for key in report.republished)
    assert worth[True] > worth[False]


def test_nothing_is_chosen_anew_without_a_reason() -> None:
    with world(TREE, PRICES, {"x": 0.5}) as (memory, case):
        report = memory.repair(case, tradeoff=0.01, reselect=True)
        assert report.reselections == 0
        assert not report.still_withdrawn


def test_repair_all_stays_all() -> None:
    with world(TREE, PRICES, {"fails": None}) as (memory, case):
        report = memory.repair(case, solver="repair-all", reselect=True)
        assert (report.cost, report.reselections) == (53.0, 0)


NAMES = [f"n{place}" for place in range(7)]


@settings(max_examples=25)
@given(st.data())
def test_it_publishes_what_is_sound_and_never_begins_what_cannot_be_completed(data: st.DataObject) -> None:
    arcs = {
        name: ("r", *sorted(data.draw(st.sets(st.sampled_from(NAMES[:place]), max_size=2)) if place else ()))
        for place, name in enumerate(NAMES)
    }
    prices = {
        name: (float(data.draw(st.integers(0, 9))), float(data.draw(st.integers(1, 9)))) for name in NAMES
    }
    real = {name: data.draw(st.none() | st.integers(1, 30).map(float)) for name in NAMES}
    budget = data.draw(st.none() | st.integers(0, 40).map(float))
    with world(arcs, prices, real) as (memory, case):
        report = memory.repair(case, budget=budget, reselect=True)
        done = {one.id for one in (*report.republished, *report.unchanged, *report.released)}
        for name in done:
            assert set(arcs[name]) - {"r"} <= done
            assert memory.get(name).content
        spent = sum(one.cost for one in report.members if one.fate in (Fate.REPUBLISHED, Fate.FAILED))
        assert report.cost == pytest.approx(spent)
        assert {one.key.id for one in report.still_withdrawn} == set(NAMES) - done
        assert np.isfinite(report.cost)
        assert memory.store.check() == []
