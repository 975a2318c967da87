"""Catalogue: what there is, served or not, without content."""

from __future__ import annotations

from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import SERVING, Key, Listing, Scope, State, check_scope
from memorepair.memory.codec import LISTING, STATE, check_limit, listing_of, scope_name
from memorepair.memory.connection import Connection, Value
from memorepair.memory.keys import place

_LISTED = """artifact a JOIN scope s ON s.sid = a.sid JOIN version v ON v.vid = a.cur
    LEFT JOIN barrier b ON b.vid = a.cur LEFT JOIN cases k ON k.cause = b.cause"""
_LISTING = f"SELECT {LISTING} FROM {_LISTED}"  # noqa: S608  literals
# In the order of the two indices, so that a limit reads no further than it must.
_ORDERED = f"""SELECT {LISTING} FROM scope s CROSS JOIN artifact a ON a.sid = s.sid
    JOIN version v ON v.vid = a.cur
    LEFT JOIN barrier b ON b.vid = a.cur LEFT JOIN cases k ON k.cause = b.cause"""  # noqa: S608  literals
# What is barred is few: from the barrier to the artifacts.
_BARRED = f"""SELECT {LISTING} FROM barrier b CROSS JOIN version v ON v.vid = b.vid
    CROSS JOIN artifact a ON a.aid = v.aid AND a.cur = v.vid JOIN scope s ON s.sid = a.sid
    LEFT JOIN cases k ON k.cause = b.cause"""  # noqa: S608  literals
_NOW = "SELECT src FROM arc WHERE dst = ?1"
_FORMERLY = """SELECT p.aid FROM version v JOIN arc_old o ON o.dst_vid = v.vid
    JOIN version p ON p.vid = o.src_vid WHERE v.aid = ?1"""


def listing(
    db: Connection, scope: Scope | None, kind: Kind | None, state: State | None, limit: int | None
) -> list[Listing]:
    """Artifacts in order of scope and id."""
    if scope is not None:
        check_scope(scope)
    wanted: dict[str, Value] = {}
    if scope is not None:
        wanted["s.name = ?"] = scope_name(scope)
    if kind is not None:
        wanted["v.kind = ?"] = kind
    barred = state is not None and state not in SERVING
    if state is not None:
        wanted["b.state = ?" if barred else f"{STATE} = ?"] = state
    where = f" WHERE {' AND '.join(wanted)}" if wanted else ""
    statement = f"{_BARRED if barred else _ORDERED}{where} ORDER BY s.name, a.id LIMIT ?"
    rows = db.rows(statement, (*wanted.values(), check_limit(limit)))
    return [listing_of(row) for row in rows]


def describe(db: Connection, key: Key) -> Listing:
    """One artifact.

    Raises
    ------
    UnknownId
    """
    return listing_of(db.rows(f"{_LISTING} WHERE a.aid = ?", (place(db, key).aid,))[0])


def parents(db: Connection, key: Key, *, former: bool = False) -> list[Listing]:
    """What the current version was made from; with `former`, what any version was made from."""
    return _near(db, f"{_NOW} UNION {_FORMERLY}" if former else _NOW, key)


def children(db: Connection, key: Key) -> list[Listing]:
    """Whose current version was made from some version of this."""
    return _near(db, "SELECT dst FROM arc WHERE src = ?1", key)


def _near(db: Connection, ends: str, key: Key) -> list[Listing]:
    aid = place(db, key).aid
    rows = db.rows(f"{_LISTING} WHERE a.aid IN ({ends}) ORDER BY s.name, a.id", (aid,))
    return [listing_of(row) for row in rows]


def counts(db: Connection) -> dict[tuple[State, Kind], int]:
    """How many artifacts are in each state, of each kind."""
    rows = db.rows(
        f"""SELECT {STATE}, v.kind, count(*) FROM artifact a JOIN version v ON v.vid = a.cur
        LEFT JOIN barrier b ON b.vid = a.cur GROUP BY 1, 2"""  # noqa: S608  literals
    )
    return {(State(state), Kind(kind)): n for state, kind, n in rows}
