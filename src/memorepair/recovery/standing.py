"""Standing: the version of a memory that stood before its run wrote what a replay has still to come to."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from memorepair.errors import TraceMismatch, UnknownId
from memorepair.memory.artifact import SERVING, Draft, Key, Scope, State
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


class Standing:
    """Memory as its run had left it at the place that a replay has come to, but for what the replay writes.

    Parameters
    ----------
    writers
        For each memory that the run wrote, its steps that did.
    back
        M_back: versions that stand again, of memories that are out of service.
    passed
        The steps that the replay has read back so far, in order; it grows.
    """

    def __init__(
        self,
        store: Store,
        writers: Mapping[Key, Collection[Key]],
        back: Mapping[Key, Former],
        passed: Mapping[Key, None],
    ) -> None:
        self._store = store
        self._writers = writers
        self._back = back
        self._passed = passed
        self._last = _last_writers(store, writers, back)
        self.past: dict[tuple[Key, int], str] = {}
        """The former versions that were read, with their texts."""

    def is_ahead(self, memory: Key) -> bool:
        """Whether what would be read of a memory is what the run wrote only later."""
        return not self._passed.keys() >= self._last.get(memory, frozenset())

    def read(self, memory: Key) -> tuple[str, int]:
        """What a memory says here, and in which version.

        Raises
        ------
        UnknownId, Withdrawn
            There is nothing.
        TraceMismatch
            The version is gone.
        """
        ahead = self.is_ahead(memory)
        former = self._stood(memory) if ahead else self._back.get(memory)
        if former is not None:
            self.past[memory, former.version] = former.draft.content
            return former.draft.content, former.version
        if ahead:
            raise UnknownId(f"nothing stands of {memory} from before the run wrote it", witness=memory)
        there = self._store.get(memory)
        return there.content, there.version

    def differing(self, scope: Scope) -> dict[Key, str | None]:
        """What memories of a scope say here and not in the store; None where there is nothing yet.

        O(memories that the run wrote).
        """
        said: dict[Key, str | None] = {
            key: former.draft.content for key, former in self._back.items() if key.scope == scope
        }
        for key in self._last:
            if key.scope == scope and self.is_ahead(key):
                former = self._stood(key)
                said[key] = None if former is None else former.draft.content
        return said

    def known_versions(self, memory: Key, before: int) -> set[int]:
        """The versions that were there before a time (ns), and those that the run has written itself.

        O(versions of the memory).
        """
        writers = self._writers.get(memory, ())
        known = set()
        for one in self._store.history(memory):
            if one.state in SERVING:
                own = memory in self._last
            else:
                drafts = self._store.drafts([(memory, one.version)]).values()
                own = any(read.key in writers for draft in drafts for read in draft.reads)
            if own or one.created_at < before:
                known.add(one.version)
        return known

    def _stood(self, memory: Key) -> Former | None:
        """The version that stood when the steps passed had written theirs.

        What others have written in between counts: nobody knows on which side of this place it lies, and it
        is the later word. O(versions of the memory).
        """
        writers = self._writers[memory]
        versions: list[tuple[Former, set[Key]]] = []
        for version in shown_versions(self._store, memory):
            for draft in self._store.drafts([(memory, version)]).values():
                by = {read.key for read in draft.reads}.intersection(writers)
                versions.append((Former(version=version, draft=draft), by))
        done = [step for step in self._passed if step in writers]
        while versions and not versions[-1][1].issubset(done):
            versions.pop()
        if done and not any(done[-1] in by for _, by in versions):
            raise TraceMismatch(f"what {done[-1]} wrote to {memory} is not there any more", witness=memory)
        return versions[-1][0] if versions else None


def _last_writers(
    store: Store, writers: Mapping[Key, Collection[Key]], back: Mapping[Key, Former]
) -> dict[Key, frozenset[Key]]:
    """For each memory that a run wrote, its steps that wrote what would be read of it now.

    O(memories + arcs into them).
    """
    served = sorted(store.served(sorted(writers.keys() - back.keys())))
    reads = [(arc.child, arc.parent) for arc in store.support(served)]
    reads += [(memory, read.key) for memory, former in back.items() for read in former.draft.reads]
    found: dict[Key, set[Key]] = {}
    for memory, step in reads:
        if step in writers.get(memory, ()):
            found.setdefault(memory, set()).add(step)
    return {memory: frozenset(steps) for memory, steps in found.items()}
