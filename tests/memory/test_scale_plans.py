"""No verb that concerns a few artifacts reads a whole table of the store."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memorepair.facade import Memory
from memorepair.memory.artifact import Draft, Key, Read

GROWING = {
    *("artifact", "version", "barrier", "arc", "arc_old", "arc_image", "semantic", "content", "vector"),
    *("recipe", "journal", "journal_row", "verdict", "usage", "fts", "indexed"),
}
"""Tables with a row for each artifact, version or arc."""

NEWEST = "FROM journal ORDER BY seq DESC LIMIT 1"
"""A scan that ends at its first row."""

ROOT, OTHER, MEMBER, DERIVED = (Key(("s",), id) for id in ("a0", "b0", "a1", "a2"))


@pytest.fixture
def memory(path: Path) -> Iterator[Memory]:
    drafts = [
        Draft(
            key=Key(("s",), f"{family}{i}"),
            content=f"{family} says {i}",
            reads=(Read(key=Key(("s",), f"{family}{i - 1}")),) if i else (),
        )
        for family in "abc"
        for i in range(4)
    ]
    with Memory.open(path) as memory:
        memory.ingest(drafts)
        yield memory


def scans(memory: Memory, verb: Callable[[], object]) -> list[str]:
    """Scans of growing tables in all statements that the verb makes, each with its statement."""
    db = memory.store._db.raw
    stated: list[str] = []
    db.set_trace_callback(stated.append)
    try:
        verb()
    finally:
        db.set_trace_callback(None)
    statements = [sql for sql in stated if re.match(r"\s*(SELECT|WITH|INSERT|UPDATE|DELETE)\b", sql)]
    assert statements
    return [f"{step} -- {sql}" for sql in statements for step in _scans(db, sql)]


def _scans(db: sqlite3.Connection, sql: str) -> list[str]:
    # The plan calls a table by its alias.
    table = {alias or name: name for name, alias in re.findall(r"(?:FROM|JOIN)\s+(\w+)(?:\s+(\w+))?", sql)}
    table |= {name: name for name in GROWING}
    found = []
    for _, _, _, step in db.execute(f"EXPLAIN QUERY PLAN {sql}"):
        scan = re.match(r"SCAN (?:TABLE )?(\w+)", step)
        by_words = "VIRTUAL TABLE" in step and "M" in step.rpartition(":")[2]
        if scan and table.get(scan[1]) in GROWING and not by_words and not sql.endswith(NEWEST):
            found.append(step)
    return found


def test_a_scan_is_seen(memory: Memory) -> None:
    (seen,) = scans(memory, memory.store.counts)
    assert seen.startswith("SCAN")


@pytest.mark.parametrize(
    "verb",
    [
        lambda memory: memory.get(MEMBER),
        lambda memory: memory.store.served([ROOT, MEMBER]),
        lambda memory: memory.search("says", scope=("s",)),
        lambda memory: memory.search("0", scope=("s",)),
        lambda memory: memory.list(scope=("s",)),
        lambda memory: memory.list(scope=("s",), kind="record", state="active"),
        lambda memory: memory.list(limit=1),
        lambda memory: memory.history(MEMBER),
        lambda memory: memory.explain(MEMBER),
        lambda memory: memory.record("new", scope=("s",), id="new"),
        lambda memory: memory.record("new", scope=("s",), id="c0"),
        lambda memory: memory.delete(OTHER, reason="r", actor="a"),
        lambda memory: memory.correct(OTHER, "new", reason="r", actor="a"),
    ],
)
def test_doors_and_withdrawals_scan_nothing(memory: Memory, verb: Callable[[Memory], object]) -> None:
    assert scans(memory, lambda: verb(memory)) == []


@pytest.mark.parametrize(
    "verb",
    [
        lambda memory: memory.explain(MEMBER),
        lambda memory: memory.history(MEMBER),
        lambda memory: memory.search("says", scope=("s",)),
        lambda memory: memory.store.members(1),
        lambda memory: memory.store.support([MEMBER, DERIVED]),
        lambda memory: memory.plan(1),
        lambda memory: memory.repair(1),
        lambda memory: memory.inspect(MEMBER, actor="a", reason="r"),
        lambda memory: memory.delete([MEMBER, OTHER], reason="r", actor="a"),
        lambda memory: memory.undo(1, actor="a", reason="r"),
        lambda memory: memory.erase(1, actor="a", reason="r"),
    ],
)
def test_nor_does_what_follows_a_withdrawal(memory: Memory, verb: Callable[[Memory], object]) -> None:
    memory.delete(ROOT, reason="r", actor="a")
    assert scans(memory, lambda: verb(memory)) == []


def test_nor_does_an_undo_of_what_was_published(memory: Memory) -> None:
    case = memory.correct(ROOT, "a says otherwise", reason="r", actor="a")
    memory.repair(case)
    assert scans(memory, lambda: memory.undo(case, actor="a", reason="r")) == []


def test_what_is_barred_is_listed_from_the_barrier(memory: Memory) -> None:
    memory.delete(ROOT, reason="r", actor="a")
    for scan in scans(memory, lambda: memory.list(state="withdrawn")):
        assert scan.startswith("SCAN b ")
    assert [one.key.id for one in memory.list(state="withdrawn")] == ["a0", "a1", "a2", "a3"]
    assert [one.key.id for one in memory.list(state="active", limit=5)] == ["b0", "b1", "b2", "b3", "c0"]
    assert memory.list(state="withdrawn", scope=("t",)) == []
    assert memory.list(state="withdrawn", kind="summary") == []


@pytest.mark.parametrize("texts", [2, 1_000_000])
def test_a_deletion_is_linear_in_the_versions_of_its_root(tmp_path: Path, texts: int) -> None:
    """Counted in instructions of the database: versions that say the same, others nothing twice."""

    def instructions(versions: int) -> int:
        counted = 0

        def count() -> int:
            nonlocal counted
            counted += 1
            return 0

        with Memory.open(tmp_path / f"{versions}.db") as memory:
            for number in range(versions):
                memory.record(f"the lamp is {number % texts}", id="lamp", scope=("s",))
            db = memory.store._db.raw
            db.set_progress_handler(count, 100)
            memory.delete("s::lamp", reason="gone", actor="me")
            db.set_progress_handler(None, 0)
        return counted

    assert instructions(400) < 3 * instructions(200)
