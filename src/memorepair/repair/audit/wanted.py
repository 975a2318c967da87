"""Wanted: what items say and none of their recorded parents says, and who said it before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memorepair.repair.audit.arcs import Parents
from memorepair.repair.audit.corpus import Corpus
from memorepair.repair.audit.habits import Habits, pair_of
from memorepair.repair.audit.ragged import Floats, Ints, Mask, among, distinct, expand

CUT = 48
"""Of the holders of a token only so many are looked at, those born last before the item."""

_MOST_WANTED = 2_000
_SHARED_SCOPE = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Hits:
    """Who holds what is wanted; one entry an item, holder and token, in this order.

    Attributes
    ----------
    row, holder, token : (h,) int64
        `row` is the position of the item among those asked for.
    total : (r,) float64
        Weight of all that each item says or was given.
    """

    row: Ints
    holder: Ints
    token: Ints
    total: Floats


def find_hits(
    corpus: Corpus, parents: Parents, habits: Habits, items: Ints, *, any_kind: bool = False
) -> Hits:
    """Look the unexplained tokens of the items up in the index.

    The result of a call speaks of originals, its arguments of what was observed; any other text may speak of
    both. So a token is wanted from originals, from observations, or from both. Holders lie in the scope of
    the item or in one around it, are born before it, of a kind that supports its kind unless any will do, and
    none of its recorded ancestors.
    """
    n, width = corpus.n, len(corpus.weight)
    text, given = _said(corpus, items, given=False), _said(corpus, items, given=True)
    body = distinct(np.concatenate([text, given]))
    total = np.bincount(body // width, weights=corpus.weight[body % width], minlength=len(items))
    row, above = parents.of_items(items)
    of_original = _explained(corpus, row, above, corpus.original[above])
    of_observed = _explained(corpus, row, above, ~corpus.original[above])
    call = corpus.call[items]
    in_call, given_in_call = call[body // width], call[given // width]
    from_observed = distinct(np.concatenate([body[~in_call], given[given_in_call]]))
    from_observed = _without(from_observed, of_observed, of_original, call, width)
    from_original = _without(body, of_original, of_observed, call, width)
    wanted = np.concatenate([from_observed, from_original])
    original = np.arange(len(wanted)) >= len(from_observed)
    telling = corpus.telling[wanted % width]
    wanted, original = _rarest(corpus, wanted[telling], original[telling], len(items))

    found_row: list[Ints] = []
    found_holder: list[Ints] = []
    found_token: list[Ints] = []
    row, token = wanted // width, wanted % width
    scope = corpus.scope[items][row]
    while len(row):
        first = np.searchsorted(corpus.held, corpus.place(scope, token, 0))
        end = np.searchsorted(corpus.held, corpus.place(scope, token, items[row]))
        begin = np.maximum(first, end - CUT)
        entry, place = expand(begin, end - begin)
        holder = corpus.held[place] % (n + 1)
        fits = corpus.original[holder] == original[entry]
        if not any_kind:
            child = items[row[entry]]
            fits &= habits.rate[pair_of(corpus, holder, child), corpus.kind[child]] > 0
        found_row.append(row[entry][fits])
        found_holder.append(holder[fits])
        found_token.append(token[entry][fits])
        inside = scope != _SHARED_SCOPE
        row, token, original = row[inside], token[inside], original[inside]
        scope = corpus.around[scope[inside]]
    row, holder, token = (
        np.concatenate([np.zeros(0, np.int64), *part]) for part in (found_row, found_holder, found_token)
    )
    new = ~among(row * n + holder, parents.ancestors(items))
    row, holder, token = row[new], holder[new], token[new]
    order = np.lexsort((token, holder, row))
    return Hits(row=row[order], holder=holder[order], token=token[order], total=total.astype(np.float64))


def _said(corpus: Corpus, items: Ints, *, given: bool) -> Ints:
    """Ascending keys row * tokens + token."""
    texts = items + corpus.n * given
    offsets = corpus.tokens.offsets
    row, place = expand(offsets[texts], offsets[texts + 1] - offsets[texts])
    return row * len(corpus.weight) + corpus.tokens.tokens[place]


def _explained(corpus: Corpus, row: Ints, above: Ints, mask: Mask) -> Ints:
    """What the parents under the mask say or were given, as keys of their children's rows."""
    row, above = row[mask], above[mask]
    width = len(corpus.weight)
    keys = []
    for given in (False, True):
        said = _said(corpus, above, given=given)
        keys.append(row[said // width] * width + said % width)
    return distinct(np.concatenate(keys))


def _without(keys: Ints, always: Ints, of_texts: Ints, call: Mask, width: int) -> Ints:
    """Keys that no parent of the one class explains, and for what is no call's none of the other either."""
    keys = keys[~among(keys, always)]
    return keys[call[keys // width] | ~among(keys, of_texts)]


def _rarest(corpus: Corpus, wanted: Ints, original: Mask, rows: int) -> tuple[Ints, Mask]:
    """Of an item that wants very much only its rarest tokens: the hits stay bounded."""
    width = len(corpus.weight)
    row = wanted // width
    if not len(row) or np.bincount(row, minlength=rows).max() <= _MOST_WANTED:
        return wanted, original
    order = np.lexsort((wanted, -corpus.weight[wanted % width], row))
    row = row[order]
    kept = order[np.arange(len(row)) - np.searchsorted(row, row) < _MOST_WANTED]
    return wanted[kept], original[kept]
