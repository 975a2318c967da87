"""Proposals: what the audit of a corpus says, with its evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from memorepair.errors import InvalidInput
from memorepair.repair.audit.arcs import Parents
from memorepair.repair.audit.calibration import ENOUGH, calibrate, hide_arcs, hide_scopes
from memorepair.repair.audit.corpus import Corpus, Item, make_corpus
from memorepair.repair.audit.features import Progress, Scan, scan
from memorepair.repair.audit.habits import learn
from memorepair.repair.audit.ragged import Floats, Mask, distinct

LEAST = 0.02
"""Less probable proposals are not listed, unless their child is a lone item."""

_SHOWN = 8


class Rule(StrEnum):
    """Why an arc is proposed."""

    CONTENT = "content"
    REGULARITY = "regularity"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """A suspected arc between two items.

    `probability` is None where the audit refuses to state one. `shared` are the rarest tokens that both hold
    and no recorded parent explains; empty where the rule is regularity.
    """

    parent: int
    child: int
    probability: float | None
    shared: tuple[str, ...]
    rule: Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What the audit of a corpus found.

    Attributes
    ----------
    proposals
        Most probable first.
    lone
        Items that are derived and have no recorded parent.
    silent
        Kinds whose items are derived, none of which has a recorded parent.
    arcs
        Recorded arcs.
    hidden, found
        How many of them were hidden in calibration, and how many of these were found again.
    missing
        Estimated share of arcs that are missing, of those the audit can see; None where it is not calibrated.
    """

    proposals: tuple[Proposed, ...]
    lone: tuple[int, ...]
    silent: tuple[str, ...]
    arcs: int
    hidden: int
    found: int
    missing: float | None

    @property
    def calibrated(self) -> bool:
        """Whether enough hidden arcs were found again to state probabilities."""
        return self.missing is not None


def audit(
    items: Sequence[Item],
    arcs: Iterable[tuple[int, int]],
    *,
    declared: Mapping[str, Sequence[str]] | None = None,
    regularity: bool = True,
    seed: int = 0,
    progress: Progress | None = None,
) -> Audit:
    """Propose influence arcs that are missing from a record.

    Parameters
    ----------
    items
        In order of birth.
    arcs
        Recorded, (parent, child) by number; an arc between an item and itself says nothing.
    declared
        Kind -> kinds that it stands on by declaration.
    regularity
        Whether the place in a scope is evidence beside content.
    seed
        Of the draws of what calibration hides.

    Raises
    ------
    InvalidInput
        An arc leads out of the items.

    Notes
    -----
    O(tokens log tokens) and a scan per round; memory linear in the tokens. The same for the same input and
    seed.
    """
    corpus = make_corpus(items)
    parents = _recorded(corpus, arcs)
    habits = learn(corpus, parents, regularity=regularity, declared=declared)
    proposed = scan(corpus, parents, habits, np.arange(corpus.n), regularity=regularity, progress=progress)
    silent_scope = _silent_scopes(corpus, parents)[corpus.scope[proposed.child]]
    by_arc = hide_arcs(corpus, parents, habits, seed=seed, regularity=regularity, progress=progress)
    probability = np.full(len(proposed.child), np.nan)
    recorded, missing = len(parents.heads), None
    if by_arc.found >= ENOUGH:
        known = calibrate(by_arc, proposed.features[~silent_scope], recorded)
        probability[~silent_scope] = known.probability
        # Right proposals a hidden arc, times the recorded arcs: what would be proposed if all were hidden.
        seen = len(by_arc.features) / by_arc.hidden * recorded
        missing = known.true / (known.true + seen)
    if silent_scope.any():
        by_scope = hide_scopes(corpus, parents, habits, seed=seed, regularity=regularity, progress=progress)
        if by_scope.found >= ENOUGH:
            known = calibrate(by_scope, proposed.features[silent_scope], recorded)
            probability[silent_scope] = known.probability
    stands = parents.count(np.arange(corpus.n)) > 0
    lone = corpus.derived & ~stands
    standing = distinct(corpus.kind[corpus.derived & stands])
    silent = np.setdiff1d(corpus.kind[lone], standing)
    return Audit(
        proposals=_told(corpus, parents, proposed, probability, lone),
        lone=tuple(np.flatnonzero(lone).tolist()),
        silent=tuple(sorted(corpus.kinds[kind] for kind in silent.tolist())),
        arcs=recorded,
        hidden=by_arc.hidden,
        found=by_arc.found,
        missing=missing,
    )


def _silent_scopes(corpus: Corpus, parents: Parents) -> Mask:
    """Scopes with derived items and without a single recorded arc: capture failed there as a whole."""
    scopes = len(corpus.scopes) - 1
    derived = np.bincount(corpus.scope[corpus.derived], minlength=scopes) > 0
    recorded = np.bincount(corpus.scope[parents.tails()], minlength=scopes) > 0
    return np.asarray(derived & ~recorded, np.bool_)


def _recorded(corpus: Corpus, arcs: Iterable[tuple[int, int]]) -> Parents:
    pairs = np.array(list(arcs), np.int64).reshape(-1, 2)
    if len(pairs) and (pairs.min() < 0 or pairs.max() >= corpus.n):
        odd = pairs[((pairs < 0) | (pairs >= corpus.n)).any(axis=1)][0]
        raise InvalidInput("an arc leads out of the items", witness=(int(odd[0]), int(odd[1])))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return Parents.of(corpus.n, pairs[:, 0], pairs[:, 1])


def _told(
    corpus: Corpus, parents: Parents, proposed: Scan, probability: Floats, lone: Mask
) -> tuple[Proposed, ...]:
    stated = ~np.isnan(probability)
    listed = ~stated | (np.nan_to_num(probability) >= LEAST) | lone[proposed.child]
    # Most probable first, then by explained weight; of equals the oldest.
    order = np.lexsort(
        (
            proposed.parent,
            proposed.child,
            -np.round(proposed.features[:, 1], 9),
            -np.round(np.nan_to_num(probability), 9),
        )
    )
    told = []
    for place in order[listed[order]].tolist():
        child, parent = int(proposed.child[place]), int(proposed.parent[place])
        content = bool(proposed.shares[place])
        told.append(
            Proposed(
                parent=parent,
                child=child,
                probability=float(probability[place]) if stated[place] else None,
                shared=_shared(corpus, parents, parent, child) if content else (),
                rule=Rule.CONTENT if content else Rule.REGULARITY,
            )
        )
    return tuple(told)


def _shared(corpus: Corpus, parents: Parents, parent: int, child: int) -> tuple[str, ...]:
    """The rarest tokens that the parent says and the child says or was given, beyond its recorded parents."""
    tokens, offsets, weight = corpus.tokens.tokens, corpus.tokens.offsets, corpus.weight

    def of(text: int) -> set[int]:
        return set(tokens[offsets[text] : offsets[text + 1]].tolist())

    both = (of(child) | of(child + corpus.n)) & of(parent)
    for other in parents.heads[parents.offsets[child] : parents.offsets[child + 1]].tolist():
        both -= of(other)
    rarest = sorted((one for one in both if weight[one] > 0), key=lambda one: (-weight[one], one))
    return tuple(corpus.tokens.name(one) for one in rarest[:_SHOWN])
