"""Verbs about vectors: which space memories live in, and how they move to another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from memorepair.errors import InvalidInput
from memorepair.facade.base import Opened, check_callable
from memorepair.health.drift import SAMPLE, check_drift, other_space
from memorepair.health.finding import Finding
from memorepair.health.reembedding import BATCH, DEFAULT, KEEP_DAYS, Bounds, Reembedding, reembed
from memorepair.memory.artifact import Scope
from memorepair.memory.spaces import Switch
from memorepair.memory.values import check_flags, check_type, is_whole
from memorepair.memory.vectors import Embedder, Space


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorStatus:
    """Where vectors live.

    Attributes
    ----------
    embedder
        Space of what this memory was opened with; None without an embedder.
    home
        Where memories live: searches by vector are answered from there. None while there is no vector.
    rows
        Served artifacts with a vector, by space; `lacking` those that have none in `embedder`.
    switch
        The newest switch that is not undone.
    """

    embedder: Space | None
    home: Space | None
    rows: Mapping[Space, int]
    lacking: int
    switch: Switch | None


class Vectors(Opened):
    """Verbs about vectors: which space memories live in, and how they move to another."""

    def vectors(self) -> VectorStatus:
        """Which spaces there are, and which one is searched."""
        space = self._store.space  # may have to ask for it: not inside a transaction
        with self._store.reading():
            return VectorStatus(
                embedder=space,
                home=self._store.home(),
                rows=MappingProxyType(self._store.spaces()),
                lacking=0 if space is None else self._store.lacking(space),
                switch=self._store.switch(),
            )

    def reembed(
        self,
        *,
        actor: str,
        reason: str,
        bounds: Bounds = DEFAULT,
        batch: int = BATCH,
        keep_days: float = KEEP_DAYS,
        dry_run: bool = False,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> Reembedding:
        """Bring everything served into the space of this memory's embedder, and search there from then on.

        The new space is filled beside the old one in batches while the old one is searched; then a sample is
        compared, and one transaction switches. That is a case: `undo` takes it back while the former vectors
        are kept. Whatever stops it before, the old space stays the one that is searched, and the next call
        goes on. Where memories live in the space already, what has no vector yet gets one.

        Parameters
        ----------
        bounds
            What the new space must show; see `Bounds`.
        batch
            Texts embedded at once.
        keep_days
            How long `drop_vectors` keeps the former vectors.
        dry_run
            Count; embed and write nothing.

        Raises
        ------
        NotAligned
            The new space does not recall what the old one does, or vectors stored under the embedder's name
            are another's. The old one is searched as before.
        InvalidInput
            A memory without an embedder.
        """
        check_flags(dry_run=dry_run)
        check_type(bounds, Bounds, "the bounds of a re-embedding are Bounds")
        if progress is not None:
            check_callable(progress, "progress")
        return reembed(
            self._store,
            self._embedder(),
            actor=actor,
            reason=reason,
            bounds=bounds,
            batch=batch,
            keep_days=keep_days,
            dry_run=dry_run,
            progress=progress,
        )

    def check_vectors(
        self, *, rows: int | None = SAMPLE, progress: Callable[[str, int, int], None] | None = None
    ) -> list[Finding]:
        """Whether the embedder is the one that made the vectors: by its anchors and by rows embedded again.

        Parameters
        ----------
        rows
            How many are embedded again; None: all.
        """
        if rows is not None and not is_whole(rows, low=1):
            raise InvalidInput("rows is a whole number from 1", witness=rows)
        if progress is not None:
            check_callable(progress, "progress")
        embedder = self._embedder()
        if (other := other_space(self._store)) is not None:
            return [other]
        most = max(1, self._store.size()) if rows is None else rows
        return check_drift(self._store, embedder, rows=most, progress=progress)

    def index_vectors(self, *, progress: Callable[[str, int, int], None] | None = None) -> dict[Scope, int]:
        """Build the index of each large scope anew beside the file; vectors in each.

        A memory opened with `vector_index` searches by it, and builds it by itself where it is missing or
        stale. It is a cache: it may be deleted at any time, and goes with an erasure.

        Raises
        ------
        MissingDependency
            usearch is not installed (``pip install 'memorepair[usearch]'``).
        """
        if progress is not None:
            check_callable(progress, "progress")
        return self._store.index_vectors(progress=progress)

    def drop_vectors(
        self, space: Space, *, actor: str, reason: str, early: bool = False, dry_run: bool = False
    ) -> int:
        """Remove the vectors that an embedder made in a space that is not searched; how many.

        Raises
        ------
        InvalidInput
            Memories live there, or it is still kept for a way back and not dropped `early`.
        """
        check_type(space, Space, "a space is a Space")
        check_flags(early=early, dry_run=dry_run)
        return self._store.drop_vectors(space, early=early, actor=actor, reason=reason, dry_run=dry_run)

    def _embedder(self) -> Embedder:
        embedder = self._store.embedder
        if embedder is None:
            raise InvalidInput("this memory was opened without an embedder", witness="embedder")
        return embedder
