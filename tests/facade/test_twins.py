"""Twins: what a check-up has merged is reached by an event on either, and moves to another store whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

import memorepair as mr
from memorepair.adapters.jsonl import export_jsonl, import_jsonl
from memorepair.governance import Policy
from memorepair.housekeeping import Keeping
from memorepair.memory.artifact import Key, State
from memorepair.repair.ports import Remedy

U = ("u", "1")
SIGNED: Any = {"actor": "ada", "reason": "wrong"}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[mr.Memory]:
    """Two that say the same, a summary of each, merged; the one that stays had nothing to learn."""
    with mr.Memory.open(tmp_path / "agent.db") as opened:
        for number in range(12):
            opened.record(f"matter {number * 7919} of {number * 104729}", id=f"other{number}", scope=U)
        plain = opened.record("User loves cilantro", id="plain", scope=U)
        opened.record("User loves cilantro.", id="rich", scope=U, metadata={"seen": "May"})
        for id in ("plain", "rich"):
            with opened.deriving(kind="summary", scope=U, operator="summarise") as d:
                d.write(f"By {id}: " + d.read(Key(U, id)).content, id=f"by-{id}")
        opened.housekeeper(Keeping(policy=Policy(confirmed=frozenset(Remedy)))).patrol(repair=True)
        assert opened.store.describe(plain).state is State.ARCHIVED
        yield opened


def open_ids(memory: mr.Memory) -> set[str]:
    return {one.key.id for one in memory.list() if one.state is State.ACTIVE and "other" not in one.key.id}


@pytest.mark.parametrize("twin", ["plain", "rich"])
def test_a_deletion_of_either_reaches_what_both_became(memory: mr.Memory, twin: str) -> None:
    memory.delete(Key(U, twin), **SIGNED)
    assert open_ids(memory) == set()
    assert not memory.search("cilantro", scope=U)


@pytest.mark.parametrize("twin", ["plain", "rich"])
def test_an_erasure_of_either_leaves_no_byte(memory: mr.Memory, tmp_path: Path, twin: str) -> None:
    memory.repair(memory.delete(Key(U, twin), erase=True, **SIGNED))
    memory.close()
    for file in tmp_path.iterdir():
        assert b"cilantro" not in file.read_bytes(), file


def updated(memory: mr.Memory) -> Key:
    return memory.record("User moved to Oslo", id="rich", scope=U)


def corrected(memory: mr.Memory) -> Key:
    memory.repair(memory.correct(Key(U, "rich"), "User moved to Oslo", **SIGNED))
    return Key(U, "rich")


def merged_again(memory: mr.Memory) -> Key:
    more: Any = {"seen": "May", "by": "ada", "at": "noon", "in": "Oslo"}
    last = memory.record("User loves cilantro.", id="last", scope=U, metadata=more)
    memory.checkup(repair=True, keeping=Keeping(policy=Policy(confirmed=frozenset(Remedy))))
    assert memory.store.describe(Key(U, "rich")).state is State.ARCHIVED
    return last


@pytest.mark.parametrize("since", [updated, corrected, merged_again])
def test_an_erasure_finds_the_duplicates_of_what_was_there_before(
    memory: mr.Memory, tmp_path: Path, since: Callable[[mr.Memory], Key]
) -> None:
    memory.repair(memory.delete(since(memory), erase=True, **SIGNED))
    memory.close()
    for file in tmp_path.iterdir():
        assert b"cilantro" not in file.read_bytes(), file


def test_an_undone_merge_leaves_the_arcs_of_what_was_written_since(tmp_path: Path) -> None:
    with mr.Memory.open(tmp_path / "other.db") as memory:
        for number in range(8):
            memory.record(f"matter {number * 7919} of {number * 104729}", id=f"other{number}")
        for id in ("one", "two"):
            memory.record("User loves cilantro", id=id)
        with memory.deriving(kind="summary", on_stale="quarantine") as d:
            d.write(d.read("other1").content + d.read("one").content, id="by")
            memory.record("matter of its own", id="other1")
        memory.checkup(repair=True, keeping=Keeping(policy=Policy(confirmed=frozenset(Remedy))))
        with memory.deriving(kind="summary") as d:
            d.write(d.read("other2").content, id="by")
        memory.undo(1, **SIGNED)
        assert [parent.key.id for parent in memory.explain("by").parents] == ["other2"]
        assert memory.store.check() == []


@pytest.mark.parametrize("twin", ["plain", "rich"])
def test_a_correction_of_either_reaches_what_both_became(memory: mr.Memory, twin: str) -> None:
    case = memory.correct(Key(U, twin), "User loves parsley", **SIGNED)
    assert open_ids(memory) == {twin}
    memory.repair(case)
    assert not memory.search("cilantro", scope=U)


def test_what_was_merged_moves_whole(memory: mr.Memory, tmp_path: Path) -> None:
    out = BytesIO()
    export_jsonl(memory, out)
    with mr.Memory.open(tmp_path / "other.db") as other:
        assert not import_jsonl(other, BytesIO(out.getvalue())).refused
        again = BytesIO()
        export_jsonl(other, again)
    assert again.getvalue() == out.getvalue()


def test_who_read_a_duplicate_before_the_merge_moves_with_its_past(tmp_path: Path) -> None:
    with mr.Memory.open(tmp_path / "other.db") as memory:
        memory.record("the very thing that was said", id="x")
        for source, id in (("x", "y"), ("y", "z"), ("y", "w")):
            with memory.deriving(kind="summary") as d:
                d.write(d.read(source).content + (" and more of it" if id == "w" else ""), id=id)
        memory.record("something else by now", id="w")
        memory.checkup(repair=True, keeping=Keeping(policy=Policy(confirmed=frozenset(Remedy))))
        assert memory.store.describe(Key((), "y")).state is State.ARCHIVED
        out = BytesIO()
        export_jsonl(memory, out)
    with mr.Memory.open(tmp_path / "third.db") as third:
        assert not import_jsonl(third, BytesIO(out.getvalue())).refused
        again = BytesIO()
        export_jsonl(third, again)
        assert third.store.check() == []
    assert again.getvalue() == out.getvalue()
