"""Features: every proposal of a corpus as a row of numbers that speak for or against it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from memorepair.repair.audit.arcs import Parents
from memorepair.repair.audit.corpus import Corpus
from memorepair.repair.audit.cover import PICKS, Cover, cover, joined
from memorepair.repair.audit.habits import Habits, near, pair_of
from memorepair.repair.audit.ragged import Floats, Ints, Mask, among, distinct
from memorepair.repair.audit.wanted import find_hits

_BATCH = 60_000
"""Tokens of items looked at together: it bounds the memory of a scan."""

_USUAL = 0.3
"""From this rate on a neighbour is proposed although it shares nothing new."""

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scan:
    """p proposals.

    Attributes
    ----------
    child, parent : (p,) int64
        Items.
    features : (p, f) float64
        The first column is 1.
    shares : (p,) bool
        It rests on shared tokens, not on regularity alone.
    """

    child: Ints
    parent: Ints
    features: Floats
    shares: Mask


def scan(
    corpus: Corpus,
    parents: Parents,
    habits: Habits,
    items: Ints,
    *,
    regularity: bool = True,
    progress: Progress | None = None,
) -> Scan:
    """Proposals for the items, given their recorded parents; the tokens of a batch at a time in memory."""
    items = habits.fed(corpus, parents, items)
    offsets = corpus.tokens.offsets
    length = offsets[items + 1] - offsets[items]
    batch = np.cumsum(length) // _BATCH
    ends = np.r_[np.flatnonzero(np.diff(batch)) + 1, len(items)] if len(items) else np.zeros(0, np.int64)
    parts, begin = [], 0
    for end in ends.tolist():
        parts.append(_scan(corpus, parents, habits, items[begin:end], regularity))
        begin = end
        if progress is not None:
            progress("scan", end, len(items))
    width = columns(regularity)
    return Scan(
        child=np.concatenate([np.zeros(0, np.int64), *(part.child for part in parts)]),
        parent=np.concatenate([np.zeros(0, np.int64), *(part.parent for part in parts)]),
        features=np.concatenate([np.zeros((0, width)), *(part.features for part in parts)]),
        shares=np.concatenate([np.zeros(0, np.bool_), *(part.shares for part in parts)]),
    )


def columns(regularity: bool) -> int:
    return 26 if regularity else 20


def _scan(corpus: Corpus, parents: Parents, habits: Habits, items: Ints, regularity: bool) -> Scan:
    n = corpus.n
    found = _covered(corpus, parents, habits, items)
    at = np.zeros(len(found.row))
    if regularity:
        row, neighbour, place = near(corpus, items)
        rate = habits.place[place, corpus.kind[items[row]]]
        keys = row * n + neighbour
        order = np.argsort(keys)
        sorted_keys = keys[order]
        picked = found.row * n + found.holder
        is_near = among(picked, sorted_keys)
        at[is_near] = rate[order][np.searchsorted(sorted_keys, picked[is_near])]
        usual = (rate > _USUAL) & ~among(keys, np.sort(picked)) & ~among(keys, parents.ancestors(items))
        found = joined([found, _without_content(row[usual], neighbour[usual])])
        at = np.concatenate([at, rate[usual]])
    order = np.lexsort((found.turn, found.row))
    features = _features(corpus, parents, habits, items, found, at, regularity)
    return Scan(
        child=items[found.row][order],
        parent=found.holder[order],
        features=features[order],
        shares=(found.weight > 0)[order],
    )


def _covered(corpus: Corpus, parents: Parents, habits: Habits, items: Ints) -> Cover:
    """Covers by the kinds that support an item's kind; where these explain nothing of a bare item, by any.

    Any kind from the beginning would cost precision.
    """
    found = cover(corpus, find_hits(corpus, parents, habits, items))
    bare = habits.bare(corpus, parents, items)
    bare[found.row] = False
    if not bare.any():
        return found
    row = np.flatnonzero(bare)
    more = cover(corpus, find_hits(corpus, parents, habits, items[row], any_kind=True))
    return joined([found, replace(more, row=row[more.row])])


def _without_content(row: Ints, holder: Ints) -> Cover:
    """Neighbours that explain nothing new."""
    nothing = np.zeros(len(row))
    return Cover(
        row=row,
        holder=holder,
        turn=np.full(len(row), PICKS),
        weight=nothing,
        share=nothing,
        held=nothing,
        rarest=nothing,
        second=nothing + 1,
        unique=nothing,
    )


def _features(
    corpus: Corpus,
    parents: Parents,
    habits: Habits,
    items: Ints,
    found: Cover,
    at: Floats,
    regularity: bool,
) -> Floats:
    child = items[found.row]
    pair = pair_of(corpus, found.holder, child)
    rate = habits.rate[pair, corpus.kind[child]]
    kinds = 2 * len(corpus.kinds)
    row, above = parents.of_items(items)
    present = distinct(row * kinds + pair_of(corpus, above, items[row]))
    absent = np.where(among(found.row * kinds + pair, present), 0.0, rate)  # a support its kind usually has
    lone = (parents.count(child) == 0).astype(np.float64)
    same_scope = corpus.scope[child] == corpus.scope[found.holder]
    much = np.log1p(found.weight)
    columns = [
        np.ones(len(child)),
        much,
        found.share,
        found.held,
        found.rarest,
        found.second,
        found.unique,
        found.unique * found.held,
        lone,
        lone * found.share,
        absent,
        absent * found.held,
        absent * found.share,
        rate,
        rate * found.held,
        np.log1p(corpus.size[found.holder]) / 8,
        found.turn / PICKS,
        same_scope.astype(np.float64),
        corpus.original[found.holder].astype(np.float64),
        (1 - found.second) * much,
    ]
    if regularity:
        apart = np.where(same_scope, corpus.rank[child] - corpus.rank[found.holder], 0)
        columns += [
            np.log1p(np.maximum(apart, 0)),
            at,
            at * at,
            at * found.held,
            (found.weight == 0).astype(np.float64),
            absent * at,
        ]
    return np.column_stack(columns)
