"""Spaces: the vectors of what is served, and the space that searches are answered from.

A switch of models is a case like any other: the new space is filled beside the old one, and one transaction
makes it the one that is searched. Which space that is stands nowhere but in the newest such case that is not
undone, so that an undo is the way back and nothing can disagree with the books.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from memorepair.errors import CorruptStore, InvalidInput, OtherSpace, StaleRead, UndoRefused
from memorepair.memory.artifact import CaseStatus, Json, Key, State
from memorepair.memory.barrier import NEAR, SERVED
from memorepair.memory.cases import Cases, declared
from memorepair.memory.codec import SPACE, key_of
from memorepair.memory.connection import Connection
from memorepair.memory.exchange import Filled
from memorepair.memory.journal import Journal
from memorepair.memory.keys import find
from memorepair.memory.notes import Notes
from memorepair.memory.upkeep import MAINTAIN
from memorepair.memory.values import to_json
from memorepair.memory.vectors import STORED, Space, Vectors

_HAVING = f"""SELECT a.cur FROM json_each(?) j CROSS JOIN version w ON w.vid = j.value CROSS JOIN {NEAR}
    WHERE a.aid = w.aid AND x.space = ?"""  # noqa: S608  literals
_LACKING = """a.aid = w.aid AND a.cur = w.vid AND b.vid IS NULL
    AND NOT EXISTS(SELECT 1 FROM vector y WHERE y.vid = w.vid AND y.space = ?1)"""
_TEXTS = f"""SELECT a.cur, c.text FROM version w CROSS JOIN {SERVED}
    WHERE w.vid > ?2 AND {_LACKING} ORDER BY w.vid LIMIT ?3"""  # noqa: S608  literals
_LEFT = f"""SELECT w.vid FROM version w CROSS JOIN artifact a LEFT JOIN barrier b ON b.vid = a.cur
    WHERE {_LACKING}"""  # noqa: S608  literals
_VECTORS = f"""SELECT j.key, x.v FROM json_each(?1) j CROSS JOIN {NEAR}
    WHERE a.aid = j.value AND x.space = ?2 GROUP BY j.key"""  # noqa: S608  literals
_SPACES = f"""SELECT p.model, p.revision, p.dimension, p.normalised, count(*) FROM {NEAR}
    JOIN space p ON p.space = x.space GROUP BY p.space ORDER BY p.space"""  # noqa: S608  literals
_FIRST = """SELECT p.model, p.revision, p.dimension, p.normalised FROM (
        SELECT space FROM vector WHERE NOT given ORDER BY row LIMIT 1) x JOIN space p ON p.space = x.space"""
# Odd multiplier of 32 bits: which versions are drawn depends on their numbers alone, and not on their age.
_SAMPLE = f"""SELECT s.name, a.id FROM {NEAR} JOIN scope s ON s.sid = a.sid
    WHERE x.space = ?1 AND (?2 OR NOT x.given)
    ORDER BY (x.vid * 2654435761) & 4294967295, x.vid LIMIT ?3"""  # noqa: S608  literals
_SWITCHES = """SELECT cause, delta FROM cases WHERE substr(delta, 1, 8) = '{"space"'
    AND status <> ? ORDER BY cause DESC LIMIT 1"""

_SWITCH = """SELECT delta FROM cases WHERE cause = ? AND substr(delta, 1, 8) = '{"space"'"""


BOOK = "vectors"
"""The book that says where memories lived before the first switch."""


class Switch(NamedTuple):
    """A switch that stands: its case, the space it left (None: there was none), the one it went to.

    `until` is the instant (nanoseconds) up to which the vectors of the former space are kept for a way back.
    """

    case: int
    former: Space | None
    space: Space
    until: int


class Spaces:
    """Every method runs inside the caller's transaction."""

    def __init__(self, db: Connection, journal: Journal, cases: Cases, notes: Notes) -> None:
        self._db = db
        self._notes = notes
        self._journal = journal
        self._cases = cases

    # what there is ---------------------------------------------------------------------------------

    def switch(self) -> Switch | None:
        """The newest switch that is not undone; None where there was none. O(log cases)."""
        row = self._db.row(_SWITCHES, (CaseStatus.UNDONE,))
        return None if row is None else _read(row[0], row[1])

    def home(self) -> Space | None:
        """Where memories live: the space of the last switch, else what `hold` has written down.

        Without either it is the space of the first vector that was made and is still there.
        """
        stands = self.switch()
        if stands is not None:
            return stands.space
        held = self._notes.read(BOOK).get("home")
        if isinstance(held, dict):
            return _space(held)
        row = self._db.row(_FIRST)
        return None if row is None else Space(row[0], row[1], row[2], bool(row[3]))

    def hold(self, *, actor: str | None) -> None:
        """Write down where memories live, so that filling another space does not move it."""
        home = self.home()
        if home is not None and self.switch() is None and not self._notes.read(BOOK):
            self._notes.write(BOOK, {"home": home._asdict()}, actor=actor, reason=None)

    def require(self, space: Space) -> None:
        """Refuse to search in a space that memories have left.

        Raises
        ------
        OtherSpace
            A switch has made another space the one that is searched, or one is being prepared.
        """
        stands = self.switch()
        held = self._notes.read(BOOK).get("home") if stands is None else None
        home = _space(held) if isinstance(held, dict) else None if stands is None else stands.space
        if home is not None and home != space:
            since = "" if stands is None else f" since case {stands.case}"
            raise OtherSpace(
                f"memories live in the space of {home.model} (revision {home.revision}, {home.dimension} "
                f"dimensions){since}, not in that of {space.model} (revision {space.revision}, "
                f"{space.dimension}): open the memory with that embedder",
                witness=home,
            )

    def counts(self) -> dict[Space, int]:
        """How many served artifacts have a vector in each space."""
        return {
            Space(model, revision, dimension, bool(unit)): n
            for model, revision, dimension, unit, n in self._db.rows(_SPACES)
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

    def sample(self, space: Space, limit: int, *, given: bool) -> list[Key]:
        """At most so many served artifacts with a vector in the space, the same ones each time. O(space).

        `given`: also those whose writer brought the vector.
        """
        number = self._db.row(SPACE, space)
        if number is None:
            return []
        rows = self._db.rows(_SAMPLE, (number[0], given, limit))
        return list(dict.fromkeys(key_of(name, id) for name, id in rows))

    # filling ---------------------------------------------------------------------------------------

    def without(self, space: Space, after: int, limit: int) -> list[tuple[int, str]]:
        """(vid, text) of served versions without a vector in the space, from `after` on."""
        number = self._db.row(SPACE, space)
        rows = self._db.rows(_TEXTS, (number[0] if number else -1, after, limit))
        return [(vid, text) for vid, text in rows]

    def lacking(self, space: Space) -> list[int]:
        """The served versions without a vector in the space. O(store)."""
        number = self._db.row(SPACE, space)
        return [vid for (vid,) in self._db.rows(_LEFT, (number[0] if number else -1,))]

    def fill(self, space: Space, made: Sequence[tuple[int, bytes]], *, actor: str | None) -> int:
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

    # moving ----------------------------------------------------------------------------------------

    def go(
        self, space: Space, *, blank: Collection[int], until: int, actor: str | None, reason: str | None
    ) -> int:
        """Search in another space from now on, as one closed case; its number.

        Raises
        ------
        InvalidInput
            Memories live there already.
        StaleRead
            Something served has no vector there, and is none of those that say nothing (`blank`).
        """
        former = self.home()
        if former == space:
            raise InvalidInput(f"memories live in the space of {space.model} already", witness=space)
        missing = set(self.lacking(space)).difference(blank)
        if missing:
            raise StaleRead(
                f"{len(missing)} served artifacts have no vector of {space.model} yet", witness=len(missing)
            )
        moved: Json = {"to": list(space), "from": None if former is None else list(former), "until": until}
        case = self._cases.declare(MAINTAIN, [], to_json({"space": moved}, "the delta", space), actor, reason)
        with self._journal.entry(MAINTAIN, case=case, actor=actor, reason=reason) as seq:
            self._journal.book(seq, declared(self._db, case))
        self._cases.set_status(case, CaseStatus.CLOSED)
        return case

    def require_way_back(self, case: int) -> None:
        """Refuse to undo a switch whose former space is gone, or that another one has followed.

        Raises
        ------
        UndoRefused
        """
        row = self._db.row(_SWITCH, (case,))
        stands = self.switch()
        if row is None or stands is None:
            return
        if stands.case > case:
            raise UndoRefused(f"undo case {stands.case} first: it switched later", witness=stands.case)
        former = _read(case, row[0]).former
        number = None if former is None else self._db.row(SPACE, former)
        if former is not None and not (
            number and self._db.number("SELECT EXISTS(SELECT 1 FROM vector WHERE space = ?)", number)
        ):
            raise UndoRefused(
                f"case {case} cannot be undone: the vectors of {former.model} have been dropped",
                witness=former,
            )

    def drop(self, space: Space, now: int, *, early: bool, actor: str | None, reason: str | None) -> int:
        """Remove the vectors that an embedder made in a space; those that drafts brought stay. How many.

        Raises
        ------
        InvalidInput
            Memories live there; or it is kept for a way back still, and not dropped `early`.
        """
        if space == self.home():
            raise InvalidInput(f"memories live in the space of {space.model}", witness=space)
        stands = self.switch()
        if stands is not None and stands.former == space and now < stands.until and not early:
            days = (stands.until - now) / 86_400e9
            raise InvalidInput(
                f"the vectors of {space.model} are the way back of case {stands.case} "
                f"for {days:.1f} days more",
                witness=stands.case,
            )
        number = self._db.row(SPACE, space)
        if number is None:
            return 0
        with self._journal.entry("drop_vectors", actor=actor, reason=reason):
            return self._db.run("DELETE FROM vector WHERE space = ? AND NOT given", number)


def _space(said: Mapping[str, Json]) -> Space:
    match said:
        case {
            "model": str(model),
            "revision": str(revision),
            "dimension": int(dimension),
            "normalised": bool(normalised),
        }:
            return Space(model, revision, dimension, normalised)
        case _:
            raise CorruptStore("where memories live is no space", witness=dict(said))


def _read(case: int, delta: str) -> Switch:
    said = json.loads(delta)["space"]
    former = said["from"]
    return Switch(case, None if former is None else Space(*former), Space(*said["to"]), said["until"])


def filled(stored: int, wanted: Sequence[tuple[int, str]], made: Sequence[tuple[int, bytes]]) -> Filled:
    """What a round of filling came to."""
    says = {vid for vid, _ in made}
    return Filled(stored, tuple(vid for vid, _ in wanted if vid not in says), wanted[-1][0] if wanted else 0)
