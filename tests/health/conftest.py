"""A store on a file of its own, and ways to damage it that no write of this code would take."""

from __future__ import annotations

import csv
import io
import lzma
import sqlite3
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from memorepair.health import CheckUp, Expected, check_up
from memorepair.memory.sqlite import SqliteStore

START = 1_700_000_000 * 10**9

Tamper = Callable[..., None]
Examine = Callable[..., CheckUp]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    """An empty store whose clock ticks a second at every reading."""
    ticks = count(START, 10**9)
    with SqliteStore.open(tmp_path / "agent.db", clock=lambda: next(ticks)) as opened:
        yield opened


@pytest.fixture
def tamper(store: SqliteStore) -> Tamper:
    """Change the file behind the store's back."""

    def change(sql: str, *values: object) -> None:
        with sqlite3.connect(store.path) as db:
            db.execute(sql, values)
        db.close()

    return change


@pytest.fixture
def examine(store: SqliteStore) -> Examine:
    """A check-up of the store an hour after it was made."""

    def look(*detectors: str, expected: Expected | None = None, since: int | None = None) -> CheckUp:
        return check_up(
            store, detectors=detectors or None, expected=expected, since=since, now=START + 3_600 * 10**9
        )

    return look


@pytest.fixture(scope="session")
def febrl(real_input: Callable[[str], Path]) -> Callable[..., list[tuple[str, dict[str, str]]]]:
    """(record id, fields) of FEBRL data sets, in the order of the files."""

    def load(*names: str) -> list[tuple[str, dict[str, str]]]:
        rows: list[tuple[str, dict[str, str]]] = []
        for name in names:
            text = lzma.decompress((real_input("dedup-febrl") / f"{name}.csv.xz").read_bytes()).decode()
            for record in csv.DictReader(io.StringIO(text)):
                fields = {field.strip(): value.strip() for field, value in record.items()}
                rows.append((fields.pop("rec_id"), fields))
        return rows

    return load
