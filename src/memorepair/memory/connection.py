"""Connection: one SQLite connection behind a lock, with its pragmas, transactions and typed errors."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Self, TypeAlias

from memorepair.errors import CorruptStore, ForeignStore, InvalidInput, NewerSchema, StoreError
from memorepair.memory.points import BEGIN, CHECKPOINT, COMMIT, COMMITTED, STATEMENT, reach
from memorepair.memory.schema import APPLICATION_ID, SCHEMA_VERSION
from memorepair.memory.secret import key_file, unsettled

Row: TypeAlias = "tuple[Any, ...]"
Value: TypeAlias = "int | float | str | bytes | None"

BUSY_SECONDS = 10.0
MAGIC = b"SQLite format 3\0"

_ALWAYS = ("cache_size=-65536", "temp_store=MEMORY", "mmap_size=0", "trusted_schema=OFF")
_WRITER = ("secure_delete=ON", "synchronous=NORMAL", "wal_autocheckpoint=4000", "journal_size_limit=67108864")


@contextmanager
def typed_errors(path: Path) -> Iterator[None]:
    """Turn what SQLite raises into errors of the house."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_NOTADB:
            raise ForeignStore(f"{path} is no database", witness=str(path)) from error
        if code == sqlite3.SQLITE_CORRUPT:
            raise CorruptStore(f"{path} is damaged: {error}", witness=str(path)) from error
        raise StoreError(f"{path}: {error}", witness=str(path)) from error


def remove(file: Path) -> None:
    """Remove a file beside the database, if it is there.

    Raises
    ------
    StoreError
        It cannot be removed.
    """
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{file.name} cannot be removed: {error.strerror}", witness=str(file)) from error


def examine(path: Path) -> bool:
    """Look at the file without SQLite, which might change it: whether there is a store, or none yet.

    Raises
    ------
    StoreError
        No file can be there.
    ForeignStore, NewerSchema, CorruptStore
        The file is something else, newer, or shorter than its header says.
    """
    if not path.parent.is_dir():
        raise StoreError(f"there is no folder {path.parent}", witness=str(path.parent))
    try:
        if not path.exists():
            return False
        if not path.is_file():
            raise StoreError(f"{path} is not a file", witness=str(path))
        with path.open("rb") as file:
            header = file.read(100)
        size = path.stat().st_size
        emptied = not header and key_file(path).exists()
    except StoreError:
        raise
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}", witness=str(path)) from error
    if emptied:  # the key gets its name only when the tables are there
        raise CorruptStore(f"{path} is empty, but its key is there: its content is lost", witness=size)
    if not header or _unfinished(path) or _blank(header):
        return False
    if not header.startswith(MAGIC):
        raise ForeignStore(f"{path} is no database", witness=str(path))
    if len(header) < 100:
        raise CorruptStore(f"{path} is cut short", witness=size)
    if int.from_bytes(header[68:72], "big") != APPLICATION_ID:
        raise ForeignStore(f"{path} is a database of something else", witness=str(path))
    check_schema(int.from_bytes(header[60:64], "big"), path)
    page = int.from_bytes(header[16:18], "big")
    expected = int.from_bytes(header[28:32], "big") * (65536 if page == 1 else page)
    # With a write-ahead log the header may run ahead of a file whose checkpoint was interrupted.
    wal = path.with_name(path.name + "-wal")
    if size < expected and not (wal.exists() and wal.stat().st_size):
        raise CorruptStore(f"{path} is cut short: {size} of {expected} bytes", witness=size)
    return True


def _unfinished(path: Path) -> bool:
    # A process died while it made the tables: the rollback journal is there, and the key, which comes first.
    journal, key = path.with_name(path.name + "-journal"), key_file(path)
    return journal.exists() and journal.stat().st_size > 0 and (key.exists() or unsettled(key).exists())


def _blank(header: bytes) -> bool:
    # A process died between the first page and the tables: a database that never had a schema, of nobody's.
    whole = len(header) == 100 and header.startswith(MAGIC)
    return whole and not any(header[40:44] + header[60:64] + header[68:72])


def check_schema(version: int, path: Path) -> None:
    """Refuse a schema this code does not know."""
    if version > SCHEMA_VERSION:
        raise NewerSchema(
            f"{path} has schema {version}, this version reads up to {SCHEMA_VERSION}", witness=version
        )


