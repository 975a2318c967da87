"""Cascade, candidates, plan, soundness on a real store: what repair computes is what the store holds."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorepair.errors import CycleFound
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import Draft, Key, Read, Recipe, State
from memorepair.memory.exchange import Release, Successor
from memorepair.memory.snapshot import Snapshot
from memorepair.memory.sqlite import SqliteStore
from memorepair.repair.build import build_candidates
from memorepair.repair.cascade import Cascade, read_cascade
from memorepair.repair.events import Correction, Deletion, EventKind, RepairEvent
from memorepair.repair.modes import Mode
from memorepair.repair.operators.operator import Call, Made
from memorepair.repair.plan import RepairPlan, make_plan
from memorepair.repair.pricing import Pricing
from memorepair.repair.soundness import exposed, soundness_violations

NAMES = tuple(f"n{place}" for place in range(7))


@dataclass(frozen=True)
class Fixed:
    """An operator that is not run here: successors are written by the test."""

    name: str
    mode: Mode
    version: str = "1"
    deterministic: bool = True
    reads_own_version: bool = False

    def make(self, call: Call) -> Made:
        raise NotImplementedError


OPERATORS = {"copy@1": Fixed("copy", Mode.RECOMPUTE), "summarise": Fixed("summarise", Mode.REGEN)}


def key(name: str) -> Key:
    return Key(("t",), name)


@contextmanager
def store() -> Iterator[SqliteStore]:
    with TemporaryDirectory() as folder, SqliteStore.open(Path(folder) / "memory.db") as opened:
        yield opened


def write(store: SqliteStore, name: str, parents: tuple[str, ...], content: str) -> None:
    summary = name in ("n3", "n5")
    draft = Draft(
        key=key(name),
        content=content,
        kind=Kind.SUMMARY if summary else Kind.RECORD,
        recipe=Recipe(operator=None if summary else "copy"),
        reads=tuple(Read(key=key(parent)) for parent in parents),
    )
    store.write([draft])


def declare(store: SqliteStore, event: RepairEvent) -> int:
    replacements = event.delta.replacements if isinstance(event.delta, Correction) else {}
    case = store.open_case(
        event=event.kind.value,
        roots=event.roots,
        actor="test",
        reason="test",
        replacements=[Draft(key=root, content=content) for root, content in replacements.items()],
    )
    return case.id


def planned(store: SqliteStore, case: int, event: RepairEvent) -> tuple[Cascade, RepairPlan]:
    cascade = read_cascade(store, case)
    candidates = build_candidates(store, cascade, event, OPERATORS, Pricing())
    return cascade, make_plan(cascade, candidates)


def publish(store: SqliteStore, case: int, cascade: Cascade, plan: RepairPlan, verdict: str = "pass") -> None:
    """Carry the plan out: every chosen candidate reads what is served or came out of an earlier wave."""
    new: dict[Key, int] = {}
    successors = []
    for place in (place for wave in plan.waves for place in wave):
        it = plan.candidates.keys[place]
        reads = tuple(
            Read(key=arc.parent, version=new.get(arc.parent, arc.parent_version))
            for arc in cascade.support
            if arc.child == it and (arc.parent_served or arc.parent in new)
        )
        new[it] = store.stage(case, Draft(key=it, content=f"{it} repaired"))
        verdicts = (("replay", verdict),)
        successors.append(Successor(key=it, version=new[it], reads=reads, verdicts=verdicts))
    store.publish(case, successors)


def faults(before: Snapshot, event: RepairEvent, after: Snapshot) -> set[tuple[int, str]]:
    return {(one.law, one.what) for one in soundness_violations(before, event, after)}


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[tuple[str, tuple[str, ...]]], RepairEvent]:
    """Writes of a few keys, with ordinary updates, and an event."""
    writes: list[tuple[str, tuple[str, ...]]] = [(NAMES[0], ())]
    for _ in range(draw(st.integers(1, 12))):
        known = sorted({name for name, _ in writes})
        name = draw(st.sampled_from(NAMES))
        above = [one for one in known if one != name]
        parents = draw(st.sets(st.sampled_from(above), max_size=3)) if above else set()
        writes.append((name, tuple(sorted(parents))))
    known = sorted({name for name, _ in writes})
    roots = tuple(map(key, sorted(draw(st.sets(st.sampled_from(known), min_size=1, max_size=2)))))
    if draw(st.booleans()):
        return writes, RepairEvent(kind=EventKind.DELETE, roots=roots, delta=Deletion())
    delta = Correction(replacements={root: f"{root} corrected" for root in roots})
    return writes, RepairEvent(kind=EventKind.CORRECT, roots=roots, delta=delta)


@settings(max_examples=60)
@given(histories())
def test_every_step_of_an_honest_repair_is_sound(
    history: tuple[list[tuple[str, tuple[str, ...]]], RepairEvent],
) -> None:
    writes, event = history
    with store() as opened:
        for number, (name, parents) in enumerate(writes):
            try:
                write(opened, name, parents, f"{name} written {number}")
            except CycleFound:
                continue
        before = opened.snapshot()
        case = declare(opened, event)
        barred = opened.snapshot()
        assert faults(before, event, barred) == set()
        assert exposed(before, event, barred) == ()
        cascade, plan = planned(opened, case, event)
        withdrawn = {one for one, view in barred.current.items() if view.state is State.WITHDRAWN}
        assert {member.key for member in cascade.members} == withdrawn | set(event.roots)
        assert exposed(before, event, before) == tuple(member.key for member in cascade.members)
        publish(opened, case, cascade, plan)
        published = opened.snapshot()
        assert faults(before, event, published) == set()
        again, _ = planned(opened, case, event)
        assert tuple(member.key for member in again.open) == plan.left
        opened.close_case(case)
        assert faults(before, event, opened.snapshot()) == set()
        assert opened.check() == []


def chain(opened: SqliteStore) -> tuple[Snapshot, RepairEvent]:
    write(opened, "n0", (), "root")
    write(opened, "n1", ("n0",), "copy")
    write(opened, "n2", ("n1",), "copy of copy")
    delta = Correction(replacements={key("n0"): "root corrected"})
    return opened.snapshot(), RepairEvent(kind=EventKind.CORRECT, roots=(key("n0"),), delta=delta)


def test_a_second_event_changes_what_the_first_may_still_do() -> None:
    with store() as opened:
        _, event = chain(opened)
        write(opened, "n4", (), "beside")
        write(opened, "n6", ("n1", "n4"), "of both")
        first = declare(opened, event)
        assert build_candidates(
            opened, read_cascade(opened, first), event, OPERATORS, Pricing()
        ).executable.all()
        other = RepairEvent(kind=EventKind.DELETE, roots=(key("n4"),), delta=Deletion())
        declare(opened, other)
        candidates = build_candidates(opened, read_cascade(opened, first), event, OPERATORS, Pricing())
        bar = candidates.bars[candidates.keys.index(key("n6"))]
        assert bar is not None
        assert (bar.reason, bar.witness) == ("input unavailable", (key("n4"),))


def test_an_early_release_is_sound_where_nothing_changed_above_it() -> None:
    with store() as opened:
        before, event = chain(opened)
        case = declare(opened, event)
        version = opened.stage(case, Draft(key=key("n1"), content="copy"))
        one = Successor(
            key=key("n1"),
            version=version,
            reads=(Read(key=key("n0"), version=2),),
            verdicts=(("replay", "pass"),),
        )
        opened.publish(case, [one], [Release(key=key("n2"), reads=(Read(key=key("n1"), version=version),))])
        assert faults(before, event, opened.snapshot()) == set()
        assert exposed(before, event, opened.snapshot()) == ()


def test_the_checker_sees_what_a_careless_repair_does_to_a_store() -> None:
    with store() as opened:
        before, event = chain(opened)
        case = declare(opened, event)
        cascade, plan = planned(opened, case, event)
        publish(opened, case, cascade, plan, verdict="fail")
        assert faults(before, event, opened.snapshot()) == {
            (2, "a successor was published without validation")
        }
    with store() as opened:
        before, event = chain(opened)
        case = declare(opened, event)
        release = [
            Release(key=key("n1"), reads=(Read(key=key("n0"), version=2),)),
            Release(key=key("n2"), reads=(Read(key=key("n1"), version=1),)),
        ]
        opened.publish(case, [], release)
        assert faults(before, event, opened.snapshot()) == {(2, "a release although a parent changed")}
        assert exposed(before, event, opened.snapshot()) == (key("n1"), key("n2"))


@pytest.mark.parametrize(
    ("damage", "law"),
    [
        ("DELETE FROM barrier", 1),
        ("DELETE FROM barrier WHERE vid = (SELECT max(vid) FROM barrier)", 2),
        ("DELETE FROM version WHERE vid = (SELECT cur FROM artifact WHERE id = 'n4')", 5),
    ],
)
def test_the_checker_sees_a_file_changed_behind_the_store(tmp_path: Path, damage: str, law: int) -> None:
    path = tmp_path / "memory.db"
    with SqliteStore.open(path) as opened:
        write(opened, "n4", (), "beside")
        before, event = chain(opened)
        declare(opened, event)
    with sqlite3.connect(path) as file:
        file.execute(damage)
    file.close()
    with SqliteStore.open(path) as opened:
        assert law in {one for one, _ in faults(before, event, opened.snapshot())}
