"""Bygone: what the withdrawn artifacts of a case said, which no successor may say again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from memorepair.memory.artifact import Artifact, Key, State
from memorepair.memory.store import Store
from memorepair.repair.cascade import Cascade
from memorepair.repair.checks.marks import Run, marked
from memorepair.repair.events import Deletion, RepairEvent
from memorepair.repair.footing import Footing


class Bygone:
    """The texts of the roots, of a member and of its withdrawn parents, with the marks they are known by."""

    def __init__(self, store: Store, event: RepairEvent, cascade: Cascade, footing: Footing) -> None:
        self._store = store
        self._roots = dict.fromkeys(cascade.roots)
        self._each_version = isinstance(event.delta, Deletion)
        self._versions = {member.key: member.version for member in cascade.members}
        self._footing = footing
        self._marked: dict[tuple[Key, str], Mapping[Run, Key]] = {}

    def of(self, key: Key) -> Artifact | None:
        """A member as the case withdrew it, None where the store has nothing left of it."""
        if key not in self._versions:
            return None
        return self._store.former([(key, self._versions[key])]).get(key)

    def parent_texts(self, key: Key) -> dict[Key, str]:
        """Its parents that are out of service, by this event or another, as they were; roots left out."""
        gone = {
            arc.parent: self._versions.get(arc.parent, arc.read_version)
            for arc in self._footing.arcs(key)
            if arc.parent not in self._roots
            and arc.parent != key
            and (arc.parent in self._versions or not arc.parent_served)
        }
        return {one: there.content for one, there in self._store.former(list(gone.items())).items()}

    @cached_property
    def root_texts(self) -> tuple[str, ...]:
        """What the roots said."""
        return tuple(text for texts in self._said.values() for text in texts)

    @cached_property
    def root_marks(self) -> Mapping[Run, Key]:
        """Marks of what the roots said."""
        marks: dict[Run, Key] = {}
        for root, texts in self._said.items():
            for text in texts:
                marks |= marked({root: text})
        return marks

    @cached_property
    def _said(self) -> Mapping[Key, Sequence[str]]:
        """What the roots said: a deletion concerns each of their versions, another event the last."""

        def versions(root: Key) -> Iterator[Artifact | None]:
            if not self._each_version:
                yield self.of(root)
                return
            for past in self._store.history(root):
                yield self._store.former([(root, past.version)]).get(root)

        return {
            root: [one.content for one in versions(root) if one is not None and one.state is not State.ACTIVE]
            for root in self._roots
        }

    def marks_of(self, key: Key, text: str) -> Mapping[Run, Key]:
        """Marks of a withdrawn text: asked for by all that read it."""
        known = self._marked.get((key, text))
        if known is None:
            known = self._marked[key, text] = marked({key: text})
        return known
