"""Undo: a case taken back from the journal's before-images, by a person."""

from __future__ import annotations

from memorepair.errors import UndoRefused
from memorepair.graphs.terms import PROPAGATING, Relation
from memorepair.memory import index
from memorepair.memory.artifact import CaseStatus, Key, State
from memorepair.memory.cases import Cases
from memorepair.memory.codec import key_of
from memorepair.memory.connection import Connection
from memorepair.memory.exchange import UndoReport
from memorepair.memory.journal import Journal
from memorepair.memory.suspects import Suspects
from memorepair.memory.writer import retire_arcs

_NOW = "coalesce(b.state, iif(a.cur = m.vid, 0, 3))"
_OWNER = "iif(b.vid ISNULL, NULL, coalesce(b.cause, 0))"

# One row a version that the case changed; one that an earlier case had withdrawn, and that this one named
# only, is the earlier one's. No barrier stood where owner is NULL; before is NULL where the case
# brought the version. Rows of one version in one case follow each other, and nothing else may stand between
# them (`_refuse_later_work`), so the before-image of the first undoes them all. A reader that was only
# redirected stays in whatever state it is: the arcs alone are taken back.
_TABLE = """CREATE TEMP TABLE undoing(
    vid INTEGER PRIMARY KEY, aid INTEGER NOT NULL, first INTEGER NOT NULL, before INTEGER, owner INTEGER,
    now INTEGER NOT NULL, after INTEGER NOT NULL, released INTEGER NOT NULL, prior INTEGER)"""
_FILL = f"""INSERT INTO undoing(vid, aid, first, before, owner, now, after, released)
    SELECT m.vid, v.aid, m.first, iif(m.changed, m.before, {_NOW}), iif(m.changed, m.owner, {_OWNER}), {_NOW},
    iif(m.changed, coalesce(m.before, {State.ARCHIVED}), {_NOW}), m.released
    FROM (SELECT r.vid, min(r.seq) AS first, r.before, r.owner,
        sum(j.act = 'redirect'
            OR j.act = 'publish' AND r.before = {State.WITHDRAWN} AND r.after = {State.ACTIVE}) AS released,
        sum(r.before IS NOT r.after OR j.act IN ('replace', 'supersede')
            OR r.before = {State.WITHDRAWN} AND EXISTS(
                SELECT 1 FROM case_root t WHERE t.cause = j.cause AND t.vid = r.vid)) AS changed
        FROM journal j CROSS JOIN journal_row r ON r.seq = j.seq WHERE j.cause = ? GROUP BY r.vid) m
    JOIN version v ON v.vid = m.vid JOIN artifact a ON a.aid = v.aid LEFT JOIN barrier b ON b.vid = m.vid
    WHERE m.released OR m.changed AND iif(m.before IS NULL, b.state IS NOT {State.ERASED},
        m.before <> {_NOW} OR m.owner IS NOT {_OWNER})"""  # noqa: S608  enum

# The version that was current before the case, on the row of the one the case made current.
_PRIOR = f"""UPDATE undoing AS u SET prior = (SELECT p.vid FROM undoing p
        WHERE p.aid = u.aid AND p.before IS NOT NULL
        AND (p.before <> {State.SUPERSEDED} OR p.owner IS NOT NULL) ORDER BY p.vid DESC LIMIT 1)
    WHERE u.before IS NULL AND u.vid = (SELECT cur FROM artifact a WHERE a.aid = u.aid)"""  # noqa: S608  enum

# CROSS JOIN keeps the order of the tables: from the case to what lies beside it, not through the store.
_NAMED = """CROSS JOIN version v ON v.vid = u.vid CROSS JOIN artifact a ON a.aid = u.aid
    CROSS JOIN scope s ON s.sid = a.sid"""

_LATER = f"""SELECT s.name, a.id, j.cause, j.act FROM journal j CROSS JOIN journal_row r ON r.seq = j.seq
    CROSS JOIN undoing u ON u.vid = r.vid {_NAMED} LEFT JOIN cases k ON k.cause = j.cause
    WHERE j.seq > (SELECT min(first) FROM undoing) AND j.seq > u.first AND j.cause IS NOT ?
    AND (r.before IS NOT r.after OR j.act = 'withdraw') AND k.status IS NOT ?
    ORDER BY j.seq, s.name, a.id LIMIT 1"""  # noqa: S608  enum

