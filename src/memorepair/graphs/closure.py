"""Closures: node sets that hold the head of every arc whose tail they hold.

With an arc i -> j read "i requires j", a closure is a set that lacks none of its prerequisites.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from memorepair.graphs.digraph import Digraph, Mask
from memorepair.graphs.reach import node_mask, reach, slice_to


def least_closed_superset(digraph: Digraph, nodes: npt.ArrayLike) -> Mask:
    """The smallest closure that contains `nodes`, (n,) bool; O(n + m).

    Raises
    ------
    InvalidInput
        `nodes` is neither a mask nor a list of node numbers (see `node_mask`).
    """
    # What a path leads to must be in any closure that holds the path's start, and all of it is a closure.
    return reach(digraph, nodes)


def greatest_closed_subset(digraph: Digraph, nodes: npt.ArrayLike) -> Mask:
    """The largest closure inside `nodes`, (n,) bool; O(n + m).

    Raises
    ------
    InvalidInput
        `nodes` is neither a mask nor a list of node numbers (see `node_mask`).
    """
    # A node from which a path leaves the set is in no closure inside it; the others form a closure.
    return ~slice_to(digraph, ~node_mask(digraph, nodes))


def is_closed(digraph: Digraph, nodes: npt.ArrayLike) -> bool:
    """Whether `nodes` is a closure; O(n + m)."""
    return violated_arc(digraph, nodes) is None


def violated_arc(digraph: Digraph, nodes: npt.ArrayLike) -> tuple[int, int] | None:
    """The first arc that leaves `nodes`, as (tail, head): the witness that it is no closure; None if it is.

    Raises
    ------
    InvalidInput
        `nodes` is neither a mask nor a list of node numbers (see `node_mask`).
    """
    mask = node_mask(digraph, nodes)
    tails = digraph.tails()
    leaving = np.flatnonzero(mask[tails] & ~mask[digraph.heads])
    if len(leaving) == 0:
        return None
    arc = leaving[0]
    return int(tails[arc]), int(digraph.heads[arc])
