"""A cut is believed for its proof only: every way of being wrong is caught with a witness."""

from __future__ import annotations

from dataclasses import dataclass, replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorepair.errors import InvalidInput, ProofFailed
from memorepair.graphs import Cut, MinCutNetwork
from memorepair.graphs.network import exact_sum


@dataclass(frozen=True)
class Solved:
    """A network with one maximum flow and all its minimum cuts, from networkx and from brute force."""

    cut: Cut
    sides: list[frozenset[int]]


def network(n: int, arcs: list[tuple[int, int, int]], source: int = 0, sink: int = 1) -> MinCutNetwork:
    return MinCutNetwork(
        n=n,
        tails=np.array([tail for tail, _, _ in arcs], np.int32),
        heads=np.array([head for _, head, _ in arcs], np.int32),
        capacities=np.array([capacity for _, _, capacity in arcs], np.int64),
        source=source,
        sink=sink,
    )


def side(n: int, nodes: frozenset[int] | set[int]) -> np.ndarray:
    return np.isin(np.arange(n), sorted(nodes))


@st.composite
def solved(draw: st.DrawFn) -> Solved:
    n = draw(st.integers(2, 6))
    nodes = st.integers(0, n - 1)
    ends = draw(st.lists(st.tuples(nodes, nodes), max_size=14, unique=True))
    arcs = [(tail, head, draw(st.integers(0, 4))) for tail, head in ends]
    given_network = network(n, arcs)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from((tail, head, {"capacity": capacity}) for tail, head, capacity in arcs)
    value, flow = nx.maximum_flow(graph, 0, 1)
    sides = []
    for bits in range(2 ** (n - 2)):
        nodes_in = frozenset([0, *(node for node in range(2, n) if bits >> (node - 2) & 1)])
        if sum(c for tail, head, c in arcs if tail in nodes_in and head not in nodes_in) == value:
            sides.append(nodes_in)
    cut = Cut(
        network=given_network,
        flow=np.array([flow[tail][head] for tail, head, _ in arcs], np.int64),
        value=value,
        source_side=side(n, draw(st.sampled_from(sides))),
    )
    return Solved(cut, sides)


@given(solved())
def test_a_maximum_flow_proves_every_minimum_cut(case: Solved) -> None:
    for nodes in case.sides:
        replace(case.cut, source_side=side(case.cut.network.n, nodes)).verify()


@given(solved(), st.data())
def test_no_other_cut_is_proved(case: Solved, data: st.DataObject) -> None:
    n = case.cut.network.n
    nodes = data.draw(st.sets(st.integers(0, n - 1)))
    claimed = replace(case.cut, source_side=side(n, nodes))
    if frozenset(nodes) in case.sides:
        claimed.verify()
    else:
        with pytest.raises(ProofFailed):
            claimed.verify()


@given(solved())
def test_the_extreme_sides_bound_every_minimum_cut(case: Solved) -> None:
    n = case.cut.network.n
    smallest, largest = case.cut.smallest_source_side(), case.cut.largest_source_side()
    assert np.array_equal(smallest, side(n, frozenset.intersection(*case.sides)))
    assert np.array_equal(largest, side(n, frozenset.union(*case.sides)))
    replace(case.cut, source_side=smallest).verify()
    replace(case.cut, source_side=largest).verify()


@given(solved(), st.data())
def test_a_changed_flow_is_caught(case: Solved, data: st.DataObject) -> None:
    cut = case.cut
    movable = np.flatnonzero(cut.network.tails != cut.network.heads).tolist()
    if not movable:
        return
    flow = cut.flow.copy()
    flow[data.draw(st.sampled_from(movable))] += data.draw(st.sampled_from([-1, 1]))
    with pytest.raises(ProofFailed):
        replace(cut, flow=flow).verify()


BRIDGE = network(4, [(0, 2, 3), (2, 3, 2), (3, 1, 3), (3, 2, 1)])
PROVED = Cut(network=BRIDGE, flow=np.array([2, 2, 2, 0]), value=2, source_side=side(4, {0, 2}))


