"""Publication of a replay: what it made is served in one transaction, with what the fault had replaced."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from memorepair.errors import StaleRead, StepFailed, UnknownId
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import Draft, Key, Read, State
from memorepair.memory.exchange import Successor
from memorepair.memory.store import Store
from memorepair.recovery.standing import Former, shown_versions
from memorepair.recovery.trace import STEPS
from memorepair.repair.cascade import Cascade, read_cascade
from memorepair.repair.checks.marks import marked, recognised, runs, unsaid

REPLAYED = (("replay", "pass"),)
REINSTATED = (("reinstate", "pass"),)


def former_versions(
    store: Store, keys: Collection[Key], gone: Callable[[Key], bool] = lambda key: False
) -> dict[Key, Former]:
    """M_back: for each key its newest version that an ordinary update superseded and that stands still.

    Parameters
    ----------
    gone
        Whether something still in service will not count; it is asked for what a version was made from.
    """
    past = {key: shown_versions(store, key) for key in keys}
    found: dict[Key, Former] = {}
    while newest := {key: versions.pop() for key, versions in past.items() if versions and key not in found}:
        drafts = store.drafts(list(newest.items()))
        parents = {read.key for draft in drafts.values() for read in draft.reads}
        served = {key: there.version for key, there in store.served(sorted(parents)).items()}
        found |= {
            key: Former(version=newest[key], draft=draft)
            for key, draft in drafts.items()
            if all(served.get(read.key) == read.version and not gone(read.key) for read in draft.reads)
        }
    return found


def publish(
    store: Store,
    cascade: Cascade,
    drafts: Mapping[Key, Draft],
    back: Mapping[Key, Former],
    past: Collection[tuple[Key, int]] = (),
) -> None:
    """Serve what a replay made, and former versions of memories it did not make.

    Parameters
    ----------
    past
        The former versions that it has read: in their place stands what comes back.

    Raises
    ------
    StaleRead
        The case has changed since it was planned, or what something stands on has left service; nothing was
        published.
    """
    open_ = {member.key: member for member in cascade.open}
    everything = {**drafts, **{key: former.draft for key, former in back.items()}}
    versions = {
        key: store.stage(cascade.case, replace(draft, reads=()))
        if key in open_
        else _next_version(store, key)
        for key, draft in everything.items()
    }
    again = {(key, former.version): versions[key] for key, former in back.items()}
    outside = {read.key for draft in everything.values() for read in draft.reads} - versions.keys()
    versions |= {key: there.version for key, there in store.served(sorted(outside)).items()}

    def standing(draft: Draft) -> tuple[Read, ...]:
        # A read in a stated version stays: if that is not served any more, the store refuses it.
        if lost := [read.key for read in draft.reads if read.version is None and read.key not in versions]:
            raise StaleRead(f"{draft.key} stands on {lost[0]}, which left service meanwhile", witness=lost[0])
        return tuple(
            replace(read, version=versions[read.key])
            if read.version is None
            else replace(read, version=again.get((read.key, read.version), read.version))
            for read in draft.reads
        )

    def same_cascade() -> None:
        if _standing(read_cascade(store, cascade.case)) != _standing(cascade):
            raise StaleRead(f"case {cascade.case} has changed since it was planned", witness=cascade.case)

    store.publish(
        cascade.case,
        [
            Successor(
                key=key,
                version=versions[key],
                reads=standing(draft),
                verdicts=REINSTATED if key in back else REPLAYED,
            )
            for key, draft in everything.items()
            if key in open_
        ],
        brought=[
            replace(draft, reads=standing(draft)) for key, draft in everything.items() if key not in open_
        ],
        verdicts=REPLAYED,
        past=[one for one in past if one not in again],
        expect=same_cascade,
    )


def _standing(cascade: Cascade) -> list[tuple[Key, int, State]]:
    return [(member.key, member.version, member.state) for member in cascade.members]


def _next_version(store: Store, key: Key) -> int:
    try:
        return store.describe(key).version + 1
    except UnknownId:
        return 1


def without_echoes(
    store: Store,
    drafts: Mapping[Key, Draft],
    faulty: Mapping[Key, str],
    heard: Iterable[str],
    past: Mapping[tuple[Key, int], str] = MappingProxyType({}),
) -> dict[Key, Draft]:
    """The drafts without memories that say what only the fault said.

    Parameters
    ----------
    faulty
        What the faulty artifacts said.
    heard
        What else says it rightly: the steps that were read back, what stands in place of the faulty ones.
    past
        The former versions that were read, with their texts.

    Raises
    ------
    StepFailed
        An answer, or a memory that something made reads, repeats the fault.
    """
    marks = unsaid(marked(faulty), heard)
    outside = {read.key for draft in drafts.values() for read in draft.reads} - drafts.keys()
    texts = {key: there.content for key, there in store.served(sorted(outside)).items()}
    texts |= {key: draft.content for key, draft in drafts.items()}
    echoes: dict[Key, Key] = {}
    for key, draft in drafts.items():
        if draft.kind in STEPS and draft.kind is not Kind.ANSWER:
            continue
        reads = [past.get((read.key, read.version or 0), texts.get(read.key)) for read in draft.reads]
        heard_of = [text for text in reads if text is not None]
        if echoed := recognised(runs(draft.content), [marks], heard_of):
            echoes[key] = echoed[0]
    needed = {read.key for draft in drafts.values() for read in draft.reads}
    for key, said_by in echoes.items():
        if key in needed or drafts[key].kind is Kind.ANSWER:
            raise StepFailed(
                f"{key} repeats what {said_by} said, though nothing it stands on does", witness=key
            )
    return {key: draft for key, draft in drafts.items() if key not in echoes}
