"""Habits: which kinds support which, how often, and at which place, learned from the recorded arcs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memorepair.graphs.digraph import read_only
from memorepair.repair.audit.arcs import Parents
from memorepair.repair.audit.corpus import Corpus
from memorepair.repair.audit.ragged import Floats, Ints, Mask, among, distinct

WINDOW = 12
"""How many items before one in its scope count as near."""

DECLARED = 0.5
"""The rate of a pair of kinds that is declared and never recorded."""

_SHARED_SCOPE = 0
_FEWEST = 3
_RAREST = 0.01
_PLACES = 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Habits:
    """Rates between the k kinds of a corpus.

    Attributes
    ----------
    rate : (2 k, k) float64
        Share of the items of a kind (column) that stand on a kind from another scope (row 2 i) or from their
        own (row 2 i + 1); 0 where that is too rare to be proposed.
    place : (3 k, k) float64
        Share of the items of a kind (column) whose neighbour of a kind with 0, 1, 2 or more texts between
        (row 3 i + texts) is among their parents; all 0 without regularity.
    free : (k,) bool
        Nobody has declared what the kind stands on.
    """

    rate: Floats
    place: Floats
    free: Mask

    def __post_init__(self) -> None:
        for one in (self.rate, self.place, self.free):
            read_only(one)

    def fed(self, corpus: Corpus, parents: Parents, items: Ints) -> Ints:
        """Those of the items that may stand on anything, by their kind or because they stand on nothing."""
        stands = self.rate.max(axis=0, initial=0.0) > 0
        kept: Ints = items[stands[corpus.kind[items]] | self.bare(corpus, parents, items)]
        return kept

    def bare(self, corpus: Corpus, parents: Parents, items: Ints) -> Mask:
        """Which of the items may stand on any kind: derived, without a parent, and no declaration tells."""
        mask: Mask = corpus.derived[items] & (parents.count(items) == 0) & self.free[corpus.kind[items]]
        return mask


def pair_of(corpus: Corpus, parents: Ints, children: Ints) -> Ints:
    """The row of `Habits.rate` for each arc."""
    same = np.asarray(corpus.scope[parents] == corpus.scope[children], np.int64)
    return 2 * corpus.kind[parents] + same


def near(corpus: Corpus, items: Ints) -> tuple[Ints, Ints, Ints]:
    """What was born shortly before the items in their scopes: (row, neighbour, row of `Habits.place`)."""
    back = np.arange(1, WINDOW + 1)
    rank = corpus.rank[items][:, None] - back
    valid = (rank >= 0) & (corpus.scope[items] != _SHARED_SCOPE)[:, None]
    neighbour = corpus.order[corpus.scopes[corpus.scope[items]][:, None] + np.maximum(rank, 0)]
    plain = ~corpus.call & ~corpus.original
    between = np.cumsum(plain[neighbour], axis=1) - plain[neighbour]
    place = _PLACES * corpus.kind[neighbour] + np.minimum(between, _PLACES - 1)
    row = np.repeat(np.arange(len(items))[:, None], WINDOW, axis=1)
    return row[valid], neighbour[valid], place[valid]


def learn(
    corpus: Corpus,
    parents: Parents,
    *,
    regularity: bool = True,
    declared: Mapping[str, Sequence[str]] | None = None,
) -> Habits:
    """Count over all recorded arcs; O(items + arcs).

    Parameters
    ----------
    declared
        Kind -> kinds it stands on by declaration, in any scope: stands in where nothing was recorded.

    Notes
    -----
    A derived kind of which neither enough arcs nor a declaration tell a habit may stand on any kind: a few
    arcs are as good as none.
    """
    k = len(corpus.kinds)
    total = np.bincount(corpus.kind, minlength=k)
    child, above = parents.tails(), parents.heads
    once = distinct(child * (2 * k) + pair_of(corpus, above, child))
    having = np.zeros((2 * k, k))
    np.add.at(having, (once % (2 * k), corpus.kind[once // (2 * k)]), 1.0)
    usual = (having >= _FEWEST) & (having > _RAREST * total)
    rate = np.where(usual, having / np.maximum(total, 1), 0.0)
    number = {label: place for place, label in enumerate(corpus.kinds)}
    free = np.ones(k, np.bool_)
    for label, below in (declared or {}).items():
        for other in (one for one in below if label in number and one in number):
            rows = 2 * number[other] + np.arange(2)
            rate[rows, number[label]] = np.maximum(rate[rows, number[label]], DECLARED)
        if label in number:
            free[number[label]] = False
    derived = np.bincount(corpus.kind[corpus.derived], minlength=k) > 0
    rate[:, free & derived & ~usual.any(axis=0)] = DECLARED
    place = np.zeros((_PLACES * k, k))
    if regularity:
        items = np.arange(corpus.n)
        row, neighbour, at = near(corpus, items)
        hit = among(row * corpus.n + neighbour, parents.keys())
        seen = np.zeros_like(place)
        np.add.at(seen, (at, corpus.kind[row]), 1.0)
        np.add.at(place, (at[hit], corpus.kind[row[hit]]), 1.0)
        place /= seen + 2
    return Habits(rate=rate, place=place, free=free)
