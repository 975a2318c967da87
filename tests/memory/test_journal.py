"""The journal has every change in a chain of seals, and the check finds what was tampered with."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from memorepair.memory.artifact import Draft, Key, Read
from memorepair.memory.sqlite import SqliteStore
from memorepair.memory.store import Successor

Put = Callable[..., Key]


@pytest.fixture
def lived(path: Path) -> Path:
    """A store through an update, a deletion and a correction that was repaired; closed."""
    a, b, c = (Key((), name) for name in "abc")
    with SqliteStore.open(path) as store:
        store.write([Draft(key=a, content="content a"), Draft(key=c, content="content c")])
        store.write([Draft(key=b, content="content b", reads=(Read(key=a),))])
        store.write([Draft(key=c, content="content c again")])
        store.open_case(event="delete", roots=[c], actor="x", reason="r")
        case = store.open_case(
            event="correct", roots=[a], actor="x", reason="r", replacements=[Draft(key=a, content="A")]
        )
        no = store.stage(case.id, Draft(key=b, content="B"))
        store.publish(case.id, [Successor(key=b, version=no, reads=(Read(key=a, version=2),))])
        store.close_case(case.id)
        assert store.check() == []
    return path


def test_every_verb_leaves_its_entry(lived: Path) -> None:
    with SqliteStore.open(lived, readonly=True) as store:
        entries = store.journal(None)
    assert [entry.act for entry in reversed(entries)] == [
        *("create", "record", "record", "record", "withdraw", "withdraw", "replace", "stage", "publish"),
        "close",
    ]
    assert [entry.seq for entry in reversed(entries)] == list(range(1, 11))
    withdrawals = [(entry.case, entry.actor, entry.reason, entry.rows) for entry in entries if entry.actor]
    assert withdrawals == [(2, "x", "r", 2), (1, "x", "r", 2)]


TAMPERINGS = {
    "UPDATE journal_row SET after = 0 WHERE after = 1": {"seal", "barrier"},
    "UPDATE journal SET reason = 'other' WHERE seq = 5": {"seal"},
    "UPDATE journal SET at = at + 1 WHERE seq = 2": {"seal"},
    "DELETE FROM journal WHERE seq = 3": {"seal"},
    "UPDATE version SET digest = zeroblob(32) WHERE vid = 1": {"seal", "content"},
    "DELETE FROM barrier": {"barrier"},
    "UPDATE barrier SET state = 4 WHERE state = 3": {"barrier"},
    "INSERT INTO barrier VALUES(999, 1, 1)": {"barrier"},
    "UPDATE content SET text = 'forged' WHERE vid = (SELECT max(vid) FROM content)": {"content", "index"},
    "DELETE FROM content WHERE vid = (SELECT max(vid) FROM content)": {"content", "index"},
    "INSERT INTO arc VALUES(77, 1, 1, 0, 0, 0)": {"dangling_arc"},
    "UPDATE artifact SET cur = 1 WHERE aid = 2": {"current_version", "index"},
}


@pytest.mark.parametrize("tampering", TAMPERINGS)
def test_the_check_finds_what_was_tampered_with(lived: Path, tampering: str) -> None:
    db = sqlite3.connect(lived)
    with db:
        db.execute(tampering)
    db.close()
    with SqliteStore.open(lived) as store:
        codes = {fault.code for fault in store.check()}
    assert TAMPERINGS[tampering] <= codes
    assert codes <= TAMPERINGS[tampering] | {"barrier"}


def test_costs_and_looks_change_no_state(store: SqliteStore, put: Put) -> None:
    a = put("a")
    before = store.snapshot()
    store.inspect(a, actor="x", reason="r")
    store.before_image(a)
    store.note_operator_cost("f@1", 1, 1, 1)
    after = store.snapshot()
    assert (after.current, after.versions, after.arcs) == (before.current, before.versions, before.arcs)
    assert after.epoch == before.epoch + 2
    assert store.check() == []
