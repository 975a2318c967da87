"""Vectors: texts as points, so that what is near in meaning or spelling is found without its exact words.

A vector belongs to a version as its content does: written with it, never changed, removed with it. Which
versions may be ranked is decided by the door that reads them (`doors.near`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from memorepair.errors import InvalidInput
from memorepair.memory.normalform import normal_form
from memorepair.memory.values import check_type, check_word, named

Vectors = NDArray[np.float32]
_Words = NDArray[np.uint64]

STORED = np.dtype("<f4")
"""How a vector lies in the file, on any machine."""


class Space(NamedTuple):
    """Where vectors live; those of different spaces are never compared, whatever their dimension."""

    model: str
    revision: str
    dimension: int
    normalised: bool


class Embedder(Protocol):
    """Turns texts into vectors of one space; the same text must always give the same vector.

    `revision` changes whenever any vector would. Called before a write begins, outside of any transaction;
    what it raises reaches the caller, and nothing is written. One that has to ask elsewhere for its dimension
    says so by an attribute ``known`` that is False until it has: then it is asked where a vector is wanted.
    """

    @property
    def model(self) -> str:
        """Name of the model."""
        ...

    @property
    def revision(self) -> str:
        """Which state of the model."""
        ...

    @property
    def dimension(self) -> int:
        """Numbers a vector has."""
        ...

    @property
    def normalised(self) -> bool:
        """Whether every vector has length 1."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of the texts, (n, dimension) float32, finite; zeros for a text that says nothing."""
        ...


def space_of(embedder: Embedder) -> Space:
    """The space an embedder says it fills.

    Raises
    ------
    InvalidInput
        A name that is no text, a dimension that is no positive whole number.
    """
    for name in ("model", "revision", "normalised", "dimension", "embed"):
        if not hasattr(embedder, name):
            raise InvalidInput(f"an embedder has a {name}: {named(embedder)} has none", witness=name)
    check_word(embedder.model, "the model of an embedder")
    check_word(embedder.revision, "the revision of an embedder")
    check_type(embedder.normalised, bool, "normalised is True or False")
    dimension = embedder.dimension
    if not isinstance(dimension, int) or isinstance(dimension, bool) or not 0 < dimension < 2**20:
        raise InvalidInput("the dimension of an embedder is a whole number from 1", witness=dimension)
    return Space(embedder.model, embedder.revision, dimension, embedder.normalised)


