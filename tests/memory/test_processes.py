"""Several processes and threads may use one file."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from memorepair.errors import ForeignStore, InvalidInput, RepairInProgress, StoreError, UnknownId
from memorepair.memory.artifact import Draft, Key
from memorepair.memory.sqlite import SqliteStore

HOLDER = """
import sys
from memorepair.memory.sqlite import SqliteStore
with SqliteStore.open(sys.argv[1]) as store, store.repairing(1):
    print("held", flush=True)
    sys.stdin.readline()
"""
WRITER = """
import sys
from memorepair.memory.artifact import Draft, Key
from memorepair.memory.sqlite import SqliteStore
with SqliteStore.open(sys.argv[1]) as store:
    for n in range(40):
        store.write([Draft(key=Key((), f"{sys.argv[2]}-{n}"), content=f"text {n}"),
                     Draft(key=Key((), "shared"), content=f"shared {sys.argv[2]} {n}")])
"""
CREATOR = """
import sys
from memorepair.memory.sqlite import SqliteStore
sys.stdin.readline()
SqliteStore.open(sys.argv[1]).close()
"""


def start(script: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


@pytest.fixture
def with_case(store: SqliteStore) -> SqliteStore:
    store.write([Draft(key=Key((), "a"), content="a")])
    store.open_case(event="correct", roots=[Key((), "a")], actor="x", reason="r")
    return store


def test_one_repair_at_a_time_across_processes(with_case: SqliteStore) -> None:
    store = with_case
    holder = start(HOLDER, str(store.path))
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(RepairInProgress), store.repairing(1):
        pass
    # withdrawals go on meanwhile
    store.write([Draft(key=Key((), "b"), content="b")])
    store.open_case(event="delete", roots=[Key((), "b")], actor="x", reason="r")
    holder.kill()  # a process that dies lets go
    holder.communicate()
    with store.repairing(1, wait=5.0):
        pass


def test_one_repair_at_a_time_within_a_process(with_case: SqliteStore) -> None:
    store = with_case
    with store.repairing(1):
        with pytest.raises(RepairInProgress) as caught, store.repairing(1):
            pass
        assert caught.value.witness == str(store.path)
        with SqliteStore.open(store.path) as other, pytest.raises(RepairInProgress), other.repairing(1):
            pass
    with store.repairing(1), pytest.raises(UnknownId), store.repairing(9):
        pass


@pytest.mark.parametrize("wait", ["x", None, -1.0, float("nan"), float("inf"), True])
def test_a_wait_is_a_number_of_seconds(with_case: SqliteStore, wait: Any) -> None:
    with pytest.raises(InvalidInput), with_case.repairing(1, wait=wait):
        pass
    with with_case.repairing(1, wait=1e300):
        pass


def test_a_lock_that_is_something_else_is_left_alone(with_case: SqliteStore) -> None:
    side = with_case.path.with_name(with_case.path.name + "-repair")
    side.write_text("this is no lock of ours\n" * 50)
    with pytest.raises(ForeignStore) as caught, with_case.repairing(1):
        pass
    assert caught.value.witness == str(side)
    side.unlink()
    side.mkdir()
    with pytest.raises(StoreError), with_case.repairing(1):
        pass


def test_a_repair_that_waits_gets_its_turn(with_case: SqliteStore) -> None:
    store = with_case
    taken, ended = threading.Event(), threading.Event()

    def first() -> None:
        with store.repairing(1):
            taken.set()
            ended.wait(10)

    thread = threading.Thread(target=first)
    thread.start()
    taken.wait(10)
    threading.Timer(0.2, ended.set).start()
    with store.repairing(1, wait=30.0):
        assert ended.is_set()
    thread.join()


def test_writers_in_two_processes_wait_for_each_other(store: SqliteStore) -> None:
    writers = [start(WRITER, str(store.path), name) for name in ("x", "y")]
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    assert len(store.listing()) == 81
    assert store.get(Key((), "shared")).version == 80
    assert store.check() == []


def test_two_processes_may_make_the_file_at_once(path: Path) -> None:
    creators = [start(CREATOR, str(path)) for _ in range(3)]
    for creator in creators:
        assert creator.stdin is not None
        creator.stdin.write("\n")
        creator.stdin.flush()
    for creator in creators:
        creator.communicate()
        assert creator.returncode == 0
    with SqliteStore.open(path) as store:
        assert [entry.act for entry in store.journal()] == ["create"]
        assert store.check() == []


def test_threads_may_share_a_store(store: SqliteStore) -> None:
    keys = [Key((), f"k{n}") for n in range(4)]
    failures: list[BaseException] = []

    def work(key: Key) -> None:
        try:
            for n in range(30):
                store.write([Draft(key=key, content=f"value {n}")])
                assert store.get(key).content == f"value {n}"
                assert store.search(f"value {n}", scope=())
                store.history(key)
        except BaseException as failure:  # noqa: BLE001  reported by the test's own thread
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(key,)) for key in keys]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert all(store.get(key).version == 30 for key in keys)
    assert store.check() == []
