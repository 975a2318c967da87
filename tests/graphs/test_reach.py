"""Reachability agrees with networkx, both ways, and does not mind depth."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorepair.errors import InvalidInput
from memorepair.graphs import Digraph, node_mask, reach, slice_to, to_networkx

MILLION = 1_000_000


@st.composite
def cases(draw: st.DrawFn) -> tuple[Digraph, list[int]]:
    n = draw(st.integers(1, 9))
    nodes = st.integers(0, n - 1)
    arcs = draw(st.lists(st.tuples(nodes, nodes), max_size=16))
    graph = Digraph.from_arcs(n, [tail for tail, _ in arcs], [head for _, head in arcs])
    return graph, draw(st.lists(nodes, max_size=4))


@given(cases())
def test_reach_is_the_roots_with_their_descendants(case: tuple[Digraph, list[int]]) -> None:
    graph, roots = case
    known = set(roots).union(*(nx.descendants(to_networkx(graph), root) for root in roots))
    assert set(np.flatnonzero(reach(graph, roots)).tolist()) == known


@given(cases())
def test_slice_is_the_targets_with_their_ancestors(case: tuple[Digraph, list[int]]) -> None:
    graph, targets = case
    known = set(targets).union(*(nx.ancestors(to_networkx(graph), target) for target in targets))
    assert set(np.flatnonzero(slice_to(graph, targets)).tolist()) == known


@given(cases())
def test_a_mask_and_its_indices_are_the_same_set(case: tuple[Digraph, list[int]]) -> None:
    graph, roots = case
    mask = node_mask(graph, roots)
    assert np.array_equal(reach(graph, mask), reach(graph, roots))
    assert np.array_equal(np.flatnonzero(mask), sorted(set(roots)))


@given(cases())
def test_reach_is_idempotent_and_leaves_its_argument_alone(case: tuple[Digraph, list[int]]) -> None:
    graph, roots = case
    mask = node_mask(graph, roots)
    before = mask.copy()
    reached = reach(graph, mask)
    assert np.array_equal(mask, before)
    assert np.array_equal(reach(graph, reached), reached)


def test_a_chain_of_a_million_nodes() -> None:
    chain = Digraph.from_arcs(MILLION, np.arange(MILLION - 1), np.arange(1, MILLION))
    assert reach(chain, [10]).sum() == MILLION - 10
    assert slice_to(chain, [10]).sum() == 11


def test_a_star_of_a_million_nodes() -> None:
    star = Digraph.from_arcs(MILLION, np.zeros(MILLION - 1, np.int64), np.arange(1, MILLION))
    assert reach(star, [0]).all()
    assert slice_to(star, [7]).sum() == 2
    assert reach(star, np.ones(MILLION, np.bool_)).all()


def test_no_roots_reach_nothing() -> None:
    assert not reach(Digraph.from_arcs(3, [0], [1]), []).any()
    assert reach(Digraph.from_arcs(0, [], []), []).shape == (0,)


@pytest.mark.parametrize(
    ("nodes", "witness"),
    [([3], 3), ([0, -1], -1), ([0.5], "float64"), ([True], (1,)), ([[0]], "int64"), (["a"], "<U1")],
)
def test_a_set_of_nodes_outside_the_graph_is_refused(nodes: list[object], witness: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        reach(Digraph.from_arcs(3, [0], [1]), np.array(nodes))
    assert refused.value.witness == witness
