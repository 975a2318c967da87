"""Soundness of a publication: the property all of repair has to keep, checked on pictures of the store.

The checker trusts nothing that repair computed: it finds the cascade again from the arcs of the picture
before the event, and reads what became of it in the picture after.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TypeAlias, TypeVar

from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import SERVING, Key, State
from memorepair.memory.exchange import SuspectedArc
from memorepair.memory.snapshot import Snapshot, VersionView
from memorepair.repair.events import EventKind, Migration, RepairEvent, Rollback, Settlement
from memorepair.repair.evidence import spared_in

_RELEASABLE = SERVING | {
    State.WITHDRAWN
}  # withdrawn: by an earlier event, whose members another one may reach


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A law that a publication breaks.

    Attributes
    ----------
    law
        1 (nothing of the cascade is served before its own publication), 2 (what is published is validated and
        stands on what is served) or 5 (nothing is lost, nothing changes outside the cascade).
    key
        The artifact at fault.
    what
        How it breaks the law; stable words.
    witness
        What proves it: a version, a parent, a cycle.
    """

    law: int
    key: Key
    what: str
    witness: object


def is_sound_publication(before: Snapshot, event: RepairEvent, after: Snapshot) -> bool:
    """Whether `after` keeps laws 1, 2 and 5 for an event declared in `before`; see `soundness_violations`."""
    return not soundness_violations(before, event, after)


def soundness_violations(before: Snapshot, event: RepairEvent, after: Snapshot) -> tuple[Violation, ...]:
    """What is wrong with the store after an event, however far its repair has come.

    Parameters
    ----------
    before
        The store when the event was declared, the barrier not yet up.
    event
        e = (F, tau, Delta).
    after
        The store at any later time: after the withdrawal alone, after one publication, after the close.

    Returns
    -------
    tuple of Violation
        Empty exactly if, with C(F) the cascade of the roots in `before`:

        - a deleted root is not served, another root by its replacement only (law 1);
        - no withdrawn version, nor a former one made from it or with its words, is readable in a history
          (law 1);
        - any other member of C(F) is served only as a new, validated version whose every in-arc leads to a
          served, current version (law 2; its own before-image besides, in a migration; in a recovery a step
          that reads memory may stand on a version that its history still shows), or in the very
          version of before: made again and validated since, or released without execution, and then it has
          the parents it had, each served with the digest it had read (a mutation step, which does not say
          what it wrote, in the version) or itself released; but for what the event's evidence spares, which
          is served as it was;
        - this support is grounded, no circle of successors stands on itself (law 2);
        - nothing new stands on what is not served of C(F) (law 1, derivations under way);
        - outside C(F) no version, state or digest changed, and no version of anything is gone (law 5).

    Notes
    -----
    Where the event says so, C(F) follows accepted suspicions as well, those accepted in the event included.
    C(F) follows arcs into current versions whatever version they read, and arcs into former versions of what
    was made from withdrawn ones. What leaves takes along the former versions of its key that say the same,
    whatever their case, width and white space; a deletion begins at all former versions of its roots too. A
    release is held to the digests of all its parents, affected by the event or not: a dependent that was
    stale before the event is repaired or stays withdrawn. O(versions + arcs).
    """
    return _Audit(before, event, after).violations()


def exposed(
    before: Snapshot, event: RepairEvent, after: Snapshot, keys: Iterable[Key] | None = None
) -> tuple[Key, ...]:
    """Those of `keys` that are served although nothing validated them since the event.

    Parameters
    ----------
    keys
        The true cascade, which may be larger than the recorded one; None means the recorded C(F).

    Returns
    -------
    tuple of Key
        In order. Exposure is its length over the number of `keys`.
    """
    audit = _Audit(before, event, after)
    return tuple(sorted(key for key in set(audit.cascade if keys is None else keys) if audit.is_exposed(key)))


_Node: TypeAlias = Key | tuple[Key, int]
"""A key stands for its current version, a pair for a former one."""


_N = TypeVar("_N", bound=Hashable)