@pytest.mark.parametrize(
    ("flow", "nodes", "value", "witness"),
    [
        ([2, 3, 2, 1], {0, 2}, 2, (2, 3)),  # above capacity
        ([2, 1, 2, -1], {0, 2}, 2, (3, 2)),  # below zero
        ([2, 2, 1, 0], {0, 2}, 2, 3),  # not conserved
        ([2, 2, 2, 0], {2}, 2, 0),  # the source left out
        ([2, 2, 2, 0], {0, 1, 2, 3}, 2, 1),  # the sink taken in
        ([2, 2, 2, 0], {0}, 2, (0, 2)),  # leaves unsaturated
        ([1, 2, 1, 1], {0, 2}, 1, (3, 2)),  # enters with flow
        ([2, 2, 2, 0], {0, 2}, 3, (3, 2, 2)),  # another value claimed
    ],
)
def test_each_condition_fails_with_its_own_witness(
    flow: list[int], nodes: set[int], value: int, witness: object
) -> None:
    PROVED.verify()
    wrong = replace(PROVED, flow=np.array(flow), source_side=side(4, nodes), value=value)
    with pytest.raises(ProofFailed) as refused:
        wrong.verify()
    assert refused.value.witness == witness


def test_a_flow_that_is_not_maximum_has_no_extreme_sides() -> None:
    nothing = replace(PROVED, flow=np.zeros(4, np.int64), value=0)
    with pytest.raises(ProofFailed) as refused:
        nothing.smallest_source_side()
    assert refused.value.witness == 1
    with pytest.raises(ProofFailed) as refused:
        nothing.largest_source_side()
    assert refused.value.witness == 0


def test_conservation_is_not_fooled_by_sums_that_wrap() -> None:
    # Four arcs of 2^62 into node 2 add up to 2^64, which int64 reads as 0.
    huge = 2**62
    wrapping = network(7, [(3, 2, huge), (4, 2, huge), (5, 2, huge), (6, 2, huge)])
    flow = np.full(4, huge)
    with pytest.raises(ProofFailed) as refused:
        Cut(network=wrapping, flow=flow, value=0, source_side=side(7, {0})).verify()
    assert refused.value.witness == 2


def test_the_largest_value_is_proved_exactly() -> None:
    top = 2**63 - 1
    widest = network(3, [(0, 2, top), (2, 1, top), (2, 2, top)])
    Cut(network=widest, flow=np.array([top, top, 5]), value=top, source_side=side(3, {0})).verify()


@given(st.lists(st.integers(0, 2**63 - 1), max_size=20))
def test_the_exact_sum_is_the_sum(values: list[int]) -> None:
    assert exact_sum(np.array(values, np.int64)) == sum(values)


@pytest.mark.parametrize(
    ("n", "arcs", "source", "sink", "witness"),
    [
        (2, [(0, 1, -1)], 0, 1, (0, 1)),
        (2, [(0, 2, 1)], 0, 1, (0, 2)),
        (2, [], 0, 0, 0),
        (2, [], 2, 1, 2),
        (2, [], 0, -1, -1),
        (0, [], 0, 1, 0),
        (2**31, [], 0, 1, 2**31),
        (3, [(0, 1, 2**62), (0, 2, 2**62)], 0, 1, 2**63),
    ],
)
def test_a_bad_network_is_refused_with_its_witness(
    n: int, arcs: list[tuple[int, int, int]], source: int, sink: int, witness: object
) -> None:
    with pytest.raises(InvalidInput) as refused:
        network(n, arcs, source, sink)
    assert refused.value.witness == witness


@pytest.mark.parametrize("name", ["tails", "heads", "capacities"])
@pytest.mark.parametrize("change", ["shorter", "float"])
def test_network_arrays_of_another_shape_or_type_are_refused(name: str, change: str) -> None:
    arrays: dict[str, np.ndarray] = {
        "tails": BRIDGE.tails,
        "heads": BRIDGE.heads,
        "capacities": BRIDGE.capacities,
    }
    arrays[name] = arrays[name][:2] if change == "shorter" else arrays[name].astype(np.float64)
    with pytest.raises(InvalidInput):
        MinCutNetwork(n=4, source=0, sink=1, **arrays)


@pytest.mark.parametrize("flow", [PROVED.flow[:2], PROVED.flow.astype(np.float64)])
def test_a_flow_of_another_shape_or_type_is_refused(flow: np.ndarray) -> None:
    with pytest.raises(InvalidInput):
        replace(PROVED, flow=flow)


@pytest.mark.parametrize("nodes", [PROVED.source_side[:2], PROVED.source_side.astype(np.int8)])
def test_a_side_of_another_shape_or_type_is_refused(nodes: np.ndarray) -> None:
    with pytest.raises(InvalidInput):
        replace(PROVED, source_side=nodes)


def test_networks_and_cuts_are_read_only() -> None:
    for array in (BRIDGE.tails, BRIDGE.heads, BRIDGE.capacities, PROVED.flow, PROVED.source_side):
        assert not array.flags.writeable
