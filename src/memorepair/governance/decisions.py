"""Decisions: what a person has said is to stay as it is, until one of its artifacts changes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import TypeAlias

from memorepair.errors import UnknownId
from memorepair.governance.books import Book
from memorepair.memory.artifact import Json, Key
from memorepair.memory.store import Store

BOOK = "decisions"

ANY = "*"
"""Sort of a decision about whatever is found of its artifacts."""


Version: TypeAlias = tuple[Key, int]


def name_of(sort: str, versions: Iterable[Version]) -> str:
    """The name of a decision about artifacts in these versions, whatever their order."""
    parts = sorted((str(key), version) for key, version in versions)
    return blake2b(repr((sort, parts)).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _load(note: Json) -> dict[Key, int]:
    pairs = note if isinstance(note, dict) else {}
    return {Key.parse(key): version for key, version in pairs.items() if isinstance(version, int)}


def _dump(versions: dict[Key, int]) -> Json:
    return {str(key): version for key, version in versions.items()}


class Known:
    """Decisions as they stood when they were read.

    Parameters
    ----------
    made
        By name, the artifacts of each with their versions.
    """

    def __init__(self, made: Mapping[str, Mapping[Key, int]]) -> None:
        self._made = made
        self._with: defaultdict[Version, list[str]] = defaultdict(list)
        for name, versions in made.items():
            for one in versions.items():
                self._with[one].append(name)

    def __bool__(self) -> bool:
        return bool(self._made)

    def has(self, sorts: Sequence[str], versions: Iterable[Version]) -> bool:
        """Whether somebody has decided about exactly these, or lets each two of them stay beside each other.

        A decision counts that is of one of these sorts.
        """
        whole = set(versions)
        if any(name_of(sort, whole) in self._made for sort in sorts):
            return True
        return len(whole) > 1 and all(self._beside(sorts, one, whole) == whole for one in whole)

    def parts(self, sorts: Sequence[str], versions: Iterable[Version]) -> bool:
        """Whether somebody lets any two of these stay beside each other."""
        whole = set(versions)
        return any(len(self._beside(sorts, one, whole)) > 1 for one in whole)

    def _beside(self, sorts: Sequence[str], one: Version, among: set[Version]) -> set[Version]:
        """It, and those among these which a decision lets stay beside it.

        Who lets several stay decides about each two of them; who rejects what is found of several does not.
        """
        beside = {one}
        for name in self._with.get(one, ()):
            group = self._made[name].items()
            if any(name == name_of(sort, group) for sort in sorts if sort == ANY or len(group) == 2):
                beside |= among & group
        return beside


class Decisions:
    """The decisions kept in a store, by name; each holds for the versions it was made about."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._book: Book[dict[Key, int]] = Book(store, BOOK, load=_load, dump=_dump)

    def known(self) -> Known:
        """All of them, to be asked."""
        return Known(self._book.read())

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
        over = [name for name, versions in self._book.read().items() if not self._holds(name, versions)]
        if over:
            self._book.update(lambda notes: dict.fromkeys(name for name in over if name in notes))

    def _holds(self, name: str, versions: Mapping[Key, int]) -> bool:
        """Of what may stay, as long as any two do; of a finding, as long as all do."""
        least = min(2, len(versions)) if name == name_of(ANY, versions.items()) else len(versions)
        return sum(self._is_at(key, version) for key, version in versions.items()) >= least

    def _is_at(self, key: Key, version: int) -> bool:
        try:
            return self._store.describe(key).version == version
        except UnknownId:
            return False
