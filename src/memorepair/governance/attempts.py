"""Attempts: every repair of the last days, kept in the store before it acts, whatever restarts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Self

from memorepair.errors import CorruptStore
from memorepair.governance.books import Book
from memorepair.memory.artifact import Json
from memorepair.memory.store import Store
from memorepair.repair.ports import Proposal

BOOK = "attempts"

HORIZON = 7 * 86_400 * 10**9
"""Nanoseconds after which an attempt is forgotten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A repair that was begun.

    Attributes
    ----------
    at
        When; nanoseconds since the epoch.
    remedy, keys, digest
        Of its proposal.
    items
        Artifacts it was to touch.
    done
        Whether it has succeeded; False also of who died on it.
    """

    at: int
    remedy: str
    keys: tuple[str, ...]
    digest: str
    items: int
    done: bool = False

    def to_json(self) -> dict[str, Json]:
        """As a JSON object that `from_json` reads."""
        return {
            "at": self.at,
            "remedy": self.remedy,
            "keys": list(self.keys),
            "digest": self.digest,
            "items": self.items,
            "done": self.done,
        }

    @classmethod
    def from_json(cls, read: Json) -> Self:
        """From what `to_json` gave; CorruptStore where it is something else: it closes the gate."""
        match read:
            case {
                "at": int(at),
                "remedy": str(remedy),
                "keys": list(keys),
                "digest": str(digest),
                "items": int(items),
                "done": bool(done),
            }:
                told = tuple(map(str, keys))
                return cls(at=at, remedy=remedy, keys=told, digest=digest, items=items, done=done)
            case _:
                raise CorruptStore("the attempts hold something that is none", witness=str(read)[:200])


class Attempts:
    """The attempts of a store, of all processes."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._book: Book[Attempt] = Book(store, BOOK, load=Attempt.from_json, dump=Attempt.to_json)

    def within(self, span: int) -> list[Attempt]:
        """Those of the last `span` nanoseconds, oldest first."""
        now = self._store.now()
        return [one for one in self._book.read().values() if now - one.at < span]

    def begin(self, proposal: Proposal, require: Callable[[], None]) -> str:
        """Keep an attempt before it is made, and give its name: who dies on it has tried it too.

        `require` is called under the write lock; what it raises ends it, and nothing was kept.
        """
        at = self._store.now()
        name = f"{at:020d} {proposal.digest[:12]}"
        begun = Attempt(
            at=at,
            remedy=str(proposal.remedy),
            keys=tuple(map(str, proposal.keys)),
            digest=proposal.digest,
            items=proposal.impact,
        )

        def change(notes: Mapping[str, Attempt]) -> dict[str, Attempt | None]:
            require()
            old = [known for known, one in notes.items() if at - one.at >= HORIZON]
            return {**dict.fromkeys(old), name: begun}

        self._book.update(change)
        return name

    def end(self, name: str) -> None:
        """Keep that an attempt has succeeded."""
        self._book.update(lambda notes: {name: replace(notes[name], done=True)} if name in notes else {})
