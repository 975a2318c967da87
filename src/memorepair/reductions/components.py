"""Components: cuts an instance into parts that no arc joins."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from scipy.sparse.csgraph import connected_components

from memorepair.graphs.convert import to_csr
from memorepair.graphs.digraph import Digraph, Index, Int64, arc_order
from memorepair.problems import Certificate, Closure, ClosureInstance
from memorepair.problems.integers import Integers

AT_LEAST = 20_000
"""Nodes of a part, but the last: so many that a process is worth starting for it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parts:
    """Where each part's nodes and arcs come from.

    Attributes
    ----------
    nodes : (k,) int64
        Nodes of the first part in order, then of the second, and so on.
    arcs : (m,) int64
        Likewise the arcs.
    node_ends, arc_ends : (parts,) int64
        Where each part ends in `nodes`, in `arcs`.
    """

    nodes: Int64
    arcs: Int64
    node_ends: Int64
    arc_ends: Int64


@dataclass(frozen=True, slots=True, kw_only=True)
class Components:
    """Gathers weak components into parts of `at_least` nodes.

    A set is a closure exactly when its piece in each part is one, and profits add up: the optima are the
    unions of the parts' optima, the smallest of the smallest, the largest of the largest. With the parts' pi
    side by side the bounds add up too, so they prove the whole.
    """

    at_least: int = AT_LEAST

    def apply(self, instance: ClosureInstance, /) -> tuple[tuple[ClosureInstance, ...], Parts]:
        """One instance a part; O(k + m)."""
        requires = instance.requires
        part = self._parts(requires)
        nodes = arc_order(part)
        rank = np.empty(requires.n, np.int64)
        rank[nodes] = np.arange(requires.n)
        tails = rank[requires.tails()]
        arcs = arc_order(tails)
        heads = rank[requires.heads[arcs]]
        offsets = np.zeros(requires.n + 1, np.int64)
        np.cumsum(np.bincount(tails, minlength=requires.n), out=offsets[1:])
        node_ends = np.cumsum(np.bincount(part)) if requires.n else np.zeros(0, np.int64)
        starts = np.concatenate(([0], node_ends[:-1])) if requires.n else node_ends
        found = []
        for start, end in zip(starts.tolist(), node_ends.tolist(), strict=True):
            first, last = offsets[start], offsets[end]
            digraph = Digraph(
                offsets=(offsets[start : end + 1] - first).astype(np.int32),
                heads=(heads[first:last] - start).astype(np.int32),
            )
            found.append(replace(instance, profit=instance.profit[nodes[start:end]], requires=digraph))
        return tuple(found), Parts(nodes=nodes, arcs=arcs, node_ends=node_ends, arc_ends=offsets[node_ends])

    def invert(self, solution: tuple[Closure, ...], parts: Parts, /) -> Closure:
        """The closures side by side; no certificate where one part has none."""
        mask = np.zeros(len(parts.nodes), np.bool_)
        if solution:
            mask[parts.nodes] = np.concatenate([closure.mask for closure in solution])
        starts = np.concatenate(([0], parts.arc_ends[:-1])) if len(parts.arc_ends) else parts.arc_ends
        arcs: list[Int64] = [np.zeros(0, np.int64)]
        amounts: list[Integers] = [np.zeros(0, np.int64)]
        for closure, start in zip(solution, starts.tolist(), strict=True):
            if closure.certificate is None:
                return Closure(mask=mask, certificate=None)
            arcs.append(parts.arcs[start + closure.certificate.arcs.astype(np.int64)])
            amounts.append(closure.certificate.amounts)
        pi = cast(Integers, np.concatenate(amounts))
        return Closure(mask=mask, certificate=Certificate.of(np.concatenate(arcs), pi))

    def _parts(self, requires: Digraph) -> Index:
        if requires.n == 0:
            return np.zeros(0, np.int32)
        graph = to_csr(requires)
        _, component = connected_components(graph, directed=True, connection="weak")
        sizes = np.bincount(component)
        # A component goes to the part in which the components before it have left off: a part is closed once
        # it holds `at_least` nodes.
        before = np.cumsum(sizes) - sizes
        _, part = np.unique(before // self.at_least, return_inverse=True)
        numbers: Index = part.astype(np.int32)[component]
        return numbers
