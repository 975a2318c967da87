"""Artifacts: the values that go into the store, come out of it, or describe what is in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import Self, TypeAlias

from memorepair.errors import InvalidInput
from memorepair.graphs.terms import Arch, Kind, Relation

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Scope: TypeAlias = tuple[str, ...]


def _nothing() -> Mapping[str, Json]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """Identity of an artifact: its scope (a namespace tuple) and an id unique in it. Versions share the key.

    Written ``user/42::home``. An id in the root scope ``()`` is written bare, or as ``::a::b`` where ``::``
    is part of it.
    """

    scope: Scope
    id: str

    def __post_init__(self) -> None:
        if not self.id or not self.id.isprintable():
            raise InvalidInput("an id is a non-empty printable text", witness=self.id)
        for part in self.scope:
            if not part or "/" in part or "::" in part or not part.isprintable():
                raise InvalidInput(
                    "a scope part is printable, non-empty, without / or ::", witness=self.scope
                )

    def __str__(self) -> str:
        return f"{'/'.join(self.scope)}::{self.id}" if self.scope or "::" in self.id else self.id

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the written form; the first ``::`` ends the scope."""
        scope, mark, id = text.partition("::")
        if not mark:
            return cls((), text)
        return cls(tuple(scope.split("/")) if scope else (), id)


class State(IntEnum):
    """State of a version; an artifact's state is its newest version's. Stored: never renumber."""

    ACTIVE = 0
    WITHDRAWN = 1
    QUARANTINED = 2
    SUPERSEDED = 3
    ARCHIVED = 4
    PENDING_REVIEW = 5
    ERASED = 6


class Source(StrEnum):
    """Who said it."""

    USER = "user"
    EXTRACTION = "extraction"
    LOG = "log"
    SYSTEM = "system"
    HUMAN = "human"
    TOOL = "tool"


class Type(StrEnum):
    """What sort of statement a memory is; it decides how fast it goes stale."""

    FACT = "fact"
    PREFERENCE = "preference"
    TEMPORARY = "temporary"


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """The place a statement fills: two memories can contradict only within one slot.

    `valid_from` and `valid_to` are seconds since the epoch, the interval half open; None is unbounded.
    """

    entity: str
    attribute: str
    value: str | None = None
    polarity: bool = True
    scene: str | None = None
    valid_from: float | None = None
    valid_to: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedding:
    """A vector and the space it lives in; vectors of different spaces are never compared."""

    vector: tuple[float, ...]
    model: str
    revision: str
    normalised: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCase:
    """A regression case stored with an artifact: its successor must still state `expect` where asked."""

    name: str
    contains: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How a version was made and what its successors must satisfy; read by repair, never served.

    Attributes
    ----------
    operator, version
        The operator that can make it again; None where none is known.
    params
        The operator's arguments (JSON).
    observed
        True for the result of a call that changed the outside world: never re-run.
    schema
        JSON Schema (the subset of `repair.validation`) that a successor must satisfy.
    cases
        Task regression cases.
    value, cost
        Override of the default pricing; None leaves it to the default.
    """

    operator: str | None = None
    version: str = "1"
    params: Mapping[str, Json] = field(default_factory=_nothing)
    observed: bool = False
    schema: Mapping[str, Json] | None = None
    cases: tuple[TaskCase, ...] = ()
    value: float | None = None
    cost: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """One tracked read: an influence arc from `key` (at `version`) into what was written.

    `version` None means the current one when the write commits. Reads of one `group` are needed together;
    `group` 0 for all is the common case.
    """

    key: Key
    version: int | None = None
    relation: Relation = Relation.DERIVE
    group: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a write brings: content, its description, its recipe, the reads it stands on.

    `content` is text; structured content is canonical JSON text. `semantic` arcs serve retrieval only.
    """

    key: Key
    content: str
    kind: Kind = Kind.RECORD
    arch: Arch = Arch.NONE
    source: Source = Source.USER
    type: Type | None = None
    slot: Slot | None = None
    confidence: float | None = None
    metadata: Mapping[str, Json] = field(default_factory=_nothing)
    embedding: Embedding | None = None
    recipe: Recipe = field(default_factory=Recipe)
    reads: tuple[Read, ...] = ()
    semantic: tuple[Key, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """A served version with its content.

    Times are nanoseconds since the epoch. `version` counts from 1. `pending_review` is served, flagged.
    """

    key: Key
    version: int
    content: str
    kind: Kind
    arch: Arch
    state: State
    source: Source
    type: Type | None
    slot: Slot | None
    confidence: float | None
    metadata: Mapping[str, Json]
    embedding: Embedding | None
    created_at: int
    updated_at: int
    last_accessed_at: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What stays visible of any artifact, served or not: no content.

    `case` is the case that took it out of service, None while served. `digest` is keyed (hex).
    """

    key: Key
    version: int
    kind: Kind
    arch: Arch
    state: State
    case: int | None
    reason: str | None
    created_at: int
    updated_at: int
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A search result; `score` is for ranking within one result list only (greater is better)."""

    artifact: Artifact
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """An entry of an artifact's history; `content` is None for what left through a repair event."""

    version: int
    state: State
    case: int | None
    created_at: int
    digest: str
    content: str | None


class CaseStatus(StrEnum):
    """Life of a case."""

    OPEN = "open"
    RUNNING = "running"
    CLOSED = "closed"
    CLOSED_PARTIAL = "closed_partial"
    UNDONE = "undone"


class Erasure(StrEnum):
    """How far the erasure of a case has come.

    Asked: the case ends with it. Pending: the rows are gone, but bytes may remain in the files while a reader
    holds an older snapshot. Done: nothing is left.
    """

    ASKED = "asked"
    PENDING = "pending"
    DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A declared event whose withdrawal is committed.

    `event` is the event's kind (delete, correct, migrate), `withdrawn` how many artifacts it took out of
    service, `delta` what the event brings, as the repair room wrote it (JSON, no content), `scale` the value
    and the cost that count as 1 in all its plans, None until its first repair. `attempts` counts the repairs
    begun since the last one that came to its end, in any process; `erasure` is None where nobody asked for
    one.
    """

    id: int
    event: str
    status: CaseStatus
    roots: tuple[Key, ...]
    withdrawn: int
    opened_at: int
    actor: str | None
    reason: str | None
    delta: Mapping[str, Json] = field(default_factory=_nothing)
    scale: tuple[float, float] | None = None
    attempts: int = 0
    erasure: Erasure | None = None
