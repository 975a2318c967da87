"""Capture: what a derivation reads becomes the provenance of what it writes, so no arc can be forgotten."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar, copy_context
from dataclasses import replace
from functools import wraps
from secrets import token_hex
from threading import Lock
from types import TracebackType
from typing import Literal, ParamSpec, Self, TypeAlias, TypeVar

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

P = ParamSpec("P")
T = TypeVar("T")

_INNERMOST: ContextVar[Derivation | None] = ContextVar("memorepair_derivation", default=None)


def innermost(store: Store) -> Derivation | None:
    """The innermost derivation on this store that is under way where this is called; None where none is."""
    here = _INNERMOST.get()
    while here is not None and not (here._state == "open" and here._is_of(store)):
        here = here._outer
    return here


def note_reads(store: Store, artifacts: Iterable[Artifact]) -> None:
    """Count what was served as read by the innermost derivation."""
    here = innermost(store)
    if here is not None:
        for artifact in artifacts:
            here._note(artifact.key, artifact.version)


def note_step(store: Store, key: Key) -> None:
    """Count what was written beside the innermost derivation, and handed to it, as read by it."""
    here = innermost(store)
    if here is not None:
        here._note(key, store.describe(key).version)


class Derivation:
    """A derivation under way, as a context: everything read so far is a source of what is written.

    All writes commit together when the block ends, in one `Store.write`, which refuses them if something read
    has changed or been withdrawn since, or keeps them all in quarantine. Nothing is written if the block
    raises. A derivation is used once, as ``with`` or as ``async with``.

    It follows the flow of control: tasks and `asyncio.to_thread` begun inside belong to it; another thread
    does where it runs what `bound` gave. What a memory serves where it is the innermost one counts as read by
    it. A value that was read and not used counts all the same, unless `release` takes it back.

    Nested, it begins with what the outer one has read so far (that could have flowed in), unless `isolated`;
    when it ends, what it wrote counts as read by the outer one (that flows out), and what it read that is in
    none of it; where it wrote nothing or raised, all that it read.

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
    isolated
        Takes nothing from the derivation around it.
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
        isolated: bool = False,
    ) -> None:
        if on_stale not in ("raise", "quarantine"):
            raise InvalidInput("on_stale is raise or quarantine", witness=on_stale)
        (require_names if allow_tombstoned else check_names)(actor, reason)
        self._store = store
        self._outer: Derivation | None = None
        check_type(isolated, bool, "isolated is True or False")
        self._isolated = isolated
        self._lock = Lock()
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
        self._begun: set[Read] = set()
        self._written: list[Key] = []
        self._drafts: dict[Key, Draft] = {}
        self._state = "new"

    def __enter__(self) -> Self:
        if self._state != "new":
            raise InvalidInput("a derivation is used once", witness=self._state)
        self._state = "open"
        self._outer = _INNERMOST.get()
        around = None if self._isolated else innermost(self._store)
        if around is not None:
            self._reads = around._read_so_far()
        self._begun = set(self._reads)
        _INNERMOST.set(self)
        return self

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._state = "ended"
            drafts, reads = list(self._drafts.values()), dict(self._reads)
        if _INNERMOST.get() is self:
            _INNERMOST.set(self._outer)
        around = innermost(self._store)
        written: list[Key] = []
        try:
            if kind is None and drafts:
                report = self._store.write(
                    drafts,
                    act="derive",
                    allow_tombstoned=self._allow_tombstoned,
                    actor=self._actor,
                    reason=self._reason,
                    quarantine=self._on_stale == "quarantine",
                )
                self._quarantined = report.quarantined
                written = [draft.key for draft in drafts]
        finally:
            # What was read and is in nothing that was written flows out by itself: in a value, or an error.
            if around is not None:
                kept = {(read.key, read.version) for draft in drafts for read in draft.reads if written}
                left = (read for read in reads if read not in self._begun)
                around._take(written, [read for read in left if (read.key, read.version) not in kept])

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
        word = None if relation is None else as_member(Relation, relation)
        self._note(artifact.key, artifact.version, word, group)
        inside = innermost(self._store)
        if inside is not None and inside is not self:  # an outer one was asked: this block knows it, too
            inside._note(artifact.key, artifact.version, word, group)
        return artifact

    def _note(self, key: Key, version: int | None, relation: Relation | None = None, group: int = 0) -> None:
        """Count a version as read, however it was come by."""
        read = Read(
            key=key, version=version, relation=self._relation if relation is None else relation, group=group
        )
        with self._lock:
            self._reads[read] = None
            self._begun.discard(read)  # the outer one may have released it: what was read here flows out

    def _take(self, written: Iterable[Key], reads: Iterable[Read]) -> None:
        """What an inner derivation hands out when it ends: what it wrote, and what it read besides."""
        keys = list(written)
        for key in keys:
            self._note(key, self._store.describe(key).version)
        with self._lock:
            self._written.extend(keys)
            self._reads.update(dict.fromkeys(reads))

    def release(self, key: KeyLike) -> None:
        """Declare that nothing of what was read of `key` is in later writes; earlier ones keep their arc.

        Raises
        ------
        InvalidInput
            It was not read.
        """
        self._require_open()
        released = as_key(key)
        with self._lock:
            left = {read: None for read in self._reads if read.key != released}
            if len(left) == len(self._reads):
                raise InvalidInput(f"{released} was not read here", witness=released)
            self._reads = left

    def bound(self, function: Callable[P, T]) -> Callable[P, T]:
        """The function as it would run here, for a thread of its own: what it reads and writes counts here.

        It may be called by several threads at once; the block must outlast them.
        """
        context = copy_context()

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            # A context is entered by one thread at a time, so each call has a copy.
            return context.copy().run(function, *args, **kwargs)

        return call

    @property
    def written(self) -> tuple[Key, ...]:
        """What derivations inside this one have written so far, oldest first."""
        with self._lock:
            return tuple(self._written)

    def _is_of(self, store: Store) -> bool:
        """Whether it is on this store, by whatever handle: two on one file serve the same versions."""
        return self._store is store or self._store.path == store.path

    def _read_so_far(self) -> dict[Read, None]:
        """What counts as read so far, in order."""
        with self._lock:
            return dict(self._reads)

    def _flowed_in(self) -> dict[Read, None]:
        """What could be in a write: what counts as read here, and in blocks inside that are under way."""
        reads = self._read_so_far()
        inside = _INNERMOST.get()
        within: list[Derivation] = []
        while inside is not None and inside is not self:
            within.append(inside)
            inside = inside._outer
        for one in within if inside is self else ():
            if one._state == "open" and one._is_of(self._store):
                reads |= one._read_so_far()
        return reads

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
        uses: Iterable[KeyLike | Iterable[KeyLike]] | None = None,
    ) -> Key:
        """Write when the block ends; the key is valid from then on, its id random unless given.

        `uses` says how what was read supports the content: a list of keys are needed together, a list of
        lists are alternatives, each enough by itself. What was read and is not named is needed by each.

        Raises
        ------
        InvalidInput
            This derivation has written the key already, or has not read what the content uses.
        """
        self._require_open()
        key = Key(self._scope if scope is None else as_scope(scope), token_hex(8) if id is None else id)
        draft = Draft(
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
            reads=tuple(self._flowed_in()) if uses is None else self._grouped(uses),
            semantic=as_keys(semantic),
        )
        with self._lock:
            self._require_open()  # another thread may have ended the block
            if key in self._drafts:
                raise InvalidInput(f"{key} is written twice", witness=key)
            self._drafts[key] = draft
        return key

    def _grouped(self, uses: Iterable[KeyLike | Iterable[KeyLike]]) -> tuple[Read, ...]:
        """What was read, in the groups that `uses` states."""
        groups, reads = _alternatives(uses), self._flowed_in()
        named_keys = set[Key]().union(*groups)
        read_keys = {read.key for read in reads}
        if strange := named_keys - read_keys:
            raise InvalidInput("this derivation has not read what it uses", witness=min(strange))
        return tuple(
            replace(read, group=number)
            for number, group in enumerate(groups)
            for read in reads
            if read.key in group or read.key not in named_keys
        )

    def _require_open(self) -> None:
        if self._state != "open":
            raise InvalidInput("a derivation reads and writes inside its with block", witness=self._state)


def _alternatives(uses: Iterable[KeyLike | Iterable[KeyLike]]) -> list[set[Key]]:
    """The sets of keys that are each enough; keys without lists around them are one."""
    if isinstance(uses, Key | str) or not isinstance(uses, Iterable):
        raise InvalidInput("uses is a list of keys, or a list of lists of keys", witness=uses)
    listed = list(uses)
    flat = {as_key(one) for one in listed if isinstance(one, Key | str)}
    groups = [set(as_keys(one)) for one in listed if not isinstance(one, Key | str)]
    if flat and groups:
        raise InvalidInput("uses is a list of keys, or a list of lists of keys", witness=min(flat))
    if not all(groups):
        raise InvalidInput("an alternative names at least one key", witness=())
    return groups or [flat]
