"""A provenance graph speaks ids; its cascades follow influence along propagating relations only."""

from __future__ import annotations

import doctest
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorepair.errors import InvalidInput, UnknownId
from memorepair.graphs import (
    PROPAGATING,
    Arch,
    Digraph,
    Kind,
    ProvenanceBuilder,
    ProvenanceGraph,
    Relation,
    provenance,
    provenance_to_networkx,
)

Influence = tuple[int, int, Relation, int]
Declared = tuple[int, list[Influence], list[tuple[int, int]]]


@st.composite
def declared(draw: st.DrawFn) -> Declared:
    n = draw(st.integers(1, 7))
    nodes = st.integers(0, n - 1)
    arc = st.tuples(nodes, nodes, st.sampled_from(Relation), st.integers(0, 3))
    return n, draw(st.lists(arc, max_size=14)), draw(st.lists(st.tuples(nodes, nodes), max_size=5))


def build(case: Declared) -> ProvenanceGraph[str]:
    n, influences, similar = case
    builder = ProvenanceBuilder[str]()
    for tail, head, relation, group in influences:  # arcs may come before their ends
        builder.influence(f"v{tail}", f"v{head}", relation=relation, group=group)
    for tail, head in similar:
        builder.semantic(f"v{tail}", f"v{head}")
    for node in range(n):
        builder.add(f"v{node}", kind=Kind.SUMMARY, born=node)
    return builder.build()


@given(declared(), st.data())
def test_a_cascade_is_reachability_along_propagating_influence(case: Declared, data: st.DataObject) -> None:
    graph = build(case)
    roots = data.draw(st.sets(st.sampled_from(graph.ids), min_size=1))
    followed = nx.DiGraph()
    followed.add_nodes_from(graph.ids)
    followed.add_edges_from((f"v{t}", f"v{h}") for t, h, relation, _ in case[1] if relation in PROPAGATING)
    members = roots.union(*(nx.descendants(followed, root) for root in roots))
    assert graph.cascade(roots) == tuple(id for id in graph.ids if id in members)
    assert graph.descendants(roots) == tuple(id for id in graph.ids if id in members - roots)
    ancestors = roots.union(*(nx.ancestors(followed, root) for root in roots))
    assert graph.sources(roots) == tuple(id for id in graph.ids if id in ancestors)


@given(declared())
def test_arc_attributes_stay_with_their_arcs(
    case: Declared,
) -> None:
    graph = build(case)
    arcs = zip(
        graph.influence.tails().tolist(),
        graph.influence.heads.tolist(),
        graph.relation.tolist(),
        graph.group.tolist(),
        strict=True,
    )
    assert list(arcs) == sorted(case[1], key=lambda arc: arc[0])


@given(declared())
def test_networkx_gets_every_node_arc_attribute(
    case: Declared,
) -> None:
    graph = build(case)
    converted = provenance_to_networkx(graph)
    assert converted.graph == {"support_form": "alternatives"}
    assert dict(converted.nodes(data="born")) == {f"v{node}": node for node in range(case[0])}
    assert all(data["arch"] == "none" for _, data in converted.nodes(data=True))
    layers = [data for _, _, data in converted.edges(data=True)]
    assert sum(data["layer"] == "semantic" for data in layers) == len(case[2])
    influences = sorted(
        (tail, head, data["relation"], data["group"])
        for tail, head, data in converted.edges(data=True)
        if data["layer"] == "influence"
    )
    assert influences == sorted((f"v{t}", f"v{h}", r.name.lower(), g) for t, h, r, g in case[1])


def test_superseding_counts_only_when_asked_for() -> None:
    builder = ProvenanceBuilder[str]()
    builder.add("old", kind=Kind.RECORD)
    builder.add("new", kind=Kind.RECORD)
    builder.influence("old", "new", relation=Relation.SUPERSEDE)
    graph = builder.build()
    assert graph.cascade(["old"]) == ("old",)
    assert graph.named(graph.reach(["old"], relations=frozenset(Relation))) == ("old", "new")


