"""Migration: a file is brought to the schema of this code, or made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from memorepair.errors import CorruptStore, ForeignStore, StoreError
from memorepair.memory.connection import Connection, check_schema
from memorepair.memory.journal import Journal
from memorepair.memory.schema import APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION
from memorepair.memory.secret import Secret


def migrate(db: Connection, secret: Secret | None, key: Path, clock: Callable[[], int]) -> Secret:
    """Apply the migrations the file lacks, in one transaction; the store's secret.

    `secret` is None where the file is still to make. The key is written inside the transaction that makes the
    tables, and gets its name after it, as does the write-ahead log: a process killed at any instant leaves an
    empty file or a whole store.
    """
    version = db.number("PRAGMA user_version")
    check_schema(version, db.path)
    if db.readonly:
        if version < SCHEMA_VERSION:
            raise StoreError(f"{db.path} has schema {version}; open it once to write", witness=version)
    elif version < SCHEMA_VERSION:
        if secret is None:
            db.run("PRAGMA auto_vacuum=INCREMENTAL")
        with db.writing(full=True):
            secret = _apply(db, secret, key, clock)
    if secret is None:  # another process has made it between the look at the file and now
        secret = Secret.load(key)
    if db.number("PRAGMA application_id") != APPLICATION_ID:
        raise ForeignStore(f"{db.path} is a database of something else", witness=str(db.path))
    if not db.readonly:
        Secret.settle(key)
        (mode,) = db.rows("PRAGMA journal_mode=WAL")[0]
        if mode != "wal":
            raise StoreError(f"{db.path}: no write-ahead log here, the mode is {mode}", witness=mode)
    return secret


def _apply(db: Connection, secret: Secret | None, key: Path, clock: Callable[[], int]) -> Secret:
    version = db.number("PRAGMA user_version")  # again: now nobody else can change it
    check_schema(version, db.path)
    if version == 0:
        if db.number("SELECT count(*) FROM sqlite_master"):
            raise CorruptStore(f"{db.path} has tables but no schema version", witness=str(db.path))
        secret = Secret.create(key)
        db.run(f"PRAGMA application_id={APPLICATION_ID}")
    for statements in MIGRATIONS[version:]:
        for statement in statements:
            db.run(statement)
    db.run(f"PRAGMA user_version={SCHEMA_VERSION}")
    secret = secret or Secret.load(key)
    if version == 0:
        with Journal(db, secret, clock).entry("create"):
            pass
    return secret
