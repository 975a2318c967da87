"""Repair lock: one repair at a time, across threads and processes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memorepair.errors import InvalidInput, RepairInProgress
from memorepair.memory.connection import typed_errors
from memorepair.memory.values import is_number

_LONGEST = 1e6  # seconds: SQLite counts milliseconds in 32 bits


@contextmanager
def repair_lock(path: Path, *, wait: float) -> Iterator[None]:
    """Hold the lock of the store at `path`; the system releases it when a process dies.

    The lock is SQLite's own on an empty file beside the store, so that withdrawals and reads go on meanwhile.

    Raises
    ------
    RepairInProgress
        Another holds it, still after `wait` seconds.
    InvalidInput
        `wait` is no number, or negative.
    StoreError
        The file beside the store is none of ours, or cannot be used.
    """
    check_wait(wait)
    side = path.with_name(path.name + "-repair")
    with typed_errors(side):
        db = sqlite3.connect(side, timeout=min(wait, _LONGEST), isolation_level=None, check_same_thread=False)
    try:
        _lock(db, side, path)
        yield
    finally:
        db.close()


def check_wait(wait: float) -> None:
    """Refuse what is no time to wait.

    Raises
    ------
    InvalidInput
    """
    if not is_number(wait, low=0):
        raise InvalidInput("a wait is a number of seconds, not negative", witness=wait)


def _lock(db: sqlite3.Connection, side: Path, path: Path) -> None:
    with typed_errors(side):
        try:
            db.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            raise RepairInProgress(f"another repair holds {path}", witness=str(path)) from error
