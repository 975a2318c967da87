"""Corpus: artifacts as the audit sees them, in order of birth, with an index of who says what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memorepair.graphs.digraph import read_only
from memorepair.repair.audit.ragged import Floats, Ints, Mask, offsets_of
from memorepair.repair.audit.tokens import Tokens, tokenise

SHARED = ""
"""The scope whose artifacts every scope may have read."""

_MOST_WEIGHT = 12.0
_COMMON_SHARE = 0.02
_COMMON_COUNT = 50
_SMALL = 24  # below so many artifacts two of them share a single word by chance
_SMALL_OF_IDS = 64  # an identifier they share by chance in no store
_ID_LENGTH = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An artifact as the audit sees it.

    Attributes
    ----------
    scope
        Names with `/` between, seen from each that begins with them: `SHARED` is seen from every scope.
    kind
        Any label; what supports what is learned from pairs of labels.
    text
        What it says.
    given
        Arguments of the call it is the result of; empty where it is none.
    original
        It records the world (a row, a document) and was not derived.
    derived
        It cannot stand on nothing: without a recorded parent it is a finding.
    """

    scope: str
    kind: str
    text: str
    given: str = ""
    original: bool = False
    derived: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Corpus:
    """n items in order of birth, their tokens, and for each scope and token its holders.

    Attributes
    ----------
    kinds
        The labels.
    kind, scope, rank : (n,) int64
        Label, scope, and how many items of its scope were born before.
    original, derived, call : (n,) bool
    tokens : Tokens of 2 n texts
        What the items say, then what they were given.
    weight : (t,) float64
        Of a token: log2(n / holders), 0 where it is common or nobody says it.
    telling : (t,) bool
        Tokens with weight that more than one text holds.
    size : (n,) float64
        Sum of the weights of what an item says.
    held : (h,) int64
        (scope, token, item), ascending, of telling tokens; see `place`.
    around : (s,) int64
        Of a scope the narrowest one around it that has items; of the shared one, which is around all, itself.
    order : (n,) int64
        Items by scope, then birth; `scopes` are its offsets.
    """

    kinds: tuple[str, ...]
    kind: Ints
    scope: Ints
    rank: Ints
    original: Mask
    derived: Mask
    call: Mask
    tokens: Tokens
    weight: Floats
    telling: Mask
    size: Floats
    held: Ints
    around: Ints
    order: Ints
    scopes: Ints

    def __post_init__(self) -> None:
        arrays = (self.kind, self.scope, self.rank, self.original, self.derived, self.call)
        for one in (
            *arrays,
            self.weight,
            self.telling,
            self.size,
            self.held,
            self.around,
            self.order,
            self.scopes,
        ):
            read_only(one)

    @property
    def n(self) -> int:
        """Number of items."""
        return len(self.kind)

    def place(self, scope: Ints, token: Ints, item: Ints | int) -> Ints:
        """The number under which `held` has a scope, a token and an item.

        It fits 63 bits while scopes x tokens x items do: a million items in a thousand scopes with a billion
        tokens.
        """
        return (scope * len(self.weight) + token) * (self.n + 1) + item


def make_corpus(items: Sequence[Item]) -> Corpus:
    """Read and index the items; O(characters) and sorts of the tokens."""
    n = len(items)
    kinds, kind = _coded([item.kind for item in items])
    scopes, scope = _coded([SHARED, *(item.scope for item in items)])
    scope = scope[1:]
    order = np.argsort(scope, kind="stable")
    bounds = offsets_of(scope[order], len(scopes))
    rank = np.empty(n, np.int64)
    rank[order] = np.arange(n) - bounds[scope[order]]
    tokens = tokenise([*(item.text for item in items), *(item.given for item in items)], pairs_until=n)
    said = tokens.tokens[: tokens.offsets[n]]
    saying = np.repeat(np.arange(n), np.diff(tokens.offsets[: n + 1]))
    holders = np.bincount(said, minlength=len(tokens.codes))
    common = max(_COMMON_COUNT, _COMMON_SHARE * n)
    rare = (holders > 0) & (holders <= common)
    least = np.where(_identifies(tokens), _SMALL_OF_IDS, _SMALL)
    weight = np.where(rare, np.log2(np.maximum(n, least) / np.maximum(holders, 1)), 0.0)
    weight = np.clip(weight, 0.0, _MOST_WEIGHT)
    size = np.bincount(saying, weights=weight[said], minlength=n).astype(np.float64)
    # What one says and another was given is held by two texts, though only one says it.
    telling = (weight > 0) & (np.bincount(tokens.tokens, minlength=len(tokens.codes)) > 1)
    shared = telling[said]
    held = (scope[saying[shared]] * len(weight) + said[shared]) * (n + 1) + saying[shared]
    held.sort()
    return Corpus(
        kinds=kinds,
        kind=kind,
        scope=scope,
        rank=rank,
        original=np.array([item.original for item in items], np.bool_),
        derived=np.array([item.derived for item in items], np.bool_),
        call=np.diff(tokens.offsets[n:]) > 0,
        tokens=tokens,
        weight=weight,
        telling=telling,
        size=size,
        held=held,
        around=_around(scopes),
        order=order,
        scopes=bounds,
    )


def _identifies(tokens: Tokens) -> Mask:
    """Which tokens are long words with a digit: numbers of contracts, accounts, orders."""
    long = [len(word) >= _ID_LENGTH and any(map(str.isdigit, word)) for word in tokens.words]
    size = len(tokens.words)
    found = np.zeros(len(tokens.codes), np.bool_)
    words = tokens.codes < size
    found[words] = np.array(long, np.bool_)[tokens.codes[words]]
    return found


def _around(scopes: tuple[str, ...]) -> Ints:
    number = {scope: place for place, scope in enumerate(scopes)}
    around = np.zeros(len(scopes), np.int64)
    for place, scope in enumerate(scopes):
        outer = scope
        while outer := outer.rpartition("/")[0]:
            if outer in number:
                around[place] = number[outer]
                break
    return around


def _coded(labels: list[str]) -> tuple[tuple[str, ...], Ints]:
    """Distinct labels in order of first appearance, and the number of each label."""
    number = {label: place for place, label in enumerate(dict.fromkeys(labels))}
    return tuple(number), np.array([number[label] for label in labels], np.int64)
