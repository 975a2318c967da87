"""An explanation is true: shares add up, prices decide, witnesses prove, budgets and solvers are named."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorepair import SelectionInstance, frontier, select
from memorepair.errors import InvalidInput, UnknownId
from memorepair.graphs import Digraph, least_closed_superset
from memorepair.problems import Certificate, Selection, Status
from memorepair.problems.integers import fraction
from memorepair.problems.proof import Ties
from memorepair.selection.explaining import Reason, explain
from memorepair.testing import instances

CHOSEN = {Reason.EARNS, Reason.PAID, Reason.REQUIRED, Reason.NEEDED, Reason.UNPAID}


def worth(instance: SelectionInstance, place: int) -> Fraction:
    price = fraction(instance.tradeoff)
    cost = fraction(instance.cost[place]) if price else Fraction(0)
    return fraction(instance.value[place]) - price * cost


def close(a: object, b: object) -> bool:
    return math.isclose(float(fraction(a)), float(fraction(b)), rel_tol=1e-9, abs_tol=1e-9)


def check_path(instance: SelectionInstance, path: tuple[object, ...]) -> None:
    for tail, head in pairwise(map(instance.position, path)):
        assert head in instance.requires.successors(tail)


def check(selection: Selection, place: int) -> Reason:
    instance = selection.instance
    found = explain(selection, instance.id_of(place))
    assert found.chosen == (selection.answer is not None and bool(selection.mask[place]))
    assert found.chosen == (found.reason in CHOSEN)
    assert close(found.profit, worth(instance, place))
    assert str(found).startswith(repr(found.id))
    assert str(found).endswith(".")
    assert json.loads(json.dumps(found.to_json()))["sentence"] == str(found)
    check_path(instance, found.path)
    if found.reason is Reason.BARRED:
        assert found.path[0] == found.id
        assert not instance.executable[instance.position(found.path[-1])]
    if found.reason is Reason.NEEDED:
        assert found.path[-1] == found.id
        assert instance.required[instance.position(found.path[0])]
    if found.reason is Reason.PAID:
        for id, share in found.payers:
            payer = instance.position(id)
            assert selection.mask[payer]
            assert least_closed_superset(instance.requires, [payer])[place]
            assert share > 0
            assert fraction(share) <= worth(instance, payer) + Fraction(1, 10**9)
        total = sum((fraction(share) for _, share in found.payers), Fraction(0))
        assert close(total, -worth(instance, place))
    else:
        assert found.payers == ()
    return found.reason


@settings(max_examples=60)
@given(instances(named=True), st.sampled_from(["fewest", "most"]))
def test_what_is_said_of_an_optimum_is_true(instance: SelectionInstance, ties: Ties) -> None:
    selection = select(instance, ties=ties)
    reasons = {check(selection, place) for place in range(instance.k)}
    assert not reasons & {Reason.UNPAID, Reason.MISSED, Reason.BUDGET}


@settings(max_examples=40)
@given(instances(budgets=True, max_size=6))
def test_what_is_said_within_a_budget_is_true(instance: SelectionInstance) -> None:
    selection = select(instance)
    reasons = {check(selection, place) for place in range(instance.k)}
    assert Reason.MISSED not in reasons
    if selection.status is Status.OPTIMAL and not selection.report.loss:
        assert Reason.UNPAID not in reasons


@settings(max_examples=30)
@given(instances(max_size=6), st.sampled_from(["greedy", "repair-all", "repair-none"]))
def test_what_is_said_of_a_baseline_is_true(instance: SelectionInstance, solver: str) -> None:
    selection = select(instance, solver=solver)
    for place in range(instance.k):
        reason = check(selection, place)
        assert reason is not Reason.BUDGET
        if reason is Reason.MISSED:
            assert select(instance).mask[place]


@settings(max_examples=30)
@given(instances(max_size=6), st.sampled_from(["fewest", "most"]))
def test_the_price_decides(instance: SelectionInstance, ties: Ties) -> None:
    selection = select(instance, ties=ties)
    if selection.answer is None or selection.report.loss:
        return
    curve = frontier(instance)
    if curve.value_loss or curve.cost_loss:
        return
    for place in range(instance.k):
        found = explain(selection, place, curve=curve)
        assert found == explain(selection, place)
        if found.price is None:
            fixed = found.reason in (Reason.BARRED, Reason.REQUIRED, Reason.NEEDED)
            assert fixed or not np.any(instance.cost != 0)
            continue
        for tradeoff in (Fraction(0), Fraction(1, 3), Fraction(2), abs_price(found.price)):
            other = select(instance, tradeoff=tradeoff, ties=ties)
            below = tradeoff <= found.price if ties == "most" else tradeoff < found.price
            assert other.report.loss or bool(other.mask[place]) == below


def abs_price(price: Fraction | float) -> Fraction:
    return abs(Fraction(price)) if math.isfinite(price) else Fraction(1)


@pytest.mark.parametrize(
    ("id", "sentence"),
    [
        (
            "skill",
            "'skill' is chosen: it is worth 4 more than it costs. "
            "It leaves at the tradeoff 1; that is 0.5 now.",
        ),
        (
            "orders",
            "'orders' is chosen: it lacks 1.5, 'skill' pays 1.5. "
            "It leaves at the tradeoff 1; that is 0.5 now.",
        ),
        (
            "dear",
            "'dear' is not chosen: with all it needs it brings no more than it costs. "
            "It enters below the tradeoff 1/4; that is 0.5 now.",
        ),
        ("lost", "'lost' is not chosen: 'lost' needs 'gone', which cannot be executed."),
        ("gone", "'gone' is not chosen: it cannot be executed."),
        ("asked", "'asked' is chosen: it is required."),
        ("base", "'base' is chosen: 'asked' is required, and 'asked' needs 'base'."),
        (
            "junk",
            "'junk' is not chosen: with all it needs it brings no more than it costs. "
            "It is in at no tradeoff.",
        ),
    ],
)
def test_sentences(id: str, sentence: str) -> None:
    records = [
        {"id": "skill", "value": 5, "cost": 2, "requires": ["orders"]},
        {"id": "orders", "value": 0, "cost": 3},
        {"id": "dear", "value": 1, "cost": 4},
        {"id": "lost", "value": 9, "requires": ["gone"]},
        {"id": "gone", "value": 9, "executable": False},
        {"id": "asked", "value": -5, "required": True, "requires": ["base"]},
        {"id": "base", "value": -5},
        {"id": "junk", "value": -1},
    ]
    assert str(explain(select(records, tradeoff=0.5), id)) == sentence


def test_no_selection_is_explained_by_its_path() -> None:
    records = [
        {"id": "a", "value": 1, "required": True, "requires": ["b"]},
        {"id": "b", "value": 1, "executable": False},
        {"id": "c", "value": 1},
    ]
    found = explain(select(records), "c")
    assert (found.reason, found.path) == (Reason.NOTHING, ("a", "b"))
    assert (
        str(found)
        == "'c' is not chosen, nothing is: 'a' is required, but 'a' needs 'b', which cannot be executed."
    )
    assert explain(select(records), "a").reason is Reason.BARRED


def test_a_curve_of_another_problem_is_refused() -> None:
    value, cost = [5, -1], [1, 2]
    selection = select(value=value, cost=cost, requires=[(0, 1)], budget=3, gap=0)
    same = explain(selection, 0, curve=frontier(value=value, cost=cost, requires=[(0, 1)]))
    assert str(same) == str(explain(selection, 0))
    for other in (frontier(value=value, cost=cost), frontier(value=[5, -2], cost=cost, requires=[(0, 1)])):
        with pytest.raises(InvalidInput, match="another problem"):
            explain(selection, 0, curve=other)
    with pytest.raises(InvalidInput):
        explain(cast("Selection", other), 0)


def test_an_unknown_id_is_named() -> None:
    with pytest.raises(UnknownId) as caught:
        explain(select(value=[1]), 3)
    assert caught.value.witness == 3


def test_payments_in_a_circle_do_not_count() -> None:
    # 0 and 1 require each other and pay each other in a circle; 2 pays for both.
    requires = Digraph.from_arcs(3, (0, 1, 2), (1, 0, 0))
    selection = select(value=[-1, -1, 5], requires=requires)
    arcs = selection.instance.requires
    pi = np.zeros(arcs.m, np.int64)
    for number, (tail, head) in enumerate(zip(arcs.tails().tolist(), arcs.heads.tolist(), strict=True)):
        pi[number] = {(0, 1): 8, (1, 0): 7, (2, 0): 3}[tail, head]
    circular = replace(selection, certificate=Certificate.of(np.arange(arcs.m), pi))
    assert circular.verify()
    for place in (0, 1):
        assert explain(circular, place).payers == ((2, 1),)


def test_a_long_chain_is_traced() -> None:
    n = 20_000
    value = np.full(n, -1)
    value[-1] = 2 * n
    chain = Digraph.from_arcs(n, np.arange(1, n), np.arange(n - 1))
    found = explain(select(value=value, requires=chain), 0)
    assert found.payers == ((n - 1, 1),)


def test_a_hub_is_paid_by_many() -> None:
    n = 5_000
    value = np.ones(n, np.int64)
    value[0] = 2 - n
    star = Digraph.from_arcs(n, np.arange(1, n), np.zeros(n - 1, np.int64))
    found = explain(select(value=value, requires=star), 0)
    assert len(found.payers) == n - 2
    assert "others the rest" in str(found)
