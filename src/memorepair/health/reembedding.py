"""Re-embedding: a new space is filled beside the old one, compared with it, and then searched.

Until the switch nothing that is searched changes, so a process that dies leaves the old space whole; the next
attempt goes on where it stopped. The switch is one transaction and a case, and its undo is the way back as
long as the old vectors are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from memorepair.errors import InvalidInput, NotAligned, StaleRead
from memorepair.health.drift import Drift, keep_anchors, moved
from memorepair.memory.artifact import Json, Key
from memorepair.memory.exchange import Progress
from memorepair.memory.store import Store
from memorepair.memory.values import check_counts, check_numbers, is_number, is_whole, require_names
from memorepair.memory.vectors import Embedder, Space, Vectors, embedded, space_of

KEEP_DAYS = 15.0
"""How long the vectors of the former space are a way back, unless told otherwise."""

BATCH = 256
"""Texts embedded at once: what bounds the memory of a re-embedding."""

_DAY = 86_400 * 10**9
_ROUNDS = 20
_AGAIN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What a new space must show before it is searched.

    Attributes
    ----------
    overlap
        Least share, beyond what random directions would share, of the nearest `neighbours` of a text in the
        old space that are among its nearest in the new one, on average.
    queries, rows
        Texts asked, and texts among which their neighbours are looked for; drawn from what is served.
    neighbours
        Of each text, fewer where there are few rows.
    """

    overlap: float = 0.2
    queries: int = 200
    rows: int = 2_000
    neighbours: int = 10

    def __post_init__(self) -> None:
        check_numbers(self, "an alignment check", "overlap", high=1)
        check_counts(self, "an alignment check", "queries", "rows", "neighbours")