class _Standing(Enum):
    """On what ground a member of the cascade, or something new below it, is served."""

    REPLACED = auto()
    PUBLISHED = auto()
    RELEASED = auto()
    SPARED = auto()
    NEW = auto()
    NONE = auto()


@dataclass(slots=True)
class _Audit:
    before: Snapshot
    event: RepairEvent
    after: Snapshot
    cascade: set[Key] = field(init=False)
    former: set[tuple[Key, int]] = field(init=False)
    fresh: frozenset[Key] = field(init=False)
    spared: set[Key] = field(init=False)
    suspected: tuple[SuspectedArc, ...] = field(init=False)
    found: list[Violation] = field(init=False, default_factory=list)
    standing: dict[Key, _Standing] = field(init=False, default_factory=dict)
    grounded: set[Key] = field(init=False, default_factory=set)
    read_before: Mapping[Key, list[tuple[Key, int]]] = field(init=False)
    read_after: Mapping[Key, list[tuple[Key, int]]] = field(init=False)

    def __post_init__(self) -> None:
        self.read_before, self.read_after = _reads(self.before), _reads(self.after)
        # What a policy followed is accepted in the event itself, so it stands in the later picture.
        self.suspected = _followed({*self.before.suspected, *self.after.suspected}, self.event)
        reached = _reached(self.before, self.event, self.suspected)
        self.cascade = {node for node in reached if isinstance(node, Key)}
        self.former = {node for node in reached if not isinstance(node, Key)}
        self.fresh = _fresh_keys(self.event)
        self.spared = spared_in(self.before, self.event, self.cascade)
        self._stand()
        self._ground()

    def violations(self) -> tuple[Violation, ...]:
        found = [*self.found]
        found += self._hidden_versions()
        found += self._outside()
        found += self._lost()
        return tuple(sorted(found, key=lambda one: (one.law, one.key, one.what)))

    def is_exposed(self, key: Key) -> bool:
        if not self._served(key) or key in self.grounded:
            return False
        version = self.after.current[key].version
        if key in self.cascade or (key, version) in self.before.versions:
            return True
        return key not in self.fresh and not self.after.versions[key, version].validated

    def _stand(self) -> None:
        """Find the ground of every served member and of everything new that reads one, and its faults."""
        for key in sorted(self.cascade):
            if self._served(key):
                self.standing[key] = self._ground_of(key)
        for key, reads in self.read_after.items():
            if key in self.before.current or not self._served(key) or key in self.standing:
                continue
            if any(parent in self.cascade for parent, _ in reads):
                self.standing[key] = _Standing.NEW
        for key, ground in self.standing.items():
            self._check_reads(key, ground)

    def _ground_of(self, key: Key) -> _Standing:
        version = self.after.current[key].version
        is_root = key in self.event.roots
        if is_root and _removed(self.event, key):
            self._fault(1, key, "a removed root is served", version)
            return _Standing.NONE
        if key in self.spared and version == self.before.current[key].version:
            return _Standing.SPARED
        if (key, version) in self.before.versions:
            if is_root:
                self._fault(1, key, "a root is served in its old version", version)
            elif version != self.before.current[key].version:
                self._fault(1, key, "a version older than the withdrawn one is served", version)
            elif self.before.current[key].state not in _RELEASABLE:
                self._fault(1, key, "what was out of service before the event is served", version)
            else:
                return _Standing.RELEASED
            return _Standing.NONE
        if key in self.fresh:
            return _Standing.REPLACED
        if is_root:
            self._fault(1, key, "a superseded interface is served", version)
            return _Standing.NONE
        if not self.after.versions[key, version].validated:
            self._fault(2, key, "a successor was published without validation", version)
        bare = not any(parent != key for parent, _ in self.read_after.get(key, ()))
        if bare and not self._reinstated(key, version):
            self._fault(2, key, "a successor stands on nothing", version)
        return _Standing.PUBLISHED

    def _reinstated(self, key: Key, version: int) -> bool:
        """Whether a recovery has brought back what an ordinary update had superseded."""
        digest = self.after.versions[key, version].digest
        return self.event.kind is EventKind.RECOVER and any(
            place[0] == key and view.digest == digest and _in_history(view)
            for place, view in self.before.versions.items()
        )

    def _check_reads(self, key: Key, ground: _Standing) -> None:
        if ground in (_Standing.NONE, _Standing.SPARED):  # a spared one may read what is gone, beside
            return
        if ground is _Standing.RELEASED:
            self._check_release(key)
        law = 1 if ground is _Standing.NEW else 2
        for parent, version in self.read_after.get(key, ()):
            if ground is _Standing.NEW and parent not in self.cascade:
                continue
            if self._reads_the_past(key, parent, version):
                continue
            if parent == key:
                if ground is not _Standing.RELEASED and not self._may_read_own(key, version):
                    self._fault(2, key, "a successor stands on its own withdrawn version", version)
            elif not self._served(parent):
                self._fault(law, key, "it stands on what is not served", parent)
            elif self.after.current[parent].version != version and not self._may_be_stale(
                ground, parent, version
            ):
                self._fault(law, key, "it stands on a version that is not current", (parent, version))

    def _may_be_stale(self, ground: _Standing, parent: Key, version: int) -> bool:
        # What was derived since may have been overtaken by an ordinary update; only support from before the
        # event is out of the question.
        return ground is _Standing.NEW and (parent, version) not in self.before.versions

    def _reads_the_past(self, key: Key, parent: Key, version: int) -> bool:
        """Whether a step of a run that was taken again has read a version that its history still shows."""
        view = self.after.versions.get((parent, version))
        return (
            self.event.kind is EventKind.RECOVER
            and self.after.current[key].kind is Kind.MEMORY_READ
            and (self.standing[key] is not _Standing.RELEASED or self._overtaken(parent))
            and (parent, version) not in self.former
            and view is not None
            and _in_history(view)
        )

    def _overtaken(self, key: Key) -> bool:
        """Whether the replay of another run has written a key, after what read it was released."""
        now = self.after.current[key]
        return (
            now.validated
            and (key, now.version) not in self.before.versions
            and any(
                self.after.current[parent].kind is Kind.MEMORY_MUTATION
                for parent, _ in self.read_after.get(key, ())
            )
        )

    def _may_read_own(self, key: Key, version: int) -> bool:
        return self.event.kind is EventKind.MIGRATE and (key, version) in self.before.versions

    def _check_release(self, key: Key) -> None:
        view = self.after.current[key]
        if view.validated and view.validated_at > self.before.epoch:
            return  # made again since the event with the same content: its parents may have changed
        reads = self.read_before.get(key, [])
        had, has = {parent for parent, _ in reads}, {parent for parent, _ in self.read_after.get(key, ())}
        for parent in sorted(had ^ has):
            self._fault(2, key, "a release changed what it stands on", parent)
        for parent, version in reads:
            if self.standing.get(parent) is _Standing.RELEASED or not self._served(parent):
                continue
            now = self._stood_on(key, parent)
            again = now.kind is Kind.MEMORY_MUTATION and now.version != version
            if again or self.before.versions[parent, version].digest != now.digest:
                self._fault(2, key, "a release although a parent changed", parent)
        for arc in self.suspected:
            there = arc.child == key and arc.child_version == view.version and arc.parent in self.cascade
            if there and self.standing.get(arc.parent) is not _Standing.RELEASED:
                self._fault(2, key, "a release although a suspected parent changed", arc.parent)

    def _stood_on(self, key: Key, parent: Key) -> VersionView:
        """The version of a parent on which something was released."""
        for one, version in self.read_after.get(key, ()):
            if one == parent and self._reads_the_past(key, parent, version):
                return self.after.versions[parent, version]
        return self.after.current[parent]

    def _ground(self) -> None:
        # The least fixpoint: a key is grounded once it has no fault of its own and all it reads of the
        # cascade is grounded. What is left has a fault, stands on one that has, or on itself.
        faulty = {one.key for one in self.found}
        unmet: Counter[Key] = Counter()
        dependents: defaultdict[Key, list[Key]] = defaultdict(list)
        for key, ground in self.standing.items():
            if ground is _Standing.SPARED:
                continue
            reads = self.read_after.get(key, ())
            now = {one for one, version in reads if not self._reads_the_past(key, one, version)}
            for parent in now - {key}:
                if parent in self.standing:
                    unmet[key] += 1
                    dependents[parent].append(key)
        ready = [key for key in self.standing if not unmet[key] and key not in faulty]
        while ready:
            key = ready.pop()
            self.grounded.add(key)
            for child in dependents[key]:
                unmet[child] -= 1
                if not unmet[child] and child not in faulty:
                    ready.append(child)
        spoiled = _spread(faulty, dependents)
        circular = self.standing.keys() - self.grounded - spoiled
        if circular:
            cycle = self._cycle_in(circular)
            self._fault(2, cycle[0], "successors stand on each other", cycle)

    def _cycle_in(self, circular: set[Key]) -> tuple[Key, ...]:
        # Each member reads another member: following the least one from anywhere must come back.
        seen: dict[Key, int] = {}
        key = min(circular)
        while key not in seen:
            seen[key] = len(seen)
            key = min(parent for parent, _ in self.read_after[key] if parent in circular and parent != key)
        return tuple(list(seen)[seen[key] :])

    def _hidden_versions(self) -> Iterable[Violation]:
        """Versions that are readable beside the current one although the event took them out of service."""
        for (key, version), view in self.after.versions.items():
            now = self.after.current.get(key)
            if now is not None and now.version == version:
                continue
            taken = key in self.cascade and version == self.before.current[key].version
            if view.state in SERVING and (key in self.cascade or (key, version) in self.former):
                yield Violation(law=1, key=key, what="a version that is not current is open", witness=version)
            elif (taken or (key, version) in self.former) and _in_history(view):
                what = "a version that left service is readable in its history"
                yield Violation(law=1, key=key, what=what, witness=version)

    def _outside(self) -> Iterable[Violation]:
        """What changed although the event does not reach it.

        The event may bring an interface's version, and the replay of a run the next version of a memory, or
        of what had left with an earlier case.
        """
        for key, was in self.before.current.items():
            now = self.after.current.get(key)
            if key in self.cascade or now is None or now.version == was.version:
                continue
            brought = key in self.fresh or self._written_again(key) or self._brought_again(key, was)
            if not brought or (key, now.version) in self.before.versions:
                what = "a version changed outside the cascade"
                yield Violation(law=5, key=key, what=what, witness=(was.version, now.version))
        for (key, version), view in self.before.versions.items():
            then = self.after.versions.get((key, version))
            if key in self.cascade or (key, version) in self.former or then is None:
                continue
            if then.state is view.state:
                continue
            brought = key in self.fresh or self._written_again(key) or self._brought_again(key, view)
            if not brought or then.state is not State.SUPERSEDED:
                what = "a state changed outside the cascade"
                yield Violation(law=5, key=key, what=what, witness=(version, view.state, then.state))

    def _written_again(self, key: Key) -> bool:
        """Whether a step that a replay has taken again, or newly, has written the key."""
        validated = self.after.current[key].validated
        return self.event.kind is EventKind.RECOVER and any(
            (parent in self.grounded or (validated and parent not in self.before.current))
            and self.after.current[parent].kind is Kind.MEMORY_MUTATION
            for parent, _ in self.read_after.get(key, ())
        )

    def _brought_again(self, key: Key, was: VersionView) -> bool:
        """Whether a validated version stands in place of what a recovery that was undone had brought."""
        return (
            self.event.kind is EventKind.RECOVER
            and was.state is State.ARCHIVED
            and was.case is not None
            and self.after.current[key].validated
        )

    def _lost(self) -> Iterable[Violation]:
        for (key, version), view in self.before.versions.items():
            then = self.after.versions.get((key, version))
            if then is None:
                yield Violation(law=5, key=key, what="a version is lost", witness=version)
            elif then.digest != view.digest and then.state is not State.ERASED:
                yield Violation(law=5, key=key, what="a kept version was changed", witness=version)

    def _served(self, key: Key) -> bool:
        now = self.after.current.get(key)
        return now is not None and now.state in SERVING

    def _fault(self, law: int, key: Key, what: str, witness: object) -> None:
        self.found.append(Violation(law=law, key=key, what=what, witness=witness))


