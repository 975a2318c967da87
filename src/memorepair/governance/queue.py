"""Queue: remedies that wait, by priority, bounded, kept in the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self

from memorepair.errors import CorruptStore, InvalidInput, UnknownId
from memorepair.memory.artifact import Json, Key
from memorepair.memory.store import Store
from memorepair.memory.values import is_whole
from memorepair.repair.ports import Grade, Proposal, Remedy

BOOK = "queue"

MOST = 1_000
"""Remedies that wait at once; what is beyond is found again by a later check-up."""


class Status(StrEnum):
    """Life of an item."""

    WAITING = "waiting"
    DONE = "done"
    REJECTED = "rejected"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A remedy in the queue, without content.

    Attributes
    ----------
    id
        The beginning of its digest.
    digest
        What an approval is bound to.
    remedy, keys, params, codes, impact, confidence, why, way_back, cause
        As proposed.
    grade
        Who is asked.
    held
        Why it waits.
    at, due
        When it came, and when it may act by itself; nanoseconds, None where only a person lets it act.
    status
        Its life; `case` is the case it opened, `actor` and `reason` those of the person who decided.
    """

    id: str
    digest: str
    remedy: Remedy
    keys: tuple[Key, ...]
    params: Mapping[str, Json]
    codes: Mapping[str, int]
    impact: int
    confidence: float
    why: str
    way_back: str
    cause: str
    grade: Grade
    held: str
    at: int
    due: int | None
    status: Status = Status.WAITING
    case: int | None = None
    actor: str | None = None
    reason: str | None = None

    @classmethod
    def of(
        cls,
        proposal: Proposal,
        grade: Grade,
        held: str,
        *,
        at: int,
        due: int | None,
        case: int | None = None,
    ) -> Self:
        """What waits of a proposal."""
        return cls(
            id=proposal.digest[:12],
            digest=proposal.digest,
            remedy=proposal.remedy,
            keys=proposal.keys,
            params=proposal.params,
            codes=proposal.codes,
            impact=proposal.impact,
            confidence=proposal.confidence,
            why=proposal.why,
            way_back=proposal.way_back,
            cause=proposal.cause,
            grade=grade,
            held=held,
            at=at,
            due=due,
            case=case,
        )

    @property
    def priority(self) -> tuple[int, int, int, str]:
        """Least first: the grade, the remedy's place, the age."""
        return int(self.grade), list(Remedy).index(self.remedy), self.at, self.id

    def to_json(self) -> dict[str, Json]:
        """As a JSON object that `from_json` reads."""
        return {
            "id": self.id,
            "digest": self.digest,
            "remedy": str(self.remedy),
            "keys": [str(key) for key in self.keys],
            "params": dict(self.params),
            "codes": dict(self.codes),
            "impact": self.impact,
            "confidence": self.confidence,
            "why": self.why,
            "way_back": self.way_back,
            "cause": self.cause,
            "grade": int(self.grade),
            "held": self.held,
            "at": self.at,
            "due": self.due,
            "status": str(self.status),
            "case": self.case,
            "actor": self.actor,
            "reason": self.reason,
        }

    @classmethod
    def from_json(cls, read: Json) -> Self:
        """From what `to_json` gave; CorruptStore where it is something else."""
        match read:
            case {
                "id": str(id),
                "digest": str(digest),
                "remedy": str(remedy),
                "keys": list(keys),
                "params": dict(params),
                "codes": dict(codes),
                "impact": int(impact),
                "confidence": int() | float() as confidence,
                "why": str(why),
                "way_back": str(way_back),
                "cause": str(cause),
                "grade": int(grade),
                "held": str(held),
                "at": int(at),
                "due": int() | None as due,
                "status": str(status),
                "case": int() | None as case,
                "actor": str() | None as actor,
                "reason": str() | None as reason,
            }:
                return cls(
                    id=id,
                    digest=digest,
                    remedy=Remedy(remedy),
                    keys=tuple(Key.parse(str(key)) for key in keys),
                    params=params,
                    codes={name: n for name, n in codes.items() if isinstance(n, int)},
                    impact=impact,
                    confidence=confidence,
                    why=why,
                    way_back=way_back,
                    cause=cause,
                    grade=Grade(grade),
                    held=held,
                    at=at,
                    due=due,
                    status=Status(status),
                    case=case,
                    actor=actor,
                    reason=reason,
                )
            case _:
                raise CorruptStore("the queue holds something that is no item", witness=str(read)[:200])


class Queue:
    """Items by id; every change is a sealed note of the store."""

    def __init__(self, store: Store, most: int = MOST) -> None:
        if not is_whole(most, low=1):
            raise InvalidInput("a queue holds at least one", witness=most)
        self._store = store
        self._most = most
        self._items = {name: Item.from_json(note) for name, note in store.notes(BOOK).items()}

    def __len__(self) -> int:
        return len(self.waiting())

    def waiting(self) -> list[Item]:
        """What waits, by priority."""
        still = (item for item in self._items.values() if item.status is Status.WAITING)
        return sorted(still, key=lambda item: item.priority)

    def all(self) -> list[Item]:
        """Everything the queue remembers, the oldest first."""
        return sorted(self._items.values(), key=lambda item: (item.at, item.id))

    def due(self, now: int) -> list[Item]:
        """What may act by itself, by priority."""
        return [item for item in self.waiting() if item.due is not None and item.due <= now]

    def get(self, id: str) -> Item:
        """One item, by its id or a beginning of it that no other has.

        Raises
        ------
        UnknownId
        """
        found = [item for name, item in self._items.items() if id and name.startswith(id)]
        if len(found) != 1:
            what = f"{len(found)} items of the queue begin with" if found else "the queue has no item"
            raise UnknownId(f"{what} {id!r}", witness=id)
        return found[0]

    def find(self, digest: str) -> Item | None:
        """The item of this very proposal."""
        item = self._items.get(digest[:12])
        return item if item is not None and item.digest == digest else None

    def put(self, item: Item) -> bool:
        """Keep an item; False where the queue is full, and nothing of less importance can go."""
        if item.id not in self._items and item.status is Status.WAITING:
            waiting = self.waiting()
            if len(waiting) >= self._most:
                last = waiting[-1]
                if last.priority <= item.priority or last.case is not None:
                    return False
                self._drop(last)
        self._items[item.id] = item
        self._store.note(BOOK, {item.id: item.to_json()}, actor=item.actor, reason=item.reason)
        return True

    def move(
        self,
        item: Item,
        status: Status,
        *,
        case: int | None = None,
        actor: str | None = None,
        reason: str | None = None,
    ) -> Item:
        """An item's next state, kept."""
        case = item.case if case is None else case
        moved = replace(item, status=status, case=case, actor=actor, reason=reason)
        self._items[item.id] = moved
        self._store.note(BOOK, {item.id: moved.to_json()}, actor=actor, reason=reason)
        return moved

    def forget(self, before: int) -> int:
        """Drop what is over and older than an instant; how many."""
        old = [one for one in self._items.values() if one.status is not Status.WAITING and one.at < before]
        for item in old:
            self._drop(item)
        return len(old)

    def _drop(self, item: Item) -> None:
        del self._items[item.id]
        self._store.note(BOOK, {item.id: None})
