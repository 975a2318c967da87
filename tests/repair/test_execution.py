"""Execution over any graph: cycles, lost operators, observed records, one event upon another."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from memorepair.errors import MemoRepairError
from memorepair.graphs.terms import Arch, Kind
from memorepair.memory.artifact import Draft, Key, Read, Recipe
from memorepair.memory.sqlite import SqliteStore
from memorepair.repair import engine
from memorepair.repair.cascade import read_cascade
from memorepair.repair.events import Correction, Deletion, EventKind, RepairEvent
from memorepair.repair.execution import execute
from memorepair.repair.operators.operator import Call
from memorepair.repair.operators.recompute import operator
from memorepair.repair.operators.registry import Operators
from memorepair.repair.outcomes import Released, Skipped, Staged, Unchanged
from memorepair.repair.report import Fate
from memorepair.repair.soundness import exposed, soundness_violations


def key(name: str) -> Key:
    return Key(("t",), name)


@operator(name="constant")
def constant(call: Call) -> str:
    return "always this."


@operator(name="join")
def join(call: Call) -> str:
    return " ".join(source.content for source in call.inputs)


@operator(name="odd")
def odd(call: Call) -> str:
    if sum(len(source.content) for source in call.inputs) % 2:
        raise ValueError("an odd number of characters")
    return "even."


def table() -> Operators:
    operators = Operators.default()
    for one in (constant, join, odd):
        operators.register(one)
    return operators


NAMES = [f"n{place}" for place in range(8)]
MADE = ["constant", "join", "odd", "summarise", "summarise", "gone", "observed"]


@st.composite
def drafts(draw: st.DrawFn) -> list[Draft]:
    """Artifacts that read each other any way, cycles included."""
    made = []
    for name in NAMES[: draw(st.integers(2, 8))]:
        how = draw(st.sampled_from(MADE))
        parents = draw(st.sets(st.sampled_from([one for one in NAMES if one != name]), max_size=3))
        made.append((name, how, parents))
    there = {name for name, _, _ in made}
    return [
        Draft(
            key=key(name),
            content=draw(st.sampled_from(["always this.", "even.", f"Content of {name}."])),
            kind=Kind.SUMMARY if how == "summarise" else Kind.CACHE,
            arch=Arch.NONE,
            recipe=Recipe(operator=how, observed=how == "observed"),
            reads=tuple(Read(key=key(parent)) for parent in sorted(parents & there)),
        )
        for name, how, parents in made
    ]


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[Draft], list[RepairEvent]]:
    made = draw(drafts())
    events = []
    for _ in range(draw(st.integers(1, 3))):
        root = draw(st.sampled_from([draft.key for draft in made]))
        if draw(st.booleans()):
            events.append(RepairEvent(kind=EventKind.DELETE, roots=(root,), delta=Deletion()))
        else:
            text = draw(st.sampled_from(["even.", "Something new.", f"Content of {root.id}."]))
            delta = Correction(replacements={root: text})
            events.append(RepairEvent(kind=EventKind.CORRECT, roots=(root,), delta=delta))
    return made, events


@settings(max_examples=60)
@given(histories(), st.sampled_from([0.3, 1e9]))
def test_whatever_the_graph_every_repair_is_sound(
    history: tuple[list[Draft], list[RepairEvent]], tradeoff: float
) -> None:
    made, events = history
    operators = table()
    with TemporaryDirectory() as folder, SqliteStore.open(Path(folder) / "memory.db") as store:
        store.write(made, allow_cycles=True)
        for event in events:
            before = store.snapshot()
            try:
                case = engine.withdraw(store, event).id
            except MemoRepairError:
                assert store.snapshot() == before  # refused: tombstoned, or an archived root
                continue
            for solver in ("pseudoflow", "repair-all"):
                engine.repair(store, case, operators=operators, tradeoff=tradeoff, solver=solver)
                after = store.snapshot()
                assert soundness_violations(before, event, after) == ()
                assert exposed(before, event, after) == ()
        assert store.check() == []


def test_a_summary_on_a_cycle_through_a_lost_artifact_is_written_without_it() -> None:
    with TemporaryDirectory() as folder, SqliteStore.open(Path(folder) / "memory.db") as store:
        store.write(
            [
                Draft(key=key("n0"), content="Lives in Paris."),
                Draft(
                    key=key("s"),
                    content="Paris.",
                    kind=Kind.SUMMARY,
                    reads=(Read(key=key("n0")), Read(key=key("r"))),
                ),
                Draft(key=key("r"), content="r", recipe=Recipe(observed=True), reads=(Read(key=key("s")),)),
            ],
            allow_cycles=True,
        )
        delta = Correction(replacements={key("n0"): "Lives in Lyon."})
        event = RepairEvent(kind=EventKind.CORRECT, roots=(key("n0"),), delta=delta)
        case = engine.withdraw(store, event).id
        report = engine.repair(store, case, operators=table())
        assert {one.key.id: one.fate for one in report.members} == {"s": Fate.REPUBLISHED, "r": Fate.LEFT}
        assert store.get(key("s")).content == "Lives in Lyon."
        assert [parent.key.id for parent in store.parents(key("s"))] == ["n0"]


def test_prerequisites_come_first_and_nothing_is_published_by_execution() -> None:
    with TemporaryDirectory() as folder, SqliteStore.open(Path(folder) / "memory.db") as store:
        chain = [Draft(key=key("n0"), content="a.")]
        chain += [
            Draft(
                key=key(f"n{place}"),
                content="old.",
                kind=Kind.CACHE,
                recipe=Recipe(operator="odd" if place == 3 else "join"),
                reads=(Read(key=key(f"n{place - 1}")),),
            )
            for place in range(1, 5)
        ]
        store.write(chain)
        delta = Correction(replacements={key("n0"): "odd"})
        event = RepairEvent(kind=EventKind.CORRECT, roots=(key("n0"),), delta=delta)
        case = engine.withdraw(store, event).id
        plan = engine.plan(store, case, operators=table(), solver="repair-all")
        barred = store.snapshot()
        execution = execute(store, event, read_cascade(store, case), plan, table())
        assert [(one.id, type(outcome).__name__) for one, outcome in execution.outcomes.items()] == [
            ("n1", "Staged"),
            ("n2", "Staged"),
            ("n3", "Failed"),
            ("n4", "Skipped"),
        ]
        assert store.snapshot().current == barred.current
        skipped = execution.outcomes[key("n4")]
        assert isinstance(skipped, Skipped)
        assert skipped.because == key("n3")
        assert not any(isinstance(one, Released | Unchanged) for one in execution.outcomes.values())
        staged = execution.outcomes[key("n2")]
        assert isinstance(staged, Staged)
        assert [(read.key.id, read.version) for read in staged.reads] == [("n1", 2)]
