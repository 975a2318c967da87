"""Queue: remedies that wait, by priority, bounded, kept in the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self

from memorepair.errors import CorruptStore, InvalidInput, StaleRead, UnknownId
from memorepair.governance.books import Book
from memorepair.memory.artifact import Json, Key
from memorepair.memory.store import Store
from memorepair.memory.values import is_whole
from memorepair.repair.ports import Grade, Proposal, Remedy

BOOK = "queue"

MOST = 1_000
"""Remedies that wait at once; what is beyond is found again by a later check-up."""


class Status(StrEnum):
    """Life of an item; an approved one acts as soon as the limits have room for it."""

    WAITING = "waiting"
    APPROVED = "approved"
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


OPEN = frozenset({Status.WAITING, Status.APPROVED})
"""Not over yet."""


class Queue:
    """Items by id; every change is a sealed note of the store, made under its write lock."""

    def __init__(self, store: Store, most: int = MOST) -> None:
        if not is_whole(most, low=1):
            raise InvalidInput("a queue holds at least one", witness=most)
        self._most = most
        self._book: Book[Item] = Book(store, BOOK, load=Item.from_json, dump=Item.to_json)

    def __len__(self) -> int:
        return len(self.waiting())

    def waiting(self) -> list[Item]:
        """What waits for a person or for its time, by priority."""
        return _waiting(self._book.read())

    def all(self) -> list[Item]:
        """Everything the queue remembers, the oldest first."""
        return sorted(self._book.read().values(), key=lambda item: (item.at, item.id))

    def due(self, now: int) -> list[Item]:
        """What may act now without being asked about again, by priority."""
        found = (
            item
            for item in self._book.read().values()
            if item.status is Status.APPROVED
            or (item.status is Status.WAITING and item.due is not None and item.due <= now)
        )
        return sorted(found, key=lambda item: item.priority)

    def get(self, id: str) -> Item:
        """One item, by its id or a beginning of it that no other has.

        Raises
        ------
        UnknownId
        """
        found = [item for name, item in self._book.read().items() if id and name.startswith(id)]
        if len(found) != 1:
            what = f"{len(found)} items of the queue begin with" if found else "the queue has no item"
            raise UnknownId(f"{what} {id!r}", witness=id)
        return found[0]

    def find(self, digest: str) -> Item | None:
        """The item of this very proposal."""
        item = self._book.read().get(digest[:12])
        return item if item is not None and item.digest == digest else None

    def put(self, item: Item) -> bool:
        """Keep an item that is new, or still waits; False where the queue is full of what matters more."""
        kept = True

        def change(items: Mapping[str, Item]) -> dict[str, Item | None]:
            nonlocal kept
            known = items.get(item.id)
            if known is not None and known.status not in (Status.WAITING, Status.EXPIRED, item.status):
                kept = False  # somebody has decided it meanwhile
                return {}
            dropped: list[str] = []
            if (known is None or known.status not in OPEN) and item.status is Status.WAITING:
                waiting = _waiting(items)
                if len(waiting) >= self._most:
                    last = waiting[-1]
                    if last.priority <= item.priority or last.case is not None:
                        kept = False
                        return {}
                    dropped.append(last.id)
            return {**dict.fromkeys(dropped), item.id: item}

        self._book.update(change, actor=item.actor, reason=item.reason)
        return kept

    def move(
        self,
        item: Item,
        status: Status,
        *,
        case: int | None = None,
        held: str | None = None,
        actor: str | None = None,
        reason: str | None = None,
    ) -> Item:
        """An item's next state, kept.

        Raises
        ------
        StaleRead
            Somebody else has decided it meanwhile.
        """
        moved = item

        def change(items: Mapping[str, Item]) -> dict[str, Item | None]:
            nonlocal moved
            known = items.get(item.id)
            if known is None or known.status not in OPEN:
                now = "gone" if known is None else str(known.status)
                raise StaleRead(f"{item.id} is {now} by now", witness=item.id)
            moved = replace(
                known,
                status=status,
                case=known.case if case is None else case,
                held=known.held if held is None else held,
                actor=actor,
                reason=reason,
            )
            return {item.id: moved}

        self._book.update(change, actor=actor, reason=reason)
        return moved

    def forget(self, before: int) -> int:
        """Drop what is over and older than an instant; how many."""
        dropped: list[str] = []

        def change(items: Mapping[str, Item]) -> dict[str, Item | None]:
            dropped.extend(one.id for one in items.values() if one.status not in OPEN and one.at < before)
            return dict.fromkeys(dropped)

        self._book.update(change)
        return len(dropped)


def _waiting(items: Mapping[str, Item]) -> list[Item]:
    still = (item for item in items.values() if item.status is Status.WAITING)
    return sorted(still, key=lambda item: item.priority)
