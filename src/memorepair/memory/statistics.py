"""Statistics: how much there is of everything, without content."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import CaseStatus, Scope, State
from memorepair.memory.catalogue import counts
from memorepair.memory.codec import key_of
from memorepair.memory.connection import Connection
from memorepair.memory.vectors import Space


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """A store in figures.

    Attributes
    ----------
    artifacts
        By the state and kind of their current version.
    scopes
        Artifacts by scope.
    versions, content, vectors
        How many there are; of content and vectors barred ones too.
    spaces
        Vectors by space.
    arcs, former_arcs
        Influence arcs into current versions, and into former ones.
    cases
        By status.
    entries
        Of the journal.
    file_bytes, log_bytes
        Of the database, and of its write-ahead log.
    text_characters
        Of all contents, as they were written.
    index_bytes, vector_bytes
        Of the full-text index and of the vectors, pages not counted.
    """

    artifacts: Mapping[tuple[State, Kind], int]
    scopes: Mapping[Scope, int]
    versions: int
    content: int
    vectors: int
    spaces: Mapping[Space, int]
    arcs: int
    former_arcs: int
    cases: Mapping[CaseStatus, int]
    entries: int
    file_bytes: int
    log_bytes: int
    text_characters: int
    index_bytes: int
    vector_bytes: int


# Lengths and numbers only; no statement here gives a text or a vector.
_SCOPES = (
    "SELECT s.name, count(*) FROM artifact a JOIN scope s ON s.sid = a.sid GROUP BY s.sid ORDER BY s.name"
)
_SPACES = """SELECT p.model, p.revision, p.dimension, p.normalised, count(*) FROM vector x
    JOIN space p ON p.space = x.space GROUP BY p.space ORDER BY p.space"""
_TEXT = "SELECT coalesce(sum(v.size), 0) FROM version v JOIN content c ON c.vid = v.vid"


def take(db: Connection) -> Statistics:
    """The figures; the caller holds one transaction. O(store)."""
    number = db.number
    log = db.path.with_name(db.path.name + "-wal")
    spaces = db.rows(_SPACES)
    return Statistics(
        artifacts=MappingProxyType(counts(db)),
        scopes=MappingProxyType({key_of(name, "any").scope: n for name, n in db.rows(_SCOPES)}),
        versions=number("SELECT count(*) FROM version"),
        content=number("SELECT count(*) FROM content"),
        vectors=number("SELECT count(*) FROM vector"),
        spaces=MappingProxyType(
            {Space(model, revision, size, bool(unit)): n for model, revision, size, unit, n in spaces}
        ),
        arcs=number("SELECT count(*) FROM arc"),
        former_arcs=number("SELECT count(*) FROM arc_old"),
        cases=MappingProxyType(
            {CaseStatus(one): n for one, n in db.rows("SELECT status, count(*) FROM cases GROUP BY status")}
        ),
        entries=number("SELECT count(*) FROM journal"),
        file_bytes=number("PRAGMA page_count") * number("PRAGMA page_size"),
        log_bytes=log.stat().st_size if log.exists() else 0,
        text_characters=number(_TEXT),
        index_bytes=number("SELECT coalesce(sum(length(block)), 0) FROM fts_data"),
        vector_bytes=number("SELECT coalesce(sum(length(v)), 0) FROM vector"),
    )
