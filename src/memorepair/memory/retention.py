"""Retention: before-images that nothing needs any more go after their time."""

from __future__ import annotations

from memorepair.memory.artifact import CaseStatus, State
from memorepair.memory.codec import key_of
from memorepair.memory.connection import Connection
from memorepair.memory.erasure import remove_content
from memorepair.memory.exchange import PruneReport
from memorepair.memory.journal import Journal

# Former versions, by ordinary updates or by cases that are over, and what those archived, where the newest
# change of their state is older than the limit. Withdrawn or quarantined content never goes by time, nor does
# what a live arc has read or an unfinished case had taken out.
_OLD = f"""INSERT INTO pruned SELECT l.vid FROM (
        SELECT vid, max(seq) AS seq FROM journal_row WHERE before IS NOT after GROUP BY vid) l
    JOIN journal j ON j.seq = l.seq AND j.at < ?1
    JOIN version v ON v.vid = l.vid JOIN artifact a ON a.aid = v.aid
    LEFT JOIN barrier b ON b.vid = l.vid LEFT JOIN cases k ON k.cause = b.cause
    WHERE iif(b.vid IS NULL, a.cur <> l.vid,
        b.state IN ({State.SUPERSEDED}, {State.ARCHIVED}) AND (k.cause IS NULL OR k.status IN (?2, ?3)))
    AND NOT EXISTS(SELECT 1 FROM arc WHERE arc.src = v.aid AND arc.src_vid = l.vid)
    AND l.vid NOT IN (SELECT r.vid FROM cases u JOIN journal w ON w.cause = u.cause AND w.act = 'withdraw'
        JOIN journal_row r ON r.seq = w.seq WHERE u.status NOT IN (?2, ?3))
    ORDER BY l.vid"""  # noqa: S608  integers of an enumeration


class Retention:
    """Prunes; runs inside the caller's transaction."""

    def __init__(self, db: Connection, journal: Journal) -> None:
        self._db = db
        self._journal = journal
        if not db.readonly:
            db.run("CREATE TEMP TABLE pruned(vid INTEGER PRIMARY KEY)")

    def prune(self, before: int, *, actor: str | None, reason: str | None) -> PruneReport:
        """Remove content that left service before an instant (nanoseconds since the epoch); O(journal)."""
        run, rows = self._db.run, self._db.rows
        run("DELETE FROM pruned")
        run(_OLD, (before, CaseStatus.CLOSED, CaseStatus.UNDONE))
        found = rows(
            """SELECT s.name, a.id, v.no, v.size, p.vid, coalesce(b.state, ?) FROM pruned p
            CROSS JOIN version v ON v.vid = p.vid JOIN artifact a ON a.aid = v.aid
            JOIN scope s ON s.sid = a.sid LEFT JOIN barrier b ON b.vid = p.vid ORDER BY s.name, a.id, v.no""",
            (State.SUPERSEDED,),
        )
        if found:
            with self._journal.entry("prune", actor=actor, reason=reason) as seq:
                self._journal.add(seq, ((vid, state, State.ERASED) for *_, vid, state in found))
                remove_content(self._db, "pruned")
                run(
                    """INSERT INTO barrier(vid, state, cause) SELECT vid, ?, NULL FROM pruned WHERE true
                    ORDER BY vid ON CONFLICT(vid) DO UPDATE SET state = excluded.state""",
                    (State.ERASED,),
                )
            run("DELETE FROM pruned")
        return PruneReport(
            versions=tuple((key_of(name, id), no) for name, id, no, *_ in found),
            size=sum(size for _, _, _, size, *_ in found),
        )
