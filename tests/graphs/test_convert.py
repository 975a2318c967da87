"""Conversions keep the arcs; the surface of the room is what its catalogue says."""

from __future__ import annotations

import sys
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, csr_matrix

from memorepair.errors import InvalidInput, MissingDependency
from memorepair.graphs import Digraph, from_networkx, from_sparse, to_coo, to_csr, to_networkx


@st.composite
def digraphs(draw: st.DrawFn) -> Digraph:
    n = draw(st.integers(0, 7))
    nodes = st.integers(0, max(n - 1, 0))
    arcs = draw(st.lists(st.tuples(nodes, nodes), max_size=14)) if n else []
    return Digraph.from_arcs(n, [tail for tail, _ in arcs], [head for _, head in arcs])


def arcs_of(graph: Digraph) -> Counter[tuple[int, int]]:
    return Counter(zip(graph.tails().tolist(), graph.heads.tolist(), strict=True))


@given(digraphs())
def test_networkx_and_back_is_the_same_set_of_arcs(graph: Digraph) -> None:
    names = [f"node {node}" for node in range(graph.n)]
    back, labels = from_networkx(to_networkx(graph, names))
    assert labels == tuple(names)
    assert set(arcs_of(back)) == set(arcs_of(graph))


@given(digraphs())
def test_a_multigraph_keeps_its_parallel_arcs(graph: Digraph) -> None:
    multiple = nx.MultiDiGraph()
    multiple.add_nodes_from(range(graph.n))
    multiple.add_edges_from(zip(graph.tails().tolist(), graph.heads.tolist(), strict=True))
    assert arcs_of(from_networkx(multiple)[0]) == arcs_of(graph)


@given(digraphs())
def test_sparse_and_back_is_the_same_graph(graph: Digraph) -> None:
    for matrix in (to_csr(graph), to_coo(graph)):
        back = from_sparse(matrix)
        assert np.array_equal(back.offsets, graph.offsets)
        assert np.array_equal(back.heads, graph.heads)


@given(digraphs())
def test_a_matrix_is_a_copy(graph: Digraph) -> None:
    before = arcs_of(graph)
    matrix = to_csr(graph)
    matrix.sum_duplicates()
    matrix.indices[:] = 0
    assert arcs_of(graph) == before


def test_a_stored_zero_is_no_arc() -> None:
    matrix = csr_array((np.array([0.0, 2.5]), np.array([1, 0]), np.array([0, 1, 2])), shape=(2, 2))
    assert arcs_of(from_sparse(matrix)) == {(1, 0): 1}
    assert arcs_of(from_sparse(csr_matrix(matrix))) == {(1, 0): 1}


@pytest.mark.parametrize("labels", [["a"], ["a", "a"]])
def test_labels_must_name_the_nodes(labels: list[str]) -> None:
    with pytest.raises(InvalidInput):
        to_networkx(Digraph.from_arcs(2, [0], [1]), labels)


def test_an_undirected_graph_is_refused() -> None:
    with pytest.raises(InvalidInput):
        from_networkx(nx.Graph([(0, 1)]))


def test_a_matrix_that_is_not_square_is_refused() -> None:
    with pytest.raises(InvalidInput) as refused:
        from_sparse(csr_array((2, 3)))
    assert refused.value.witness == (2, 3)


def test_a_missing_networkx_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingDependency, match="solvers"):
        to_networkx(Digraph.from_arcs(1, [], []))
