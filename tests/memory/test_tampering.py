"""No row that decides what is served, or what may be learned, can be changed behind the store's back."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from memorepair.errors import StoreError
from memorepair.memory.artifact import Draft, Embedding, Key, Read, Recipe
from memorepair.memory.exchange import SuspectedArc
from memorepair.memory.schema import MIGRATIONS
from memorepair.memory.sqlite import SqliteStore
from memorepair.memory.store import Release, Successor
from memorepair.memory.vectors import HashedNgrams

UNSEALED = {
    "semantic": "similar keys are told beside an artifact, and are no support",
    "staged": "how the next open knows what to take back; the version stays behind its barrier",
    "usage": "how often an artifact was read",
    "verdict": "what checks said of a version; no door asks",
    "operator_cost": "what operators have cost",
}
"""Tables whose rows decide nothing that is served, each with what they hold."""

FREE = {
    "artifact": {"born"},
    "cases": {"status", "unit_value", "unit_cost", "attempts", "erasure", "suspected"},
    "space": {"space"},
    "vector": {"row"},
}
"""Columns that are no part of what is sealed."""

REMOVABLE = {"note"}
"""Tables whose rows housekeeping removes without an entry."""

ONLY = {"space": "model = 'own'", "vector": "given"}
"""Rows that are sealed: what an embedder has made can be made again."""

TABLES = [
    statement.split("(")[0].removeprefix("CREATE TABLE ").strip()
    for statement in MIGRATIONS[0]
    if statement.startswith("CREATE TABLE ")
]


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a row in every table."""
    path = tmp_path_factory.mktemp("lived") / "store.db"
    root, made, stays, twice, gone, last = (Key((), name) for name in ("a", "b", "c", "d", "e", "f"))
    own = Embedding(vector=(1.0, 0.0), model="own", revision="1", normalised=True)
    with SqliteStore.open(path, embedder=HashedNgrams(dimension=8)) as store:
        store.write(
            [
                Draft(key=root, content="content a", metadata={"told": "once"}),
                Draft(key=twice, content="content d", embedding=own),
                Draft(key=gone, content="content e"),
            ]
        )
        store.write([Draft(key=twice, content="content d again", embedding=own, semantic=(gone,))])
        support = (Read(key=root, group=0), Read(key=twice, group=1))
        store.write([Draft(key=stays, content="content c", reads=support)])
        recipe = Recipe(operator="f", params={"n": 1})
        store.write([Draft(key=made, content="content b", reads=(Read(key=root),), recipe=recipe)])
        store.write([Draft(key=last, content="content f", reads=(Read(key=made),))])
        arc = SuspectedArc(
            parent=twice, parent_version=2, child=last, child_version=1, probability=0.5, why="words"
        )
        store.judge_suspects([arc], accepted=True, actor="x", reason="r")
        store.note("book", {"name": 1})
        case = store.open_case(
            event="correct",
            roots=[root],
            actor="x",
            reason="r",
            evidence="direct",
            replacements=[Draft(key=root, content="A")],
        )
        no = store.stage(case.id, Draft(key=made, content="B"))
        reads = (Read(key=root, version=2),)
        store.publish(
            case.id,
            [Successor(key=made, version=no, reads=reads)],
            [Release(key=last, reads=(Read(key=made, version=no),))],
        )
        store.close_case(case.id)
        store.maintain([], marks={stays: 0.5}, actor="x", reason="r")
        store.open_case(event="delete", roots=[gone], actor="x", reason="r")
        assert store.check() == []
    return path


def changed(value: object) -> object:
    match value:
        case int() | float():
            return value + 1_000
        case str():
            return f"{value}x"
        case bytes():
            return bytes(len(value) or 1)
    return 1


def tamperings(path: Path, table: str) -> Iterator[tuple[str, list[object], str, list[object]]]:
    """Of the first and the last row: each value changed, the row deleted; each with what takes it back."""
    with closing(sqlite3.connect(path)) as db:
        found = db.execute(f"SELECT * FROM {table} WHERE {ONLY.get(table, 'true')}")
        names = [name for name, *_ in found.description]
        rows = found.fetchall()
    this = " AND ".join(f"{name} IS ?" for name in names)
    for row in {id(one): one for one in (rows[0], rows[-1])}.values():
        places = ", ".join("?" * len(names))
        if table not in REMOVABLE:
            yield (
                f"DELETE FROM {table} WHERE {this}",
                [*row],
                f"INSERT INTO {table} VALUES({places})",
                [*row],
            )
        for place, name in enumerate(names):
            if name in FREE.get(table, ()):
                continue
            other = [*row]
            other[place] = changed(row[place])
            update = f"UPDATE {table} SET {name} = ? WHERE {this}"
            yield update, [other[place], *row], update, [row[place], *other]


def test_every_table_has_a_row_or_is_said_to_decide_nothing(lived: Path) -> None:
    with closing(sqlite3.connect(lived)) as db:
        empty = {table for table in TABLES if not db.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone()}
    assert empty <= set(UNSEALED) <= set(TABLES)


@pytest.mark.parametrize("table", [table for table in TABLES if table not in UNSEALED])
def test_a_row_changed_or_deleted_is_noticed(lived: Path, tmp_path: Path, table: str) -> None:
    for part in lived.parent.iterdir():
        shutil.copy(part, tmp_path / part.name)
    file = tmp_path / lived.name
    missed = []
    with SqliteStore.open(file) as store, closing(sqlite3.connect(file)) as db:
        for act, values, back, again in tamperings(file, table):
            try:
                with db:
                    assert db.execute(act, values).rowcount == 1
            except sqlite3.IntegrityError:  # the schema does not let it
                continue
            try:
                noticed = store.check() != []
            except StoreError:
                noticed = True
            if not noticed:
                missed.append((act.split(" WHERE")[0], values))
            with db:
                assert db.execute(back, again).rowcount == 1
        assert store.check() == []
    assert missed == []


@pytest.mark.parametrize(
    "tampering",
    [
        "UPDATE cases SET status = 'undone' WHERE cause = 1",
        "UPDATE cases SET erasure = 'done' WHERE cause = 3",
        "UPDATE artifact SET cur = 2 WHERE aid = 2",
        "INSERT INTO tombstone VALUES(x'00', 99, 1, 1)",
        "INSERT INTO tombstone VALUES(x'00', 3, 1, 0)",
        "INSERT INTO mark VALUES(2, 99, 0.1, 1)",
        "INSERT INTO spared VALUES(99, 2, 0)",
        "INSERT INTO spared VALUES(1, 2, 0)",
    ],
)
def test_a_row_added_or_a_state_forged_is_noticed(lived: Path, tmp_path: Path, tampering: str) -> None:
    for part in lived.parent.iterdir():
        shutil.copy(part, tmp_path / part.name)
    with closing(sqlite3.connect(tmp_path / lived.name)) as db, db:
        assert db.execute(tampering).rowcount == 1
    with SqliteStore.open(tmp_path / lived.name) as store:
        assert store.check() != []
