"""Remedies: what a check-up finds is repaired through the nave, and what rules cannot tell is a person's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import memorepair as mr
from memorepair.errors import InvalidInput, StaleRead, UnknownId
from memorepair.governance import Limits, Policy
from memorepair.health.remedies import Wanted, propose
from memorepair.housekeeping import Housekeeper, Keeping
from memorepair.memory.artifact import Key, Slot, State
from memorepair.repair.ports import Answer, Remedy

if TYPE_CHECKING:
    from tests.conftest import Clock

DAY = 86_400 * 10**9
U = ("user", "1")
FIFTEEN = "Ann Bob Cid Dora Eve Fay Gus Hal Ida Jon Kim Lea Max Ned Oda"
ALL = Policy(confirmed=frozenset(Remedy))
SIGNED: Any = {"actor": "ada", "reason": "seen"}


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[mr.Memory]:
    clock.tick = 10**9  # of two statements the later one is told by its second
    with mr.Memory.open(tmp_path / "agent.db", clock=clock) as opened:
        yield opened


def keeper(memory: mr.Memory, policy: Policy = ALL, **limits: int) -> Housekeeper:
    return memory.housekeeper(Keeping(policy=policy, limits=Limits(**limits)))


def states(memory: mr.Memory) -> dict[str, str]:
    return {one.key.id: one.state.name.lower() for one in memory.list()}


def slot(value: str, polarity: bool = True, **more: Any) -> Slot:
    return Slot(entity="Tom", attribute="likes", value=value, polarity=polarity, **more)


def test_loves_then_hates_leaves_one_active_and_loses_none(memory: mr.Memory) -> None:
    memory.record("Tom loves cilantro", id="old", scope=U, slot=slot("cilantro"))
    memory.record("Tom hates cilantro", id="new", scope=U, slot=slot("cilantro", polarity=False))
    with memory.deriving(kind="summary", operator="summarise", scope=U) as d:
        about = d.write("Taste: " + d.read("user/1::old").content, id="about")
    keeper(memory).run()
    assert states(memory) == {"old": "archived", "new": "active", "about": "active"}
    assert "hates" in memory.get(about).content
    assert "loves" not in memory.get(about).content
    assert memory.inspect("user/1::old", **SIGNED).content == "Tom loves cilantro"
    assert memory.store.check() == []


def test_a_b_a_leaves_exactly_one_active(memory: mr.Memory) -> None:
    for n, city in enumerate(("Paris", "Lyon", "Paris")):
        memory.record(f"Tom lives in {city}", id=f"k{n}", scope=U, slot=("Tom", "home", city))
    keeper(memory).run()
    served = list(memory.list(state="active"))
    assert [memory.get(one.key).content for one in served] == ["Tom lives in Paris"]
    assert memory.store.check() == []


def test_many_values_and_disjoint_intervals_stay(memory: mr.Memory) -> None:
    for n, size in enumerate(("7b", "3b")):
        memory.record(f"Tested with {size}", id=f"t{n}", scope=U, slot=("model", "tested with", size))
    for n in range(2):
        at = Slot(
            entity="Tom", attribute="home", value="Paris", valid_from=float(n * 100), valid_to=n * 100.0 + 50
        )
        memory.record("Tom lives in Paris", id=f"h{n}", scope=U, slot=at)
    keeper(memory).run()
    assert set(states(memory).values()) <= {"active", "pending_review"}


@pytest.mark.parametrize("rich", ["a", "z"])
def test_the_richer_row_survives_with_the_union_whatever_its_id(memory: mr.Memory, rich: str) -> None:
    poor = "z" if rich == "a" else "a"
    memory.record("Lives in Paris", id=poor, scope=U, metadata={"since": 2020})
    memory.record("lives in  Paris", id=rich, scope=U, metadata={"street": "Rue X", "floor": 3})
    keeper(memory).run()
    assert states(memory) == {poor: "archived", rich: "active"}
    kept = memory.get(Key(U, rich))
    assert kept.metadata == {"since": 2020, "street": "Rue X", "floor": 3}


def test_fifteen_rows_of_one_template_stay_apart(memory: mr.Memory) -> None:
    for name in (
        "Ann",
        "Bob",
        "Cid",
        "Dora",
        "Eve",
        "Fay",
        "Gus",
        "Hal",
        "Ida",
        "Jon",
        "Kim",
        "Lea",
        "Max",
        "Ned",
        "Oda",
    ):
        memory.record(f"{name} has been given the keys of the archive room", id=name, scope=U)
    keeper(memory).run()
    assert set(states(memory).values()) <= {"active", "pending_review"}


def test_undecidable_is_flagged_until_a_person_has_looked(memory: mr.Memory) -> None:
    memory.record("Tom eats a lot of sugar", id="x", scope=U)
    memory.record("Tom never eats sweets", id="y", scope=U)
    wanted = Wanted(remedy=Remedy.REVIEW, keys=(Key(U, "x"), Key(U, "y")), confidence=0.5)
    house = keeper(memory)
    outcome = house.acting.act_on(wanted)
    assert outcome is not None
    assert outcome.done
    assert states(memory) == {"x": "pending_review", "y": "pending_review"}
    (item,) = house.desk.waiting()
    assert item.remedy is Remedy.REVIEW
    with pytest.raises(UnknownId):
        keeper(memory).approve("zzz", keep=Key(U, "y"), **SIGNED)
    with pytest.raises(InvalidInput):
        keeper(memory).approve(item.id, **SIGNED)
    again = keeper(memory)  # another process
    settled = again.approve(item.id, keep=Key(U, "y"), **SIGNED)
    assert settled.done
    assert states(memory) == {"x": "archived", "y": "active"}
    assert keeper(memory).desk.waiting() == []
    assert memory.store.check() == []


def test_a_rejected_review_is_served_as_before_and_not_asked_again(memory: mr.Memory) -> None:
    memory.record("one", id="x", scope=U)
    memory.record("two", id="y", scope=U)
    wanted = Wanted(remedy=Remedy.REVIEW, keys=(Key(U, "x"), Key(U, "y")), confidence=0.5)
    house = keeper(memory)
    house.acting.act_on(wanted)
    house.reject(house.desk.waiting()[0].id, **SIGNED)
    assert states(memory) == {"x": "active", "y": "active"}
    outcome = keeper(memory).acting.act_on(wanted)
    assert outcome is not None
    assert outcome.answer is Answer.SKIP
    assert not outcome.done


def test_an_approval_is_bound_to_what_was_shown(memory: mr.Memory) -> None:
    memory.record("Lives in Paris", id="a", scope=U)
    memory.record("lives in  paris", id="b", scope=U)
    house = keeper(memory, Policy())
    house.run()
    (item,) = house.desk.waiting()
    assert item.remedy is Remedy.MERGE
    assert states(memory) == {"a": "active", "b": "active"}
    memory.record("Lives in Lyon", id="b", scope=U)
    with pytest.raises(StaleRead):
        keeper(memory, Policy()).approve(item.id, **SIGNED)
    assert states(memory) == {"a": "active", "b": "active"}
    assert keeper(memory, Policy()).desk.waiting() == []


def test_a_change_between_the_digest_and_the_lock_is_refused(memory: mr.Memory) -> None:
    a = memory.record("Lives in Paris", id="a", scope=U)
    b = memory.record("lives in  paris", id="b", scope=U)
    proposal = propose(memory.store, Wanted(remedy=Remedy.MERGE, keys=(a, b)))
    assert proposal is not None
    memory.record("lives in Paris!", id="b", scope=U)
    outcome = keeper(memory).acting.attempt(proposal)
    assert outcome.failed is not None
    assert "StaleRead" in outcome.failed
    assert states(memory) == {"a": "active", "b": "active"}


def test_the_window_of_grade_two_opens_by_itself(memory: mr.Memory, clock: Clock) -> None:
    memory.record("Lives in Paris", id="a", scope=U)
    memory.record("lives in  paris", id="b", scope=U)
    assert keeper(memory, Policy()).patrol().report is not None
    assert states(memory) == {"a": "active", "b": "active"}
    clock.now += int(1.1 * DAY)
    keeper(memory, Policy()).patrol()
    assert sorted(states(memory).values()) == ["active", "archived"]


def test_a_broken_description_is_made_whole_and_the_text_stays(memory: mr.Memory) -> None:
    memory.record("Lives in Paris", id="a", scope=U, metadata={"k": 1})
    memory.store._db.run('UPDATE content SET meta = \'{"source":"nobody"}\'')
    house = keeper(memory)
    report = house.run()
    assert {one.proposal.remedy for one in report.outcomes if one.done} == {Remedy.COMPLETE}
    now = memory.get("user/1::a")
    assert (now.content, now.source.value, now.version) == ("Lives in Paris", "extraction", 2)


def test_a_leak_leaves_service_first(memory: mr.Memory) -> None:
    key = memory.record("the other one's secret", id="leak", scope=U)
    house = keeper(memory)
    outcome = house.acting.act_on(Wanted(remedy=Remedy.SCOPE, keys=(key,), confidence=1.0))
    assert outcome is not None
    assert outcome.done
    assert states(memory) == {"leak": "withdrawn"}
    item = house.desk.waiting()[0]
    keeper(memory).reject(item.id, **SIGNED)
    assert states(memory) == {"leak": "active"}


def test_a_doubtful_leak_waits(memory: mr.Memory) -> None:
    key = memory.record("perhaps", id="leak", scope=U)
    outcome = keeper(memory).acting.act_on(Wanted(remedy=Remedy.SCOPE, keys=(key,), confidence=0.6))
    assert outcome is not None
    assert outcome.answer is Answer.WAIT
    assert states(memory) == {"leak": "active"}


def test_a_check_up_again_finds_nothing_to_do(memory: mr.Memory, clock: Clock) -> None:
    memory.record("meeting at ten", id="t", scope=U, type="temporary")
    clock.now += 10 * DAY
    first = keeper(memory).run()
    assert [one.done for one in first.outcomes] == [True]
    epoch = memory.store.snapshot().current
    assert not any(one.done for one in keeper(memory).run().outcomes)
    assert memory.store.snapshot().current == epoch
    assert memory.get("user/1::t").state is State.ACTIVE


def test_a_leak_takes_nothing_healthy_with_it(memory: mr.Memory) -> None:
    mine = memory.record("my own secret", id="mine", scope=U)
    with memory.deriving(kind="summary", operator="summarise", scope=("user", "2")) as d:
        d.write("told elsewhere: " + d.read(mine).content, id="leak")
    memory.record("another thing of mine", id="other", scope=U)
    keeper(memory).run()
    assert states(memory) == {"mine": "active", "leak": "withdrawn", "other": "active"}
