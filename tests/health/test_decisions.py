"""Decisions: what a person has said is right as it is is told again only once one side has changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from memorepair.cli import app
from memorepair.errors import InvalidInput, UnknownId
from memorepair.facade import Memory
from memorepair.governance import Policy
from memorepair.housekeeping import Keeping
from memorepair.memory.artifact import Key, Slot
from memorepair.repair.ports import Remedy

U = ("user", "1")
SIGNED: Any = {"actor": "ada", "reason": "both hold"}
DAY = 86_400 * 10**9
A, B = Key(U, "a"), Key(U, "b")


@pytest.fixture
def later() -> list[int]:
    return [0]


@pytest.fixture
def memory(tmp_path: Path, later: list[int]) -> Iterator[Memory]:
    ticks = count(1_700_000_000 * 10**9, 10**9)
    with Memory.open(tmp_path / "agent.db", clock=lambda: next(ticks) + later[0]) as opened:
        yield opened


def codes(memory: Memory) -> list[str]:
    return sorted(one.code for one in memory.checkup(dry_run=True).checkup.findings)


def kept_back(memory: Memory) -> list[str]:
    return [one for one in memory.checkup(dry_run=True).checkup.left_out if "decided" in one]


def scenes(memory: Memory) -> None:
    memory.record("I like coffee", id="a", scope=U)
    memory.record("At work, I don't like coffee", id="b", scope=U)


def test_a_general_and_a_specific_statement_that_a_person_keeps_are_named_once_more_when_one_changes(
    memory: Memory,
) -> None:
    scenes(memory)
    for _ in range(2):
        assert codes(memory) == ["conflict"]
    house = memory.housekeeper()
    assert house.keep([B, A], **SIGNED, dry_run=True) == (B, A)
    assert codes(memory) == ["conflict"]
    house.keep([B, A], **SIGNED)
    for _ in range(2):
        assert codes(memory) == []
        assert kept_back(memory) == ["1 finding that a person has decided about"]
        assert memory.checkup(repair=True).checkup.findings == ()
    memory.record("At work, I don't like coffee at all", id="b", scope=U)
    memory.record("At work, I don't like coffee", id="b", scope=U)
    assert codes(memory) == ["conflict"]  # the same words, said again since
    assert kept_back(memory) == []
    assert memory.store.check() == []


def test_two_that_are_kept_apart_are_no_duplicates_and_a_third_is(memory: Memory) -> None:
    memory.record("Lives in Paris 钥匙", id="a", scope=U)
    memory.record("lives  in Paris 钥匙", id="b", scope=U)
    assert len(codes(memory)) == 1
    memory.housekeeper().keep([A, B], **SIGNED)
    assert codes(memory) == []
    memory.record("LIVES in Paris 钥匙", id="c", scope=U)
    everything = Keeping(policy=Policy(confirmed=frozenset(Remedy)))
    report = memory.checkup(repair=True, keeping=everything)
    (found,) = report.checkup.findings
    assert found.code == "duplicate_kept"
    assert {key.id for key in found.keys} == {"a", "b", "c"}
    assert len(memory.list(state="active")) == 3  # no rule joins what a person keeps apart
    house = memory.housekeeper(everything)
    (item,) = house.desk.waiting()
    assert house.approve(item.id, **SIGNED).done  # a person may
    assert len(memory.list(state="active")) == 1


def test_a_third_that_is_rejected_too_or_kept_with_each_is_no_finding(memory: Memory) -> None:
    for keep in (True, False):
        for id, text in (("a", "Lives in Paris"), ("b", "lives  in Paris"), ("c", "LIVES in Paris")):
            memory.record(text, id=id, scope=U)
        house = memory.housekeeper()
        house.keep([A, B], **SIGNED)
        if keep:
            house.keep([A, Key(U, "c")], **SIGNED)
            assert codes(memory) == ["duplicate_kept"]
            house.keep([Key(U, "c"), B], **SIGNED)
        else:
            house.run()
            (item,) = house.desk.waiting()
            house.reject(item.id, **SIGNED)
        assert codes(memory) == []


def test_of_several_that_are_kept_each_two_are(memory: Memory) -> None:
    scenes(memory)
    memory.record("I speak Dutch", id="c", scope=U)
    memory.housekeeper().keep([A, B, Key(U, "c")], **SIGNED)
    assert codes(memory) == []
    memory.record("I speak Danish", id="c", scope=U)
    memory.patrol()
    assert codes(memory) == []  # these two have not changed
    memory.record("I like coffee a lot", id="a", scope=U)
    memory.record("I like coffee", id="a", scope=U)
    memory.patrol()
    assert codes(memory) == ["conflict"]
    assert memory.store.notes("decisions") == {}


def duplicates(memory: Memory) -> None:
    memory.record("Lives in Paris", id="a", scope=U)
    memory.record("lives  in Paris", id="b", scope=U)


def undecided(memory: Memory) -> None:
    for id, value in (("a", "calm"), ("b", "cross")):
        memory.record(f"Tom is {value}", id=id, scope=U, slot=("Tom", "mood", value))


def settled(memory: Memory) -> None:
    likes = Slot(entity="Tom", attribute="likes", value="cilantro")
    memory.record("Tom loves cilantro", id="a", scope=U, slot=likes)
    hates = Slot(entity="Tom", attribute="likes", value="cilantro", polarity=False)
    memory.record("Tom hates cilantro", id="b", scope=U, slot=hates)


def stale(memory: Memory) -> None:
    memory.record("Waiting for the parcel", id="b", scope=U, type="temporary")


def empty(memory: Memory) -> None:
    memory.record(" ", id="b", scope=U)


def leaked(memory: Memory) -> None:
    for n in range(6):
        memory.record(f"Ada's note {n}", id=f"a{n}", scope=("user", "ada"), metadata={"user_id": "ada"})
        memory.record(f"Bob's remark {n}", id=f"b{n}", scope=U, metadata={"user_id": "bob"})
    with memory.deriving(kind="summary", operator="summarise", scope=U) as d:
        d.write("Seen: " + d.read("user/ada::a0").content, id="b")


@pytest.mark.parametrize("damage", [duplicates, undecided, settled, stale, empty, leaked])
def test_what_is_rejected_is_no_finding_any_more(
    memory: Memory, later: list[int], damage: Callable[[Memory], None]
) -> None:
    damage(memory)
    later[0] = 60 * DAY
    house = memory.housekeeper(Keeping())
    report = house.run()
    assert report.checkup.findings
    for item in house.desk.waiting():
        house.reject(item.id, **SIGNED)
    assert codes(memory) == []
    assert house.desk.waiting() == []
    assert not any(one.done for one in memory.housekeeper().run().outcomes)
    assert memory.store.check() == []


def test_what_has_changed_since_it_was_shown_is_rejected_without_a_decision(memory: Memory) -> None:
    duplicates(memory)
    house = memory.housekeeper(Keeping())
    house.run()
    (item,) = house.desk.waiting()
    memory.record("LIVES in Paris", id="b", scope=U)
    house.reject(item.id, **SIGNED)
    assert len(codes(memory)) == 1


def test_decisions_of_what_has_changed_are_forgotten_by_a_patrol(memory: Memory) -> None:
    scenes(memory)
    memory.housekeeper().keep([A, B], **SIGNED)
    memory.patrol()
    assert len(memory.store.notes("decisions")) == 1
    memory.record("I like tea", id="a", scope=U)
    memory.patrol()
    assert memory.store.notes("decisions") == {}


def test_what_cannot_be_kept_is_refused_and_nothing_is_written(memory: Memory) -> None:
    undecided(memory)
    house = memory.housekeeper()
    wrong: list[Any] = [[], [A, A], [str(A)], str(A)]
    for keys in wrong:
        with pytest.raises(InvalidInput):
            house.keep(keys, **SIGNED)
    with pytest.raises(InvalidInput):
        house.keep([A, B], actor="", reason="r")
    with pytest.raises(UnknownId):
        house.keep([A, Key(U, "nobody")], **SIGNED)
    house.run()
    (item,) = house.desk.waiting()
    with pytest.raises(InvalidInput, match="reject it"):
        house.keep([A, B], **SIGNED)
    assert memory.store.notes("decisions") == {}
    assert house.desk.show(item.id).actor is None


def test_from_the_command_line(memory: Memory) -> None:
    scenes(memory)
    args = ["review", "keep", str(A), str(B), "--db", str(memory.store.path), "--actor", "ada"]
    told = CliRunner().invoke(app, [*args, "--reason", "both", "--json"])
    assert told.exit_code == 0
    assert json.loads(told.stdout) == {"kept": [str(A), str(B)], "dry_run": False}
    assert codes(memory) == []
    assert CliRunner().invoke(app, [*args, "--reason", "both", "--dry-run"]).stdout.startswith("would keep")
