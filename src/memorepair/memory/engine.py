"""Engine reads: what repair may see of what is not served.

Nothing here serves anybody. Each statement that touches content says why it may.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from memorepair.errors import InvalidInput, UnknownId, Withdrawn
from memorepair.graphs.terms import Arch, Kind, Relation
from memorepair.memory.artifact import Artifact, CaseStatus, Draft, Key, Read, Recipe, State
from memorepair.memory.barrier import SERVED
from memorepair.memory.codec import ARTIFACT, artifact_of, key_of, recipe_of
from memorepair.memory.connection import Connection
from memorepair.memory.exchange import Member, Spared, SupportArc
from memorepair.memory.journal import Journal
from memorepair.memory.keys import find, numbers, place
from memorepair.memory.usage import Usage

# Calling an enumeration costs as much as the rest of a row.
_KINDS, _ARCHS, _STATES, _RELATIONS = (
    {one.value: one for one in Kind},
    {one.value: one for one in Arch},
    {one.value: one for one in State},
    {one.value: one for one in Relation},
)

_MEMBERS = """SELECT s.name, a.id, v.no, v.kind, v.arch, coalesce(b.state, iif(a.cur = v.vid, 0, 3)),
    v.digest,
    t.vid IS NOT NULL, v.born, coalesce(u.reads, 0), u.last,
    (SELECT count(DISTINCT dst) FROM arc WHERE src = a.aid), v.size, a.aid
    FROM journal j CROSS JOIN journal_row r ON r.seq = j.seq
    LEFT JOIN case_root t ON t.cause = j.cause AND t.vid = r.vid
    CROSS JOIN version v ON v.vid = r.vid CROSS JOIN artifact a ON a.aid = v.aid JOIN scope s ON s.sid = a.sid
    LEFT JOIN barrier b ON b.vid = v.vid LEFT JOIN usage u ON u.aid = a.aid
    WHERE j.cause = ? AND j.act = 'withdraw' AND (r.after = ? OR t.vid IS NOT NULL) ORDER BY v.vid"""

# Beside `_MEMBERS`, column by column; what is spared is no root.
_SPARED = """SELECT s.name, a.id, v.no, v.kind, v.arch, coalesce(b.state, iif(a.cur = v.vid, 0, 3)),
    v.digest, 0, v.born, coalesce(u.reads, 0), u.last,
    (SELECT count(DISTINCT dst) FROM arc WHERE src = a.aid), v.size, a.aid, v.vid
    FROM spared p CROSS JOIN version v ON v.vid = p.vid CROSS JOIN artifact a ON a.aid = v.aid
    JOIN scope s ON s.sid = a.sid LEFT JOIN barrier b ON b.vid = v.vid LEFT JOIN usage u ON u.aid = a.aid
    WHERE p.cause = ? ORDER BY v.vid"""

# A spared version may be a former one by now; its arcs lie with the former ones then.
_KEPT_BY = """SELECT p.vid, s.name, a.id, arc.pos FROM spared p CROSS JOIN version v ON v.vid = p.vid
    CROSS JOIN artifact d ON d.aid = v.aid AND d.cur = v.vid
    CROSS JOIN arc ON arc.dst = d.aid AND arc.grp = p.grp AND arc.rel <> ?2
    CROSS JOIN artifact a ON a.aid = arc.src JOIN scope s ON s.sid = a.sid WHERE p.cause = ?1
    UNION SELECT p.vid, s.name, a.id, o.pos FROM spared p
    CROSS JOIN arc_old o ON o.dst_vid = p.vid AND o.grp = p.grp AND o.rel <> ?2
    CROSS JOIN version w ON w.vid = o.src_vid CROSS JOIN artifact a ON a.aid = w.aid
    JOIN scope s ON s.sid = a.sid WHERE p.cause = ?1 ORDER BY 1, 4"""

# Three short statements instead of a join: most parents are read by several children.
_ARCS = """SELECT j.key, arc.pos, arc.src, arc.src_vid, arc.rel, arc.grp
    FROM json_each(?) j CROSS JOIN arc ON arc.dst = j.value"""
_PARENTS = """SELECT a.aid, s.name, a.id, coalesce(b.state, 0), v.vid, v.no, v.digest, v.size
    FROM json_each(?) j CROSS JOIN artifact a ON a.aid = j.value JOIN scope s ON s.sid = a.sid
    JOIN version v ON v.vid = a.cur LEFT JOIN barrier b ON b.vid = a.cur"""
_READ = "SELECT v.vid, v.no, v.digest FROM json_each(?) j CROSS JOIN version v ON v.vid = j.value"

# A person reviews: journalled by the caller. A version without content has been erased.
_INSPECT = f"""SELECT coalesce(b.state, iif(v.vid = a.cur, 0, 3)), b.cause, v.vid, {ARTIFACT} FROM artifact a
    JOIN scope s ON s.sid = a.sid JOIN version v ON v.aid = a.aid LEFT JOIN barrier b ON b.vid = v.vid
    LEFT JOIN content c ON c.vid = v.vid LEFT JOIN vector x ON x.vid = v.vid AND x.given = 1
    LEFT JOIN space p ON p.space = x.space LEFT JOIN usage u ON u.aid = a.aid
    WHERE a.aid = ? AND v.no = ?"""  # noqa: S608  literals


_SERVED_WITH_RECIPES = f"""SELECT r.body, {ARTIFACT} FROM {SERVED} LEFT JOIN recipe r ON r.vid = a.cur
    WHERE b.vid IS NULL ORDER BY v.vid"""  # noqa: S608  literals


def members(db: Connection, usage: Usage, case: int) -> list[Member]:
    """The cascade of a case as it was withdrawn, roots included, in order of birth."""
    if not db.row("SELECT 1 FROM cases WHERE cause = ?", (case,)):
        raise UnknownId(f"there is no case {case}", witness=case)
    return [_member(row, usage) for row in db.rows(_MEMBERS, (case, State.WITHDRAWN))]


def spared(db: Connection, usage: Usage, case: int) -> list[Spared]:
    """What evidence kept in service at the withdrawal of a case, in order of birth."""
    by: defaultdict[int, dict[Key, None]] = defaultdict(dict)
    for vid, name, id, _ in db.rows(_KEPT_BY, (case, Relation.SUPERSEDE)):
        by[vid][key_of(name, id)] = None
    return [
        Spared(member=_member(row[:-1], usage), by=tuple(by[row[-1]])) for row in db.rows(_SPARED, (case,))
    ]


def spared_by(db: Connection, key: Key) -> list[int]:
    """Cases, not undone, that spared the current version of a key; the newest first."""
    rows = db.rows(
        """SELECT p.cause FROM spared p JOIN cases c ON c.cause = p.cause AND c.status <> ?
        WHERE p.vid = ? ORDER BY p.cause DESC""",
        (CaseStatus.UNDONE.value, place(db, key).vid),
    )
    return [cause for (cause,) in rows]


def _member(row: tuple[Any, ...], usage: Usage) -> Member:
    name, id, no, kind, arch, state, digest, root, born, uses, last, dependents, size, aid = row
    more, later = usage.pending(aid)
    return Member(
        key=key_of(name, id),
        version=no,
        kind=_KINDS[kind],
        arch=_ARCHS[arch],
        state=_STATES[state],
        digest=digest.hex(),
        root=bool(root),
        updated_at=born,
        uses=uses + more,
        last_accessed_at=later or last,
        dependents=dependents,
        size=size,
    )


def support(db: Connection, keys: Sequence[Key]) -> list[SupportArc]:
    """Live arcs into the keys, by child, in the order they were read."""
    children = list(dict.fromkeys(keys))
    aids = [aid for aid, _ in numbers(db, children)]
    arcs = db.rows(_ARCS, (json.dumps(aids),))
    arcs.sort()
    known = dict(zip(aids, children, strict=True))  # one object a key: it is made and compared once
    parents: dict[int, tuple[Key, State, int, str, int]] = {}
    versions: dict[int, tuple[int, str]] = {}
    sources = json.dumps(sorted({arc[2] for arc in arcs}))
    for aid, name, id, state, vid, no, digest, size in db.rows(_PARENTS, (sources,)):
        versions[vid] = no, digest.hex()
        parents[aid] = known.get(aid) or key_of(name, id), _STATES[state], *versions[vid], size
    former = json.dumps(sorted({arc[3] for arc in arcs} - versions.keys()))
    versions |= {vid: (no, digest.hex()) for vid, no, digest in db.rows(_READ, (former,))}
    found = []
    for child, _, src, src_vid, rel, grp in arcs:
        parent, state, no, digest, size = parents[src]
        read, read_digest = versions[src_vid]
        found.append(
            SupportArc(
                children[child],
                parent,
                _RELATIONS[rel],
                grp,
                read,
                read_digest,
                state,
                no,
                digest,
                state is State.ACTIVE,
                size,
            )
        )
    return found


def recipes(db: Connection, keys: Sequence[Key]) -> dict[Key, Recipe]:
    """How the current version of each key was made; a recipe is never served."""
    by_vid = {vid: key for (_, vid), key in zip(numbers(db, keys), keys, strict=True)}
    bodies: dict[int, str] = dict(
        db.rows(
            "SELECT r.vid, r.body FROM json_each(?) j CROSS JOIN recipe r ON r.vid = j.value",
            (json.dumps(list(by_vid)),),
        )
    )
    return {key: recipe_of(bodies.get(vid)) for vid, key in by_vid.items()}


def served_with_recipes(db: Connection) -> list[tuple[Artifact, Recipe]]:
    """Every served artifact in order of birth, with how it was made: for the audit, which reads no other."""
    return [
        (artifact_of(tuple(columns), State.ACTIVE), recipe_of(body))
        for body, *columns in db.rows(_SERVED_WITH_RECIPES)
    ]


def before_image(db: Connection, journal: Journal, key: Key) -> str:
    """Content of the current version, withdrawn or not: for the operator that may read its own; journalled.

    Raises
    ------
    UnknownId, Withdrawn
        There is no such artifact, or its content has been erased.
    """
    there = place(db, key)
    with journal.entry("own_version") as seq:
        journal.add(seq, [(there.vid, there.state, there.state)])
    return _text(db, key, there.vid, there.state)


def former(db: Connection, versions: Sequence[tuple[Key, int]]) -> dict[Key, Artifact]:
    """Versions whatever their state: what a successor inherits from, and what its text is compared with.

    One version a key; those that do not exist or have been erased are left out. No journal entry: a repair
    asks for the versions that its case withdrew, and for no others. The case's ``withdraw`` entry names each
    of them, the ``repair`` entry says when they were looked at and by which plan; an entry a member would
    add nothing but length.
    """
    places = find(db, [key for key, _ in versions])
    found: dict[Key, Artifact] = {}
    for key, no in versions:
        row = db.row(_INSPECT, (places[key].aid, no)) if key in places else None
        if row is not None and row[6] is not None:
            found[key] = artifact_of(tuple(row[3:]), State(row[0]))
    return found


_FORMER_READS = """SELECT s.name, a.id, w.no, o.rel, o.grp FROM version v
    CROSS JOIN arc_old o ON o.dst_vid = v.vid
    JOIN version w ON w.vid = o.src_vid JOIN artifact a ON a.aid = w.aid JOIN scope s ON s.sid = a.sid
    WHERE v.aid = ? AND v.no = ? ORDER BY o.pos, o.src_vid, o.rel, o.grp"""

_FORMER_RECIPE = "SELECT r.body FROM recipe r JOIN version v ON v.vid = r.vid WHERE v.aid = ? AND v.no = ?"


def drafts(db: Connection, versions: Sequence[tuple[Key, int]]) -> dict[Key, Draft]:
    """Former versions as drafts that would bring them back, with what they were made from.

    Only of what an ordinary update superseded, which `history` shows to anybody; others are left out.
    """
    places = find(db, [key for key, _ in versions])
    found: dict[Key, Draft] = {}
    for key, there in former(db, versions).items():
        if there.state is not State.SUPERSEDED or _barred(db, places[key].aid, there.version):
            continue
        at = (places[key].aid, there.version)
        recipe = db.row(_FORMER_RECIPE, at)
        found[key] = Draft(
            key=key,
            content=there.content,
            kind=there.kind,
            arch=there.arch,
            source=there.source,
            type=there.type,
            slot=there.slot,
            confidence=there.confidence,
            metadata=there.metadata,
            embedding=there.embedding,
            recipe=recipe_of(None if recipe is None else recipe[0]),
            reads=tuple(
                Read(key=key_of(name, id), version=no, relation=Relation(rel), group=grp)
                for name, id, no, rel, grp in db.rows(_FORMER_READS, at)
            ),
        )
    return found


def _barred(db: Connection, aid: int, no: int) -> bool:
    row = "SELECT 1 FROM version v JOIN barrier b ON b.vid = v.vid WHERE v.aid = ? AND v.no = ?"
    return db.row(row, (aid, no)) is not None


def staged_content(db: Connection, key: Key, version: int) -> str:
    """Content of a staged or rejected successor: for validation.

    Raises
    ------
    UnknownId
        There is no such version in quarantine.
    """
    row = db.row(
        "SELECT v.vid FROM version v JOIN barrier b ON b.vid = v.vid WHERE v.aid = ? AND v.no = ? "
        "AND b.state = ?",
        (place(db, key).aid, version, State.QUARANTINED),
    )
    if row is None:
        raise UnknownId(f"version {version} of {key} is not in quarantine", witness=(key, version))
    return _text(db, key, row[0], State.QUARANTINED)


def _text(db: Connection, key: Key, vid: int, state: State) -> str:
    row = db.row("SELECT text FROM content WHERE vid = ?", (vid,))
    if row is None:
        raise Withdrawn(key, None, state.name.lower())
    text: str = row[0]
    return text


def inspect(
    db: Connection, journal: Journal, key: Key, *, actor: str, reason: str, version: int | None
) -> Artifact:
    """Any version that still has content, for a person who reviews; journalled.

    Raises
    ------
    UnknownId, Withdrawn
        There is no such version, or its content has been erased.
    InvalidInput
        The version is no number.
    """
    there = place(db, key)
    if isinstance(version, bool) or not isinstance(version, int | None):
        raise InvalidInput("a version is a whole number", witness=version)
    no = there.no if version is None else version
    row = db.row(_INSPECT, (there.aid, no))
    if row is None:
        raise UnknownId(f"there is no version {no} of {key}", witness=(key, no))
    state, cause, vid, *columns = row
    if columns[3] is None:
        raise Withdrawn(key, cause, State(state).name.lower())
    with journal.entry("inspect", actor=actor, reason=reason) as seq:
        journal.add(seq, [(vid, state, state)])
    return artifact_of(tuple(columns), State(state))
