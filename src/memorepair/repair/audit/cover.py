"""Cover: the few holders that explain what is wanted, the one that explains most first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from memorepair.repair.audit.corpus import Corpus
from memorepair.repair.audit.ragged import Floats, Ints, numbered, starts_of
from memorepair.repair.audit.wanted import Hits

PICKS = 3
"""Holders proposed for one item at most."""

LEAST = 4.0
"""Weight that a holder must explain to be proposed: one token that one artifact in sixteen holds."""

_MOST = 12.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cover:
    """p proposals with what speaks for each.

    Attributes
    ----------
    row, holder : (p,) int64
    turn : (p,) int64
        0 for the first pick of its item, and so on.
    weight : (p,) float64
        Explained and by no pick before.
    share : (p,) float64
        Of all that the item says.
    held : (p,) float64
        Of what anybody holds.
    rarest : (p,) float64
        Weight of the rarest token newly explained, over the largest possible.
    second : (p,) float64
        Weight of the runner-up over that of the pick.
    unique : (p,) float64
        One over the fewest rivals of its kind for a token newly explained.
    """

    row: Ints
    holder: Ints
    turn: Ints
    weight: Floats
    share: Floats
    held: Floats
    rarest: Floats
    second: Floats
    unique: Floats


def cover(corpus: Corpus, hits: Hits) -> Cover:
    """Greedy cover of every item at once; three passes over the hits.

    Taking the best holder first is what tells the parent from the grandparent and from the original record:
    it explains everything at once. Of equal holders the one born last is taken.
    """
    n, width, k = corpus.n, max(1, len(corpus.weight)), max(1, len(corpus.kinds))
    rows = len(hits.total)
    first = starts_of(hits.row * n + hits.holder)
    group = np.repeat(np.arange(len(first)), np.diff(np.r_[first, len(hits.row)]))
    group_row, group_holder = hits.row[first], hits.holder[first]
    row_first = starts_of(group_row)
    active = group_row[row_first]  # rows with hits; each is one run of groups
    _, pair = numbered(hits.row * width + hits.token)
    pairs = int(pair.max(initial=-1)) + 1
    weight = corpus.weight[hits.token]
    of_kind = (hits.row * k + corpus.kind[hits.holder]) * width + hits.token
    _, same = numbered(of_kind)
    rivals = np.bincount(same)[same].astype(np.float64)
    pair_row, pair_weight = np.zeros(pairs, np.int64), np.zeros(pairs)
    pair_row[pair], pair_weight[pair] = hits.row, weight
    held = np.bincount(pair_row, weights=pair_weight, minlength=rows) if pairs else np.zeros(rows)

    done = np.zeros(pairs, np.bool_)
    free = np.ones(len(first), np.bool_)
    found: list[Cover] = []
    for turn in range(PICKS if len(first) else 0):
        left = np.where(done[pair], 0.0, weight)
        score = np.where(free, np.bincount(group, weights=left, minlength=len(first)), -1.0)
        near = np.round(score, 3)  # sums in another order differ in the last digits
        best = np.zeros(rows, np.int64)
        top = np.zeros(rows)
        top[active] = np.maximum.reduceat(near, row_first)
        leading = np.flatnonzero(near == top[group_row])
        best[group_row[leading]] = leading  # the last of equals, which is the youngest, stays
        taken = best[active][score[best[active]] >= LEAST]
        if not len(taken):
            break
        free[taken] = False
        runner = np.zeros(rows)
        runner[active] = np.maximum.reduceat(np.where(free, score, 0.0), row_first)
        picked = np.zeros(len(first), np.bool_)
        picked[taken] = True
        new = picked[group] & ~done[pair]
        rarest, fewest = np.zeros(len(first)), np.full(len(first), np.inf)
        np.maximum.at(rarest, group[new], weight[new])
        np.minimum.at(fewest, group[new], rivals[new])
        done[pair[new]] = True
        row, gained = group_row[taken], score[taken]
        found.append(
            Cover(
                row=row,
                holder=group_holder[taken],
                turn=np.full(len(taken), turn),
                weight=gained,
                share=gained / hits.total[row],
                held=gained / held[row],
                rarest=rarest[taken] / _MOST,
                second=runner[row] / gained,
                unique=1.0 / fewest[taken],
            )
        )
        # An item whose best holder explains too little is left; the others go on.
        going = np.zeros(rows, np.bool_)
        going[row] = True
        free &= going[group_row]
    return joined(found)


def joined(parts: Sequence[Cover]) -> Cover:
    """The proposals of several covers, one behind the other."""

    def whole(columns: Iterable[Ints]) -> Ints:
        return np.concatenate([np.zeros(0, np.int64), *columns])

    def real(columns: Iterable[Floats]) -> Floats:
        return np.concatenate([np.zeros(0), *columns])

    return Cover(
        row=whole(part.row for part in parts),
        holder=whole(part.holder for part in parts),
        turn=whole(part.turn for part in parts),
        weight=real(part.weight for part in parts),
        share=real(part.share for part in parts),
        held=real(part.held for part in parts),
        rarest=real(part.rarest for part in parts),
        second=real(part.second for part in parts),
        unique=real(part.unique for part in parts),
    )
