"""A file that is not ours, or not whole, is refused and left as it was."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memorepair.errors import CorruptStore, ForeignStore, InvalidInput, NewerSchema, StoreError, Withdrawn
from memorepair.memory.artifact import Draft, Key
from memorepair.memory.schema import SCHEMA_VERSION
from memorepair.memory.sqlite import SqliteStore

A = Key((), "a")


def make(path: Path) -> Path:
    with SqliteStore.open(path) as store:
        store.write([Draft(key=A, content="text " * 2_000)])
        store.write([Draft(key=Key((), "gone"), content="gone")])
        store.open_case(event="delete", roots=[Key((), "gone")], actor="x", reason="r")
    return path


def alter(path: Path, statement: str) -> None:
    db = sqlite3.connect(path)
    db.execute(statement)
    db.commit()
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()


def text_file(path: Path) -> None:
    path.write_text("this is no database\n" * 50)


def short_text(path: Path) -> None:
    path.write_text("x")


def other_database(path: Path) -> None:
    alter(path, "CREATE TABLE theirs(x)")


def other_application(path: Path) -> None:
    alter(path, "PRAGMA application_id=12345")
    alter(path, "CREATE TABLE theirs(x)")


def newer(path: Path) -> None:
    alter(make(path), f"PRAGMA user_version={SCHEMA_VERSION + 1}")


def truncated(path: Path) -> None:
    whole = make(path).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])


def header_only(path: Path) -> None:
    path.write_bytes(make(path).read_bytes()[:60])


def without_key(path: Path) -> None:
    make(path).with_name(path.name + ".key").unlink()


def short_key(path: Path) -> None:
    make(path).with_name(path.name + ".key").write_bytes(b"short")


def wrong_key(path: Path) -> None:
    make(path).with_name(path.name + ".key").write_bytes(os.urandom(32))


def emptied(path: Path) -> None:
    make(path).write_bytes(b"")


def damaged(path: Path) -> None:
    data = bytearray(make(path).read_bytes())
    for offset in range(100, len(data), 4096):
        data[offset : offset + 200] = os.urandom(200)
    path.write_bytes(bytes(data))


BAD = [
    (text_file, ForeignStore),
    (short_text, ForeignStore),
    (other_database, ForeignStore),
    (other_application, ForeignStore),
    (newer, NewerSchema),
    (truncated, CorruptStore),
    (header_only, CorruptStore),
    (without_key, CorruptStore),
    (short_key, CorruptStore),
    (wrong_key, CorruptStore),
    (damaged, CorruptStore),
    (emptied, CorruptStore),
]


@pytest.mark.parametrize(("spoil", "error"), BAD, ids=[spoil.__name__ for spoil, _ in BAD])
@pytest.mark.parametrize("readonly", [False, True])
def test_a_bad_file_is_refused_and_unchanged(
    path: Path, spoil: object, error: type[Exception], readonly: bool
) -> None:
    assert callable(spoil)
    spoil(path)
    before = path.read_bytes()
    with pytest.raises(error) as caught:
        SqliteStore.open(path, readonly=readonly)
    assert isinstance(caught.value, StoreError)
    assert caught.value.witness is not None
    assert path.read_bytes() == before


def test_what_cannot_be_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    long = (tmp_path / ("x" * 300), tmp_path / ("x" * 254))
    for path in (tmp_path, tmp_path / "no" / "agent.db", tmp_path / "file" / "agent.db", *long):
        with pytest.raises(StoreError):
            SqliteStore.open(path, create=path != long[1])
    assert sorted(one.name for one in tmp_path.iterdir()) == ["file"]


def test_a_missing_file_is_made_only_where_asked(path: Path) -> None:
    for create, readonly in ((False, False), (True, True)):
        with pytest.raises(StoreError):
            SqliteStore.open(path, create=create, readonly=readonly)
        assert not path.exists()
    path.touch()
    SqliteStore.open(path).close()
    with SqliteStore.open(path, create=False) as store:
        assert store.listing() == []


def test_the_key_is_for_the_owner_only(path: Path) -> None:
    SqliteStore.open(path).close()
    key = path.with_name(path.name + ".key")
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert key.read_bytes() not in path.read_bytes()


@pytest.mark.parametrize("new_key", [b"", b"half", b"x" * 32])
def test_a_creation_that_was_cut_off_is_taken_up(path: Path, new_key: bytes) -> None:
    # what a process leaves that dies before the tables commit: an empty file, and a key without its name
    path.touch()
    path.with_name(path.name + ".key.new").write_bytes(new_key)
    for _ in range(2):
        with SqliteStore.open(path) as store:
            store.write([Draft(key=A, content="a")])
            assert store.check() == []
    assert {one.name for one in path.parent.iterdir()} == {path.name, path.name + ".key"}


def test_a_key_that_has_no_name_yet_gets_it(path: Path) -> None:
    # what a process leaves that dies after the tables commit
    key = make(path).with_name(path.name + ".key")
    unsettled = key.rename(key.with_name(key.name + ".new"))
    with SqliteStore.open(path, readonly=True) as store:
        assert store.get(A).version == 1
    assert unsettled.exists()
    with SqliteStore.open(path) as store:
        assert store.get(A).version == 1
    assert key.exists()
    assert not unsettled.exists()


def test_a_key_left_alone_serves_a_new_file(path: Path) -> None:
    key = make(path).with_name(path.name + ".key")
    content = key.read_bytes()
    path.unlink()
    with SqliteStore.open(path) as store:
        assert store.listing() == []
    assert key.read_bytes() == content


def test_a_key_that_cannot_be_read_is_not_called_missing(path: Path) -> None:
    key = make(path).with_name(path.name + ".key")
    key.unlink()
    key.mkdir()
    with pytest.raises(StoreError, match="cannot be read") as caught:
        SqliteStore.open(path)
    assert not isinstance(caught.value, CorruptStore)
    path.unlink()
    with pytest.raises(StoreError, match="cannot be read"):
        SqliteStore.open(path)


@pytest.mark.parametrize("place", [None, 5, b"", b"a.db", "", ":memory:", ["a.db"], True])
def test_a_store_needs_a_file(place: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match=r"path|file"):
        SqliteStore.open(place)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_may_not_be_written_is_open_to_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(path)
    monkeypatch.setattr(os, "access", lambda place, mode: False)
    store = SqliteStore.open(path)
    assert store.readonly
    assert store.get(A).version == 1
    assert store.check() == []
    with pytest.raises(StoreError, match="read-only"):
        store.write([Draft(key=A, content="x")])
    store.close()


def test_readonly_reads_and_writes_nothing(path: Path) -> None:
    make(path)
    with SqliteStore.open(path, readonly=True) as store:
        assert store.get(A).version == 1
        assert store.search("text", scope=())[0].artifact.key == A
        assert store.check() == []
        with pytest.raises(Withdrawn):
            store.get(Key((), "gone"))
        for verb in (
            lambda: store.write([Draft(key=A, content="x")]),
            lambda: store.open_case(event="delete", roots=[A], actor="x", reason="r"),
            lambda: store.inspect(A, actor="x", reason="r"),
        ):
            with pytest.raises(StoreError):
                verb()
    with SqliteStore.open(path) as store:
        assert store.get(A).last_accessed_at is None


def test_the_barrier_is_there_after_reopening(path: Path) -> None:
    make(path)
    with SqliteStore.open(path) as store:
        with pytest.raises(Withdrawn):
            store.get(Key((), "gone"))
        assert store.search("gone", scope=()) == []


def test_names_may_hold_any_character(tmp_path: Path) -> None:
    for name in ("a b?c#d%20.db", "日本.db", "mode=ro&x.db"):
        make(tmp_path / name)
        with SqliteStore.open(tmp_path / name, readonly=True) as store:
            assert store.get(A).version == 1


def test_a_link_leads_to_the_file_and_its_key(path: Path) -> None:
    make(path)
    link = path.with_name("link.db")
    link.symlink_to(path)
    with SqliteStore.open(link) as store:
        assert store.get(A).version == 1
    with pytest.raises(StoreError):
        SqliteStore.open("a\0b")


def test_close_may_be_called_twice(path: Path) -> None:
    store = SqliteStore.open(path)
    store.write([Draft(key=A, content="a")])
    store.get(A)
    store.close()
    store.close()


@pytest.mark.parametrize("readonly", [False, True])
def test_a_closed_store_says_so(path: Path, readonly: bool) -> None:
    make(path)
    store = SqliteStore.open(path, readonly=readonly)
    store.get(A)
    store.close()
    verbs: list[Callable[[], object]] = [
        lambda: store.get(A),
        lambda: store.search("x", scope=()),
        lambda: store.history(A),
        store.listing,
        lambda: store.describe(A),
        lambda: store.served([A]),
        lambda: store.case(1),
        store.cases,
        store.counts,
        store.journal,
        store.snapshot,
        store.check,
        lambda: store.write([Draft(key=A, content="x")]),
        lambda: store.open_case(event="delete", roots=[A], actor="x", reason="r"),
        lambda: store.inspect(A, actor="x", reason="r"),
        lambda: store.prune(0),
        lambda: store.undo(1, actor="x", reason="r"),
        lambda: store.erase(1, actor="x", reason="r"),
        lambda: store.repairing(1).__enter__(),
        lambda: store.tombstoned(A, "x"),
    ]
    for verb in verbs:
        with pytest.raises(StoreError, match="closed"):
            verb()
    store.close()
