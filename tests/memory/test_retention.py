"""What left service long ago goes, except what something still needs."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from memorepair.errors import UndoRefused, Withdrawn
from memorepair.memory.artifact import Draft, Key, Read, State
from memorepair.memory.sqlite import SqliteStore
from memorepair.memory.store import Successor

Put = Callable[..., Key]
A, B = Key((), "a"), Key((), "b")


class Clock:
    now = 1_000

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(path: Path, clock: Clock) -> Iterator[SqliteStore]:
    with SqliteStore.open(path, clock=clock) as opened:
        yield opened


def pruned(store: SqliteStore, older_than: int, *, dry_run: bool = False) -> set[tuple[str, int]]:
    report = store.prune(older_than, actor="ada", reason="retention", dry_run=dry_run)
    return {(key.id, no) for key, no in report.versions}


def repaired(store: SqliteStore, put: Put) -> int:
    """a corrected, b made again; the case is closed."""
    put("a", "old a")
    put("b", "old b", A)
    replacements = [Draft(key=A, content="new a")]
    case = store.open_case(event="correct", roots=[A], replacements=replacements, actor="x", reason="r").id
    no = store.stage(case, Draft(key=B, content="new b"))
    store.publish(case, [Successor(key=B, version=no, reads=(Read(key=A, version=2),))])
    store.close_case(case)
    return case


def test_images_of_a_closed_case_go_after_their_time(store: SqliteStore, put: Put, clock: Clock) -> None:
    case = repaired(store, put)
    clock.now += 50
    put("c", "one")
    put("c", "two")
    clock.now += 10
    assert pruned(store, 61) == set()
    before = store.snapshot()
    assert pruned(store, 20, dry_run=True) == {("a", 1), ("b", 1)}
    assert store.snapshot() == before
    assert pruned(store, 20) == {("a", 1), ("b", 1)}
    assert pruned(store, 20) == set()
    entry = store.journal(1)[0]
    assert (entry.act, entry.actor, entry.reason, entry.rows) == ("prune", "ada", "retention", 2)
    for key in (A, B):
        with pytest.raises(Withdrawn, match="erased"):
            store.inspect(key, actor="x", reason="r", version=1)
        assert [past.state for past in store.history(key)] == [State.ERASED, State.ACTIVE]
    with pytest.raises(UndoRefused) as caught:
        store.undo(case, actor="x", reason="r")
    assert caught.value.witness == (A, B)
    assert pruned(store, 5) == {("c", 1)}
    assert [past.content for past in store.history(Key((), "c"))] == [None, "two"]
    assert store.check() == []


def test_what_is_withdrawn_quarantined_or_of_an_unfinished_case_stays(
    store: SqliteStore, put: Put, clock: Clock
) -> None:
    put("a", "first a")
    put("a", "old a")
    put("b", "old b", A)
    put("c", "old c", B)
    case = store.open_case(event="delete", roots=[A], actor="x", reason="r").id
    no = store.stage(case, Draft(key=B, content="rejected b"))
    store.reject(case, [(B, no)], ["x"])
    store.write([Draft(key=Key((), "d"), content="late", reads=(Read(key=B, version=1),))], quarantine=True)
    clock.now += 100
    assert pruned(store, 1) == set()
    store.close_case(case)  # in part: b and c are still withdrawn
    clock.now += 100
    assert pruned(store, 1) == set()
    assert store.inspect(A, actor="x", reason="r", version=1).content == "first a"


def test_what_a_current_version_was_made_from_stays(store: SqliteStore, put: Put, clock: Clock) -> None:
    put("a", "old a")
    put("b", "of old a", A)
    put("a", "new a")
    clock.now += 100
    assert pruned(store, 1) == set()
    put("b", "of new a", A)
    clock.now += 100
    assert pruned(store, 1) == {("a", 1), ("b", 1)}


def test_a_deleted_root_goes_with_its_index(store: SqliteStore, put: Put, clock: Clock) -> None:
    put("a", "deleted words")
    case = store.open_case(event="delete", roots=[A], actor="x", reason="r").id
    store.close_case(case)
    clock.now += 100
    assert pruned(store, 1) == {("a", 1)}
    with pytest.raises(Withdrawn) as caught:
        store.get(A)
    assert (caught.value.state, caught.value.case) == ("erased", case)
    assert store.check() == []


def test_the_file_shrinks_and_shows_nothing_of_what_went(
    store: SqliteStore, path: Path, clock: Clock
) -> None:
    def texts(n: int) -> list[Draft]:
        return [
            Draft(key=Key((), f"k{k}"), content=f"canary{n}x{k} " + f"{k * 7919 + n:012d} " * 40)
            for k in range(400)
        ]

    store.write(texts(0))
    for n in (1, 2, 3):
        store.write(texts(n))
    clock.now += 100
    store.prune(1_000)  # nothing is that old; all is in the file afterwards
    assert b"canary0x1 " in path.read_bytes()
    before = path.stat().st_size
    report = store.prune(1)
    assert (len(report.versions), report.clean) == (1_200, True)
    assert path.stat().st_size < 0.7 * before
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA freelist_count").fetchone() == (0,)
    for file in path.parent.iterdir():
        assert not re.search(rb"canary[012]x", file.read_bytes())
    assert store.get(Key((), "k7")).content.startswith("canary3x7 ")
    assert len(store.search("canary3x7", scope=(), limit=400)) == 11
    assert store.check() == []


def test_a_reader_of_an_older_snapshot_keeps_bytes_until_the_next_prune(
    store: SqliteStore, put: Put, path: Path, clock: Clock
) -> None:
    put("a", "canary of old")
    put("a", "new")
    clock.now += 100
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM content").fetchone()
        report = store.prune(1)
        assert (len(report.versions), report.clean) == (1, False)
    report = store.prune(1)
    assert (len(report.versions), report.clean) == (0, True)
    assert not any(b"canary of old" in file.read_bytes() for file in path.parent.iterdir())
