"""Footing: what each member of a cascade stands on now, as the repair goes on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from memorepair.graphs.terms import PROPAGATING, Kind
from memorepair.memory.artifact import Key, Read
from memorepair.memory.exchange import SupportArc, SuspectedArc
from memorepair.memory.store import Store
from memorepair.repair.cascade import Cascade
from memorepair.repair.events import Deletion, Migration, RepairEvent
from memorepair.repair.operators.operator import Input
from memorepair.repair.origins import Origins


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A version that may be read; `staged` where this repair has made it."""

    key: Key
    version: int
    digest: str
    kind: Kind
    staged: bool = False


class Footing:
    """The recorded parents of each member, and what stands for each of them: served, or a result so far."""

    def __init__(self, store: Store, event: RepairEvent, cascade: Cascade, members: Sequence[Key]) -> None:
        self._store = store
        self._instead = event.instead
        self._members = frozenset(members)
        self._arcs: defaultdict[Key, list[SupportArc]] = defaultdict(list)
        for arc in store.support(members):
            if arc.relation in PROPAGATING:
                self._arcs[arc.child].append(arc)
        self._suspected: defaultdict[Key, list[SuspectedArc]] = defaultdict(list)
        for suspicion in store.suspects(cascade.case):
            self._suspected[suspicion.child].append(suspicion)
        parents = {arc.parent for arcs in self._arcs.values() for arc in arcs} - self._members
        replacing = set() if isinstance(event.delta, Deletion) else {*cascade.roots, *self._instead.values()}
        self._served = store.served(sorted(parents | replacing))
        self._standing = self._served_standing()
        self._migrates = isinstance(event.delta, Migration)
        made_from = [(arc.parent, arc.child) for arc in cascade.support if arc.relation in PROPAGATING]
        made_from += [(one.parent, one.child) for some in self._suspected.values() for one in some]
        self._origins = Origins({root: self._instead.get(root, root) for root in cascade.roots}, made_from)

    def _served_standing(self) -> dict[Key, Standing]:
        """What is served at the beginning, each with the digest that the store has of it."""
        recorded = {
            (arc.parent, arc.parent_version): arc.parent_digest
            for arcs in self._arcs.values()
            for arc in arcs
        }
        standing = {}
        for key, there in self._served.items():
            digest = recorded.get((key, there.version)) or self._store.digest(there.content)
            standing[key] = Standing(key=key, version=there.version, digest=digest, kind=there.kind)
        return standing

    def _brought(self, key: Key) -> dict[Key, str]:
        """Root -> what stands in its place, of the roots that the member stands on.

        What another root got would be words of elsewhere: it might say other things of the same tool, or
        excuse what this member's root must not say any more.
        """
        places = ((root, self._served.get(self._instead.get(root, root))) for root in self._origins.of(key))
        return {root: there.content for root, there in places if there is not None}

    def interfaces(self, key: Key) -> dict[Key, str]:
        """kappa_e: root -> content of what supersedes it, of what the member stands on."""
        return self._brought(key) if self._migrates else {}

    def fresh(self, key: Key) -> tuple[str, ...]:
        """X_Delta or kappa_e, of what the member stands on, as it is served now."""
        return tuple(self._brought(key).values())

    def __contains__(self, key: Key) -> bool:
        """Whether it may be read now."""
        return key in self._standing

    def add(self, standing: Standing) -> None:
        """A result of this repair, which the members after it may read."""
        self._standing[standing.key] = standing

    def digest(self, key: Key) -> str:
        """The store's digest of what may be read under a key."""
        return self._standing[key].digest

    def arcs(self, key: Key) -> Sequence[SupportArc]:
        """The recorded reads of a member, of the relations that propagate."""
        return self._arcs.get(key, ())

    def parent(self, arc: SupportArc) -> Standing | None:
        """What stands for a parent now: a result of this repair, or what is served in its place."""
        if arc.parent == arc.child:
            return None
        return self._standing.get(self._instead.get(arc.parent, arc.parent))

    def as_read(self, key: Key) -> bool:
        """Whether all it read is there before it, as it was: so nothing released stands on itself."""
        for arc in self.arcs(key):
            parent = self.parent(arc)
            # A parent under another key would change what the version stands on: that takes a successor.
            if parent is None or parent.key != arc.parent or not _as_it_was(parent, arc):
                return False
        return all(self._unchanged(suspicion) for suspicion in self._suspected.get(key, ()))

    def _unchanged(self, suspicion: SuspectedArc) -> bool:
        """Whether what it is suspected to stand on is there as it was; a suspicion is no input otherwise."""
        parent = self._standing.get(suspicion.parent)
        return parent is not None and parent.version == suspicion.parent_version

    def missing(self, key: Key) -> Key | None:
        """The first parent that nothing stands for, None where there is none."""
        arcs = self.arcs(key)
        return next((arc.parent for arc in arcs if arc.parent != key and self.parent(arc) is None), None)

    def lost(self, key: Key) -> dict[Key, SupportArc]:
        """The parents that are not there any more as they were read, each with its arc."""
        lost: dict[Key, SupportArc] = {}
        for arc in self.arcs(key):
            parent = self.parent(arc)
            if arc.parent != key and (parent is None or not _as_it_was(parent, arc)):
                lost[arc.parent] = arc
        return lost

    def reads(self, key: Key) -> tuple[Read, ...]:
        """The recorded reads, each of what stands for its parent now; dropped where nothing does."""
        reads = []
        for arc in self.arcs(key):
            parent = self.parent(arc)
            if parent is not None:
                reads.append(
                    Read(key=parent.key, version=parent.version, relation=arc.relation, group=arc.group)
                )
        return tuple(dict.fromkeys(reads))

    def inputs(self, key: Key) -> tuple[Input, ...]:
        """What stands for its parents, each once, with its text."""
        inputs: dict[Key, Input] = {}
        for arc in self.arcs(key):
            parent = self.parent(arc)
            if parent is not None and parent.key not in inputs:
                inputs[parent.key] = Input(
                    key=parent.key,
                    version=parent.version,
                    kind=parent.kind,
                    relation=arc.relation,
                    content=self._text(parent),
                )
        return tuple(inputs.values())

    def _text(self, parent: Standing) -> str:
        if parent.key not in self._members:
            return self._served[parent.key].content
        if parent.staged:
            return self._store.staged_content(parent.key, parent.version)
        # Released or unchanged: the old version, whose support stands again; it is published with its
        # readers.
        return self._store.former([(parent.key, parent.version)])[parent.key].content


def _as_it_was(parent: Standing, arc: SupportArc) -> bool:
    # A mutation step says where it wrote, not what: taken again it may have written something else.
    if parent.kind is Kind.MEMORY_MUTATION:
        return parent.version == arc.read_version
    return parent.digest == arc.read_digest