def embedded(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """What an embedder makes of texts, checked.

    Raises
    ------
    InvalidInput
        It has another shape than promised, or is not finite.
    """
    made = np.asarray(embedder.embed(texts))
    shape = (len(texts), embedder.dimension)
    if made.shape != shape or not np.issubdtype(made.dtype, np.floating):
        raise InvalidInput(
            f"embedder {embedder.model} gave {made.dtype} of shape {made.shape}, not float32 of {shape}",
            witness=embedder.model,
        )
    vectors = made.astype(np.float32, copy=False)
    if not np.isfinite(vectors).all():
        raise InvalidInput(
            f"embedder {embedder.model} gave a number that is not finite", witness=embedder.model
        )
    return vectors


def nearness(rows: Iterable[bytes], query: Vectors) -> NDArray[np.float64]:
    """Cosines of stored vectors with a query, (n,); 0 where either has no length."""
    matrix = np.frombuffer(b"".join(rows), STORED).reshape(-1, len(query)).astype(np.float64)
    wanted = query.astype(np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", matrix, matrix) * (wanted @ wanted))
    dots = np.einsum("ij,j->i", matrix, wanted)
    cosines: NDArray[np.float64] = np.divide(dots, lengths, out=np.zeros(len(matrix)), where=lengths > 0)
    return cosines


# the built-in embedder ---------------------------------------------------------------------------------

_RUN = re.compile(r"[^\W_]+")
_SPACE = np.uint64(ord(" "))
_MOST = 1 << 18
"""Characters hashed at once, unless one text has more: what bounds the memory of a large write."""

# Han, kana: written without spaces, so a character is a word. (first, last)
_UNSPACED = ((0x3040, 0x30FF), (0x3400, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))

# Odd multipliers of 64 bits; a feature is told from another kind's by which of them it is made with.
_GRAM = tuple(np.uint64(one) for one in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9))
_PAIR = tuple(np.uint64(one) for one in (0xD6E8FEB86659FD93, 0xA0761D6478BD642F))
_WORD = np.uint64(0xE7037ED1A0B428DB)


@dataclass(frozen=True, slots=True, kw_only=True)
class HashedNgrams:
    """Signed hashed counts of words and character 3-grams: no model, no network, the same vector anywhere.

    A text is folded (NFKC, case); a word is a run of letters and digits, in Chinese and Japanese a character
    and a pair of them. Finds what shares words, parts of words and spellings; it knows no synonyms.

    Notes
    -----
    Feature hashing with signs (Weinberger et al., 2009): each feature adds 1 or -1 at one of `dimension`
    places, both from a 64-bit hash of its code points (splitmix64 as the mixer), so that collisions cancel on
    average. Sums are small integers, exact in any order; one square root and one division follow, which IEEE
    754 rounds one way only. O(characters).
    """

    dimension: int = 384

    def __post_init__(self) -> None:
        space_of(self)

    @property
    def model(self) -> str:
        """``hashed-ngrams``."""
        return "hashed-ngrams"

    @property
    def revision(self) -> str:
        """Counts up whenever any vector changes."""
        return "1"

    @property
    def normalised(self) -> bool:
        """True; a text without any letter or digit has the vector of zeros."""
        return True

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of the texts, (n, dimension) float32."""
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for start, pieces in _batches(texts):
            owners = np.array([owner for owner, _ in pieces], np.int64) - start
            counts = self._counts([piece for _, piece in pieces], owners)
            lengths = np.sqrt(np.einsum("ij,ij->i", counts, counts))
            np.divide(counts, lengths[:, None], out=counts, where=lengths[:, None] > 0)
            vectors[start : start + len(counts)] = counts
        return vectors

    def _counts(self, pieces: list[str], owners: NDArray[np.int64]) -> NDArray[np.float64]:
        rows = int(owners[-1]) + 1
        # Every piece begins and ends with a space: two in a row stand between pieces, or in an empty one.
        codes = np.frombuffer("".join(pieces).encode("utf-32-le"), np.dtype("<u4")).astype(np.uint64)
        owner = np.repeat(owners, [len(piece) for piece in pieces])
        places: list[NDArray[np.int64]] = []
        signs: list[NDArray[np.float64]] = []
        for first, hashed in _features(codes):
            places.append(
                owner[first] * self.dimension + (hashed % np.uint64(self.dimension)).astype(np.int64)
            )
            signs.append(np.where(hashed >> np.uint64(63), 1.0, -1.0))
        total = np.bincount(np.concatenate(places), np.concatenate(signs), rows * self.dimension)
        return total.astype(np.float64, copy=False).reshape(rows, self.dimension)


def _folded(text: str) -> str:
    return f" {' '.join(_RUN.findall(normal_form('NFKC', text).casefold()))} "


def _batches(texts: Sequence[str]) -> Iterator[tuple[int, list[tuple[int, str]]]]:
    """The number of the first text, and the folded texts with their numbers."""
    batch: list[tuple[int, str]] = []
    room = _MOST
    for number, text in enumerate(texts):
        folded = _folded(text)
        if batch and len(folded) > room:
            yield batch[0][0], batch
            batch, room = [], _MOST
        batch.append((number, folded))
        room -= len(folded)
    if batch:
        yield batch[0][0], batch


def _features(codes: _Words) -> Iterator[tuple[NDArray[np.int64], _Words]]:
    """Of each kind of feature: where each one begins, and its hash."""
    space = codes == _SPACE
    unspaced = np.zeros(len(codes), np.bool_)
    for low, high in _UNSPACED:
        unspaced |= (codes >= np.uint64(low)) & (codes <= np.uint64(high))
    begins = ~space & (unspaced | np.concatenate(([True], (space | unspaced)[:-1])))
    first = np.flatnonzero(begins)
    if first.size:
        here = np.arange(len(codes))
        position = here - np.maximum.accumulate(np.where(begins, here, 0))
        powers = np.multiply.accumulate(np.full(int(position.max()) + 1, _WORD))
        letters = np.where(space, np.uint64(0), codes * powers[position])
        yield first, _mixed(np.add.reduceat(letters, first))
    pair = np.flatnonzero(unspaced[:-1] & unspaced[1:])
    yield pair, _mixed(codes[pair] * _PAIR[0] + codes[pair + 1] * _PAIR[1])
    between = space[:-1] & space[1:]
    gram = np.flatnonzero(~between[:-1] & ~between[1:])
    yield gram, _mixed(codes[gram] * _GRAM[0] + codes[gram + 1] * _GRAM[1] + codes[gram + 2] * _GRAM[2])


def _mixed(hashed: _Words) -> _Words:
    """Every bit of the input on every bit of the output (splitmix64)."""
    mixed = (hashed ^ (hashed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