# What an update has written over, whose own work a prune has removed from the table.
_OVERTAKEN = f"""SELECT s.name, a.id FROM undoing u {_NAMED}
    WHERE u.after IN ({State.ACTIVE}, {State.PENDING_REVIEW}) AND a.cur <> u.vid
    AND NOT EXISTS(SELECT 1 FROM undoing n WHERE n.vid = a.cur) LIMIT 1"""  # noqa: S608  enum

_FOLLOWED = ", ".join(str(int(relation)) for relation in sorted(PROPAGATING))

# What was made from a version that goes, and is not the case's own work.
_DERIVED = f"""SELECT s.name, a.id, v.no, t.name, d.id FROM undoing u {_NAMED}
    CROSS JOIN arc ON arc.src = u.aid AND arc.src_vid = u.vid AND arc.rel IN ({_FOLLOWED})
    JOIN artifact d ON d.aid = arc.dst JOIN scope t ON t.sid = d.sid
    LEFT JOIN barrier b ON b.vid = d.cur LEFT JOIN undoing o ON o.vid = d.cur
    WHERE u.before IS NULL AND o.vid IS NULL AND coalesce(b.state, 0) IN (0, {State.WITHDRAWN})
    UNION ALL SELECT s.name, a.id, v.no, t.name, d.id FROM undoing u {_NAMED}
    CROSS JOIN arc_old ON arc_old.src_vid = u.vid AND arc_old.rel IN ({_FOLLOWED})
    JOIN version w ON w.vid = arc_old.dst_vid JOIN artifact d ON d.aid = w.aid JOIN scope t ON t.sid = d.sid
    LEFT JOIN barrier b ON b.vid = w.vid LEFT JOIN undoing o ON o.vid = w.vid
    WHERE u.before IS NULL AND o.vid IS NULL AND b.vid IS NULL LIMIT 1"""  # noqa: S608  enum

# What is open again although something it was made from is behind the barrier; a duplicate in the archive is
# where it belongs: for who consolidates it, and for a former version that had read it before an earlier case
# put it there. Where nothing open stands on
# anything barred before, and no such row is found, nothing does afterwards either; but for what the case that
# barred it has spared.
_BARRED = f"""SELECT s.name, a.id, t.name, p.id, b.cause FROM (
        SELECT u.vid, u.aid, arc.src_vid, arc.rel FROM undoing u
        JOIN artifact c ON c.aid = u.aid AND c.cur = u.vid
        CROSS JOIN arc ON arc.dst = u.aid AND arc.rel IN ({_FOLLOWED})
        UNION ALL SELECT u.vid, u.aid, o.src_vid, o.rel FROM undoing u
        JOIN artifact c ON c.aid = u.aid AND c.cur <> u.vid
        CROSS JOIN arc_old o ON o.dst_vid = u.vid AND o.rel IN ({_FOLLOWED})) u
    {_NAMED} JOIN barrier b ON b.vid = u.src_vid JOIN version w ON w.vid = u.src_vid
    JOIN artifact p ON p.aid = w.aid JOIN scope t ON t.sid = p.sid
    WHERE NOT EXISTS(SELECT 1 FROM barrier x WHERE x.vid = u.vid)
    AND NOT (b.state = {State.ARCHIVED} AND (u.rel = {Relation.CONSOLIDATE}
        OR EXISTS(SELECT 1 FROM cases k WHERE k.cause = b.cause AND k.cause < ?1 AND k.tau = 'maintain')))
    AND NOT EXISTS(SELECT 1 FROM spared q WHERE q.cause = b.cause AND q.vid = u.vid) LIMIT 1"""  # noqa: S608  enum

# Members that an earlier case had withdrawn, and has still.
_STILL = """SELECT s.name, a.id FROM journal j CROSS JOIN journal_row r ON r.seq = j.seq AND r.before = ?2
    JOIN barrier b ON b.vid = r.vid AND b.state = ?2
    JOIN version v ON v.vid = r.vid JOIN artifact a ON a.aid = v.aid JOIN scope s ON s.sid = a.sid
    WHERE j.cause = ?1 AND j.act = 'withdraw' ORDER BY s.name, a.id"""


