"""Reading: the texts of a check-up prepared for comparison, once for all detectors."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
import numpy.typing as npt

from memorepair.graphs.digraph import read_only
from memorepair.health.blocking import Words
from memorepair.health.hashing import Hasher, Hashes
from memorepair.health.thresholds import ENOUGH
from memorepair.health.wording import UNNAMED, is_cjk, wording

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

LONGEST = 400
"""Tokens of a text that is compared for nearness; longer ones are found by their exact key alone."""

SENTENCE, RECORD = "sentence", "record"

_ROWS = 1 << 15
"""Rows whose words are counted at once."""


def _numbered(word: str, hashed: int) -> int:
    """A hash whose lowest bit tells whether the word is a key by itself, which short words are not."""
    alone = len(word) > 2 or word.isdigit()
    return hashed | 1 if alone else hashed & ~1


class _Numbers(Hasher):
    """Words as `Words` wants them."""

    def hash(self, text: str) -> int:
        return _numbered(text, super().hash(text))


class Known(Protocol):
    """What is known of the texts of a store beside those that are read."""

    @property
    def rows(self) -> int:
        """How many there are."""
        ...

    def holders(self, word: np.uint64) -> int:
        """How many of them hold a word, as `Words` number it."""
        ...

    def support(self, name: str) -> int:
        """How many of them have a field of this name."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class Reading:
    """k texts as they are compared.

    Attributes
    ----------
    texts
        As they stand.
    words
        Their words as numbers; none of a text longer than `LONGEST`.
    exact : (k,) uint64
        Equal for texts that say the same up to width, case, synonyms, function words, within one salt.
    fields : (k,) bool
        Written as the fields of a record.
    record : (k,) bool
        Fields, enough of that schema to judge a value by the others.
    support
        How many of these texts have a field of each name.
    groups
        Kind and schema of a threshold; `group` (k,) int64 is a place in it.
    vocabulary, counts : (v,) uint64, (v,) int64
        Words, ascending, and how many texts hold each.
    said
        The tokens of each text in one string.
    hasher
        What the numbers were made with.
    order : (k,) int64
        Place of each text among the texts in ascending order.
    known
        What is known of texts that are not here; then `counts` are of the new ones alone.
    """

    texts: Sequence[str]
    words: Words
    exact: Hashes
    fields: Mask
    record: Mask
    support: Mapping[str, int]
    groups: tuple[tuple[str, str], ...]
    group: Ints
    vocabulary: Hashes
    counts: Ints
    said: tuple[str, ...]
    hasher: _Numbers
    order: Ints
    known: Known | None = None

    def __post_init__(self) -> None:
        for one in (
            self.exact,
            self.fields,
            self.record,
            self.group,
            self.vocabulary,
            self.counts,
            self.order,
        ):
            read_only(one)

    @property
    def k(self) -> int:
        """Number of texts."""
        return len(self.texts)

    @property
    def population(self) -> int:
        """Number of texts that the words were counted in."""
        return self.k if self.known is None else self.k + self.known.rows

    def tokenised(self) -> Callable[[int], tuple[str, ...]]:
        """Tokens by row."""
        said = self.said
        return lambda row: tuple(said[row].split())

    def frequency(self) -> Callable[[str], int]:
        """How many texts hold a word."""
        vocabulary, counts, hasher, known = self.vocabulary, self.counts, self.hasher, self.known

        @lru_cache(maxsize=1 << 18)
        def count(word: str) -> int:
            number = np.uint64(hasher[word])
            at = int(np.searchsorted(vocabulary, number))
            here = int(counts[at]) if at < len(vocabulary) and vocabulary[at] == number else 0
            return here if known is None else here + known.holders(number)

        return count


