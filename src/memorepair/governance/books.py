"""Book: the notes of one kind as they are now, whichever process has written them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from memorepair.memory.artifact import Json
from memorepair.memory.store import Store

T = TypeVar("T")


class Book(Generic[T]):
    """Notes of a store by name; every change is worked out under the write lock.

    Parameters
    ----------
    name
        Of the book.
    load, dump
        From and to JSON.
    """

    def __init__(
        self, store: Store, name: str, *, load: Callable[[Json], T], dump: Callable[[T], Json]
    ) -> None:
        self._store = store
        self._name = name
        self._load = load
        self._dump = dump
        self._epoch = -1
        self._notes: dict[str, T] = {}

    def read(self) -> Mapping[str, T]:
        """All notes, in the order of their names; read again only where the journal has grown since."""
        epoch = self._store.epoch()
        if epoch != self._epoch:
            found = self._store.notes(self._name)
            self._notes = {name: self._load(note) for name, note in found.items()}
            self._epoch = epoch
        return self._notes

    def update(
        self,
        change: Callable[[Mapping[str, T]], Mapping[str, T | None]],
        *,
        actor: str | None = None,
        reason: str | None = None,
    ) -> None:
        """Replace what `change` makes of the notes as they are under the write lock; None removes one.

        What `change` raises ends it, and nothing is written.
        """
        notes: dict[str, Json] = {}

        def fill() -> None:
            changed = change(self.read())
            notes.update((name, None if one is None else self._dump(one)) for name, one in changed.items())

        try:
            # The notes are written after `expect` has been called, inside the same transaction.
            self._store.note(self._name, notes, actor=actor, reason=reason, expect=fill)
        finally:
            self._epoch = -1  # a note that goes is no entry of the journal
