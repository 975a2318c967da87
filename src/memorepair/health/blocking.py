"""Blocking: which rows are worth comparing, with a bound on the partners of every row whatever the data.

A row has keys: its words, its pairs of neighbouring words, and its pairs with a gap of one. It stands under
the `KEYS` rarest of its keys that occur twice at least. Rows under one key are compared, up to `CAP` of them;
more are brought into the order of their texts, each compared with the `WINDOW` that follow. A pair needs two
votes: two keys, or one that at most `FEW` rows have, or one of a row that has few keys. So no row has more
than KEYS x CAP partners, and the work is linear in the rows: one sort of the keys as numbers, and runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memorepair.graphs.digraph import read_only
from memorepair.health.hashing import Hashes, mixed

Ints = npt.NDArray[np.int64]
Packed = npt.NDArray[np.uint64]
"""A key in the upper 32 bits, a row in the lower."""

KEYS, CAP, WINDOW, FEW = 16, 12, 4, 3

Test = Callable[[int, int], bool]
"""Whether a pair of rows passes."""

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_ROWS = 1 << 15
"""Rows whose keys are made at once."""

_PART = 1 << 17
"""Rows whose keys are ranked at once."""

_ENTRIES = 1 << 21
"""Entries looked through at once."""

_FLUSH = 1 << 23
"""Votes gathered before those beyond a second are dropped."""

_PAIR = (np.uint64(0xD6E8FEB86659FD93), np.uint64(0xA0761D6478BD642F))
_GAP = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F))
_EXACT_COUNTS = 128


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Words:
    """The words of k rows as numbers.

    Attributes
    ----------
    offsets : (k + 1,) int64
        The words of row i are ``words[offsets[i]:offsets[i + 1]]``, in their order.
    words : (m,) uint64
        Hashes; the lowest bit tells whether the word is a key by itself.
    salt : (k,) uint64
        Rows of different salts share no key: those of different scopes, or kinds.
    """

    offsets: Ints
    words: Hashes
    salt: Hashes

    def __post_init__(self) -> None:
        for one in (self.offsets, self.words, self.salt):
            read_only(one)

    @property
    def k(self) -> int:
        """Number of rows."""
        return len(self.salt)


def entries(words: Words, among: npt.NDArray[np.bool_] | None = None) -> Packed:
    """(key, row) of all keys of all rows, or of those `among` them, ascending, each once."""
    # A row of w words has fewer than 3 w keys. What is not used of the array is never touched.
    room = np.empty(3 * len(words.words), np.uint64)
    used = 0
    for start in range(0, words.k, _ROWS):
        part = _entries(words, start, min(start + _ROWS, words.k))
        if among is not None:
            part = part[among[(part & _LOW).astype(np.int64)]]
        room[used : used + len(part)] = part
        used += len(part)
    found = room[:used]
    found.sort()
    return found


def _entries(words: Words, start: int, end: int) -> Packed:
    lo, hi = int(words.offsets[start]), int(words.offsets[end])
    word = words.words[lo:hi]
    owner = np.repeat(np.arange(start, end), np.diff(words.offsets[start : end + 1]))
    alone = (word & np.uint64(1)).astype(np.bool_)
    keys, rows = [word[alone]], [owner[alone]]
    for step, (first, second) in ((1, _PAIR), (2, _GAP)):
        near = owner[step:] == owner[:-step]
        keys.append((word[:-step] * first + word[step:] * second)[near])
        rows.append(owner[step:][near])
    row = np.concatenate(rows)
    packed = (mixed(np.concatenate(keys) + words.salt[row]) & ~_LOW) | row.astype(np.uint64)
    packed.sort()
    return packed[_first(packed)]


def _first(ascending: Packed) -> npt.NDArray[np.bool_]:
    first = np.ones(len(ascending), np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=first[1:])
    return first


def _lengths(ascending: Packed) -> npt.NDArray[np.uint32]:
    """Of each run of equal keys its length; a part at a time, so that memory stays small."""
    first = np.ones(len(ascending), np.bool_)
    for start in range(1, len(ascending), _ENTRIES):
        key = ascending[start - 1 : start + _ENTRIES] >> _HALF
        np.not_equal(key[1:], key[:-1], out=first[start : start + _ENTRIES])
    starts = np.flatnonzero(first)
    lengths = np.empty(len(starts), np.uint32)
    if len(starts):
        np.subtract(starts[1:], starts[:-1], out=lengths[:-1], casting="unsafe")
        lengths[-1] = len(ascending) - starts[-1]
    return lengths


def parts(ascending: Packed) -> Iterator[tuple[int, int]]:
    """Where parts of the entries begin and end; no run of equal keys is in two of them."""
    start = 0
    while start < len(ascending):
        last = min(start + _ENTRIES, len(ascending)) - 1
        end = last + int(np.searchsorted(ascending[last:], ascending[last] | _LOW, side="right"))
        yield start, end
        start = end


def rarity(count: Ints) -> npt.NDArray[np.uint8]:
    """A count in eight bits, ascending with it: exact while small, by its logarithm from then on."""
    steep = _EXACT_COUNTS + 5 * np.log2(np.maximum(count, 1) / _EXACT_COUNTS)
    return np.where(count <= _EXACT_COUNTS, count, np.minimum(255, steep)).astype(np.uint8)


def _shared(found: Packed) -> tuple[Packed, npt.NDArray[np.uint8]]:
    """Entries whose key occurs twice at least, in the place of all, and the rarity of each."""
    used = 0
    rare: list[npt.NDArray[np.uint8]] = [np.zeros(0, np.uint8)]
    for start, end in parts(found):
        part = found[start:end]
        lengths = _lengths(part).astype(np.int64)
        twice = lengths > 1
        kept = part[np.repeat(twice, lengths)]
        found[used : used + len(kept)] = kept
        used += len(kept)
        rare.append(np.repeat(rarity(lengths[twice]), lengths[twice]))
    return found[:used], np.concatenate(rare)


def rarest(found: Packed, keys: int = KEYS) -> Packed:
    """Of each row its rarest keys that occur twice at least; ascending by key, then row.

    `found`, as `entries` gives it, is overwritten: a copy would be the largest array of a check-up.
    """
    kept, rare = _shared(found)
    if not len(kept):
        return kept
    # The number of a row within its part, its rarity and its key fit one word.
    chosen = []
    row = np.empty(len(kept), np.uint32)
    np.bitwise_and(kept, _LOW, out=row, casting="unsafe")
    for start in range(0, int(row.max()) + 1, _PART):
        part = (row >= start) & (row < start + _PART)
        packed = (row[part] - np.uint32(start)).astype(np.uint64) << np.uint64(40)
        packed |= rare[part].astype(np.uint64) << _HALF
        packed |= kept[part] >> _HALF
        packed.sort()
        local = packed >> np.uint64(40)
        begins = np.flatnonzero(_first(local))
        rank = np.arange(len(packed)) - np.repeat(begins, np.diff(np.r_[begins, len(packed)]))
        best = packed[rank < keys]
        chosen.append((best & _LOW) << _HALF | ((best >> np.uint64(40)) + np.uint64(start)))
    out = np.concatenate(chosen)
    out.sort()
    return out


def pairs(
    chosen: Packed, order: Ints, keep: Callable[[Ints, Ints], npt.NDArray[np.bool_]] | None = None
) -> tuple[Ints, Ints]:
    """Pairs of rows with two votes: (p,) smaller and (p,) greater row, ascending, each pair once.

    Parameters
    ----------
    chosen
        As `rarest` gives them.
    order : (k,) int64
        Place of each row in the order of the texts.
    keep
        Which pairs are of any interest, for instance those with a fresh row.
    """
    row = (chosen & _LOW).astype(np.uint32)
    poor = np.bincount(row, minlength=len(order)) <= KEYS // 2
    ranked = chosen & ~_LOW
    ranked |= order.astype(np.uint32)[row]
    del row
    by_rank = np.argsort(order).astype(np.uint32)
    ranked.sort()
    member = by_rank[(ranked & _LOW).astype(np.uint32)]
    lengths = _lengths(ranked)
    del ranked
    run = np.repeat(np.arange(len(lengths), dtype=np.uint32), lengths)
    reach = np.repeat(np.where(lengths <= CAP, CAP - 1, WINDOW).astype(np.uint8), lengths)
    votes: list[Packed] = []
    waiting = 0
    for step in range(1, CAP):
        here = np.flatnonzero((run[step:] == run[:-step]) & (reach[:-step] >= step))
        if not len(here):
            break
        one, other = member[here], member[here + step]
        strong = (lengths[run[here]] <= FEW) | poor[one] | poor[other]
        small, great = np.minimum(one, other), np.maximum(one, other)
        if keep is not None:
            wanted = keep(small, great)
            small, great, strong = small[wanted], great[wanted], strong[wanted]
        pair = small.astype(np.uint64) << _HALF | great.astype(np.uint64)
        votes += [pair, pair[strong]]
        waiting += len(pair)
        if waiting > _FLUSH:
            votes, waiting = [_counted(votes)], 0
    counted = _counted(votes)
    found = counted[1:][counted[1:] == counted[:-1]]
    del counted
    return (found >> _HALF).astype(np.int64), (found & _LOW).astype(np.int64)


def _counted(votes: list[Packed]) -> Packed:
    """Votes in ascending order, of each pair two at most."""
    if not votes:
        return np.zeros(0, np.uint64)
    cast = np.concatenate(votes)
    cast.sort()
    third = np.zeros(len(cast), np.bool_)
    third[2:] = cast[2:] == cast[:-2]
    return cast[~third]
