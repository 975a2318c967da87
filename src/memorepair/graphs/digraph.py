"""Digraph: a directed graph as two read-only arrays, arcs grouped by tail (compressed sparse rows)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from memorepair.errors import InvalidInput

Index = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

INDEX_LIMIT = np.iinfo(np.int32).max
"""Nodes and arcs are counted in int32: the kernels' indices must not wrap."""


def read_only(array: npt.NDArray[np.generic]) -> None:
    """Freeze `array` in place: a value that has been checked stays what it was."""
    array.setflags(write=False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Digraph:
    """Nodes 0 .. n - 1 and m arcs, grouped by tail.

    The arcs of node i are ``heads[offsets[i]:offsets[i + 1]]``; an arc's number is its place in `heads`.
    Self loops and parallel arcs are kept: a caller that forbids them checks for them.

    Attributes
    ----------
    offsets : (n + 1,) int32
        Ascending; first 0, last m.
    heads : (m,) int32
        Head of each arc.
    """

    offsets: Index
    heads: Index

    def __post_init__(self) -> None:
        for name, array in (("offsets", self.offsets), ("heads", self.heads)):
            if array.dtype != np.int32 or array.ndim != 1:
                raise InvalidInput(f"{name} must be a one-dimensional int32 array", witness=array.dtype)
        n, m = len(self.offsets) - 1, len(self.heads)
        if n < 0 or self.offsets[0] != 0 or self.offsets[-1] != m or np.any(np.diff(self.offsets) < 0):
            raise InvalidInput("offsets must ascend from 0 to the number of arcs", witness=m)
        if m and (self.heads.min() < 0 or self.heads.max() >= n):
            arc = int(np.flatnonzero((self.heads < 0) | (self.heads >= n))[0])
            raise InvalidInput(f"arc {arc} ends outside the graph", witness=int(self.heads[arc]))
        read_only(self.offsets)
        read_only(self.heads)

    @classmethod
    def from_arcs(cls, n: int, tails: npt.ArrayLike, heads: npt.ArrayLike) -> Digraph:
        """Build from arc lists; arcs with equal tail keep their order.

        Parameters
        ----------
        n
            Number of nodes.
        tails, heads : (m,) integers
            Arc k runs from ``tails[k]`` to ``heads[k]``; `arc_order` gives the place each arc lands in.

        Raises
        ------
        InvalidInput
            A count exceeds int32, the lists differ in length, or an arc leaves 0 .. n - 1 (witness: the arc).

        Notes
        -----
        O(n + m) time and memory.
        """
        tail, head = _integers(tails, "tails"), _integers(heads, "heads")
        if len(tail) != len(head):
            raise InvalidInput(f"{len(tail)} tails but {len(head)} heads", witness=(len(tail), len(head)))
        m = len(tail)
        if not 0 <= n < INDEX_LIMIT or m >= INDEX_LIMIT:
            raise InvalidInput("more nodes or arcs than int32 can number", witness=(n, m))
        ascending = bool(np.all(tail[1:] >= tail[:-1]))
        ends = (tail[0], tail[-1]) if m and ascending else (tail.min(initial=0), tail.max(initial=0))
        if m and (min(ends[0], head.min()) < 0 or max(ends[1], head.max()) >= n):
            arc = int(np.flatnonzero((tail < 0) | (tail >= n) | (head < 0) | (head >= n))[0])
            witness = (int(tail[arc]), int(head[arc]))
            raise InvalidInput(f"arc {arc} = {witness} leaves the nodes 0 .. {n - 1}", witness=witness)
        by: Index = tail.astype(np.int32, copy=False)
        to: Index = head.astype(np.int32, copy=False)
        if ascending:
            offsets = np.zeros(n + 1, np.int32)
            np.cumsum(np.bincount(by, minlength=n), out=offsets[1:])
            return cls(offsets=offsets, heads=to.copy())
        # One entry a row, as in `arc_order`, the heads for values: the transposed matrix is the digraph.
        rows = np.arange(m + 1, dtype=np.int32)
        by_tail = csr_array((to, by, rows), shape=(m, n)).tocsc()
        return cls(offsets=by_tail.indptr, heads=by_tail.data)

    @property
    def n(self) -> int:
        """Number of nodes."""
        return len(self.offsets) - 1

    @property
    def m(self) -> int:
        """Number of arcs."""
        return len(self.heads)

    def tails(self) -> Index:
        """Tail of each arc, (m,) int32."""
        return np.repeat(np.arange(self.n, dtype=np.int32), np.diff(self.offsets))

    def successors(self, node: int) -> Index:
        """Heads of the arcs out of `node`."""
        return self.heads[self.offsets[node] : self.offsets[node + 1]]

    def reverse(self) -> Digraph:
        """The same arcs turned round; O(n + m)."""
        return Digraph.from_arcs(self.n, self.heads, self.tails())

    def induced(self, mask: Mask) -> Digraph:
        """The subgraph on the nodes where `mask` (n,) is true, renumbered in order; O(n + m)."""
        if mask.shape != (self.n,) or mask.dtype != np.bool_:
            raise InvalidInput(f"mask must be boolean of shape ({self.n},)", witness=mask.shape)
        number = np.cumsum(mask, dtype=np.int64) - 1
        tails = self.tails()
        kept = mask[tails] & mask[self.heads]
        return Digraph.from_arcs(int(mask.sum()), number[tails[kept]], number[self.heads[kept]])


def arc_order(tails: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Where each place of the sorted arc list comes from: ``sorted[k] = given[arc_order[k]]``, (m,) int64.

    Arc attributes given beside `tails` follow the arcs through it.
    """
    if len(tails) == 0:
        return np.zeros(0, np.int64)
    # Transposing the sparse matrix with one entry a row, at (k, tails[k]), is a stable counting sort in
    # O(n + m), several times as fast as a sort by comparison.
    rows = np.arange(len(tails) + 1, dtype=np.int32)
    entries = csr_array((np.ones(len(tails), np.int8), tails, rows), shape=(len(tails), int(tails.max()) + 1))
    return entries.tocsc().indices.astype(np.int64)


def _integers(values: npt.ArrayLike, name: str) -> npt.NDArray[np.integer]:
    array = np.asarray(values)
    if array.size == 0:
        return np.zeros(0, np.int32)
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise InvalidInput(f"{name} must be a one-dimensional integer array", witness=array.dtype)
    return array
