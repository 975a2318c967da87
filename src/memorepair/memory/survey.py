"""Survey: the current versions of a store as columns, with content only of what is served.

A check-up looks for rows that no write of this code would make: what stands in a column is taken as it is,
and what is no whole number is `BROKEN`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memorepair.graphs.digraph import read_only
from memorepair.memory.barrier import NEAR, SERVED
from memorepair.memory.connection import Connection, Row
from memorepair.memory.vectors import STORED, Space

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

BROKEN = -1
"""Stands for a value that is no whole number from 0, or for none."""

_BATCH = 8_192


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Survey:
    """n artifacts in the order they were made; every column has n entries unless it says otherwise.

    Attributes
    ----------
    epoch
        Number of the newest journal entry; `newest` is the newest version (vid) of the store.
    scopes, ids
        Names of scopes as stored, and the ids; `scope` (n,) is a place in `scopes`.
    aid, vid, version, kind, arch, state, case, born, updated, accessed, reads, size : (n,) int64
        As stored. `state` is 0 where no barrier stands; `case` is the one whose barrier stands; times are
        nanoseconds.
    texts, metas
        Content, and the JSON that describes it; None of what is not served, `metas` also where all is
        default.
    arcs : (m, 5) int64
        Into these versions: aid of the source, aid of the target, relation, whether the version that was read
        is the source's, whether the target is there.
    semantic : (s, 2) int64
        Version, aid of what it is like.
    vectors : (v, 4) int64
        aid, whether it was given, number of its space, bytes; of served versions. `norms` (v,) float64 are
        their lengths, NaN where a number is not finite.
    spaces
        Number -> space, as stored.
    barrier : (b, 3) int64
        Version, state, case; of former versions too where the whole store is read. `staged` (t, 2) int64 are
        version and case.
    cases
        Number -> status.
    """

    epoch: int
    newest: int
    scopes: tuple[str, ...]
    ids: tuple[str, ...]
    scope: Ints
    aid: Ints
    vid: Ints
    version: Ints
    kind: Ints
    arch: Ints
    state: Ints
    case: Ints
    born: Ints
    updated: Ints
    accessed: Ints
    reads: Ints
    size: Ints
    texts: tuple[str | None, ...]
    metas: tuple[str | None, ...]
    arcs: Ints
    semantic: Ints
    vectors: Ints
    norms: Floats
    spaces: dict[int, Space]
    barrier: Ints
    staged: Ints
    cases: dict[int, str]

    def __post_init__(self) -> None:
        for name in (*_COLUMNS, "scope", "arcs", "semantic", "vectors", "norms", "barrier", "staged"):
            read_only(getattr(self, name))


_COLUMNS = (
    "aid",
    "vid",
    "version",
    "kind",
    "arch",
    "state",
    "case",
    "born",
    "updated",
    "accessed",
    "reads",
    "size",
)
_ROWS = f"""SELECT s.sid, a.id, c.text, c.meta, a.aid, v.vid, v.no, v.kind, v.arch, coalesce(b.state, 0),
    b.cause, a.born, v.born, u.last, u.reads, v.size FROM json_each(?) j CROSS JOIN {SERVED}
    WHERE a.aid = j.value ORDER BY a.aid"""  # noqa: S608  literals
_VECTORS = f"""SELECT a.aid, x.given, x.space, x.v FROM json_each(?) j CROSS JOIN {NEAR}
    WHERE a.aid = j.value"""  # noqa: S608  literals
_ARCS = """SELECT arc.src, arc.dst, arc.rel, o.aid IS arc.src, a.aid IS NOT NULL FROM arc
    LEFT JOIN version o ON o.vid = arc.src_vid LEFT JOIN artifact a ON a.aid = arc.dst"""
_ARCS_INTO = f"{_ARCS} WHERE arc.dst IN (SELECT value FROM json_each(?))"  # noqa: S608  literals
_SEMANTIC = "SELECT m.dst_vid, m.src FROM semantic m"
_SEMANTIC_OF = """SELECT m.dst_vid, m.src FROM json_each(?) j CROSS JOIN artifact a ON a.aid = j.value
    CROSS JOIN semantic m ON m.dst_vid = a.cur"""
_BARRIER = "SELECT vid, state, cause FROM barrier"
_BARRIER_OF = """SELECT b.vid, b.state, b.cause FROM json_each(?) j CROSS JOIN artifact a ON a.aid = j.value
    CROSS JOIN barrier b ON b.vid = a.cur"""


def survey(db: Connection, *, newer_than: int = 0, among: Sequence[int] | None = None) -> Survey:
    """Read the columns; the caller holds one transaction. O(what is read), and a scan of the keys.

    Parameters
    ----------
    newer_than
        Only artifacts whose current version is newer than this one (vid).
    among
        Only these artifacts (aid).
    """
    whole = newer_than <= 0 and among is None
    if among is None:
        aids = [
            aid for (aid,) in db.rows("SELECT aid FROM artifact WHERE cur > ? ORDER BY aid", (newer_than,))
        ]
    else:
        aids = sorted(set(among))
    # Names by number: what a scope is called in Unicode need not be decoded a million times.
    names: dict[int, str] = dict(db.rows("SELECT sid, name FROM scope"))
    place = {sid: number for number, sid in enumerate(names)}
    scope: list[int] = []
    ids: list[str] = []
    texts: list[str | None] = []
    metas: list[str | None] = []
    parts: list[Ints] = []
    for rows in _read(db, _ROWS, aids):
        scope += [place[sid] for sid, *_ in rows]
        ids += [id for _, id, *_ in rows]
        texts += [text for _, _, text, *_ in rows]
        metas += [meta for _, _, _, meta, *_ in rows]
        parts.append(_table((row[4:] for row in rows), len(_COLUMNS)))
    table = np.concatenate([*parts, np.zeros((0, len(_COLUMNS)), np.int64)])
    vectors, norms = _vectors(db, aids)
    return Survey(
        epoch=db.number("SELECT coalesce(max(seq), 0) FROM journal"),
        newest=db.number("SELECT coalesce(max(vid), 0) FROM version"),
        scopes=tuple(names.values()),
        ids=tuple(ids),
        scope=np.array(scope, np.int64),
        texts=tuple(texts),
        metas=tuple(metas),
        arcs=_table(db.rows(_ARCS) if whole else db.rows(_ARCS_INTO, (json.dumps(aids),)), 5),
        semantic=_table(db.rows(_SEMANTIC) if whole else db.rows(_SEMANTIC_OF, (json.dumps(aids),)), 2),
        vectors=vectors,
        norms=norms,
        spaces={
            number: Space(model, revision, dimension, bool(normalised))
            for number, model, revision, dimension, normalised in db.rows(
                "SELECT space, model, revision, dimension, normalised FROM space"
            )
        },
        barrier=_table(db.rows(_BARRIER) if whole else db.rows(_BARRIER_OF, (json.dumps(aids),)), 3),
        staged=_table(db.rows("SELECT vid, cause FROM staged"), 2),
        cases=dict(db.rows("SELECT cause, status FROM cases")),
        **{name: np.ascontiguousarray(table[:, column]) for column, name in enumerate(_COLUMNS)},
    )


def _read(db: Connection, statement: str, aids: list[int]) -> Iterator[list[Row]]:
    for start in range(0, len(aids), _BATCH):
        yield db.rows(statement, (json.dumps(aids[start : start + _BATCH]),))


def _table(rows: Iterable[Row], width: int) -> Ints:
    flat = [value if isinstance(value, int) and value >= 0 else BROKEN for row in rows for value in row]
    return np.array(flat, np.int64).reshape(-1, width)


def _vectors(db: Connection, aids: list[int]) -> tuple[Ints, Floats]:
    """Of each vector its place and its length: the numbers themselves are not kept."""
    parts: list[Ints] = []
    norms: list[Floats] = []
    for rows in _read(db, _VECTORS, aids):
        parts.append(_table(((aid, given, space, len(v)) for aid, given, space, v in rows), 4))
        norms.append(np.array([_norm(v) for *_, v in rows], np.float64))
    return np.concatenate([*parts, np.zeros((0, 4), np.int64)]), np.concatenate([*norms, np.zeros(0)])


def _norm(blob: bytes) -> float:
    if len(blob) % STORED.itemsize:
        return float("nan")
    vector = np.frombuffer(blob, STORED).astype(np.float64)
    norm = float(np.sqrt(vector @ vector))
    return norm if np.isfinite(norm) else float("nan")
