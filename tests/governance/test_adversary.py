"""What somebody would try against the gate: replays, races of two processes, restarts, changes in between."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Barrier
from typing import TYPE_CHECKING, Any

import pytest

import memorepair as mr
from memorepair.errors import CorruptStore, InvalidInput, MemoRepairError, StaleRead
from memorepair.governance import Governor, Item, Limits, Policy, Queue, Status
from memorepair.governance.attempts import BOOK, Attempt, Attempts
from memorepair.health.remedies import Wanted
from memorepair.housekeeping import Housekeeper, Keeping
from memorepair.memory.artifact import Key
from memorepair.memory.sqlite import SqliteStore
from memorepair.repair.ports import Answer, Grade, Proposal, Remedy

if TYPE_CHECKING:
    from tests.conftest import Clock

U = ("user", "1")
SIGNED: Any = {"actor": "ada", "reason": "seen"}
ALL = Policy(confirmed=frozenset(Remedy))


@pytest.fixture
def path(tmp_path: Path, clock: Clock) -> Path:
    place = tmp_path / "agent.db"
    with mr.Memory.open(place, clock=clock) as memory:
        for n in range(6):
            memory.record(f"The {n * 7919} key hangs behind the door", id=f"a{n}", scope=U)
            memory.record(f" the {n * 7919} KEY hangs behind the door", id=f"b{n}", scope=U)
    return place


@pytest.fixture
def memory(path: Path, clock: Clock) -> Iterator[mr.Memory]:
    with mr.Memory.open(path, clock=clock) as opened:
        yield opened


def keeper(memory: mr.Memory, policy: Policy | None = None, **limits: Any) -> Housekeeper:
    return memory.housekeeper(Keeping(policy=policy or Policy(), limits=Limits(**limits)))


def proposal(n: int, remedy: Remedy = Remedy.MERGE) -> Proposal:
    key = Key(U, f"a{n % 6}")
    return Proposal(
        remedy=remedy,
        keys=(key,),
        why="because",
        way_back="undo",
        looked_at=(key,),
        fingerprint=f"print {n}",
        codes={"duplicate_exact": 1},
        impact=1,
    )


# approvals ------------------------------------------------------------------------------------------


def test_an_approval_is_no_second_time_one(memory: mr.Memory) -> None:
    keeper(memory).run()
    item = keeper(memory).desk.waiting()[0]
    assert keeper(memory).approve(item.id, **SIGNED).done
    with pytest.raises(InvalidInput, match="done"):
        keeper(memory).approve(item.id, **SIGNED)
    cases = memory.store.cases()
    memory.undo(cases[-1], **SIGNED)
    # The memory is again as it was shown, digest and all: the person's yes was for one time.
    with pytest.raises(InvalidInput):
        keeper(memory).approve(item.id, **SIGNED)
    assert not any(one.done for one in keeper(memory, ALL).run().outcomes)
    assert len(memory.store.cases()) == len(cases)


def test_what_is_approved_while_the_caps_hold_acts_after_a_restart(
    path: Path, memory: mr.Memory, clock: Clock
) -> None:
    keeper(memory).run()
    item = keeper(memory).desk.waiting()[0]
    Governor(memory.store, ALL).admit(
        proposal(99, Remedy.STATUS)
    )  # the one repair that this minute has room for
    outcome = keeper(memory, repairs_a_minute=1).approve(item.id, **SIGNED)
    assert (outcome.answer, outcome.done) == (Answer.WAIT, False)
    kept = keeper(memory).desk.show(item.id)
    assert (kept.status, kept.actor) == (Status.APPROVED, "ada")
    clock.now += 3_600 * 10**9
    with mr.Memory.open(path, clock=clock) as later:
        assert any(one.done for one in keeper(later).patrol().resumed)
        assert keeper(later).desk.show(item.id).status is Status.DONE
        assert len(later.store.cases()) == 1


def test_a_yes_to_what_has_changed_since_is_none(memory: mr.Memory, clock: Clock) -> None:
    keeper(memory).run()
    item = keeper(memory).desk.waiting()[0]
    Governor(memory.store, ALL).admit(proposal(99, Remedy.STATUS))
    keeper(memory, repairs_a_minute=1).approve(item.id, **SIGNED)
    memory.record("something else altogether", id=item.keys[0].id, scope=U)
    clock.now += 3_600 * 10**9
    keeper(memory).resume()
    assert keeper(memory).desk.show(item.id).status is Status.EXPIRED
    assert memory.store.cases() == []


def test_what_is_rejected_and_found_again_is_not_asked_again_until_it_changes(memory: mr.Memory) -> None:
    keeper(memory).run()
    item = keeper(memory).desk.waiting()[0]
    keeper(memory).reject(item.id, **SIGNED)
    again = keeper(memory).run()
    assert again.outcomes == ()
    assert "6 findings that a person has decided about" in again.checkup.left_out
    assert keeper(memory).desk.waiting() == []
    memory.record("The 0 key hangs  behind the door!", id="c", scope=U)
    keeper(memory).run()
    assert len(keeper(memory).desk.waiting()) == 1


def flagged(memory: mr.Memory) -> Item:
    """Two that rules cannot tell, served and flagged; what waits for a person."""
    for id, text in (("x", "Tom eats a lot of sugar"), ("y", "Tom never eats sweets")):
        memory.record(text, id=id, scope=U)
    wanted = Wanted(remedy=Remedy.REVIEW, keys=(Key(U, "x"), Key(U, "y")), confidence=0.5)
    house = keeper(memory)
    house.acting.act_on(wanted)
    (item,) = house.desk.waiting()
    return item


def test_who_decides_a_conflict_decides_on_what_was_shown(memory: mr.Memory) -> None:
    item = flagged(memory)
    memory.record("Tom eats sweets on Sundays only", id="y", scope=U)
    with pytest.raises(StaleRead):
        keeper(memory).approve(item.id, keep=Key(U, "y"), **SIGNED)
    assert memory.get(Key(U, "x")).content == "Tom eats a lot of sugar"
    assert memory.get(Key(U, "y")).content == "Tom eats sweets on Sundays only"
    assert keeper(memory).desk.show(item.id).status is Status.EXPIRED


def test_a_doubtful_leak_that_a_person_confirms_is_moved(memory: mr.Memory) -> None:
    key = memory.record("belongs to somebody else", id="leak", scope=U)
    house = keeper(memory)
    house.acting.act_on(Wanted(remedy=Remedy.SCOPE, keys=(key,), confidence=0.6))
    (item,) = house.desk.waiting()
    assert keeper(memory).approve(item.id, move=("user", "2"), **SIGNED).done
    assert [one.key.scope for one in memory.list(state="active") if one.key.id == "leak"] == [("user", "2")]
    assert keeper(memory).desk.show(item.id).status is Status.DONE
    assert memory.store.check() == []


@pytest.mark.parametrize("name", ["actor", "reason"])
def test_who_decides_has_a_name_and_a_reason(memory: mr.Memory, name: str) -> None:
    keeper(memory).run()
    item = keeper(memory).desk.waiting()[0]
    with pytest.raises(InvalidInput):
        keeper(memory).approve(item.id, **{**SIGNED, name: ""})
    with pytest.raises(InvalidInput):
        keeper(memory).reject(item.id, **{**SIGNED, name: ""})
    assert keeper(memory).desk.show(item.id).status is Status.WAITING
    assert memory.store.cases() == []


# two processes -----------------------------------------------------------------------------------------


def test_two_who_approve_at_once_act_once(path: Path, clock: Clock, memory: mr.Memory) -> None:
    keeper(memory).run()
    item = keeper(memory).desk.waiting()[0]
    together = Barrier(2)

    def approve(_: int) -> bool:
        with mr.Memory.open(path, clock=clock) as mine:
            house = keeper(mine)
            together.wait()
            with suppress(MemoRepairError):
                return house.approve(item.id, **SIGNED).done
            return False

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(approve, range(2))) == [False, True]
    assert len(memory.store.cases()) == 1
    assert keeper(memory).desk.show(item.id).status is Status.DONE
    assert memory.store.check() == []


def test_caps_and_tries_are_shared_by_processes_that_run_side_by_side(path: Path) -> None:
    with ExitStack() as stack:
        stores = [stack.enter_context(SqliteStore.open(path)) for _ in range(4)]
        gates = [Governor(store, ALL, Limits(repairs_a_day=5)) for store in stores]  # all know an empty book
        together = Barrier(4)

        def admit(place: int) -> int:
            together.wait()
            return sum(gates[place].admit(proposal(place * 10 + n)).answer is Answer.GO for n in range(4))

        with ThreadPoolExecutor(4) as pool:
            assert sum(pool.map(admit, range(4))) == 5
        assert len(Attempts(stores[0]).within(10**18)) == 5


def test_a_queue_that_two_fill_stays_bounded_and_no_decision_is_overwritten(path: Path) -> None:
    with SqliteStore.open(path) as one, SqliteStore.open(path) as other:
        mine, yours = Queue(one, most=3), Queue(other, most=3)
        for n in range(20):
            item = Item.of(proposal(n), Grade.APPROVED, "a person", at=n, due=None)
            (mine if n % 2 else yours).put(item)
            assert len(mine) == len(yours) <= 3
        item = mine.waiting()[0]
        yours.move(item, Status.REJECTED, actor="ada", reason="no")
        assert not mine.put(item)
        with pytest.raises(StaleRead):
            mine.move(item, Status.DONE)
        assert mine.get(item.id).status is Status.REJECTED


# what is kept ------------------------------------------------------------------------------------------


def test_an_altered_book_closes_the_gate(memory: mr.Memory) -> None:
    memory.store.note(BOOK, {"x": {"at": "yesterday"}})
    with pytest.raises(CorruptStore):
        Governor(memory.store, ALL).admit(proposal(1))
    with pytest.raises(CorruptStore):
        Attempt.from_json({"at": 1})


def test_a_clock_that_is_set_back_opens_no_caps(path: Path, clock: Clock, memory: mr.Memory) -> None:
    assert Governor(memory.store, ALL, Limits(repairs_a_day=1)).admit(proposal(1)).answer is Answer.GO
    clock.now -= 3 * 86_400 * 10**9
    assert Governor(memory.store, ALL, Limits(repairs_a_day=1)).admit(proposal(2)).answer is Answer.WAIT


def test_notes_hold_no_content(path: Path, memory: mr.Memory) -> None:
    keeper(memory, ALL).run()
    for book in (BOOK, "queue", "ledger", "health"):
        assert "hangs behind" not in str(memory.store.notes(book)).casefold()


def test_drafts_that_only_look_alike_are_no_proposal_of_each_other(memory: mr.Memory) -> None:
    one, other = proposal(1), proposal(2)
    assert one.digest != other.digest
    gate = Governor(memory.store, Policy())
    gate.approve(one.digest)
    assert gate.admit(other).answer is Answer.WAIT
    assert gate.admit(one).answer is Answer.GO
