"""Governance: three tries across restarts, caps that hold, a queue that stays bounded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memorepair.errors import InvalidInput
from memorepair.governance import Governor, Item, Limits, Policy, Queue, Status, grade_of
from memorepair.governance.attempts import Attempts
from memorepair.governance.loops import Loops
from memorepair.memory.artifact import Draft, Key
from memorepair.memory.sqlite import SqliteStore
from memorepair.repair.ports import Answer, Grade, Proposal, Remedy

if TYPE_CHECKING:
    from tests.conftest import Clock

OPEN = Policy(confirmed=frozenset(Remedy))


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[SqliteStore]:
    with SqliteStore.open(tmp_path / "agent.db", clock=clock) as opened:
        opened.write([Draft(key=Key((), f"k{n}"), content=f"text {n}") for n in range(100)])
        yield opened


def proposal(n: int = 0, remedy: Remedy = Remedy.MERGE, **more: Any) -> Proposal:
    key = Key((), f"k{n % 100}")
    made = Proposal(
        remedy=remedy,
        keys=(key,),
        why="because",
        way_back="undo",
        looked_at=(key,),
        fingerprint=f"print {n}",
        codes={"duplicate_exact": 1},
        impact=1,
    )
    return replace(made, **more)


def test_three_tries_across_restarts_then_a_person(store: SqliteStore) -> None:
    for attempt in range(3):
        governor = Governor(store, OPEN)  # each in another process
        # What two remedies that undo each other do: the same artifact, in another state every time.
        tried = proposal(fingerprint=f"state {attempt}")
        assert governor.admit(tried).answer is Answer.GO
        governor.tried(tried, done=attempt % 2 == 0, case=None)
    fourth = Governor(store, OPEN).admit(proposal(fingerprint="state 4"))
    assert (fourth.answer, fourth.grade) == (Answer.WAIT, Grade.APPROVED)
    (item,) = Governor(store, OPEN).queue.waiting()
    assert item.due is None
    assert "3 times" in item.held


def test_who_dies_on_an_attempt_has_tried_it(store: SqliteStore) -> None:
    Governor(store, OPEN).admit(proposal())
    key = Key((), "k0")
    assert Loops(Attempts(store)).tries(Remedy.MERGE, [key]) == {key: 1}


def test_what_is_done_and_unchanged_is_skipped(store: SqliteStore) -> None:
    governor = Governor(store, OPEN)
    assert governor.admit(proposal()).answer is Answer.GO
    governor.tried(proposal(), done=True, case=1)
    assert Governor(store, OPEN).admit(proposal()).answer is Answer.SKIP


def test_a_repair_that_would_destroy_most_of_the_store_in_two_days_is_held(
    store: SqliteStore, clock: Clock
) -> None:
    done = 0
    for n in range(100):
        governor = Governor(store, OPEN, Limits(least_a_day=1, share_a_day=0.2))
        done += governor.admit(proposal(n)).answer is Answer.GO
        clock.now += 20 * 60 * 10**9  # within two days
    assert done == 20
    clock.now += 3 * 86_400 * 10**9
    assert Governor(store, OPEN, Limits(least_a_day=1)).admit(proposal(99)).answer is Answer.GO


def test_rate_day_and_load_make_it_wait(store: SqliteStore) -> None:
    governor = Governor(store, OPEN, Limits(repairs_a_minute=2))
    answers = [governor.admit(proposal(n)) for n in range(3)]
    assert [one.answer for one in answers] == [Answer.GO, Answer.GO, Answer.WAIT]
    assert "minute" in answers[2].why
    busy = Governor(store, OPEN, load=lambda: 3.0).admit(proposal(7))
    assert busy.answer is Answer.WAIT
    assert "retrieval" in busy.why
    daily = Governor(store, OPEN, Limits(repairs_a_day=2)).admit(proposal(8))
    assert daily.answer is Answer.WAIT
    assert "a day" in daily.why


def test_a_rejected_one_is_not_asked_again(store: SqliteStore) -> None:
    governor = Governor(store, Policy())
    assert governor.admit(proposal()).answer is Answer.WAIT
    (item,) = governor.queue.waiting()
    governor.queue.move(item, Status.REJECTED, actor="ada", reason="no")
    assert Governor(store, OPEN).admit(proposal()).answer is Answer.SKIP


def test_the_queue_is_bounded_and_keeps_what_matters(store: SqliteStore) -> None:
    queue = Queue(store, most=5)
    for n in range(50):
        item = Item.of(proposal(n), Grade.APPROVED, "a person", at=n, due=None)
        queue.put(replace(item, id=f"id{n:03d}"))
        assert len(queue) <= 5
    urgent = Item.of(proposal(51, Remedy.STATUS), Grade.AUTOMATIC, "rate", at=99, due=0)
    assert queue.put(urgent)
    assert len(queue) == 5
    assert queue.waiting()[0] == urgent
    assert [Item.from_json(one.to_json()) for one in queue.all()] == Queue(store, most=5).all()


@pytest.mark.parametrize(
    ("made", "grade"),
    [
        (proposal(remedy=Remedy.STATUS), Grade.AUTOMATIC),
        (proposal(remedy=Remedy.COMPLETE), Grade.AUTOMATIC),
        (proposal(remedy=Remedy.MERGE), Grade.CONFIRMED),
        (proposal(remedy=Remedy.MERGE, confidence=0.3), Grade.APPROVED),
        (proposal(remedy=Remedy.REEMBED), Grade.AUTOMATIC),
        (proposal(remedy=Remedy.REEMBED, codes={"embedding_other_model": 1}), Grade.APPROVED),
        (proposal(remedy=Remedy.SCOPE), Grade.APPROVED),
        (proposal(remedy=Remedy.PERSON), Grade.APPROVED),
    ],
)
def test_grades(made: Proposal, grade: Grade) -> None:
    assert grade_of(made, Policy()) is grade


def test_a_policy_can_only_be_stricter() -> None:
    with pytest.raises(InvalidInput):
        Policy(stricter={Remedy.SCOPE: Grade.AUTOMATIC})
    strict = Policy(stricter={Remedy.STATUS: Grade.APPROVED})
    assert grade_of(proposal(remedy=Remedy.STATUS), strict) is Grade.APPROVED
