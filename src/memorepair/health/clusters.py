"""Clusters: groups of rows in which every two say the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable

MOST = 32
"""Members of a cluster at most: it bounds the pairs that a merge has to test."""


class Clusters:
    """Complete link over k rows: two clusters merge only if every cross pair passes.

    So a chain a ~ b ~ c never brings a and c together.
    """

    def __init__(self) -> None:
        self._of: dict[int, list[int]] = {}

    def of(self, row: int) -> list[int]:
        """Members of a row's cluster, itself included."""
        return self._of.get(row) or [row]

    def merge(self, one: int, other: int, test: Callable[[int, int], bool]) -> bool:
        """Bring two clusters together if every cross pair passes and the whole is not too large."""
        mine, yours = self.of(one), self.of(other)
        if mine is yours or one == other or len(mine) + len(yours) > MOST:
            return False
        if not all(test(min(x, y), max(x, y)) for x in mine for y in yours):
            return False
        whole = mine + yours
        for row in whole:
            self._of[row] = whole
        return True

    def all(self) -> Iterable[list[int]]:
        """Clusters of two and more, each once, members ascending, in the order of their first."""
        return sorted(sorted(rows) for row, rows in self._of.items() if rows[0] == row and len(rows) > 1)
