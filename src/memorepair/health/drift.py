"""Drift: fixed anchors are embedded again and compared with what they were.

Cosine alone misses a change of normalisation, and the distribution of cosines without stored vectors tells
next to nothing; so both the direction and the length of each anchor's vector are compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from memorepair.errors import InvalidInput
from memorepair.graphs.digraph import read_only
from memorepair.health.finding import Damage, Finding, Level
from memorepair.memory.artifact import Json
from memorepair.memory.vectors import Embedder, Space, Vectors, embedded, space_of

ANCHORS = (
    "User lives in Berlin and works as a nurse at the city hospital.",
    "The quarterly report is due on the last Friday of March.",
    "Reset the router, wait ten seconds, then enter the serial number.",
    "Our dog Biscuit is allergic to chicken and afraid of thunder.",
    "The database backup runs every night at 03:00 on db-07.",
    "She prefers window seats on long flights and trains.",
    "Invoice 10231 over 480 euros was paid by bank transfer.",
    "Never deploy on Fridays without a second reviewer.",
    "The museum opens at nine, closes at five, and is free on Sundays.",
    "Refactor the parser before adding new grammar rules.",
    "用户住在北京，在一家医院当护士。",
    "季度报告的截止日期是三月的最后一个星期五。",
    "请先重启路由器，等待十秒，然后输入序列号。",
    "我们的狗对鸡肉过敏，还怕打雷。",
    "数据库每天凌晨三点在七号服务器上备份。",
    "她坐长途飞机和火车时喜欢靠窗的座位。",
    "发票10231已经通过银行转账付清，共480欧元。",
    "没有第二个人审核，周五绝不上线。",
    "博物馆九点开门，五点关门，周日免费。",
    "增加新的语法规则之前，先重构解析器。",
)
"""Texts whose vectors are kept with a model, of two languages. Never edit one: kept vectors are of it."""

LEAST_COSINE = 0.99
"""Median cosine of the anchors with themselves below which the model has changed."""

NORM_RATIO = 0.02
"""How far the median ratio of lengths may be from 1: quantisation to eight bits stays within it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Probe:
    """Anchors as a model saw them.

    Attributes
    ----------
    space
        Of the model.
    vectors : (a, dimension) float32
        One an anchor, finite.
    anchors
        The texts.
    """

    space: Space
    vectors: Vectors
    anchors: tuple[str, ...] = ANCHORS

    def __post_init__(self) -> None:
        wanted = (len(self.anchors), self.space.dimension)
        if not self.anchors or self.vectors.shape != wanted or self.vectors.dtype != np.float32:
            raise InvalidInput(f"a probe holds float32 vectors of shape {wanted}", witness=self.vectors.shape)
        if not np.isfinite(self.vectors).all():
            raise InvalidInput("a probe holds finite numbers", witness=self.space.model)
        read_only(self.vectors)

    @classmethod
    def of(cls, embedder: Embedder, anchors: tuple[str, ...] = ANCHORS) -> Probe:
        """Embed the anchors.

        Raises
        ------
        InvalidInput
            What the embedder gives is not what it promises.
        """
        return cls(
            space=space_of(embedder), vectors=embedded(embedder, anchors).astype(np.float32), anchors=anchors
        )

    def to_json(self) -> dict[str, Json]:
        """As a JSON object that `from_json` reads."""
        return {
            "model": self.space.model,
            "revision": self.space.revision,
            "normalised": self.space.normalised,
            "anchors": list(self.anchors),
            "vectors": [[float(number) for number in row] for row in self.vectors],
        }

    @classmethod
    def from_json(cls, read: Mapping[str, Json]) -> Probe:
        """From what `to_json` gave.

        Raises
        ------
        InvalidInput
            It is something else.
        """
        match read:
            case {
                "model": str(model),
                "revision": str(revision),
                "normalised": bool(normalised),
                "anchors": list(anchors),
                "vectors": list(rows),
            }:
                pass
            case _:
                raise InvalidInput("a probe is an object of five members", witness=sorted(read))
        try:
            vectors = np.asarray(rows, np.float32)
        except (ValueError, TypeError) as error:
            raise InvalidInput(f"the vectors of a probe: {error}", witness=model) from error
        dimension = vectors.shape[1] if vectors.ndim == 2 else 0
        return cls(
            space=Space(model, revision, dimension, normalised),
            vectors=vectors,
            anchors=tuple(map(str, anchors)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """How far anchors moved.

    Attributes
    ----------
    cosine
        Median over the anchors of the cosine with themselves; NaN where the dimension changed.
    norm_ratio
        Median of new length / old length.
    fired
        The model is not the one it was.
    """

    cosine: float
    norm_ratio: float
    fired: bool


def moved(before: Vectors, now: Vectors) -> Drift:
    """Compare vectors (a, d) of the same anchors, row by row; O(a d)."""
    if before.shape != now.shape:
        return Drift(cosine=float("nan"), norm_ratio=float("nan"), fired=True)
    old, new = before.astype(np.float64), now.astype(np.float64)
    lengths: npt.NDArray[np.float64] = np.linalg.norm(old, axis=1)
    lengths_now: npt.NDArray[np.float64] = np.linalg.norm(new, axis=1)
    both = lengths * lengths_now
    cosines = np.divide(np.einsum("ij,ij->i", old, new), both, out=np.zeros(len(old)), where=both > 0)
    ratios = np.divide(lengths_now, lengths, out=np.zeros(len(old)), where=lengths > 0)
    cosine, ratio = float(np.median(cosines)), float(np.median(ratios))
    return Drift(
        cosine=cosine,
        norm_ratio=ratio,
        fired=not (cosine >= LEAST_COSINE and abs(ratio - 1) <= NORM_RATIO),
    )


def probe_drift(kept: Probe, embedder: Embedder) -> tuple[Drift, Finding | None]:
    """Embed the kept anchors again; a finding where the model has changed, whatever it calls itself.

    Raises
    ------
    InvalidInput
        What the embedder gives is not what it promises.
    """
    space = space_of(embedder)
    drift = moved(kept.vectors, embedded(embedder, kept.anchors))
    if not drift.fired:
        return drift, None
    measured: dict[str, float | int | str | bool | None] = {
        "cosine": None if np.isnan(drift.cosine) else drift.cosine,
        "norm_ratio": None if np.isnan(drift.norm_ratio) else drift.norm_ratio,
        "anchors": len(kept.anchors),
        "model": space.model,
        "revision": space.revision,
        "dimension": space.dimension,
        "kept_model": kept.space.model,
        "kept_revision": kept.space.revision,
        "kept_dimension": kept.space.dimension,
        "same_name": space == kept.space,
    }
    finding = Finding(
        code="embedding_drift",
        damage=Damage.DRIFT,
        level=Level.RETRIEVAL,
        keys=(),
        evidence="the same texts no longer give the same vectors: the model or its normalisation changed",
        confidence=0.99,
        measured=MappingProxyType(measured),
        detector="drift",
    )
    return drift, finding
