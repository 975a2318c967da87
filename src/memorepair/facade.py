"""Memory: the verbs users call."""

from __future__ import annotations

import builtins
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from types import TracebackType
from typing import ParamSpec, Self, TypeAlias, TypeVar

from memorepair.errors import InvalidEvent, InvalidInput
from memorepair.graphs.support import Policy
from memorepair.graphs.terms import Arch, Kind, Relation
from memorepair.memory.arguments import (
    CaseLike,
    KeyLike,
    SlotLike,
    as_case,
    as_key,
    as_keys,
    as_mapping,
    as_member,
    as_scope,
    as_slot,
)
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
    Source,
    State,
    Type,
)
from memorepair.memory.capture import Derivation, OnStale, note_reads
from memorepair.memory.exchange import SuspectedArc
from memorepair.memory.sqlite import SqliteStore
from memorepair.memory.statistics import Statistics
from memorepair.memory.store import (
    Carried,
    MergeReport,
    PruneReport,
    Receipt,
    Recovery,
    UndoReport,
    WriteReport,
)
from memorepair.memory.tracing import traced
from memorepair.memory.values import check_type, check_word, is_number, is_whole, named
from memorepair.memory.vectors import Embedder, HashedNgrams
from memorepair.proof import Ties
from memorepair.recovery import recover as recovering
from memorepair.recovery.recover import Agent, RecoveryReport
from memorepair.recovery.run import Run
from memorepair.recovery.tools import Tool
from memorepair.recovery.trace import RunLike, Trace, find_run, read_trace, runs
from memorepair.repair import engine
from memorepair.repair.audit.probe import Probed, probe
from memorepair.repair.audit.report import AuditReport, Proposal, audit_store
from memorepair.repair.checks.check import Check, Context
from memorepair.repair.events import Correction, Deletion, EventKind, Interface, Migration, RepairEvent
from memorepair.repair.evidence import worded
from memorepair.repair.operators.operator import Operator
from memorepair.repair.operators.regen import Generator
from memorepair.repair.operators.registry import Operators
from memorepair.repair.plan import CHOSEN, RepairPlan, suspicion
from memorepair.repair.pricing import Pricing
from memorepair.repair.validation import Checks
from memorepair.repair.verdicts import Verdicts

P = ParamSpec("P")
T = TypeVar("T")

SameOrigin: TypeAlias = Iterable[KeyLike | Iterable[KeyLike]]
"""Sets of keys, each of which counts as one source."""

RETENTION_DAYS = 30.0
"""How long what left service is kept unless told otherwise."""

DEFAULT_EMBEDDER = HashedNgrams()
"""What makes vectors unless told otherwise."""

_NANOSECONDS_A_DAY = 86_400 * 10**9
_LONGEST_DAYS = 36_500.0  # nanoseconds are counted in 64 bits


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Where an artifact stands, on what, and why: no content.

    `why` says in a sentence what holds it back or lets it serve; `parents` and `children` are its neighbours
    along influence arcs; `case` is the case that withdrew it, None while it is served.
    """

    listing: Listing
    why: str
    case: Case | None
    parents: tuple[Listing, ...]
    children: tuple[Listing, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The store at a glance: artifacts by state and kind, and the cases that still need a person."""

    counts: Mapping[tuple[State, Kind], int]
    open_cases: tuple[Case, ...]


