"""Waves put every prerequisite earlier, a cycle is shown where there is one."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorepair.errors import CycleFound
from memorepair.graphs import Digraph, find_cycle, strong_components, to_networkx, waves

MILLION = 1_000_000


@st.composite
def digraphs(draw: st.DrawFn) -> Digraph:
    n = draw(st.integers(1, 9))
    nodes = st.integers(0, n - 1)
    arcs = draw(st.lists(st.tuples(nodes, nodes), max_size=14))
    return Digraph.from_arcs(n, [tail for tail, _ in arcs], [head for _, head in arcs])


@st.composite
def acyclic(draw: st.DrawFn) -> Digraph:
    n = draw(st.integers(1, 9))
    name = draw(st.permutations(range(n)))
    nodes = st.integers(0, n - 1)
    arcs = [arc for arc in draw(st.lists(st.tuples(nodes, nodes), max_size=24)) if arc[0] != arc[1]]
    return Digraph.from_arcs(n, [name[max(arc)] for arc in arcs], [name[min(arc)] for arc in arcs])


def is_cycle(graph: Digraph, nodes: tuple[int, ...]) -> bool:
    following = nodes[1:] + nodes[:1]
    arcs = all(head in graph.successors(tail) for tail, head in zip(nodes, following, strict=True))
    return len(nodes) > 0 and arcs and len(set(nodes)) == len(nodes)


@given(acyclic())
def test_a_wave_is_one_more_than_the_latest_prerequisite(graph: Digraph) -> None:
    wave = waves(graph).tolist()
    for node in range(graph.n):
        assert wave[node] == max((wave[head] + 1 for head in graph.successors(node)), default=0)
    assert find_cycle(graph) is None


@given(acyclic())
def test_waves_are_the_generations_of_networkx(graph: Digraph) -> None:
    known = nx.topological_generations(to_networkx(graph.reverse()))
    wave = waves(graph)
    assert [sorted(nodes) for nodes in known] == [
        np.flatnonzero(wave == level).tolist() for level in range(wave.max() + 1)
    ]


@given(digraphs())
def test_a_cycle_is_found_exactly_where_there_is_one(graph: Digraph) -> None:
    cycle = find_cycle(graph)
    assert (cycle is None) == nx.is_directed_acyclic_graph(to_networkx(graph))
    if cycle is None:
        waves(graph)
    else:
        assert is_cycle(graph, cycle)
        with pytest.raises(CycleFound) as refused:
            waves(graph)
        assert refused.value.witness == cycle


@given(digraphs())
def test_strong_components_are_those_of_networkx(graph: Digraph) -> None:
    label = strong_components(graph).tolist()
    ours = {frozenset(node for node in range(graph.n) if label[node] == mark) for mark in label}
    assert ours == {frozenset(nodes) for nodes in nx.strongly_connected_components(to_networkx(graph))}
    assert sorted(set(label)) == list(range(len(ours)))


def test_a_chain_of_a_million_nodes_has_a_million_waves() -> None:
    chain = Digraph.from_arcs(MILLION, np.arange(1, MILLION), np.arange(MILLION - 1))
    assert np.array_equal(waves(chain), np.arange(MILLION))


def test_a_cycle_of_a_million_nodes_is_its_own_witness() -> None:
    node = np.arange(MILLION)
    ring = Digraph.from_arcs(MILLION, node, (node + 1) % MILLION)
    cycle = find_cycle(ring)
    assert cycle is not None
    assert len(cycle) == MILLION


def test_parallel_arcs_do_not_hang_the_search() -> None:
    assert len(set(strong_components(Digraph.from_arcs(2, [0, 0], [1, 1])).tolist())) == 2
    assert find_cycle(Digraph.from_arcs(2, [0] * 256 + [1], [1] * 256 + [0])) == (0, 1)


def test_a_loop_is_a_cycle_of_one() -> None:
    graph = Digraph.from_arcs(3, [0, 2], [1, 2])
    assert find_cycle(graph) == (2,)


def test_nothing_has_no_waves() -> None:
    empty = Digraph.from_arcs(0, [], [])
    assert waves(empty).shape == strong_components(empty).shape == (0,)
    assert find_cycle(empty) is None
