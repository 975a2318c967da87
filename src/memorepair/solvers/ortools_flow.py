"""Minimum cut by OR-tools' push-relabel maximum flow, guarded against its silent failures."""

from __future__ import annotations

from importlib import import_module
from typing import ClassVar

import numpy as np

from memorepair.errors import InvalidInput, ProofFailed
from memorepair.graphs.network import Cut, MinCutNetwork, exact_sum
from memorepair.problems.integers import TOTAL_LIMIT
from memorepair.problems.proof import Ties


class OrtoolsFlow:
    """`ortools.graph.python.max_flow`; not recommended on long chains, where it is quadratic."""

    name: ClassVar[str] = "ortools"
    exact: ClassVar[bool] = True
    ties: ClassVar[frozenset[Ties]] = frozenset(("fewest", "most"))
    max_size: ClassVar[int | None] = None
    package: ClassVar[str | None] = "ortools"

    def cut(self, network: MinCutNetwork, /) -> Cut:
        """A minimum cut, the source side the smallest.

        Raises
        ------
        InvalidInput
            Capacities out of the source add up to 2^62 or more (witness: the sum).
        ProofFailed
            OR-tools reports no optimum, or its flow is not maximum (witness: its status, or what is at
            fault).
        """
        max_flow = import_module("ortools.graph.python.max_flow")
        supply = exact_sum(network.capacities[network.tails == network.source])
        if supply >= TOTAL_LIMIT:
            raise InvalidInput("the capacities out of the source add up to 2^62 or more", witness=supply)
        solver = max_flow.SimpleMaxFlow()
        # OR-tools knows only nodes that an arc names: without this one a source or sink without arcs is no
        # node, and the cut comes back empty. Floats it would truncate; MinCutNetwork holds int64 only.
        tails = np.append(network.tails, np.int32(network.source))
        heads = np.append(network.heads, np.int32(network.sink))
        arcs = solver.add_arcs_with_capacity(tails, heads, np.append(network.capacities, np.int64(0)))
        status = solver.solve(network.source, network.sink)
        if status != solver.OPTIMAL:
            raise ProofFailed(f"OR-tools found no optimum: {status}", witness=str(status))
        flow = np.asarray(solver.flows(arcs), np.int64)[:-1]
        unproved = Cut(
            network=network,
            flow=flow,
            value=int(solver.optimal_flow()),
            source_side=np.zeros(network.n, np.bool_),
        )
        return Cut(
            network=network, flow=flow, value=unproved.value, source_side=unproved.smallest_source_side()
        )
