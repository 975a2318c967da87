"""What an affected node stands on: the policies against their definition, brute force, and each other."""

from __future__ import annotations

from collections import defaultdict
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorepair.errors import InvalidInput, UnknownId
from memorepair.graphs import (
    FORMS,
    Digraph,
    Evidence,
    Kind,
    Policy,
    ProvenanceBuilder,
    ProvenanceGraph,
    Relation,
    SupportForm,
    reach,
    weigh,
)


class Arc(NamedTuple):
    tail: int
    head: int
    group: int
    justifies: bool


class Case(NamedTuple):
    n: int
    arcs: list[Arc]
    roots: set[int]
    origins: list[set[int]]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    n = draw(st.integers(1, 7))
    nodes = st.integers(0, n - 1)
    arc = st.builds(Arc, nodes, nodes, st.integers(0, 2), st.integers(0, 5).map(bool))
    origins = draw(st.lists(st.sets(nodes, max_size=3), max_size=2))
    return Case(n, draw(st.lists(arc, max_size=16)), draw(st.sets(nodes, max_size=3)), origins)


def weighed(case: Case, policy: Policy, form: SupportForm) -> Evidence:
    arcs = sorted(case.arcs, key=lambda arc: arc.tail)
    return weigh(
        Digraph.from_arcs(case.n, [arc.tail for arc in arcs], [arc.head for arc in arcs]),
        np.array([arc.group for arc in arcs], np.int64),
        sorted(case.roots),
        policy=policy,
        form=form,
        justifies=np.array([arc.justifies for arc in arcs], np.bool_),
        same_origin=[sorted(one) for one in case.origins],
    )


def spared(case: Case, policy: Policy, form: SupportForm) -> set[int]:
    return set(np.flatnonzero(weighed(case, policy, form).spared).tolist())


# the definitions, spelled out ----------------------------------------------------------------------


def copies(case: Case) -> dict[int, set[int]]:
    """What counts as one source with each node; sets that meet are one."""
    found = {node: {node} for node in range(case.n)}
    for origin in case.origins * case.n:
        whole = set().union(*(found[node] for node in origin))
        for node in whole:
            found[node] = whole
    return found


