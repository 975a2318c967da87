"""Upkeep: events that leave what is stated as it is, so that nothing is withdrawn.

New state comes in and old state goes out in one transaction: next versions that say the same better,
duplicates archived under the one that stays, marks for ranking and for review. Whoever read the old side
reads the new one afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from memorepair.errors import CycleFound, InvalidEvent, InvalidInput, StaleRead
from memorepair.graphs.digraph import Digraph
from memorepair.graphs.order import strong_components
from memorepair.graphs.terms import Relation
from memorepair.memory.artifact import CaseStatus, Json, Key, Read, State
from memorepair.memory.cases import Cases, declared
from memorepair.memory.codec import Prepared
from memorepair.memory.connection import Connection
from memorepair.memory.exchange import Marks
from memorepair.memory.graph import arcs_ahead, keys_of
from memorepair.memory.journal import Journal
from memorepair.memory.keys import Place, find, known, named_twice
from memorepair.memory.values import to_json
from memorepair.memory.writer import Writer

MAINTAIN = "maintain"
"""The event's kind, and the entry that its case is declared by."""


class Upkeep:
    """Carries such events out; every method runs inside the caller's transaction."""

    def __init__(self, db: Connection, journal: Journal, writer: Writer, cases: Cases) -> None:
        self._db = db
        self._journal = journal
        self._writer = writer
        self._cases = cases

    def maintain(
        self,
        drafts: Iterable[Prepared],
        duplicates: Mapping[Key, Key],
        marks: Marks,
        *,
        anew: bool,
        delta: Mapping[str, Json],
        actor: str | None,
        reason: str | None,
        at: int,
    ) -> int:
        """Do all of it as one closed case; its number.

        A next version stands on what the former one stood on, and on the duplicates it takes the place of: a
        deletion of one of those reaches it. Vectors that were given stay, unless they are made `anew`. Its
        time is the former one's, or the newest duplicate's: to say the same in better order is not to say it
        again.
        """
        prepared = {one.draft.key: one for one in drafts}
        touched = [*prepared, *duplicates, *marks]
        self._check(prepared, duplicates, marks)
        places = find(self._db, [*touched, *duplicates.values()])
        for key in touched:
            if known(places, key).state is not State.ACTIVE:
                raise StaleRead(f"{key} is not served any more", witness=key)
        case = self._cases.declare(
            MAINTAIN, list(dict.fromkeys(touched)), to_json(delta, "the delta", touched[0]), actor, reason
        )
        under: dict[Key, list[Key]] = {}
        for duplicate, primary in sorted(duplicates.items()):
            under.setdefault(primary, []).append(duplicate)
        self._writer.write(
            [
                one._replace(draft=replace(one.draft, reads=_reads(key, under.get(key, ()))))
                for key, one in prepared.items()
            ],
            act="bring",
            case=case,
            actor=actor,
            reason=reason,
            as_of={key: self._time(places, [key, *under.get(key, ())]) for key in prepared},
        )
        now = find(self._db, [*prepared, *duplicates.values()])
        self._db.many(
            "INSERT INTO semantic(dst_vid, src) SELECT ?, src FROM semantic WHERE dst_vid = ?",
            ((now[key].vid, places[key].vid) for key in prepared),
        )
        if not anew:
            self._keep_vectors((places[key].vid, now[key].vid) for key in prepared)
        gone = [places[key].vid for key in duplicates]
        with self._journal.entry(MAINTAIN, case=case, actor=actor, reason=reason) as seq:
            self._journal.add(seq, ((vid, State.ACTIVE, State.ARCHIVED) for vid in gone))
            standing = {key: now.get(key, places[key]).vid for key in marks}
            fresh = {vid for vid in standing.values() if vid not in gone}
            self._journal.add(seq, ((vid, State.ACTIVE, State.ACTIVE) for vid in sorted(fresh)))
            self._db.many(
                "INSERT INTO mark(vid, cause, weight, at) VALUES(?,?,?,?)",
                ((standing[key], case, weight, at) for key, weight in marks.items()),
            )
            self._db.many(
                "INSERT INTO barrier(vid, state, cause) VALUES(?,?,?)",
                ((vid, State.ARCHIVED, case) for vid in sorted(gone)),
            )
            self._journal.book(seq, declared(self._db, case))
        moves = {places[key]: now[key] for key in prepared}
        moves |= {places[key]: now[primary] for key, primary in duplicates.items()}
        regrouped = self._regroup(case, moves, [now[key] for key in prepared])
        if self._redirect(case, moves) or regrouped:
            self._refuse_cycles({new.aid for new in moves.values()})
        self._cases.set_status(case, CaseStatus.CLOSED)
        return case

    def _check(self, prepared: Mapping[Key, Prepared], duplicates: Mapping[Key, Key], marks: Marks) -> None:
        if not (prepared or duplicates or marks):
            raise InvalidEvent("an upkeep changes something", witness=())
        if (twice := named_twice([*prepared, *duplicates])) is not None:
            raise InvalidEvent(f"{twice} is both kept and archived", witness=twice)
        for key, one in prepared.items():
            if one.draft.reads:
                raise InvalidInput(f"the next version of {key} stands on what it stood on", witness=key)
        if lost := [key for key in duplicates.values() if key in duplicates]:
            raise InvalidEvent(f"{lost[0]} is archived, so nothing is archived under it", witness=lost[0])
        if bare := [key for key in duplicates.values() if key not in prepared]:
            raise InvalidEvent(f"{bare[0]} has no next version to stand on its duplicates", witness=bare[0])
        if beyond := [key for key in marks if key in duplicates]:
            raise InvalidEvent(f"{beyond[0]} is archived, so it takes no mark", witness=beyond[0])

    def _time(self, places: Mapping[Key, Place], keys: Iterable[Key]) -> int:
        return max(
            self._db.number("SELECT born FROM version WHERE vid = ?", (places[key].vid,)) for key in keys
        )

    def _keep_vectors(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Vectors that were given for the former text are those of the same text said again."""
        both = list(pairs)
        self._db.many(
            """INSERT OR IGNORE INTO vector(vid, given, space, v)
            SELECT ?2, 1, space, v FROM vector WHERE vid = ?1 AND given = 1""",
            both,
        )
        self._db.many(
            """DELETE FROM vector WHERE vid = ?1 AND given = 0
            AND space IN (SELECT space FROM vector WHERE vid = ?1 AND given = 1)""",
            ((new,) for _, new in both),
        )

    def _regroup(self, case: int, moves: Mapping[Place, Place], fresh: Sequence[Place]) -> bool:
        """Let the new sides stand on each other, not on the old ones.

        What the one that stays was made from may be merged as well: it stands on what that became. Where that
        is itself, it consolidates what it was made from, which says all of it.
        """
        became = {(old.aid, old.vid): new for old, new in moves.items()}
        stale = [
            (src, src_vid, dst.aid, rel, grp, pos)
            for dst in fresh
            for src, src_vid, rel, grp, pos in self._db.rows(
                "SELECT src, src_vid, rel, grp, pos FROM arc WHERE dst = ?", (dst.aid,)
            )
            if (new := became.get((src, src_vid))) is not None
            and (new.aid != dst.aid or rel != Relation.CONSOLIDATE)
        ]
        if not stale:
            return False
        with self._journal.entry("bring", case=case) as seq:
            touched = {new.vid for new in fresh if any(new.aid == dst for _, _, dst, *_ in stale)}
            self._journal.add(seq, ((vid, State.ACTIVE, State.ACTIVE) for vid in sorted(touched)))
            for src, src_vid, dst, rel, grp, pos in stale:
                self._db.run(
                    "DELETE FROM arc WHERE src = ? AND src_vid = ? AND dst = ? AND rel = ? AND grp = ?",
                    (src, src_vid, dst, rel, grp),
                )
                new = became[src, src_vid]
                if new.aid != dst:
                    self._db.run(
                        """INSERT INTO arc(src, src_vid, dst, rel, grp, pos) VALUES(?,?,?,?,?,?)
                        ON CONFLICT DO UPDATE SET pos = min(pos, excluded.pos)""",
                        (new.aid, new.vid, dst, rel, grp, pos),
                    )
            self._journal.stand(seq, sorted(touched))
        return True

    def _redirect(self, case: int, moves: Mapping[Place, Place]) -> bool:
        """Let the readers of the old sides stand on the new ones; before-images of their arcs are kept."""
        inside = {old.aid for old in moves} | {new.aid for new in moves.values()}
        readers: dict[int, tuple[int, int]] = {}
        for old in moves:
            for aid, vid, state in self._db.rows(
                """SELECT DISTINCT a.aid, a.cur, coalesce(b.state, 0) FROM arc
                JOIN artifact a ON a.aid = arc.dst LEFT JOIN barrier b ON b.vid = a.cur
                WHERE arc.src = ? AND arc.src_vid = ?""",
                (old.aid, old.vid),
            ):
                if aid not in inside:
                    readers[aid] = vid, state
        if not readers:
            return False
        with self._journal.entry("redirect", case=case) as seq:
            self._journal.add(seq, ((vid, state, state) for vid, state in readers.values()))
            self._db.many(
                """INSERT INTO arc_image(seq, dst_vid, src_vid, rel, grp, pos)
                SELECT ?, ?, src_vid, rel, grp, pos FROM arc WHERE dst = ?""",
                ((seq, vid, aid) for aid, (vid, _) in readers.items()),
            )
            for old, new in moves.items():
                # A reader of two duplicates keeps one arc: the first of its reads.
                self._db.many(
                    """INSERT INTO arc(src, src_vid, dst, rel, grp, pos)
                    SELECT ?3, ?4, dst, rel, grp, pos FROM arc WHERE src = ?1 AND src_vid = ?2 AND dst = ?5
                    ON CONFLICT DO UPDATE SET pos = min(pos, excluded.pos)""",
                    ((old.aid, old.vid, new.aid, new.vid, reader) for reader in readers),
                )
                self._db.many(
                    "DELETE FROM arc WHERE src = ? AND src_vid = ? AND dst = ?",
                    ((old.aid, old.vid, reader) for reader in readers),
                )
            self._journal.stand(seq, (vid for vid, _ in readers.values()))
        return True

    def _refuse_cycles(self, stays: set[int]) -> None:
        """A reader of a duplicate from which the one that stays was made would stand on its own result."""
        arcs = arcs_ahead(self._db, sorted(stays))
        if not arcs:
            return
        aids, flat = np.unique(np.array(arcs, np.int64).ravel(), return_inverse=True)
        ends = flat.reshape(-1, 2)
        component = strong_components(Digraph.from_arcs(len(aids), ends[:, 0], ends[:, 1]))
        inside = np.flatnonzero(component[ends[:, 0]] == component[ends[:, 1]])
        for src, dst in aids[ends[inside]].tolist():
            if src in stays and src != dst:
                names = keys_of(self._db, [src, dst])
                raise CycleFound(
                    f"{names[src]} was made from what reads its duplicate", witness=(names[src], names[dst])
                )


def _reads(key: Key, duplicates: Iterable[Key]) -> tuple[Read, ...]:
    """Its own former version, which stands for all that one stood on, and what it consolidates."""
    return (Read(key=key), *(Read(key=one, relation=Relation.CONSOLIDATE) for one in duplicates))
