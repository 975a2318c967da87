"""Erasure: content of a deletion's cascade removed for good, with a receipt.

Rows and index entries go in one transaction. The full-text index then still has their postings in older
segments, and the log their pages: `purge` compacts, and may be repeated until it succeeds.
"""

from __future__ import annotations

from collections.abc import Iterator

from memorepair.errors import InvalidInput
from memorepair.graphs.terms import PROPAGATING, Kind
from memorepair.memory import index
from memorepair.memory.artifact import CaseStatus, Erasure, State
from memorepair.memory.cases import DELETE, Cases, buried
from memorepair.memory.codec import key_of
from memorepair.memory.compaction import compact
from memorepair.memory.connection import Connection
from memorepair.memory.exchange import ErasedVersion, Receipt
from memorepair.memory.journal import Journal
from memorepair.memory.secret import Secret

TABLES = ("content", "vector", "recipe", "staged", "verdict")
"""Where a version has rows of its own that can hold content, or words about it."""

_BATCH = 1_000
_FOLLOWED = ", ".join(str(int(relation)) for relation in sorted(PROPAGATING))
_MINE = "journal j CROSS JOIN journal_row r ON r.seq = j.seq AND j.cause = ?1 AND j.act = 'withdraw'"

# What the case took out and every version its roots have had, and what was made from these versions. Nothing
# that is open stands on anything barred, so only barred versions are looked through; a version that has been
# released since was found to be free of the roots.
_TAINTED = f"""WITH RECURSIVE tainted(vid) AS (
        SELECT r.vid FROM {_MINE} JOIN barrier b ON b.vid = r.vid WHERE r.vid NOT IN (
            SELECT o.vid FROM journal p CROSS JOIN journal_row o ON o.seq = p.seq WHERE p.act = 'publish'
            AND o.before = {State.WITHDRAWN} AND o.after = {State.ACTIVE} AND p.seq > j.seq)
        UNION SELECT v.vid FROM cases k CROSS JOIN case_root t ON t.cause = k.cause
            CROSS JOIN version v ON v.aid = t.aid AND v.vid <= k.horizon WHERE k.cause = ?1
        UNION SELECT b.vid FROM tainted JOIN version v ON v.vid = tainted.vid
            CROSS JOIN arc ON arc.src = v.aid AND arc.src_vid = v.vid AND arc.rel IN ({_FOLLOWED})
            CROSS JOIN artifact a ON a.aid = arc.dst CROSS JOIN barrier b ON b.vid = a.cur
        UNION SELECT b.vid FROM tainted
            CROSS JOIN arc_old o ON o.src_vid = tainted.vid AND o.rel IN ({_FOLLOWED})
            CROSS JOIN barrier b ON b.vid = o.dst_vid)
    INSERT INTO doomed SELECT vid FROM tainted"""  # noqa: S608  integers of an enumeration

# All versions that the members had when the case was opened, whatever they were made from.
_OLDER = f"""INSERT OR IGNORE INTO doomed SELECT o.vid FROM {_MINE} JOIN version v ON v.vid = r.vid
    JOIN cases k ON k.cause = j.cause LEFT JOIN case_root t ON t.cause = j.cause AND t.vid = r.vid
    JOIN version o ON o.aid = v.aid AND o.vid <= k.horizon
    WHERE r.after = {State.WITHDRAWN} OR t.vid IS NOT NULL"""  # noqa: S608  integers of an enumeration

# What was rejected beside them was made from the same sources.
_REJECTED = f"""INSERT OR IGNORE INTO doomed SELECT o.vid FROM doomed
    CROSS JOIN version v ON v.vid = doomed.vid CROSS JOIN version o ON o.aid = v.aid
    CROSS JOIN barrier b ON b.vid = o.vid AND b.state = {State.QUARANTINED}"""  # noqa: S608  enum

_SPARED = f"""DELETE FROM doomed WHERE vid IN (
    SELECT d.vid FROM doomed d CROSS JOIN version v ON v.vid = d.vid JOIN artifact a ON a.aid = v.aid
    LEFT JOIN barrier b ON b.vid = d.vid
    WHERE b.state = {State.ERASED} OR (a.cur = d.vid AND b.vid IS NULL))"""  # noqa: S608  enumeration

# What a successor says as well may go on being said; a cache may be computed from other inputs.
_TEXTS = f"""SELECT d.vid, s.name, c.text, v.aid FROM doomed d JOIN content c ON c.vid = d.vid
    JOIN version v ON v.vid = d.vid JOIN artifact a ON a.aid = v.aid JOIN scope s ON s.sid = a.sid
    JOIN version n ON n.vid = a.cur LEFT JOIN barrier b ON b.vid = d.vid LEFT JOIN barrier x ON x.vid = n.vid
    WHERE d.vid > ? AND b.state IS NOT {State.QUARANTINED} AND v.kind <> {Kind.CACHE}
    AND (x.vid IS NOT NULL OR n.digest <> v.digest)
    ORDER BY d.vid LIMIT ?"""  # noqa: S608  integers of an enumeration

# What evidence spared may say what is to be erased, while its content is there.
_KEPT = """SELECT s.name, a.id FROM spared p JOIN content c ON c.vid = p.vid JOIN version v ON v.vid = p.vid
    JOIN artifact a ON a.aid = v.aid JOIN scope s ON s.sid = a.sid WHERE p.cause = ? ORDER BY p.vid LIMIT 1"""


