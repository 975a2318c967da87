"""Artifacts: the values that go into the store, come out of it, or describe what is in it."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from functools import lru_cache
from types import MappingProxyType
from typing import Self, TypeAlias

from memorepair.errors import InvalidInput
from memorepair.graphs.terms import Arch, Kind, Relation
from memorepair.memory.schemas import require_schema
from memorepair.memory.values import (
    check_object,
    check_optional,
    check_text,
    check_type,
    check_word,
    is_number,
    is_whole,
    named,
)

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Scope: TypeAlias = tuple[str, ...]


def _nothing() -> Mapping[str, Json]:
    return MappingProxyType({})


SCOPES_KEPT = 4096
"""Scopes known to be in order: many keys share one."""


def check_scope(scope: Scope) -> None:
    """Refuse what is no tuple of texts that can be written and read back."""
    if not isinstance(scope, tuple):
        raise InvalidInput(f"a scope is a tuple of texts, not {named(scope)}", witness=scope)
    for part in scope:
        if not isinstance(part, str):  # also what cannot be looked up below
            raise InvalidInput("a scope part is non-empty printable text", witness=scope)
    _check_parts(scope)


@lru_cache(maxsize=SCOPES_KEPT)
def _check_parts(scope: Scope) -> None:
    for part in scope:
        if not part or not part.isprintable():
            raise InvalidInput("a scope part is non-empty printable text", witness=scope)
        # The scope ends at the first "::", so a colon at its end would go over to the id.
        if "/" in part or "::" in part or part.endswith(":"):
            raise InvalidInput("a scope part holds no / or ::, and ends with no :", witness=scope)


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """Identity of an artifact: its scope (a namespace tuple) and an id unique in it. Versions share the key.

    Written ``user/42::home``. An id in the root scope ``()`` is written bare, or as ``::a::b`` where ``::``
    is part of it. A scope part holds no ``/`` or ``::`` and ends with no ``:``: what is written reads back.
    """

    scope: Scope
    id: str

    def __post_init__(self) -> None:
        check_scope(self.scope)
        if not isinstance(self.id, str) or not self.id or not self.id.isprintable():
            raise InvalidInput("an id is a non-empty printable text", witness=self.id)

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


SERVING = frozenset((State.ACTIVE, State.PENDING_REVIEW))
"""States of a version that serving doors read."""


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

    def __post_init__(self) -> None:
        for name in ("entity", "attribute", "value", "scene"):
            text = getattr(self, name)
            if text is not None or name in ("entity", "attribute"):
                check_word(text, f"the {name} of a slot")
        check_type(self.polarity, bool, "the polarity of a slot is True or False")
        for bound in (self.valid_from, self.valid_to):
            if bound is not None and not is_number(bound):
                raise InvalidInput("a bound of validity is a finite number of seconds", witness=bound)


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedding:
    """A vector and the space it lives in; vectors of different spaces are never compared."""

    vector: tuple[float, ...]
    model: str
    revision: str
    normalised: bool

    def __post_init__(self) -> None:
        check_type(self.vector, tuple, "the vector of an embedding is a tuple of numbers")
        try:
            finite = bool(self.vector) and all(map(math.isfinite, array("f", self.vector)))
        except (TypeError, OverflowError) as error:
            raise InvalidInput(f"the vector of an embedding: {error}", witness=self.model) from error
        if not finite:
            raise InvalidInput("an embedding is not empty, of finite 32-bit numbers", witness=self.model)
        check_word(self.model, "the model of an embedding")
        check_word(self.revision, "the revision of an embedding")
        check_type(self.normalised, bool, "normalised is True or False")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCase:
    """A regression case stored with an artifact: its successor must still state `expect` where asked."""

    name: str
    contains: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_word(self.name, "the name of a task case")
        for texts in (self.contains, self.excludes):
            check_type(texts, tuple, "what a task case contains or excludes is a tuple of texts")
            for text in texts:
                check_word(text, f"what task case {self.name} contains or excludes")


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
        JSON Schema (the subset of `require_schema`) that a successor must satisfy.
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

    def __post_init__(self) -> None:
        for part in (self.version,) if self.operator is None else (self.operator, self.version):
            if not isinstance(part, str) or not part or "@" in part or not part.isprintable():
                raise InvalidInput("an operator's name or version is printable text without @", witness=part)
        check_object(self.params, "the params of a recipe")
        check_type(self.observed, bool, "observed is True or False")
        if self.schema is not None:
            check_object(self.schema, "the schema of a recipe")
            require_schema(self.schema)
        check_type(self.cases, tuple, "the cases of a recipe are a tuple")
        for case in self.cases:
            check_type(case, TaskCase, "a case of a recipe is a TaskCase")
        for name, number in (("value", self.value), ("cost", self.cost)):
            if number is not None and not is_number(number, low=0):
                raise InvalidInput(f"the {name} of a recipe is finite and not negative", witness=number)


_NO_RECIPE = Recipe()


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

    def __post_init__(self) -> None:
        check_type(self.key, Key, "what is read is a Key")
        check_type(self.relation, Relation, "the relation of a read is a Relation")
        if self.version is not None and not is_whole(self.version, low=1):
            raise InvalidInput("the version of a read is a whole number from 1", witness=self.version)
        if not is_whole(self.group, low=0):
            raise InvalidInput("the group of a read is a whole number from 0", witness=self.group)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a write brings: content, its description, its recipe, the reads it stands on.

    This and what it holds (`Slot`, `Embedding`, `Recipe`, `TaskCase`, `Read`) check themselves: InvalidInput
    where a value has the wrong type, is out of its range, or could not be stored and read back.

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
    recipe: Recipe = _NO_RECIPE
    reads: tuple[Read, ...] = ()
    semantic: tuple[Key, ...] = ()

    def __post_init__(self) -> None:
        check_type(self.key, Key, "the key of a draft is a Key")
        check_text(self.content, "the content of a draft", self.key)
        check_type(self.kind, Kind, "the kind of a draft is a Kind")
        check_type(self.arch, Arch, "the arch of a draft is an Arch")
        check_type(self.source, Source, "the source of a draft is a Source")
        check_optional(self.type, Type, "the type of a draft is a Type")
        check_optional(self.slot, Slot, "the slot of a draft is a Slot")
        if self.confidence is not None and not is_number(self.confidence, 0, 1):
            raise InvalidInput("the confidence of a draft is within 0 and 1", witness=self.confidence)
        check_object(self.metadata, "the metadata of a draft")
        check_optional(self.embedding, Embedding, "the embedding of a draft is an Embedding")
        check_type(self.recipe, Recipe, "the recipe of a draft is a Recipe")
        check_type(self.reads, tuple, "the reads of a draft are a tuple")
        for read in self.reads:
            check_type(read, Read, "a read of a draft is a Read")
        check_type(self.semantic, tuple, "the semantic arcs of a draft are a tuple")
        for other in self.semantic:
            check_type(other, Key, "a semantic arc of a draft leads to a Key")


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

    def draft(self) -> Draft:
        """A next version that says the same, described alike; without vector, sources and recipe."""
        return Draft(
            key=self.key,
            content=self.content,
            kind=self.kind,
            arch=self.arch,
            source=self.source,
            type=self.type,
            slot=self.slot,
            confidence=self.confidence,
            metadata=self.metadata,
        )


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
    """A search result; greater scores are better.

    By text the score is 1 over the rank, for the order within one list only; by vector it is the cosine with
    the query.
    """

    artifact: Artifact
    score: float


class SearchBy(StrEnum):
    """How a search compares: by the words, or by vectors."""

    TEXT = "text"
    VECTOR = "vector"


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
    one; `spared` counts the members of the cascade that evidence kept in service.
    `suspected` is the probability from which on its cascade follows suspected arcs, None where it follows
    recorded ones alone. `keys` names, of a dry run alone, what would be withdrawn, oldest version first.
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
    spared: int = 0
    suspected: float | None = None
    keys: tuple[Key, ...] | None = None
