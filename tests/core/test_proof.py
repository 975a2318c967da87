"""verify() believes nothing: every tampering with an answer or its certificate is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, cast

import numpy as np
import pytest

from memorepair import Certificate, Selection, SelectionInstance, Status, explain, select, select_many
from memorepair.errors import InvalidInput, NoSolution, ProofFailed
from memorepair.graphs import Digraph
from memorepair.problems.integers import BIGNUM_NODES, fraction
from memorepair.problems.proof import Ties
from memorepair.testing import assert_optimal

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


def barred_by(*places: int) -> dict[str, Any]:
    return {"barred_by": np.array(places, np.int32)}


@pytest.mark.parametrize(
    "forged",
    [
        pytest.param(barred_by(-1, -1, -1, -1, 5, 5), id="too few"),
        pytest.param(barred_by(-7, -1, -1, -1, 5, 5, -1), id="-7"),
        pytest.param(barred_by(-1, -1, -1, -1, 9, 5, -1), id="out of range"),
        pytest.param(barred_by(-1, -1, -1, -1, 5, -1, -1), id="one forgotten"),
        pytest.param(barred_by(5, -1, -1, -1, 5, 5, -1), id="one too many"),
        pytest.param(barred_by(-1, -1, -1, -1, 4, 5, -1), id="executable"),
        pytest.param({"barred_by": np.array([-1, -1, -1, -1, 5, 5, -1])}, id="int64"),
        pytest.param({"barred_by": [-1, -1, -1, -1, 5, 5, -1]}, id="a list"),
        pytest.param({"infeasible": (4, 5)}, id="a path though there is an answer"),
        pytest.param({"overrun": (4,)}, id="an overrun though there is an answer"),
        pytest.param({"slack": (Fraction(1),)}, id="slack without budget"),
        pytest.param({"forced": np.array([0, 1])}, id="forced an array"),
        pytest.param({"forced": False}, id="forced a boolean"),
        pytest.param({"loss": 0.0}, id="loss a float"),
    ],
)
def test_a_forged_report_fails(selection: Selection, forged: dict[str, Any]) -> None:
    with pytest.raises(ProofFailed):
        replace(selection, report=replace(selection.report, **forged)).verify()


def test_the_witness_of_what_is_barred_must_be_required_and_nearest() -> None:
    # 0 needs 1 needs 2; 0 needs 3 needs 4 needs 5; 2 and 5 cannot be executed, nor can 6, which stands alone.
    selection = select(
        value=[1] * 7,
        requires=[(0, 1), (1, 2), (0, 3), (3, 4), (4, 5)],
        executable=[True, True, False, True, True, False, False],
    )
    assert selection.report.barred_by.tolist() == [2, 2, 2, 5, 5, 5, 6]
    for place, witness in ((0, 5), (0, 6), (3, 2), (6, 5), (2, 5)):
        forged = selection.report.barred_by.copy()
        forged[place] = witness
        with pytest.raises(ProofFailed) as caught:
            replace(selection, report=replace(selection.report, barred_by=forged)).verify()
        assert caught.value.witness in {place, 1}  # 1 leans on 2


def test_of_witnesses_equally_near_any_will_do() -> None:
    selection = select(value=[1] * 3, requires=[(0, 1), (0, 2)], executable=[True, False, False])
    for witness in (1, 2):
        assert replace(selection, report=replace(selection.report, **barred_by(witness, 1, 2))).verify()


@pytest.mark.parametrize(
    "forged",
    [
        pytest.param({"ties": "zz"}, id="no tie rule"),
        pytest.param({"ties": ["fewest"]}, id="ties a list"),
        pytest.param({"report": None}, id="no report"),
        pytest.param({"certificate": [0, 1]}, id="certificate a list"),
        pytest.param({"certificate": 3}, id="certificate a number"),
        pytest.param({"leaves": (3,)}, id="leaves without budget"),
        pytest.param({"leaves": None}, id="leaves None"),
        pytest.param({"ilp_bound": 3}, id="a bound of an ILP without budget"),
        pytest.param({"answer": (1, 2)}, id="answer a tuple"),
    ],
)
def test_a_part_of_another_kind_fails(selection: Selection, forged: dict[str, Any]) -> None:
    with pytest.raises(ProofFailed):
        replace(selection, **forged).verify()


@pytest.mark.parametrize("mask", [None, [True] * 7, np.ones(7, np.int64), np.ones((7, 1), np.bool_), "mask"])
def test_a_mask_of_another_kind_fails(selection: Selection, mask: object) -> None:
    with pytest.raises(ProofFailed):
        tampered(selection, mask=mask).verify()


@pytest.mark.parametrize("figure", ["value", "cost", "objective", "bound", "gap"])
@pytest.mark.parametrize("claim", [np.array([2, 2]), None, (2,), True, "2"])
def test_figures_of_another_kind_fail(selection: Selection, figure: str, claim: object) -> None:
    with pytest.raises(ProofFailed, match=figure):
        tampered(selection, **{figure: claim}).verify()


@pytest.mark.parametrize(
    "forged",
    [
        pytest.param({"decisions": [(0, True)]}, id="decisions a list"),
        pytest.param({"decisions": ((0, 1),)}, id="a side of 1"),
        pytest.param({"decisions": ((0.0, True),)}, id="a node of 0.0"),
        pytest.param({"decisions": ((99, True),)}, id="a node that is none"),
        pytest.param({"price": ()}, id="no price"),
        pytest.param({"price": (Fraction(1), Fraction(1))}, id="two prices"),
        pytest.param({"price": (0.5,)}, id="a price in floats"),
        pytest.param({"certificate": None}, id="no certificate"),
    ],
)
def test_a_leaf_of_another_kind_fails(forged: dict[str, Any]) -> None:
    selection = select(value=[3, 4, 6], cost=[1, 2, 3], budget=4)
    assert selection.verify()
    leaves = (replace(selection.leaves[0], **forged), *selection.leaves[1:])
    with pytest.raises(ProofFailed):
        replace(selection, leaves=leaves).verify()
    with pytest.raises(ProofFailed):
        replace(selection, certificate=Certificate.zero()).verify()


def test_a_status_that_is_none_is_refused(selection: Selection) -> None:
    with pytest.raises(InvalidInput):
        replace(selection, status=cast(Status, "optimal"))


def infeasible() -> Selection:
    return select(value=[1, 1, 1], requires=[(0, 1), (1, 2)], executable=[True, True, False], required=[0])


@pytest.mark.parametrize(
    "forged",
    [
        {"forced": 7},
        {"loss": Fraction(1)},
        {"slack": (Fraction(1),)},
        {"overrun": (3,)},
        {"infeasible": [0, 1, 2]},
        {"infeasible": (0, [], 2)},
        barred_by(2, 2, -1),
        barred_by(2, 2, 7),
    ],
    ids=str,
)
def test_a_forged_report_of_infeasibility_fails(forged: dict[str, Any]) -> None:
    selection = infeasible()
    assert selection.verify()
    with pytest.raises(ProofFailed):
        replace(selection, report=replace(selection.report, **forged)).verify()
    with pytest.raises(ProofFailed):
        replace(selection, ties=cast(Ties, "zz")).verify()


def test_no_solution_has_no_other_report() -> None:
    selection = infeasible()
    report = replace(selection.report, infeasible=())
    none = replace(selection, status=Status.NO_SOLUTION, report=report)
    assert none.verify()
    for forged in ({"forced": 1}, {"infeasible": (0, 1, 2)}, barred_by(2, 2, -1)):
        with pytest.raises(ProofFailed):
            replace(none, report=replace(report, **forged)).verify()


def test_a_long_path_to_what_bars_is_checked_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    k = 20_000
    names = [f"c{place}" for place in range(k)]
    selection = select(
        value=[1] * k,
        requires=pairwise(names),
        executable=[True] * (k - 1) + [False],
        required=names[:1],
        ids=names,
    )
    assert len(selection.report.infeasible) == k
    monkeypatch.setattr(SelectionInstance, "position", None)  # O(k) a node
    assert selection.verify()


def agree(selection: Selection) -> None:
    """Status, bound and gap say the same, and what they say includes the loss."""
    exact = sum(
        (
            fraction(w) - fraction(selection.instance.tradeoff) * fraction(c)
            for w, c, chosen in zip(
                selection.instance.value, selection.instance.cost, selection.mask, strict=True
            )
            if chosen
        ),
        Fraction(0),
    )
    assert selection.verify()
    assert abs(fraction(selection.objective) - exact) <= abs(exact) * Fraction(1, 10**15)
    optimal = selection.status is Status.OPTIMAL
    assert optimal == (selection.gap == 0)
    assert not optimal or selection.bound == selection.objective
    if not optimal:
        most = max(abs(float(selection.bound)), abs(float(selection.objective)))
        gap = (float(selection.bound) - float(selection.objective)) / most
        assert gap == pytest.approx(selection.gap, abs=1e-15)


def test_a_worse_answer_is_not_called_optimal() -> None:
    candidates = [{"id": "big", "value": 1e30}, {"id": "tiny", "value": 1e-9}]
    best = select(candidates)
    assert (best.chosen, best.status) == (("big", "tiny"), Status.OPTIMAL)
    assert not best.report.loss
    agree(best)
    worse = select(candidates, solver="ortools")
    assert (worse.chosen, worse.status) == (("big",), Status.FEASIBLE)
    assert worse.bound >= best.objective
    assert worse.report.loss > 0
    agree(worse)
    with pytest.raises(ProofFailed):
        replace(tampered(worse, gap=0.0, bound=worse.objective), status=Status.OPTIMAL).verify()


@pytest.mark.parametrize("ties", ["fewest", "most"])
@pytest.mark.parametrize("solver", ["pseudoflow", "exhaustive"])
@pytest.mark.parametrize(
    "value",
    [
        [10**30, 10**30 + 1, -(10**30), -1, 1, -(10**30)],
        [1e30, 1e-9, -1e30, 3e-9, -2e-9, 1e-9],
        [Fraction(1, 3**40), Fraction(-1, 7**30), Fraction(1, 11**20), Fraction(-1, 3**41), 10**9, -(10**9)],
        [0.1, 0.30000000000000004, -0.3, 123456789.12345679, -123456789.1234568, 1e-7],
    ],
    ids=["integers", "floats", "fractions", "digits"],
)
def test_profits_beyond_64_bits_are_exact(value: list[Any], solver: str, ties: Ties) -> None:
    requires = [(0, 2), (1, 2), (3, 4), (1, 5), (4, 3), (5, 0)]
    selection = select(value=value, requires=requires, ties=ties, solver=solver)
    agree(selection)
    if solver == "pseudoflow":
        assert not selection.report.loss
        assert_optimal(selection)
        assert [explain(selection, id).chosen for id in range(6)] == selection.mask.tolist()
    assert np.array_equal(
        select_many([selection.instance], split=True, ties=ties)[0].mask,
        select(selection.instance, ties=ties).mask,
    )


def test_beyond_the_size_of_exact_integers_the_gap_is_the_loss() -> None:
    value = np.random.default_rng(5).random(BIGNUM_NODES + 1) + 1e9
    selection = select(value=value, requires=[(0, 1)])
    assert selection.status is Status.FEASIBLE
    assert 0 < selection.gap < 1e-12
    agree(selection)


def test_where_rounding_cannot_be_seen_in_a_float_the_answer_is_optimal() -> None:
    value = [Fraction("12345678.123456789"), Fraction(1, 10**300)]
    selection = select(value=value, cost=[1, 2], tradeoff=1e-17, solver="ortools")
    agree(selection)
    assert selection.report.loss > 0
    assert selection.status is Status.OPTIMAL


def test_an_exact_certificate_proves_nothing_else() -> None:
    selection = select(value=[10**30, -(10**30) + 1, 10**20], requires=[(0, 1)])
    assert selection.certificate is not None
    assert selection.certificate.amounts.dtype == np.object_
    for amounts in ([10**30 + 1], [10**30 - 2], [1]):
        forged = Certificate(arcs=np.array([0], np.int32), amounts=np.array(amounts, np.object_))
        with pytest.raises(ProofFailed):
            replace(selection, certificate=forged).verify()
    for odd in ([1.5], [Fraction(1)], [True], [None]):
        with pytest.raises(InvalidInput):
            Certificate(arcs=np.array([0], np.int32), amounts=np.array(odd, np.object_))
    with pytest.raises(InvalidInput):
        Certificate(arcs=cast(Any, [0]), amounts=cast(Any, [1]))


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
