"""Within a budget a plan is closed, proved and affordable, and a repair begins nothing it cannot pay."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorepair.errors import InvalidInput, MemoRepairError, Withdrawn
from memorepair.graphs.closure import is_closed
from memorepair.graphs.digraph import Digraph
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import CaseStatus, Draft, Key, Read, Recipe
from memorepair.memory.sqlite import SqliteStore
from memorepair.problems import Status
from memorepair.problems.integers import fraction
from memorepair.repair import engine
from memorepair.repair.candidates import Bar, Candidates
from memorepair.repair.cascade import Cascade
from memorepair.repair.events import Correction, EventKind, RepairEvent
from memorepair.repair.modes import Mode
from memorepair.repair.operators.operator import Call, Made
from memorepair.repair.operators.registry import Operators
from memorepair.repair.plan import RepairPlan, make_plan
from memorepair.repair.report import Fate
from memorepair.testing import assert_certificate

MakeCascade = Callable[..., Cascade]
STAR = {"root": (), "a": ("root",)}


def key(name: str) -> Key:
    return Key(("t",), name)


def candidates(
    value: Sequence[float],
    cost: Sequence[float],
    requires: Sequence[tuple[int, int]] = (),
    barred: Sequence[int] = (),
) -> Candidates:
    k = len(value)
    runs = np.ones(k, np.bool_)
    runs[list(barred)] = False
    return Candidates(
        keys=tuple(key(f"n{place:02}") for place in range(k)),
        modes=(Mode.REGEN,) * k,
        operators=("op@1",) * k,
        executable=runs,
        value=np.array(value, np.float64),
        cost=np.array(cost, np.float64),
        unit="tokens",
        prerequisites=Digraph.from_arcs(k, [tail for tail, _ in requires], [head for _, head in requires]),
        bars=tuple(None if run else Bar(reason="no operator", witness=("lost@1",)) for run in runs.tolist()),
    )


@st.composite
def priced(draw: st.DrawFn) -> Candidates:
    k = draw(st.integers(1, 9))
    prices = st.lists(st.sampled_from((0.0, 0.1, 0.2, 0.3, 1.0, 2.5, 7.0)), min_size=k, max_size=k)
    arcs = st.tuples(st.integers(0, k - 1), st.integers(0, k - 1)).filter(lambda arc: arc[0] > arc[1])
    requires = sorted(draw(st.sets(arcs, max_size=12))) if k > 1 else []
    barred = draw(st.sets(st.integers(0, k - 1), max_size=2))
    for tail, head in requires:
        if head in barred:
            barred.add(tail)
    return candidates(draw(prices), draw(prices), requires, sorted(barred))


def spent(plan: RepairPlan) -> Fraction:
    return sum((fraction(row.cost) for row in plan.rows() if row.chosen), Fraction(0))


BUDGETS = st.sampled_from((0, 0.1, 0.3, 0.6, 1, 2.5, 9.9, 1e12))


@settings(max_examples=80)
@given(priced(), BUDGETS, st.sampled_from((None, 0.0, 0.3, 2.0)), st.booleans())
def test_a_budgeted_plan_keeps_it_and_proves_its_bound(
    make_cascade: MakeCascade, what: Candidates, budget: float, tradeoff: float | None, normalise: bool
) -> None:
    plan = make_plan(
        make_cascade(STAR, ["root"]), what, budget=budget, tradeoff=tradeoff, normalise=normalise
    )
    selection = plan.selection
    assert spent(plan) <= fraction(budget)
    assert plan.cost == float(spent(plan)) == selection.cost
    assert is_closed(what.prerequisites, selection.mask)
    assert not (selection.mask & ~what.executable).any()
    assert_certificate(selection)
    assert selection.status in (Status.OPTIMAL, Status.FEASIBLE)
    assert (selection.ties, selection.certificate) == (None, None)
    assert selection.leaves
    assert selection.objective <= selection.bound
    assert (selection.gap == 0.0) is (selection.status is Status.OPTIMAL)
    assert selection.gap <= 1e-6
    assert (plan.budget, plan.tradeoff) == (budget, tradeoff or 0.0)
    for row, place in zip(plan.rows(), range(len(what.keys)), strict=True):
        assert (row.reason == "budget") is (place in plan.beyond)
        assert not (row.chosen and place in plan.beyond)


@settings(max_examples=40)
@given(priced(), st.sampled_from((0.3, 2.0)))
def test_a_budget_that_does_not_bind_changes_nothing_of_worth(
    make_cascade: MakeCascade, what: Candidates, tradeoff: float
) -> None:
    cascade = make_cascade(STAR, ["root"])
    free = make_plan(cascade, what, tradeoff=tradeoff, normalise=False)
    within = make_plan(cascade, what, tradeoff=tradeoff, normalise=False, budget=1e15)
    assert float(within.selection.objective) == pytest.approx(float(free.selection.objective), abs=1e-9)
    assert within.beyond == frozenset()


@settings(max_examples=40)
@given(priced(), BUDGETS)
def test_no_affordable_closed_set_is_worth_more_than_the_bound(
    make_cascade: MakeCascade, what: Candidates, budget: float
) -> None:
    plan = make_plan(make_cascade(STAR, ["root"]), what, budget=budget)
    k = len(what.keys)
    best = Fraction(0)
    for number in range(1 << k):
        mask = (number >> np.arange(k)) & 1 == 1
        if (mask & ~what.executable).any() or not is_closed(what.prerequisites, mask):
            continue
        if sum(map(fraction, what.cost[mask].tolist()), Fraction(0)) <= fraction(budget):
            best = max(best, sum(map(fraction, what.value[mask].tolist()), Fraction(0)))
    assert fraction(plan.selection.objective) == pytest.approx(best, rel=1e-6)
    assert best <= fraction(plan.selection.bound)


def test_with_a_tradeoff_the_scale_is_the_plans_own(make_cascade: MakeCascade) -> None:
    cascade = make_cascade(STAR, ["root"])
    what = candidates([1000, 1000, 200], [0.001, 0.001, 0.001])
    for tradeoff in (0.1, 0.3, 1.1):
        free = make_plan(cascade, what, tradeoff=tradeoff)
        within = make_plan(cascade, what, tradeoff=tradeoff, budget=1)
        assert np.array_equal(free.selection.mask, within.selection.mask)
    scale = (1000.0, 0.01)
    assert make_plan(cascade, what, tradeoff=1, budget=1, scale=scale).left == ()


def test_what_only_the_budget_leaves_out_says_so(make_cascade: MakeCascade) -> None:
    what = candidates([5, 4, 1, 9], [2, 2, 40, 1], barred=[3])
    plan = make_plan(make_cascade(STAR, ["root"]), what, budget=3, tradeoff=0.3)
    assert [row.reason for row in plan.rows()] == ["chosen", "budget", "price", "no operator"]
    free = make_plan(make_cascade(STAR, ["root"]), what, tradeoff=0.3)
    assert free.beyond == frozenset()


def test_a_budget_of_0_takes_what_is_free(make_cascade: MakeCascade) -> None:
    plan = make_plan(make_cascade(STAR, ["root"]), candidates([1, 1], [0, 1]), budget=0)
    assert [row.chosen for row in plan.rows()] == [True, False]
    assert plan.selection.status is Status.OPTIMAL


BAD: list[Any] = [-1, -0.5, float("nan"), float("inf"), 10**400, "5", True, [1, 2]]


@pytest.mark.parametrize("budget", BAD, ids=lambda one: repr(one)[:12])
def test_a_budget_is_a_number(make_cascade: MakeCascade, budget: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        make_plan(make_cascade(STAR, ["root"]), candidates([1], [1]), budget=budget)
    assert caught.value.witness is budget


@pytest.mark.parametrize("more", [{"solver": "repair-all"}, {"solver": "exhaustive"}, {"ties": "most"}])
def test_with_a_budget_there_is_one_solver(make_cascade: MakeCascade, more: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        make_plan(make_cascade(STAR, ["root"]), candidates([1], [1]), budget=1, **more)


# carried out -----------------------------------------------------------------------------------------


@dataclass
class Dear:
    """Makes its text at a cost that is not the one listed; remembers what it was asked for."""

    name: str
    cost: float | None
    made: list[str]
    before: Callable[[], None] | None = None
    version: str = "1"
    mode: Mode = Mode.REGEN
    deterministic: bool = False
    reads_own_version: bool = False

    def make(self, call: Call) -> Made:
        self.made.append(call.key.id)
        if self.before is not None:
            self.before()
        return Made(
            content=f"{call.key.id} of " + ", ".join(one.content for one in call.inputs), cost=self.cost
        )


@contextmanager
def world(costs: Sequence[tuple[str, float, float, str]]) -> Iterator[tuple[SqliteStore, int]]:
    """A corrected root and artifacts (name, listed cost, value, parent)."""
    with TemporaryDirectory() as folder, SqliteStore.open(Path(folder) / "memory.db") as store:
        store.write(
            [
                Draft(key=key("root"), content="root"),
                *(
                    Draft(
                        key=key(name),
                        content=f"old {name}",
                        kind=Kind.SUMMARY,
                        recipe=Recipe(operator="dear", cost=cost, value=value),
                        reads=(Read(key=key(parent)),),
                    )
                    for name, cost, value, parent in costs
                ),
            ]
        )
        event = RepairEvent(
            kind=EventKind.CORRECT, roots=(key("root"),), delta=Correction(replacements={key("root"): "new"})
        )
        yield store, engine.withdraw(store, event).id


THREE = [("a", 2.0, 5.0, "root"), ("b", 2.0, 4.0, "root"), ("c", 2.0, 3.0, "a")]
"""Three that a budget of 6 pays for as listed; c stands on a."""


def test_no_step_is_begun_that_is_foreseen_to_cost_more_than_is_left() -> None:
    made: list[str] = []
    with world(THREE) as (store, case):
        report = engine.repair(store, case, operators=Operators([Dear("dear", 2.5, made)]), budget=6)
        assert made == ["a", "b"]
        assert (report.budget, report.plan.cost, report.cost, report.over_budget) == (6, 6.0, 5.0, 0.0)
        fates = {one.key.id: one.fate for one in report.members}
        assert fates == {"a": Fate.REPUBLISHED, "b": Fate.REPUBLISHED, "c": Fate.SKIPPED}
        assert report.still_withdrawn[0].why == "budget: foreseen to cost 2, 1 was left"
        assert report.case.status is CaseStatus.CLOSED_PARTIAL
        told = report.to_json()
        assert (told["budget"], told["over_budget"], told["cost"]) == (6, 0.0, 5.0)
        # Taken up again with a budget of its own, it takes what was left and nothing else.
        again = engine.repair(store, case, operators=Operators([Dear("dear", 2.5, made)]), budget=6)
        assert made == ["a", "b", "c"]
        assert again.case.status is CaseStatus.CLOSED


def test_the_last_step_that_fits_may_exceed_by_what_it_costs_more() -> None:
    made: list[str] = []
    with world(THREE) as (store, case):
        report = engine.repair(store, case, operators=Operators([Dear("dear", 7.0, made)]), budget=6)
        assert (made, report.cost, report.over_budget) == (["a"], 7.0, 1.0)
        assert {one.key.id for one in report.still_withdrawn} == {"b", "c"}


def test_decimals_add_up() -> None:
    tenths = [("a", 0.1, 1.0, "root"), ("b", 0.2, 1.0, "root")]
    made: list[str] = []
    with world(tenths) as (store, case):
        report = engine.repair(store, case, operators=Operators([Dear("dear", None, made)]), budget=0.3)
        assert (report.still_withdrawn, report.cost, report.over_budget) == ((), 0.3, 0.0)


def test_what_depends_on_a_step_that_was_not_begun_is_skipped() -> None:
    chain = [("a", 1.0, 5.0, "root"), ("b", 3.0, 5.0, "a"), ("c", 0.0, 5.0, "b")]
    made: list[str] = []
    with world(chain) as (store, case):
        report = engine.repair(store, case, operators=Operators([Dear("dear", 2.0, made)]), budget=4)
        assert made == ["a"]
        assert [one.why for one in report.still_withdrawn] == [
            "budget: foreseen to cost 3, 2 was left",
            "requires t::b, which has no successor",
        ]


def test_a_budget_of_0_spends_nothing() -> None:
    made: list[str] = []
    with world(THREE) as (store, case):
        report = engine.repair(store, case, operators=Operators([Dear("dear", None, made)]), budget=0)
        assert (made, report.cost, report.budget) == ([], 0.0, 0)
        assert {one.why for one in report.still_withdrawn} == {"budget"}
        assert engine.why(store, case, key("a"), operators=Operators([Dear("dear", None, made)])) == "chosen"


def test_attempts_made_void_count() -> None:
    """Another write comes between: the second plan has what the first has left, not the whole again."""
    made: list[str] = []
    with world(THREE) as (store, case):
        left = [1]

        def disturb() -> None:
            if left[0]:
                left[0] -= 1
                store.write([Draft(key=key("root"), content="newer")])

        operators = Operators([Dear("dear", 2.0, made, before=disturb)])
        report = engine.repair(store, case, operators=operators, budget=6)
        assert report.attempts == 2
        assert report.cost <= 6
        assert report.plan.budget is not None
        assert report.plan.budget < 6
        assert report.cost == 2.0 * len(made)


def test_a_repair_that_dies_leaves_the_next_the_same_plan_within_the_same_budget() -> None:
    made: list[str] = []
    with world(THREE) as (store, case):

        def die() -> None:
            raise KeyboardInterrupt

        table = Operators([Dear("dear", None, made)])
        before = engine.plan(store, case, operators=table, budget=4)
        with pytest.raises(KeyboardInterrupt):
            engine.repair(store, case, operators=Operators([Dear("dear", None, made, before=die)]), budget=4)
        assert store.case(case).status is CaseStatus.OPEN
        with pytest.raises(Withdrawn):
            store.get(key("a"))
        assert engine.plan(store, case, operators=table, budget=4).digest == before.digest
        report = engine.repair(store, case, operators=table, budget=4)
        assert (report.plan.digest, report.cost) == (before.digest, 4.0)


@pytest.mark.parametrize("budget", [-1, float("nan"), "6"])
def test_a_bad_budget_changes_nothing(budget: Any) -> None:
    with world(THREE) as (store, case):
        before, operators = store.snapshot(), Operators([Dear("dear", None, [])])
        with pytest.raises(InvalidInput):
            engine.repair(store, case, operators=operators, budget=budget)
        with pytest.raises(MemoRepairError):
            engine.repair(store, case, operators=operators, budget=5, solver="greedy")
        assert store.snapshot() == before
        assert store.case(case).status is CaseStatus.OPEN