class Memory:
    """A memory whose derived parts can be withdrawn, repaired and republished.

    Every verb names artifacts by `Key` or its written form ``user/42::home``, cases by `Case` or number.
    Use it as a context manager, or call `close`.

    Examples
    --------
    >>> import memorepair as mr
    >>> with mr.Memory.open("agent.db") as memory:
    ...     home = memory.record("Lives in Paris", scope=("user", "42"))
    ...     with memory.deriving(kind="summary", operator="summarise", scope=("user", "42")) as d:
    ...         profile = d.write("Based in " + d.read(home).content.removeprefix("Lives in "))
    ...     case = memory.correct(home, "Lives in Lyon", reason="moved", actor="user:42")
    ...     report = memory.repair(case)
    ...     memory.get(profile).content
    'Lives in Lyon'
    """

    def __init__(
        self,
        store: SqliteStore,
        *,
        operators: Operators,
        pricing: Pricing,
        checks: Checks | None = None,
        retention_days: float = RETENTION_DAYS,
        suspected: float | None = None,
        recovered: Recovery | None = None,
    ) -> None:
        self._store = store
        self._operators = operators
        self._pricing = pricing
        self._verdicts = Verdicts(store, operators, pricing)
        self._checks = checks or Checks()
        self._retention_days = retention_days
        self._suspected = suspected
        self._recovered = recovered or Recovery()

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        create: bool = True,
        readonly: bool = False,
        clock: Callable[[], int] = time.time_ns,
        operators: Iterable[Operator] = (),
        generator: Generator | None = None,
        pricing: Pricing | None = None,
        checks: Iterable[Check[Context]] = (),
        retention_days: float = RETENTION_DAYS,
        embedder: Embedder | None = DEFAULT_EMBEDDER,
        suspected: float | None = None,
    ) -> Self:
        """Open the memory in the file `path`, made if it is not there and `create` holds.

        A file is needed: the log, the lock and the key lie beside it. What a repair left behind whose process
        died is taken back, and its case is open again; an erasure that was cut off is finished. The barrier
        stands meanwhile. `recovered` tells what was found.

        Parameters
        ----------
        readonly
            Write nothing, neither uses nor what is taken back; so is a file that this process may not write.
        clock
            Nanoseconds since the epoch.
        operators
            Registered beside the built-in ones; packages bring more by entry point ``memorepair.operators``.
        generator
            Writes regenerated summaries and prompt skills; the embedded extractive one by default.
        pricing
            Values and costs of candidates; the defaults need no thought.
        checks
            What successors must pass beside the built-in checks; see `check`. Packages bring more by entry
            point ``memorepair.checks``.
        retention_days
            `prune` never removes what left service less than so many days ago.
        embedder
            Makes a vector of everything written from now on, for `search` by vector; hashed n-grams unless
            given, none with None. What an embedder of another model or revision made is not compared with it.
        suspected
            The policy on influence arcs that nobody recorded: from which probability on every event follows
            them (see `delete`); None follows recorded ones alone.

        Raises
        ------
        StoreError
            The file is damaged, foreign, of a newer schema, or missing; it is left as it was.
        InvalidInput
            An argument breaks the contract: a path that is no file's, a negative retention.
        """
        if not is_number(retention_days, 0, _LONGEST_DAYS):
            raise InvalidInput("a retention is a number of days, not negative", witness=retention_days)
        if suspected is not None and not is_number(suspected, 0, 1):
            raise InvalidInput("suspected is a probability", witness=suspected)
        check_type(pricing, Pricing | None, "the pricing is a Pricing")
        _check_callable(clock, "the clock")
        if generator is not None:
            _check_callable(getattr(generator, "generate", None), "the generate of a generator")
        check_type(operators, Iterable, "the operators are an iterable of Operator")
        check_type(checks, Iterable, "the checks are an iterable of Check")
        judges = Checks(checks)
        registry = Operators.default(generator)
        for operator in operators:
            registry.register(operator)
        store = SqliteStore.open(path, create=create, clock=clock, readonly=readonly, embedder=embedder)
        try:
            recovered = store.recover()
        except BaseException:
            store.close()
            raise
        return cls(
            store,
            operators=registry,
            pricing=pricing or Pricing(),
            checks=judges,
            retention_days=retention_days,
            suspected=suspected,
            recovered=recovered,
        )

    def close(self) -> None:
        """Write what is buffered, close the file."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def store(self) -> SqliteStore:
        """The store underneath, for engines and adapters."""
        return self._store

    @property
    def recovered(self) -> Recovery:
        """What was found and done when this memory was opened."""
        return self._recovered

    @property
    def pricing(self) -> Pricing:
        """What goes into values and costs."""
        return self._pricing

    @property
    def operators(self) -> Operators:
        """What can make successors; `register` adds to it."""
        return self._operators

    # writing --------------------------------------------------------------------------------------

    def record(
        self,
        content: str,
        *,
        id: str | None = None,
        scope: Scope = (),
        kind: Kind | str = Kind.RECORD,
        arch: Arch | str = Arch.NONE,
        source: Source | str = Source.USER,
        type: Type | str | None = None,
        slot: SlotLike | None = None,
        confidence: float | None = None,
        metadata: Mapping[str, Json] | None = None,
        embedding: Embedding | None = None,
        semantic: KeyLike | Iterable[KeyLike] = (),
        recipe: Recipe | None = None,
        allow_tombstoned: bool = False,
        actor: str | None = None,
        reason: str | None = None,
    ) -> Key:
        """Store something that stands on its own; an id that exists gets its next version.

        Returns
        -------
        Key
            Of the artifact; the id is random unless given.

        Raises
        ------
        Withdrawn
            The id is behind the barrier.
        Tombstoned
            The content was removed by an event and must not be learned again, unless a person signs for it:
            `allow_tombstoned` with `actor` and `reason`.
        """
        key = Key(as_scope(scope), token_hex(8) if id is None else id)
        draft = Draft(
            key=key,
            content=content,
            kind=as_member(Kind, kind),
            arch=as_member(Arch, arch),
            source=as_member(Source, source),
            type=None if type is None else as_member(Type, type),
            slot=as_slot(slot),
            confidence=confidence,
            metadata={} if metadata is None else metadata,
            embedding=embedding,
            semantic=as_keys(semantic),
            recipe=Recipe() if recipe is None else recipe,
        )
        self._store.write(
            [draft], act="record", allow_tombstoned=allow_tombstoned, actor=actor, reason=reason
        )
        return key

    def deriving(
        self,
        *,
        kind: Kind | str,
        operator: str | None = None,
        operator_version: str = "1",
        params: Mapping[str, Json] | None = None,
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
    ) -> Derivation:
        """A derivation under way: what it reads becomes an influence arc of what it writes.

        What `get` and `search` serve inside the block counts as read, as what `Derivation.read` does.
        Threads, tasks and nested derivations: see `Derivation`; `isolated` takes nothing from the one around.

        Everything written commits together when the ``with`` block ends, and nothing does if the block raises
        or something read has been changed or withdrawn since (`StaleRead`, `Withdrawn`); with `on_stale`
        ``quarantine`` it is kept instead, behind the barrier, and `Derivation.quarantined` names it.
        `operator`, `operator_version`, `params` say how to make the result again; `recipe` says it in full.
        """
        if recipe is not None and operator is not None:
            raise InvalidInput("give the operator or the recipe, not both", witness=operator)
        if recipe is None:
            recipe = Recipe(
                operator=operator, version=operator_version, params={} if params is None else params
            )
        return Derivation(
            self._store,
            kind=kind,
            arch=arch,
            source=source,
            scope=scope,
            relation=relation,
            recipe=recipe,
            on_stale=on_stale,
            allow_tombstoned=allow_tombstoned,
            actor=actor,
            reason=reason,
            isolated=isolated,
        )

    def derived(
        self,
        *,
        kind: Kind | str,
        operator: str | None = None,
        operator_version: str = "1",
        params: Mapping[str, Json] | None = None,
        scope: Scope = (),
        arch: Arch | str = Arch.NONE,
        id: Callable[..., str] | None = None,
        isolated: bool = False,
    ) -> Callable[[Callable[P, T]], Callable[P, T]]:
        """A decorator: every result of the function is stored with what was read to make it.

        What the function reads of this memory counts, and what the derivation around the call has read. The
        function, plain or a coroutine, returns what it returned: text is stored as it is, anything else as
        JSON.

        Parameters
        ----------
        id
            Gives the id of the result from the arguments; random unless given.

        Examples
        --------
        >>> import memorepair as mr
        >>> with mr.Memory.open("derived.db") as memory:
        ...     home = memory.record("Lives in Paris", id="home")
        ...     @memory.derived(kind="summary", operator="summarise", id=lambda: "profile")
        ...     def profile():
        ...         return "Based in " + memory.get("home").content.removeprefix("Lives in ")
        ...     text = profile()
        ...     [parent.key.id for parent in memory.explain("profile").parents]
        ['home']
        """
        recipe = Recipe(operator=operator, version=operator_version, params={} if params is None else params)

        def begin(of_call: Recipe) -> Derivation:
            return self.deriving(kind=kind, recipe=of_call, scope=scope, arch=arch, isolated=isolated)

        return lambda function: traced(function, begin, recipe=recipe, id=id)

    def tool(
        self,
        function: Callable[P, T],
        *,
        name: str | None = None,
        version: str = "1",
        observed: bool = False,
        scope: Scope = (),
        id: Callable[..., str] | None = None,
        reads: Callable[..., tuple[KeyLike, ...]] | None = None,
    ) -> Callable[P, T]:
        """The tool, whose every result is stored: one line a tool.

        The result is a cache that the operator `name@version` can compute again, with the arguments of the
        call as its params; with `observed` it is a record of a call that changed the world, never made again.
        It stands on what the derivation around the call has read, from which the arguments came.

        Parameters
        ----------
        name
            Of the operator that replays the tool; the function's own unless given.
        reads
            Gives, from the arguments, what of this memory the tool looks at by itself.

        Raises
        ------
        InvalidInput
            By the call: an argument is no JSON, nothing was called.
        """
        recipe = Recipe(
            operator=getattr(function, "__name__", None) if name is None else name,
            version=version,
            observed=observed,
        )

        def begin(of_call: Recipe) -> Derivation:
            kind = Kind.RECORD if observed else Kind.CACHE
            return self.deriving(kind=kind, recipe=of_call, scope=scope, source=Source.TOOL)

        return traced(function, begin, recipe=recipe, id=id, with_arguments=True, reads=reads)

    def generator(
        self,
        function: Callable[P, T],
        *,
        operator: str = "summarise",
        params: Mapping[str, Json] | None = None,
        scope: Scope = (),
        id: Callable[..., str] | None = None,
    ) -> Callable[P, T]:
        """A call of a language model, whose every text is stored as a summary: one line a model.

        It stands on what the derivation around the call has read, from which the prompt came; `operator` is
        what writes it anew. The prompt itself is not kept: it quotes what may have to go.
        """
        return self.derived(kind=Kind.SUMMARY, operator=operator, params=params, scope=scope, id=id)(function)

    def ingest(
        self,
        drafts: Sequence[Draft],
        *,
        allow_tombstoned: bool = False,
        actor: str | None = None,
        reason: str | None = None,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> WriteReport:
        """Store many artifacts at once, in any order; cycles among them are stored and reported.

        One transaction: on any error nothing is stored. `progress` is told the step (``rows``, ``index``),
        how many artifacts are done, and of how many.
        """
        if progress is not None:
            _check_callable(progress, "progress")
        return self._store.write(
            drafts,
            act="import",
            allow_cycles=True,
            allow_tombstoned=allow_tombstoned,
            actor=actor,
            reason=reason,
            progress=progress,
        )

    def merge(
        self,
        drafts: Sequence[Draft],
        *,
        update: bool = False,
        actor: str | None = None,
        reason: str | None = None,
        dry_run: bool = False,
    ) -> MergeReport:
        """Store those of many artifacts that are not here yet; what is here already stays as it is.

        Merging the same drafts again changes nothing. An artifact that is here with the same content,
        description and sources is counted as same; one that differs is refused and named, or gets its next
        version with `update`. Refused either way is what an event has taken out of service, and what stands
        on anything refused. One transaction; with `dry_run` it is taken back.

        Raises
        ------
        InvalidInput
            A key twice.
        UnknownId
            Something read is neither among the drafts nor here.
        """
        items = [
            Carried(
                key=draft.key,
                version=1,
                current=True,
                barred=False,
                state=State.ACTIVE,
                kind=draft.kind,
                arch=draft.arch,
                created_at=None,
                reads=draft.reads,
                semantic=draft.semantic,
                draft=draft,
            )
            for draft in _drafts(drafts)
        ]
        return self._store.merge(items, update=update, actor=actor, reason=reason, dry_run=dry_run)

    def register(self, operator: Operator) -> None:
        """Add an operator that can make successors."""
        self._operators.register(operator)
        self._verdicts.forget()

    # reading --------------------------------------------------------------------------------------

    def get(self, key: KeyLike) -> Artifact:
        """The served version; inside a derivation it counts as read.

        Raises
        ------
        UnknownId, Withdrawn
        """
        found = self._store.get(as_key(key))
        note_reads(self._store, [found])
        return found

    def search(
        self,
        query: str | Embedding,
        *,
        scope: Scope = (),
        also: Iterable[Scope] = (),
        by: SearchBy | str = SearchBy.TEXT,
        limit: int = 10,
    ) -> builtins.list[Hit]:
        """Served artifacts of exactly this scope, and of those in `also`, best first.

        Inside a derivation every hit counts as read.

        Parameters
        ----------
        query
            Text. With `by` ``vector`` also an `Embedding` of your own, compared with those of its space.
        also
            Further scopes; no other is ever looked at.
        by
            ``text``: what contains every word, whatever its case. ``vector``: what is near the query, by
            cosine, among what was written with the embedder this memory was opened with; every vector is
            compared.

        Raises
        ------
        InvalidInput
            A query that is no text, or an embedding where words are wanted; a memory without an embedder.
        """
        hits = self._store.search(
            query, scope=as_scope(scope), also=[as_scope(one) for one in also], by=by, limit=limit
        )
        note_reads(self._store, (hit.artifact for hit in hits))
        return hits

    def list(
        self,
        *,
        scope: Scope | None = None,
        kind: Kind | str | None = None,
        state: State | str | None = None,
        limit: int | None = None,
    ) -> builtins.list[Listing]:
        """What there is, served or not, without content; in order of scope and id."""
        return self._store.listing(
            scope=None if scope is None else as_scope(scope),
            kind=None if kind is None else as_member(Kind, kind),
            state=None if state is None else as_member(State, state),
            limit=limit,
        )

    def history(self, key: KeyLike) -> builtins.list[Past]:
        """All versions, oldest first; content only of those that did not leave through a repair event."""
        return self._store.history(as_key(key))

    def explain(self, key: KeyLike) -> Explanation:
        """Where the artifact stands, on what, and why."""
        key = as_key(key)
        with self._store.reading():
            listing = self._store.describe(key)
            case = None if listing.case is None else self._store.case(listing.case)
            return Explanation(
                listing=listing,
                why=self._why(listing, case),
                case=case,
                parents=tuple(self._store.parents(key)),
                children=tuple(self._store.children(key)),
            )

    def _kept(self, key: Key) -> str | None:
        """Which event has spared the artifact, and for what; None where none has."""
        cases = self._store.spared_by(key)
        if not cases:
            return None
        by = next(one.by for one in self._store.spared(cases[0]) if one.member.key == key)
        return f"case {cases[0]} spared it, for it {worded(by)}"

    def _why(self, listing: Listing, case: Case | None) -> str:
        if case is None and listing.state is State.ACTIVE:
            kept = self._kept(listing.key)
            return "served: active" + (f"; {kept}" if kept else "")
        if case is None:
            return f"{listing.state.name.lower()}: by no case of this memory"
        by = [suspicion(arc) for arc in self._store.suspects(case.id) if arc.child == listing.key]
        if by and listing.state is State.WITHDRAWN:
            return f"{self._why_of(listing, case)}; {', '.join(by)}"
        return self._why_of(listing, case)

    def _why_of(self, listing: Listing, case: Case) -> str:
        because = f"case {case.id} ({case.event}" + (f": {case.reason})" if case.reason else ")")
        if listing.key in case.roots:
            return f"{listing.state.name.lower()}: a root of {because}"
        if listing.state is not State.WITHDRAWN:
            return f"{listing.state.name.lower()} through {because}"
        word = self._verdicts.why(case.id, listing.key)
        if word is None:
            return f"withdrawn by {because}; not a candidate of this case"
        return f"withdrawn by {because}; {'repair would make it again' if word == CHOSEN else word}"

    def inspect(self, key: KeyLike, *, actor: str, reason: str, version: int | None = None) -> Artifact:
        """Content of any version that still has one, withdrawn or not, for a person who reviews; journalled.

        Raises
        ------
        InvalidInput
            `actor` or `reason` is empty.
        """
        return self._store.inspect(as_key(key), actor=actor, reason=reason, version=version)

    def status(self) -> Status:
        """Artifacts by state and kind, and the cases not closed."""
        unfinished = (CaseStatus.OPEN, CaseStatus.RUNNING, CaseStatus.CLOSED_PARTIAL)
        with self._store.reading():
            return Status(
                counts=self._store.counts(),
                open_cases=tuple(case for case in self._store.cases() if case.status in unfinished),
            )

    def statistics(self) -> Statistics:
        """How much there is of everything, and how large it lies on disk; no content."""
        return self._store.statistics()

    # events ---------------------------------------------------------------------------------------

    def delete(
        self,
        keys: KeyLike | Iterable[KeyLike],
        *,
        reason: str,
        actor: str,
        evidence: Policy = "none",
        same_origin: SameOrigin = (),
        erase: bool = False,
        suspected: float | None = None,
        dry_run: bool = False,
    ) -> Case:
        """Withdraw these artifacts and all derived from them; when this returns, nothing of it is served.

        With `erase` the case ends, after `repair`, with the removal of every old version of the whole cascade
        from the file; only published successors remain. `erase` does it at once. With `dry_run` the case is
        counted and described (number 0), nothing is changed.

        `evidence` may leave in service what other support still carries (``none``, ``direct``, ``grounded``,
        see `memorepair.graphs.weigh`); artifacts of one set in `same_origin` count as one source. An erasure
        spares nothing.

        With `suspected` the cascade also follows influence arcs that nobody recorded: those accepted before
        and those an audit proposes now, from this probability on, and all that a derived artifact without any
        recorded parent is suspected to stand on. Unless given, the memory's own `suspected`.
        """
        return self._declare(
            EventKind.DELETE,
            as_keys(keys),
            Deletion(),
            reason,
            actor,
            dry_run,
            evidence=evidence,
            same_origin=same_origin,
            suspected=suspected,
            erase=erase,
        )

    def correct(
        self,
        key: KeyLike | Mapping[Key, str] | Mapping[str, str],
        content: str | None = None,
        *,
        reason: str,
        actor: str,
        evidence: Policy = "none",
        same_origin: SameOrigin = (),
        suspected: float | None = None,
        dry_run: bool = False,
    ) -> Case:
        """Replace content that was wrong; the replacement is served at once, what was derived is withdrawn.

        `key` with `content`, or a mapping of keys to contents; `evidence` and `suspected` as in `delete`.
        """
        replacements = as_mapping(key, content, "content")
        delta = Correction(replacements=replacements)
        return self._declare(
            EventKind.CORRECT,
            tuple(replacements),
            delta,
            reason,
            actor,
            dry_run,
            evidence=evidence,
            same_origin=same_origin,
            suspected=suspected,
        )

    def migrate(
        self,
        key: KeyLike | Mapping[Key, Interface] | Mapping[str, Interface],
        interface: Interface | None = None,
        *,
        rows: str | None = None,
        reason: str,
        actor: str,
        evidence: Policy = "none",
        same_origin: SameOrigin = (),
        suspected: float | None = None,
        dry_run: bool = False,
    ) -> Case:
        """Supersede an interface (a schema or tool contract); what follows the old one is withdrawn.

        `rows` names the registered operator (``name@version``) that carries data rows over; `evidence` and
        `suspected` as in `delete`.
        """
        interfaces = as_mapping(key, interface, "interface")
        delta = Migration(interfaces=interfaces, rows=rows)
        return self._declare(
            EventKind.MIGRATE,
            tuple(interfaces),
            delta,
            reason,
            actor,
            dry_run,
            evidence=evidence,
            same_origin=same_origin,
            suspected=suspected,
        )

    def _declare(
        self,
        kind: EventKind,
        roots: tuple[Key, ...],
        delta: Deletion | Correction | Migration,
        reason: str,
        actor: str,
        dry_run: bool,
        *,
        evidence: Policy,
        same_origin: SameOrigin,
        suspected: float | None,
        erase: bool = False,
    ) -> Case:
        for name, text in (("a reason", reason), ("an actor", actor)):
            if not isinstance(text, str) or not text.strip():
                raise InvalidEvent(f"an event needs {name}", witness=name.split()[-1])
        event = RepairEvent(
            kind=kind,
            roots=roots,
            delta=delta,
            reason=reason,
            actor=actor,
            evidence=evidence,
            same_origin=tuple(as_keys(one) for one in same_origin),
            suspected=self._suspected if suspected is None else suspected,
        )
        return engine.withdraw(
            self._store,
            event,
            operators=self._operators,
            erase=erase,
            suspects=self._suspects(event.suspected),
            dry_run=dry_run,
        )

    def _suspects(self, threshold: float | None) -> builtins.list[SuspectedArc]:
        """What an audit proposes now and a cascade from the threshold on follows."""
        if threshold is None:
            return []
        return [one.arc() for one in audit_store(self._store).above(threshold)]

    # provenance -----------------------------------------------------------------------------------

    def audit_provenance(
        self,
        *,
        regularity: bool = True,
        declared: Mapping[str, Sequence[str]] | None = None,
        seed: int = 0,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> AuditReport:
        """Propose the influence arcs that nobody recorded, each with a probability; writes nothing.

        Only what is served is read. `accept` or `reject` what is proposed; events follow accepted suspicions
        where their `suspected` says so.

        Parameters
        ----------
        regularity
            Whether the place in a scope is evidence beside content.
        declared
            Operator -> kinds it reads: stands in where nothing of the operator was recorded.
        seed
            Of what calibration hides.
        progress
            Called with what is done, how many are done, how many there are.
        """
        if progress is not None:
            _check_callable(progress, "progress")
        if not is_whole(seed, 0):
            raise InvalidInput("a seed is a whole number, not negative", witness=seed)
        check_type(declared, Mapping | None, "what is declared is a mapping of operators to kinds")
        return audit_store(
            self._store, regularity=regularity, declared=declared, seed=seed, progress=progress
        )

    def probe(self, proposals: Iterable[Proposal], *, budget: float) -> Probed:
        """Replay the children of proposals whose operators are deterministic, until the budget is spent.

        A replay settles a proposal: its probability is then 0 or 1. Nothing is written. The budget is in the
        unit that the operators tell their costs in; a replay that tells none costs 1.
        """
        if not is_number(budget, 0):
            raise InvalidInput("a budget is a number, finite and not negative", witness=budget)
        return probe(self._store, _proposals(proposals), self._operators, budget=budget)

    def accept(
        self, proposals: Iterable[Proposal], *, actor: str, reason: str, dry_run: bool = False
    ) -> builtins.list[SuspectedArc]:
        """Keep proposals as suspected arcs, by a person; they never become recorded ones.

        Raises
        ------
        StaleRead
            A version proposed is not served any more; nothing was changed.
        """
        return self._judge(proposals, True, actor, reason, dry_run)

    def reject(
        self, proposals: Iterable[Proposal], *, actor: str, reason: str, dry_run: bool = False
    ) -> builtins.list[SuspectedArc]:
        """Never propose or follow these again, by a person; errors as `accept`."""
        return self._judge(proposals, False, actor, reason, dry_run)

    def _judge(
        self, proposals: Iterable[Proposal], accepted: bool, actor: str, reason: str, dry_run: bool
    ) -> builtins.list[SuspectedArc]:
        arcs = [one.arc() for one in _proposals(proposals)]
        self._store.judge_suspects(arcs, accepted=accepted, actor=actor, reason=reason, dry_run=dry_run)
        return arcs

    # repair ---------------------------------------------------------------------------------------

    def plan(
        self,
        case: CaseLike,
        *,
        tradeoff: float | None = None,
        budget: float | None = None,
        ties: Ties = "fewest",
        solver: str = "pseudoflow",
    ) -> RepairPlan:
        """What `repair` would do for the case, why, and at what cost; changes nothing.

        Parameters
        ----------
        tradeoff
            The value that a unit of cost must bring, both counted in medians of the case's candidates; 0.3
            unless given, and 0 where there is a budget.
        budget
            The most that the chosen may be foreseen to cost together, in the unit of the pricing; none unless
            given. ``selection.gap`` proves how much better another choice could be at most.
        ties
            Of several optima the smallest ("fewest") or the largest ("most").
        solver
            A name of `memorepair.solvers.solvers()`, or "repair-all"; with a budget there is one, and no tie
            rule.

        Raises
        ------
        InvalidInput
            The case is undone; a number is negative or not finite; a solver or a tie rule beside a budget.
        UnknownId
            There is no such case or solver.
        """
        return engine.plan(
            self._store,
            as_case(case),
            operators=self._operators,
            pricing=self._pricing,
            tradeoff=tradeoff,
            budget=budget,
            ties=ties,
            solver=solver,
        )

    def repair(
        self,
        case: CaseLike,
        *,
        tradeoff: float | None = None,
        budget: float | None = None,
        ties: Ties = "fewest",
        solver: str = "pseudoflow",
        wait: float = 0.0,
        retry: bool = False,
        reselect: bool = False,
        suspected: float | None = None,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> engine.RepairReport:
        """Select, execute, validate, and publish what is validated; the rest stays withdrawn.

        A case that was closed in part is taken up where it stands. A deletion that erases ends with it.

        `tradeoff`, `budget`, `ties` and `solver` are those of `plan`. With a budget no step is begun that is
        foreseen to cost more than what is left of it; the report tells what was foreseen and what was spent.
        The budget is that of this call: a case taken up again has another one.

        With `reselect`, what is left is chosen anew after a step that failed or cost more than foreseen: what
        was spent is sunk, what cannot be completed is not paid for, what has come into reach is taken up.

        With `suspected`, what accepted suspicions from this probability on lead to from the case is withdrawn
        first, and repaired with the rest.

        Raises
        ------
        InvalidInput, UnknownId
            As `plan`; nothing was changed.
        RepairInProgress
            Another repair holds the store and `wait` seconds have passed.
        RepairsFailed
            Three repairs of the case have died or raised, in any process; `retry` begins another one.
        """
        if progress is not None:
            _check_callable(progress, "progress")
        return engine.repair(
            self._store,
            as_case(case),
            operators=self._operators,
            pricing=self._pricing,
            tradeoff=tradeoff,
            budget=budget,
            ties=ties,
            solver=solver,
            wait=wait,
            retry=retry,
            reselect=reselect,
            checks=self._checks,
            suspected=suspected,
            progress=progress,
        )

    # runs -----------------------------------------------------------------------------------------

    def run(self, *, task: str, scope: Scope = (), id: str | None = None) -> Run:
        """A run of an agent, as a context: every step it takes is recorded with what it used.

        Steps lie in a scope of their own below `scope`, so that no search for memories finds them.

        Raises
        ------
        InvalidInput
            There is a run of this id in the scope already.
        """
        check_word(task, "a task")
        if id is not None:
            check_word(id, "the id of a run")
        return Run(self._store, task=task, scope=as_scope(scope), id=id)

    def runs(self, *, scope: Scope | None = None) -> builtins.list[Listing]:
        """The task of every run, or of the runs that worked in a scope; the run's id is in its scope."""
        return runs(self._store, None if scope is None else as_scope(scope))

    def trace(self, run: RunLike) -> Trace:
        """The steps of a run in the order they were taken, without content.

        Raises
        ------
        UnknownId
            There is no such run.
        """
        return read_trace(self._store, find_run(self._store, run))

    def recover(
        self,
        run: RunLike,
        faulty: KeyLike | Iterable[KeyLike],
        *,
        reason: str,
        actor: str,
        agent: Agent | None = None,
        tools: Iterable[Tool] = (),
        replacements: Mapping[Key, str] | Mapping[str, str] | None = None,
        evidence: Policy = "direct",
        same_origin: Iterable[Iterable[KeyLike]] = (),
        approved: Collection[str] = (),
        wait: float = 0.0,
        dry_run: bool = False,
    ) -> RecoveryReport:
        """Roll a failed run back along its dependencies, and take again what its outcome needs.

        The faulty memories, and all that rests on them in any run, leave service at once. A faulty memory
        gets the content of `replacements`, or the version it had superseded, if that stands. With `agent`,
        which takes the steps of a run, the affected steps the answer rests on are taken again over the
        recorded rest; without it the case stays open for `replay`. `tools` take affected writes back.

        Raises
        ------
        UnknownId
            There is no such run or memory, or a tool to compensate with is missing.
        TraceMismatch, ApprovalNeeded, StepFailed
            From the replay. Nothing was published; the barrier stands; `replay` takes the case up again.
        """
        return recovering.recover(
            self._store,
            run,
            as_keys(faulty),
            reason=reason,
            actor=actor,
            agent=agent,
            tools=tools,
            replacements={as_key(key): text for key, text in (replacements or {}).items()},
            evidence=evidence,
            same_origin=tuple(as_keys(one) for one in same_origin),
            approved=approved,
            operators=self._operators,
            wait=wait,
            dry_run=dry_run,
        )

    def replay(
        self,
        case: CaseLike,
        run: RunLike,
        agent: Agent,
        *,
        tools: Iterable[Tool] = (),
        approved: Collection[str] = (),
        wait: float = 0.0,
    ) -> RecoveryReport:
        """Take a run's affected steps again, in a case that has withdrawn them; see `recover`."""
        return recovering.replay(
            self._store,
            as_case(case),
            run,
            agent,
            tools=tools,
            approved=approved,
            operators=self._operators,
            wait=wait,
        )

    # taking back, removing ------------------------------------------------------------------------

    def undo(
        self, case: CaseLike, *, actor: str, reason: str, wait: float = 0.0, dry_run: bool = False
    ) -> UndoReport:
        """Take a case back, whatever has come of it: the state before it, item by item, from before-images.

        What it withdrew is served again in its old version and on its old sources; replacements and
        successors it brought are archived; what it forbade to learn may be learned again.

        Raises
        ------
        UndoRefused
            It is undone already; another event, an update or a derivation has come after it; or content it
            needs is gone (witness: the keys). Nothing was changed.
        RepairInProgress
            A repair holds the store and `wait` seconds have passed.
        """
        return engine.undo(self._store, as_case(case), actor=actor, reason=reason, wait=wait, dry_run=dry_run)

    def erase(self, case: CaseLike, *, actor: str, reason: str, wait: float = 0.0) -> Receipt:
        """Remove at once all content that a deletion has withdrawn, whether repaired or not.

        Every version of every member goes but what is served; members without a successor are erased for
        good. Call it again while the receipt says pending: a reader held an older snapshot of the file.

        Raises
        ------
        InvalidInput
            The case is no deletion, or undone.
        RepairInProgress
            A repair holds the store and `wait` seconds have passed.
        """
        number = as_case(case)
        with self._store.repairing(number, wait=wait):
            return self._store.erase(number, actor=actor, reason=reason)

    def receipt(self, case: CaseLike) -> Receipt | None:
        """What a case has erased: keys, versions and keyed digests, no content; None where nothing."""
        return self._store.receipt(as_case(case))

    def prune(
        self,
        older_than_days: float | None = None,
        *,
        actor: str | None = None,
        reason: str | None = None,
        dry_run: bool = False,
    ) -> PruneReport:
        """Remove content that left service long ago and that nothing needs any more.

        That is former versions, and what cases that are over had superseded or archived. Never what is
        withdrawn or quarantined, what a current version was made from, or what an unfinished case took out.

        Parameters
        ----------
        older_than_days
            Since it left service; the retention of this memory unless given.

        Raises
        ------
        InvalidInput
            Less than the retention.
        """
        days = self._retention_days if older_than_days is None else older_than_days
        if not is_number(days, self._retention_days, _LONGEST_DAYS):
            raise InvalidInput(f"the retention is {self._retention_days:g} days", witness=days)
        age = round(days * _NANOSECONDS_A_DAY)
        return self._store.prune(age, actor=actor, reason=reason, dry_run=dry_run)


def _proposals(proposals: Iterable[Proposal]) -> tuple[Proposal, ...]:
    check_type(proposals, Iterable, "proposals are an iterable of Proposal")
    given = tuple(proposals)
    for one in given:
        check_type(one, Proposal, "a proposal is a Proposal")
    return given


def _drafts(drafts: Sequence[Draft]) -> Sequence[Draft]:
    check_type(drafts, Sequence, "drafts are a sequence of Draft")
    for draft in drafts:
        check_type(draft, Draft, "what is merged is a Draft")
    return drafts


def _check_callable(function: object, what: str) -> None:
    if not callable(function):
        raise InvalidInput(f"{what} must be callable, not {named(function)}", witness=what)
