"""Laws of the optimum: price, permutation, ties, what else must not matter."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorepair import SelectionInstance, Status, select
from memorepair.graphs import Digraph
from memorepair.problems.integers import fraction
from memorepair.problems.proof import Ties


@st.composite
def instances(draw: st.DrawFn) -> SelectionInstance:
    k = draw(st.integers(1, 25))
    node = st.integers(0, k - 1)
    arcs = draw(st.lists(st.tuples(node, node), max_size=2 * k))

    def column(low: int, high: int) -> list[int]:
        return draw(st.lists(st.integers(low, high), min_size=k, max_size=k))

    barred = draw(st.sets(node, max_size=2))
    return SelectionInstance(
        value=np.array(column(-3, 8)),
        cost=np.array(column(0, 6)),
        requires=Digraph.from_arcs(k, [i for i, _ in arcs], [j for _, j in arcs]),
        executable=np.array([i not in barred for i in range(k)]),
        required=np.zeros(k, np.bool_),
        tradeoff=draw(st.fractions(0, 3, max_denominator=10)),
    )


ties_rules = st.sampled_from(["fewest", "most"])


@given(instances(), st.fractions(0, 2, max_denominator=10), ties_rules)
def test_a_higher_price_chooses_a_subset(instance: SelectionInstance, rise: Fraction, ties: Ties) -> None:
    dearer = select(replace(instance, tradeoff=fraction(instance.tradeoff) + rise), ties=ties)
    assert not (dearer.mask & ~select(instance, ties=ties).mask).any()


@given(instances(), st.randoms(use_true_random=False), ties_rules)
def test_numbering_does_not_matter(instance: SelectionInstance, random: Random, ties: Ties) -> None:
    order = list(range(instance.k))
    random.shuffle(order)
    place = np.argsort(order)
    tails, heads = instance.requires.tails(), instance.requires.heads
    arcs = list(zip(place[tails], place[heads], strict=True))
    random.shuffle(arcs)
    shuffled = SelectionInstance(
        value=instance.value[order],
        cost=instance.cost[order],
        requires=Digraph.from_arcs(instance.k, [i for i, _ in arcs], [j for _, j in arcs]),
        executable=instance.executable[order],
        required=instance.required[order],
        ids=tuple(order),
        tradeoff=instance.tradeoff,
    )
    assert set(select(shuffled, ties=ties).chosen) == set(select(instance, ties=ties).chosen)


@given(instances())
def test_fewest_lies_within_most_and_both_are_worth_the_same(instance: SelectionInstance) -> None:
    fewest, most = select(instance, ties="fewest"), select(instance, ties="most")
    assert fewest.status is most.status is Status.OPTIMAL
    assert fewest.objective == most.objective
    assert not (fewest.mask & ~most.mask).any()


@given(instances(), st.integers(1, 10**6), ties_rules)
def test_the_unit_of_value_and_cost_does_not_matter(
    instance: SelectionInstance, unit: int, ties: Ties
) -> None:
    scaled = replace(instance, value=instance.value * unit, cost=instance.cost * unit)
    assert np.array_equal(select(scaled, ties=ties).mask, select(instance, ties=ties).mask)


@given(instances(), ties_rules)
def test_requiring_the_answer_changes_nothing(instance: SelectionInstance, ties: Ties) -> None:
    selection = select(instance, ties=ties)
    again = select(replace(instance, required=selection.mask), ties=ties)
    assert np.array_equal(again.mask, selection.mask)
    assert again.report.forced == selection.mask.sum()


@given(instances(), st.data())
def test_a_required_candidate_brings_what_it_requires_or_the_reason_why_not(
    instance: SelectionInstance, data: st.DataObject
) -> None:
    wanted = data.draw(st.integers(0, instance.k - 1))
    required = np.zeros(instance.k, np.bool_)
    required[wanted] = True
    selection = select(replace(instance, required=required))
    assert selection.verify()
    if wanted in selection.barred():
        assert selection.status is Status.INFEASIBLE
        path = selection.report.infeasible
        assert path[0] == wanted
        assert path[-1] == selection.barred()[wanted]
        assert not instance.executable[instance.position(path[-1])]
    else:
        assert selection.status is Status.OPTIMAL
        assert selection.mask[wanted]


@settings(max_examples=30)
@given(instances())
def test_barred_names_the_nearest_witness(instance: SelectionInstance) -> None:
    distance = dict.fromkeys(np.flatnonzero(~instance.executable).tolist(), 0)
    nearest = {i: {i} for i in distance}
    frontier = set(distance)
    while frontier:
        reached: dict[int, set[int]] = {}
        for i in range(instance.k):
            if i not in distance:
                found = frontier.intersection(instance.requires.successors(i).tolist())
                if found:
                    reached[i] = set().union(*(nearest[j] for j in found))
        distance.update(dict.fromkeys(reached, 0))
        nearest.update(reached)
        frontier = set(reached)
    barred = select(instance).barred()
    assert barred.keys() == nearest.keys()
    assert all(barred[i] in nearest[i] for i in nearest)


@pytest.mark.parametrize("ties", ["fewest", "most"])
def test_a_cycle_is_taken_whole_or_not_at_all(ties: Ties) -> None:
    ring = [(0, 1), (1, 2), (2, 0)]
    assert select(value=[5, -2, -2], requires=ring, ties=ties).chosen == (0, 1, 2)
    assert select(value=[5, -3, -3], requires=ring, ties=ties).chosen == ()
    even = select(value=[5, -3, -2], requires=ring, ties=ties)
    assert len(even.chosen) == (0 if ties == "fewest" else 3)
