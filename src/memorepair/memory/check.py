"""Check: whether the file still is what the store has written."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterator

from memorepair.memory.artifact import CaseStatus, State
from memorepair.memory.cases import buried, declared
from memorepair.memory.codec import token
from memorepair.memory.connection import Connection, Row
from memorepair.memory.exchange import Fault
from memorepair.memory.journal import Journal
from memorepair.memory.notes import check_notes
from memorepair.memory.secret import UNKNOWN, Secret

# The barrier is the journal's sum: each version's last row says whether a barrier stands, in which state, and
# whose. Served (0) has none; superseded (3) straight from served (0) was an ordinary update and has none
# either, nor has what an undo brings back from the archive (4) to what an ordinary update made of it. It
# belongs to the entry's case; after an undo to whom it belonged before, after a pruning to whom it did.
_LAST = """WITH last AS (
        SELECT r.vid, r.before, r.after, r.owner, max(r.seq) AS seq
        FROM journal_row r JOIN journal j ON j.seq = r.seq
        WHERE r.before IS NOT r.after OR (j.act IN ('replace', 'supersede') AND r.after = ?2)
            OR j.act = 'undo'
            OR (j.act = 'withdraw' AND r.after = ?4 AND EXISTS(
                SELECT 1 FROM case_root t WHERE t.cause = j.cause AND t.vid = r.vid))
        GROUP BY r.vid)"""
_BARRIER = f"""{_LAST}, wanted AS (SELECT l.vid, iif(l.after = ?1 OR (l.after = ?2 AND l.before = ?1)
            OR (l.after = ?2 AND l.before = ?3 AND j.act = 'undo'), NULL, l.after) AS due,
        CASE j.act WHEN 'prune' THEN nullif(l.owner, 0) WHEN 'undo' THEN (
            SELECT iif(r.before IS NULL, j.cause, nullif(r.owner, 0)) FROM journal f CROSS JOIN journal_row r
            ON r.seq = f.seq AND r.vid = l.vid WHERE f.cause = j.cause ORDER BY f.seq LIMIT 1)
        ELSE j.cause END AS owner
        FROM last l JOIN journal j ON j.seq = l.seq)
    SELECT v.vid, b.state, w.due, w.owner FROM version v LEFT JOIN wanted w ON w.vid = v.vid
    LEFT JOIN barrier b ON b.vid = v.vid
    WHERE w.vid IS NULL OR b.state IS NOT w.due OR (w.due NOTNULL AND b.cause IS NOT w.owner)
    UNION ALL SELECT b.vid, b.state, NULL, NULL FROM barrier b
    LEFT JOIN version v ON v.vid = b.vid WHERE v.vid IS NULL"""  # noqa: S608  literals
# What is served or was withdrawn is current in its artifact; what an ordinary update superseded is not.
_CURRENT = f"""{_LAST} SELECT l.vid FROM last l JOIN version v ON v.vid = l.vid
    JOIN artifact a ON a.aid = v.aid
    WHERE iif(l.after IN (?1, ?4), a.cur <> l.vid, l.after = ?2 AND l.before = ?1 AND a.cur = l.vid)"""  # noqa: S608  literals

# What the journal has last of the arcs into each version, against those there are.
_ARCS = """WITH due AS (SELECT vid, arcs, max(seq) FROM journal_row WHERE arcs NOTNULL GROUP BY vid),
    found AS (SELECT vid, arcs_digest(json_group_array(json_array(src_vid, rel, grp, pos))) AS arcs FROM (
        SELECT a.cur AS vid, arc.src_vid, arc.rel, arc.grp, arc.pos
        FROM arc JOIN artifact a ON a.aid = arc.dst
        UNION ALL SELECT dst_vid, src_vid, rel, grp, pos FROM arc_old) GROUP BY vid)
    SELECT v.vid FROM version v LEFT JOIN due d ON d.vid = v.vid LEFT JOIN found f ON f.vid = v.vid
    WHERE coalesce(d.arcs, ?1) IS NOT coalesce(f.arcs, ?1)"""

_JUDGED = "SELECT vid, suspects, max(seq) FROM journal_row WHERE suspects NOTNULL GROUP BY vid"
_SUSPECTED = "SELECT dst_vid, src, src_vid, dst, p, firm, why, accepted, cause FROM suspected"

# A release keeps the arcs it has re-pointed, which the journal had before, until its case is undone.
_IMAGES = """WITH stood AS (SELECT seq, vid, before, after,
        lag(arcs) OVER (PARTITION BY vid ORDER BY seq) AS earlier FROM journal_row WHERE arcs NOTNULL),
    found AS (SELECT seq, dst_vid AS vid,
        arcs_digest(json_group_array(json_array(src_vid, rel, grp, pos))) AS arcs
        FROM arc_image GROUP BY seq, dst_vid)
    SELECT s.vid FROM stood s JOIN journal j ON j.seq = s.seq AND j.act IN ('publish', 'redirect')
    JOIN cases k ON k.cause = j.cause AND k.status <> ?2 LEFT JOIN found f ON f.seq = s.seq AND f.vid = s.vid
    WHERE (j.act = 'redirect' OR s.before = ?3 AND s.after = ?4)
    AND coalesce(s.earlier, ?1) IS NOT coalesce(f.arcs, ?1)
    UNION ALL SELECT f.vid FROM found f LEFT JOIN stood s ON s.seq = f.seq AND s.vid = f.vid
    WHERE s.vid IS NULL"""
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
        "case",
        "cases undone where the journal does not say so, or the other way round",
        """SELECT count(*) FROM cases k WHERE (k.status = 'undone') <>
        EXISTS(SELECT 1 FROM journal j WHERE j.cause = k.cause AND j.act = 'undo')""",
    ),
    (
        "case",
        "cases erased where the journal does not say so, or the other way round",
        """SELECT count(*) FROM cases k WHERE k.status <> 'undone'
        AND (coalesce(k.erasure, '') IN ('pending', 'done')) <>
        EXISTS(SELECT 1 FROM journal j WHERE j.cause = k.cause AND j.act = 'erase')""",
    ),
    (
        "case",
        "rows in the books that belong to no case",
        """SELECT count(*) FROM (SELECT cause FROM journal WHERE cause IS NOT NULL
            UNION SELECT cause FROM case_root UNION SELECT cause FROM spared
            UNION SELECT cause FROM mark UNION SELECT cause FROM tombstone) t
        LEFT JOIN cases k ON k.cause = t.cause WHERE k.cause IS NULL""",
    ),
    (
        "case",
        "marks and tombstones that an undone case, or one that erased nothing, has left",
        """SELECT (SELECT count(*) FROM mark m JOIN cases k ON k.cause = m.cause AND k.status = 'undone')
        + (SELECT count(*) FROM tombstone t JOIN cases k ON k.cause = t.cause WHERE k.status = 'undone'
            OR NOT t.root AND NOT EXISTS(
                SELECT 1 FROM journal j WHERE j.cause = k.cause AND j.act = 'erase'))""",
    ),
    (
        "staged_version",
        "staged successors without a barrier",
        "SELECT count(*) FROM staged t LEFT JOIN barrier b ON b.vid = t.vid WHERE b.state IS NOT 2",
    ),
)


_STATES = (State.ACTIVE, State.SUPERSEDED, State.ARCHIVED, State.WITHDRAWN)

# Content becomes a digest at once. A version without content must have been erased.
_CONTENT = """SELECT v.vid, c.text, v.digest, v.words, b.state, v.made, c.meta, r.body, c.s, a.sid,
    s.name, a.id, p.model, p.revision, p.dimension, p.normalised, lower(hex(x.v)),
    v.aid, v.no, v.born, v.kind, v.arch, v.size
    FROM version v LEFT JOIN artifact a ON a.aid = v.aid LEFT JOIN scope s ON s.sid = a.sid
    LEFT JOIN content c ON c.vid = v.vid LEFT JOIN recipe r ON r.vid = v.vid
    LEFT JOIN vector x ON x.vid = v.vid AND x.given = 1 LEFT JOIN space p ON p.space = x.space
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
    faults += check_content(db, secret)
    faults += _barriers(db)
    faults += _currents(db)
    faults += _arcs(db, secret)
    faults += _suspects(db, secret)
    faults += _books(db, secret)
    faults += check_notes(db, secret)
    for code, what, statement in _COUNTED:
        if n := db.number(statement):
            faults.append(Fault(code=code, message=f"{n} {what}", witness=n))
    return faults


