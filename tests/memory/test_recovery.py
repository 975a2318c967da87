"""What a dead repair leaves is taken back by the next to open the store, behind the barrier."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memorepair.errors import Withdrawn
from memorepair.memory.artifact import CaseStatus, Draft, Key, State
from memorepair.memory.sqlite import SqliteStore
from memorepair.memory.store import Recovery

Put = Callable[..., Key]
A, B = Key((), "a"), Key((), "b")

DIES = """
import os, sys
from memorepair.memory.artifact import Draft, Key
from memorepair.memory.sqlite import SqliteStore
store = SqliteStore.open(sys.argv[1])
with store.repairing(1):
    store.begin_repair(1, "digest of the plan")
    store.stage(1, Draft(key=Key((), "b"), content="half done"))
    print("staged", flush=True)
    sys.stdin.readline()
    os._exit(9)
"""


@pytest.fixture
def declared(store: SqliteStore, put: Put) -> SqliteStore:
    put("a", "old a")
    put("b", "old b", A)
    store.open_case(
        event="correct", roots=[A], replacements=[Draft(key=A, content="new a")], actor="x", reason="r"
    )
    return store


def test_a_repair_at_work_is_left_alone_and_a_dead_one_taken_back(declared: SqliteStore) -> None:
    store = declared
    process = subprocess.Popen(
        [sys.executable, "-c", DIES, str(store.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "staged\n"
    assert store.recover() == Recovery()
    assert store.case(1).status is CaseStatus.RUNNING
    assert store.staged_content(B, 2) == "half done"
    process.communicate("\n")
    assert store.recover() == Recovery(reopened=(1,), discarded=1)
    assert (store.case(1).status, store.case(1).attempts) == (CaseStatus.OPEN, 1)
    assert [entry.act for entry in store.journal(3)] == ["recover", "discard", "stage"]
    assert store.journal(4)[3].reason == "digest of the plan"
    assert [past.state for past in store.history(B)] == [State.WITHDRAWN, State.ERASED]
    with pytest.raises(Withdrawn):
        store.get(B)
    assert store.recover() == Recovery()
    assert store.check() == []


def test_attempts_are_counted_until_one_comes_to_its_end(declared: SqliteStore, path: Path) -> None:
    declared.begin_repair(1, "one")
    declared.begin_repair(1, "one, planned again", again=True)
    with SqliteStore.open(path) as other:
        other.begin_repair(1, "two")
    assert declared.case(1).attempts == 2
    declared.close_case(1)
    assert declared.case(1).attempts == 0