def read(
    texts: Sequence[str],
    salts: Hashes,
    key: bytes,
    progress: Callable[[int], None],
    *,
    known: Known | None = None,
    new: Mask | None = None,
) -> Reading:
    """Prepare texts; O(characters), and sorts of the words.

    Parameters
    ----------
    salts : (k,) uint64
        Texts of different salts are never compared.
    key
        Of the hashes.
    known, new
        What is known of the other texts of the store, and which (k,) of these it does not count yet.
    """
    hasher = _Numbers(key)
    number = hasher.__getitem__
    flat, lengths, exact = array("Q"), array("q"), array("Q")
    in_order: list[str] = []
    names: list[tuple[str, ...]] = []
    schemas: dict[tuple[str, ...], tuple[str, ...]] = {}  # each once: a store has few, and many rows
    cjk = np.zeros(len(texts), np.bool_)
    for row, text in enumerate(texts):
        said = wording(text)
        tokens = said.tokens if len(said.tokens) <= LONGEST else ()
        flat.extend(map(number, tokens))
        lengths.append(len(tokens))
        exact.append(hasher.hash("\0" + said.exact))
        in_order.append(" ".join(tokens))
        names.append(schemas.setdefault(said.names, said.names))
        cjk[row] = is_cjk(text)
        if not row % 4096:
            progress(row)
    words = Words(
        offsets=np.concatenate(([0], np.cumsum(np.array(lengths, np.int64)))).astype(np.int64),
        words=np.asarray(flat, np.uint64),
        salt=salts.copy(),
    )
    vocabulary, counts = _vocabulary(words, new)
    support: Counter[str] = Counter()
    for schema, n in Counter(one for row, one in enumerate(names) if new is None or new[row]).items():
        support.update(dict.fromkeys(schema, n))
    record, groups, group = _schemas(names, support, cjk, known)
    order = np.empty(len(texts), np.int64)
    order[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
    return Reading(
        texts=texts,
        words=words,
        exact=np.asarray(exact, np.uint64) + salts,
        fields=np.fromiter(map(bool, names), np.bool_, len(names)),
        support=support,
        record=record,
        groups=groups,
        group=group,
        vocabulary=vocabulary,
        counts=counts,
        said=tuple(in_order),
        hasher=hasher,
        order=order,
        known=known,
    )


def _vocabulary(words: Words, counted: Mask | None) -> tuple[Hashes, Ints]:
    rows = np.arange(words.k) if counted is None else np.flatnonzero(counted)
    parts = [_held(words, rows[start : start + _ROWS]) for start in range(0, len(rows), _ROWS)]
    held = np.concatenate(parts) if parts else np.zeros(0, np.uint64)
    del parts
    held.sort()
    starts = np.flatnonzero(np.r_[np.ones(min(1, len(held)), np.bool_), held[1:] != held[:-1]])
    return held[starts], np.diff(np.r_[starts, len(held)])


def _held(words: Words, rows: Ints) -> Hashes:
    """The words of some rows, each once a row; a few rows at a time, so that memory stays small."""
    lengths = words.offsets[rows + 1] - words.offsets[rows]
    owner = np.repeat(np.arange(len(rows)), lengths)
    before = np.cumsum(lengths) - lengths
    word = words.words[np.arange(len(owner)) - np.repeat(before - words.offsets[rows], lengths)]
    order = np.lexsort((word, owner))
    word, owner = word[order], owner[order]
    again = np.zeros(len(word), np.bool_)
    again[1:] = (word[1:] == word[:-1]) & (owner[1:] == owner[:-1])
    once: Hashes = word[~again]
    return once


def _schemas(
    names: list[tuple[str, ...]], here: Mapping[str, int], cjk: Mask, known: Known | None
) -> tuple[Mask, tuple[tuple[str, str], ...], Ints]:
    """Which rows are judged as records, and the group whose threshold each has.

    A record belongs to the schema of its most common name. Where one of its names is rare there is no null
    distribution for it, and it is judged strictly, as a sentence. Sentences are told apart by their script.
    """
    support = Counter(here)
    if known is not None:
        for name in {name for fields in names for name in fields}:
            support[name] += known.support(name)
    common: dict[tuple[str, ...], tuple[str, str] | None] = {
        fields: (RECORD, max(fields, key=lambda name: (support[name], name)) or UNNAMED)
        if fields and min(support[name] for name in fields) >= ENOUGH
        else None
        for fields in set(names)
    }
    places: dict[tuple[str, str], int] = {}
    record = np.zeros(len(names), np.bool_)
    group = np.empty(len(names), np.int64)
    for row, fields in enumerate(names):
        schema = common[fields]
        record[row] = schema is not None
        schema = schema or (SENTENCE, "cjk" if cjk[row] else "spaced")
        group[row] = places.setdefault(schema, len(places))
    return record, tuple(places), group