def _reads(snapshot: Snapshot) -> dict[Key, list[tuple[Key, int]]]:
    reads: defaultdict[Key, list[tuple[Key, int]]] = defaultdict(list)
    for arc in snapshot.arcs:
        reads[arc.child].append((arc.parent, arc.read_version))
    return dict(reads)


def _in_history(view: VersionView) -> bool:
    """Whether a history gives the content of a version that is not current."""
    return view.state is State.SUPERSEDED and view.case is None


def _followed(suspected: Iterable[SuspectedArc], event: RepairEvent) -> tuple[SuspectedArc, ...]:
    """The suspicions that the event's cascade follows."""
    least = event.suspected
    if least is None:
        return ()
    return tuple(
        sorted(
            (
                arc
                for arc in suspected
                if arc.firm or (arc.probability is not None and arc.probability >= least)
            ),
            key=lambda arc: (arc.child, arc.child_version, arc.parent, arc.parent_version),
        )
    )


def _reached(snapshot: Snapshot, event: RepairEvent, suspected: Iterable[SuspectedArc]) -> set[_Node]:
    """C(F), with the former versions that were made from it; whatever the states are."""
    following: defaultdict[_Node, list[_Node]] = defaultdict(list)
    for arc in snapshot.arcs:
        following[arc.parent].append(arc.child)
        following[arc.parent, arc.read_version].append(arc.child)
    for arc in snapshot.former_arcs:
        made = arc.child, arc.child_version
        following[arc.parent, arc.read_version].append(made)
        if arc.read_version == snapshot.current[arc.parent].version:
            following[arc.parent].append(made)
    for suspicion in suspected:
        child = snapshot.current.get(suspicion.child)
        if child is None:
            continue
        now = child.version == suspicion.child_version
        reached: _Node = suspicion.child if now else (suspicion.child, suspicion.child_version)
        following[suspicion.parent].append(reached)
        following[suspicion.parent, suspicion.parent_version].append(reached)
    readable = [place for place, view in snapshot.versions.items() if _in_history(view)]
    said: defaultdict[tuple[Key, str], list[_Node]] = defaultdict(list)
    for place in readable:
        said[place[0], snapshot.versions[place].words].append(place)
    for (key, version), view in snapshot.versions.items():
        made_of = key if version == snapshot.current[key].version else (key, version)
        following[made_of] += said.get((key, view.words), ())
    starts: list[_Node] = [*event.roots]
    roots = set(event.roots)
    if event.kind is EventKind.DELETE:
        starts += [(key, version) for key, version in readable if key in roots]
    return _spread(starts, following)


def _spread(starts: Iterable[_N], following: Mapping[_N, list[_N]]) -> set[_N]:
    reached = set(starts)
    frontier = list(reached)
    while frontier:
        for node in following.get(frontier.pop(), ()):
            if node not in reached:
                reached.add(node)
                frontier.append(node)
    return reached


def _fresh_keys(event: RepairEvent) -> frozenset[Key]:
    """The keys whose next version the event itself brings: X_Delta, or the interfaces of kappa_e."""
    if isinstance(event.delta, Migration):
        return frozenset(interface.key for interface in event.delta.interfaces.values())
    if isinstance(event.delta, Rollback):
        return event.delta.restored
    if isinstance(event.delta, Settlement):
        return frozenset()
    return frozenset(event.roots) if event.kind is EventKind.CORRECT else frozenset()


def _removed(event: RepairEvent, root: Key) -> bool:
    """Whether the event takes a root out of service and brings nothing in its place."""
    if isinstance(event.delta, Rollback):
        return root not in event.delta.restored
    return event.kind is EventKind.DELETE
