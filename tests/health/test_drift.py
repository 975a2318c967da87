"""Drift: a changed model is found by twenty anchors, and an unchanged one raises no alarm."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import pytest

from memorepair.errors import InvalidInput
from memorepair.health.drift import ANCHORS, Probe, moved, probe_drift
from memorepair.memory.vectors import HashedNgrams, Space, Vectors

Change = Callable[[Vectors, np.random.Generator], Vectors]

SUBJECTS = (
    "User",
    "The nurse",
    "My brother",
    "Team seven",
    "The old server",
    "用户",
    "我的姐姐",
    "七号服务器",
)
VERBS = ("likes", "will order", "cannot find", "repaired", "喜欢", "找不到", "已经修好")
OBJECTS = (
    "green tea",
    "the quarterly report",
    "a window seat",
    "order 10231",
    "绿茶",
    "季度报告",
    "靠窗的座位",
)
TEXTS = [*ANCHORS, *(" ".join(parts) for parts in product(SUBJECTS, VERBS, OBJECTS))]
DRAWS, SIZE = 1_000, 20


def noise(scale: float) -> Change:
    return lambda v, rng: (v + rng.normal(0, scale, v.shape)).astype(np.float32)


def int8(v: Vectors, rng: np.random.Generator) -> Vectors:
    scale = np.abs(v).max(axis=1, keepdims=True) / 127
    rounded: Vectors = (np.round(v / scale) * scale).astype(np.float32)
    return rounded


def reversed_tenth(v: Vectors, rng: np.random.Generator) -> Vectors:
    strongest = np.argsort(-(v**2).sum(axis=0))[: v.shape[1] // 10]
    signs = np.ones(v.shape[1], np.float32)
    signs[strongest] = -1
    return v * signs


SAME: dict[str, Change] = {
    "nothing": lambda v, rng: v,
    "noise of a thousandth": noise(1e-3),
    "float16": lambda v, rng: v.astype(np.float16).astype(np.float32),
    "int8": int8,
}
CHANGED: dict[str, Change] = {
    "another model": lambda v, rng: rng.permutation(v.ravel()).reshape(v.shape),
    "normalisation dropped": lambda v, rng: v * rng.uniform(2, 5, (len(v), 1)).astype(np.float32),
    "L1 norm": lambda v, rng: v / np.abs(v).sum(axis=1, keepdims=True),
    "mean removed": lambda v, rng: v - v.mean(axis=0),
    "dimensions permuted": lambda v, rng: v[:, rng.permutation(v.shape[1])],
    "sign": lambda v, rng: -v,
    "a tenth reversed": reversed_tenth,
    "noise of a hundredth": noise(1e-2),
}


@pytest.fixture(scope="module")
def vectors() -> Vectors:
    return HashedNgrams().embed(TEXTS)


def fired(vectors: Vectors, change: Change) -> int:
    rng = np.random.default_rng(0)
    changed = change(vectors, rng)
    draws = (rng.choice(len(vectors), SIZE, replace=False) for _ in range(DRAWS))
    return sum(moved(vectors[rows], changed[rows]).fired for rows in draws)


@pytest.mark.parametrize("name", SAME)
def test_no_alarm_where_the_model_is_the_same(vectors: Vectors, name: str) -> None:
    assert fired(vectors, SAME[name]) == 0


@pytest.mark.parametrize("name", CHANGED)
def test_an_alarm_whichever_anchors_are_drawn(vectors: Vectors, name: str) -> None:
    assert fired(vectors, CHANGED[name]) == DRAWS


def test_a_few_foreign_rows_are_no_drift_of_the_model(vectors: Vectors) -> None:
    mixed = vectors[:SIZE].copy()
    mixed[:3] = vectors[50:53]
    assert not moved(vectors[:SIZE], mixed).fired


class Renamed:
    """Another model of equal dimension that claims to be the old one."""

    model, revision, dimension, normalised = "hashed-ngrams", "1", 384, True

    def embed(self, texts: Sequence[str]) -> Vectors:
        return HashedNgrams().embed([text[::-1] for text in texts])


def test_a_model_that_keeps_its_name_is_found() -> None:
    kept = Probe.of(HashedNgrams())
    drift, finding = probe_drift(kept, HashedNgrams())
    assert (drift.fired, finding) == (False, None)
    drift, finding = probe_drift(kept, Renamed())
    assert finding is not None
    assert finding.measured["same_name"] is True
    assert finding.measured["cosine"] == drift.cosine < 0.99
    json.dumps(finding.to_json(), allow_nan=False)


def test_another_dimension_is_found() -> None:
    _, finding = probe_drift(Probe.of(HashedNgrams()), HashedNgrams(dimension=256))
    assert finding is not None
    assert (finding.measured["dimension"], finding.measured["kept_dimension"]) == (256, 384)
    json.dumps(finding.to_json(), allow_nan=False)


def test_a_probe_is_kept_and_read_back() -> None:
    kept = Probe.of(HashedNgrams(dimension=16))
    read = Probe.from_json(json.loads(json.dumps(kept.to_json())))
    assert (read.space, read.anchors) == (kept.space, kept.anchors)
    assert np.array_equal(read.vectors, kept.vectors)


@pytest.mark.parametrize("broken", [{}, {"model": "m"}, {"vectors": [[1.0], [1.0, 2.0]]}, {"vectors": ["a"]}])
def test_what_is_no_probe_is_refused(broken: dict[str, object]) -> None:
    sound = Probe.of(HashedNgrams(dimension=4)).to_json()
    read = json.loads(json.dumps({} if not broken else sound | {"anchors": ["a", "b"]} | broken))
    with pytest.raises(InvalidInput):
        Probe.from_json(read)


def test_a_probe_checks_itself() -> None:
    space = Space("m", "1", 2, normalised=False)
    for vectors in (np.zeros((3, 2), np.float32), np.full((20, 2), np.nan, np.float32)):
        with pytest.raises(InvalidInput):
            Probe(space=space, vectors=vectors)
