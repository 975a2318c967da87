"""Minimum cut by NetworkX's maximum flow, fed with Python integers only."""

from __future__ import annotations

from importlib import import_module
from typing import ClassVar

import numpy as np

from memorepair.graphs.network import Cut, MinCutNetwork
from memorepair.problems.proof import Ties


class NetworkxFlow:
    """`networkx.maximum_flow`, push-relabel in pure Python: exact at any size, slow from 10^4 nodes on."""

    name: ClassVar[str] = "networkx"
    exact: ClassVar[bool] = True
    ties: ClassVar[frozenset[Ties]] = frozenset(("fewest", "most"))
    max_size: ClassVar[int | None] = None
    package: ClassVar[str | None] = "networkx"

    def cut(self, network: MinCutNetwork, /) -> Cut:
        """A minimum cut, the source side the smallest.

        Raises
        ------
        ProofFailed
            NetworkX' flow is not maximum.
        """
        nx = import_module("networkx")
        tails, heads = network.tails.tolist(), network.heads.tolist()
        capacities = network.capacities.tolist()  # floats would be compared exactly, after rounding
        graph = nx.DiGraph()
        graph.add_nodes_from((network.source, network.sink))
        for tail, head, capacity in zip(tails, heads, capacities, strict=True):
            if tail != head:
                if not graph.has_edge(tail, head):  # of parallel arcs it would keep the last
                    graph.add_edge(tail, head, capacity=0)
                graph[tail][head]["capacity"] += capacity
        value, sent = nx.maximum_flow(graph, network.source, network.sink)
        flow = np.zeros(network.m, np.int64)
        for arc, (tail, head, capacity) in enumerate(zip(tails, heads, capacities, strict=True)):
            if tail != head:
                flow[arc] = min(capacity, sent[tail][head])
                sent[tail][head] -= min(capacity, sent[tail][head])
        unproved = Cut(
            network=network, flow=flow, value=int(value), source_side=np.zeros(network.n, np.bool_)
        )
        return Cut(
            network=network, flow=flow, value=unproved.value, source_side=unproved.smallest_source_side()
        )
