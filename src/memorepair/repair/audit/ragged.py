"""Ragged arrays: rows of different lengths without a loop over the rows."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Mask: TypeAlias = npt.NDArray[np.bool_]


def expand(starts: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """The slices ``starts[i] : starts[i] + counts[i]`` one behind the other.

    Returns
    -------
    row, position : (sum of counts,) int64
        Of each element, which slice it comes from, and where it is.
    """
    row = np.repeat(np.arange(len(counts)), counts)
    before = np.cumsum(counts) - counts
    return row, np.arange(len(row)) - np.repeat(before - starts, counts)


def among(keys: Ints, ascending: Ints) -> Mask:
    """Which keys occur in an ascending array; O(keys log array)."""
    if not len(ascending):
        return np.zeros(len(keys), np.bool_)
    place = np.minimum(np.searchsorted(ascending, keys), len(ascending) - 1)
    return np.asarray(ascending[place] == keys, np.bool_)


def starts_of(groups: Ints) -> Ints:
    """Where each run of equal neighbours begins."""
    return np.flatnonzero(np.r_[np.ones(min(1, len(groups)), np.bool_), groups[1:] != groups[:-1]])


def offsets_of(rows: Ints, n: int) -> Ints:
    """(n + 1,) offsets of ascending row numbers below n."""
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=n), out=offsets[1:])
    return offsets


def distinct(keys: Ints) -> Ints:
    """Ascending, each once; by a sort, which on integers is several times as fast as a table of hashes."""
    ascending = np.sort(keys)
    return ascending[starts_of(ascending)]


def numbered(keys: Ints) -> tuple[Ints, Ints]:
    """The distinct keys, ascending, and for each key its place among them."""
    order = np.argsort(keys)
    ascending = keys[order]
    first = starts_of(ascending)
    place = np.empty(len(keys), np.int64)
    place[order] = np.repeat(np.arange(len(first)), np.diff(np.r_[first, len(keys)]))
    return ascending[first], place
