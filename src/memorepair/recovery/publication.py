"""Publication of a replay: what it made is served in one transaction, with what the fault had replaced."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from memorepair.errors import StaleRead, StepFailed, UnknownId
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import Draft, Key, Read, State
from memorepair.memory.exchange import Successor
from memorepair.memory.store import Store
from memorepair.recovery.trace import STEPS
from memorepair.repair.cascade import Cascade, read_cascade
from memorepair.repair.checks.marks import marked, recognised, runs

REPLAYED = (("replay", "pass"),)
REINSTATED = (("reinstate", "pass"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Former:
    """A memory's version that an update from the faulty lineage had superseded."""

    version: int
    draft: Draft


def former_versions(store: Store, keys: Collection[Key], gone: Collection[Key]) -> dict[Key, Former]:
    """M_back: for each key its newest version that an ordinary update superseded and that stands still.

    Left out where what it was made from has changed or is among what is gone.
    """
    newest: dict[Key, int] = {}
    for key in keys:
        past = [
            one.version
            for one in store.history(key)
            if one.state is State.SUPERSEDED and one.content is not None
        ]
        if past:
            newest[key] = past[-1]
    drafts = store.drafts(list(newest.items()))
    parents = {read.key for draft in drafts.values() for read in draft.reads}
    served = {key: there.version for key, there in store.served(sorted(parents)).items()}
    return {
        key: Former(version=newest[key], draft=draft)
        for key, draft in drafts.items()
        if all(read.key not in gone and served.get(read.key) == read.version for read in draft.reads)
    }


def publish(
    store: Store, cascade: Cascade, drafts: Mapping[Key, Draft], faulty: Mapping[Key, str]
) -> dict[Key, int]:
    """Serve what a replay made, and the former versions of memories it did not make; these, by version.

    Parameters
    ----------
    faulty
        What the faulty artifacts said: nothing made may say it on its own.

    Raises
    ------
    StepFailed
        A memory or an answer repeats the fault although nothing it stands on says it.
    StaleRead
        The case has changed since it was planned; nothing was published.
    """
    open_ = {member.key: member for member in cascade.open}
    _refuse_echoes(store, drafts, faulty)
    memories = [key for key, member in open_.items() if member.kind not in STEPS and key not in drafts]
    back = former_versions(store, memories, open_.keys())
    everything = {**drafts, **{key: former.draft for key, former in back.items()}}
    versions = {
        key: store.stage(cascade.case, replace(draft, reads=()))
        if key in open_
        else _next_version(store, key)
        for key, draft in everything.items()
    }
    outside = {read.key for draft in everything.values() for read in draft.reads} - versions.keys()
    versions |= {key: there.version for key, there in store.served(sorted(outside)).items()}

    def standing(draft: Draft) -> tuple[Read, ...]:
        # A read in a stated version stays: if that is not served any more, the store refuses it.
        return tuple(
            replace(read, version=versions.get(read.key) if read.version is None else read.version)
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
        expect=same_cascade,
    )
    return {key: former.version for key, former in back.items()}


def _standing(cascade: Cascade) -> list[tuple[Key, int, State]]:
    return [(member.key, member.version, member.state) for member in cascade.members]


def _next_version(store: Store, key: Key) -> int:
    try:
        return store.describe(key).version + 1
    except UnknownId:
        return 1


def _refuse_echoes(store: Store, drafts: Mapping[Key, Draft], faulty: Mapping[Key, str]) -> None:
    """No memory and no answer may say what only the fault said."""
    marks = marked(faulty)
    outside = {read.key for draft in drafts.values() for read in draft.reads} - drafts.keys()
    served = store.served(sorted(outside))
    for key, draft in drafts.items():
        texts = [
            drafts[read.key].content if read.key in drafts else served[read.key].content
            for read in draft.reads
            if read.key in drafts or read.key in served
        ]
        echoed = recognised(runs(draft.content), [marks], texts)
        if echoed and (draft.kind is Kind.ANSWER or draft.kind not in STEPS):
            raise StepFailed(
                f"{key} repeats what {echoed[0]} said, though nothing it stands on does", witness=key
            )