class Connection:
    """One connection and one lock: every transaction, and every single statement, is exclusive among threads.

    A store may therefore be used from several threads; for parallel reads open the file several times.
    """

    def __init__(self, db: sqlite3.Connection, path: Path, *, readonly: bool) -> None:
        self._db = db
        self._lock = threading.RLock()
        self._closed = False
        self.path = path
        self.readonly = readonly

    @classmethod
    def open(cls, path: Path, *, readonly: bool) -> Self:
        """Connect and set the pragmas that change nothing in the file."""
        with typed_errors(path):
            db = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode={'ro' if readonly else 'rwc'}",
                uri=True,
                timeout=BUSY_SECONDS,
                isolation_level=None,
                cached_statements=256,
                check_same_thread=False,
            )
            for pragma in (*_ALWAYS, *(("query_only=ON",) if readonly else _WRITER)):
                db.execute(f"PRAGMA {pragma}")
        return cls(db, path, readonly=readonly)

    def close(self) -> None:
        """Close the connection; a second call does nothing."""
        with self._lock:
            self._closed = True
            with typed_errors(self.path):
                self._db.close()

    @property
    def closed(self) -> bool:
        """Whether `close` has been called."""
        return self._closed

    def _require_open(self) -> None:
        if self._closed:
            raise StoreError(f"{self.path}: the store is closed", witness=str(self.path))

    @property
    def raw(self) -> sqlite3.Connection:
        """The connection itself, for functions and checkpoints."""
        return self._db

    # statements ------------------------------------------------------------------------------------

    @contextmanager
    def _stating(self) -> Iterator[None]:
        try:
            with self._lock, typed_errors(self.path):
                self._require_open()
                yield
        except UnicodeEncodeError as error:
            raise InvalidInput("a text has a lone surrogate", witness=error.start) from error
        except OverflowError as error:
            raise InvalidInput("a number has more than 64 bits", witness=str(error)) from error

    def rows(self, sql: str, values: Sequence[Value] = ()) -> list[Row]:
        """All rows of a statement; no cursor stays open, so no snapshot outlives the call."""
        with self._stating():
            return self._db.execute(sql, values).fetchall()

    def row(self, sql: str, values: Sequence[Value] = ()) -> Row | None:
        """The first row, or None."""
        with self._stating():
            cursor = self._db.execute(sql, values)
            row: Row | None = cursor.fetchone()
            cursor.close()
            return row

    def number(self, sql: str, values: Sequence[Value] = ()) -> int:
        """The single integer a statement gives."""
        row = self.row(sql, values)
        return 0 if row is None else int(row[0])

    def run(self, sql: str, values: Sequence[Value] = ()) -> int:
        """Execute; the number of rows changed."""
        reach(STATEMENT)
        with self._stating():
            return self._db.execute(sql, values).rowcount

    def many(self, sql: str, rows: Iterable[Sequence[Value]]) -> None:
        """Execute once a row."""
        reach(STATEMENT)
        with self._stating():
            self._db.executemany(sql, rows)

    def checkpoint(self, *, wait: float) -> bool:
        """Write everything into the file and empty the log; False while a reader holds an older snapshot."""
        reach(CHECKPOINT)
        with self._stating():
            self._db.execute(f"PRAGMA busy_timeout={int(wait * 1000)}")
            try:
                (busy, _, _) = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            finally:
                self._db.execute(f"PRAGMA busy_timeout={int(BUSY_SECONDS * 1000)}")
        return not busy

    @contextmanager
    def impatient(self) -> Iterator[None]:
        """Fail at once where another connection writes, instead of waiting for it."""
        with self._stating():
            self._db.execute("PRAGMA busy_timeout=0")
        try:
            yield
        finally:
            with self._stating():
                self._db.execute(f"PRAGMA busy_timeout={int(BUSY_SECONDS * 1000)}")

    def changes(self) -> int:
        """Rows changed since the connection was opened, those of the index included."""
        return self._db.total_changes

    # transactions ----------------------------------------------------------------------------------

    def _in_transaction(self) -> bool:
        return self._db.in_transaction

    def locked(self) -> AbstractContextManager[object]:
        """Keep other threads out for longer than one statement or transaction."""
        return self._lock

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Several statements on one snapshot; inside a transaction, that transaction's."""
        with self._lock, typed_errors(self.path):
            self._require_open()
            if self._in_transaction():
                yield
                return
            self._db.execute("BEGIN")
            try:
                yield
            finally:
                if self._in_transaction():  # an error of the disk may have ended it
                    self._db.execute("COMMIT")

    def require_writable(self) -> None:
        """Refuse what a write would be refused for: it is closed, or open read-only."""
        with self._lock:
            self._require_open()
            if self.readonly:
                raise StoreError(f"{self.path} is open read-only", witness=str(self.path))

    @contextmanager
    def writing(self, *, full: bool = False, keep: bool = True) -> Iterator[None]:
        """One transaction: all or nothing.

        Parameters
        ----------
        full
            Survive a loss of power (synchronous=FULL): withdrawal, publication, close.
        keep
            False rolls back at the end: a dry run.

        Notes
        -----
        IMMEDIATE, because a reader that turns writer after another's commit fails at once, without waiting.
        """
        with self._lock:
            self.require_writable()
            if self._in_transaction():
                raise StoreError("a write inside a write", witness=str(self.path))
            with typed_errors(self.path):
                if full:  # an error inside a transaction, so before it
                    self._db.execute("PRAGMA synchronous=FULL")
                try:
                    reach(BEGIN)
                    self._db.execute("BEGIN IMMEDIATE")
                    yield
                    reach(COMMIT)
                    self._db.execute("COMMIT" if keep else "ROLLBACK")
                    reach(COMMITTED)
                finally:
                    if self._in_transaction():
                        self._db.execute("ROLLBACK")
                    if full:
                        self._db.execute("PRAGMA synchronous=NORMAL")
