"""Standing: the version of a memory that stood before its run wrote what a replay has still to come to."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from memorepair.errors import TraceMismatch
from memorepair.memory.artifact import Draft, Key, State
from memorepair.memory.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Former:
    """A memory's version that an ordinary update had superseded."""

    version: int
    draft: Draft


def shown_versions(store: Store, memory: Key) -> list[int]:
    """The superseded versions that `history` still shows with their content, oldest first."""
    return [
        one.version
        for one in store.history(memory)
        if one.state is State.SUPERSEDED and one.content is not None
    ]


def last_writers(
    store: Store, writers: Mapping[Key, Collection[Key]], back: Mapping[Key, Former]
) -> dict[Key, frozenset[Key]]:
    """For each memory that a run wrote, the steps that what would be read of it now was written by.

    Parameters
    ----------
    writers
        The steps of the run that wrote a memory.
    back
        The versions that come back, where the current ones are out of service.

    Notes
    -----
    None where others have written it since. O(memories + arcs into them).
    """
    served = sorted(store.served(sorted(writers.keys() - back.keys())))
    reads = [(arc.child, arc.parent) for arc in store.support(served)]
    reads += [(memory, read.key) for memory, former in back.items() for read in former.draft.reads]
    found: dict[Key, set[Key]] = {}
    for memory, step in reads:
        if step in writers.get(memory, ()):
            found.setdefault(memory, set()).add(step)
    return {memory: frozenset(steps) for memory, steps in found.items()}


def stood(store: Store, memory: Key, writers: Sequence[Key], passed: Collection[Key]) -> Former | None:
    """The version that stood when the steps that were passed had written theirs; None where none did.

    Parameters
    ----------
    writers
        The steps of the run that wrote the memory.
    passed
        The steps that the replay has read back, in order.

    Raises
    ------
    TraceMismatch
        The version is gone that the last step passed had written.

    Notes
    -----
    What others have written in between counts: nobody knows on which side of the replay's place it lies, and
    it is the later word. O(versions of the memory).
    """
    versions: list[tuple[Former, set[Key]]] = []
    for version in shown_versions(store, memory):
        for draft in store.drafts([(memory, version)]).values():
            by = {read.key for read in draft.reads}.intersection(writers)
            versions.append((Former(version=version, draft=draft), by))
    done = [step for step in passed if step in writers]
    while versions and not versions[-1][1].issubset(done):
        versions.pop()
    if done and not any(done[-1] in by for _, by in versions):
        raise TraceMismatch(f"what {done[-1]} wrote to {memory} is not there any more", witness=memory)
    return versions[-1][0] if versions else None
