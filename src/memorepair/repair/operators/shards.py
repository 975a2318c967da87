"""A classifier trained by shards, so that forgetting a source retrains its shard alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np

from memorepair.errors import InvalidInput
from memorepair.memory.artifact import Json
from memorepair.repair.jsontext import canonical, parse
from memorepair.repair.modes import Mode
from memorepair.repair.operators.arrays import Floats, packed, unpacked
from memorepair.repair.operators.examples import Examples, read_examples
from memorepair.repair.operators.learner import positive, width_of
from memorepair.repair.operators.operator import Call, Input, Made

DEFAULT_SHARDS = 8
_MOST_SHARDS = 1_024
_ITERATIONS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shard:
    """One part: its labels, weights (d, c) and offset (c,), and the digest of the rows it stands on."""

    rows: str
    labels: tuple[str, ...]
    weights: Floats
    offset: Floats

    def to_json(self) -> dict[str, Json]:
        return {
            "rows": self.rows,
            "labels": list(self.labels),
            "weights": packed(self.weights),
            "offset": packed(self.offset),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardedSoftmax:
    """Softmax regressions, one a shard of the sources; they answer by the mean of their probabilities.

    A source belongs to a shard by the hash of its key, whatever else there is. A shard whose rows are as they
    were keeps its weights; any other is trained again on the reference partition. So the model is at all
    times what training on the sources that are left would give.

    Params of the recipe: `width`, `alpha` (regularisation), `shards` (8).

    Source: L. Bourtoule et al., Machine Unlearning (SISA), 2021.
    """

    name: str = "softmax"
    version: str = "1"
    mode: Mode = field(default=Mode.PARAM, init=False)
    deterministic: bool = field(default=True, init=False)
    reads_own_version: bool = field(default=True, init=False)

    def train(self, sources: Sequence[Input], params: Mapping[str, Json]) -> str:
        """The model of these sources alone.

        Raises
        ------
        InvalidInput
            There is no example, or one is malformed.
        """
        return self._trained(sources, params, {})

    def make(self, call: Call) -> Made:
        """The model without what has gone from its sources.

        Raises
        ------
        InvalidInput
            Nothing is left to stand on, or a source is malformed.
        """
        known: dict[str, _Shard] = {}
        if call.own is not None:
            try:
                params, shards = _read(call.own, self.name)
            except InvalidInput:
                params, shards = {}, ()  # no version of ours: all is trained
            if params == dict(call.params):
                known = {shard.rows: shard for shard in shards}
        return Made(content=self._trained(call.inputs, call.params, known))

    def scores(self, content: str, sources: Sequence[Input]) -> Floats:
        """(n, c) Mean probabilities of the labels, ascending."""
        params, shards = _read(content, self.name)
        return _scores(shards, read_examples(sources, width_of(params)).x)

    def accuracy(self, content: str, sources: Sequence[Input]) -> float:
        """Share of examples whose most probable label is theirs."""
        params, shards = _read(content, self.name)
        examples = read_examples(sources, width_of(params))
        labels = _labels(shards)
        best = _scores(shards, examples.x).argmax(axis=1).tolist()
        right = [labels[place] == label for place, label in zip(best, examples.labels, strict=True)]
        return float(np.mean(right)) if right else 0.0

    def _trained(
        self, sources: Sequence[Input], params: Mapping[str, Json], known: Mapping[str, _Shard]
    ) -> str:
        examples = read_examples(sources, width_of(params))
        count, alpha = _count(params), positive(params, "alpha", 1.0)
        home = np.array([_home(owner, count) for owner in examples.owners], np.int64)
        shards: list[Json] = []
        for number in range(count):
            places = np.flatnonzero(home == number)
            if len(places):
                labels = tuple(examples.labels[place] for place in places.tolist())
                rows = _digest(examples, places.tolist())
                shard = known.get(rows) or _fit(rows, examples.x[places], labels, alpha)
                shards.append(shard.to_json())
        if not shards:
            raise InvalidInput("no example is left to train on", witness=self.name)
        return canonical({"model": self.name, "params": dict(params), "shards": shards})


def _count(params: Mapping[str, Json]) -> int:
    count = params.get("shards", DEFAULT_SHARDS)
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= _MOST_SHARDS:
        raise InvalidInput(f"param shards is a whole number in 1 .. {_MOST_SHARDS}", witness="shards")
    return count


def _home(owner: str, count: int) -> int:
    return int.from_bytes(sha256(owner.encode()).digest()[:8], "big") % count


def _digest(examples: Examples, places: Sequence[int]) -> str:
    """Of the rows with owners and labels: equal digests are equal training sets."""
    found = sha256(str(examples.x.shape[1]).encode())
    for place in places:
        named = canonical([examples.owners[place], examples.labels[place]])
        found.update(len(named).to_bytes(8, "big") + named.encode() + examples.x[place].tobytes())
    return found.hexdigest()


def _fit(rows: str, x: Floats, row_labels: tuple[str, ...], alpha: float) -> _Shard:
    """Minimise mean cross entropy + alpha |W|^2 / 2n from zero: convex, so there is one minimum."""
    from scipy.optimize import minimize

    labels = tuple(sorted(set(row_labels)))
    n, d, c = len(x), x.shape[1], len(labels)
    truth = np.array([[label == one for one in labels] for label in row_labels], np.float64)

    def loss(flat: Floats) -> tuple[float, Floats]:
        weights, offset = flat[: d * c].reshape(d, c), flat[d * c :]
        logits = x @ weights + offset
        logits = logits - logits.max(axis=1, keepdims=True)
        logs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        error = (np.exp(logs) - truth) / n
        value = -(truth * logs).sum() / n + alpha / (2 * n) * np.square(flat).sum()
        slope = np.concatenate([(x.T @ error).ravel(), error.sum(axis=0)]) + alpha / n * flat
        return float(value), slope

    found = minimize(loss, np.zeros(d * c + c), jac=True, method="L-BFGS-B", options={"maxiter": _ITERATIONS})
    flat = np.asarray(found.x, np.float64)
    return _Shard(rows=rows, labels=labels, weights=flat[: d * c].reshape(d, c), offset=flat[d * c :])


def _labels(shards: Sequence[_Shard]) -> tuple[str, ...]:
    return tuple(sorted({label for shard in shards for label in shard.labels}))


def _scores(shards: Sequence[_Shard], x: Floats) -> Floats:
    labels = _labels(shards)
    total = np.zeros((len(x), len(labels)))
    for shard in shards:
        if not len(x):
            break
        if x.shape[1] != len(shard.weights):
            raise InvalidInput("examples have other features than the model", witness=x.shape)
        logits = x @ shard.weights + shard.offset
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        total[:, [labels.index(label) for label in shard.labels]] += odds / odds.sum(axis=1, keepdims=True)
    return total / max(len(shards), 1)


def _read(content: str, name: str) -> tuple[dict[str, Json], tuple[_Shard, ...]]:
    whole = parse(content)
    params = whole.get("params") if isinstance(whole, dict) else None
    listed = whole.get("shards") if isinstance(whole, dict) and whole.get("model") == name else None
    if not isinstance(params, dict) or not isinstance(listed, list) or not listed:
        raise InvalidInput(f"not a model of {name}", witness=name)
    shards = []
    for one in listed:
        here = one if isinstance(one, dict) else {}
        rows, labels = here.get("rows"), here.get("labels")
        names = tuple(label for label in labels if isinstance(label, str)) if isinstance(labels, list) else ()
        if not isinstance(rows, str) or not names or len(set(names)) < len(names):
            raise InvalidInput("a shard has the digest of its rows, and labels once each", witness=name)
        shards.append(
            _Shard(
                rows=rows,
                labels=names,
                weights=unpacked(here.get("weights"), None, len(names)),
                offset=unpacked(here.get("offset"), len(names)),
            )
        )
    return params, tuple(shards)
