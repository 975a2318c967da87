"""Decisions: what a person has said is to stay as it is, until one of its artifacts changes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from hashlib import blake2b

from memorepair.errors import UnknownId
from memorepair.governance.books import Book
from memorepair.memory.artifact import Json, Key
from memorepair.memory.store import Store

BOOK = "decisions"

ANY = "*"
"""Sort of a decision about whatever is found of its artifacts."""


def name_of(sort: str, versions: Iterable[tuple[Key, int]]) -> str:
    """The name of a decision about artifacts in these versions, whatever their order."""
    parts = sorted((str(key), version) for key, version in versions)
    return blake2b(repr((sort, parts)).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _load(note: Json) -> dict[Key, int]:
    pairs = note if isinstance(note, dict) else {}
    return {Key.parse(key): version for key, version in pairs.items() if isinstance(version, int)}


def _dump(versions: dict[Key, int]) -> Json:
    return {str(key): version for key, version in versions.items()}


class Decisions:
    """The decisions kept in a store, by name; each holds for the versions it was made about."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._book: Book[dict[Key, int]] = Book(store, BOOK, load=_load, dump=_dump)

    def known(self) -> Collection[str]:
        """Names of all."""
        return self._book.read().keys()

    def keep(self, groups: Iterable[tuple[str, Sequence[Key]]], *, actor: str, reason: str) -> None:
        """Keep a decision on each group of artifacts as they are now; the journal names who made it.

        Raises
        ------
        UnknownId
            There is no such artifact; nothing is kept.
        """
        made: dict[str, dict[Key, int]] = {}
        for sort, keys in groups:
            versions = {key: self._store.describe(key).version for key in keys}
            made[name_of(sort, versions.items())] = versions
        if made:
            self._book.update(lambda notes: made, actor=actor, reason=reason)

    def forget(self) -> None:
        """Drop those of which an artifact has changed: what is found of it is told again."""
        over = [name for name, versions in self._book.read().items() if not self._holds(versions)]
        if over:
            self._book.update(lambda notes: dict.fromkeys(name for name in over if name in notes))

    def _holds(self, versions: dict[Key, int]) -> bool:
        try:
            return all(self._store.describe(key).version == version for key, version in versions.items())
        except UnknownId:
            return False
