"""verify() believes no leaf: every tampering with the tree, a price or a dual is found."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from memorepair import Certificate, Selection, Status, select
from memorepair.errors import InvalidInput, ProofFailed
from memorepair.graphs import generate
from memorepair.problems.leaves import Leaf


@pytest.fixture(scope="module")
def selection() -> Selection:
    drawn = generate("prov-1e2")
    value = np.rint(drawn.value * 1000).astype(np.int64)
    cost = np.maximum(1, np.rint(drawn.cost * 1000).astype(np.int64))
    found = select(
        value=value, cost=cost, requires=drawn.requires, budget=int(0.3 * cost.sum()), gap=0, ilp=None
    )
    assert found.status is Status.OPTIMAL
    assert len(found.leaves) > 10
    return found


def test_the_leaves_themselves_pass(selection: Selection) -> None:
    assert selection.verify()
    assert replace(selection, leaves=selection.leaves[::-1]).verify()


def test_a_missing_leaf_fails(selection: Selection) -> None:
    for place in range(len(selection.leaves)):
        kept = selection.leaves[:place] + selection.leaves[place + 1 :]
        with pytest.raises(ProofFailed):
            replace(selection, leaves=kept).verify()


def test_a_leaf_given_twice_fails(selection: Selection) -> None:
    with pytest.raises(ProofFailed):
        replace(selection, leaves=(*selection.leaves, selection.leaves[0])).verify()


def test_another_decision_fails(selection: Selection) -> None:
    first = selection.leaves[0]
    node, side = first.decisions[-1]
    for other in ((node, not side), ((node + 1) % 100, side), (10**6, side), (-1, side)):
        forged = replace(first, decisions=(*first.decisions[:-1], other))
        with pytest.raises(ProofFailed):
            replace(selection, leaves=(forged, *selection.leaves[1:])).verify()


def test_a_shorter_tree_proves_less(selection: Selection) -> None:
    root = replace(selection.leaves[0], decisions=())
    with pytest.raises(ProofFailed):
        replace(selection, leaves=(root,)).verify()


def test_another_price_or_dual_is_no_proof(selection: Selection) -> None:
    tightest = 0
    for place, leaf in list(enumerate(selection.leaves))[::8]:
        for forged in (
            replace(leaf, price=(leaf.price[0] * 2,)),
            replace(leaf, price=(Fraction(0),)),
            replace(leaf, certificate=Certificate.zero()),
        ):
            leaves = (*selection.leaves[:place], forged, *selection.leaves[place + 1 :])
            try:
                assert replace(selection, leaves=leaves).verify()  # another dual may prove as much
            except ProofFailed:
                tightest += 1
    assert tightest > len(selection.leaves) // 8


@pytest.mark.parametrize("figure", ["value", "cost", "objective", "bound", "gap"])
def test_another_figure_fails(selection: Selection, figure: str) -> None:
    changed: dict[str, Any] = {figure: 1.5}
    with pytest.raises(ProofFailed, match=figure):
        replace(selection, answer=replace(selection.figures, **changed)).verify()


def test_a_set_over_budget_fails(selection: Selection) -> None:
    everything = replace(selection.figures, mask=np.ones(selection.instance.k, np.bool_))
    with pytest.raises(ProofFailed, match="budget"):
        replace(selection, answer=everything).verify()


def test_a_smaller_budget_is_another_problem(selection: Selection) -> None:
    assert isinstance(selection.cost, int)
    with pytest.raises(ProofFailed):
        replace(selection, instance=replace(selection.instance, budget=selection.cost - 1)).verify()


def test_a_claim_of_optimality_needs_leaves(selection: Selection) -> None:
    rough = select(selection.instance, gap=0, node_limit=0, ilp=None)
    assert rough.status is Status.FEASIBLE
    claim = replace(
        rough, status=Status.OPTIMAL, answer=replace(rough.figures, bound=rough.objective, gap=0.0)
    )
    with pytest.raises(ProofFailed):
        claim.verify()
    with pytest.raises(InvalidInput):
        replace(rough, leaves=())


def test_a_negative_price_is_no_price() -> None:
    with pytest.raises(InvalidInput):
        Leaf(decisions=(), price=(Fraction(-1),), certificate=Certificate.zero())


def test_what_is_required_does_cost_too_much() -> None:
    over = select(value=[1, 1], cost=[3, 1], required=[0], budget=2)
    assert over.verify()
    for claim in ((), (2,)):
        with pytest.raises(ProofFailed):
            replace(over, report=replace(over.report, overrun=claim)).verify()
    for budget in (3, None):
        with pytest.raises(ProofFailed):
            replace(over, instance=replace(over.instance, budget=budget)).verify()
