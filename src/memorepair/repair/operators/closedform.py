"""Classifiers that forget in closed form: their sums are taken back row by row, and nothing is retrained."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from memorepair.errors import InvalidInput
from memorepair.memory.artifact import Json
from memorepair.repair.jsontext import canonical, parse
from memorepair.repair.modes import Mode
from memorepair.repair.operators.arrays import Floats, packed, unpacked
from memorepair.repair.operators.examples import Examples, read_examples
from memorepair.repair.operators.learner import positive, width_of
from memorepair.repair.operators.operator import Call, Input, Made


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """Sufficient statistics over n rows of d features with c labels.

    Attributes
    ----------
    labels : c texts, ascending
    count : (c,) float64
        Rows of each label.
    xy : (d, c) float64
        Sum of the rows of each label.
    xx : (d, d) float64
        Sum of x x^T; (0, 0) where the model needs none.
    """

    labels: tuple[str, ...]
    count: Floats
    xy: Floats
    xx: Floats

    @classmethod
    def of(cls, examples: Examples, *, squares: bool) -> Self:
        """Of all rows; O(n d c), with squares O(n d^2)."""
        labels = tuple(sorted(set(examples.labels)))
        one_hot = np.array([[label == one for one in labels] for label in examples.labels], np.float64)
        one_hot = one_hot.reshape(len(examples.labels), len(labels))
        x = examples.x
        return cls(
            labels=labels,
            count=one_hot.sum(axis=0),
            xy=x.T @ one_hot,
            xx=x.T @ x if squares else np.zeros((0, 0)),
        )

    def plus(self, other: Self, sign: float) -> Self:
        """With the rows of another added (sign 1) or taken back (sign -1); labels without rows go.

        Sums of whole numbers below 2^53 are exact in float64: there, adding and taking back leaves no trace.
        The layout is that of `of`, since NumPy adds up along an axis in an order that depends on it.
        """
        labels = tuple(sorted({*self.labels, *other.labels}))

        def spread(part: Sums, array: Floats) -> Floats:
            wide = np.zeros((*array.shape[:-1], len(labels)))
            wide[..., [labels.index(label) for label in part.labels]] = array
            return wide

        count = spread(self, self.count) + sign * spread(other, other.count)
        xy = spread(self, self.xy) + sign * spread(other, other.xy)
        left = np.flatnonzero(count > 0)
        return type(self)(
            labels=tuple(labels[place] for place in left.tolist()),
            count=count[left],
            xy=np.ascontiguousarray(xy[:, left]),
            xx=self.xx + sign * other.xx,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Model:
    """What an artifact's content holds: the rows it stands on, their sums, and the linear scores from them.

    `params` are those it was trained with: with others, the sums are of no use.
    """

    name: str
    params: Mapping[str, Json]
    examples: Examples
    sums: Sums
    weights: Floats
    offset: Floats

    def written(self) -> str:
        return canonical(
            {
                "model": self.name,
                "params": dict(self.params),
                "owners": list(self.examples.owners),
                "row_labels": list(self.examples.labels),
                "x": packed(self.examples.x),
                "labels": list(self.sums.labels),
                "count": packed(self.sums.count),
                "xy": packed(self.sums.xy),
                "xx": packed(self.sums.xx),
                "weights": packed(self.weights),
                "offset": packed(self.offset),
            }
        )


def _texts(value: Json, what: str) -> tuple[str, ...]:
    texts = [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
    if not isinstance(value, list) or len(texts) < len(value):
        raise InvalidInput(f"{what} of a model are a list of texts", witness=what)
    return tuple(texts)


def _read(content: str, name: str) -> _Model:
    whole = parse(content)
    if not isinstance(whole, dict) or whole.get("model") != name:
        raise InvalidInput(f"not a model of {name}", witness=name)
    params = whole.get("params")
    owners, row_labels = _texts(whole.get("owners"), "owners"), _texts(whole.get("row_labels"), "row_labels")
    labels = _texts(whole.get("labels"), "labels")
    x = unpacked(whole.get("x"), len(owners), None)
    n, d = x.shape
    if not isinstance(params, dict) or len(row_labels) != n or len(set(labels)) < len(labels):
        raise InvalidInput("a model has params, a label a row, and labels once each", witness=name)
    square = 0 if whole.get("xx") == packed(np.zeros((0, 0))) else d
    return _Model(
        name=name,
        params=params,
        examples=Examples(owners=owners, labels=row_labels, x=x),
        sums=Sums(
            labels=labels,
            count=unpacked(whole.get("count"), len(labels)),
            xy=unpacked(whole.get("xy"), d, len(labels)),
            xx=unpacked(whole.get("xx"), square, square),
        ),
        weights=unpacked(whole.get("weights"), d, len(labels)),
        offset=unpacked(whole.get("offset"), len(labels)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedForm(ABC):
    """A classifier with linear scores that follow from sums over its rows.

    Its content holds the rows with their owners, so what a withdrawn source has brought is known without the
    source. What has gone or changed is taken back from the sums, what is new is added, and the scores follow.
    Features that are no whole numbers, whose sums round, are summed anew.

    Params of the recipe: `width`, and `alpha`, the regularisation (ridge) or smoothing (naive Bayes).
    """

    name: str
    version: str = "1"
    mode: Mode = field(default=Mode.PARAM, init=False)
    deterministic: bool = field(default=True, init=False)
    reads_own_version: bool = field(default=True, init=False)

    @property
    def squares(self) -> bool:
        """Whether the sum of x x^T is needed."""
        return False

    @abstractmethod
    def fitted(self, sums: Sums, alpha: float) -> tuple[Floats, Floats]:
        """(d, c) weights and (c,) offset: the scores of x are x . weights + offset."""

    def train(self, sources: Sequence[Input], params: Mapping[str, Json]) -> str:
        """The model of these sources alone.

        Raises
        ------
        InvalidInput
            There is no example, or one is malformed.
        """
        examples = read_examples(sources, width_of(params))
        return self._model(examples, Sums.of(examples, squares=self.squares), params).written()

    def make(self, call: Call) -> Made:
        """The model without what has gone from its sources.

        Raises
        ------
        InvalidInput
            Nothing is left to stand on, or a source is malformed.
        """
        try:
            before = None if call.own is None else _read(call.own, self.name)
        except InvalidInput:
            before = None  # no version of ours: what would be taken back from it is trained instead
        now = read_examples(call.inputs, width_of(call.params))
        if (
            before is None
            or before.params != dict(call.params)
            or before.examples.x.shape[1] != now.x.shape[1]
        ):
            return Made(content=self.train(call.inputs, call.params))
        if not _exact(before.examples, now):
            return Made(content=self.train(call.inputs, call.params))
        gone, new = _difference(before.examples, now), _difference(now, before.examples)
        sums = before.sums.plus(Sums.of(gone, squares=self.squares), -1.0)
        sums = sums.plus(Sums.of(new, squares=self.squares), 1.0)
        return Made(content=self._model(now, sums, call.params).written())

    def scores(self, content: str, sources: Sequence[Input]) -> Floats:
        """(n, c) Scores of the examples."""
        model = _read(content, self.name)
        return self._scores(model, read_examples(sources, width_of(model.params)))

    def accuracy(self, content: str, sources: Sequence[Input]) -> float:
        """Share of examples whose best score is that of their label."""
        model = _read(content, self.name)
        examples = read_examples(sources, width_of(model.params))
        scores = self._scores(model, examples)
        right = [
            model.sums.labels[best] == label
            for best, label in zip(scores.argmax(axis=1).tolist(), examples.labels, strict=True)
        ]
        return float(np.mean(right)) if right else 0.0

    @staticmethod
    def _scores(model: _Model, examples: Examples) -> Floats:
        if not len(examples.x):
            return np.zeros((0, len(model.sums.labels)))
        if examples.x.shape[1] != model.weights.shape[0]:
            raise InvalidInput("examples have other features than the model", witness=examples.x.shape)
        return examples.x @ model.weights + model.offset

    def _model(self, examples: Examples, sums: Sums, params: Mapping[str, Json]) -> _Model:
        if not sums.labels:
            raise InvalidInput("no example is left to train on", witness=self.name)
        weights, offset = self.fitted(sums, positive(params, "alpha", 1.0))
        return _Model(
            name=self.name, params=params, examples=examples, sums=sums, weights=weights, offset=offset
        )


def _exact(*parts: Examples) -> bool:
    """Whether sums of the rows, and of their squares, are exact in float64.

    Else what is taken back leaves its rounding behind: a trace of what was to be forgotten.
    """
    largest = max((float(np.abs(part.x).max(initial=0.0)) for part in parts), default=0.0)
    rows = sum(len(part.x) for part in parts)
    whole = all(bool((part.x == np.rint(part.x)).all()) for part in parts)
    return whole and rows * max(largest, 1.0) ** 2 < 2.0**53


def _difference(these: Examples, those: Examples) -> Examples:
    """The rows of these whose owner has other rows, or none, in those."""

    def by_owner(examples: Examples) -> dict[str, list[tuple[str, bytes]]]:
        found: dict[str, list[tuple[str, bytes]]] = {}
        for owner, label, row in zip(examples.owners, examples.labels, examples.x, strict=True):
            found.setdefault(owner, []).append((label, row.tobytes()))
        return found

    here, there = by_owner(these), by_owner(those)
    places = [place for place, owner in enumerate(these.owners) if here[owner] != there.get(owner)]
    return Examples(
        owners=tuple(these.owners[place] for place in places),
        labels=tuple(these.labels[place] for place in places),
        x=these.x[places],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ridge(ClosedForm):
    """Regularised least squares on one indicator a label: (X^T X + alpha I) W = X^T Y."""

    name: str = "ridge"

    @property
    def squares(self) -> bool:
        """X^T X."""
        return True

    def fitted(self, sums: Sums, alpha: float) -> tuple[Floats, Floats]:
        """One solve, O(d^3); alpha > 0 makes the matrix positive definite, where rounding leaves it there."""
        system = sums.xx + alpha * np.eye(len(sums.xx))
        try:
            weights: Floats = np.linalg.solve(system, sums.xy).astype(np.float64)
        except np.linalg.LinAlgError as error:
            raise InvalidInput(
                "features are too large beside alpha to be told apart", witness=alpha
            ) from error
        return weights, np.zeros(len(sums.labels))


@dataclass(frozen=True, slots=True, kw_only=True)
class NaiveBayes(ClosedForm):
    """Multinomial naive Bayes; features are counts, not negative."""

    name: str = "naive-bayes"

    def fitted(self, sums: Sums, alpha: float) -> tuple[Floats, Floats]:
        """Logarithms of smoothed frequencies, and of the shares of the labels."""
        if (sums.xy < 0).any():
            raise InvalidInput("naive Bayes counts: no feature is negative", witness=self.name)
        smoothed = sums.xy + alpha
        return np.log(smoothed / smoothed.sum(axis=0)), np.log(sums.count / sums.count.sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class NearestCentroid(ClosedForm):
    """The label whose mean is nearest: -|x - m|^2, up to |x|^2, is 2 m . x - |m|^2."""

    name: str = "nearest-centroid"

    def fitted(self, sums: Sums, alpha: float) -> tuple[Floats, Floats]:
        """From the means; `alpha` has no part in it."""
        means = sums.xy / sums.count
        return 2 * means, -np.square(means).sum(axis=0)
