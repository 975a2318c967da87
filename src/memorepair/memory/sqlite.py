"""SqliteStore: the store in one SQLite file."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from memorepair.errors import CorruptStore, InvalidInput, RepairInProgress, StepFailed, StoreError
from memorepair.graphs.support import Policy
from memorepair.graphs.terms import Kind
from memorepair.memory import catalogue, check, costs, doors, engine, export, snapshot, statistics
from memorepair.memory import survey as surveys
from memorepair.memory.arguments import as_member
from memorepair.memory.artifact import (
    Artifact,
    Case,
    CaseStatus,
    Draft,
    Embedding,
    Erasure,
    Hit,
    Json,
    Key,
    Listing,
    Past,
    Recipe,
    Scope,
    SearchBy,
    State,
)
from memorepair.memory.barrier import Barrier
from memorepair.memory.cases import Cases
from memorepair.memory.clock import steady
from memorepair.memory.codec import SPACE, Prepared, embed, key_of, prepare, scope_name
from memorepair.memory.compaction import compact
from memorepair.memory.connection import Connection, examine
from memorepair.memory.erasure import Eraser
from memorepair.memory.exchange import (
    Carried,
    Entry,
    Fault,
    Filled,
    Marks,
    Member,
    MergeReport,
    OperatorCost,
    OperatorRun,
    Progress,
    PruneReport,
    Receipt,
    Recovery,
    Release,
    Spared,
    Successor,
    SupportArc,
    SuspectedArc,
    UndoReport,
    WriteReport,
)
from memorepair.memory.export import Export
from memorepair.memory.extraction import Extractor, extracted
from memorepair.memory.journal import Journal
from memorepair.memory.mending import Mending
from memorepair.memory.merging import Merging
from memorepair.memory.migration import migrate
from memorepair.memory.notes import Notes
from memorepair.memory.publication import Publication
from memorepair.memory.repairlock import repair_lock
from memorepair.memory.retention import Retention
from memorepair.memory.secret import Secret, key_file
from memorepair.memory.snapshot import Snapshot
from memorepair.memory.spaces import Spaces, Switch, filled
from memorepair.memory.statistics import Statistics
from memorepair.memory.store import NO_DELTA, NO_MARKS, NO_SUCCESSORS
from memorepair.memory.survey import Survey
from memorepair.memory.suspects import Suspects
from memorepair.memory.undo import Undo
from memorepair.memory.upkeep import Upkeep
from memorepair.memory.usage import Usage
from memorepair.memory.values import check_names, check_text, named, require_names
from memorepair.memory.vectorindex import VectorIndex, forget
from memorepair.memory.vectors import STORED, Embedder, Space, Vectors, embedded, space_of
from memorepair.memory.writer import Writer

logger = logging.getLogger(__name__)

_NO_VECTORS = "the embedder has raised %s; the vectors are left for later"

PURGE_SECONDS = 2.0
"""How long an erasure waits for readers with older snapshots before it is pending."""


def _place(path: str | Path) -> Path:
    if not isinstance(path, str | Path):
        raise InvalidInput(f"a path is a text or a Path, not {named(path)}", witness=path)
    if str(path) in ("", ":memory:"):
        raise InvalidInput("a store needs a file: its log, its lock and its key lie beside it", witness=path)
    try:
        return Path(path).resolve()  # the key lies beside the file itself, not beside a link to it
    except (OSError, ValueError, RuntimeError) as error:
        raise StoreError(f"{path!r} is no path: {error}", witness=str(path)) from error


class SqliteStore:
    """The `Store` in one SQLite file, with its key beside it; what each method promises is written there.

    Several processes may open the file. Several threads may use one store: one connection and one lock, so
    calls run one after another; open the file once a thread to read in parallel.
    """

    def __init__(
        self,
        db: Connection,
        secret: Secret,
        clock: Callable[[], int],
        embedder: Embedder | None = None,
        vector_index: bool = False,
        extractor: Extractor | None = None,
    ) -> None:
        self._db = db
        self._secret = secret
        self._clock = clock
        self._embedder = embedder
        self._extractor = extractor
        self._index = VectorIndex(db, secret) if vector_index else None
        self._usage = Usage(db, clock)
        self._journal = Journal(db, secret, clock)
        barrier = Barrier(db)
        writer = Writer(db, self._journal, secret, clock)
        self._writer = writer
        self._merging = Merging(db, self._journal, secret, writer, clock)
        self._suspects = Suspects(db, self._journal)
        self._cases = Cases(db, self._journal, barrier, writer, self._suspects, secret, clock)
        self._publication = Publication(db, self._journal, barrier, writer)
        self._upkeep = Upkeep(db, self._journal, writer, self._cases)
        self._mending = Mending(db, self._journal)
        self._notes = Notes(db, self._journal)
        self._spaces = Spaces(db, self._journal, self._cases, self._notes)
        self._undo = Undo(db, self._journal, self._cases, self._suspects)
        self._eraser = Eraser(db, self._journal, secret, self._cases)
        self._retention = Retention(db, self._journal)
        doors.register(db)

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        create: bool = True,
        clock: Callable[[], int] = time.time_ns,
        readonly: bool = False,
        embedder: Embedder | None = None,
        vector_index: bool = False,
        extractor: Extractor | None = None,
    ) -> Self:
        """Open the store at `path`; an empty file is a new one.

        Parameters
        ----------
        create
            Make it if it is not there.
        clock
            Nanoseconds since the epoch; see `steady`.
        readonly
            Write nothing, not even uses.
        embedder
            Makes the vectors of what is written from now on, and of queries; without one there are none but
            those that drafts bring.
        vector_index
            Keep a `VectorIndex` of large scopes beside the file, and search by it.
        extractor
            Gives slots to what is written without one.

        Raises
        ------
        StoreError
            It is not there and may not be made, or no file can be there.
        ForeignStore, NewerSchema, CorruptStore
            The file is something else, newer, or damaged, or its key is missing or another's.
            It is unchanged.

        Notes
        -----
        A file that this process may not write is open read-only, whether asked for or not.
        """
        place = _place(path)
        clock = steady(clock)
        if embedder is not None and getattr(embedder, "known", True):
            space_of(embedder)
        key = key_file(place)
        if examine(place):
            readonly = readonly or not os.access(place, os.W_OK)
            secret = Secret.load(key)
        elif not create or readonly:
            raise StoreError(f"there is no store at {place}", witness=str(place))
        else:
            secret = None
        db = Connection.open(place, readonly=readonly)
        try:
            secret = migrate(db, secret, key, clock)
            store = cls(db, secret, clock, embedder, vector_index, extractor)
            if store._journal.verify(first_only=True):
                raise CorruptStore(f"the key {key.name} is not the key of {place}", witness=str(key))
        except BaseException:
            db.close()
            raise
        return store

    def close(self) -> None:
        """Write the uses not yet written, close the file; a second call does nothing."""
        if self._usage and not self._db.readonly and not self._db.closed:
            try:
                with self._writing():
                    pass
            finally:
                self._db.close()
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def path(self) -> Path:
        """The file."""
        return self._db.path

    @property
    def readonly(self) -> bool:
        """Whether nothing can be written."""
        return self._db.readonly

    def require_writable(self) -> None:
        self._db.require_writable()

    def _prepare(self, drafts: Iterable[Draft]) -> list[Prepared]:
        return embed(prepare(drafts), self._embedder)

    def _prepare_late(self, drafts: Iterable[Draft]) -> list[Prepared]:
        """Without vectors where the embedder fails: no repair waits for one; see `embed_missing`."""
        prepared = prepare(drafts)
        try:
            return embed(prepared, self._embedder)
        except Exception as error:  # noqa: BLE001  whatever an embedder raises: it is told, the repair goes on
            logger.warning(_NO_VECTORS, type(error).__name__)
            return prepared

    def _stating(self, drafts: Sequence[Draft]) -> Sequence[Draft]:
        return drafts if self._extractor is None else extracted(drafts, self._extractor)

    @contextmanager
    def _writing(self, *, full: bool = False, keep: bool = True) -> Iterator[None]:
        with self._db.locked():
            with self._db.writing(full=full, keep=keep):
                yield
                self._usage.flush()
            if keep:
                self._usage.forget()

    # writing ---------------------------------------------------------------------------------------

    def write(
        self,
        drafts: Sequence[Draft],
        *,
        act: str = "record",
        allow_cycles: bool = False,
        allow_tombstoned: bool = False,
        actor: str | None = None,
        reason: str | None = None,
        quarantine: bool = False,
        progress: Progress | None = None,
    ) -> WriteReport:
        prepared = self._prepare(self._stating(drafts))
        (require_names if allow_tombstoned else check_names)(actor, reason)
        with self._writing():
            return self._writer.write(
                prepared,
                act=act,
                allow_cycles=allow_cycles,
                allow_tombstoned=allow_tombstoned,
                actor=actor,
                reason=reason,
                quarantine=quarantine,
                progress=progress,
            )

    def merge(
        self,
        items: Sequence[Carried],
        *,
        update: bool = False,
        actor: str | None = None,
        reason: str | None = None,
        dry_run: bool = False,
    ) -> MergeReport:
        check_names(actor, reason)
        prepared = self._prepare(item.draft for item in items if item.draft is not None)
        places = ((item.key, item.version) for item in items if item.draft is not None)
        drafts = dict(zip(places, prepared, strict=True))
        with self._writing(keep=not dry_run):
            return self._merging.merge(items, drafts, update=update, actor=actor, reason=reason)

    def open_case(
        self,
        *,
        event: str,
        roots: Sequence[Key],
        actor: str | None,
        reason: str | None,
        replacements: Sequence[Draft] = (),
        successors: Mapping[Key, Key] = NO_SUCCESSORS,
        delta: Mapping[str, Json] = NO_DELTA,
        erase: bool = False,
        evidence: Policy = "none",
        same_origin: Sequence[Sequence[Key]] = (),
        suspected: float | None = None,
        suspects: Sequence[SuspectedArc] = (),
        look: Callable[[int], None] | None = None,
        expect: Callable[[], None] | None = None,
        dry_run: bool = False,
    ) -> Case:
        prepared = prepare(replacements)  # without vectors: the barrier waits for no embedder
        check_names(actor, reason)
        with self._writing(full=True, keep=not dry_run):
            if expect is not None:
                expect()
            newest = self._db.number("SELECT coalesce(max(vid), 0) FROM version")
            number = self._cases.open(
                event,
                roots,
                actor=actor,
                reason=reason,
                replacements=prepared,
                successors=successors,
                delta=delta,
                erase=erase,
                evidence=evidence,
                same_origin=same_origin,
                suspected=suspected,
                suspects=suspects,
            )
            case = self._cases.get(number)
            if dry_run:
                case = replace(case, id=0, keys=self._cases.withdrawn(number))
            if look is not None:
                look(number)
        if dry_run:
            return case
        if prepared and self._embedder is not None:
            self._embed_late(newest, len(prepared))
        return case

    def _embed_late(self, newest: int, n: int) -> None:
        """Vectors of the n versions that an event brought; where it fails `embed_missing` makes up for it."""
        try:
            self.embed_missing(n, after=newest)
        except Exception as error:  # noqa: BLE001  whatever it raises, the withdrawal has been committed
            logger.warning(_NO_VECTORS, type(error).__name__)

    def maintain(
        self,
        drafts: Sequence[Draft],
        *,
        duplicates: Mapping[Key, Key] = NO_SUCCESSORS,
        marks: Marks = NO_MARKS,
        anew: bool = False,
        delta: Mapping[str, Json] = NO_DELTA,
        actor: str | None,
        reason: str | None,
        expect: Callable[[], None] | None = None,
        dry_run: bool = False,
    ) -> Case:
        prepared = self._prepare(drafts) if anew else self._prepare_late(drafts)
        check_names(actor, reason)
        with self._writing(full=True, keep=not dry_run):
            if expect is not None:
                expect()
            number = self._upkeep.maintain(
                prepared,
                duplicates,
                marks,
                anew=anew,
                delta=delta,
                actor=actor,
                reason=reason,
                at=self._clock(),
            )
            case = self._cases.get(number)
        return replace(case, id=0) if dry_run else case

    def mend(
        self,
        keys: Sequence[Key],
        *,
        actor: str | None = None,
        reason: str | None = None,
        dry_run: bool = False,
    ) -> list[Key]:
        check_names(actor, reason)
        with self._writing(full=True, keep=not dry_run):
            return self._mending.states(keys, actor=actor, reason=reason)

    def reindex(self, *, actor: str | None = None, reason: str | None = None) -> None:
        check_names(actor, reason)
        with self._writing(full=True):
            if faults := check.check_content(self._db, self._secret):
                raise CorruptStore(
                    f"the index is not made anew from damaged content: {faults[0].message}", witness=faults[0]
                )
            self._mending.index(actor=actor, reason=reason)

    def embed_missing(self, limit: int, *, after: int = 0, actor: str | None = None) -> Filled:
        if self._embedder is None:
            raise InvalidInput("this memory was opened without an embedder", witness="embedder")
        space = space_of(self._embedder)
        with self._db.reading():
            wanted = self._spaces.without(space, after, limit)
        if not wanted:
            return Filled(0, (), 0)
        vectors = embedded(self._embedder, [text for _, text in wanted])
        made = [
            (vid, vector.astype(STORED).tobytes())
            for (vid, _), vector in zip(wanted, vectors, strict=True)
            if vector.any()
        ]
        with self._writing():
            return filled(self._spaces.fill(space, made, actor=actor), wanted, made)

    def hold_home(self, *, actor: str | None = None) -> None:
        with self._writing():
            self._spaces.hold(actor=actor)

    def lacking(self, space: Space) -> int:
        with self._db.reading():
            return len(self._spaces.lacking(space))

    def switch_space(
        self, space: Space, *, until: int, blank: Collection[int] = (), actor: str, reason: str
    ) -> Case:
        require_names(actor, reason)
        with self._writing(full=True):
            number = self._spaces.go(space, blank=blank, until=until, actor=actor, reason=reason)
            return self._cases.get(number)

    def drop_vectors(
        self, space: Space, *, early: bool = False, actor: str, reason: str, dry_run: bool = False
    ) -> int:
        require_names(actor, reason)
        with self._writing(full=True, keep=not dry_run):
            dropped = self._spaces.drop(space, self._clock(), early=early, actor=actor, reason=reason)
            if not dry_run:
                forget(self._db)
            return dropped

    def index_vectors(self, *, progress: Progress | None = None) -> dict[Scope, int]:
        index = self._index or VectorIndex(self._db, self._secret)
        space = self.home()
        if space is None:
            return {}
        with self._db.reading():
            number = self._db.number(SPACE, space)
            scopes = self._db.rows("SELECT sid, name FROM scope ORDER BY name")
        built: dict[Scope, int] = {}
        for place, (sid, name) in enumerate(scopes):
            shelf = index.build(sid, number, space)
            if shelf is not None:
                built[key_of(name, "any").scope] = len(shelf)
            if progress is not None:
                progress("index", place + 1, len(scopes))
        return built

    def spaces(self) -> dict[Space, int]:
        with self._db.reading():
            return self._spaces.counts()

    def home(self) -> Space | None:
        with self._db.reading():
            return self._spaces.home()

    def switch(self) -> Switch | None:
        with self._db.reading():
            return self._spaces.switch()

    def vectors(self, space: Space, keys: Sequence[Key]) -> dict[Key, Vectors]:
        with self._db.reading():
            return self._spaces.vectors(space, keys)

    def sample(self, space: Space, limit: int, *, given: bool = True) -> list[Key]:
        with self._db.reading():
            return self._spaces.sample(space, limit, given=given)

    @property
    def embedder(self) -> Embedder | None:
        """What makes vectors of what is written."""
        return self._embedder

    @property
    def space(self) -> Space | None:
        try:
            return None if self._embedder is None else space_of(self._embedder)
        except StepFailed:  # it has to ask, gets no answer, and has said so
            return None

    def marks(self, keys: Sequence[Key]) -> dict[Key, float]:
        with self._db.reading():
            return doors.marks(self._db, list(keys))

    def notes(self, book: str) -> dict[str, Json]:
        with self._db.reading():
            return self._notes.read(book)

    def note(
        self,
        book: str,
        notes: Mapping[str, Json],
        *,
        actor: str | None = None,
        reason: str | None = None,
        expect: Callable[[], None] | None = None,
        wait: bool = True,
    ) -> None:
        check_names(actor, reason)
        with self._db.locked(), nullcontext() if wait else self._db.impatient(), self._writing():
            if expect is not None:
                expect()
            self._notes.write(book, notes, actor=actor, reason=reason)

    def now(self) -> int:
        return self._clock()

    def widen_case(
        self, case: int, suspected: float, *, actor: str | None = None, reason: str | None = None
    ) -> int:
        check_names(actor, reason)
        with self._writing(full=True):
            return self._cases.widen(case, suspected, actor=actor, reason=reason)

    def judge_suspects(
        self, arcs: Sequence[SuspectedArc], *, accepted: bool, actor: str, reason: str, dry_run: bool = False
    ) -> None:
        require_names(actor, reason)
        with self._writing(keep=not dry_run):
            self._suspects.judge(arcs, accepted=accepted, actor=actor, reason=reason)

    def stage(self, case: int, draft: Draft) -> int:
        (prepared,) = self._prepare_late([draft])
        with self._writing():
            return self._publication.stage(case, prepared)

    def reject(self, case: int, versions: Sequence[tuple[Key, int]], reasons: Sequence[str]) -> None:
        with self._writing():
            self._publication.reject(case, versions, "; ".join(reasons) or None)

    def publish(
        self,
        case: int,
        successors: Sequence[Successor],
        releases: Sequence[Release] = (),
        *,
        brought: Sequence[Draft] = (),
        verdicts: tuple[tuple[str, str], ...] = (),
        past: Collection[tuple[Key, int]] = (),
        expect: Callable[[], None] | None = None,
        dry_run: bool = False,
    ) -> None:
        prepared = prepare(brought) if dry_run else self._prepare_late(brought)
        with self._writing(full=True, keep=not dry_run):
            self._publication.publish(case, successors, releases, prepared, verdicts, past, expect)

    def discard_staged(self, case: int) -> int:
        with self._writing():
            return self._publication.discard(case)

    def close_case(self, case: int) -> Case:
        with self._writing(full=True):
            self._cases.close(case)
            closed = self._cases.get(case)
            if closed.erasure is Erasure.ASKED:
                self._eraser.erase(case, actor=closed.actor, reason=closed.reason)
                forget(self._db)
            return self._cases.get(case)

    def begin_repair(self, case: int, digest: str, *, again: bool = False) -> None:
        with self._writing():
            self._cases.begin(case, digest, again=again)

    def set_status(self, case: int, status: CaseStatus) -> None:
        with self._writing():
            self._cases.set_status(case, status)

    def set_scale(self, case: int, scale: tuple[float, float]) -> None:
        with self._writing():
            self._cases.set_scale(case, scale)

    def repairing(self, case: int, *, wait: float = 0.0) -> AbstractContextManager[None]:
        self.case(case)
        return repair_lock(self.path, wait=wait)

    # taking back, removing ---------------------------------------------------------------------------

    def undo(self, case: int, *, actor: str, reason: str, dry_run: bool = False) -> UndoReport:
        require_names(actor, reason)
        with self._writing(full=True, keep=not dry_run):
            self._spaces.require_way_back(case)
            self._publication.discard(case)
            return self._undo.undo(case, actor=actor, reason=reason)

    def erase(self, case: int, *, actor: str, reason: str, dry_run: bool = False) -> Receipt:
        require_names(actor, reason)
        with self._writing(full=True, keep=not dry_run):
            made = self._eraser.receipt(case)
            self._eraser.erase(case, actor=actor, reason=reason)
            receipt = self._eraser.receipt(case)
            if not dry_run:
                forget(self._db)
        if not dry_run:
            self.purge()
            receipt = self.receipt(case)
        if receipt is None:
            raise CorruptStore(f"case {case} is erased without an entry in the journal", witness=case)
        if dry_run and made is None:
            return replace(receipt, status=Erasure.ASKED, entry=0, seal="")
        return receipt

    def purge(self, *, wait: float = PURGE_SECONDS) -> list[int]:
        with self._db.locked():
            return self._eraser.purge(wait=wait)

    def receipt(self, case: int) -> Receipt | None:
        with self._db.reading():
            return self._eraser.receipt(case)

    def prune(
        self,
        older_than: int,
        *,
        actor: str | None = None,
        reason: str | None = None,
        dry_run: bool = False,
    ) -> PruneReport:
        check_names(actor, reason)
        with self._db.locked():
            with self._writing(keep=not dry_run):
                report = self._retention.prune(self._clock() - older_than, actor=actor, reason=reason)
                if report.versions and not dry_run:
                    forget(self._db)
            return report if dry_run else replace(report, clean=compact(self._db, wait=PURGE_SECONDS))

    def recover(self) -> Recovery:
        if self.readonly or not self._db.number(
            """SELECT EXISTS(SELECT 1 FROM staged)
            OR EXISTS(SELECT 1 FROM cases WHERE status = ? OR erasure = ?)""",
            (CaseStatus.RUNNING, Erasure.PENDING),
        ):
            return Recovery()
        try:
            with repair_lock(self.path, wait=0.0):  # whoever holds it is alive, and this is its business
                return self._recover()
        except RepairInProgress:
            return Recovery()

    def _recover(self) -> Recovery:
        with self._writing():
            staged = self._db.rows("SELECT DISTINCT cause FROM staged ORDER BY cause")
            discarded = sum(self._publication.discard(case) for (case,) in staged)
            running = [case.id for case in self._cases.all(CaseStatus.RUNNING)]
            for case in running:
                self._cases.reopen(case)
        return Recovery(reopened=tuple(running), discarded=discarded, erased=tuple(self.purge()))

    def note_operator_runs(self, runs: Sequence[OperatorRun]) -> None:
        if runs:
            with self._writing():
                costs.note(self._db, runs)

    def operator_costs(self) -> list[OperatorCost]:
        return costs.running(self._db)

    # serving ---------------------------------------------------------------------------------------

    def get(self, key: Key) -> Artifact:
        with self._db.locked():
            aid, artifact = doors.get(self._db, key)
            last = self._usage.count(aid)
        return artifact if last is None else replace(artifact, last_accessed_at=last)

    def search(
        self,
        query: str | Embedding,
        *,
        scope: Scope,
        also: Sequence[Scope] = (),
        by: SearchBy | str = SearchBy.TEXT,
        limit: int = 10,
    ) -> list[Hit]:
        scopes = [scope, *also]
        if as_member(SearchBy, by) is SearchBy.TEXT:
            with self._db.reading():
                return doors.search(self._db, query, scopes, limit)
        space, vector = self._point(query)
        with self._db.locked():
            if self._index is not None and not self._db.raw.in_transaction:
                for one in scopes:
                    self._index.prepare(scope_name(one), space)
        with self._db.reading():
            if not isinstance(query, Embedding):  # again: another process may have switched meanwhile
                self._spaces.require(space)
            return doors.near(self._db, vector, space, scopes, limit, self._index)

    def _point(self, query: str | Embedding) -> tuple[Space, Vectors]:
        """Where a query lies; the embedder works outside of any transaction."""
        if isinstance(query, Embedding):
            space = Space(query.model, query.revision, len(query.vector), query.normalised)
            return space, np.asarray(query.vector, np.float32)
        text = doors.check_query(query)
        check_text(text, "a query", text)
        if self._embedder is None:
            raise InvalidInput("this memory was opened without an embedder", witness=text)
        space = space_of(self._embedder)
        with self._db.reading():
            self._spaces.require(space)
        return space, embedded(self._embedder, [text])[0]

    def history(self, key: Key) -> list[Past]:
        with self._db.reading():
            return doors.history(self._db, key)

    @contextmanager
    def exporting(self, signed: int = 0) -> Iterator[Export]:
        with self._db.reading():
            yield export.take(self._db, signed)

    # without content -------------------------------------------------------------------------------

    def statistics(self) -> Statistics:
        with self._db.reading():
            return statistics.take(self._db)

    def listing(
        self,
        *,
        scope: Scope | None = None,
        kind: Kind | None = None,
        state: State | None = None,
        limit: int | None = None,
    ) -> list[Listing]:
        return catalogue.listing(self._db, scope, kind, state, limit)

    def describe(self, key: Key) -> Listing:
        with self._db.reading():
            return catalogue.describe(self._db, key)

    def parents(self, key: Key, *, former: bool = False) -> list[Listing]:
        with self._db.reading():
            return catalogue.parents(self._db, key, former=former)

    def children(self, key: Key) -> list[Listing]:
        with self._db.reading():
            return catalogue.children(self._db, key)

    def counts(self) -> dict[tuple[State, Kind], int]:
        return catalogue.counts(self._db)

    def size(self) -> int:
        return self._db.number("SELECT count(*) FROM artifact")

    def case(self, case: int) -> Case:
        with self._db.reading():
            return self._cases.get(case)

    def cases(self, status: CaseStatus | None = None) -> list[Case]:
        with self._db.reading():
            return self._cases.all(status)

    def reading(self) -> AbstractContextManager[None]:
        return self._db.reading()

    def epoch(self) -> int:
        return self._journal.epoch()

    def journal(self, limit: int | None = 100) -> list[Entry]:
        return self._journal.entries(limit)

    def suspects(self, case: int | None = None, *, accepted: bool = True) -> list[SuspectedArc]:
        with self._db.reading():
            if case is None:
                return self._suspects.all(accepted=accepted)
            return self._suspects.of_case(case, self._cases.get(case).suspected)

    def served_with_recipes(self) -> list[tuple[Artifact, Recipe]]:
        with self._db.reading():
            return engine.served_with_recipes(self._db)

    def snapshot(self) -> Snapshot:
        with self._db.reading():
            return snapshot.take(self._db, self._suspects.all(accepted=True))

    def check(self) -> list[Fault]:
        with self._db.reading():
            faults = check.check(self._db, self._journal, self._secret)
        return faults + self.check_index()

    def check_index(self) -> list[Fault]:
        """Whether the full-text index agrees with the content; nothing of a store that is `readonly`."""
        if self._db.readonly:  # it takes a statement that counts as a write
            return []
        with self._db.writing(keep=False):
            return check.check_index(self._db)

    # reviewing -------------------------------------------------------------------------------------

    def inspect(self, key: Key, *, actor: str, reason: str, version: int | None = None) -> Artifact:
        require_names(actor, reason)
        with self._writing():
            return engine.inspect(self._db, self._journal, key, actor=actor, reason=reason, version=version)

    def sign_export(self, *, actor: str, reason: str) -> int:
        require_names(actor, reason)
        with self._writing():
            return export.sign(self._db, self._journal, actor=actor, reason=reason)

    # engine reads ----------------------------------------------------------------------------------

    def members(self, case: int) -> list[Member]:
        with self._db.reading():
            return engine.members(self._db, self._usage, case)

    def spared(self, case: int) -> list[Spared]:
        with self._db.reading():
            return engine.spared(self._db, self._usage, case)

    def spared_by(self, key: Key) -> list[int]:
        with self._db.reading():
            return engine.spared_by(self._db, key)

    def support(self, keys: Sequence[Key]) -> list[SupportArc]:
        with self._db.reading():
            return engine.support(self._db, keys)

    def recipes(self, keys: Sequence[Key]) -> dict[Key, Recipe]:
        with self._db.reading():
            return engine.recipes(self._db, keys)

    def before_image(self, key: Key) -> str:
        with self._writing():
            return engine.before_image(self._db, self._journal, key)

    def former(self, versions: Sequence[tuple[Key, int]]) -> dict[Key, Artifact]:
        with self._db.reading():
            return engine.former(self._db, versions)

    def drafts(self, versions: Sequence[tuple[Key, int]]) -> dict[Key, Draft]:
        with self._db.reading():
            return engine.drafts(self._db, versions)

    def tombstoned(self, key: Key, content: str) -> bool:
        with self._db.reading():
            return self._writer.is_tombstoned(key, content, successor=True)

    def staged_content(self, key: Key, version: int) -> str:
        with self._db.reading():
            return engine.staged_content(self._db, key, version)

    def served(self, keys: Sequence[Key]) -> dict[Key, Artifact]:
        return doors.served(self._db, list(keys))

    def survey(self, *, newer_than: int = 0, among: Sequence[int] | None = None) -> Survey:
        with self._db.reading():
            return surveys.survey(self._db, newer_than=newer_than, among=among)

    def digest(self, text: str) -> str:
        return self._secret.digest(text).hex()
