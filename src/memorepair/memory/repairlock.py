"""Repair lock: one repair at a time, across threads and processes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memorepair.errors import RepairInProgress, StoreError
from memorepair.memory.connection import typed_errors


@contextmanager
def repair_lock(path: Path, *, wait: float) -> Iterator[None]:
    """Hold the lock of the store at `path`; the system releases it when a process dies.

    The lock is SQLite's own on an empty file beside the store, so that withdrawals and reads go on meanwhile.

    Raises
    ------
    RepairInProgress
        Another holds it, still after `wait` seconds.
    """
    side = path.with_name(path.name + "-repair")
    with typed_errors(side):
        db = sqlite3.connect(side, timeout=max(wait, 0.0), isolation_level=None, check_same_thread=False)
    try:
        try:
            db.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise StoreError(f"{side}: {error}", witness=str(side)) from error
            raise RepairInProgress(f"another repair holds {path}", witness=str(path)) from error
        yield
    finally:
        db.close()
