"""The cascade of a case: all that was derived from its roots, and what of it is still out of service."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from types import MappingProxyType

from memorepair.errors import InvalidInput
from memorepair.graphs.terms import PROPAGATING
from memorepair.memory.artifact import CaseStatus, Key, Scope, State
from memorepair.memory.exchange import Member, Spared, SupportArc
from memorepair.memory.store import Store
from memorepair.repair.events import EventKind

_REMOVING = (EventKind.DELETE, EventKind.RECOVER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cascade:
    """C(F) as the case withdrew it, with what its members stand on today.

    Attributes
    ----------
    case
        The case's number.
    members
        C(F), roots included, in order of their keys.
    roots
        F.
    support
        The influence arcs into members, one per child and parent, in that order.
    spared
        Members that evidence keeps in service; none under the policy ``none``.
    evidence
        What each of them stands on: the support that the event left it.
    deleted
        Members that another case deletes, with its number: no repair of this one brings them back.
    open
        The descendants D(F) that are still withdrawn, which can be repaired; derived from the rest.

    Raises
    ------
    InvalidInput
        A root, a spared or a deleted key is not a member (witness: it).
    """

    case: int
    members: tuple[Member, ...]
    roots: tuple[Key, ...]
    support: tuple[SupportArc, ...]
    spared: tuple[Key, ...] = ()
    evidence: Mapping[Key, tuple[Key, ...]] = field(default_factory=lambda: MappingProxyType({}))
    deleted: Mapping[Key, int] = field(default_factory=lambda: MappingProxyType({}))
    open: tuple[Member, ...] = field(init=False)

    def __post_init__(self) -> None:
        known = {member.key for member in self.members}
        for key in (*self.roots, *self.spared, *self.evidence, *self.deleted):
            if key not in known:
                raise InvalidInput(f"{key} is not a member of the cascade", witness=key)
        settled = {*self.roots, *self.spared, *self.deleted}
        still = (one for one in self.members if one.state is State.WITHDRAWN and one.key not in settled)
        object.__setattr__(self, "open", tuple(still))

    @property
    def withdrawn(self) -> tuple[Member, ...]:
        """W: the members without the spared ones."""
        spared = set(self.spared)
        return tuple(member for member in self.members if member.key not in spared)

    @staticmethod
    def retained(arc: SupportArc) -> bool:
        """Whether the arc's parent is in Ret(e) today.

        It is served: outside the cascade and withdrawn by no other case, a fresh replacement of a root, or a
        member that was published or released before.
        """
        return arc.parent_served


def read_cascade(store: Store, case: int) -> Cascade:
    """The cascade of `case` as the store has it now; O(members + arcs).

    Raises
    ------
    UnknownId
        There is no such case.
    """
    members = store.members(case)
    spared = store.spared(case)
    members += [one.member for one in spared]
    return _cascade(store, case, members, store.support([member.key for member in members]), spared)


def read_ancestry(store: Store, case: int, key: Key, *, most: int) -> Cascade | None:
    """The part of the cascade that a member stands on, itself included; None where it is no member.

    None as well where that part has more than `most` members. What bars the member from repair lies in this
    part and is the same in it: every bar comes from what an artifact stands on.

    Raises
    ------
    UnknownId
        There is no such case.
    """
    members = {member.key: member for member in store.members(case)}
    if key not in members:
        return None
    reached, frontier, arcs = {key}, [key], list[SupportArc]()
    while frontier and len(reached) <= most:
        above = store.support(frontier)
        arcs += above
        parents = {arc.parent for arc in above if arc.relation in PROPAGATING and arc.parent in members}
        frontier = sorted(parents - reached)
        reached |= parents
    if frontier:
        return None
    return _cascade(store, case, [members[one] for one in reached], arcs, ())


def _cascade(
    store: Store, case: int, members: Iterable[Member], arcs: Iterable[SupportArc], spared: Iterable[Spared]
) -> Cascade:
    # Sorting by the parts of a key gives the order of keys at a fraction of the cost.
    ordered = sorted(members, key=lambda member: (member.key.scope, member.key.id))
    followed = sorted((arc for arc in arcs if arc.relation in PROPAGATING), key=_ends)
    return Cascade(
        case=case,
        members=tuple(ordered),
        roots=tuple(member.key for member in ordered if member.root),
        support=tuple(next(same) for _, same in groupby(followed, key=_ends)),
        spared=tuple(sorted(one.member.key for one in spared)),
        evidence=MappingProxyType(dict(sorted((one.member.key, one.by) for one in spared))),
        deleted=MappingProxyType(_deleted_elsewhere(store, case, ordered)),
    )


def _deleted_elsewhere(store: Store, case: int, members: Iterable[Member]) -> dict[Key, int]:
    """Members that are roots of another deletion not yet closed; a closed one has archived its roots."""
    barred = {member.key for member in members if member.state is State.WITHDRAWN and not member.root}
    unfinished = [*store.cases(CaseStatus.OPEN), *store.cases(CaseStatus.RUNNING)]
    return {
        root: other.id
        for other in unfinished
        if other.event in _REMOVING and other.id != case
        for root in other.roots
        # It may belong to a newer event by now, which has named it as well.
        if root in barred and store.describe(root).case == other.id
    }


def _ends(arc: SupportArc) -> tuple[Scope, str, Scope, str]:
    return arc.child.scope, arc.child.id, arc.parent.scope, arc.parent.id
