"""Drift: fixed anchors are embedded again and compared with what they were.

Cosine alone misses a change of normalisation, and the distribution of cosines without stored vectors tells
next to nothing; so both the direction and the length of each anchor's vector are compared.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from memorepair.errors import InvalidInput
from memorepair.graphs.digraph import read_only
from memorepair.health.finding import Damage, Finding, Level
from memorepair.memory.artifact import Json, Key
from memorepair.memory.exchange import Progress
from memorepair.memory.store import Store
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


SAMPLE = 60
"""Rows embedded again by a drift check."""

_BATCH = 256


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


BOOK = "anchors"
"""The book of the anchors, a note for each space."""


def keep_anchors(store: Store, embedder: Embedder) -> None:
    """Keep the anchors as the embedder sees them now, under its space."""
    probe = Probe.of(embedder)
    store.note(BOOK, {_name(probe.space): probe.to_json()})


def check_drift(
    store: Store,
    embedder: Embedder,
    *,
    rows: int = SAMPLE,
    keep: bool = True,
    progress: Progress | None = None,
) -> list[Finding]:
    """Whether the embedder is the one that made what is stored: by its anchors, and by rows embedded again.

    Where nothing is found and memories live in its space, its anchors are kept for the next time, unless not
    to `keep`.

    Raises
    ------
    InvalidInput
        What the embedder gives is not what it promises.
    """
    space = space_of(embedder)
    kept = store.notes(BOOK).get(_name(space))
    if isinstance(kept, dict):
        drifted = probe_drift(Probe.from_json(kept), embedder)[1]
        if drifted is not None:
            return [drifted]
    found = foreign(store, embedder, rows=rows, progress=progress)
    if keep and not found and kept is None and not store.readonly and store.home() in (None, space):
        keep_anchors(store, embedder)
    return found


def _name(space: Space) -> str:
    return hashlib.sha256(repr(tuple(space)).encode()).hexdigest()[:16]


OTHER = frozenset({"embedding_other_model", "embedding_other_dimension"})
"""Codes of what lies in another space than the one that is searched."""


def other_space(store: Store) -> Finding | None:
    """Where the memory was opened with an embedder whose space is not the one memories live in.

    One finding for the whole store: its remedy is a switch, and that is for a person.
    """
    space, home = store.space, store.home()
    if space is None or home is None or home == space:
        return None
    rows = store.spaces()
    if not rows.get(home):
        return None
    return Finding(
        code="embedding_other_dimension" if space.dimension != home.dimension else "embedding_other_model",
        damage=Damage.DRIFT,
        level=Level.RETRIEVAL,
        keys=(),
        evidence=f"memories live in the space of {home.model} (revision {home.revision}, {home.dimension} "
        f"dimensions), this memory was opened with {space.model} (revision {space.revision}, "
        f"{space.dimension}): neither finds what the other wrote",
        measured={
            "model": home.model,
            "revision": home.revision,
            "dimension": home.dimension,
            "normalised": home.normalised,
            "rows": rows.get(home, 0),
            "current_model": space.model,
            "current_revision": space.revision,
            "current_dimension": space.dimension,
            "current_normalised": space.normalised,
            "current_rows": rows.get(space, 0),
        },
        detector="drift",
    )


def foreign(
    store: Store, embedder: Embedder, *, rows: int = SAMPLE, progress: Progress | None = None
) -> list[Finding]:
    """Embed some of what is stored again: rows whose vector is of another embedder of the same name.

    60 rows drawn from many meet a share of 5 % of foreign ones with a probability of 0.95, and 10 % with
    0.998. Where most are foreign the model is another one, and that is one finding.

    Raises
    ------
    InvalidInput
        What the embedder gives is not what it promises.
    """
    space = space_of(embedder)
    keys = store.sample(space, rows, given=False)
    odd: list[tuple[Key, int, Drift]] = []
    looked = 0
    for start in range(0, len(keys), _BATCH):
        stored = store.vectors(space, keys[start : start + _BATCH])
        served = store.served(list(stored))
        there = [key for key in stored if key in served]
        if not there:
            continue
        now = embedded(embedder, [served[key].content for key in there])
        looked += len(there)
        drifts = [moved(stored[key][None], vector[None]) for key, vector in zip(there, now, strict=True)]
        odd += [(key, served[key].version, one) for key, one in zip(there, drifts, strict=True) if one.fired]
        if progress is not None:
            progress("embed again", start + len(there), len(keys))
    if looked and len(odd) > looked / 2:
        cosine = float(np.median([one.cosine for _, _, one in odd]))
        return [_drifted({"cosine": cosine, "rows": looked, "foreign": len(odd), "model": space.model})]
    return [
        Finding(
            code="embedding_foreign",
            damage=Damage.DRIFT,
            level=Level.RETRIEVAL,
            keys=(key,),
            versions=(version,),
            evidence="its vector is not what the model gives for it: another one wrote under the same name",
            measured={"cosine": one.cosine, "norm_ratio": one.norm_ratio, "rows": looked},
            detector="drift",
        )
        for key, version, one in odd
    ]


def _drifted(measured: Mapping[str, float | int | str | bool | None]) -> Finding:
    return Finding(
        code="embedding_drift",
        damage=Damage.DRIFT,
        level=Level.RETRIEVAL,
        keys=(),
        evidence="the same texts no longer give the same vectors: the model or its normalisation changed; "
        "give it another revision, and re-embed",
        confidence=0.99,
        measured=MappingProxyType(dict(measured)),
        detector="drift",
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
    return drift, _drifted(measured)