def test_the_example_of_the_builder_runs() -> None:
    assert doctest.testmod(provenance).failed == 0


def test_nothing_is_a_graph() -> None:
    graph = ProvenanceBuilder[str]().build()
    assert graph.n == 0
    assert graph.cascade([]) == ()


SKILL = ProvenanceBuilder[str](support_form="requirements")
SKILL.add("tool", kind=Kind.RECORD)
SKILL.add("skill", kind=Kind.SKILL, arch=Arch.CHAIN)
SKILL.influence("tool", "skill")
GRAPH = SKILL.build()


def test_ids_are_found_or_refused() -> None:
    assert "skill" in GRAPH
    assert "none" not in GRAPH
    assert GRAPH.number("skill") == 1
    assert GRAPH.support_form == "requirements"
    for call in (lambda: GRAPH.number("none"), lambda: GRAPH.cascade(["none"]), lambda: GRAPH.mask(["none"])):
        with pytest.raises(UnknownId) as refused:
            call()
        assert refused.value.witness == "none"


def test_an_id_declared_twice_is_refused() -> None:
    builder = ProvenanceBuilder[str]()
    builder.add("a", kind=Kind.RECORD)
    with pytest.raises(InvalidInput) as refused:
        builder.add("a", kind=Kind.CACHE)
    assert refused.value.witness == "a"
    with pytest.raises(InvalidInput) as refused:
        replace(GRAPH, ids=("tool", "tool"))
    assert refused.value.witness == "tool"


@pytest.mark.parametrize("layer", ["influence", "semantic"])
def test_a_dangling_arc_is_refused(layer: str) -> None:
    builder = ProvenanceBuilder[str]()
    builder.add("a", kind=Kind.RECORD)
    if layer == "influence":
        builder.influence("a", "b")
    else:
        builder.semantic("a", "b")
    with pytest.raises(InvalidInput) as refused:
        builder.build()
    assert refused.value.witness == ("a", "b")


@pytest.mark.parametrize(
    ("kind", "arch"), [(Kind.SKILL, Arch.NONE), (Kind.RECORD, Arch.CHAIN)], ids=["bare skill", "odd record"]
)
def test_skills_have_an_architecture_and_nothing_else_has(kind: Kind, arch: Arch) -> None:
    builder = ProvenanceBuilder[str]()
    builder.add("a", kind=kind, arch=arch)
    with pytest.raises(InvalidInput) as refused:
        builder.build()
    assert refused.value.witness == "a"


def test_numbers_that_do_not_fit_are_refused() -> None:
    late = ProvenanceBuilder[str]()
    late.add("a", kind=Kind.RECORD, born=2**63)
    grouped = ProvenanceBuilder[str]()
    grouped.add("a", kind=Kind.RECORD)
    grouped.influence("a", "a", group=2**31)
    for builder, witness in ((late, 2**63), (grouped, 2**31)):
        with pytest.raises(InvalidInput) as refused:
            builder.build()
        assert refused.value.witness == witness


def test_arrays_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InvalidInput):
        replace(GRAPH, kind=np.array([0, 99], np.uint8))
    with pytest.raises(InvalidInput):
        replace(GRAPH, relation=np.array([99], np.uint8))
    with pytest.raises(InvalidInput):
        replace(GRAPH, group=np.zeros(2, np.int32))
    with pytest.raises(InvalidInput):
        replace(GRAPH, born=np.zeros(2, np.float64))
    with pytest.raises(InvalidInput):
        replace(GRAPH, semantic=Digraph.from_arcs(3, [], []))


def test_a_long_derivation_is_one_cascade() -> None:
    builder = ProvenanceBuilder[int]()
    for node in range(100_000):
        builder.add(node, kind=Kind.CACHE)
        if node:
            builder.influence(node - 1, node)
    assert len(builder.build().cascade([0])) == 100_000
