"""Snapshot: a frozen picture of the whole store, without content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from memorepair.graphs.terms import PROPAGATING, Arch, Kind, Relation
from memorepair.memory.artifact import Key, State
from memorepair.memory.codec import key_of
from memorepair.memory.connection import Connection
from memorepair.memory.exchange import SuspectedArc


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionView:
    """A version without its content.

    `validated` holds where verdicts were recorded at its publication and each of them is pass or warn;
    `validated_at` is the number of the journal entry with the newest of them, 0 where there is none. `words`
    is a keyed digest of what the text says, whatever its case, width and white space.
    """

    key: Key
    version: int
    kind: Kind
    arch: Arch
    state: State
    case: int | None
    digest: str
    validated: bool
    words: str
    created_at: int
    validated_at: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ArcView:
    """An influence arc that a cascade follows: `child` at `child_version` read `parent` at `read_version`."""

    child: Key
    child_version: int
    parent: Key
    read_version: int
    relation: Relation
    group: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The store at one instant.

    Attributes
    ----------
    epoch
        Number of the newest journal entry.
    current
        The current version of each key.
    versions
        Every version of every key, by (key, number).
    arcs
        Into current versions.
    former_arcs
        Into versions that were current once: what still rests on a former version is reached through them.
    semantic
        (key, similar key) of current versions; they serve retrieval only.
    suspected
        Accepted suspicions; they are none of the arcs, and only events that ask for it follow them.
    """

    epoch: int
    current: Mapping[Key, VersionView]
    versions: Mapping[tuple[Key, int], VersionView]
    arcs: tuple[ArcView, ...]
    former_arcs: tuple[ArcView, ...]
    semantic: tuple[tuple[Key, Key], ...]
    suspected: tuple[SuspectedArc, ...] = ()


_VERSIONS = """SELECT v.vid, s.name, a.id, v.no, v.kind, v.arch, coalesce(b.state, iif(a.cur = v.vid, 0, 3)),
    b.cause,
    v.digest, v.words, v.born, a.cur = v.vid,
    EXISTS(SELECT 1 FROM verdict w WHERE w.vid = v.vid)
    AND NOT EXISTS(SELECT 1 FROM verdict w WHERE w.vid = v.vid AND w.word NOT IN ('pass', 'warn')),
    (SELECT coalesce(max(w.seq), 0) FROM verdict w WHERE w.vid = v.vid)
    FROM version v JOIN artifact a ON a.aid = v.aid JOIN scope s ON s.sid = a.sid
    LEFT JOIN barrier b ON b.vid = v.vid ORDER BY v.vid"""
_ARCS = "SELECT a.cur, arc.src_vid, rel, grp FROM arc JOIN artifact a ON a.aid = arc.dst"
_FORMER = "SELECT dst_vid, src_vid, rel, grp FROM arc_old"
_SEMANTIC = """SELECT a.cur, o.cur FROM semantic m JOIN artifact a ON a.cur = m.dst_vid
    JOIN artifact o ON o.aid = m.src"""


def take(db: Connection, suspected: Sequence[SuspectedArc] = ()) -> Snapshot:
    """Read the picture; the caller holds one transaction. O(versions + arcs)."""
    views: dict[int, VersionView] = {}
    current: dict[Key, VersionView] = {}
    rows = db.rows(_VERSIONS)
    for vid, name, id, no, kind, arch, state, cause, digest, words, born, is_current, validated, at in rows:
        view = VersionView(
            key=key_of(name, id),
            version=no,
            kind=Kind(kind),
            arch=Arch(arch),
            state=State(state),
            case=cause,
            digest=digest.hex(),
            words=words.hex(),
            validated=bool(validated),
            created_at=born,
            validated_at=at,
        )
        views[vid] = view
        if is_current:
            current[view.key] = view
    return Snapshot(
        epoch=db.number("SELECT coalesce(max(seq), 0) FROM journal"),
        current=MappingProxyType(current),
        versions=MappingProxyType({(view.key, view.version): view for view in views.values()}),
        arcs=_arcs(db, _ARCS, views),
        former_arcs=_arcs(db, _FORMER, views),
        suspected=tuple(suspected),
        semantic=tuple((views[dst].key, views[src].key) for dst, src in db.rows(_SEMANTIC)),
    )


def _arcs(db: Connection, statement: str, views: Mapping[int, VersionView]) -> tuple[ArcView, ...]:
    return tuple(
        ArcView(
            child=views[dst].key,
            child_version=views[dst].version,
            parent=views[src].key,
            read_version=views[src].version,
            relation=Relation(rel),
            group=grp,
        )
        for dst, src, rel, grp in db.rows(statement)
        if rel in PROPAGATING
    )
