"""A digraph keeps its arcs, refuses what int32 cannot number, cannot be changed."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorepair.errors import InvalidInput
from memorepair.graphs import Digraph, arc_order

Arcs = tuple[int, list[tuple[int, int]]]


@st.composite
def arc_lists(draw: st.DrawFn) -> Arcs:
    n = draw(st.integers(1, 9))
    node = st.integers(0, n - 1)
    return n, draw(st.lists(st.tuples(node, node), max_size=24))


def digraph(arcs: Arcs) -> Digraph:
    n, pairs = arcs
    return Digraph.from_arcs(n, [tail for tail, _ in pairs], [head for _, head in pairs])


def pairs_of(graph: Digraph) -> list[tuple[int, int]]:
    return list(zip(graph.tails().tolist(), graph.heads.tolist(), strict=True))


@given(arc_lists())
def test_arcs_are_grouped_by_tail_in_given_order(arcs: Arcs) -> None:
    assert pairs_of(digraph(arcs)) == sorted(arcs[1], key=lambda arc: arc[0])


@given(arc_lists())
def test_arc_attributes_follow_through_the_arc_order(arcs: Arcs) -> None:
    graph = digraph(arcs)
    order = arc_order(np.array([tail for tail, _ in arcs[1]], np.int64))
    assert [arcs[1][place] for place in order.tolist()] == pairs_of(graph)


@given(arc_lists())
def test_reverse_turns_every_arc_and_twice_is_the_same_arcs(arcs: Arcs) -> None:
    graph = digraph(arcs)
    turned = Counter((head, tail) for tail, head in arcs[1])
    assert Counter(pairs_of(graph.reverse())) == turned
    assert Counter(pairs_of(graph.reverse().reverse())) == Counter(arcs[1])


@given(arc_lists(), st.data())
def test_induced_keeps_exactly_the_arcs_inside(arcs: Arcs, data: st.DataObject) -> None:
    n, pairs = arcs
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), np.bool_)
    kept = np.flatnonzero(mask).tolist()
    inside = digraph(arcs).induced(mask)
    assert inside.n == len(kept)
    named = Counter((kept[tail], kept[head]) for tail, head in pairs_of(inside))
    assert named == Counter((tail, head) for tail, head in pairs if mask[tail] and mask[head])


@given(arc_lists())
def test_successors_are_the_heads_of_the_arcs_out(arcs: Arcs) -> None:
    graph = digraph(arcs)
    for node in range(graph.n):
        assert graph.successors(node).tolist() == [head for tail, head in arcs[1] if tail == node]


def test_a_graph_without_nodes_is_a_graph() -> None:
    empty = Digraph.from_arcs(0, [], [])
    assert (empty.n, empty.m, empty.reverse().n) == (0, 0, 0)


def test_arrays_are_read_only() -> None:
    graph = Digraph.from_arcs(2, [0], [1])
    with pytest.raises(ValueError, match="read-only"):
        graph.heads[0] = 0


@pytest.mark.parametrize(
    ("n", "tails", "heads", "witness"),
    [
        (2, [0], [2], (0, 2)),
        (2, [0, -1], [1, 0], (-1, 0)),
        (2, [0, 1], [1], (2, 1)),
        (-1, [], [], (-1, 0)),
        (2**31, [], [], (2**31, 0)),
        (2, [0], [2**40], (0, 2**40)),
    ],
)
def test_bad_arcs_are_refused_with_their_witness(
    n: int, tails: list[int], heads: list[int], witness: object
) -> None:
    with pytest.raises(InvalidInput) as refused:
        Digraph.from_arcs(n, tails, heads)
    assert refused.value.witness == witness


def test_floats_are_no_node_numbers() -> None:
    with pytest.raises(InvalidInput):
        Digraph.from_arcs(2, [0.0], [1.0])


@pytest.mark.parametrize(
    ("offsets", "heads"),
    [([0, 2], [0]), ([1, 1], [0]), ([0, 1, 0, 1], [0]), ([0, 1], [1]), ([0, 1], [-1]), ([], [])],
)
def test_malformed_rows_are_refused(offsets: list[int], heads: list[int]) -> None:
    with pytest.raises(InvalidInput):
        Digraph(offsets=np.array(offsets, np.int32), heads=np.array(heads, np.int32))


def test_wider_indices_are_refused() -> None:
    with pytest.raises(InvalidInput):
        Digraph(offsets=np.array([0, 0]), heads=np.zeros(0, np.int32))


@pytest.mark.parametrize("mask", [np.ones(3, np.bool_), np.ones(2, np.int8)])
def test_induced_wants_a_mask_of_the_nodes(mask: np.ndarray) -> None:
    with pytest.raises(InvalidInput):
        Digraph.from_arcs(2, [0], [1]).induced(mask)
