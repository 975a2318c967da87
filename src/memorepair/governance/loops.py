"""Loops: the same remedy on the same artifact is tried three times, then a person is asked.

Counted by artifact and remedy, not by what the artifact says: two remedies that undo each other's work make a
new version each time, and would never be seen to repeat themselves otherwise.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from memorepair.memory.artifact import Json, Key
from memorepair.memory.store import Store
from memorepair.repair.ports import Proposal, Remedy

BOOK = "tries"

TRIES = 3
"""How often, in any process."""

HORIZON = 7 * 86_400 * 10**9
"""Nanoseconds after which an attempt is forgotten."""


class Loops:
    """Attempts of the last days, kept in the store before they are made."""

    def __init__(self, store: Store, tries: int = TRIES) -> None:
        self._store = store
        self._most = tries
        self._count: dict[tuple[str, str], int] = {}
        self._done: set[str] = set()
        self._notes: dict[str, dict[str, Json]] = {}
        now = store.now()
        old: dict[str, Json] = {}
        for name, note in store.notes(BOOK).items():
            at = note.get("at") if isinstance(note, dict) else None
            if isinstance(note, dict) and isinstance(at, int) and now - at < HORIZON:
                self._notes[name] = note
                self._add(note)
            else:
                old[name] = None
        if old and not store.readonly:
            store.note(BOOK, old)

    def _add(self, note: dict[str, Json]) -> None:
        keys, tries = note["keys"], note["tries"]
        if isinstance(keys, list) and isinstance(tries, int):
            for key in keys:
                place = str(note["remedy"]), str(key)
                self._count[place] = self._count.get(place, 0) + tries
        if note.get("done") and isinstance(note.get("digest"), str):
            self._done.add(str(note["digest"]))

    def tries(self, remedy: Remedy, key: Key) -> int:
        """How often the remedy has been tried on the artifact."""
        return self._count.get((str(remedy), str(key)), 0)

    def exhausted(self, remedy: Remedy, keys: Sequence[Key]) -> frozenset[Key]:
        """Those of the keys that the remedy has been tried on often enough."""
        return frozenset(key for key in keys if self.tries(remedy, key) >= self._most)

    def done(self, proposal: Proposal) -> bool:
        """Whether this very repair has been made, and nothing has changed since."""
        return proposal.digest in self._done

    def begin(self, proposal: Proposal) -> None:
        """Count an attempt, before it is made: who dies on it has tried it too."""
        name = _name(proposal)
        known = self._notes.get(name, {"tries": 0})
        tries = known["tries"]
        note: dict[str, Json] = {
            "remedy": str(proposal.remedy),
            "keys": [str(key) for key in proposal.keys],
            "tries": (tries if isinstance(tries, int) else 0) + 1,
            "at": self._store.now(),
            "digest": proposal.digest,
            "done": False,
        }
        for key in proposal.keys:
            place = str(proposal.remedy), str(key)
            self._count[place] = self._count.get(place, 0) + 1
        self._notes[name] = note
        self._store.note(BOOK, {name: note})

    def end(self, proposal: Proposal, *, done: bool) -> None:
        """Keep that an attempt has succeeded."""
        name = _name(proposal)
        if done and name in self._notes:
            self._done.add(proposal.digest)
            self._notes[name] = {**self._notes[name], "done": True}
            self._store.note(BOOK, {name: self._notes[name]})


def _name(proposal: Proposal) -> str:
    said = json.dumps([str(proposal.remedy), sorted(str(key) for key in proposal.keys)])
    return hashlib.sha256(said.encode()).hexdigest()[:16]
