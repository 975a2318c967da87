"""Index: the full-text index of current versions, barred or not; the doors join the barrier."""

from __future__ import annotations

from collections.abc import Iterable

from memorepair.memory.connection import Connection
from memorepair.memory.exchange import Progress

_BULK = 2_000
_STEP = 10_000
_HASH_DEFAULT, _HASH_BULK = 1 << 20, 1 << 27


def add_from(db: Connection, first: int, count: int, progress: Progress) -> None:
    """Index the `count` newest versions, from vid `first` on."""
    bulk = count >= _BULK  # a larger hash saves merges, which are n log n
    if bulk:
        db.run("INSERT INTO fts(fts, rank) VALUES('hashsize', ?)", (_HASH_BULK,))
    for done in range(0, count, _STEP):
        db.run(
            """INSERT INTO fts(rowid, s, text) SELECT vid, s, text FROM content
            WHERE vid BETWEEN ? AND ?""",
            (first + done, first + min(done + _STEP, count) - 1),
        )
        progress("index", min(done + _STEP, count), count)
    if bulk:
        db.run("INSERT INTO fts(fts, rank) VALUES('hashsize', ?)", (_HASH_DEFAULT,))


def add(db: Connection, vids: Iterable[int]) -> None:
    """Index versions that become current."""
    db.many(
        "INSERT INTO fts(rowid, s, text) SELECT vid, s, text FROM content WHERE vid = ?",
        ((vid,) for vid in vids),
    )


def remove(db: Connection, vids: Iterable[int]) -> None:
    """Take versions out; the index must be given exactly the text it was given before."""
    db.many(
        """INSERT INTO fts(fts, rowid, s, text)
        SELECT 'delete', vid, s, text FROM content WHERE vid = ?""",
        ((vid,) for vid in vids),
    )
