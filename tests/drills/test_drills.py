"""Faults at every point: a change is whole or not there, the barrier stands, the case can be finished."""

from __future__ import annotations

import ast
import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import memorepair as mr
from memorepair.drills import (
    Blow,
    Stop,
    Struck,
    fail,
    fill,
    held,
    lock_out,
    no_room,
    rehearse,
    striking,
)
from memorepair.errors import InvalidInput, StoreError, Withdrawn
from memorepair.memory import points
from memorepair.memory.artifact import CaseStatus, Draft, Key, Read, Recipe, State
from memorepair.memory.points import BEGIN, COMMITTED, MADE, OPERATOR, STATEMENT, VALIDATION
from memorepair.repair.operators.operator import Call

A, B, C = (Key(("s",), name) for name in "abc")
ROOM = Path(points.__file__).parent


@mr.operator(name="joined")
def joined(call: Call) -> str:
    return "of " + " ".join(source.content for source in call.inputs)


def opened(path: Path) -> mr.Memory:
    return mr.Memory.open(path, operators=[joined], retention_days=0.0)


def filled(path: Path) -> None:
    """a -> b -> c."""
    with opened(path) as memory:
        memory.ingest(
            [
                Draft(key=A, content="old a"),
                Draft(key=B, content="of old a", recipe=Recipe(operator="joined"), reads=(Read(key=A),)),
                Draft(key=C, content="of of old a", recipe=Recipe(operator="joined"), reads=(Read(key=B),)),
            ]
        )


def corrected(path: Path) -> None:
    filled(path)
    with opened(path) as memory:
        memory.correct(A, "new a", actor="x", reason="r")


def repair(path: Path) -> None:
    with opened(path) as memory:
        memory.repair(1, tradeoff=0.0)


def contents(memory: mr.Memory) -> list[str | None]:
    served = memory.store.served([A, B, C])
    return [served[key].content if key in served else None for key in (A, B, C)]


WITHDRAWN, REPAIRED = ["new a", None, None], ["new a", "of new a", "of of new a"]


def test_a_rehearsal_has_every_stop_in_order_and_changes_nothing_of_what_is_done(tmp_path: Path) -> None:
    corrected(tmp_path / "m.db")
    stops = rehearse(lambda: repair(tmp_path / "m.db"))
    assert [stop.point for stop in stops if ": " in stop.point] == [
        f"{act}: {moment}"
        for act in ("repair", "stage", "stage", "publish", "close")
        for moment in (points.INTENT, points.ACTED, points.SEALED)
    ]
    assert [stop.nth for stop in stops if stop.point == OPERATOR] == list(
        range(1, len([stop for stop in stops if stop.point == MADE]) + 1)
    )
    assert {OPERATOR, MADE, VALIDATION, BEGIN, COMMITTED, STATEMENT} <= {stop.point for stop in stops}
    with opened(tmp_path / "m.db") as memory:
        assert contents(memory) == REPAIRED


def test_drills_do_not_nest_and_leave_no_trace(tmp_path: Path) -> None:
    with striking(Stop(point=BEGIN, nth=1), fail) as strike:
        with pytest.raises(InvalidInput), striking(Stop(point=BEGIN, nth=1), fail):
            pass
        with pytest.raises(Struck):
            filled(tmp_path / "m.db")
        filled(tmp_path / "m.db")  # a blow falls once
    assert strike.fallen
    filled(tmp_path / "n.db")


@pytest.fixture(scope="module")
def rehearsed(tmp_path_factory: pytest.TempPathFactory) -> list[Stop]:
    path = tmp_path_factory.mktemp("rehearsal") / "m.db"
    corrected(path)
    return [stop for stop in rehearse(lambda: repair(path)) if stop.point != STATEMENT]


