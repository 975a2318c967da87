"""The journal has every change in a chain of seals, and the check finds what was tampered with."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from memorepair.memory.artifact import Draft, Key, Read, Recipe
from memorepair.memory.exchange import OperatorRun
from memorepair.memory.sqlite import SqliteStore
from memorepair.memory.store import Release, Successor

Put = Callable[..., Key]


@pytest.fixture
def lived(path: Path) -> Path:
    """A store through an update, a deletion and a correction that was repaired; closed."""
    a, b, c, d = (Key((), name) for name in "abcd")
    with SqliteStore.open(path) as store:
        store.write([Draft(key=a, content="content a"), Draft(key=c, content="content c")])
        recipe = Recipe(operator="f", params={"n": 1})
        store.write([Draft(key=b, content="content b", reads=(Read(key=a),), recipe=recipe)])
        store.write([Draft(key=c, content="content c again", metadata={"told": "once"})])
        store.write([Draft(key=d, content="content d", reads=(Read(key=b),))])
        store.open_case(event="delete", roots=[c], actor="x", reason="r")
        case = store.open_case(
            event="correct", roots=[a], actor="x", reason="r", replacements=[Draft(key=a, content="A")]
        )
        no = store.stage(case.id, Draft(key=b, content="B"))
        store.publish(
            case.id,
            [Successor(key=b, version=no, reads=(Read(key=a, version=2),))],
            [Release(key=d, reads=(Read(key=b, version=no),))],
        )
        store.close_case(case.id)
        assert store.check() == []
    return path


def test_every_verb_leaves_its_entry(lived: Path) -> None:
    with SqliteStore.open(lived, readonly=True) as store:
        entries = store.journal(None)
    assert [entry.act for entry in reversed(entries)] == [
        *("create", "record", "record", "record", "record", "withdraw", "withdraw", "replace", "stage"),
        *("publish", "close"),
    ]
    assert [entry.seq for entry in reversed(entries)] == list(range(1, 12))
    withdrawals = [(entry.case, entry.actor, entry.reason, entry.rows) for entry in entries if entry.actor]
    assert withdrawals == [(2, "x", "r", 3), (1, "x", "r", 2)]


TAMPERINGS = {
    "UPDATE journal_row SET after = 0 WHERE after = 1": {"seal", "barrier"},
    "UPDATE journal SET reason = 'other' WHERE seq = 6": {"seal"},
    "UPDATE journal SET at = at + 1 WHERE seq = 2": {"seal"},
    "DELETE FROM journal WHERE seq = 3": {"seal"},
    "UPDATE version SET digest = zeroblob(32) WHERE vid = 1": {"seal", "content"},
    "UPDATE version SET words = zeroblob(16) WHERE vid = 1": {"seal", "content"},
    "UPDATE version SET words = x'', made = CAST(words || made AS BLOB) WHERE vid = 1": {"seal", "content"},
    "DELETE FROM barrier": {"barrier"},
    "UPDATE barrier SET state = 4 WHERE state = 3": {"barrier"},
    "UPDATE barrier SET cause = 3 - cause": {"barrier"},
    "DELETE FROM arc WHERE dst = 3": {"arcs"},
    "DELETE FROM arc_old": {"arcs"},
    "UPDATE arc SET grp = 1 WHERE dst = 3": {"arcs"},
    "UPDATE arc SET rel = 6 WHERE dst = 4": {"arcs"},
    "INSERT INTO arc SELECT 2, vid, 1, 0, 0, 0 FROM version WHERE aid = 2": {"arcs"},
    "UPDATE journal_row SET arcs = NULL": {"seal", "arcs", "image"},
    "DELETE FROM arc_image": {"image"},
    "UPDATE arc_image SET src_vid = 1": {"image"},
    "INSERT INTO arc_image VALUES(1, 1, 2, 0, 0, 0)": {"image"},
    "UPDATE recipe SET body = replace(body, '1', '2')": {"version"},
    "DELETE FROM recipe": {"version"},
    "UPDATE content SET meta = NULL": {"version"},
    "UPDATE version SET kind = 1 WHERE vid = 2": {"version"},
    "UPDATE version SET made = zeroblob(16)": {"seal", "version"},
    "DELETE FROM tombstone": {"case"},
    "UPDATE cases SET tau = 'migrate' WHERE cause = 1": {"case"},
    "UPDATE case_root SET vid = 1 WHERE cause = 1": {"case"},
    "INSERT INTO barrier VALUES(999, 1, 1)": {"barrier"},
    "UPDATE content SET text = 'forged' WHERE vid = (SELECT max(vid) FROM content)": {"content", "index"},
    "DELETE FROM content WHERE vid = (SELECT max(vid) FROM content)": {"content", "index"},
    "INSERT INTO arc VALUES(77, 1, 1, 0, 0, 0)": {"dangling_arc", "arcs"},
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
    store.note_operator_runs([OperatorRun(operator="f@1", unit="tokens", size=1, cost=1, seconds=1)])
    after = store.snapshot()
    assert (after.current, after.versions, after.arcs) == (before.current, before.versions, before.arcs)
    assert after.epoch == before.epoch + 2
    assert store.check() == []
