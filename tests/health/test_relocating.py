"""A leak leaves service at once, and a person may move it to where it belongs; all of it one case."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from memorepair.cli import app
from memorepair.errors import InvalidInput, StaleRead, Tombstoned, Withdrawn
from memorepair.facade import Memory
from memorepair.governance import Item
from memorepair.memory.artifact import Key

ADA, BOB = ("user", "ada"), ("user", "bob")
WHO: dict[str, Any] = {"actor": "ops", "reason": "hers"}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "agent.db") as opened:
        for n in range(6):
            opened.record(f"Ada's note {n}", id=f"a{n}", scope=ADA, metadata={"user_id": "ada"})
            opened.record(f"Bob's remark {n}", id=f"b{n}", scope=BOB, metadata={"user_id": "bob"})
        yield opened


def leaked(memory: Memory) -> Key:
    """Made from what is Ada's, and lying with Bob; something of Bob's was made from it."""
    with memory.deriving(kind="summary", operator="summarise", scope=BOB) as d:
        secret = d.write("Ada is allergic. " + d.read("user/ada::a0").content, id="secret")
    with memory.deriving(kind="summary", operator="summarise", scope=BOB) as d:
        d.write("Seen: " + d.read(secret).content + " " + d.read("user/bob::b0").content, id="digest")
    return secret


def waiting(memory: Memory) -> Item:
    memory.checkup(repair=True)
    (item,) = [one for one in memory.housekeeper().desk.waiting() if one.remedy == "scope"]
    return item


def test_a_leak_is_moved_to_where_it_belongs_and_back(memory: Memory) -> None:
    secret = leaked(memory)
    item = waiting(memory)
    with pytest.raises(Withdrawn):
        memory.get(secret)
    outcome = memory.housekeeper().approve(item.id, **WHO, move=ADA)
    assert outcome.done
    moved = memory.get("user/ada::secret")
    assert moved.content.startswith("Ada is allergic.")
    assert [parent.key for parent in memory.explain("user/ada::secret").parents] == [Key(ADA, "a0")]
    assert "user/ada::secret" in [
        str(hit.artifact.key) for hit in memory.search("Ada is allergic", scope=ADA, by="vector")
    ]
    for by in ("text", "vector"):
        assert all(
            "allergic" not in hit.artifact.content for hit in memory.search("allergic", scope=BOB, by=by)
        )
    assert "allergic" not in memory.get("user/bob::digest").content
    assert [one.remedy for one in memory.housekeeper().desk.waiting()] == []
    assert [
        one.damage for one in memory.checkup(dry_run=True).checkup.findings if one.damage == "scope"
    ] == []
    assert memory.store.check() == []
    assert outcome.case is not None
    memory.undo(outcome.case, **WHO)
    assert memory.get(secret).content == moved.content
    with pytest.raises(Withdrawn):
        memory.get("user/ada::secret")
    assert memory.store.check() == []


def test_without_a_place_it_stays_out(memory: Memory) -> None:
    secret = leaked(memory)
    item = waiting(memory)
    assert memory.housekeeper().approve(item.id, **WHO).done
    with pytest.raises(Withdrawn):
        memory.get(secret)
    assert {one.key.id for one in memory.list(scope=ADA)} == {f"a{n}" for n in range(6)}


def test_a_stray_of_less_certainty_is_moved_once_a_person_says_so(memory: Memory) -> None:
    for n in range(6, 40):
        memory.record(f"Ada's note {n}", id=f"a{n}", scope=ADA, metadata={"user_id": "ada"})
    stray = memory.record("Ada's own stray", id="a1", scope=(*BOB, "inbox"), metadata={"user_id": "ada"})
    item = waiting(memory)
    outcome = memory.housekeeper().approve(item.id, **WHO, move=ADA)
    assert outcome.done
    with pytest.raises(Withdrawn):
        memory.get(stray)
    assert memory.get("user/ada::a1-2").content == "Ada's own stray"  # a1 is hers already
    assert memory.get("user/ada::a1").content == "Ada's note 1"


def test_a_move_that_was_cut_off_is_made_again_without_a_second_copy(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    leaked(memory)
    item = waiting(memory)
    with monkeypatch.context() as patch:
        patch.setattr("memorepair.repair.engine.repair", lambda *args, **kwargs: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            memory.housekeeper().approve(item.id, **WHO, move=ADA)
    assert memory.housekeeper().approve(item.id, **WHO, move=ADA).done
    assert [one.key.id for one in memory.list(scope=ADA) if "secret" in one.key.id] == ["secret"]


def test_what_cannot_be_is_refused_and_nothing_has_changed(memory: Memory) -> None:
    secret = leaked(memory)
    item = waiting(memory)
    keeper = memory.housekeeper()
    for where in (BOB,):
        with pytest.raises(InvalidInput):
            keeper.approve(item.id, **WHO, move=where)
    text = memory.inspect(secret, **WHO).content
    gone = memory.record(text, id="gone", scope=ADA)
    memory.delete(gone, **WHO)
    with pytest.raises(Tombstoned):
        keeper.approve(item.id, **WHO, move=ADA)
    assert keeper.desk.show(item.id).status == "waiting"
    assert memory.store.check() == []


@pytest.mark.parametrize("named", ["user/ada::a0", "user/bob::secret"])
@pytest.mark.parametrize("event", ["delete", "correct"])
def test_nothing_that_an_event_took_out_comes_back_by_a_move(memory: Memory, named: str, event: str) -> None:
    leaked(memory)
    item = waiting(memory)
    case = memory.delete(named, **WHO) if event == "delete" else memory.correct(named, "Ada is well", **WHO)
    memory.repair(case)
    with pytest.raises((InvalidInput, StaleRead)):
        memory.housekeeper().approve(item.id, **WHO, move=ADA)
    assert not memory.search("allergic", scope=ADA)
    assert memory.store.check() == []


def test_what_is_moved_stands_on_all_that_it_was_made_from(memory: Memory) -> None:
    secret = leaked(memory)
    with memory.deriving(kind="summary", operator="summarise", scope=BOB) as d:
        d.write(d.read(secret).content + " " + d.read("user/ada::a1").content, id="both")
    item = waiting(memory)
    memory.housekeeper().approve(item.id, **WHO, move=ADA)
    assert {parent.key.id for parent in memory.explain("user/ada::both").parents} == {"secret", "a1"}
    memory.delete("user/ada::a0", **WHO)
    assert not memory.search("allergic", scope=ADA)


def test_what_was_made_from_two_owners_belongs_to_neither(memory: Memory) -> None:
    with memory.deriving(kind="summary", operator="summarise", scope=BOB) as d:
        d.write(d.read("user/bob::b0").content + " " + d.read("user/ada::a0").content, id="both")
    item = waiting(memory)
    with pytest.raises(InvalidInput):
        memory.housekeeper().approve(item.id, **WHO, move=ADA)
    assert memory.housekeeper().approve(item.id, **WHO).done


def test_from_the_command_line(memory: Memory) -> None:
    leaked(memory)
    item = waiting(memory)
    db = str(memory.store.path)
    words = ["review", "approve", item.id, "--db", db, "--actor", "ops", "--reason", "hers", "--json"]
    for move, code in (("user//ada", 2), ("user/bob", 2), ("user/ada", 0)):
        done = CliRunner().invoke(app, [*words, "--move", move])
        assert done.exit_code == code, done.output
    assert json.loads(done.stdout)["done"] is True
    assert memory.get("user/ada::secret").content.startswith("Ada")