@pytest.mark.parametrize("blow", [fail, fill, lock_out])
def test_a_fault_at_any_stop_of_a_repair_leaves_the_barrier_up_and_the_case_to_finish(
    rehearsed: list[Stop], tmp_path: Path, blow: Blow
) -> None:
    # A full disk or a lock is met inside the store only.
    met = [stop for stop in rehearsed if blow is fail or stop.point not in (OPERATOR, MADE, VALIDATION)]
    for place, stop in enumerate(met):
        path = tmp_path / f"{place}.db"
        corrected(path)
        with striking(stop, blow) as strike, pytest.raises((Struck, StoreError)) as caught:
            repair(path)
        assert strike.fallen
        assert isinstance(caught.value, Struck if blow is fail else StoreError), stop
        with opened(path) as memory:
            assert contents(memory) in (WITHDRAWN, REPAIRED), stop
            assert memory.store.check() == [], stop
            for key in (B, C):
                assert {past.content for past in memory.history(key)} <= {None, *REPAIRED}
            assert memory.store.case(1).status in (CaseStatus.OPEN, CaseStatus.CLOSED)
        repair(path)
        with opened(path) as memory:
            assert contents(memory) == REPAIRED
            assert memory.store.case(1).status is CaseStatus.CLOSED
            assert memory.store.check() == []


@pytest.mark.parametrize("point", [OPERATOR, MADE, VALIDATION])
def test_a_fault_in_an_operator_or_a_validator_takes_back_what_was_staged(tmp_path: Path, point: str) -> None:
    path = tmp_path / "m.db"
    corrected(path)
    with opened(path) as memory:
        with striking(Stop(point=point, nth=2), fail), pytest.raises(Struck):
            memory.repair(1, tradeoff=0.0)
        # at once, in the process that goes on, and not only at the next open
        assert [past.state for past in memory.history(B)] == [State.WITHDRAWN, State.ERASED]
        assert memory.store.case(1).status is CaseStatus.OPEN
        with pytest.raises(Withdrawn):
            memory.get(B)


def test_every_act_of_the_journal_is_a_point(tmp_path: Path) -> None:
    """Whoever writes an entry passes through `Journal.entry`, which is where the points are."""
    entered = {
        node.func.attr
        for path in ROOM.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "entry"
    }
    assert entered == {"entry"}
    inserts = [
        path.name for path in ROOM.glob("*.py") if re.search(r"INSERT INTO journal\(", path.read_text())
    ]
    assert inserts == ["journal.py"]


def test_no_room_on_the_disk_changes_nothing_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    corrected(path)
    size = sum(file.stat().st_size for file in tmp_path.iterdir())
    big = Draft(key=Key(("s",), "big"), content="x" * 4 * size)
    with opened(path) as memory:
        before = memory.store.snapshot()
        with no_room(size), pytest.raises(StoreError):
            memory.ingest([big])
        assert memory.store.snapshot() == before
        assert memory.store.check() == []
        memory.ingest([big])  # there is room again
        assert memory.get(big.key).content == big.content


def test_a_withdrawal_waits_for_another_writer(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    filled(path)
    with opened(path) as memory, held(path) as other:
        let_go = threading.Timer(0.3, other.execute, ["COMMIT"])
        let_go.start()
        case = memory.delete(A, actor="x", reason="r")
        let_go.join()
        assert case.withdrawn == 3
        assert contents(memory) == [None, None, None]


@pytest.mark.parametrize("verb", ["delete", "correct", "record"])
def test_a_lock_that_is_never_let_go_is_an_error_and_readers_go_on(tmp_path: Path, verb: str) -> None:
    path = tmp_path / "m.db"
    filled(path)
    verbs: dict[str, Callable[[mr.Memory], object]] = {
        "delete": lambda memory: memory.delete(A, actor="x", reason="r"),
        "correct": lambda memory: memory.correct(A, "new", actor="x", reason="r"),
        "record": lambda memory: memory.record("text"),
    }
    with opened(path) as memory, opened(path) as reader:
        before = memory.store.snapshot()
        with striking(Stop(point=BEGIN, nth=1), lock_out), pytest.raises(StoreError, match="locked"):
            verbs[verb](memory)
        assert reader.get(A).content == "old a"
        assert memory.store.snapshot() == before
