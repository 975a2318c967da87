"""Small cascades without a store behind them, for the rooms that only read what the store says."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from memorepair.graphs.terms import Arch, Kind, Relation
from memorepair.memory.artifact import Case, CaseStatus, Key, Listing, Recipe, State
from memorepair.memory.exchange import Member, OperatorCost, Spared, SupportArc
from memorepair.repair.cascade import Cascade


def _key(name: str) -> Key:
    return Key(("t",), name)


def _cascade(
    parents: Mapping[str, Collection[str]],
    roots: Collection[str],
    *,
    replaced: bool = False,
    gone: Collection[str] = (),
    kinds: Mapping[str, tuple[Kind, Arch]] | None = None,
    case: int = 1,
    settled: Collection[str] = (),
    sizes: Mapping[str, int] | None = None,
    uses: Mapping[str, int] | None = None,
) -> Cascade:
    """The cascade of `roots` over named artifacts with their parents.

    `replaced` roots have a replacement in service, `gone` artifacts are out of service for other reasons,
    `settled` members are served again. A name without an entry in `kinds` is a record.
    """
    children: dict[str, list[str]] = {}
    for child, above in parents.items():
        for parent in above:
            children.setdefault(parent, []).append(child)
    members = set(roots)
    frontier = list(roots)
    while frontier:
        for child in children.get(frontier.pop(), ()):
            if child not in members:
                members.add(child)
                frontier.append(child)

    def served(name: str) -> bool:
        if name in members:
            return name in settled or (replaced and name in roots)
        return name not in gone

    def state(name: str) -> State:
        return State.ACTIVE if served(name) else State.WITHDRAWN

    return Cascade(
        case=case,
        members=tuple(
            Member(
                key=_key(name),
                version=1,
                kind=(kinds or {}).get(name, (Kind.RECORD, Arch.NONE))[0],
                arch=(kinds or {}).get(name, (Kind.RECORD, Arch.NONE))[1],
                state=state(name),
                digest=f"digest of {name}",
                root=name in roots,
                updated_at=0,
                uses=(uses or {}).get(name, 0),
                last_accessed_at=None,
                dependents=len(children.get(name, ())),
                size=(sizes or {}).get(name, 100),
            )
            for name in sorted(members)
        ),
        roots=tuple(sorted(map(_key, roots))),
        support=tuple(
            SupportArc(
                child=_key(child),
                parent=_key(parent),
                relation=Relation.DERIVE,
                group=0,
                read_version=1,
                read_digest=f"digest of {parent}",
                parent_state=state(parent),
                parent_version=1,
                parent_digest=f"digest of {parent}",
                parent_served=served(parent),
                parent_size=(sizes or {}).get(parent, 100),
            )
            for child in sorted(members)
            for parent in sorted(parents.get(child, ()))
        ),
    )


@dataclass
class _Shelf:
    """As much of a store as candidates are built from."""

    cascade: Cascade
    kept: Mapping[Key, Recipe] = field(default_factory=dict)
    costs: Sequence[OperatorCost] = ()
    states: Mapping[Key, State] = field(default_factory=dict)

    def members(self, case: int) -> Sequence[Member]:
        assert case == self.cascade.case
        return [member for member in self.cascade.members[::-1] if member.key not in self.cascade.evidence]

    def spared(self, case: int) -> Sequence[Spared]:
        assert case == self.cascade.case
        members = {member.key: member for member in self.cascade.members}
        return [Spared(member=members[key], by=by) for key, by in self.cascade.evidence.items()]

    def support(self, keys: Sequence[Key]) -> Sequence[SupportArc]:
        wanted = set(keys)
        return [arc for arc in self.cascade.support[::-1] if arc.child in wanted]

    def recipes(self, keys: Sequence[Key]) -> Mapping[Key, Recipe]:
        return {key: self.kept[key] for key in keys if key in self.kept}

    def operator_costs(self) -> Sequence[OperatorCost]:
        return self.costs

    def cases(self, status: CaseStatus | None = None) -> Sequence[Case]:
        return []

    def describe(self, key: Key) -> Listing:
        return Listing(
            key=key,
            version=1,
            kind=Kind.RECORD,
            arch=Arch.NONE,
            state=self.states.get(key, State.ACTIVE),
            case=None,
            reason=None,
            created_at=0,
            updated_at=0,
            digest="",
        )


@pytest.fixture(scope="session")
def make_cascade() -> Callable[..., Cascade]:
    return _cascade


@pytest.fixture(scope="session")
def make_shelf() -> Callable[..., _Shelf]:
    return _Shelf
