"""Store: the port between a memory and what repairs it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from memorepair.graphs.support import Policy
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import (
    Artifact,
    Case,
    CaseStatus,
    Draft,
    Embedding,
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
from memorepair.memory.snapshot import Snapshot
from memorepair.memory.spaces import Switch
from memorepair.memory.statistics import Statistics
from memorepair.memory.survey import Survey
from memorepair.memory.vectors import Space, Vectors

__all__ = [
    "Carried",
    "Entry",
    "Fault",
    "Member",
    "MergeReport",
    "OperatorCost",
    "OperatorRun",
    "PruneReport",
    "Receipt",
    "Recovery",
    "Release",
    "Store",
    "Successor",
    "SupportArc",
    "SuspectedArc",
    "UndoReport",
    "WriteReport",
]

NO_SUCCESSORS: Mapping[Key, Key] = {}
NO_DELTA: Mapping[str, Json] = {}
NO_MARKS: Marks = {}


class Store(Protocol):
    """Where artifacts live, behind a barrier, with a journal.

    Every write is one transaction and one sealed journal entry or more; on any error nothing has changed.
    What has been withdrawn leaves by no serving door; the engine reads are for repair alone.
    """

    @property
    def path(self) -> Path:
        """Where it lies: two handles on one file are one store."""
        ...

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
        """Store drafts, which may read each other in any order; an existing key gets its next version.

        Parameters
        ----------
        act
            What the journal calls it: record, derive, import.
        allow_cycles
            Store cycles and report them instead of refusing them.
        allow_tombstoned
            Learn again what was removed; a person signs with `actor` and `reason`.
        quarantine
            Where something read, or the key itself, has left service or changed since, keep all drafts behind
            the barrier instead of raising; still raised where what was read has been erased.
        progress
            Told what is done of the rows, then of the index.

        Raises
        ------
        UnknownId
            A read, or a similar artifact, does not exist.
        Withdrawn
            A key is behind the barrier, or what was read is.
        StaleRead
            What was read has changed since.
        Tombstoned
            An event removed this content from this scope.
        CycleFound
            The reads close a cycle. A version that reads the one before stands on what that one stood on.
        InvalidInput
            A key twice, content that is no text or longer than 16 MiB, metadata that is no JSON, NaN.
        """
        ...

    def merge(
        self,
        items: Sequence[Carried],
        *,
        update: bool = False,
        actor: str | None = None,
        reason: str | None = None,
        dry_run: bool = False,
    ) -> MergeReport:
        """Take over versions from elsewhere: new keys as they are, with their past; what is here stays.

        Parameters
        ----------
        update
            What differs here gets its next version, unless an event took that content out of service.
        dry_run
            Do all of it, then take it back.

        Raises
        ------
        InvalidInput
            A key without exactly one current version, a version twice.
        UnknownId
            What a version read is neither among the items nor here.
        """
        ...

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
        """Withdraw the cascade of the roots, and serve what replaces them; durable when it returns.

        Parameters
        ----------
        event
            ``delete`` concerns every version of its roots and forbids learning their content again; any other
            the current ones.
        replacements
            On a root's own key: its next version. On a key named in `successors`: written beside.
        successors
            Root -> the other key that supersedes it.
        erase
            The close of the case, a deletion, removes the content too.
        evidence, same_origin
            What other support spares (see `weigh`); sets of keys that count as one source each.
        suspected
            The cascade also follows suspected arcs: accepted ones from this probability on, and firm ones.
        suspects
            Arcs to accept in the name of the case, as far as its cascade follows them; what a person has
            judged stays as it is.
        look
            Called with the case's number when all is done and before it is committed; it may read the store.
        expect
            Called first, under the write lock; what it raises ends it. It may read the store.
        dry_run
            Do all of it, then take it back; the case has number 0, and `keys`.

        Raises
        ------
        UnknownId
            A root, a successor or a source does not exist.
        InvalidEvent
            No roots, one twice, a replacement of no root, an erasure of anything but a deletion, or
            with evidence.
        Withdrawn
            A root has been erased.
        Tombstoned, Withdrawn, StaleRead, InvalidInput
            As `write`, for a replacement.
        """
        ...

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
        """Change what leaves every statement as it is, as one case that is closed when it returns.

        Nothing is withdrawn: new state in and old state out in one transaction, and `undo` takes it back.

        Parameters
        ----------
        drafts
            Next versions that say the same; they stand on what the former ones stood on, and keep their time.
        duplicates
            Artifact to archive -> the one that stays; its readers read that one from then on.
        marks
            Served artifacts with their weight for ranking until they are read again; None for review.
        anew
            Leave the vectors that were given behind: the store's embedder makes new ones.
        expect
            Called first, under the write lock; what it raises ends it. It may read the store.

        Raises
        ------
        InvalidEvent
            Nothing to change; an artifact both kept and archived.
        StaleRead
            What is to change is not served any more.
        CycleFound
            The one that stays was made from its duplicate, or the other way round.
        """
        ...

    def mend(
        self,
        keys: Sequence[Key],
        *,
        actor: str | None = None,
        reason: str | None = None,
        dry_run: bool = False,
    ) -> list[Key]:
        """Put the barriers of artifacts as the journal has them; those that stood otherwise."""
        ...

    def reindex(self, *, actor: str | None = None, reason: str | None = None) -> None:
        """Make the full-text index anew from the content, once that has been checked.

        Raises
        ------
        CorruptStore
            The content is not what was written; nothing was changed.
        """
        ...

    def embed_missing(self, limit: int, *, after: int = 0, actor: str | None = None) -> Filled:
        """Give vectors of the store's embedder to at most `limit` served versions without one.

        Vectors of other spaces stay: a switch of models has both until `drop_vectors`.
        """
        ...

    def hold_home(self, *, actor: str | None = None) -> None:
        """Write down where memories live, before another space is filled; searches elsewhere are refused."""
        ...

    def lacking(self, space: Space) -> int:
        """How many served artifacts have no vector in the space."""
        ...

    def switch_space(
        self, space: Space, *, until: int, blank: Collection[int] = (), actor: str, reason: str
    ) -> Case:
        """Answer searches from another space from now on; durable when it returns, and taken back by `undo`.

        Parameters
        ----------
        until
            Up to when (nanoseconds) the vectors of the former space are kept.
        blank
            Versions (vid) that say nothing, so that they have no vector.

        Raises
        ------
        InvalidInput
            Searches are answered from there already.
        StaleRead
            Something served has no vector there; nothing was changed.
        """
        ...

    def drop_vectors(
        self, space: Space, *, early: bool = False, actor: str, reason: str, dry_run: bool = False
    ) -> int:
        """Remove the vectors that an embedder made in a space, by a person; how many.

        Raises
        ------
        InvalidInput
            Memories live there; or it is kept for a way back still, and not dropped `early`.
        """
        ...

    def index_vectors(self, *, progress: Progress | None = None) -> dict[Scope, int]:
        """Build the vector index of each large scope anew; vectors in each.

        Raises
        ------
        MissingDependency
            usearch is not installed.
        """
        ...

    def spaces(self) -> dict[Space, int]:
        """How many served artifacts have a vector in each space."""
        ...

    def home(self) -> Space | None:
        """Where memories live: the space of the last switch, else the one they began in."""
        ...

    def switch(self) -> Switch | None:
        """The newest switch that is not undone."""
        ...

    def vectors(self, space: Space, keys: Sequence[Key]) -> dict[Key, Vectors]:
        """Vectors of those of the keys that are served and have one in the space."""
        ...

    def sample(self, space: Space, limit: int, *, given: bool = True) -> list[Key]:
        """At most so many served artifacts with a vector in the space, the same ones each time.

        `given`: also those whose writer brought the vector.
        """
        ...

    @property
    def space(self) -> Space | None:
        """Of the store's embedder; None without one, or where it has to ask for it and gets no answer."""
        ...

    def marks(self, keys: Sequence[Key]) -> dict[Key, float]:
        """Weights that cases have given those of the keys that are served and not read since."""
        ...

    def notes(self, book: str) -> dict[str, Json]:
        """What housekeeping has noted in a book."""
        ...

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
        """Replace notes of a book, sealed by the journal; None removes one. Never content.

        `expect` is called first, under the write lock; what it raises ends it. Without `wait` it fails at
        once (StoreError) where another process writes.
        """
        ...

    def now(self) -> int:
        """Nanoseconds since the epoch, by the store's clock."""
        ...

    def widen_case(
        self, case: int, suspected: float, *, actor: str | None = None, reason: str | None = None
    ) -> int:
        """Withdraw what is suspected to stand on what the case took out, with all made from it; how many.

        Raises
        ------
        UnknownId, InvalidInput
            There is no such case, or it is undone.
        """
        ...

    def judge_suspects(
        self, arcs: Sequence[SuspectedArc], *, accepted: bool, actor: str, reason: str, dry_run: bool = False
    ) -> None:
        """Accept or reject suspected arcs, by a person; they never become recorded ones.

        Raises
        ------
        UnknownId
            An artifact does not exist.
        StaleRead
            A version is not served any more.
        """
        ...

    def suspects(self, case: int | None = None, *, accepted: bool = True) -> list[SuspectedArc]:
        """Accepted or rejected suspicions; with `case`, those that its cascade follows."""
        ...

    def served_with_recipes(self) -> list[tuple[Artifact, Recipe]]:
        """Everything that is served, in order of birth, with how it was made: for the audit."""
        ...

    def stage(self, case: int, draft: Draft) -> int:
        """Store a successor of a member in quarantine; its version number. The draft's reads do not count.

        Raises
        ------
        Tombstoned
            An event removed this content from this scope.
        """
        ...

    def reject(self, case: int, versions: Sequence[tuple[Key, int]], reasons: Sequence[str]) -> None:
        """Leave staged successors in quarantine, with the reasons in the journal."""
        ...

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
        """Serve successors and released versions, all or none; durable when it returns.

        Parameters
        ----------
        brought
            Artifacts outside the cascade that the case writes beside, new ones or next versions; they and the
            successors may read each other.
        verdicts
            The words of the validation of all that is brought; none where nothing has validated it.
        past
            Former versions that what is published has read, as versions that `history` shows.
        expect
            Called first, under the write lock; what it raises ends the publication. It may read the store.
        dry_run
            Do all of it, then take it back.

        Raises
        ------
        StaleRead
            A read is neither served and current, nor published by this call, nor of the past; a version of
            the past is not shown any more; a key is no longer withdrawn or is a root of a deletion; an event
            has removed meanwhile what a successor says.
        UnknownId
            A version is not staged for the case, or a key is no member of it.
        """
        ...

    def discard_staged(self, case: int) -> int:
        """Remove the content of what is staged, neither published nor rejected; how many versions."""
        ...

    def close_case(self, case: int) -> Case:
        """Archive the roots of a deletion; closed, or closed in part while members are withdrawn.

        Where an erasure was asked for, it is carried out in the same transaction; `purge` does the files.
        """
        ...

    def begin_repair(self, case: int, digest: str, *, again: bool = False) -> None:
        """Journal what a repair is about to do and count it as an attempt, unless it is planned `again`."""
        ...

    # taking back, removing -------------------------------------------------------------------------

    def undo(self, case: int, *, actor: str, reason: str, dry_run: bool = False) -> UndoReport:
        """Take a case back from its before-images; durable when it returns. The caller holds the repair lock.

        Raises
        ------
        UnknownId
            There is no such case.
        UndoRefused
            It is undone already, later work stands on it, or content it needs is gone; nothing was changed.
        """
        ...

    def erase(self, case: int, *, actor: str, reason: str, dry_run: bool = False) -> Receipt:
        """Remove the content of a deletion's cascade but for what is served, now and without repair.

        A dry run of an erasure that has been made is its receipt.

        Raises
        ------
        UnknownId
            There is no such case.
        InvalidInput
            It is no deletion, or undone.
        """
        ...

    def purge(self) -> list[int]:
        """Remove from the files what erasures have removed from the rows; the cases whose erasure is done."""
        ...

    def receipt(self, case: int) -> Receipt | None:
        """What a case has erased, without content; None where nothing."""
        ...

    def prune(
        self, older_than: int, *, actor: str | None = None, reason: str | None = None, dry_run: bool = False
    ) -> PruneReport:
        """Remove content that left service more than `older_than` nanoseconds ago and that nothing needs.

        The index and the file shrink with it.
        """
        ...

    def recover(self) -> Recovery:
        """Take back what a dead repair left staged, reopen its case, finish erasures; the barrier stays.

        Does nothing while another process repairs.
        """
        ...

    def set_status(self, case: int, status: CaseStatus) -> None:
        """Record that a case is open or running."""
        ...

    def set_scale(self, case: int, scale: tuple[float, float]) -> None:
        """Record the value and the cost that count as 1 in the case's plans; the first scale stays."""
        ...

    def repairing(self, case: int, *, wait: float = 0.0) -> AbstractContextManager[None]:
        """Hold the repair lock, exclusive across processes; RepairInProgress where another does."""
        ...

    def note_operator_runs(self, runs: Sequence[OperatorRun]) -> None:
        """Add runs to the running means of their operators."""
        ...

    def operator_costs(self) -> list[OperatorCost]:
        """Running means, in the order of operators, units and sizes."""
        ...

    # serving ---------------------------------------------------------------------------------------

    def get(self, key: Key) -> Artifact:
        """The served version; Withdrawn or UnknownId otherwise. Counts as a use."""
        ...

    def search(
        self,
        query: str | Embedding,
        *,
        scope: Scope,
        also: Sequence[Scope] = (),
        by: SearchBy | str = SearchBy.TEXT,
        limit: int = 10,
    ) -> list[Hit]:
        """Served artifacts of exactly this scope, and of those in `also`, best first.

        Parameters
        ----------
        query
            Words; or a vector of the caller's own, for ``vector`` alone.
        by
            ``text``: what contains every word. ``vector``: what is near, by the store's embedder.
        """
        ...

    def history(self, key: Key) -> list[Past]:
        """All versions, oldest first; content only of those that did not leave through an event."""
        ...

    def exporting(self, signed: int = 0) -> AbstractContextManager[Export]:
        """Every version in order of scope and id, on one snapshot; content only of what no barrier bars.

        `signed`: the entry by which a person took out the content behind the barrier too (`sign_export`).
        """
        ...

    # without content -------------------------------------------------------------------------------

    def statistics(self) -> Statistics:
        """Counts and sizes, in one read transaction."""
        ...

    def listing(
        self,
        *,
        scope: Scope | None = None,
        kind: Kind | None = None,
        state: State | None = None,
        limit: int | None = None,
    ) -> list[Listing]:
        """What there is, in order of scope and id."""
        ...

    def describe(self, key: Key) -> Listing:
        """One artifact."""
        ...

    def parents(self, key: Key, *, former: bool = False) -> list[Listing]:
        """What the current version was made from; with `former`, what any version was made from."""
        ...

    def children(self, key: Key) -> list[Listing]:
        """Whose current version was made from some version of this."""
        ...

    def counts(self) -> dict[tuple[State, Kind], int]:
        """How many artifacts are in each state, of each kind."""
        ...

    def size(self) -> int:
        """How many artifacts there are, in whatever state."""
        ...

    def case(self, case: int) -> Case:
        """One case; UnknownId otherwise."""
        ...

    def cases(self, status: CaseStatus | None = None) -> list[Case]:
        """Cases in the order they were opened."""
        ...

    def reading(self) -> AbstractContextManager[None]:
        """Reads of one instant: all inside the block see the same store, whoever writes meanwhile.

        No code of a caller runs inside: a snapshot kept open delays erasures, and other threads wait.
        """
        ...

    def epoch(self) -> int:
        """The newest entry of the journal; while it stays, no version, arc or barrier has changed."""
        ...

    def journal(self, limit: int | None = 100) -> list[Entry]:
        """The newest entries, newest first."""
        ...

    def snapshot(self) -> Snapshot:
        """A frozen picture of everything but content, in one read transaction."""
        ...

    @property
    def readonly(self) -> bool:
        """Whether nothing can be written."""
        ...

    def require_writable(self) -> None:
        """Refuse, as a write would, where nothing can be written."""
        ...

    def check(self) -> list[Fault]:
        """What is wrong with the file: pages, index, seals, barrier against journal. Reads all of it.

        A store that is `readonly` cannot compare the index with the content: this takes a statement that
        writes.
        """
        ...

    # reviewing -------------------------------------------------------------------------------------

    def inspect(self, key: Key, *, actor: str, reason: str, version: int | None = None) -> Artifact:
        """Any version that has content, for a person who reviews; journalled."""
        ...

    def sign_export(self, *, actor: str, reason: str) -> int:
        """Journal, version by version, that what is barred leaves with its content; the entry's number."""
        ...

    # engine reads ----------------------------------------------------------------------------------

    def members(self, case: int) -> list[Member]:
        """Engine read: the cascade of a case as it was withdrawn, with its states today."""
        ...

    def spared(self, case: int) -> list[Spared]:
        """What evidence kept in service at the withdrawal, and on what it stands."""
        ...

    def spared_by(self, key: Key) -> list[int]:
        """Cases, not undone, whose evidence spared the current version of a key; the newest first."""
        ...

    def support(self, keys: Sequence[Key]) -> list[SupportArc]:
        """Engine read: live arcs into the keys."""
        ...

    def recipes(self, keys: Sequence[Key]) -> dict[Key, Recipe]:
        """Engine read: how the current versions were made."""
        ...

    def before_image(self, key: Key) -> str:
        """Engine read: content of the current version, withdrawn or not; journalled as ``own_version``."""
        ...

    def former(self, versions: Sequence[tuple[Key, int]]) -> dict[Key, Artifact]:
        """Engine read: versions in any state, one a key: to compare with, and to inherit from.

        `begin_repair` has journalled that the case's members are looked at; this adds no entry of its own.
        """
        ...

    def drafts(self, versions: Sequence[tuple[Key, int]]) -> dict[Key, Draft]:
        """Engine read: versions that an ordinary update superseded, as drafts that would bring them back."""
        ...

    def tombstoned(self, key: Key, content: str) -> bool:
        """Engine read: whether an event has removed this content, so that no successor of `key` may say it.

        A successor may say what an erased version of its own key said, unless a root of a deletion said it.
        """
        ...

    def staged_content(self, key: Key, version: int) -> str:
        """Engine read: content of a version in quarantine."""
        ...

    def served(self, keys: Sequence[Key]) -> dict[Key, Artifact]:
        """Engine read: those of the keys that are served; counts no use."""
        ...

    def survey(self, *, newer_than: int = 0, among: Sequence[int] | None = None) -> Survey:
        """Current versions as columns for a check-up, with content of what is served; counts no use.

        Parameters
        ----------
        newer_than
            Only artifacts whose current version is newer than this one (vid).
        among
            Only these artifacts (aid).
        """
        ...

    def digest(self, text: str) -> str:
        """Keyed digest (hex) of the exact text, as listings show it."""
        ...