def misplaced(db: Connection) -> list[Row]:
    """Barriers that are not the journal's: (vid, state that stands, state and case that should; or None)."""
    return db.rows(_BARRIER, _STATES)


def _barriers(db: Connection) -> Iterator[Fault]:
    for vid, state, due, _ in misplaced(db):
        what = (
            "of another case than the journal says"
            if state == due
            else f"where the journal wants {_state(due)}"
        )
        yield Fault(code="barrier", message=f"{_state(state)} {what}", witness=vid)


def _state(state: object) -> str:
    if state is None:
        return "no barrier"
    return next((one.name.lower() for one in State if one == state), f"state {state}")


def _currents(db: Connection) -> Iterator[Fault]:
    for (vid,) in db.rows(_CURRENT, _STATES):
        message = "the current version of an artifact is not the one that the journal says"
        yield Fault(code="current_version", message=message, witness=vid)


def _arcs(db: Connection, secret: Secret) -> Iterator[Fault]:
    def digest(arcs: str) -> bytes:
        return secret.arcs(tuple(arc) for arc in json.loads(arcs))

    db.raw.create_function("arcs_digest", 1, digest, deterministic=True)
    nothing = secret.arcs(())
    for (vid,) in db.rows(_ARCS, (nothing,)):
        yield Fault(code="arcs", message="the arcs into a version are not those written", witness=vid)
    for (vid,) in db.rows(_IMAGES, (nothing, CaseStatus.UNDONE, State.WITHDRAWN, State.ACTIVE)):
        yield Fault(code="image", message="arcs kept for an undo are not those there were", witness=vid)


