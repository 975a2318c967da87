"""Barrier: what is served, and the three moves that change it.

`SERVED`, `PAST`, `CARRIED`, `HITS`, `READ` and `NEAR` are the only ways from an artifact to content: barred
text is not even fetched.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from memorepair.graphs.support import Policy
from memorepair.graphs.terms import PROPAGATING
from memorepair.memory.artifact import State
from memorepair.memory.connection import Connection, Value
from memorepair.memory.evidence import spare

SERVED = """artifact a JOIN scope s ON s.sid = a.sid JOIN version v ON v.vid = a.cur
    LEFT JOIN barrier b ON b.vid = a.cur LEFT JOIN content c ON c.vid = a.cur AND b.vid IS NULL
    LEFT JOIN vector x ON x.given = 1 AND x.vid = a.cur AND b.vid IS NULL
    LEFT JOIN space p ON p.space = x.space LEFT JOIN usage u ON u.aid = a.aid"""
"""Every artifact with its current version; content c and given vector x only where no barrier b stands."""

PAST = """artifact a JOIN version v ON v.aid = a.aid
    LEFT JOIN barrier b ON b.vid = v.vid LEFT JOIN content c ON c.vid = v.vid AND b.vid IS NULL"""
"""Every version; content only where no barrier stands: what an ordinary update superseded has none."""

CARRIED = f"""{PAST} JOIN scope s ON s.sid = a.sid
    LEFT JOIN recipe q ON q.vid = v.vid AND b.vid IS NULL
    LEFT JOIN vector x ON x.given = 1 AND x.vid = v.vid AND b.vid IS NULL
    LEFT JOIN space p ON p.space = x.space LEFT JOIN usage u ON u.aid = a.aid"""
"""Every version with all that describes it, which like its content is there only where no barrier stands."""

HITS = """fts JOIN version v ON v.vid = fts.rowid JOIN artifact a ON a.aid = v.aid AND a.cur = v.vid
    LEFT JOIN barrier b ON b.vid = v.vid JOIN content c ON c.vid = v.vid AND b.vid IS NULL"""
"""What the index finds, current and not barred."""

READ = """artifact a LEFT JOIN barrier b ON b.vid = a.cur
    CROSS JOIN content c ON c.vid = a.cur AND b.vid IS NULL"""
"""Texts of current versions that are not barred, artifact by artifact."""

NEAR = """artifact a LEFT JOIN barrier b ON b.vid = a.cur
    CROSS JOIN vector x ON x.vid = a.cur AND b.vid IS NULL"""
"""Vectors of current versions that are not barred."""

_FOLLOWED = ", ".join(str(int(relation)) for relation in sorted(PROPAGATING))

# x > 0 is an artifact, its current version tainted; x < 0 is a former version, -x its vid. Arcs into a
# current version are followed whatever version of the source was read. Arcs into former versions matter
# because a former version may still be read: by an artifact that was derived from it and not since, and by
# `history`. Where a version is in, so are the former ones of the same artifact that say the same, in whatever
# letters: `history` would else go on saying what left. A former one leads to the next of them, the last to
# the first: so the set is closed in as many steps as it has members.
_CASCADE = f"""WITH RECURSIVE cascade(x) AS (
    SELECT value FROM json_each(?1)
    UNION SELECT arc.dst FROM cascade CROSS JOIN arc ON arc.src = x AND arc.rel IN ({_FOLLOWED})
    UNION SELECT -o.dst_vid FROM cascade CROSS JOIN artifact a ON a.aid = x
        CROSS JOIN arc_old o ON o.src_vid = a.cur AND o.rel IN ({_FOLLOWED})
    UNION SELECT arc.dst FROM cascade CROSS JOIN version v ON v.vid = -x
        CROSS JOIN arc ON arc.src = v.aid AND arc.src_vid = v.vid AND arc.rel IN ({_FOLLOWED})
    UNION SELECT -o.dst_vid FROM cascade CROSS JOIN arc_old o ON o.src_vid = -x AND o.rel IN ({_FOLLOWED})
    UNION SELECT -o.vid FROM cascade CROSS JOIN artifact a ON a.aid = x
        CROSS JOIN version o ON o.aid = x AND o.vid <> a.cur
        CROSS JOIN version v ON v.vid = a.cur AND v.words = o.words
        WHERE NOT EXISTS(SELECT 1 FROM barrier b WHERE b.vid = o.vid)
    UNION SELECT -coalesce(
            (SELECT o.vid FROM version o WHERE o.aid = v.aid AND o.words = v.words AND o.vid > v.vid
                AND o.vid <> a.cur AND NOT EXISTS(SELECT 1 FROM barrier b WHERE b.vid = o.vid)
                ORDER BY o.vid LIMIT 1),
            (SELECT o.vid FROM version o WHERE o.aid = v.aid AND o.words = v.words AND o.vid < v.vid
                AND o.vid <> a.cur AND NOT EXISTS(SELECT 1 FROM barrier b WHERE b.vid = o.vid)
                ORDER BY o.vid LIMIT 1),
            v.vid)
        FROM cascade CROSS JOIN version v ON v.vid = -x CROSS JOIN artifact a ON a.aid = v.aid"""  # noqa: S608  integers of an enumeration

# A suspected arc is followed as a recorded one is: out of a current version whatever version was suspected,
# out of a former one where it was that; into the artifact while the suspected version is current.
_SUSPECTED = """
    UNION SELECT iif(a.cur = s.dst_vid, s.dst, -s.dst_vid) FROM cascade
        CROSS JOIN suspected s ON s.src = x AND s.accepted AND (s.firm OR s.p >= ?2)
        CROSS JOIN artifact a ON a.aid = s.dst
    UNION SELECT iif(a.cur = s.dst_vid, s.dst, -s.dst_vid) FROM cascade CROSS JOIN version v ON v.vid = -x
        CROSS JOIN suspected s ON s.src = v.aid AND s.src_vid = v.vid AND s.accepted AND (s.firm OR s.p >= ?2)
        CROSS JOIN artifact a ON a.aid = s.dst"""
# The order changes no cascade, for a set is being closed. It makes the queue one of priorities: readers are
# mostly younger than what they read, so x mostly rises, and each page of the tables is passed about once.
_INTO = " ORDER BY 1) INSERT INTO cascaded SELECT x FROM cascade"


class Barrier:
    """The moves; each runs inside the caller's transaction."""

    def __init__(self, db: Connection) -> None:
        self._db = db
        if not db.readonly:
            db.run("CREATE TEMP TABLE cascaded(x INTEGER PRIMARY KEY)")

    def withdraw(
        self,
        case: int,
        roots: Sequence[int],
        *,
        every_version: bool,
        entry: int,
        evidence: Policy = "none",
        same_origin: Sequence[Sequence[int]] = (),
        suspected: float | None = None,
    ) -> int:
        """Bar the cascade of `roots`, journal rows first; the number of current versions newly barred.

        Parameters
        ----------
        roots
            Artifacts (aid).
        every_version
            The event concerns all the roots' former versions, not only those that say what the current one
            says.
        entry
            Journal entry that takes the rows.
        evidence, same_origin
            What may spare a member, see `weigh`; sets of artifacts (aid).
        suspected
            Accepted suspicions from this probability on are followed too; None follows none.

        Notes
        -----
        O(cascade log store), in SQL alone but for evidence. What an earlier case has barred keeps that case's
        row; the journal has both. Former versions of the cascade go to the archive at once: nothing repairs
        them, and nothing spares them.
        """
        run = self._db.run
        seeds: list[Value] = [*roots]
        if every_version:
            seeds += [
                -vid
                for (vid,) in self._db.rows(
                    """SELECT v.vid FROM json_each(?) j JOIN artifact a ON a.aid = j.value
                    JOIN version v ON v.aid = a.aid AND v.vid <> a.cur
                    LEFT JOIN barrier b ON b.vid = v.vid WHERE b.vid IS NULL""",
                    (json.dumps(roots),),
                )
            ]
        self._spread(seeds, suspected)
        self._db.many(
            "INSERT INTO spared(cause, vid, grp) SELECT ?, cur, ? FROM artifact WHERE aid = ?",
            ((case, group, aid) for aid, group in spare(self._db, roots, evidence, same_origin)),
        )
        run(
            """INSERT INTO journal_row(seq, vid, before, after, owner)
            SELECT ?, a.cur, coalesce(b.state, ?), coalesce(b.state, ?),
                iif(b.vid IS NULL, NULL, coalesce(b.cause, 0))
            FROM cascaded JOIN artifact a ON a.aid = x
            LEFT JOIN barrier b ON b.vid = a.cur
            WHERE b.vid IS NULL OR b.state = ? OR a.aid IN (SELECT value FROM json_each(?))""",
            (entry, State.ACTIVE, State.WITHDRAWN, State.WITHDRAWN, json.dumps(roots)),
        )
        newly = self._bar_cascaded(case, entry)
        # A root belongs to the newest event that names it: a deleted one must not come back through an older
        # case.
        run(
            """UPDATE barrier SET cause = ? WHERE state = ? AND vid IN
            (SELECT a.cur FROM json_each(?) j JOIN artifact a ON a.aid = j.value)""",
            (case, State.WITHDRAWN, json.dumps(roots)),
        )
        run("DELETE FROM cascaded")
        return newly

    def widen(self, case: int, suspects: Sequence[int], *, entry: int, suspected: float) -> int:
        """Bar what stands on suspects (aid), themselves included, and is served; how many artifacts."""
        self._spread([*suspects], suspected)
        self._db.run(
            """INSERT INTO journal_row(seq, vid, before, after) SELECT ?, a.cur, ?, ?
            FROM cascaded JOIN artifact a ON a.aid = x
            WHERE NOT EXISTS(SELECT 1 FROM barrier b WHERE b.vid = a.cur)""",
            (entry, State.ACTIVE, State.WITHDRAWN),
        )
        newly = self._bar_cascaded(case, entry)
        self._db.run("DELETE FROM cascaded")
        return newly

    def _spread(self, seeds: Sequence[Value], suspected: float | None) -> None:
        self._db.run("DELETE FROM cascaded")
        if suspected is None:
            self._db.run(_CASCADE + _INTO, (json.dumps(seeds),))
        else:
            self._db.run(_CASCADE + _SUSPECTED + _INTO, (json.dumps(seeds), suspected))

    def _bar_cascaded(self, case: int, entry: int) -> int:
        """Journal the former versions of the cascade, then bar all that is newly in the entry."""
        run = self._db.run
        run(
            """INSERT INTO journal_row(seq, vid, before, after)
            SELECT ?, -x, ?, ?
            FROM cascaded LEFT JOIN barrier b ON b.vid = -x WHERE x < 0 AND b.vid IS NULL""",
            (entry, State.SUPERSEDED, State.ARCHIVED),
        )
        # Sorted by vid: appended to the b-tree, not scattered over it.
        newly = run(
            """INSERT INTO barrier(vid, state, cause) SELECT vid, after, ? FROM journal_row
            WHERE seq = ? AND before = ? ORDER BY vid""",
            (case, entry, State.ACTIVE),
        )
        run(
            """INSERT INTO barrier(vid, state, cause) SELECT vid, after, ? FROM journal_row
            WHERE seq = ? AND before = ? AND after = ? ORDER BY vid""",
            (case, entry, State.SUPERSEDED, State.ARCHIVED),
        )
        return newly

    def move(self, vids: Iterable[int], state: State, case: int) -> None:
        """Give barred versions another state behind the barrier."""
        self._db.many(
            "UPDATE barrier SET state = ?, cause = ? WHERE vid = ?", ((state, case, vid) for vid in vids)
        )

    def bar(self, vid: int, state: State, case: int | None) -> None:
        """Bar a version that never was served."""
        self._db.run("INSERT INTO barrier(vid, state, cause) VALUES(?,?,?)", (vid, state, case))

    def lift(self, vids: Iterable[int]) -> None:
        """Serve versions again."""
        self._db.many("DELETE FROM barrier WHERE vid = ?", ((vid,) for vid in vids))
