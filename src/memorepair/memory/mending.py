"""Mending: what can be made again from the rest of the file is, after the rest has been checked."""

from __future__ import annotations

import json
from collections.abc import Iterable

from memorepair.memory.artifact import Key, State
from memorepair.memory.check import misplaced
from memorepair.memory.codec import key_of, scope_name
from memorepair.memory.connection import Connection
from memorepair.memory.journal import Journal


class Mending:
    """Every method runs inside the caller's transaction."""

    def __init__(self, db: Connection, journal: Journal) -> None:
        self._db = db
        self._journal = journal

    def states(self, keys: Iterable[Key], *, actor: str | None, reason: str | None) -> list[Key]:
        """Put the barriers of artifacts as the journal has them; those that stood otherwise."""
        wanted = _aids(self._db, keys)
        of = {
            vid: key_of(name, id)
            for vid, name, id in self._db.rows(
                """SELECT v.vid, s.name, a.id FROM json_each(?) j JOIN artifact a ON a.aid = j.value
                JOIN scope s ON s.sid = a.sid JOIN version v ON v.aid = a.aid""",
                (json.dumps(wanted),),
            )
        }
        wrong = [(vid, due, owner) for vid, _, due, owner in misplaced(self._db) if vid in of]
        if not wrong:
            return []
        with self._journal.entry("mend", actor=actor, reason=reason) as seq:
            states = [(vid, State.ACTIVE if due is None else due) for vid, due, _ in wrong]
            self._journal.add(seq, ((vid, state, state) for vid, state in states))
            self._db.many("DELETE FROM barrier WHERE vid = ?", ((vid,) for vid, *_ in wrong))
            self._db.many(
                "INSERT INTO barrier(vid, state, cause) VALUES(?,?,?)",
                ((vid, due, owner) for vid, due, owner in sorted(wrong) if due is not None),
            )
        return sorted({of[vid] for vid, *_ in wrong})

    def index(self, *, actor: str | None, reason: str | None) -> None:
        """Make the full-text index anew from the content."""
        with self._journal.entry("reindex", actor=actor, reason=reason):
            self._db.run("INSERT INTO fts(fts) VALUES('rebuild')")


def _aids(db: Connection, keys: Iterable[Key]) -> list[int]:
    """Artifacts by key, whatever their state: `find` refuses one that is none."""
    names = json.dumps([(scope_name(key.scope), key.id) for key in keys])
    return [
        aid
        for (aid,) in db.rows(
            """SELECT a.aid FROM json_each(?) j CROSS JOIN scope s ON s.name = json_extract(j.value, '$[0]')
            CROSS JOIN artifact a ON a.sid = s.sid AND a.id = json_extract(j.value, '$[1]')""",
            (names,),
        )
    ]
