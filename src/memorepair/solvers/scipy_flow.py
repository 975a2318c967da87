"""Minimum cut by SciPy's maximum flow, guarded against its 32 bits."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from memorepair.errors import InvalidInput
from memorepair.graphs.digraph import Index, Int64
from memorepair.graphs.network import Cut, MinCutNetwork, exact_sum
from memorepair.problems.proof import Ties

SUPPLY_LIMIT = 2**30
"""The residual of two opposite arcs, which SciPy adds up in int32, stays below twice the supply."""


class ScipyFlow:
    """`scipy.sparse.csgraph.maximum_flow`, Dinic's algorithm; not recommended on long chains: quadratic."""

    name: ClassVar[str] = "scipy"
    exact: ClassVar[bool] = True
    ties: ClassVar[frozenset[Ties]] = frozenset(("fewest", "most"))
    max_size: ClassVar[int | None] = None
    package: ClassVar[str | None] = None

    def cut(self, network: MinCutNetwork, /) -> Cut:
        """A minimum cut, the source side the smallest.

        Raises
        ------
        InvalidInput
            Capacities out of the source add up to 2^30 or more (witness: the sum): SciPy narrows int64 to
            int32 without a word.
        ProofFailed
            SciPy's flow is not maximum.
        """
        supply = exact_sum(network.capacities[network.tails == network.source])
        if supply >= SUPPLY_LIMIT:
            raise InvalidInput("the capacities out of the source add up to 2^30 or more", witness=supply)
        # SciPy knows one arc a pair and no loops: arcs are merged, their flow is spread over them in order.
        # No arc of a maximum flow without circulations carries more than the supply.
        arcs = np.flatnonzero(network.tails != network.heads)
        arcs = arcs[np.lexsort((network.heads[arcs], network.tails[arcs]))]
        tails, heads = network.tails[arcs], network.heads[arcs]
        first = np.ones(len(arcs), np.bool_)
        first[1:] = (tails[1:] != tails[:-1]) | (heads[1:] != heads[:-1])
        pair = np.cumsum(first) - 1
        room = np.minimum(network.capacities[arcs], supply)
        above = np.cumsum(room) - room
        above -= above[first][pair]  # room on the arcs of the same pair before this one
        together = np.zeros(int(first.sum()), np.int64)
        np.add.at(together, pair, room)
        shape = (network.n, network.n)
        graph = csr_array(
            (np.minimum(together, supply).astype(np.int32), (tails[first], heads[first])), shape=shape
        )
        result = maximum_flow(graph, network.source, network.sink)
        carried = np.maximum(_entries(result.flow, tails[first], heads[first]), 0)[pair]
        flow = np.zeros(network.m, np.int64)
        flow[arcs] = np.clip(carried - above, 0, room)
        unproved = Cut(
            network=network,
            flow=flow,
            value=int(result.flow_value),
            source_side=np.zeros(network.n, np.bool_),
        )
        return Cut(
            network=network, flow=flow, value=unproved.value, source_side=unproved.smallest_source_side()
        )


def _entries(matrix: csr_array[np.float64], rows: Index, columns: Index) -> Int64:
    """Entries at (rows, columns), 0 where none is stored; int64."""
    found = matrix.tocoo()  # int32, whatever the stubs say
    n = matrix.shape[1]
    key = found.row.astype(np.int64) * n + found.col
    order = np.argsort(key)
    asked = rows.astype(np.int64) * n + columns
    place = np.minimum(np.searchsorted(key[order], asked), max(len(key) - 1, 0))
    if len(key) == 0:
        return np.zeros(len(asked), np.int64)
    return np.where(key[order][place] == asked, found.data[order][place], 0).astype(np.int64)
