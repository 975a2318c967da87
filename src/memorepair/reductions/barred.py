"""Barred: drops what cannot be executed with all that requires it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from memorepair.graphs.digraph import Digraph, Index, Mask
from memorepair.problems import Closure, SelectionInstance
from memorepair.reductions.part import Part


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Witnesses:
    """Why each barred node is barred.

    Attributes
    ----------
    step : (k,) int32
        Next node on a shortest path to a non-executable one; the node itself if it is one; -1 where not
        barred.
    nearest : (k,) int32
        Where that path ends.
    """

    step: Index
    nearest: Index

    def path(self, node: int) -> list[int]:
        """The path from a barred `node`, both ends included."""
        path = [node]
        while self.step[path[-1]] != path[-1]:
            path.append(int(self.step[path[-1]]))
        return path


def witnesses(requires: Digraph, executable: Mask) -> Witnesses:
    """Nearest non-executable prerequisite of every node, O(m + k log k)."""
    k = requires.n
    step = np.full(k, -1, np.int32)
    bars = np.flatnonzero(~executable)
    if len(bars) == 0:
        return Witnesses(step=step, nearest=step)
    dependents = requires.reverse()
    # One extra node k with an arc to every non-executable one: a single breadth-first search finds, for each
    # node, a predecessor that is one arc nearer to its nearest source.
    ends = np.array([requires.m + len(bars)], np.int32)
    graph = csr_array(
        (
            np.ones(requires.m + len(bars)),
            np.concatenate((dependents.heads, bars.astype(np.int32))),
            np.concatenate((dependents.offsets, ends)),
        ),
        shape=(k + 1, k + 1),
    )
    _, previous = breadth_first_order(graph, k, directed=True, return_predecessors=True)
    step = np.where(previous[:k] == k, np.arange(k), np.maximum(previous[:k], -1)).astype(np.int32)
    nearest = step.copy()
    barred = np.flatnonzero(step >= 0)
    # Doubling: after round t, nearest[i] is the end of the path or 2^t steps along it.
    while True:
        further = nearest[nearest[barred]]
        if np.array_equal(further, nearest[barred]):
            return Witnesses(step=step, nearest=nearest)
        nearest[barred] = further


class Barred:
    """Keeps the nodes that lead to no non-executable one."""

    def apply(self, instance: SelectionInstance, /) -> tuple[SelectionInstance, Part]:
        """The instance on what is left, numbered anew; nothing is barred in it."""
        return self.drop(instance, witnesses(instance.requires, instance.executable))

    def drop(self, instance: SelectionInstance, found: Witnesses) -> tuple[SelectionInstance, Part]:
        """`apply`, with the witnesses already found."""
        kept = found.step < 0
        requires, part = Part.induced(instance.requires, kept)
        if kept.all():
            return instance, part
        reduced = SelectionInstance(
            value=instance.value[kept],
            cost=instance.cost[kept],
            requires=requires,
            executable=instance.executable[kept],
            required=instance.required[kept],
            tradeoff=instance.tradeoff,
            budget=instance.budget,
        )
        return reduced, part

    def invert(self, solution: Closure, part: Part, /) -> Closure:
        """Nothing barred is in; pi = 0 on its arcs."""
        return part.widened(solution, rest=False)
