"""Export: every version as it may leave, in order of scope, id and number.

Content, description and recipe leave where no barrier stands. What is barred goes as a place alone: id,
number, kind, state, time, arcs; with its content only in a full backup, which a person signs.

What a case had brought leaves with that case: once it is undone, its versions are in a full backup and in
`history` alone, and the export is to the byte what it was before the case. So numbers may have gaps.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from memorepair.graphs.terms import Arch, Kind, Relation
from memorepair.memory.artifact import Artifact, CaseStatus, Draft, Key, Read, Recipe, State
from memorepair.memory.barrier import CARRIED
from memorepair.memory.codec import ARTIFACT, artifact_of, key_of, recipe_of
from memorepair.memory.connection import Connection, Row
from memorepair.memory.exchange import Carried
from memorepair.memory.journal import Journal

_BATCH = 256

_COLUMNS = f"""v.vid, v.vid = a.cur, b.state, q.body, {ARTIFACT}"""
_OPEN = f"""SELECT {_COLUMNS} FROM json_each(?1) j CROSS JOIN {CARRIED}
    WHERE a.aid = j.value AND ?2 = 0 ORDER BY j.key, v.no"""  # noqa: S608  literals

# A person has signed for it: barred content too, but only of versions that the journal entry names.
_SIGNED = f"""SELECT {_COLUMNS} FROM json_each(?1) j CROSS JOIN artifact a ON a.aid = j.value
    JOIN scope s ON s.sid = a.sid JOIN version v ON v.aid = a.aid LEFT JOIN barrier b ON b.vid = v.vid
    LEFT JOIN journal_row r ON r.seq = ?2 AND r.vid = v.vid
    LEFT JOIN content c ON c.vid = v.vid AND (b.vid IS NULL OR r.vid IS NOT NULL)
    LEFT JOIN recipe q ON q.vid = c.vid LEFT JOIN vector x ON x.given = 1 AND x.vid = c.vid
    LEFT JOIN space p ON p.space = x.space LEFT JOIN usage u ON u.aid = a.aid
    ORDER BY j.key, v.no"""  # noqa: S608  literals

_READS = """SELECT r.dst, r.src, s.name, a.id, w.no, r.rel, r.grp FROM (
        SELECT d.cur AS dst, arc.src_vid AS src, arc.rel, arc.grp, arc.pos
        FROM json_each(?1) j CROSS JOIN artifact d ON d.aid = j.value CROSS JOIN arc ON arc.dst = d.aid
        UNION ALL SELECT o.dst_vid, o.src_vid, o.rel, o.grp, o.pos
        FROM json_each(?1) j CROSS JOIN version v ON v.aid = j.value
        CROSS JOIN arc_old o ON o.dst_vid = v.vid) r
    JOIN version w ON w.vid = r.src JOIN artifact a ON a.aid = w.aid JOIN scope s ON s.sid = a.sid
    ORDER BY r.dst, r.pos, r.src, r.rel, r.grp"""
_SEMANTIC = """SELECT m.dst_vid, m.src, s.name, a.id FROM json_each(?1) j
    CROSS JOIN version v ON v.aid = j.value CROSS JOIN semantic m ON m.dst_vid = v.vid
    JOIN artifact a ON a.aid = m.src JOIN scope s ON s.sid = a.sid ORDER BY m.dst_vid, s.name, a.id"""

# An undo gives every barrier back to its former owner: what the case still bars is what it had brought. One
# that is current although its artifact has others stays, for each artifact has its current version.
_TAKEN_BACK = """SELECT b.vid, v.aid, v.vid = a.cur, (SELECT count(*) FROM version w WHERE w.aid = v.aid)
    FROM cases k CROSS JOIN barrier b ON b.cause = k.cause JOIN version v ON v.vid = b.vid
    JOIN artifact a ON a.aid = v.aid WHERE k.status = ?"""


def sign(db: Connection, journal: Journal, *, actor: str, reason: str) -> int:
    """Journal what a full backup lets out: every barred version that has content; the entry's number."""
    with journal.entry("export", actor=actor, reason=reason) as seq:
        journal.add(
            seq,
            db.rows(
                """SELECT b.vid, b.state, b.state FROM barrier b WHERE b.state <> ? ORDER BY b.vid""",
                (State.ERASED,),
            ),
        )
    return seq


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """What there is to export: how much, and the versions, to be read once inside the snapshot."""

    artifacts: int
    versions: int
    items: Iterator[Carried]


def take(db: Connection, signed: int) -> Export:
    """Everything; the caller holds one snapshot until the last version.

    `signed` is the journal entry of a full backup, 0 for what the doors serve.
    """
    versions, artifacts = (frozenset[int](), frozenset[int]()) if signed else _taken_back(db)
    return Export(
        artifacts=db.number("SELECT count(*) FROM artifact") - len(artifacts),
        versions=db.number("SELECT count(*) FROM version") - len(versions),
        items=_versions(db, signed, versions, artifacts),
    )


def _taken_back(db: Connection) -> tuple[frozenset[int], frozenset[int]]:
    """Versions (vid) that undone cases had brought, and artifacts (aid) that have no other."""
    rows = db.rows(_TAKEN_BACK, (CaseStatus.UNDONE,))
    brought = Counter(aid for _, aid, _, _ in rows)
    artifacts = frozenset(aid for _, aid, _, n in rows if brought[aid] == n)
    versions = frozenset(vid for vid, aid, current, _ in rows if aid in artifacts or not current)
    return versions, artifacts


def _versions(
    db: Connection, signed: int, without: frozenset[int], gone: frozenset[int]
) -> Iterator[Carried]:
    aids = [
        aid
        for (aid,) in db.rows(
            "SELECT a.aid FROM artifact a JOIN scope s ON s.sid = a.sid ORDER BY s.name, a.id"
        )
        if aid not in gone
    ]
    for start in range(0, len(aids), _BATCH):
        batch = json.dumps(aids[start : start + _BATCH])
        reads: dict[int, list[Read]] = {}
        for vid, src, name, id, no, rel, grp in db.rows(_READS, (batch,)):
            if src not in without:
                read = Read(key=key_of(name, id), version=no, relation=Relation(rel), group=grp)
                reads.setdefault(vid, []).append(read)
        near: dict[int, list[Key]] = {}
        for vid, src, name, id in db.rows(_SEMANTIC, (batch,)):
            if src not in gone:
                near.setdefault(vid, []).append(key_of(name, id))
        for vid, current, state, body, *columns in db.rows(_SIGNED if signed else _OPEN, (batch, signed)):
            if vid not in without:
                carried = _carried(tuple(columns), bool(current), state, recipe_of(body))
                yield replace(carried, reads=tuple(reads.get(vid, ())), semantic=tuple(near.get(vid, ())))


def _carried(columns: Row, current: bool, state: int | None, recipe: Recipe) -> Carried:
    name, id, no, text, kind, arch, *_, created, _ = columns
    found = (State.ACTIVE if current else State.SUPERSEDED) if state is None else State(state)
    return Carried(
        key=key_of(name, id),
        version=no,
        current=current,
        barred=state is not None,
        state=found,
        kind=Kind(kind),
        arch=Arch(arch),
        created_at=created,
        draft=None if text is None else _draft(artifact_of(columns, found), recipe),
    )


def _draft(one: Artifact, recipe: Recipe) -> Draft:
    return replace(one.draft(), embedding=one.embedding, recipe=recipe)