def groups(case: Case) -> dict[int, dict[int, set[int]]]:
    found: defaultdict[int, defaultdict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for arc in case.arcs:
        if arc.justifies:
            found[arc.head][arc.group].add(arc.tail)
    return {head: dict(of) for head, of in found.items()}


def cascade(case: Case) -> set[int]:
    graph = Digraph.from_arcs(case.n, [arc.tail for arc in case.arcs], [arc.head for arc in case.arcs])
    return set(np.flatnonzero(reach(graph, sorted(case.roots))).tolist())


def holds(case: Case, node: int, standing: set[int], form: SupportForm) -> bool:
    """Whether a node has the support it takes, from what stands."""
    same = copies(case)
    of = groups(case).get(node, {})
    stands = [[same[tail] <= standing for tail in tails] for tails in of.values()]
    if form == "alternatives":
        return any(all(group) for group in stands)
    return bool(of) and all(any(group) for group in stands)


def by_enumeration(case: Case, form: SupportForm) -> set[int]:
    """Grounded, by looking at every subset of A0 for the sets that its rule closes."""
    affected = cascade(case) - case.roots
    outside = set(range(case.n)) - affected - case.roots
    subsets = chain.from_iterable(combinations(sorted(affected), k) for k in range(len(affected) + 1))
    if form == "alternatives":  # the least set of what stands that holds whatever it justifies
        closed = [
            set(kept)
            for kept in subsets
            if all(node in kept for node in affected if holds(case, node, outside | set(kept), form))
        ]
        return set.intersection(*closed)
    # the largest set of what stands in which every member has what it requires
    sound = [
        set(kept) for kept in subsets if all(holds(case, node, outside | set(kept), form) for node in kept)
    ]
    return set.union(*sound)


@given(cases(), st.sampled_from(FORMS))
def test_grounded_is_the_fixpoint_that_enumeration_finds(case: Case, form: SupportForm) -> None:
    assert spared(case, "grounded", form) == by_enumeration(case, form)


@given(cases(), st.sampled_from(FORMS))
def test_direct_is_support_wholly_outside_the_cascade(case: Case, form: SupportForm) -> None:
    members = cascade(case)
    outside = set(range(case.n)) - members
    expected = {node for node in members - case.roots if holds(case, node, outside, form)}
    assert spared(case, "direct", form) == expected


@given(cases(), st.sampled_from(FORMS))
def test_none_spares_nothing_and_grounded_all_that_direct_spares(case: Case, form: SupportForm) -> None:
    assert not spared(case, "none", form)
    assert spared(case, "direct", form) <= spared(case, "grounded", form)
    assert set(np.flatnonzero(weighed(case, "none", form).affected)) == cascade(case) - case.roots


@given(cases(), st.sampled_from(("none", "direct", "grounded")), st.sampled_from(FORMS), st.data())
def test_more_faults_never_spare_what_fewer_withdraw(
    case: Case, policy: Policy, form: SupportForm, data: st.DataObject
) -> None:
    more = case._replace(roots=case.roots | data.draw(st.sets(st.integers(0, case.n - 1))))
    few, many = (cascade(one) - spared(one, policy, form) for one in (case, more))
    assert few <= many


@given(cases(), st.sampled_from(("direct", "grounded")), st.sampled_from(FORMS), st.data())
def test_stating_that_sources_are_one_never_spares_more(
    case: Case, policy: Policy, form: SupportForm, data: st.DataObject
) -> None:
    origin = data.draw(st.sets(st.integers(0, case.n - 1)))
    stated = case._replace(origins=[*case.origins, origin])
    assert spared(stated, policy, form) <= spared(case, policy, form)


@given(cases(), st.sampled_from(("direct", "grounded")), st.sampled_from(FORMS), st.data())
def test_the_numbers_of_nodes_and_groups_do_not_matter(
    case: Case, policy: Policy, form: SupportForm, data: st.DataObject
) -> None:
    node = data.draw(st.permutations(range(case.n)))
    group = data.draw(st.permutations(range(3)))
    renamed = Case(
        case.n,
        [Arc(node[arc.tail], node[arc.head], group[arc.group], arc.justifies) for arc in case.arcs[::-1]],
        {node[root] for root in case.roots},
        [{node[one] for one in origin} for origin in case.origins],
    )
    assert spared(renamed, policy, form) == {node[one] for one in spared(case, policy, form)}


@given(cases())
def test_the_groups_that_spare_never_run_in_a_circle(case: Case) -> None:
    found = weighed(case, "grounded", "alternatives")
    outside = set(range(case.n)) - cascade(case)
    standing, same = set(outside), copies(case)
    waiting = spared(case, "grounded", "alternatives")
    while waiting:
        ready = {
            node
            for node in waiting
            if all(same[tail] <= standing for tail in groups(case)[node][int(found.group[node])])
        }
        assert ready, (waiting, found.group)
        standing |= ready
        waiting -= ready


# by hand ------------------------------------------------------------------------------------------


def ring(form: SupportForm) -> ProvenanceGraph[str]:
    """a and b hold each other; a also stood on the fault, with or beside."""
    builder = ProvenanceBuilder[str](support_form=form)
    for id in ("fault", "other", "a", "b"):
        builder.add(id, kind=Kind.RECORD)
    builder.influence("fault", "a", group=0)
    builder.influence("b", "a", group=0 if form == "requirements" else 1)
    builder.influence("a", "b", group=0)
    return builder.build()


def test_reasons_that_only_hold_each_other_fall_and_needs_that_meet_each_other_stay() -> None:
    assert ring("alternatives").withdrawn(["fault"], policy="grounded") == ("fault", "a", "b")
    assert ring("requirements").withdrawn(["fault"], policy="grounded") == ("fault",)


def test_a_copy_is_no_second_source() -> None:
    builder = ProvenanceBuilder[str]()
    for id in ("page", "mirror", "claim", "later"):
        builder.add(id, kind=Kind.RECORD)
    builder.influence("page", "claim", group=0)
    builder.influence("mirror", "claim", group=1)
    builder.influence("claim", "later")
    graph = builder.build()
    assert graph.withdrawn(["page"], policy="none") == ("page", "claim", "later")
    assert graph.withdrawn(["page"], policy="direct") == ("page", "later")  # its reason lies within A0
    assert graph.withdrawn(["page"], policy="grounded") == ("page",)
    copied = [("page", "mirror")]
    assert graph.withdrawn(["page"], policy="grounded", same_origin=copied) == ("page", "claim", "later")


def test_supersession_carries_a_fault_and_is_no_reason() -> None:
    builder = ProvenanceBuilder[str]()
    for id in ("old", "good", "new"):
        builder.add(id, kind=Kind.RECORD)
    builder.influence("old", "new", relation=Relation.SUPERSEDE, group=0)
    builder.influence("good", "new", relation=Relation.SUPERSEDE, group=1)
    graph = builder.build()
    assert graph.withdrawn(["old"], policy="none") == ("old",)
    lineage = graph.evidence(["old"], policy="grounded", relations=frozenset(Relation))
    assert graph.named(lineage.affected) == ("new",)
    assert not lineage.spared.any()


def test_a_long_chain_of_second_reasons_stays() -> None:
    n = 200_000
    spine = np.arange(n - 1)
    tails = np.concatenate((spine, np.zeros(n - 2, np.int64)))  # each also stands on node 0, or on the chain
    heads = np.concatenate((spine + 1, np.arange(2, n)))
    order = np.argsort(tails, kind="stable")
    group = np.concatenate((np.zeros(n - 1, np.int64), np.ones(n - 2, np.int64)))[order]
    found = weigh(Digraph.from_arcs(n, tails, heads), group, [1], policy="grounded")
    assert found.affected.sum() == found.spared.sum() == n - 2
    found = weigh(Digraph.from_arcs(n, spine, spine + 1), np.zeros(n - 1, np.int64), [0], policy="grounded")
    assert not found.spared.any()


def test_what_is_asked_wrongly_is_refused() -> None:
    graph = ring("alternatives")
    with pytest.raises(InvalidInput, match="policy"):
        graph.evidence(["fault"], policy="grounds")  # type: ignore[arg-type]
    with pytest.raises(UnknownId):
        graph.evidence(["fault"], policy="direct", same_origin=[["nobody", "a"]])
    arc = Digraph.from_arcs(2, [0], [1])
    with pytest.raises(InvalidInput, match="one entry an arc"):
        weigh(arc, np.zeros(2, np.int64), [0], policy="direct")
    with pytest.raises(InvalidInput, match="form"):
        weigh(arc, np.zeros(1, np.int64), [0], policy="direct", form="both")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="outside"):
        weigh(arc, np.zeros(1, np.int64), [0], policy="direct", same_origin=[[0, 7]])
