"""Mending: what can be made again from the rest of the file is, after the rest has been checked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import numpy as np

from memorepair.memory.artifact import Key, State
from memorepair.memory.barrier import NEAR, SERVED
from memorepair.memory.check import misplaced
from memorepair.memory.codec import SPACE, key_of, scope_name
from memorepair.memory.connection import Connection
from memorepair.memory.journal import Journal
from memorepair.memory.keys import find
from memorepair.memory.vectors import STORED, Space, Vectors

_HAVING = f"""SELECT a.cur FROM json_each(?) j CROSS JOIN version w ON w.vid = j.value CROSS JOIN {NEAR}
    WHERE a.aid = w.aid AND x.space = ?"""  # noqa: S608  literals
_TEXTS = f"""SELECT a.cur, c.text FROM version w CROSS JOIN {SERVED} WHERE w.vid > ?1
    AND a.aid = w.aid AND a.cur = w.vid AND b.vid IS NULL
    AND NOT EXISTS(SELECT 1 FROM vector y WHERE y.vid = w.vid AND y.space = ?2) ORDER BY w.vid LIMIT ?3"""  # noqa: S608  literals
_VECTORS = f"""SELECT j.key, x.v FROM json_each(?1) j CROSS JOIN {NEAR}
    WHERE a.aid = j.value AND x.space = ?2 GROUP BY j.key"""  # noqa: S608  literals
_SPACES = f"""SELECT p.model, p.revision, p.dimension, p.normalised, count(*) FROM {NEAR}
    JOIN space p ON p.space = x.space GROUP BY p.space ORDER BY p.space"""  # noqa: S608  literals


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

    # vectors ---------------------------------------------------------------------------------------

    def without(self, space: Space, after: int, limit: int) -> list[tuple[int, str]]:
        """(vid, text) of served versions without a vector in the space, from `after` on."""
        number = self._db.row(SPACE, space)
        rows = self._db.rows(_TEXTS, (after, number[0] if number else -1, limit))
        return [(vid, text) for vid, text in rows]

    def embed(self, space: Space, made: Sequence[tuple[int, bytes]], *, actor: str | None) -> int:
        """Store vectors of versions that have none in the space, and are still served; how many."""
        self._db.run(
            "INSERT OR IGNORE INTO space(model, revision, dimension, normalised) VALUES(?,?,?,?)", space
        )
        (number,) = self._db.rows(SPACE, space)[0]
        vids = {
            vid
            for (vid,) in self._db.rows(
                """SELECT j.value FROM json_each(?) j JOIN version v ON v.vid = j.value
                JOIN artifact a ON a.aid = v.aid AND a.cur = v.vid
                LEFT JOIN barrier b ON b.vid = v.vid WHERE b.vid IS NULL""",
                (json.dumps([vid for vid, _ in made]),),
            )
        }
        vids -= {vid for (vid,) in self._db.rows(_HAVING, (json.dumps(sorted(vids)), number))}
        still = [(vid, 0, number, blob) for vid, blob in made if vid in vids]
        if still:
            with self._journal.entry("embed", actor=actor, reason=space.model) as seq:
                self._journal.add(seq, ((vid, State.ACTIVE, State.ACTIVE) for vid, *_ in still))
                self._db.many("INSERT INTO vector(vid, given, space, v) VALUES(?,?,?,?)", still)
        return len(still)

    def drop(self, space: Space, *, actor: str | None, reason: str | None) -> int:
        """Remove the vectors that an embedder made in a space; those that drafts brought stay. How many."""
        number = self._db.row(SPACE, space)
        if number is None:
            return 0
        with self._journal.entry("drop_vectors", actor=actor, reason=reason):
            return self._db.run("DELETE FROM vector WHERE space = ? AND NOT given", number)

    def spaces(self) -> dict[Space, int]:
        """How many served artifacts have a vector in each space."""
        rows = self._db.rows(_SPACES)
        return {
            Space(model, revision, dimension, bool(unit)): n for model, revision, dimension, unit, n in rows
        }

    def vectors(self, space: Space, keys: Sequence[Key]) -> dict[Key, Vectors]:
        """Vectors of those of the keys that are served and have one in the space."""
        number = self._db.row(SPACE, space)
        if number is None:
            return {}
        places = find(self._db, keys)
        here = [key for key in keys if key in places]
        rows = self._db.rows(_VECTORS, (json.dumps([places[key].aid for key in here]), number[0]))
        return {
            here[place]: np.frombuffer(blob, STORED).astype(np.float32)
            for place, blob in rows
            if len(blob) == space.dimension * STORED.itemsize
        }


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