class Eraser:
    """Erases what a deletion took out of service."""

    def __init__(self, db: Connection, journal: Journal, secret: Secret, cases: Cases) -> None:
        self._db = db
        self._journal = journal
        self._secret = secret
        self._cases = cases
        if not db.readonly:
            db.run("CREATE TEMP TABLE doomed(vid INTEGER PRIMARY KEY)")

    def erase(self, case: int, *, actor: str | None, reason: str | None) -> None:
        """Remove rows and index entries, inside the caller's transaction; a second call changes nothing.

        Raises
        ------
        UnknownId
            There is no such case.
        InvalidInput
            It is no deletion, or undone; or it has spared something, which may quote what it deleted.
        """
        declared = self._cases.get(case)
        if declared.event != DELETE or declared.status is CaseStatus.UNDONE:
            what = "undone" if declared.status is CaseStatus.UNDONE else f"a {declared.event} event"
            raise InvalidInput(f"case {case} is {what}: only a deletion erases", witness=case)
        if declared.erasure in (Erasure.PENDING, Erasure.DONE):
            return
        run, rows = self._db.run, self._db.rows
        for name, id in rows(_KEPT, (case,)):
            key = key_of(name, id)
            raise InvalidInput(
                f"case {case} has spared {key}, which may quote it: delete it too", witness=key
            )
        run("DELETE FROM doomed")
        for statement in (_TAINTED, _OLDER):
            run(statement, (case,))
        for statement in (_REJECTED, _SPARED):
            run(statement)
        self._db.many(
            "INSERT OR IGNORE INTO tombstone(digest, cause, aid, root) VALUES(?,?,?,0)",
            ((digest, case, aid) for digest, aid in self._digests()),
        )
        with self._journal.entry("erase", case=case, actor=actor, reason=reason) as seq:
            self._journal.add(
                seq,
                rows(
                    """SELECT d.vid, coalesce(b.state, ?), ? FROM doomed d
                    LEFT JOIN barrier b ON b.vid = d.vid ORDER BY d.vid""",
                    (State.SUPERSEDED, State.ERASED),
                ),
            )
            self._journal.book(seq, buried(self._db, case, root=False))
            remove_content(self._db, "doomed")
            run(
                """INSERT INTO barrier(vid, state, cause) SELECT vid, ?, ? FROM doomed WHERE true ORDER BY vid
                ON CONFLICT(vid) DO UPDATE SET state = excluded.state, cause = excluded.cause""",
                (State.ERASED, case),
            )
            run(
                "UPDATE cases SET status = ?, erasure = ? WHERE cause = ?",
                (CaseStatus.CLOSED, Erasure.PENDING, case),
            )
            self._cases.settle()
        run("DELETE FROM doomed")

    def _digests(self) -> Iterator[tuple[bytes, int]]:
        last = 0
        while rows := self._db.rows(_TEXTS, (last, _BATCH)):
            yield from ((self._secret.tombstone(scope, text), aid) for _, scope, text, aid in rows)
            last = rows[-1][0]

    def pending(self) -> list[int]:
        """Cases whose content may still be in the files."""
        found = self._db.rows("SELECT cause FROM cases WHERE erasure = ? ORDER BY cause", (Erasure.PENDING,))
        return [cause for (cause,) in found]

    def purge(self, *, wait: float) -> list[int]:
        """Remove from the files what was erased from the rows; the cases whose erasure is done by it.

        Outside of any transaction. None are done while a reader holds an older snapshot, still after `wait`
        seconds.
        """
        cases = self.pending()
        if not cases:
            return []
        if not compact(self._db, wait=wait):
            return []
        with self._db.writing(full=True):
            self._db.many(
                "UPDATE cases SET erasure = ? WHERE cause = ?", ((Erasure.DONE, case) for case in cases)
            )
        return cases

    def receipt(self, case: int) -> Receipt | None:
        """What the case has erased; None where it has erased nothing yet."""
        declared = self._cases.get(case)
        row = self._db.row(
            "SELECT seq, at, actor, reason, seal FROM journal WHERE cause = ? AND act = 'erase'", (case,)
        )
        if row is None or declared.erasure is None:
            return None
        seq, at, actor, reason, seal = row
        versions = self._db.rows(
            """SELECT s.name, a.id, v.no, v.digest FROM journal_row r JOIN version v ON v.vid = r.vid
            JOIN artifact a ON a.aid = v.aid JOIN scope s ON s.sid = a.sid WHERE r.seq = ?
            ORDER BY s.name, a.id, v.no""",
            (seq,),
        )
        return Receipt(
            case=case,
            status=declared.erasure,
            erased_at=at,
            actor=actor,
            reason=reason,
            versions=tuple(
                ErasedVersion(key=key_of(name, id), version=no, digest=digest.hex())
                for name, id, no, digest in versions
            ),
            entry=seq,
            seal=seal.hex(),
        )


def remove_content(db: Connection, listed: str) -> None:
    """Delete everything that the versions of a temporary table have said; ids, arcs and digests stay."""
    current = db.rows(
        f"""SELECT d.vid FROM {listed} d JOIN version v ON v.vid = d.vid
        JOIN artifact a ON a.aid = v.aid AND a.cur = d.vid ORDER BY d.vid"""  # noqa: S608  literals
    )
    index.remove(db, (vid for (vid,) in current))
    for table in TABLES:
        db.run(f"DELETE FROM {table} WHERE vid IN (SELECT vid FROM {listed})")  # noqa: S608  literals
