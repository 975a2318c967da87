"""verify() believes nothing: every tampering with an answer or its certificate is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from memorepair import Certificate, Selection, SelectionInstance, Status, select
from memorepair.errors import InvalidInput, NoSolution, ProofFailed
from memorepair.graphs import Digraph

Draw = Callable[[np.random.Generator], SelectionInstance]


@pytest.fixture
def selection() -> Selection:
    # 0 and 1 share the cost of 2; 3 pays for nothing; 4 is barred through 5; 6 is worth nothing and requires
    # nothing.
    return select(
        value=[3, 3, 0, -1, 9, 9, 0],
        cost=[0, 0, 4, 0, 0, 0, 0],
        requires=[(0, 2), (1, 2), (4, 5)],
        executable=[True, True, True, True, True, False, True],
        tradeoff=1,
    )


def tampered(selection: Selection, **fields: Any) -> Selection:
    """`selection` with fields of its answer replaced."""
    return replace(selection, answer=replace(selection.figures, **fields))


def certificate(arcs: list[int], amounts: list[int]) -> Certificate:
    return Certificate(arcs=np.array(arcs, np.int32), amounts=np.array(amounts, np.int64))


def test_the_answer_itself_passes(selection: Selection) -> None:
    assert selection.verify() is True
    assert selection.chosen == (0, 1, 2)
    assert (selection.value, selection.cost, selection.objective, selection.bound) == (6, 4, 2, 2)


@pytest.mark.parametrize(
    ("chosen", "witness"),
    [
        pytest.param([0, 1], (0, 2), id="a prerequisite is missing"),
        pytest.param([4, 5], 4, id="barred"),
        pytest.param([0, 1, 2, 3], None, id="worth less"),
        pytest.param([0, 1, 2, 6], 6, id="not the smallest optimum"),
        pytest.param([], None, id="empty"),
    ],
)
def test_another_set_fails(selection: Selection, chosen: list[int], witness: object) -> None:
    mask = np.zeros(7, np.bool_)
    mask[chosen] = True
    with pytest.raises(ProofFailed) as caught:
        tampered(selection, mask=mask).verify()
    assert witness is None or caught.value.witness == witness


def test_a_mask_of_another_shape_fails(selection: Selection) -> None:
    with pytest.raises(ProofFailed):
        tampered(selection, mask=np.zeros(3, np.bool_)).verify()


@pytest.mark.parametrize("figure", ["value", "cost", "objective", "bound", "gap"])
def test_another_figure_fails(selection: Selection, figure: str) -> None:
    with pytest.raises(ProofFailed, match=figure):
        tampered(selection, **{figure: 1.5}).verify()


@pytest.mark.parametrize(
    ("arcs", "amounts"),
    [
        pytest.param([], [], id="none"),
        pytest.param([0], [3], id="too little"),
        pytest.param([0, 1], [4, 4], id="too much"),
        pytest.param([0, 1], [2**62, 2**62], id="enough to wrap int64"),
        pytest.param([0, 1], [2**63 - 1, 2**63 - 1], id="the largest"),
        pytest.param([2], [4], id="on the wrong arc"),
        pytest.param([0, 9], [2, 2], id="on no arc"),
    ],
)
def test_another_certificate_fails(selection: Selection, arcs: list[int], amounts: list[int]) -> None:
    with pytest.raises(ProofFailed):
        replace(selection, certificate=certificate(arcs, amounts)).verify()


def test_another_optimal_certificate_is_as_good(selection: Selection) -> None:
    assert replace(selection, certificate=certificate([0, 1], [1, 3])).verify()
    assert replace(selection, certificate=certificate([0, 1], [3, 1])).verify()


@pytest.mark.parametrize(
    ("arcs", "amounts"),
    [([1, 0], [1, 1]), ([0, 0], [1, 1]), ([0], [0]), ([0], [-1]), ([-1], [1]), ([0], [1, 1])],
)
def test_a_malformed_certificate_is_no_certificate(arcs: list[int], amounts: list[int]) -> None:
    with pytest.raises(InvalidInput):
        certificate(arcs, amounts)


def test_another_status_fails(selection: Selection) -> None:
    with pytest.raises(ProofFailed, match="status"):
        replace(selection, status=Status.FEASIBLE).verify()


def test_the_other_tie_rule_fails(selection: Selection) -> None:
    with pytest.raises(ProofFailed) as caught:
        replace(selection, ties="most").verify()
    assert caught.value.witness == 6


def test_another_loss_or_witness_fails(selection: Selection) -> None:
    with pytest.raises(ProofFailed, match="loss"):
        replace(selection, report=replace(selection.report, loss=Fraction(1))).verify()
    with pytest.raises(ProofFailed, match="barred"):
        replace(selection, report=replace(selection.report, barred_by=np.full(7, -1, np.int32))).verify()


def test_a_random_certificate_never_proves_a_wrong_set(draw: Draw) -> None:
    rng = np.random.default_rng(3)
    for _ in range(300):
        instance = draw(rng)
        truth = select(instance)
        if truth.status is not Status.OPTIMAL:
            continue
        m = instance.requires.m
        arcs = np.flatnonzero(rng.random(m) < 0.5)
        forged = certificate(
            arcs.tolist(), rng.integers(1, 1 + 10 ** int(rng.integers(1, 18)), len(arcs)).tolist()
        )
        other = select(instance, solver=str(rng.choice(["greedy", "repair-all", "repair-none"])))
        claim = replace(
            other,
            certificate=forged,
            status=Status.OPTIMAL,
            answer=replace(other.figures, bound=other.objective, gap=0.0),
        )
        if other.objective != truth.objective:
            with pytest.raises(ProofFailed):
                claim.verify()


def test_no_status_no_value() -> None:
    selection = select(
        value=[1, 1, 1], requires=[(0, 1), (1, 2)], executable=[True, True, False], required=[0]
    )
    assert selection.status is Status.INFEASIBLE
    assert selection.report.infeasible == (0, 1, 2)
    assert selection.verify()
    for name in ("mask", "chosen", "value", "cost", "objective", "bound", "gap"):
        with pytest.raises(NoSolution) as caught:
            getattr(selection, name)
        assert caught.value.witness == (0, 1, 2)
    for path in ((), (0, 2), (1, 2), (0, 1), (0, 7)):
        with pytest.raises(ProofFailed):
            replace(selection, report=replace(selection.report, infeasible=path)).verify()


def test_nothing_can_be_infeasible_with_an_answer(selection: Selection) -> None:
    with pytest.raises(InvalidInput):
        replace(selection, status=Status.INFEASIBLE)


def test_profits_near_the_limit_are_proved_without_wrapping() -> None:
    big = 2**61 - 1
    chain = Digraph.from_arcs(3, [0, 1], [1, 2])
    selection = select(value=[big, 0, -big], requires=chain)
    assert (selection.chosen, selection.objective) == ((), 0)
    assert select(value=[big, 0, -big], requires=chain, ties="most").chosen == (0, 1, 2)
    assert select(value=[big, 0, 1 - big], requires=chain).objective == 1