class Undo:
    """Takes cases back; runs inside the caller's transaction, and what it raises rolls it back."""

    def __init__(self, db: Connection, journal: Journal, cases: Cases, suspects: Suspects) -> None:
        self._db = db
        self._journal = journal
        self._cases = cases
        self._suspects = suspects
        if not db.readonly:
            db.run(_TABLE)
            db.run("CREATE INDEX temp.undoing_aid ON undoing(aid)")

    def undo(self, case: int, *, actor: str, reason: str) -> UndoReport:
        """Serve again what the case took out, take out what it brought; all of it or nothing.

        Raises
        ------
        UnknownId
            There is no such case.
        UndoRefused
            The case is undone already; content it needs is gone (witness: the keys); another event, an update
            or a derivation came after it; what would come back stands on something out of service.
        """
        if self._cases.get(case).status is CaseStatus.UNDONE:
            raise UndoRefused(f"case {case} is undone already", witness=case)
        run = self._db.run
        run("DELETE FROM undoing")
        run(_FILL, (case,))
        run(_PRIOR)
        self._refuse_erased(case)
        self._refuse_later_work(case)
        retired = self._versions("before IS NULL AND now = ?", State.ACTIVE)
        restored = self._versions("after = ?1 AND now <> ?1", State.ACTIVE)
        kept = self._versions("after = ?1 AND now = ?1", State.ACTIVE)
        with self._journal.entry("undo", case=case, actor=actor, reason=reason) as seq:
            self._journal.add(seq, self._db.rows("SELECT vid, now, after FROM undoing"))
            self._restore(case)
            still = self._db.rows(_STILL, (case, State.WITHDRAWN))
            self._refuse_barred(case)
            self._close(case)
            self._suspects.forget(case, entry=seq)
            self._journal.stand(
                seq, (vid for (vid,) in self._db.rows("SELECT vid FROM undoing WHERE released"))
            )
        run("DELETE FROM undoing")
        return UndoReport(
            case=self._cases.get(case),
            restored=tuple(key for key, _ in restored),
            retired=tuple(retired),
            kept=tuple(key for key, _ in kept),
            still_withdrawn=tuple(key_of(name, id) for name, id in still),
        )

    def _versions(self, where: str, state: State) -> list[tuple[Key, int]]:
        rows = self._db.rows(
            f"SELECT s.name, a.id, v.no FROM undoing u {_NAMED} WHERE {where} ORDER BY s.name, a.id, v.no",  # noqa: S608  literals
            (state,),
        )
        return [(key_of(name, id), no) for name, id, no in rows]

    # refusals --------------------------------------------------------------------------------------

    def _refuse_erased(self, case: int) -> None:
        gone = self._versions("now = ?1 AND before <> ?1", State.ERASED)
        if gone:
            names = ", ".join(f"version {no} of {key}" for key, no in gone[:3])
            more = f" and {len(gone) - 3} more" if len(gone) > 3 else ""
            raise UndoRefused(
                f"case {case} cannot be undone: the content of {names}{more} is gone",
                witness=tuple(dict.fromkeys(key for key, _ in gone)),
            )

    def _refuse_later_work(self, case: int) -> None:
        row = self._db.row(_LATER, (case, CaseStatus.UNDONE))
        if row is not None:
            name, id, later, act = row
            key = key_of(name, id)
            what = f"entry {act!r} has touched {key} since"
            if later is not None:
                what = f"case {later} has touched {key} since; undo case {later} first"
            raise UndoRefused(f"case {case} cannot be undone: {what}", witness=(key, later or act))
        row = self._db.row(_OVERTAKEN)
        if row is not None:
            key = key_of(*row)
            raise UndoRefused(f"case {case} cannot be undone: {key} has been written over since", witness=key)
        row = self._db.row(_DERIVED)
        if row is not None:
            name, id, no, child_name, child_id = row
            key, child = key_of(name, id), key_of(child_name, child_id)
            raise UndoRefused(
                f"case {case} cannot be undone: {child} was made from version {no} of {key}, which would go",
                witness=(child, key),
            )

    def _refuse_barred(self, case: int) -> None:
        row = self._db.row(_BARRED, (case,))
        if row is not None:
            name, id, parent_name, parent_id, later = row
            key, parent = key_of(name, id), key_of(parent_name, parent_id)
            raise UndoRefused(
                f"case {case} cannot be undone: {key} would stand on {parent}, which case {later} took out",
                witness=(key, parent),
            )

    # moves -----------------------------------------------------------------------------------------

    def _restore(self, case: int) -> None:
        run, rows = self._db.run, self._db.rows
        swapped = rows("SELECT aid, vid, prior FROM undoing WHERE prior IS NOT NULL ORDER BY vid")
        index.remove(self._db, (vid for _, vid, _ in swapped))
        retire_arcs(self._db, ((aid, vid) for aid, vid, _ in swapped))
        self._db.many(
            "UPDATE artifact SET cur = ? WHERE aid = ?", ((prior, aid) for aid, _, prior in swapped)
        )
        run(
            """INSERT INTO arc(src, src_vid, dst, rel, grp, pos)
            SELECT v.aid, o.src_vid, u.aid, o.rel, o.grp, o.pos FROM undoing u
            CROSS JOIN arc_old o ON o.dst_vid = u.prior JOIN version v ON v.vid = o.src_vid"""
        )
        run("DELETE FROM arc_old WHERE dst_vid IN (SELECT prior FROM undoing)")
        index.add(self._db, (prior for _, _, prior in swapped))
        self._unrelease(case)
        run(
            "DELETE FROM barrier WHERE vid IN (SELECT vid FROM undoing WHERE before NOTNULL AND owner ISNULL)"
        )
        run(
            """INSERT INTO barrier(vid, state, cause)
            SELECT vid, after, iif(before IS NULL, ?, nullif(owner, 0)) FROM undoing
            WHERE before ISNULL OR owner NOTNULL ORDER BY vid
            ON CONFLICT(vid) DO UPDATE SET state = excluded.state, cause = excluded.cause""",
            (case,),
        )

    def _unrelease(self, case: int) -> None:
        """A released version kept its number, so its arcs and verdicts are taken back in place.

        One that was quarantined may have been written over since: its arcs are among the former ones.
        """
        run = self._db.run
        released = "undoing u JOIN artifact a ON a.aid = u.aid AND u.released"
        images = """FROM journal j CROSS JOIN arc_image i ON i.seq = j.seq
            CROSS JOIN undoing u ON u.vid = i.dst_vid AND u.released JOIN artifact a ON a.aid = u.aid"""
        run(f"DELETE FROM arc WHERE dst IN (SELECT u.aid FROM {released} AND a.cur = u.vid)")  # noqa: S608  literals
        run(f"DELETE FROM arc_old WHERE dst_vid IN (SELECT u.vid FROM {released} AND a.cur <> u.vid)")  # noqa: S608  literals
        run(
            f"""INSERT INTO arc(src, src_vid, dst, rel, grp, pos)
            SELECT v.aid, i.src_vid, u.aid, i.rel, i.grp, i.pos {images} AND a.cur = u.vid
            JOIN version v ON v.vid = i.src_vid WHERE j.cause = ?""",
            (case,),
        )
        run(
            f"""INSERT INTO arc_old(dst_vid, src_vid, rel, grp, pos)
            SELECT u.vid, i.src_vid, i.rel, i.grp, i.pos {images} AND a.cur <> u.vid WHERE j.cause = ?""",
            (case,),
        )
        run("DELETE FROM arc_image WHERE seq IN (SELECT seq FROM journal WHERE cause = ?)", (case,))
        run(
            """DELETE FROM verdict WHERE vid IN (SELECT vid FROM undoing WHERE released)
            AND seq IN (SELECT seq FROM journal WHERE cause = ?)""",
            (case,),
        )

    def _close(self, case: int) -> None:
        run = self._db.run
        run("DELETE FROM tombstone WHERE cause = ?", (case,))
        run("DELETE FROM mark WHERE cause = ?", (case,))
        run("UPDATE cases SET status = ?, erasure = NULL WHERE cause = ?", (CaseStatus.UNDONE, case))
        # What an earlier case had withdrawn is its own to repair again.
        run(
            """UPDATE cases SET status = ? WHERE status = ? AND cause IN (
            SELECT owner FROM undoing WHERE before = ?3 AND after = ?3)""",
            (CaseStatus.CLOSED_PARTIAL, CaseStatus.CLOSED, State.WITHDRAWN),
        )
