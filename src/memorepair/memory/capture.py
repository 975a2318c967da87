"""Capture: what a derivation reads becomes the provenance of what it writes, so no arc can be forgotten."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from secrets import token_hex
from types import TracebackType
from typing import Literal, Self, TypeAlias

from memorepair.errors import InvalidInput
from memorepair.graphs.terms import Arch, Kind, Relation
from memorepair.memory.arguments import KeyLike, SlotLike, as_key, as_keys, as_member, as_scope, as_slot
from memorepair.memory.artifact import (
    Artifact,
    Draft,
    Embedding,
    Json,
    Key,
    Read,
    Recipe,
    Scope,
    Source,
    Type,
)
from memorepair.memory.store import Store
from memorepair.memory.values import check_names, check_type, require_names

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
        kind: Kind | str,
        recipe: Recipe | None = None,
        scope: Scope = (),
        arch: Arch | str = Arch.NONE,
        source: Source | str = Source.EXTRACTION,
        relation: Relation | str = Relation.DERIVE,
        on_stale: OnStale = "raise",
        allow_tombstoned: bool = False,
        actor: str | None = None,
        reason: str | None = None,
    ) -> None:
        if on_stale not in ("raise", "quarantine"):
            raise InvalidInput("on_stale is raise or quarantine", witness=on_stale)
        (require_names if allow_tombstoned else check_names)(actor, reason)
        self._store = store
        self._kind = as_member(Kind, kind)
        self._recipe = Recipe() if recipe is None else recipe
        check_type(self._recipe, Recipe, "a recipe is a Recipe")
        self._scope = as_scope(scope)
        self._arch = as_member(Arch, arch)
        self._source = as_member(Source, source)
        self._relation = as_member(Relation, relation)
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

    def read(self, key: KeyLike, relation: Relation | str | None = None, group: int = 0) -> Artifact:
        """The served version of `key`, recorded as a source of every later write.

        Raises
        ------
        UnknownId, Withdrawn
        """
        self._require_open()
        artifact = self._store.get(as_key(key))
        read = Read(
            key=artifact.key,
            version=artifact.version,
            relation=self._relation if relation is None else as_member(Relation, relation),
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
        kind: Kind | str | None = None,
        arch: Arch | str | None = None,
        source: Source | str | None = None,
        type: Type | str | None = None,
        slot: SlotLike | None = None,
        confidence: float | None = None,
        metadata: Mapping[str, Json] | None = None,
        embedding: Embedding | None = None,
        semantic: KeyLike | Iterable[KeyLike] = (),
        recipe: Recipe | None = None,
    ) -> Key:
        """Write when the block ends; the key is valid from then on, its id random unless given.

        Raises
        ------
        InvalidInput
            This derivation has written the key already.
        """
        self._require_open()
        key = Key(self._scope if scope is None else as_scope(scope), token_hex(8) if id is None else id)
        if key in self._drafts:
            raise InvalidInput(f"{key} is written twice", witness=key)
        self._drafts[key] = Draft(
            key=key,
            content=content,
            kind=self._kind if kind is None else as_member(Kind, kind),
            arch=self._arch if arch is None else as_member(Arch, arch),
            source=self._source if source is None else as_member(Source, source),
            type=None if type is None else as_member(Type, type),
            slot=as_slot(slot),
            confidence=confidence,
            metadata={} if metadata is None else metadata,
            embedding=embedding,
            recipe=self._recipe if recipe is None else recipe,
            reads=tuple(self._reads),
            semantic=as_keys(semantic),
        )
        return key

    def _require_open(self) -> None:
        if self._state != "open":
            raise InvalidInput("a derivation reads and writes inside its with block", witness=self._state)
