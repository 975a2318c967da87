"""Verbs that read: only what is served, or no content."""

from __future__ import annotations

import builtins
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from memorepair.facade.base import Opened
from memorepair.graphs.terms import Kind
from memorepair.memory.arguments import KeyLike, as_key, as_member, as_scope, as_scopes
from memorepair.memory.artifact import (
    Artifact,
    Case,
    CaseStatus,
    Embedding,
    Hit,
    Key,
    Listing,
    Past,
    Scope,
    SearchBy,
    State,
)
from memorepair.memory.capture import note_reads
from memorepair.memory.statistics import Statistics
from memorepair.memory.values import check_type
from memorepair.repair.evidence import duplicate_of, worded
from memorepair.repair.plan import CHOSEN, suspicion


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


class Reading(Opened):
    """Verbs that read: only what is served, or no content."""

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

        Inside a derivation every hit counts as read. Its figures are recorded (`retrieval`): numbers alone.

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
        check_type(limit, int, "a limit is a whole number")
        begun = time.perf_counter()
        home = as_scope(scope)
        hits = self._store.search(query, scope=home, also=as_scopes(also), by=by, limit=limit)
        by_vector = as_member(SearchBy, by) is SearchBy.VECTOR
        self._recorder.search(hits, scope=home, seconds=time.perf_counter() - begun, by_vector=by_vector)
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
        if case is None and listing.state is State.PENDING_REVIEW:
            return "served, flagged: a person is to say whether it holds"
        if case is None and listing.state is State.ACTIVE:
            kept = self._kept(listing.key)
            return "served: active" + (f"; {kept}" if kept else "")
        if case is None:
            return f"{listing.state.name.lower()}: by no case of this memory"
        followed = () if case.suspected is None else self._store.suspects(case.id)
        by = [suspicion(arc) for arc in followed if arc.child == listing.key]
        if by and listing.state is State.WITHDRAWN:
            return f"{self._why_of(listing, case)}; {', '.join(by)}"
        return self._why_of(listing, case)

    def _why_of(self, listing: Listing, case: Case) -> str:
        because = f"case {case.id} ({case.event}" + (f": {case.reason})" if case.reason else ")")
        if (primary := duplicate_of(case, listing.key)) is not None:
            return f"archived as a duplicate of {primary} by case {case.id}"
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
