"""Minimum cuts: a network, and an answer that carries its own proof."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memorepair.errors import InvalidInput, ProofFailed
from memorepair.graphs.digraph import INDEX_LIMIT, Digraph, Index, Int64, Mask, read_only
from memorepair.graphs.reach import reach, slice_to

VALUE_LIMIT = np.iinfo(np.int64).max
"""No flow value exceeds it, so that a kernel can add up excess in int64."""

_HALF = 32


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MinCutNetwork:
    """A directed network with integer capacities between a source and a sink.

    Loops, parallel arcs, arcs into the source, arcs out of the sink are allowed.

    Attributes
    ----------
    n
        Number of nodes.
    tails, heads : (m,) int32
        Arc k runs from ``tails[k]`` to ``heads[k]``.
    capacities : (m,) int64
        At least 0; together at most 2^63 - 1 on the arcs out of the source.
    source, sink
        Two different nodes.

    Raises
    ------
    InvalidInput
        One of the above does not hold (witness: the number or arc at fault).
    """

    n: int
    tails: Index
    heads: Index
    capacities: Int64
    source: int
    sink: int

    def __post_init__(self) -> None:
        if not 0 <= self.n < INDEX_LIMIT:
            raise InvalidInput("more nodes than int32 can number", witness=self.n)
        for name, node in (("source", self.source), ("sink", self.sink)):
            if not 0 <= node < self.n:
                raise InvalidInput(f"{name} {node} is outside 0 .. {self.n - 1}", witness=node)
        if self.source == self.sink:
            raise InvalidInput("source and sink are the same node", witness=self.source)
        for name, array in (("tails", self.tails), ("heads", self.heads)):
            if array.dtype != np.int32 or array.ndim != 1 or len(array) != len(self.tails):
                raise InvalidInput(
                    f"{name} must be int32 of shape (m,)", witness=(str(array.dtype), array.shape)
                )
            outside = (array < 0) | (array >= self.n)
            if outside.any():
                arc = int(np.flatnonzero(outside)[0])
                raise InvalidInput(f"arc {arc} leaves the nodes 0 .. {self.n - 1}", witness=self.arc(arc))
        if self.capacities.dtype != np.int64 or self.capacities.shape != (self.m,):
            witness = (str(self.capacities.dtype), self.capacities.shape)
            raise InvalidInput(f"capacities must be int64 of shape ({self.m},)", witness=witness)
        if self.m and self.capacities.min() < 0:
            arc = int(self.capacities.argmin())
            raise InvalidInput(f"arc {arc} = {self.arc(arc)} has a negative capacity", witness=self.arc(arc))
        total = exact_sum(self.capacities[self.tails == self.source])
        if total > VALUE_LIMIT:
            raise InvalidInput("the capacity out of the source exceeds int64", witness=total)
        read_only(self.tails)
        read_only(self.heads)
        read_only(self.capacities)

    @property
    def m(self) -> int:
        """Number of arcs."""
        return len(self.tails)

    def arc(self, k: int) -> tuple[int, int]:
        """Tail and head of arc `k`."""
        return int(self.tails[k]), int(self.heads[k])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cut:
    """A cut together with the flow that proves it minimum.

    Attributes
    ----------
    network
        What is cut.
    flow : (m,) int64
        Flow on each arc of the network, in its arc order.
    value
        Claimed capacity of the cut, claimed value of the flow.
    source_side : (n,) bool
        The nodes on the source's side.

    Raises
    ------
    InvalidInput
        An array of the wrong dtype or shape. Whether the claims are true is for `verify` to say.
    """

    network: MinCutNetwork
    flow: Int64
    value: int
    source_side: Mask

    def __post_init__(self) -> None:
        m, n = self.network.m, self.network.n
        if self.flow.dtype != np.int64 or self.flow.shape != (m,):
            witness = (str(self.flow.dtype), self.flow.shape)
            raise InvalidInput(f"flow must be int64 of shape ({m},)", witness=witness)
        if self.source_side.dtype != np.bool_ or self.source_side.shape != (n,):
            witness = (str(self.source_side.dtype), self.source_side.shape)
            raise InvalidInput(f"source_side must be boolean of shape ({n},)", witness=witness)
        read_only(self.flow)
        read_only(self.source_side)

    def verify(self) -> None:
        """Check, without trusting any solver, that this cut is minimum.

        Raises
        ------
        ProofFailed
            A condition fails; the witness is the first arc (tail, head) or node that breaks it.

        Notes
        -----
        O(n + m). Sums are exact: no wrong flow passes because a sum wrapped around.

        Source: L. R. Ford, D. R. Fulkerson, Maximal flow through a network, 1956.
        """
        # Let S be the source side, f the flow, u the capacities. For any flow that obeys 0 <= f <= u and is
        # conserved away from s and t, and any S with s in it and t not, summing the conservation over S gives
        #
        #     value(f) = f(arcs leaving S) - f(arcs entering S) <= u(arcs leaving S) = capacity(S).
        #
        # So no flow beats any cut. Saturation of the leaving arcs and emptiness of the entering ones turn the
        # inequality into an equation for this f and this S: f is maximum and S is minimum.
        network, flow, side = self.network, self.flow, self.source_side
        s, t = network.source, network.sink
        self._no_arc((flow < 0) | (flow > network.capacities), "carries a flow outside 0 .. capacity")
        high, low = self._net_outflow()
        broken = (high != 0) | (low != 0)
        broken[[s, t]] = False
        if broken.any():
            node = int(np.flatnonzero(broken)[0])
            raise ProofFailed(f"flow is not conserved at node {node}", witness=node)
        if not side[s]:
            raise ProofFailed(f"the source {s} is not on the source side", witness=s)
        if side[t]:
            raise ProofFailed(f"the sink {t} is on the source side", witness=t)
        from_side, to_side = side[network.tails], side[network.heads]
        leaves = from_side & ~to_side
        self._no_arc(leaves & (flow < network.capacities), "leaves the source side unsaturated")
        self._no_arc(~from_side & to_side & (flow > 0), "enters the source side with flow")
        value, capacity = _joined(high[s], low[s]), exact_sum(network.capacities[leaves])
        if not value == capacity == self.value:
            raise ProofFailed(
                f"claimed value {self.value}, value of the flow {value}, capacity {capacity} differ",
                witness=(self.value, value, capacity),
            )

    def residual(self) -> Digraph:
        """Arcs that can take more flow, forward, with arcs whose flow can be taken back, turned; O(n + m)."""
        network = self.network
        forward, backward = self.flow < network.capacities, self.flow > 0
        return Digraph.from_arcs(
            network.n,
            np.concatenate((network.tails[forward], network.heads[backward])),
            np.concatenate((network.heads[forward], network.tails[backward])),
        )

    def smallest_source_side(self) -> Mask:
        """The source side, (n,) bool, contained in that of every minimum cut.

        Raises
        ------
        ProofFailed
            The flow is not maximum (witness: the sink, which the residual still reaches).
        """
        # Every minimum cut S' obeys the equation in verify: no residual arc leaves S'. So all that the source
        # reaches in the residual lies in S', and that set is itself such a cut once the flow is maximum.
        side = reach(self.residual(), [self.network.source])
        if side[self.network.sink]:
            raise ProofFailed(
                "the flow is not maximum: an augmenting path is left", witness=self.network.sink
            )
        return side

    def largest_source_side(self) -> Mask:
        """The source side, (n,) bool, that contains that of every minimum cut.

        Raises
        ------
        ProofFailed
            The flow is not maximum (witness: the source, which still reaches the sink).
        """
        # Mirror image: what reaches the sink in the residual lies on the sink side of every minimum cut.
        side = ~slice_to(self.residual(), [self.network.sink])
        if not side[self.network.source]:
            raise ProofFailed(
                "the flow is not maximum: an augmenting path is left", witness=self.network.source
            )
        return side

    def _no_arc(self, at_fault: Mask, fault: str) -> None:
        if at_fault.any():
            arc = self.network.arc(int(np.flatnonzero(at_fault)[0]))
            raise ProofFailed(f"arc {arc} {fault}", witness=arc)

    def _net_outflow(self) -> tuple[Int64, Int64]:
        """Flow out minus flow in at each node as ``high * 2**32 + low`` with 0 <= low < 2^32."""
        network = self.network
        halves = []
        # Halves of a nonnegative int64 lie below 2^32, and there are fewer than 2^31 arcs: no sum wraps.
        for half in (self.flow >> _HALF, self.flow & ((1 << _HALF) - 1)):
            total = np.zeros(network.n, np.int64)
            np.add.at(total, network.tails, half)
            np.subtract.at(total, network.heads, half)
            halves.append(total)
        high, low = halves
        return high + (low >> _HALF), low & ((1 << _HALF) - 1)


def exact_sum(values: Int64) -> int:
    """Sum of nonnegative int64 values as a Python integer, never wrapped; fewer than 2^31 values."""
    return _joined((values >> _HALF).sum(), (values & ((1 << _HALF) - 1)).sum())


def _joined(high: np.int64, low: np.int64) -> int:
    return (int(high) << _HALF) + int(low)
