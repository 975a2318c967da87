"""Arcs as sorted arrays: the parents and ancestors of many items at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memorepair.graphs.digraph import read_only
from memorepair.repair.audit.ragged import Ints, Mask, among, distinct, expand, offsets_of

_HOPS = 512
_MOST_ANCESTORS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parents:
    """Who is recorded as whose parent, among n items.

    Attributes
    ----------
    offsets : (n + 1,) int64
    heads : (m,) int64
        The parents of item v are ``heads[offsets[v]:offsets[v + 1]]``, ascending, each once.
    """

    offsets: Ints
    heads: Ints

    def __post_init__(self) -> None:
        read_only(self.offsets)
        read_only(self.heads)

    @classmethod
    def of(cls, n: int, parents: Ints, children: Ints) -> Parents:
        """From arcs in any order."""
        keys = distinct(children * max(1, n) + parents)
        return cls(offsets=offsets_of(keys // max(1, n), n), heads=keys % max(1, n))

    @property
    def n(self) -> int:
        """Number of items."""
        return len(self.offsets) - 1

    def tails(self) -> Ints:
        """(m,) the child of each arc."""
        return np.repeat(np.arange(self.n), np.diff(self.offsets))

    def count(self, items: Ints) -> Ints:
        """How many parents each item has."""
        return self.offsets[items + 1] - self.offsets[items]

    def keys(self) -> Ints:
        """child * n + parent, ascending."""
        return self.tails() * self.n + self.heads

    def kept(self, mask: Mask) -> Parents:
        """Only the arcs of the mask."""
        return Parents(offsets=offsets_of(self.tails()[mask], self.n), heads=self.heads[mask])

    def of_items(self, items: Ints) -> tuple[Ints, Ints]:
        """(row of `items`, parent) of every arc into them."""
        row, place = expand(self.offsets[items], self.count(items))
        return row, self.heads[place]

    def ancestors(self, items: Ints) -> Ints:
        """Ascending keys row * n + ancestor; parents are ancestors.

        Notes
        -----
        A breadth-first search from all items together, one sort a hop. Of an item with more ancestors than
        `_MOST_ANCESTORS`, or further than `_HOPS` away, the far ones are left out: then an arc that is
        redundant may be proposed, and no arc is missed.
        """
        n = self.n
        row, above = self.of_items(items)
        frontier = distinct(row * n + above)
        seen = frontier
        for _ in range(_HOPS):
            row, above = frontier // n, frontier % n
            full = np.bincount(seen // n, minlength=len(items)) >= _MOST_ANCESTORS
            going = ~full[row]
            again, further = self.of_items(above[going])
            reached = distinct(row[going][again] * n + further)
            frontier = reached[~among(reached, seen)]
            if not len(frontier):
                break
            seen = distinct(np.concatenate([seen, frontier]))
        return seen
