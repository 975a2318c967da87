"""MinCut: maximum closure as a minimum cut."""

from __future__ import annotations

import numpy as np

from memorepair.graphs.network import Cut, MinCutNetwork
from memorepair.problems import Certificate, Closure, ClosureInstance
from memorepair.problems.integers import exact_total


class MinCut:
    """s -> i of capacity p_i where p_i > 0, i -> t of -p_i where p_i < 0, i -> j uncuttable.

    Nodes keep their numbers, s = k, t = k + 1; the first m arcs are those of `requires`. Let P be the sum of
    positive profits. Cutting all arcs out of s costs P, so no minimum cut contains an arc of capacity 1 + P:
    its source side less s is a closure S, and it costs P - profit(S).

    Source: J. C. Picard, Maximal closure of a graph and applications to combinatorial problems, 1976.
    """

    def apply(self, instance: ClosureInstance, /) -> tuple[MinCutNetwork, ClosureInstance]:
        """The network; the record is the instance."""
        profit, requires, k = instance.profit, instance.requires, instance.requires.n
        gains, expenses = np.flatnonzero(profit > 0), np.flatnonzero(profit < 0)
        uncuttable = 1 + exact_total(profit[gains])
        network = MinCutNetwork(
            n=k + 2,
            tails=np.concatenate((requires.tails(), np.full(len(gains), k), expenses)).astype(np.int32),
            heads=np.concatenate((requires.heads, gains, np.full(len(expenses), k + 1))).astype(np.int32),
            capacities=np.concatenate((np.full(requires.m, uncuttable), profit[gains], -profit[expenses])),
            source=k,
            sink=k + 1,
        )
        return network, instance

    def invert(self, cut: Cut, instance: ClosureInstance, /) -> Closure:
        """The source side of the extreme cut that `ties` asks for; pi is the flow on the arcs of `requires`.

        With f a maximum flow and pi = f there, conservation leaves r_i = p_i - f(s -> i) >= 0 where p_i > 0,
        and r_i = p_i + f(i -> t) <= 0 where p_i < 0: the bound is P - value(f), the profit of the minimum
        cut's closure.
        """
        side = cut.smallest_source_side() if instance.ties == "fewest" else cut.largest_source_side()
        m = instance.requires.m
        return Closure(
            mask=side[: instance.requires.n],
            certificate=Certificate.of(np.arange(m, dtype=np.int32), cut.flow[:m]),
        )
