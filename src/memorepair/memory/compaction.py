"""Compaction: what the rows no longer have leaves the index and the file.

In short transactions, so that others write between; whatever is cut off, the next compaction does.
"""

from __future__ import annotations

from memorepair.memory.connection import Connection

_PAGES = 2_000


def merge_index(db: Connection) -> None:
    """Merge the index until no segment has postings of what was taken out of it.

    Not FTS5's secure-delete, which older versions of SQLite cannot read.
    """
    pages = -_PAGES  # negative: all segments to one
    while True:
        with db.writing():
            before = db.changes()
            db.run("INSERT INTO fts(fts, rank) VALUES('merge', ?)", (pages,))
            merged = db.changes() - before
        if merged < 2:  # the statement itself counts as one
            return
        pages = _PAGES


def give_back(db: Connection) -> None:
    """Move pages to the front of the file, and give the free ones at its end back to the system."""
    free = db.number("PRAGMA freelist_count")
    while free:
        with db.writing():
            db.rows(f"PRAGMA incremental_vacuum({_PAGES})")  # rows: each step of the statement frees one page
        left = db.number("PRAGMA freelist_count")
        if left >= free:
            return
        free = left


def compact(db: Connection, *, wait: float) -> bool:
    """Merge the index, shrink the file, empty the log; outside of any transaction.

    False while a reader holds an older snapshot, still after `wait` seconds: then bytes may remain.
    """
    merge_index(db)
    give_back(db)
    return db.checkpoint(wait=wait)
