"""Mirror: asks for the largest optimum as the complement of a smallest one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from memorepair.graphs.digraph import Index, arc_order
from memorepair.problems import Certificate, Closure, ClosureInstance
from memorepair.problems.proof import Ties


class Mirror:
    """Turns the arcs round, negates the profits, and answers with the complement.

    The complement of a closure is a closure of the reversed arcs, and its negated profit is the closure's
    profit less the total: maxima go to maxima, the smallest to the largest. Take the same pi on each arc:
    inflow and outflow change places, so r' = -r, and sum max(0, -r) = sum max(0, r) - sum r with sum r = sum
    p: the bound moves by the same constant, so a certificate proves both or neither.
    """

    def apply(self, instance: ClosureInstance, /) -> tuple[ClosureInstance, Index]:
        """The mirrored instance; the record is each reversed arc's number before."""
        ties: Ties = "most" if instance.ties == "fewest" else "fewest"
        reduced = replace(instance, profit=-instance.profit, requires=instance.requires.reverse(), ties=ties)
        return reduced, arc_order(instance.requires.heads).astype(np.int32)

    def invert(self, solution: Closure, arcs: Index, /) -> Closure:
        """The complement, the same pi on the arcs turned back."""
        certificate = solution.certificate
        if certificate is not None:
            certificate = Certificate.of(arcs[certificate.arcs], certificate.amounts)
        return Closure(mask=~solution.mask, certificate=certificate)