DEFAULT = Bounds()


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """How alike two spaces recall.

    Attributes
    ----------
    rows, neighbours
        Texts compared, and neighbours of each.
    overlap, chance
        Mean share of neighbours in common, and what random directions would share.
    bound
        What `overlap` had to reach.
    """

    rows: int
    neighbours: int
    overlap: float
    chance: float
    bound: float

    @property
    def sound(self) -> bool:
        """Whether the bound is reached."""
        return self.overlap >= self.bound

    def to_json(self) -> dict[str, Json]:
        """As a JSON object."""
        return {
            "rows": self.rows,
            "neighbours": self.neighbours,
            "overlap": self.overlap,
            "chance": self.chance,
            "bound": self.bound,
            "sound": self.sound,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Reembedding:
    """What a re-embedding did, or would do.

    Attributes
    ----------
    former, space
        Where memories lived, and where they live now; `former` is None where there was no vector.
    lacking
        Served artifacts that had no vector in the space at the beginning.
    embedded, blank
        Vectors made, and texts that say nothing, so that they have none.
    alignment
        None where there was nothing to compare: the space was searched already, or too few rows.
    case
        Of the switch, for `undo`; None of a dry run, and where memories lived in the space already.
    until
        Up to when (nanoseconds) the former vectors are kept.
    """

    former: Space | None
    space: Space
    lacking: int
    embedded: int = 0
    blank: int = 0
    alignment: Alignment | None = None
    case: int | None = None
    until: int | None = None

    def to_json(self) -> dict[str, Json]:
        """As a JSON object."""
        return {
            "former": None if self.former is None else space_json(self.former),
            "space": space_json(self.space),
            "lacking": self.lacking,
            "embedded": self.embedded,
            "blank": self.blank,
            "alignment": None if self.alignment is None else self.alignment.to_json(),
            "case": self.case,
            "until": self.until,
        }


def space_json(space: Space) -> dict[str, Json]:
    """A space as a JSON object."""
    return {
        "model": space.model,
        "revision": space.revision,
        "dimension": space.dimension,
        "normalised": space.normalised,
    }


def reembed(
    store: Store,
    embedder: Embedder,
    *,
    actor: str,
    reason: str,
    bounds: Bounds = DEFAULT,
    batch: int = BATCH,
    keep_days: float = KEEP_DAYS,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Reembedding:
    """Bring everything served into the space of the store's embedder, and search there.

    Parameters
    ----------
    embedder
        The store's own.
    batch
        Texts embedded at once; each batch is a transaction, so others write meanwhile.
    keep_days
        How long the former vectors are kept for a way back.
    dry_run
        Say how many vectors are to be made; nothing is embedded or written.

    Raises
    ------
    NotAligned
        The embedder does not give what is stored under its name, or its space does not recall what the old
        one does. The old space is searched as before; what was embedded stays for the next attempt.
    StaleRead
        Others write faster than this embeds.

    Notes
    -----
    O(lacking) calls of the embedder by batches, O(batch x dimension) memory, and
    O(queries x rows x dimension) for the comparison.
    """
    space, former = space_of(embedder), store.home()
    require_names(actor, reason)
    if store.space != space:
        raise InvalidInput("the embedder is not the one the memory was opened with", witness=space)
    if not is_whole(batch, low=1) or not is_number(keep_days, 0, 36_500):
        raise InvalidInput("a batch is a whole number from 1, a number of days not negative", witness=batch)
    lacking = store.lacking(space)
    if dry_run:
        return Reembedding(former=former, space=space, lacking=lacking)
    _require_same(store, embedder, space)
    if former is not None and former != space:
        store.hold_home(actor=actor)
    until = store.now() + int(keep_days * _DAY)
    made, alignment = 0, None
    for _ in range(_ROUNDS):
        more, blank = _fill(store, batch, actor, max(0, lacking - made), progress)
        made += more
        done = Reembedding(
            former=former, space=space, lacking=lacking, embedded=made, blank=len(blank), alignment=alignment
        )
        if former is None or store.home() == space:  # it did, or another process has switched meanwhile
            return done
        if alignment is None:
            alignment = aligned(store, former, space, bounds)
            if alignment is not None and not alignment.sound:
                raise NotAligned(
                    f"{space.model} shares {alignment.overlap:.0%} of the neighbours that {former.model} "
                    f"finds, and {alignment.bound:.0%} are asked for; {former.model} is searched as before",
                    witness=alignment.to_json(),
                )
        try:
            case = store.switch_space(space, until=until, blank=blank, actor=actor, reason=reason)
        except StaleRead:
            continue  # somebody has written since
        except InvalidInput:
            if store.home() != space:
                raise
            return done  # another process has switched a moment ago
        keep_anchors(store, embedder)
        return replace(done, alignment=alignment, case=case.id, until=until)
    raise StaleRead(f"after {_ROUNDS} rounds something still has no vector", witness=_ROUNDS)


def _fill(
    store: Store, batch: int, actor: str, total: int, progress: Progress | None
) -> tuple[int, set[int]]:
    """Embed until a round finds nothing left; how many, and the versions that say nothing."""
    made, after, blank = 0, 0, set[int]()
    while True:
        round = store.embed_missing(batch, after=after, actor=actor)
        if not round.after:
            return made, blank
        made, after = made + round.stored, round.after
        blank.update(round.blank)
        if progress is not None:
            progress("embed", min(made + len(blank), total), total)


def _require_same(store: Store, embedder: Embedder, space: Space) -> None:
    """Refuse to go on where vectors stored under the embedder's name are another's."""
    keys = store.sample(space, _AGAIN, given=False)
    drift = again(store, embedder, space, keys)
    if drift is not None and drift.fired:
        raise NotAligned(
            f"what is stored as {space.model}, revision {space.revision}, is not what this embedder gives "
            f"(median cosine {drift.cosine:.3f}): give the new model another revision",
            witness={"cosine": drift.cosine, "norm_ratio": drift.norm_ratio},
        )


def again(store: Store, embedder: Embedder, space: Space, keys: Sequence[Key]) -> Drift | None:
    """How far stored vectors are from what the embedder gives for the same texts now; None of none."""
    stored = store.vectors(space, keys)
    served = store.served(list(stored))
    there = [key for key in stored if key in served]
    if not there:
        return None
    now = embedded(embedder, [served[key].content for key in there])
    return moved(np.stack([stored[key] for key in there]), now)


def aligned(store: Store, old: Space, new: Space, bounds: Bounds = DEFAULT) -> Alignment | None:
    """Compare what two spaces recall for the same texts; None where fewer than eight have both vectors.

    Each of a sample of texts is asked for its nearest among the sample, in both spaces; the text itself does
    not count. Of equally near ones the older comes first in both.
    """
    keys = store.sample(old, bounds.rows)
    before, after = store.vectors(old, keys), store.vectors(new, keys)
    both = [key for key in keys if key in before and key in after]
    if len(both) < 8:
        return None
    k = min(bounds.neighbours, (len(both) - 1) // 4)
    queries = min(bounds.queries, len(both))
    first = _nearest(np.stack([before[key] for key in both]), queries, k)
    second = _nearest(np.stack([after[key] for key in both]), queries, k)
    shared = [len(np.intersect1d(one, other)) for one, other in zip(first, second, strict=True)]
    chance = k / (len(both) - 1)
    return Alignment(
        rows=len(both),
        neighbours=k,
        overlap=float(np.mean(shared) / k),
        chance=chance,
        bound=chance + (1 - chance) * bounds.overlap,
    )


def _nearest(vectors: Vectors, queries: int, k: int) -> npt.NDArray[np.int64]:
    """Places of the k nearest of each of the first rows, itself left out; (queries, k)."""
    matrix = vectors.astype(np.float64)
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    np.divide(matrix, lengths, out=matrix, where=lengths > 0)
    cosines = np.round(np.einsum("qd,rd->qr", matrix[:queries], matrix, optimize=True), 9)
    np.fill_diagonal(cosines, -np.inf)
    order: npt.NDArray[np.int64] = np.argsort(-cosines, axis=1, kind="stable")[:, :k]
    return order
