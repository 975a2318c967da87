"""Cases that meet: a root of another deletion, events in the middle of a repair, a refused argument."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import pytest

from memorepair.errors import InvalidInput, UnknownId, Withdrawn
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import CaseStatus, Draft, Key, Read, Recipe
from memorepair.memory.sqlite import SqliteStore
from memorepair.repair import engine
from memorepair.repair.events import Correction, Deletion, EventKind, RepairEvent
from memorepair.repair.operators.operator import Call
from memorepair.repair.operators.recompute import operator
from memorepair.repair.operators.registry import Operators
from memorepair.repair.report import Fate
from memorepair.repair.soundness import exposed, soundness_violations


def key(name: str) -> Key:
    return Key((), name)


@contextmanager
def memory() -> Iterator[SqliteStore]:
    with TemporaryDirectory() as folder, SqliteStore.open(Path(folder) / "memory.db") as opened:
        yield opened


@operator(name="join")
def join(call: Call) -> str:
    return " ".join(source.content for source in call.inputs)


def summary(name: str, *reads: str) -> Draft:
    return Draft(
        key=key(name), content=f"Of {name}.", kind=Kind.SUMMARY, reads=tuple(Read(key=key(r)) for r in reads)
    )


def cache(name: str, *reads: str, by: str = "join") -> Draft:
    return Draft(
        key=key(name),
        content=f"Of {name}.",
        kind=Kind.CACHE,
        recipe=Recipe(operator=by),
        reads=tuple(Read(key=key(r)) for r in reads),
    )


def deletion(name: str) -> RepairEvent:
    return RepairEvent(kind=EventKind.DELETE, roots=(key(name),), delta=Deletion())


def correction(name: str, text: str) -> RepairEvent:
    return RepairEvent(
        kind=EventKind.CORRECT, roots=(key(name),), delta=Correction(replacements={key(name): text})
    )


WORLD = (
    Draft(key=key("a"), content="Root alpha1 fine."),
    summary("c", "a"),
    summary("x1", "a"),
    summary("x2", "a", "c"),
    cache("y", "c"),
    cache("z", "a", "y"),
)


def table() -> Operators:
    operators = Operators.default()
    operators.register(join)
    return operators


# the root of another deletion ------------------------------------------------------------------------


@pytest.mark.parametrize("deleted_first", [True, False])
def test_what_another_case_deletes_is_no_candidate_but_a_missing_input(deleted_first: bool) -> None:
    with memory() as store:
        store.write(WORLD)
        delete, correct = deletion("c"), correction("a", "Root beta2 fine.")
        events = [delete, correct] if deleted_first else [correct, delete]
        cases = {events[0].kind: engine.withdraw(store, events[0]).id}
        before = store.snapshot()
        cases[events[1].kind] = engine.withdraw(store, events[1]).id
        deleting, case = cases[EventKind.DELETE], cases[EventKind.CORRECT]
        plan = engine.plan(store, case, operators=table(), solver="repair-all")
        rows = {row.key.id: row for row in plan.rows()}
        assert set(rows) == {"x1", "x2", "y", "z"}
        assert rows["y"].why == f"input unavailable (c, withdrawn by case {deleting})"
        assert rows["z"].why == f"input unavailable (y, c, withdrawn by case {deleting})"
        report = engine.repair(store, case, operators=table(), solver="repair-all")
        assert {one.key.id: one.fate for one in report.members} == {
            "x1": Fate.REPUBLISHED,
            "x2": Fate.REPUBLISHED,
            "y": Fate.LEFT,
            "z": Fate.LEFT,
        }
        assert report.attempts == 1
        assert store.get(key("x2")).content == "Root beta2 fine."
        assert [parent.key.id for parent in store.parents(key("x2"))] == ["a"]
        with pytest.raises(Withdrawn):
            store.get(key("c"))
        if deleted_first:
            assert soundness_violations(before, correct, store.snapshot()) == ()
        engine.repair(store, deleting, operators=table(), solver="repair-all")
        assert exposed(before, delete, store.snapshot()) == ()
        assert store.check() == []


def test_a_deletion_that_was_undone_keeps_nothing_out() -> None:
    with memory() as store:
        store.write(WORLD)
        deleting = engine.withdraw(store, deletion("c")).id
        store.undo(deleting, actor="a", reason="r")
        case = engine.withdraw(store, correction("a", "Root beta2 fine.")).id
        report = engine.repair(store, case, operators=table(), solver="repair-all")
        assert report.still_withdrawn == ()


# events in the middle --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "out"),
    [
        (deletion("m3"), {"m3", "m4"}),
        (correction("m3", "Corrected."), set()),
        (deletion("m1"), {"m1", "m2", "m3", "m4"}),
        (correction("m1", "Corrected."), set()),
    ],
)
def test_an_event_on_members_in_the_middle_of_a_repair_is_obeyed_by_planning_again(
    event: RepairEvent, out: set[str]
) -> None:
    """The members m0 .. m4 read each other in a row; the event comes while m2 is made."""
    with memory() as store:
        declared: list[int] = []

        @operator(name="between")
        def between(call: Call) -> str:
            if call.key == key("m2") and not declared:
                declared.append(engine.withdraw(store, event).id)
            return join.make(call).content

        operators = table()
        operators.register(between)
        store.write([Draft(key=key("a"), content="Alpha one.")])
        for place in range(5):
            store.write([cache(f"m{place}", f"m{place - 1}" if place else "a", by="between")])
        case = engine.withdraw(store, correction("a", "Beta two.")).id
        report = engine.repair(store, case, operators=operators, solver="repair-all")
        assert report.attempts == 2
        assert report.cost > 0
        if declared and event.kind is EventKind.CORRECT:
            engine.repair(store, declared[0], operators=operators, solver="repair-all")
        served = {one.id for one in store.served([key(f"m{place}") for place in range(5)])}
        assert served == {f"m{place}" for place in range(5)} - out
        for place in range(5):
            if event.kind is EventKind.CORRECT and place >= int(event.roots[0].id[1:]):
                assert store.get(key(f"m{place}")).content == "Corrected."
            elif key(f"m{place}").id in served:
                assert store.get(key(f"m{place}")).content == "Beta two."
        assert store.check() == []


# arguments -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [CaseStatus.OPEN, CaseStatus.CLOSED_PARTIAL, CaseStatus.CLOSED])
@pytest.mark.parametrize(
    "arguments",
    [
        {"solver": "nope"},
        {"solver": 5},
        {"ties": "q"},
        {"ties": None},
        {"tradeoff": -1.0},
        {"tradeoff": math.nan},
        {"tradeoff": math.inf},
        {"tradeoff": "x"},
        {"wait": "x"},
        {"wait": math.nan},
        {"wait": -1.0},
        {"wait": None},
    ],
)
def test_a_bad_argument_is_refused_before_the_case_is_touched(
    status: CaseStatus, arguments: dict[str, object]
) -> None:
    with memory() as store:
        store.write(WORLD)
        case = engine.withdraw(store, correction("a", "Root beta2 fine.")).id
        if status is not CaseStatus.OPEN:
            price = 1e9 if status is CaseStatus.CLOSED_PARTIAL else 0.0
            assert engine.repair(store, case, operators=table(), tradeoff=price).case.status is status
        declared, entries = store.case(case), len(store.journal(None))
        for verb in (engine.repair, engine.plan):
            if verb is engine.plan and "wait" in arguments:
                continue
            with pytest.raises((InvalidInput, UnknownId)):
                cast(Callable[..., object], verb)(store, case, operators=table(), **arguments)
        assert store.case(case) == declared
        assert len(store.journal(None)) == entries


def test_a_repair_that_dies_gives_a_case_the_status_it_had() -> None:
    with memory() as store:
        store.write(WORLD)
        case = engine.withdraw(store, correction("a", "Root beta2 fine.")).id
        first = engine.repair(store, case, operators=table(), tradeoff=1e9)
        assert first.case.status is CaseStatus.CLOSED_PARTIAL

        def dies(stage: str, done: int, total: int) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            engine.repair(store, case, operators=table(), solver="repair-all", progress=dies)
        assert store.case(case).status is CaseStatus.CLOSED_PARTIAL
        assert engine.repair(store, case, operators=table(), solver="repair-all").still_withdrawn == ()
