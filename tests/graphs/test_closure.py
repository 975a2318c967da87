"""Closures agree with the definition, checked over all subsets."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorepair.errors import InvalidInput
from memorepair.graphs import (
    Digraph,
    greatest_closed_subset,
    is_closed,
    least_closed_superset,
    violated_arc,
)

MILLION = 1_000_000


@st.composite
def cases(draw: st.DrawFn) -> tuple[Digraph, set[int]]:
    n = draw(st.integers(1, 6))
    nodes = st.integers(0, n - 1)
    arcs = draw(st.lists(st.tuples(nodes, nodes), max_size=12))
    graph = Digraph.from_arcs(n, [tail for tail, _ in arcs], [head for _, head in arcs])
    return graph, draw(st.sets(nodes))


def closures(graph: Digraph) -> list[set[int]]:
    """Every closure, from the definition."""
    subsets = chain.from_iterable(combinations(range(graph.n), size) for size in range(graph.n + 1))
    arcs = list(zip(graph.tails().tolist(), graph.heads.tolist(), strict=True))
    return [set(subset) for subset in subsets if all(head in subset for tail, head in arcs if tail in subset)]


@given(cases())
def test_the_least_closed_superset_is_in_every_closure_around(case: tuple[Digraph, set[int]]) -> None:
    graph, nodes = case
    around = [closure for closure in closures(graph) if closure >= nodes]
    found = set(np.flatnonzero(least_closed_superset(graph, sorted(nodes))).tolist())
    assert found == set.intersection(*around)
    assert found in around


@given(cases())
def test_the_greatest_closed_subset_holds_every_closure_inside(case: tuple[Digraph, set[int]]) -> None:
    graph, nodes = case
    inside = [closure for closure in closures(graph) if closure <= nodes]
    found = set(np.flatnonzero(greatest_closed_subset(graph, sorted(nodes))).tolist())
    assert found == set.union(*inside)
    assert found in inside


@given(cases())
def test_a_set_is_closed_or_an_arc_says_why_not(case: tuple[Digraph, set[int]]) -> None:
    graph, nodes = case
    closed = nodes in closures(graph)
    assert is_closed(graph, sorted(nodes)) == closed
    arc = violated_arc(graph, sorted(nodes))
    assert (arc is None) == closed
    if arc is not None:
        tail, head = arc
        assert tail in nodes
        assert head not in nodes
        assert head in graph.successors(tail)


def test_a_chain_of_a_million_nodes() -> None:
    chained = Digraph.from_arcs(MILLION, np.arange(1, MILLION), np.arange(MILLION - 1))
    assert least_closed_superset(chained, [MILLION - 1]).all()
    all_but_first = np.ones(MILLION, np.bool_)
    all_but_first[0] = False
    assert not greatest_closed_subset(chained, all_but_first).any()
    assert violated_arc(chained, all_but_first) == (1, 0)


@pytest.mark.parametrize(
    "function",
    [least_closed_superset, greatest_closed_subset, is_closed, violated_arc],
    ids=lambda f: f.__name__,
)
def test_a_mask_of_another_graph_is_refused(function: object) -> None:
    assert callable(function)
    with pytest.raises(InvalidInput):
        function(Digraph.from_arcs(2, [0], [1]), np.ones(3, np.bool_))
