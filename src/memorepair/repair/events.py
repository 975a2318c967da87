"""Repair events: what turned out wrong, and what the world brings instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType, UnionType
from typing import TypeAlias

from memorepair.errors import InvalidEvent
from memorepair.graphs.support import POLICIES, Policy
from memorepair.memory.artifact import Draft, Key
from memorepair.memory.exchange import Marks
from memorepair.memory.values import check_text, check_type, is_number, is_whole


class EventKind(StrEnum):
    """tau of the paper."""

    DELETE = "delete"
    CORRECT = "correct"
    MIGRATE = "migrate"
    RECOVER = "recover"
    MAINTAIN = "maintain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion:
    """The roots are gone; nothing replaces them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """X_Delta: the content that replaces each root."""

    replacements: Mapping[Key, str]

    def __post_init__(self) -> None:
        for root, content in self.replacements.items():
            check_text(content, f"the content of {root}", root)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """A schema or tool contract that supersedes a root; under the root's own key it is its next version."""

    key: Key
    content: str

    def __post_init__(self) -> None:
        check_type(self.key, Key, "the key of an interface is a Key")
        check_text(self.content, f"the content of {self.key}", self.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """kappa_e: the interfaces after the event.

    Attributes
    ----------
    interfaces
        Root -> the interface that supersedes it.
    rows
        Operator (``name@version``) that carries a data row from the old interface to the new one; it declares
        `reads_own_version`. None where no rows follow the interface.
    """

    interfaces: Mapping[Key, Interface]
    rows: str | None = None

    def __post_init__(self) -> None:
        for root, interface in self.interfaces.items():
            check_type(interface, Interface, f"what supersedes {root} is an Interface")
        check_type(self.rows, str | None, "rows names an operator")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollback:
    """What stands in place of faulty memories; a root in neither mapping has nothing in its place.

    Attributes
    ----------
    replacements
        Root -> content that a person vouches for.
    reinstated
        Root -> the former version of its own that the faulty one had superseded.
    """

    replacements: Mapping[Key, str] = field(default_factory=lambda: MappingProxyType({}))
    reinstated: Mapping[Key, int] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        for root, content in self.replacements.items():
            check_text(content, f"the content of {root}", root)
        for root, version in self.reinstated.items():
            if not is_whole(version, low=1):
                raise InvalidEvent(f"{root} is reinstated in no version", witness=version)
        if both := self.replacements.keys() & self.reinstated.keys():
            raise InvalidEvent(f"{min(both)} is both replaced and reinstated", witness=min(both))

    @property
    def restored(self) -> frozenset[Key]:
        """The roots that something stands in place of."""
        return frozenset(self.replacements) | frozenset(self.reinstated)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """A conflict decided: of each root that lost, the artifact in service that holds its place.

    What lost is archived; what was derived from it is withdrawn, and made anew from what won.
    """

    winners: Mapping[Key, Key]

    def __post_init__(self) -> None:
        for loser, winner in self.winners.items():
            check_type(winner, Key, f"what {loser} lost to is a Key")
            if winner in self.winners:
                raise InvalidEvent(f"{winner} wins and loses in one event", witness=winner)


@dataclass(frozen=True, slots=True, kw_only=True)
class Maintenance:
    """State that changes while every statement stays what it is: nothing is withdrawn.

    Attributes
    ----------
    drafts
        Next versions that say the same, by key.
    duplicates
        Artifact to archive -> the one that says the same and stays.
    marks
        Weight for ranking, None for review by a person.
    anew
        The next versions leave the vectors they were given behind.
    """

    drafts: Mapping[Key, Draft] = field(default_factory=lambda: MappingProxyType({}))
    duplicates: Mapping[Key, Key] = field(default_factory=lambda: MappingProxyType({}))
    marks: Marks = field(default_factory=lambda: MappingProxyType({}))
    anew: bool = False

    def __post_init__(self) -> None:
        for key, draft in self.drafts.items():
            check_type(draft, Draft, f"the next version of {key} is a Draft")
            if draft.key != key:
                raise InvalidEvent(f"the next version of {key} is one of {draft.key}", witness=key)
        for key, weight in self.marks.items():
            if weight is not None and not is_number(weight, 0, 1):
                raise InvalidEvent(f"the weight of {key} is within 0 and 1", witness=weight)

    @property
    def touched(self) -> tuple[Key, ...]:
        """What it changes; the event's roots."""
        return tuple(dict.fromkeys([*self.drafts, *self.duplicates, *self.marks]))


Delta: TypeAlias = Deletion | Correction | Settlement | Migration | Rollback | Maintenance


def _deletion() -> Delta:
    return Deletion()


_DELTA_OF: Mapping[EventKind, type | UnionType] = MappingProxyType(
    {
        EventKind.DELETE: Deletion,
        EventKind.CORRECT: Correction | Settlement,
        EventKind.MIGRATE: Migration,
        EventKind.RECOVER: Rollback,
        EventKind.MAINTAIN: Maintenance,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairEvent:
    """e = (F, tau, Delta); from the probability `suspected` on, C(F) follows suspected arcs too.

    `evidence` says what other support may spare of the cascade (`weigh`); of each set of `same_origin` the
    members count as one source.

    Raises
    ------
    InvalidEvent
        Empty or repeated roots, a `suspected` that is no probability, or a delta that does not fit: of
        another kind, or not one entry per root.
    """

    kind: EventKind
    roots: tuple[Key, ...]
    delta: Delta = field(default_factory=_deletion)
    reason: str | None = None
    actor: str | None = None
    evidence: Policy = "none"
    same_origin: tuple[tuple[Key, ...], ...] = ()
    suspected: float | None = None

    def __post_init__(self) -> None:
        if self.evidence not in POLICIES:
            known = ", ".join(POLICIES)
            raise InvalidEvent(f"no evidence policy {self.evidence!r}: one of {known}", witness=self.evidence)
        if self.suspected is not None and not is_number(self.suspected, 0, 1):
            raise InvalidEvent("suspected is a probability", witness=self.suspected)
        if self.suspected is not None and self.evidence != "none":
            # Evidence weighs what is recorded; a suspicion says that the record is not complete.
            raise InvalidEvent("an event follows suspicions or evidence, not both", witness=self.evidence)
        if not self.roots:
            raise InvalidEvent("an event needs at least one root", witness=self.roots)
        if len(set(self.roots)) < len(self.roots):
            twice = next(key for key in self.roots if self.roots.count(key) > 1)
            raise InvalidEvent(f"root {twice} is named twice", witness=twice)
        if not isinstance(self.delta, _DELTA_OF[self.kind]):
            brought = type(self.delta).__name__
            raise InvalidEvent(f"a {self.kind} event cannot bring a {brought}", witness=brought)
        if isinstance(self.delta, Rollback) and (stray := self.delta.restored - set(self.roots)):
            raise InvalidEvent(f"{min(stray)} is restored but is no root of the event", witness=min(stray))
        named: Mapping[Key, object] | None = None
        if isinstance(self.delta, Correction):
            named = self.delta.replacements
        elif isinstance(self.delta, Migration):
            named = self.delta.interfaces
        elif isinstance(self.delta, Settlement):
            named = self.delta.winners
        if named is not None and set(named) != set(self.roots):
            odd = min(set(named) ^ set(self.roots))
            raise InvalidEvent(
                f"the delta must name exactly the roots; {odd} is on one side only", witness=odd
            )

    @property
    def instead(self) -> Mapping[Key, Key]:
        """Root -> the artifact of another key that stands in its place: an interface, or what won."""
        if isinstance(self.delta, Settlement):
            return self.delta.winners
        if isinstance(self.delta, Migration):
            return {root: new.key for root, new in self.delta.interfaces.items() if new.key != root}
        return {}
