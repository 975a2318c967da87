"""Capture: what a derivation reads becomes the provenance of what it writes, so no arc can be forgotten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from secrets import token_hex
from types import TracebackType
from typing import Literal, Self, TypeAlias

from memorepair.errors import InvalidInput
from memorepair.graphs.terms import Arch, Kind, Relation
from memorepair.memory.artifact import (
    Artifact,
    Draft,
    Embedding,
    Json,
    Key,
    Read,
    Recipe,
    Scope,
    Slot,
    Source,
    Type,
)
from memorepair.memory.store import Store

OnStale: TypeAlias = Literal["raise", "quarantine"]
"""What becomes of a derivation that read something withdrawn or changed since."""


class Derivation:
    """A derivation under way, as a context: everything read so far is a source of what is written.

    All writes commit together when the block ends, in one `Store.write`, which refuses them if something read
    has changed or been withdrawn since, or keeps them all in quarantine. Nothing is written if the block
    raises. A derivation is used once.

    Parameters
    ----------
    store
        Where it reads and writes.
    kind, arch, source, scope, recipe
        Of what is written, unless a write says otherwise.
    relation
        Of the arcs, unless a read says otherwise.
    on_stale
        ``raise`` or ``quarantine``.
    allow_tombstoned, actor, reason
        Of the write.
    """

    def __init__(
        self,
        store: Store,
        *,
        kind: Kind,
        recipe: Recipe | None = None,
        scope: Scope = (),
        arch: Arch = Arch.NONE,
        source: Source = Source.EXTRACTION,
        relation: Relation = Relation.DERIVE,
        on_stale: OnStale = "raise",
        allow_tombstoned: bool = False,
        actor: str | None = None,
        reason: str | None = None,
    ) -> None:
        if on_stale not in ("raise", "quarantine"):
            raise InvalidInput("on_stale is raise or quarantine", witness=on_stale)
        self._store = store
        self._kind = kind
        self._recipe = recipe or Recipe()
        self._scope = scope
        self._arch = arch
        self._source = source
        self._relation = relation
        self._on_stale = on_stale
        self._allow_tombstoned = allow_tombstoned
        self._actor = actor
        self._reason = reason
        self._quarantined: tuple[Key, ...] = ()
        self._reads: dict[Read, None] = {}
        self._drafts: dict[Key, Draft] = {}
        self._state = "new"

    def __enter__(self) -> Self:
        if self._state != "new":
            raise InvalidInput("a derivation is used once", witness=self._state)
        self._state = "open"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._state = "ended"
        if kind is None and self._drafts:
            report = self._store.write(
                list(self._drafts.values()),
                act="derive",
                allow_tombstoned=self._allow_tombstoned,
                actor=self._actor,
                reason=self._reason,
                quarantine=self._on_stale == "quarantine",
            )
            self._quarantined = report.quarantined

    @property
    def quarantined(self) -> tuple[Key, ...]:
        """After the block: what was kept behind the barrier because something read had left service."""
        return self._quarantined

    def read(self, key: Key | str, relation: Relation | None = None, group: int = 0) -> Artifact:
        """The served version of `key` (or its written form), recorded as a source of every later write.

        Raises
        ------
        UnknownId, Withdrawn
        """
        self._require_open()
        artifact = self._store.get(Key.parse(key) if isinstance(key, str) else key)
        read = Read(
            key=artifact.key,
            version=artifact.version,
            relation=self._relation if relation is None else relation,
            group=group,
        )
        self._reads[read] = None
        return artifact

    def write(
        self,
        content: str,
        *,
        id: str | None = None,
        scope: Scope | None = None,
        kind: Kind | None = None,
        arch: Arch | None = None,
        source: Source | None = None,
        type: Type | None = None,
        slot: Slot | None = None,
        confidence: float | None = None,
        metadata: Mapping[str, Json] | None = None,
        embedding: Embedding | None = None,
        semantic: Sequence[Key] = (),
        recipe: Recipe | None = None,
    ) -> Key:
        """Write when the block ends; the key is valid from then on, its id random unless given.

        Raises
        ------
        InvalidInput
            This derivation has written the key already.
        """
        self._require_open()
        key = Key(self._scope if scope is None else scope, id or token_hex(8))
        if key in self._drafts:
            raise InvalidInput(f"{key} is written twice", witness=key)
        self._drafts[key] = Draft(
            key=key,
            content=content,
            kind=self._kind if kind is None else kind,
            arch=self._arch if arch is None else arch,
            source=self._source if source is None else source,
            type=type,
            slot=slot,
            confidence=confidence,
            metadata=metadata or {},
            embedding=embedding,
            recipe=self._recipe if recipe is None else recipe,
            reads=tuple(self._reads),
            semantic=tuple(semantic),
        )
        return key

    def _require_open(self) -> None:
        if self._state != "open":
            raise InvalidInput("a derivation reads and writes inside its with block", witness=self._state)
