"""Inputs of the open descendants: what each stands on that is available, missing, or under repair itself."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memorepair.graphs.digraph import Digraph, read_only
from memorepair.memory.artifact import Key
from memorepair.repair.cascade import Cascade
from memorepair.repair.events import Migration, RepairEvent


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Inputs:
    """What the k open descendants of a cascade stand on; positions are those of `Cascade.open`.

    Attributes
    ----------
    affected : Digraph on k nodes
        i -> j: i read j, which is withdrawn by the same event. Without loops or parallel arcs.
    available : (k,) int32
        How many parents are in Ret(e), X_Delta or superseded by an interface of kappa_e.
    missing : k tuples of keys
        The parents that are out of service and not under repair: deleted roots, what is archived or erased,
        what another case withdrew.
    reads_own : (k,) bool
        An earlier version of the artifact itself is among its parents.
    follows : (k,) bool
        A root that the event migrates is among its parents.
    size : (k,) float64
        Characters of the available parents.
    """

    affected: Digraph
    available: npt.NDArray[np.int32]
    missing: tuple[tuple[Key, ...], ...]
    reads_own: npt.NDArray[np.bool_]
    follows: npt.NDArray[np.bool_]
    size: npt.NDArray[np.float64]

    def __post_init__(self) -> None:
        for array in (self.available, self.reads_own, self.follows, self.size):
            read_only(array)


def inputs_of(cascade: Cascade, event: RepairEvent, superseded: Collection[Key] = ()) -> Inputs:
    """Sort the parents of every open descendant; O(members + arcs).

    Parameters
    ----------
    superseded
        Roots in whose place an artifact of another key is served.
    """
    position = {member.key: place for place, member in enumerate(cascade.open)}
    k = len(position)
    available, size = np.zeros(k, np.int32), np.zeros(k, np.float64)
    reads_own, follows = np.zeros(k, np.bool_), np.zeros(k, np.bool_)
    missing: list[list[Key]] = [[] for _ in range(k)]
    children: list[int] = []
    parents: list[int] = []
    migrated = event.delta.interfaces.keys() if isinstance(event.delta, Migration) else ()
    for arc in cascade.support:
        child = position.get(arc.child)
        if child is None:
            continue
        if arc.parent in migrated:
            follows[child] = True
        if arc.parent == arc.child:
            reads_own[child] = True
        elif arc.parent in position:
            children.append(child)
            parents.append(position[arc.parent])
        elif cascade.retained(arc) or arc.parent in superseded:
            available[child] += 1
            size[child] += arc.parent_size
        else:
            missing[child].append(arc.parent)
    return Inputs(
        affected=Digraph.from_arcs(k, children, parents),
        available=available,
        missing=tuple(tuple(keys) for keys in missing),
        reads_own=reads_own,
        follows=follows,
        size=size,
    )
