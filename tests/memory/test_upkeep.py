"""Upkeep: nothing is withdrawn, nothing is lost, every change is taken back item by item."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import memorepair as mr
from memorepair.adapters.jsonl import export_jsonl
from memorepair.errors import CycleFound, InvalidEvent, StaleRead
from memorepair.graphs.terms import Kind, Relation
from memorepair.memory.artifact import Draft, Embedding, Key, State
from memorepair.repair import engine
from memorepair.repair.events import EventKind, Maintenance, RepairEvent

if TYPE_CHECKING:
    from tests.conftest import Clock

SIGNED: Any = {"actor": "ada", "reason": "tidy"}


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[mr.Memory]:
    clock.tick = 10**9
    with mr.Memory.open(tmp_path / "agent.db", clock=clock) as opened:
        yield opened


def lines(memory: mr.Memory) -> set[str]:
    """The canonical export, line by line; the header counts versions, which are never lost."""
    stream = io.BytesIO()
    export_jsonl(memory, stream)
    return set(stream.getvalue().decode().splitlines()[1:])


@pytest.fixture
def twins(memory: mr.Memory) -> tuple[Key, Key, Key, Key]:
    a = memory.record("Lives in Paris", id="a")
    b = memory.record("lives in  paris", id="b", metadata={"city": "Paris"})
    with memory.deriving(kind="summary", operator="summarise") as d:
        one = d.write("S: " + d.read(b).content, id="one")
    with memory.deriving(kind="summary", operator="summarise") as d:
        both = d.write(d.read(a).content + d.read(b).content, id="both")
    return a, b, one, both


def test_a_merge_redirects_readers_and_an_undo_restores_every_line(
    memory: mr.Memory, twins: tuple[Key, Key, Key, Key]
) -> None:
    a, b, one, both = twins
    before, snapshot = lines(memory), memory.store.snapshot()
    written = memory.get(a).updated_at, memory.get(b).updated_at
    draft = Draft(key=a, content="Lives in Paris", metadata={"city": "Paris"})
    case = memory.store.maintain([draft], duplicates={b: a}, **SIGNED)
    assert case.status == "closed"
    assert case.withdrawn == 0
    assert [parent.key for parent in memory.explain(one).parents] == [a]
    assert [parent.key for parent in memory.explain(both).parents] == [a]
    assert memory.get(a).updated_at == max(written)  # to say it in better order is not to say it again
    assert memory.store.describe(b).state is State.ARCHIVED
    assert memory.store.check() == []
    report = memory.undo(case, **SIGNED)
    assert {key for key, _ in report.retired} == {a}
    assert set(report.restored) == {a, b}
    assert lines(memory) == before
    assert set(memory.store.snapshot().arcs) == set(snapshot.arcs)
    assert memory.store.check() == []


def test_a_deletion_of_either_twin_reaches_what_both_became(
    memory: mr.Memory, twins: tuple[Key, Key, Key, Key]
) -> None:
    a, b, *_ = twins
    delta = Maintenance(drafts={a: Draft(key=a, content="Lives in Paris")}, duplicates={b: a})
    engine.withdraw(memory.store, RepairEvent(kind=EventKind.MAINTAIN, roots=delta.touched, delta=delta))
    assert memory.explain(b).why == "archived as a duplicate of a by case 1"
    case = memory.delete(b, **SIGNED, dry_run=True)
    assert case.withdrawn == 3  # the one that stayed, and both summaries
    assert set(memory.delete(a, **SIGNED).roots) == {a, b}  # who deletes what is served means the twin too


def test_what_stays_stands_on_what_its_sources_became(
    memory: mr.Memory, twins: tuple[Key, Key, Key, Key]
) -> None:
    """Facts and summaries merged at once: who corrects the fact that stays reaches the summary that does."""
    a, b, one, _ = twins
    with memory.deriving(kind="summary") as d:
        d.read(b)
        other = d.write("one too", id="other")
    before = memory.store.snapshot()
    drafts = [Draft(key=a, content="Lives in Paris"), Draft(key=other, content="one too", kind=Kind.SUMMARY)]
    case = memory.store.maintain(drafts, duplicates={b: a, one: other}, **SIGNED)
    assert {parent.key for parent in memory.explain(other).parents} == {a, one}
    assert memory.store.check() == []
    fixed = memory.correct(a, "Lives in Lyon", **SIGNED)
    with pytest.raises(mr.Withdrawn):
        memory.get(other)
    memory.undo(fixed, **SIGNED)
    memory.undo(case, **SIGNED)
    assert set(memory.store.snapshot().arcs) == set(before.arcs)
    assert memory.store.check() == []


def test_a_summary_merged_with_what_it_was_made_from_hinders_no_undo(memory: mr.Memory) -> None:
    fact = memory.record("Lives in Paris", id="fact")
    keys = [fact]
    for id in ("first", "second"):
        with memory.deriving(kind="summary") as d:
            d.read(keys[-1])
            keys.append(d.write("Paris it is", id=id))
    _, first, second = keys
    before = memory.store.snapshot()
    draft = Draft(key=second, content="Paris it is", kind=Kind.SUMMARY)
    case = memory.store.maintain([draft], duplicates={first: second}, **SIGNED)
    assert {arc.relation for arc in memory.store.support([second])} == {Relation.CONSOLIDATE}
    fixed = memory.correct(fact, "Lives in Lyon", **SIGNED)
    assert fixed.withdrawn == 2
    memory.undo(fixed, **SIGNED)
    memory.undo(case, **SIGNED)
    assert memory.store.snapshot().current == before.current
    assert set(memory.store.snapshot().arcs) == set(before.arcs)
    assert memory.store.check() == []


def test_the_undo_of_a_merge_leaves_its_readers_in_the_state_they_are_in(
    memory: mr.Memory, twins: tuple[Key, Key, Key, Key]
) -> None:
    """Withdrawn by an older case when it was redirected, served again since: it stays in service."""
    a, b, _, both = twins
    third = memory.record("walks a lot", id="third")
    with memory.deriving(kind="summary") as d:
        d.read(b)
        d.read(third)
        reader = d.write("walks in Paris", id="reader")
    older = memory.correct(third, "walks", **SIGNED)
    merged = memory.store.maintain([Draft(key=a, content="Lives in Paris")], duplicates={b: a}, **SIGNED)
    memory.undo(older, **SIGNED)
    memory.undo(merged, **SIGNED)
    for key in (reader, both):
        assert memory.store.describe(key).state is State.ACTIVE
    assert memory.store.check() == []


def test_marks_rank_until_read_and_review_flags(memory: mr.Memory) -> None:
    old = memory.record("the blue project plans", id="old")
    new = memory.record("the blue project", id="new")
    assert memory.search("blue project")[0].artifact.key in (old, new)
    case = memory.store.maintain([], marks={old: 0.05}, **SIGNED)
    for by in ("text", "vector"):
        assert [hit.artifact.key for hit in memory.search("blue project", by=by)] == [new, old]
    assert memory.store.marks([old, new]) == {old: 0.05}
    memory.get(old)
    memory.record("a write that takes the uses with it", id="other")
    assert memory.store.marks([old]) == {}
    memory.undo(case, **SIGNED)
    flagged = memory.store.maintain([], marks={new: None}, **SIGNED)
    assert memory.get(new).state is State.PENDING_REVIEW
    assert [one.key for one in memory.list(state="pending_review")] == [new]
    assert "a person" in memory.explain(new).why
    memory.undo(flagged, **SIGNED)
    assert memory.get(new).state is State.ACTIVE
    assert memory.store.check() == []


def test_vectors_that_were_given_stay_unless_made_anew(memory: mr.Memory) -> None:
    given = Embedding(vector=(1.0, 0.0), model="m", revision="1", normalised=True)
    key = memory.record("x marks the spot", id="x", embedding=given)
    memory.store.maintain([Draft(key=key, content="x marks the spot", metadata={"k": 1})], **SIGNED)
    assert memory.get(key).embedding == given
    memory.store.maintain([Draft(key=key, content="x marks the spot")], anew=True, **SIGNED)
    assert memory.get(key).embedding is None
    assert memory.search("x marks", by="vector")[0].artifact.key == key


def _both(store: mr.Memory, a: Key, b: Key) -> None:
    store.store.maintain([Draft(key=a, content="x")], duplicates={a: b}, **SIGNED)


def _chained(store: mr.Memory, a: Key, b: Key) -> None:
    store.store.maintain([], duplicates={a: b, b: a}, **SIGNED)


def _bare(store: mr.Memory, a: Key, b: Key) -> None:
    store.store.maintain([], duplicates={b: a}, **SIGNED)


def _nothing(store: mr.Memory, a: Key, b: Key) -> None:
    store.store.maintain([], **SIGNED)


@pytest.mark.parametrize("wrong", [_both, _chained, _bare, _nothing])
def test_what_contradicts_itself_is_refused(
    memory: mr.Memory, wrong: Callable[[mr.Memory, Key, Key], None]
) -> None:
    a, b = memory.record("one", id="a"), memory.record("two", id="b")
    epoch = memory.store.epoch()
    with pytest.raises(InvalidEvent):
        wrong(memory, a, b)
    assert memory.store.epoch() == epoch


def test_what_has_left_service_is_not_maintained(memory: mr.Memory) -> None:
    a = memory.record("one", id="a")
    memory.delete(a, **SIGNED)
    with pytest.raises(StaleRead):
        memory.store.maintain([], marks={a: 0.5}, **SIGNED)


def test_a_merge_that_would_stand_on_its_own_result_is_refused(memory: mr.Memory) -> None:
    first = memory.record("one", id="first")
    with memory.deriving(kind="summary") as d:
        d.read(first)
        middle = d.write("between", id="middle")
    with memory.deriving(kind="summary") as d:
        d.read(middle)
        last = d.write("one", id="last")
    epoch = memory.store.epoch()
    with pytest.raises(CycleFound):
        memory.store.maintain([Draft(key=last, content="one")], duplicates={first: last}, **SIGNED)
    assert memory.store.epoch() == epoch


def test_notes_are_sealed(memory: mr.Memory) -> None:
    memory.store.note("book", {"a": {"n": 1}, "b": 2})
    memory.store.note("book", {"a": {"n": 3}})
    assert memory.store.notes("book") == {"a": {"n": 3}, "b": 2}
    assert memory.store.check() == []
    memory.store._db.run("UPDATE note SET body = '4' WHERE name = 'b'")
    assert [fault.code for fault in memory.store.check()] == ["note"]
    memory.store.note("book", {"b": None})
    assert memory.store.check() == []


def test_mending_puts_barriers_as_the_journal_has_them(memory: mr.Memory) -> None:
    keys = [memory.record(f"text {n}", id=f"k{n}") for n in range(3)]
    memory.delete(keys[1], **SIGNED)
    run = memory.store._db.run
    run("INSERT INTO barrier(vid, state, cause) SELECT cur, 77, NULL FROM artifact WHERE id = 'k0'")
    run("DELETE FROM barrier WHERE vid = (SELECT cur FROM artifact WHERE id = 'k1')")
    assert {fault.code for fault in memory.store.check()} == {"barrier"}
    assert memory.store.mend(keys) == [keys[0], keys[1]]
    assert memory.store.check() == []
    assert memory.get(keys[0]).content == "text 0"
    with pytest.raises(mr.Withdrawn):
        memory.get(keys[1])
    assert memory.store.mend(keys) == []


def test_the_index_is_made_anew(memory: mr.Memory) -> None:
    memory.record("find the needle", id="k")
    memory.store._db.run("INSERT INTO fts(fts) VALUES('delete-all')")
    assert memory.search("needle") == []
    assert memory.store.check_index()
    memory.store.reindex()
    assert len(memory.search("needle")) == 1
    assert memory.store.check_index() == []
