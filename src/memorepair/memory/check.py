"""Check: whether the file still is what the store has written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from memorepair.memory.artifact import State
from memorepair.memory.connection import Connection
from memorepair.memory.exchange import Fault
from memorepair.memory.journal import Journal
from memorepair.memory.secret import UNKNOWN, Secret

# The barrier is the journal's sum: each version's last row says whether a barrier stands and in which state.
# Served (0) has none; superseded (3) straight from served (0) was an ordinary update and has none either, nor
# has what an undo brings back from the archive (4) to what an ordinary update made of it.
_BARRIER = """WITH last AS (
        SELECT vid, before, after, max(seq) AS seq FROM journal_row WHERE before IS NOT after GROUP BY vid)
    SELECT v.vid, b.state, iif(l.after = ?1 OR (l.after = ?2 AND l.before = ?1)
        OR (l.after = ?2 AND l.before = ?3 AND (SELECT act FROM journal j WHERE j.seq = l.seq) = 'undo'),
        NULL, l.after) AS due
    FROM version v LEFT JOIN last l ON l.vid = v.vid LEFT JOIN barrier b ON b.vid = v.vid
    WHERE l.vid IS NULL OR b.state IS NOT due
    UNION ALL SELECT b.vid, b.state, NULL FROM barrier b
    LEFT JOIN version v ON v.vid = b.vid WHERE v.vid IS NULL"""
_COUNTED = (
    (
        "dangling_arc",
        "arcs that begin or end nowhere",
        """SELECT count(*) FROM arc
        LEFT JOIN artifact a ON a.aid = arc.dst LEFT JOIN version v ON v.vid = arc.src_vid
        WHERE a.aid IS NULL OR v.vid IS NULL OR v.aid <> arc.src""",
    ),
    (
        "current_version",
        "artifacts whose current version is missing or not their own",
        "SELECT count(*) FROM artifact a LEFT JOIN version v ON v.vid = a.cur WHERE v.aid IS NOT a.aid",
    ),
    (
        "staged_version",
        "staged successors without a barrier",
        "SELECT count(*) FROM staged t LEFT JOIN barrier b ON b.vid = t.vid WHERE b.state IS NOT 2",
    ),
)


# Content becomes a digest at once. A version without content must have been erased.
_CONTENT = """SELECT v.vid, c.text, v.digest, b.state FROM version v LEFT JOIN content c ON c.vid = v.vid
    LEFT JOIN barrier b ON b.vid = v.vid WHERE v.vid > ? ORDER BY v.vid LIMIT ?"""
_BATCH = 1_000


def check(db: Connection, journal: Journal, secret: Secret) -> list[Fault]:
    """Everything wrong with the file; reads all of it. The caller holds a transaction."""
    faults = [
        Fault(code="file", message=str(row[0]), witness=row[0])
        for row in db.rows("PRAGMA integrity_check")
        if row[0] != "ok"
    ]
    faults += journal.verify()
    faults += _content(db, secret)
    for vid, state, due in db.rows(_BARRIER, (State.ACTIVE, State.SUPERSEDED, State.ARCHIVED)):
        stands = "no barrier" if state is None else State(state).name.lower()
        wanted = "none" if due is None else State(due).name.lower()
        faults.append(
            Fault(code="barrier", message=f"{stands} where the journal wants {wanted}", witness=vid)
        )
    for code, what, statement in _COUNTED:
        if n := db.number(statement):
            faults.append(Fault(code=code, message=f"{n} {what}", witness=n))
    return faults


def _content(db: Connection, secret: Secret) -> Iterator[Fault]:
    last = 0
    while rows := db.rows(_CONTENT, (last, _BATCH)):
        for vid, text, digest, state in rows:
            if text is None and digest == UNKNOWN and state is not None:
                continue  # its place alone was imported
            if (text is None) is not (state == State.ERASED):
                what = "missing" if text is None else "still there although it was erased"
                yield Fault(code="content", message=f"a version's content is {what}", witness=vid)
            elif text is not None and secret.digest(text) != digest:
                yield Fault(
                    code="content", message="a version's content is not what was written", witness=vid
                )
        last = rows[-1][0]


def check_index(db: Connection) -> list[Fault]:
    """Whether the index agrees with the content; inside a transaction that writes nothing in the end."""
    try:
        # Only this form compares with the content; the plain one passes when a wrong text was taken out.
        db.raw.execute("INSERT INTO fts(fts, rank) VALUES('integrity-check', 1)")
    except sqlite3.DatabaseError as error:
        return [Fault(code="index", message=f"the full-text index disagrees: {error}", witness=str(error))]
    return []
