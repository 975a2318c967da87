"""Patrol: what is due when, by a clock that is told; a drill a month, on a copy; whoever calls the rounds."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import memorepair as mr
from memorepair.errors import InvalidInput
from memorepair.health.blockindex import BlockIndex
from memorepair.health.schedule import CHECKS, Schedule
from memorepair.memory.vectors import HashedNgrams, Vectors
from memorepair.patrolling import Round, add_patrol, make_round
from memorepair.repair.ports import Answer

if TYPE_CHECKING:
    from tests.conftest import Clock

MINUTE = 60 * 10**9
HOUR = 60 * MINUTE
NEW = {"structure", "duplicates new", "conflicts new"}


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[mr.Memory]:
    with mr.Memory.open(tmp_path / "agent.db", clock=clock) as opened:
        for n in range(12):
            opened.record(f"Parcel {n * 7919} is in rack {n * 104729}", id=f"p{n}", scope=("user", "1"))
        yield opened


def test_each_check_has_its_time(memory: mr.Memory, clock: Clock) -> None:
    def due(after: int, *occasions: str) -> set[str]:
        clock.now += after
        return set(memory.patrol(occasions).checks)

    first = due(0)
    assert first >= {"structure whole", "duplicates whole", "staleness", "drill"}
    assert not first & {"structure", "duplicates new"}  # the whole one looked at what is new as well
    assert due(MINUTE) == set()
    assert due(4 * MINUTE) == NEW
    assert due(55 * MINUTE) == {"structure whole", "duplicates new", "conflicts new", "retrieval"}
    assert due(MINUTE, "permission") == {"structure whole"}
    assert "drift" in due(MINUTE, "model")
    assert due(24 * HOUR) >= {"duplicates whole", "conflicts daily", "staleness"}
    assert "drill" not in due(28 * 24 * HOUR)
    assert "drill" in due(24 * HOUR)
    with pytest.raises(InvalidInput):
        due(0, "flood")


def test_a_schedule_is_the_same_after_a_restart(tmp_path: Path, memory: mr.Memory, clock: Clock) -> None:
    memory.patrol()
    clock.now += 6 * MINUTE
    with mr.Memory.open(tmp_path / "agent.db", clock=clock) as again:
        assert set(again.patrol().checks) == NEW


def test_every_check_of_the_schedule_becomes_due() -> None:
    made = Schedule(last={check.name: 0 for check in CHECKS})
    for check in CHECKS:
        if check.every:
            due = {one.name: one for one in made.due(check.every)}
            whole = {name for one in due.values() if one.whole for name in one.detectors or ()}
            assert check.name in due or whole.issuperset(check.detectors or ())
            assert check.name not in {one.name for one in made.due(check.every - 1)}


def test_a_drill_a_month_on_a_copy(memory: mr.Memory, clock: Clock) -> None:
    made = make_round(memory, rate=0.1)
    assert made.drill is not None
    assert made.drill.artifacts == 12
    assert all(count.harmed == 0 for count in made.drill.counts.values())
    assert len(memory.list()) == 12
    assert memory.store.cases() == []
    clock.now += HOUR
    assert make_round(memory).drill is None


def test_a_memory_too_small_for_a_drill_has_none(tmp_path: Path, clock: Clock) -> None:
    with mr.Memory.open(tmp_path / "small.db", clock=clock) as small:
        made = make_round(small)
    assert (made.patrol.drill_due, made.drill) == (True, None)


def test_what_is_new_is_compared_through_the_index(memory: mr.Memory, clock: Clock, tmp_path: Path) -> None:
    memory.patrol()
    path = BlockIndex.beside(tmp_path / "agent.db")
    assert path.exists()
    memory.record(" parcel 0 IS in rack 0 ", id="again", scope=("user", "1"))
    clock.now += 5 * MINUTE
    report = memory.patrol().report
    assert report is not None
    assert report.checkup.artifacts == 1
    assert [one.code for one in report.checkup.findings] == ["duplicate_exact"]
    path.write_bytes(b"not an index")  # a cache: without it the whole store is read, and says the same
    clock.now += 5 * MINUTE
    memory.record("PARCEL 7919 is in rack 104729", id="once more", scope=("user", "1"))
    report = memory.patrol().report
    assert report is not None
    assert [key.id for one in report.checkup.findings for key in one.keys] == ["p1", "once more"]


def test_an_erasure_takes_the_index_with_it(memory: mr.Memory, tmp_path: Path) -> None:
    memory.patrol()
    case = memory.delete("user/1::p0", actor="ada", reason="asked", erase=True)
    memory.repair(case)
    assert not BlockIndex.beside(tmp_path / "agent.db").exists()


def test_a_scheduler_makes_the_rounds(memory: mr.Memory, tmp_path: Path) -> None:
    background = pytest.importorskip("apscheduler.schedulers.background")
    scheduler = background.BackgroundScheduler()
    rounds: list[Round] = []
    path = tmp_path / "agent.db"
    for _ in range(2):  # asked for twice, it is one
        add_patrol(scheduler, path, minutes=5, told=rounds.append)
    scheduler.start(paused=True)
    (job,) = scheduler.get_jobs()
    assert (job.max_instances, job.coalesce) == (1, True)
    job.func()
    scheduler.shutdown()
    assert "structure whole" in rounds[0].patrol.checks
    assert rounds[0].to_json()["drill"] is not None
    for minutes in (0, -1, float("nan")):
        with pytest.raises(InvalidInput):
            add_patrol(scheduler, path, minutes=minutes)


def test_a_dry_run_says_what_is_due_and_writes_nothing(
    memory: mr.Memory, clock: Clock, tmp_path: Path
) -> None:
    memory.record(" parcel 0 IS in rack 0 ", id="again", scope=("user", "1"))
    memory.patrol()
    clock.now += 25 * HOUR  # the window of the merge is over
    memory.record("PARCEL 7919 is in rack 104729", id="other", scope=("user", "1"))
    before = dump(tmp_path / "agent.db")
    found = make_round(memory, ["model"], dry_run=True)
    assert {"structure whole", "duplicates whole", "drift"} <= set(found.patrol.checks)
    assert [(one.answer, one.done) for one in found.patrol.resumed] == [(Answer.GO, False)]
    assert found.patrol.report is not None
    assert {one.code for one in found.patrol.report.checkup.findings} == {"duplicate_exact"}
    assert found.drill is None
    assert dump(tmp_path / "agent.db") == before
    made = make_round(memory, ["model"])
    assert made.patrol.checks == found.patrol.checks
    assert made.patrol.resumed[0].done


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as db:
        return list(db.iterdump())


class Down(HashedNgrams):
    def embed(self, texts: Sequence[str]) -> Vectors:
        raise ConnectionError("down: " + texts[0])


def test_a_patrol_does_not_wait_for_an_embedder(memory: mr.Memory, clock: Clock, tmp_path: Path) -> None:
    memory.record(" parcel 0 IS in rack 0 ", id="again", scope=("user", "1"))
    with mr.Memory.open(tmp_path / "agent.db", clock=clock, embedder=Down()) as down:
        found = make_round(down, ["model"])
    report = found.patrol.report
    assert report is not None
    assert [one.code for one in report.checkup.findings] == ["duplicate_exact"]
    assert "drift: the embedder failed (ConnectionError)" in report.checkup.left_out
    assert (found.drill, found.undrilled) == (None, "ConnectionError")


def test_the_rounds_of_a_scheduler_have_the_embedder_they_are_given(
    memory: mr.Memory, tmp_path: Path
) -> None:
    jobs: list[Callable[[], None]] = []

    class Once:
        def add_job(self, func: Callable[[], None], trigger: str, **options: object) -> None:
            jobs.append(func)

    rounds: list[Round] = []
    add_patrol(Once(), tmp_path / "agent.db", embedder=HashedNgrams(dimension=256), told=rounds.append)
    jobs[0]()
    report = rounds[0].patrol.report
    assert report is not None
    assert "embedding_other_dimension" in {one.code for one in report.checkup.findings}
