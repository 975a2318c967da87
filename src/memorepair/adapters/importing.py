"""Importing: a recording goes into a memory, once; what a repair has changed there stays as it is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memorepair.adapters.recording import Recording
from memorepair.facade import Memory
from memorepair.graphs.terms import PROPAGATING
from memorepair.memory.artifact import Draft, Json, Key, Listing, Scope, State

_SERVED = frozenset((State.ACTIVE, State.PENDING_REVIEW))


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Something that was not stored, and why."""

    key: Key
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """How drafts meet what a memory holds already.

    Attributes
    ----------
    fresh
        To be written: new, or the next version of what is there.
    same
        There already, word for word, on the same sources.
    refused
        What a repair event has changed, or an update since; with all that stands on it.
    """

    fresh: tuple[Draft, ...]
    same: tuple[Key, ...]
    refused: tuple[Refused, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What an import found, and what became of it; `dry_run` where nothing was stored."""

    recording: Recording
    settlement: Settlement
    dry_run: bool

    def to_json(self) -> dict[str, Json]:
        """Plain values for printing."""
        recording, settled = self.recording, self.settlement
        return {
            "kind": recording.kind,
            "dry_run": self.dry_run,
            "artifacts": len(recording.items),
            "arcs": len(recording.links),
            "recorded": dict(recording.recorded.items()),
            "inferred": dict(recording.inferred.items()),
            "missing": [
                {"what": one.what, "count": one.count, "examples": list(one.examples)}
                for one in recording.missing
            ],
            "stored": 0 if self.dry_run else len(settled.fresh),
            "to_store": len(settled.fresh),
            "same": len(settled.same),
            "refused": [{"key": str(one.key), "why": one.why} for one in settled.refused],
        }


def bring(
    memory: Memory | None, recording: Recording, *, scope: Scope, dry_run: bool = False
) -> ImportReport:
    """Store a recording in one transaction; what is there already is left alone.

    Parameters
    ----------
    memory
        None for one that does not exist yet, which only a dry run may ask for.
    scope
        Where its artifacts live.
    """
    drafts = recording.drafts(scope)
    settled = Settlement(fresh=drafts, same=(), refused=()) if memory is None else settle(memory, drafts)
    if memory is not None and settled.fresh and not dry_run:
        memory.ingest(settled.fresh)
    return ImportReport(recording=recording, settlement=settled, dry_run=dry_run)


def settle(memory: Memory, drafts: Sequence[Draft]) -> Settlement:
    """Sort drafts by what the memory holds under their keys; changes nothing. O(drafts + their scopes)."""
    store = memory.store
    known = {
        listing.key: listing
        for scope in sorted({draft.key.scope for draft in drafts})
        for listing in store.listing(scope=scope)
    }
    there = [draft for draft in drafts if draft.key in known]
    sources: defaultdict[Key, set[tuple[Key, int]]] = defaultdict(set)
    for arc in store.support([draft.key for draft in there]):
        if arc.relation in PROPAGATING:
            sources[arc.child].add((arc.parent, arc.group))
    fresh, same, why = list[Draft](), list[Key](), dict[Key, str]()
    for draft in drafts:
        listing = known.get(draft.key)
        if store.tombstoned(draft.key, draft.content):
            why[draft.key] = "it was deleted, and must not be learned again"
        elif listing is None:
            fresh.append(draft)
        elif listing.state not in _SERVED:
            by = "" if listing.case is None else f" by case {listing.case}"
            why[draft.key] = f"it is {listing.state.name.lower()}{by}"
        elif store.digest(draft.content) == listing.digest:
            stands_on = {(read.key, read.group) for read in draft.reads if read.relation in PROPAGATING}
            if stands_on == sources[draft.key] and draft.kind == listing.kind:
                same.append(draft.key)
            else:
                fresh.append(draft)
        elif (changed := _changed_since(memory, draft, listing)) is not None:
            why[draft.key] = changed
        else:
            fresh.append(draft)
    why.update(_standing_on(fresh, why))
    return Settlement(
        fresh=tuple(draft for draft in fresh if draft.key not in why),
        same=tuple(same),
        refused=tuple(Refused(key=draft.key, why=why[draft.key]) for draft in drafts if draft.key in why),
    )


def _changed_since(memory: Memory, draft: Draft, listing: Listing) -> str | None:
    """Why the draft must not follow what is served, which it is older than; None where it is new."""
    digest = memory.store.digest(draft.content)
    for past in memory.history(draft.key):
        if past.digest == digest and past.version != listing.version:
            if past.case is not None:
                return f"case {past.case} has changed it"
            return f"it has changed since: version {listing.version} is served"
    return None


def _standing_on(fresh: Iterable[Draft], refused: dict[Key, str]) -> dict[Key, str]:
    """Those of the fresh that stand, directly or not, on what is refused."""
    dependents: defaultdict[Key, list[Key]] = defaultdict(list)
    for draft in fresh:
        for read in draft.reads:
            dependents[read.key].append(draft.key)
    found: dict[Key, str] = {}
    frontier = list(refused)
    while frontier:
        key = frontier.pop()
        for dependent in dependents[key]:
            if dependent not in found and dependent not in refused:
                found[dependent] = f"it stands on {key}, which is refused"
                frontier.append(dependent)
    return found
