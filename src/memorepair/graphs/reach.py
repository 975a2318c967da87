"""Reachability, forward from roots or backward to targets."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from memorepair.errors import InvalidInput
from memorepair.graphs.digraph import INDEX_LIMIT, Digraph, Mask


def node_mask(digraph: Digraph, nodes: npt.ArrayLike) -> Mask:
    """The node set `nodes`, given as a mask or as indices, as a mask.

    Parameters
    ----------
    digraph
        The graph the nodes belong to.
    nodes : (n,) bool, or (k,) integers
        A boolean array is a mask; anything else is a list of node numbers, repetitions allowed.

    Returns
    -------
    (n,) bool
        A fresh array, the caller may write to it.

    Raises
    ------
    InvalidInput
        A mask of another length, an array that is neither boolean nor integer, a node outside 0 .. n - 1.
    """
    given = np.asarray(nodes)
    if given.dtype == np.bool_:
        if given.shape != (digraph.n,):
            raise InvalidInput(f"mask must have shape ({digraph.n},)", witness=given.shape)
        return given.copy()
    mask = np.zeros(digraph.n, np.bool_)
    if given.size == 0:
        return mask
    if given.ndim != 1 or not np.issubdtype(given.dtype, np.integer):
        raise InvalidInput("nodes must be a mask or a list of node numbers", witness=str(given.dtype))
    outside = (given < 0) | (given >= digraph.n)
    if outside.any():
        node = int(given[outside][0])
        raise InvalidInput(f"node {node} is outside 0 .. {digraph.n - 1}", witness=node)
    mask[given] = True
    return mask


def reach(digraph: Digraph, roots: npt.ArrayLike) -> Mask:
    """Nodes that a path leads to from `roots`, the roots themselves included.

    Parameters
    ----------
    digraph
        n nodes, m arcs; cycles, loops, parallel arcs allowed.
    roots : (n,) bool, or (k,) integers
        Where the paths begin.

    Returns
    -------
    (n,) bool
        On the influence graph of a memory this is the cascade C(F) of the roots F.

    Raises
    ------
    InvalidInput
        Roots outside the graph; or more than 2^31 - 1 arcs with the roots counted in.

    Notes
    -----
    O(n + m) time and memory whatever the depth or the width.
    """
    mask = node_mask(digraph, roots)
    starts = np.flatnonzero(mask)
    if len(starts) == 0:
        return mask
    n, arcs = digraph.n, digraph.m + len(starts)
    if arcs >= INDEX_LIMIT:
        raise InvalidInput("more arcs than int32 can number", witness=arcs)
    # One extra node n with an arc to each root makes many searches one. A queue in numpy, one frontier at a
    # time, would cost a call per level: a chain of a million nodes has a million levels.
    graph = csr_array(
        (
            np.broadcast_to(np.float64(1), arcs),  # one number; a search reads no more than the places
            np.concatenate((digraph.heads, starts.astype(np.int32))),
            np.concatenate((digraph.offsets, np.array([arcs], np.int32))),
        ),
        shape=(n + 1, n + 1),
    )
    found = np.zeros(n + 1, np.bool_)
    found[breadth_first_order(graph, n, directed=True, return_predecessors=False)] = True
    return found[:n]


def slice_to(digraph: Digraph, targets: npt.ArrayLike) -> Mask:
    """Nodes from which a path leads to `targets`, the targets themselves included.

    Parameters
    ----------
    digraph
        n nodes, m arcs.
    targets : (n,) bool, or (k,) integers
        Where the paths end.

    Returns
    -------
    (n,) bool
        The backward slice: everything the targets may depend on.

    Raises
    ------
    InvalidInput
        As `reach`.

    Notes
    -----
    O(n + m) time and memory.
    """
    return reach(digraph.reverse(), targets)
