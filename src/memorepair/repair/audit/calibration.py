"""Calibration: probabilities of proposals, learned from recorded arcs that are hidden and found again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from memorepair.graphs.digraph import read_only
from memorepair.repair.audit.arcs import Parents
from memorepair.repair.audit.corpus import Corpus
from memorepair.repair.audit.features import Progress, Scan, columns, scan
from memorepair.repair.audit.habits import Habits
from memorepair.repair.audit.ragged import Floats, Ints, Mask, among, distinct

HIDDEN = 0.15
"""Share of the arcs, or of the scopes, that one round hides."""

FLOOR = 0.01
"""Share of the arcs taken to be missing at least: assuming less makes small stores timid."""

ENOUGH = 100
"""Hidden arcs that must be found again before a probability is stated."""

PLENTY = 1_000
"""Hidden arcs found again that are enough for any store: no further round is made."""

ROUNDS = 8
"""Rounds of hiding at most: small stores need several to find enough."""

SUREST = 0.99
"""No probability is larger: only a replay makes certain."""

_RIDGE = 3.0
_EM_STEPS = 60
_NEWTON_STEPS = 30
_FIRST_GUESS = 0.75
_FOLDS = 5
_FEW = 5_000
_SHARES = (0.3, 0.4, 0.5, 0.6, 0.7)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Hiding:
    """What came of hiding arcs.

    Attributes
    ----------
    hidden, found
        Arcs hidden over all rounds, and how many of them were proposed again as they were.
    features : (m, f) float64
        Of the proposals that were right: the arc itself, or one from another recorded ancestor.
    """

    hidden: int
    found: int
    features: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Calibration:
    """Probabilities of p proposals, and how many of them are true."""

    probability: Floats
    true: float

    def __post_init__(self) -> None:
        read_only(self.probability)


def hide_arcs(
    corpus: Corpus,
    parents: Parents,
    habits: Habits,
    *,
    rounds: int = ROUNDS,
    seed: int = 0,
    regularity: bool = True,
    progress: Progress | None = None,
) -> Hiding:
    """Hide recorded arcs one by one, in rounds until `PLENTY` are found again, and ask for them.

    A proposal is right when its parent is a recorded ancestor: a shortcut to a grandparent closes the cascade
    as well.
    """
    random = np.random.default_rng(seed)
    return _hide(
        corpus,
        parents,
        habits,
        (random.random(len(parents.heads)) >= HIDDEN for _ in range(rounds)),
        regularity,
        progress,
    )


def hide_scopes(
    corpus: Corpus,
    parents: Parents,
    habits: Habits,
    *,
    rounds: int = ROUNDS,
    seed: int = 0,
    regularity: bool = True,
    progress: Progress | None = None,
) -> Hiding:
    """Hide all arcs of whole scopes: what a scope looks like that was never recorded."""
    random = np.random.default_rng(seed)
    scope = corpus.scope[parents.tails()]
    draws = (random.random(len(corpus.scopes)) >= HIDDEN for _ in range(rounds))
    return _hide(corpus, parents, habits, (kept[scope] for kept in draws), regularity, progress)


def _hide(
    corpus: Corpus,
    parents: Parents,
    habits: Habits,
    masks: Iterable[Mask],
    regularity: bool,
    progress: Progress | None,
) -> Hiding:
    hidden, found = 0, 0
    features = [np.zeros((0, columns(regularity)))]
    child, keys = parents.tails(), parents.keys()
    for kept in masks:
        items = distinct(child[~kept])
        again = scan(corpus, parents.kept(kept), habits, items, regularity=regularity, progress=progress)
        hidden += int((~kept).sum())
        found += int(among(again.child * parents.n + again.parent, keys).sum())
        features.append(again.features[_is_ancestor(parents, again)])
        if found >= PLENTY:
            break
    return Hiding(hidden=hidden, found=found, features=np.concatenate(features))


def _is_ancestor(parents: Parents, again: Scan) -> Mask:
    right = np.zeros(len(again.child), np.bool_)
    items = distinct(again.child)
    for begin in range(0, len(items), 1_000):
        some = items[begin : begin + 1_000]
        first, end = np.searchsorted(again.child, [some[0], some[-1] + 1])
        row = np.searchsorted(some, again.child[first:end])
        right[first:end] = among(row * parents.n + again.parent[first:end], parents.ancestors(some))
    return right


def calibrate(hiding: Hiding, proposed: Floats, arcs: int) -> Calibration:
    """Positive and unlabelled: what found a hidden arc is true, what is proposed as it stands may be.

    EM over a logistic model: proposals count as true with their probability of the step before, and their
    sum T sets the odds of a proposal against a hidden arc's. T is at least `FLOOR` of the recorded arcs, and
    at least as many as score like hidden arcs do (`_alike`).

    Notes
    -----
    Elkan and Noto 2008 for the setting; the prior is estimated with the model instead of held out. O(steps x
    rows x features^2).
    """
    m, p = len(hiding.features), len(proposed)
    x = _standardised(np.concatenate([hiding.features, proposed]))
    fold = np.r_[np.arange(m), np.arange(p)] % (_FOLDS if p <= _FEW else 1)
    models = np.zeros((int(fold.max(initial=0)) + 1, x.shape[1]))
    score = _scores(x, np.r_[np.ones(m), np.zeros(p)], fold, models)
    odds = np.exp(np.clip(score, -30, 30))
    least = max(FLOOR * arcs, _alike(score, m))
    true = max(least, m / float(np.quantile(odds[:m], _FIRST_GUESS)))
    probability = np.minimum(SUREST, odds[m:] * true / m)
    models[:] = 0
    for _ in range(_EM_STEPS):
        score = _scores(x, np.r_[np.ones(m), probability], fold, models)
        # Among m hidden arcs and T true proposals the model sees T / (m + T) of the true ones unlabelled.
        z = score[m:] + np.log(true / (m + true))
        now = 1 / (1 + np.exp(-np.clip(z, -30, 30)))
        moved = float(np.abs(now - probability).max(initial=0.0))
        probability = now
        true = max(float(probability.sum()), least)
        if moved < 1e-3:
            break
    return Calibration(probability=np.minimum(probability, SUREST), true=true)


def _scores(x: Floats, label: Floats, fold: Ints, models: Floats) -> Floats:
    """Each row by a model that has not seen it; `models`, one a fold, are where they start and are updated.

    A model that has seen a store's few proposals tells them from the hidden arcs by heart. Of many proposals
    none weighs much: then there is one fold, and its model has seen all.
    """
    score = np.empty(len(x))
    for one, model in enumerate(models):
        tested = fold == one
        seen = ~tested if len(models) > 1 else tested
        models[one] = _logistic(x[seen], label[seen], model)
        score[tested] = x[tested] @ models[one]
    return score


def _alike(score: Floats, m: int) -> float:
    """How many proposals (from m on) score like the hidden arcs (before).

    Where half of the hidden arcs score above a bound, so does half of the T true proposals: T is the number
    above it over the share; the median over several bounds.
    """
    bounds = np.quantile(score[:m], [1 - share for share in _SHARES])
    above = [float((score[m:] >= bound).sum()) / share for bound, share in zip(bounds, _SHARES, strict=True)]
    return float(np.median(above))


def _standardised(x: Floats) -> Floats:
    mean, spread = x.mean(axis=0), x.std(axis=0) + 1e-9
    mean[0], spread[0] = 0.0, 1.0
    scaled: Floats = (x - mean) / spread
    return scaled


def _logistic(x: Floats, y: Floats, b: Floats) -> Floats:
    """Ridge logistic regression with soft labels by Newton's method; the first column is not penalised."""
    ridge = _RIDGE * np.eye(x.shape[1])
    ridge[0, 0] = 1e-6
    for _ in range(_NEWTON_STEPS):
        p = 1 / (1 + np.exp(-np.clip(x @ b, -30, 30)))
        step = np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + ridge, x.T @ (y - p) - ridge @ b)
        b = b + step
        if float(np.abs(step).max()) < 1e-5:
            break
    return b