def _suspects(db: Connection, secret: Secret) -> Iterator[Fault]:
    due = {vid: digest for vid, digest, _ in db.rows(_JUDGED)}
    found: defaultdict[int, list[Row]] = defaultdict(list)
    for vid, *arc in db.rows(_SUSPECTED):
        found[vid].append(tuple(arc))
    nothing = secret.suspects(())
    for vid in sorted(due.keys() | found.keys()):
        if due.get(vid, nothing) != secret.suspects(found.get(vid, ())):
            yield Fault(
                code="suspects", message="the suspected arcs into a version are not those judged", witness=vid
            )


def _books(db: Connection, secret: Secret) -> Iterator[Fault]:
    for case, act, also in db.rows(
        """SELECT k.cause, j.act, j.also FROM cases k
        LEFT JOIN journal j ON j.cause = k.cause AND j.act IN ('withdraw', 'erase', 'maintain')
        WHERE k.status <> ? ORDER BY k.cause""",
        (CaseStatus.UNDONE,),
    ):
        said = buried(db, case, root=False) if act == "erase" else declared(db, case)
        if secret.books(said) != also:
            yield Fault(code="case", message=f"the books of case {case} are not those written", witness=case)


def check_content(db: Connection, secret: Secret) -> list[Fault]:
    """Versions whose content, or what describes it, is not what was written; reads all of it."""
    return list(_content(db, secret))


def _content(db: Connection, secret: Secret) -> Iterator[Fault]:
    last = 0
    while rows := db.rows(_CONTENT, (last, _BATCH)):
        for vid, text, digest, words, state, made, meta, recipe, mark, sid, *row in rows:
            if text is None and digest == UNKNOWN and state is not None:
                continue  # its place alone was imported
            if (text is None) is not (state == State.ERASED):
                what = "missing" if text is None else "still there although it was erased"
                yield Fault(code="content", message=f"a version's content is {what}", witness=vid)
            elif text is not None and (secret.digest(text), secret.words(text)) != (digest, words):
                yield Fault(
                    code="content", message="a version's content is not what was written", witness=vid
                )
            elif text is None and recipe is not None:
                yield Fault(code="content", message="an erased version still has its recipe", witness=vid)
            elif text is not None and (
                sid is None or mark != token(sid, text) or secret.made(row, meta, recipe) != made
            ):
                yield Fault(
                    code="version", message="how a version is described or made is altered", witness=vid
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
