"""Part: the nodes and arcs that a reduction keeps, by their numbers before it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memorepair.graphs.digraph import Digraph, Index, Mask
from memorepair.problems import Certificate, Closure


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Part:
    """What is left of a digraph.

    Attributes
    ----------
    nodes : (n,) bool
        Nodes kept.
    arcs : (m',) int32, or None
        Number, before, of each arc kept; ascending. None: all are kept.
    """

    nodes: Mask
    arcs: Index | None

    @classmethod
    def induced(cls, digraph: Digraph, nodes: Mask) -> tuple[Digraph, Part]:
        """The subgraph on `nodes` with its Part; O(n + m)."""
        if nodes.all():
            return digraph, cls(nodes=nodes, arcs=None)
        kept = nodes[digraph.tails()] & nodes[digraph.heads]
        # `induced` keeps the order of arcs: they are grouped by tail, and the renumbering of nodes is
        # monotone.
        return digraph.induced(nodes), cls(nodes=nodes, arcs=np.flatnonzero(kept).astype(np.int32))

    def widened(self, closure: Closure, *, rest: bool) -> Closure:
        """`closure` as one of the whole digraph: the other nodes all in or all out, pi = 0 on other arcs."""
        mask = np.full(len(self.nodes), rest)
        mask[self.nodes] = closure.mask
        certificate = closure.certificate
        return Closure(mask=mask, certificate=None if certificate is None else self.numbered(certificate))

    def numbered(self, certificate: Certificate) -> Certificate:
        """`certificate` by the numbers of arcs before."""
        if self.arcs is None:
            return certificate
        return Certificate(arcs=self.arcs[certificate.arcs], amounts=certificate.amounts)
