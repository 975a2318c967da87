"""The engine on a real store: a repair is sound, equals a full recomputation, and fails without a trace."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorepair.errors import InvalidEvent, RepairInProgress, StaleRead, UnknownId, Withdrawn
from memorepair.graphs.terms import Arch, Kind
from memorepair.memory.artifact import CaseStatus, Draft, Json, Key, Read, Recipe, Slot, State, TaskCase
from memorepair.memory.snapshot import Snapshot
from memorepair.memory.sqlite import SqliteStore
from memorepair.repair import engine
from memorepair.repair.events import Correction, Deletion, EventKind, Interface, Migration, RepairEvent
from memorepair.repair.jsontext import canonical, parse
from memorepair.repair.operators.operator import Call, Input, Operator
from memorepair.repair.operators.recompute import FunctionOperator, operator
from memorepair.repair.operators.regen import Generated, RegenOperator, Request
from memorepair.repair.operators.registry import Operators
from memorepair.repair.report import Fate
from memorepair.repair.soundness import exposed, soundness_violations
from memorepair.repair.withdrawal import event_of


def key(name: str) -> Key:
    return Key(("t",), name)


@contextmanager
def memory() -> Iterator[SqliteStore]:
    with TemporaryDirectory() as folder, SqliteStore.open(Path(folder) / "memory.db") as opened:
        yield opened


# a small world: contents are what the operators make of what is read ---------------------------------


@operator(name="join")
def join(call: Call) -> str:
    return " & ".join(source.content for source in call.inputs)


@operator(name="parity")
def parity(call: Call) -> str:
    return "even" if sum(len(source.content) for source in call.inputs) % 2 == 0 else "odd"


@dataclass
class Spy:
    """A generator that remembers what it was shown."""

    seen: list[Input] = field(default_factory=list)

    def generate(self, request: Request) -> Generated:
        self.seen += request.sources
        text = "summary of " + ", ".join(source.content for source in request.sources)
        return Generated(text=text, cites=tuple(source.key for source in request.sources))


@dataclass
class World:
    spy: Spy
    operators: Operators

    def __init__(self, *more: Operator) -> None:
        self.spy = Spy()
        self.operators = Operators([join, parity, RegenOperator(name="summarise", generator=self.spy), *more])

    def make(self, name: str, inputs: Sequence[tuple[Key, str]]) -> str:
        found = self.operators.get(name)
        assert found is not None
        sources = tuple(
            Input(key=one, version=1, kind=Kind.RECORD, relation=Read(key=one).relation, content=content)
            for one, content in sorted(inputs)
        )
        return found.make(Call(key=key("x"), inputs=sources, params={}, interfaces={}, own=None)).content


Node = tuple[str, str, tuple[str, ...]]
"""Name, operator ("" for a root), parents."""


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[Node], RepairEvent]:
    nodes: list[Node] = []
    for place in range(draw(st.integers(2, 9))):
        above = [name for name, _, _ in nodes]
        parents = draw(st.sets(st.sampled_from(above), max_size=3)) if above else set()
        made = draw(st.sampled_from(["join", "parity", "parity", "summarise"])) if parents else ""
        nodes.append((f"n{place}", made, tuple(sorted(parents))))
    names = [name for name, made, _ in nodes if not made]
    roots = tuple(map(key, sorted(draw(st.sets(st.sampled_from(names), min_size=1, max_size=2)))))
    if draw(st.booleans()):
        return nodes, RepairEvent(kind=EventKind.DELETE, roots=roots, delta=Deletion())
    texts = {root: draw(st.sampled_from(["new", "newer", f"text of {root.id}"])) for root in roots}
    return nodes, RepairEvent(kind=EventKind.CORRECT, roots=roots, delta=Correction(replacements=texts))


def contents(world: World, nodes: list[Node], given: Mapping[Key, str]) -> dict[Key, str]:
    """What a full recomputation makes of the roots' contents."""
    made: dict[Key, str] = {}
    for name, how, parents in nodes:
        inputs = [(key(parent), made[key(parent)]) for parent in parents]
        made[key(name)] = world.make(how, inputs) if how else given.get(key(name), f"text of {name}")
    return made


def write(store: SqliteStore, world: World, nodes: list[Node]) -> dict[Key, str]:
    made = contents(world, nodes, {})
    store.write(
        [
            Draft(
                key=key(name),
                content=made[key(name)],
                kind=Kind.SUMMARY if how == "summarise" else Kind.CACHE if how else Kind.RECORD,
                recipe=Recipe(operator=how or None),
                reads=tuple(Read(key=key(parent)) for parent in parents),
            )
            for name, how, parents in nodes
        ]
    )
    world.spy.seen.clear()
    return made


def sound(before: Snapshot, event: RepairEvent, after: Snapshot) -> None:
    assert soundness_violations(before, event, after) == ()
    assert exposed(before, event, after) == ()


@settings(max_examples=60)
@given(worlds(), st.sampled_from([0.0, 0.3, 3.0]), st.booleans())
def test_a_repair_is_sound_and_equals_a_full_recomputation(
    drawn: tuple[list[Node], RepairEvent], tradeoff: float, everything: bool
) -> None:
    nodes, event = drawn
    world = World()
    with memory() as store:
        old = write(store, world, nodes)
        before = store.snapshot()
        case = engine.withdraw(store, event)
        sound(before, event, store.snapshot())
        withdrawn = {member.key: (member.version, old[member.key]) for member in store.members(case.id)}
        solver = "repair-all" if everything else "pseudoflow"
        plan = engine.plan(store, case.id, operators=world.operators, tradeoff=tradeoff, solver=solver)
        report = engine.repair(store, case.id, operators=world.operators, tradeoff=tradeoff, solver=solver)
        after = store.snapshot()
        sound(before, event, after)
        assert store.check() == []

        # Law 1: the generator saw the old version of a member only where that very version is served again.
        for source in world.spy.seen:
            if (source.key in withdrawn) and source.version == withdrawn[source.key][0]:
                assert source.key in {*report.unchanged, *report.released}
        served = store.served([key(name) for name, _, _ in nodes])
        assert set(withdrawn) - {*event.roots} == {member.key for member in report.members}
        for member in report.members:
            assert (member.key in served) is not member.withdrawn

        # Where nothing is lost, what is served is what a recomputation of everything makes.
        if isinstance(event.delta, Correction):
            oracle = contents(world, nodes, event.delta.replacements)
            assert {one: there.content for one, there in served.items()} == {
                one: oracle[one] for one in served
            }
            if everything:
                assert report.still_withdrawn == ()
            for member in report.members:
                if member.fate in (Fate.RELEASED, Fate.UNCHANGED):
                    assert oracle[member.key] == old[member.key]

        # The report adds up.
        chosen = {row.key for row in plan.rows() if row.chosen}
        assert {*report.republished, *report.unchanged, *report.failed} <= chosen
        assert report.cost <= report.cost_all + 1e-9
        assert report.attempts == 1
        left = bool(report.still_withdrawn)
        assert report.case.status is (CaseStatus.CLOSED_PARTIAL if left else CaseStatus.CLOSED)
        assert json.loads(json.dumps(report.to_json()))["cascade"] == len(withdrawn)


@settings(max_examples=25)
@given(worlds())
def test_a_reopened_case_takes_up_exactly_what_is_still_withdrawn(
    drawn: tuple[list[Node], RepairEvent],
) -> None:
    nodes, event = drawn
    world = World()
    with memory() as store:
        write(store, world, nodes)
        before = store.snapshot()
        case = engine.withdraw(store, event).id
        first = engine.repair(store, case, operators=world.operators, tradeoff=1e9)
        again = engine.repair(store, case, operators=world.operators, solver="repair-all")
        assert {one.key for one in again.members} == {one.key for one in first.still_withdrawn}
        sound(before, event, store.snapshot())
    with memory() as store:
        other = World()
        write(store, other, nodes)
        case = engine.withdraw(store, event).id
        once = engine.repair(store, case, operators=other.operators, solver="repair-all")
        assert {one.key for one in once.still_withdrawn} == {one.key for one in again.still_withdrawn}


def test_two_repairs_of_the_same_store_do_the_same() -> None:
    nodes: list[Node] = [("n0", "", ()), ("n1", "", ())]
    nodes += [
        (
            f"m{place}",
            "join" if place % 2 else "summarise",
            ("n0", "n1", *([f"m{place - 1}"] if place else [])),
        )
        for place in range(6)
    ]
    event = RepairEvent(
        kind=EventKind.CORRECT, roots=(key("n0"),), delta=Correction(replacements={key("n0"): "new"})
    )
    reports = []
    for _ in range(2):
        world = World()
        with memory() as store:
            write(store, world, nodes)
            case = engine.withdraw(store, event).id
            report = engine.repair(store, case, operators=world.operators)
            made = {one.id: there.content for one, there in store.served(report.republished).items()}
            reports.append((report.members, report.cost, made))
    assert reports[0] == reports[1]


# early cutoff ----------------------------------------------------------------------------------------


def declared(store: SqliteStore, nodes: list[Node], world: World, text: str) -> tuple[RepairEvent, int]:
    write(store, world, nodes)
    event = RepairEvent(
        kind=EventKind.CORRECT, roots=(key("n0"),), delta=Correction(replacements={key("n0"): text})
    )
    return event, engine.withdraw(store, event).id


DIAMOND: list[Node] = [
    ("n0", "", ()),
    ("p", "parity", ("n0",)),
    ("s", "summarise", ("p",)),
    ("t", "join", ("s",)),
    ("u", "join", ("n0", "s")),
]


def test_what_stands_on_an_unchanged_result_is_released_without_execution() -> None:
    world = World()
    with memory() as store:
        _, case = declared(store, DIAMOND, world, "other  words")
        report = engine.repair(store, case, operators=world.operators)
        fates = {member.key.id: member.fate for member in report.members}
        assert fates == {
            "p": Fate.UNCHANGED,
            "s": Fate.RELEASED,
            "t": Fate.RELEASED,
            "u": Fate.REPUBLISHED,
        }
        assert world.spy.seen == []
        assert store.get(key("s")).version == 1
        assert store.get(key("u")).content == "other  words & summary of even"


def test_even_what_was_not_chosen_is_released() -> None:
    world = World()
    with memory() as store:
        _, case = declared(store, DIAMOND, world, "text of n0")
        report = engine.repair(store, case, operators=world.operators, tradeoff=1e9)
        assert {member.fate for member in report.members} == {Fate.RELEASED}
        assert report.cost == 0.0
        assert report.case.status is CaseStatus.CLOSED


def test_an_observed_record_is_released_or_stays_out_but_never_runs() -> None:
    def forbidden(call: Call) -> str:
        raise AssertionError("an observed call was run again")

    world = World(FunctionOperator(name="book", function=forbidden))
    for text, fate in (("text of n0", Fate.RELEASED), ("changed", Fate.LEFT)):
        with memory() as store:
            store.write(
                [
                    Draft(key=key("n0"), content="text of n0"),
                    Draft(
                        key=key("booked"),
                        content="booked",
                        recipe=Recipe(operator="book", observed=True),
                        reads=(Read(key=key("n0")),),
                    ),
                ]
            )
            delta = Correction(replacements={key("n0"): text})
            event = RepairEvent(kind=EventKind.CORRECT, roots=(key("n0"),), delta=delta)
            case = engine.withdraw(store, event).id
            report = engine.repair(store, case, operators=world.operators, solver="repair-all")
            assert [member.fate for member in report.members] == [fate]
            assert ("observed" in report.members[0].why) is (fate is Fate.LEFT)


# failures --------------------------------------------------------------------------------------------

BROKEN: list[Node] = [
    ("n0", "", ()),
    ("a", "join", ("n0",)),
    ("b", "broken", ("n0",)),
    ("c", "join", ("b",)),
    ("d", "summarise", ("a", "c")),
    ("e", "summarise", ("a",)),
]


def breaking(error: BaseException) -> FunctionOperator:
    """Works while the world is written, breaks in the repair."""

    def broken(call: Call) -> str:
        if call.key == key("x"):
            return "whole"
        raise error

    return FunctionOperator(name="broken", function=broken)


def test_a_failed_step_keeps_itself_and_its_dependents_out_and_nobody_else() -> None:
    world = World(breaking(LookupError("no such thing")))
    with memory() as store:
        _, case = declared(store, BROKEN, world, "new")
        report = engine.repair(store, case, operators=world.operators, solver="repair-all")
        assert {member.key.id: member.fate for member in report.members} == {
            "a": Fate.REPUBLISHED,
            "b": Fate.FAILED,
            "c": Fate.SKIPPED,
            "d": Fate.SKIPPED,
            "e": Fate.REPUBLISHED,
        }
        why = {member.key.id: member.why for member in report.still_withdrawn}
        assert why["b"] == "LookupError: no such thing"
        assert why["c"] == "requires t::b, which has no successor"
        assert report.case.status is CaseStatus.CLOSED_PARTIAL
        for name in "bcd":
            with pytest.raises(Withdrawn):
                store.get(key(name))


def states(store: SqliteStore) -> dict[tuple[Key, int], State]:
    return {place: view.state for place, view in store.snapshot().versions.items()}


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1)])
def test_a_repair_that_dies_takes_back_what_it_staged_and_never_the_barrier(error: BaseException) -> None:
    world = World(breaking(error))
    with memory() as store:
        _, case = declared(store, BROKEN, world, "new")
        barred = store.snapshot()
        with pytest.raises(type(error)):
            engine.repair(store, case, operators=world.operators, solver="repair-all")
        after = store.snapshot()
        assert after.current == barred.current
        left = {view.state for place, view in after.versions.items() if place not in barred.versions}
        assert left <= {State.ERASED}
        assert store.case(case).status is CaseStatus.OPEN
        for name in "abcde":
            with pytest.raises(Withdrawn):
                store.get(key(name))
        # The lock is free, and the case can be repaired.
        mended = World(FunctionOperator(name="broken", function=lambda call: "mended"))
        report = engine.repair(store, case, operators=mended.operators, solver="repair-all")
        assert report.still_withdrawn == ()
        assert store.get(key("c")).content == "mended"


def test_a_refused_successor_stays_in_quarantine_and_its_old_version_withdrawn() -> None:
    world = World()
    with memory() as store:
        store.write(
            [
                Draft(key=key("n0"), content="text"),
                Draft(
                    key=key("s"),
                    content="summary of text",
                    kind=Kind.SUMMARY,
                    recipe=Recipe(operator="summarise", cases=(TaskCase(name="old", contains=("text",)),)),
                    reads=(Read(key=key("n0")),),
                ),
            ]
        )
        delta = Correction(replacements={key("n0"): "new words"})
        event = RepairEvent(kind=EventKind.CORRECT, roots=(key("n0"),), delta=delta)
        before = store.snapshot()
        case = engine.withdraw(store, event).id
        report = engine.repair(store, case, operators=world.operators)
        assert [(one.fate, one.why) for one in report.members] == [
            (Fate.FAILED, "cases: case old: text 1 that it must state is missing")
        ]
        assert report.verdicts["cases", "fail"] == 1
        assert states(store)[key("s"), 2] is State.QUARANTINED
        assert states(store)[key("s"), 1] is State.WITHDRAWN
        sound(before, event, store.snapshot())


# other events between --------------------------------------------------------------------------------


def disturbing(store: SqliteStore, times: int, text: str = "beside") -> FunctionOperator:
    """An operator in whose runs somebody updates what another step has read."""
    left = [times]

    def disturb(call: Call) -> str:
        if left[0] and call.key != key("x"):
            left[0] -= 1
            store.write([Draft(key=key("n1"), content=f"{text} {left[0]}")])
        return "disturbed"

    return FunctionOperator(name="disturb", function=disturb)


BESIDE: list[Node] = [
    ("n0", "", ()),
    ("n1", "", ()),
    ("a", "join", ("n0", "n1")),
    ("b", "disturb", ("a",)),
]


def test_an_update_that_comes_between_makes_the_repair_plan_again() -> None:
    with memory() as store:
        world = World(disturbing(store, 1))
        _, case = declared(store, BESIDE, world, "new")
        report = engine.repair(store, case, operators=world.operators, solver="repair-all")
        assert report.attempts == 2
        assert store.get(key("a")).content == "new & beside 0"
        assert report.cost > report.cost_all * 0.9


def test_a_repair_that_never_comes_through_gives_up_and_leaves_the_barrier() -> None:
    with memory() as store:
        # Replay runs an operator twice an attempt.
        world = World(disturbing(store, 100))
        _, case = declared(store, BESIDE, world, "new")
        with pytest.raises(StaleRead):
            engine.repair(store, case, operators=world.operators, solver="repair-all")
        assert store.case(case).status is CaseStatus.OPEN
        with pytest.raises(Withdrawn):
            store.get(key("a"))


def test_a_second_event_during_a_repair_is_obeyed() -> None:
    with memory() as store:
        declared_once: list[int] = []

        def second(call: Call) -> str:
            if call.key != key("x") and not declared_once:
                event = RepairEvent(kind=EventKind.DELETE, roots=(key("n1"),), delta=Deletion())
                declared_once.append(engine.withdraw(store, event).id)
            return "disturbed"

        world = World(FunctionOperator(name="disturb", function=second))
        _, case = declared(store, BESIDE, world, "new")
        report = engine.repair(store, case, operators=world.operators, solver="repair-all")
        assert report.attempts == 2
        assert set(report.republished) == set()
        with pytest.raises(Withdrawn):
            store.get(key("a"))


def test_only_one_repair_runs() -> None:
    with memory() as store:
        world = World()
        _, case = declared(store, DIAMOND, world, "new")
        with store.repairing(case), pytest.raises(RepairInProgress):
            engine.repair(store, case, operators=world.operators)
        assert store.case(case).status is CaseStatus.OPEN


# events ----------------------------------------------------------------------------------------------

OLD_USERS = canonical({"fields": ["province"], "tools": {"get_user": {"arguments": {"id": {}}}}})
NEW_USERS = canonical(
    {"fields": ["state"], "tools": {"fetch_user": {"renamed_from": "get_user", "arguments": {"id": {}}}}}
)


@operator(name="rename", reads_own_version=True)
def rename(call: Call) -> str:
    assert call.own is not None
    row = parse(call.own)
    assert isinstance(row, dict)
    row["state"] = row.pop("province")
    return canonical(row)


@pytest.mark.parametrize("target", ["users@1", "users@2"])
def test_a_migration_carries_rows_and_chains_over(target: str) -> None:
    interface = key("users@1")
    chain: dict[str, Json] = {"inputs": ["id"], "steps": [{"name": "u", "tool": "get_user"}]}
    operators = Operators.default()
    operators.register(rename)
    operators.register(join)
    with memory() as store:
        store.write(
            [
                Draft(key=interface, content=OLD_USERS, metadata={"owner": "ops"}),
                Draft(
                    key=key("row"),
                    content=canonical({"name": "Mei", "province": "QC"}),
                    slot=Slot(entity="Mei", attribute="address", value="QC"),
                    reads=(Read(key=interface),),
                ),
                Draft(
                    key=key("cached"),
                    content=canonical({"name": "Mei", "province": "QC"}),
                    kind=Kind.CACHE,
                    recipe=Recipe(operator="join"),
                    reads=(Read(key=key("row")),),
                ),
                Draft(
                    key=key("chain"),
                    content=canonical(chain),
                    kind=Kind.SKILL,
                    arch=Arch.CHAIN,
                    reads=(Read(key=interface),),
                ),
            ]
        )
        delta = Migration(
            interfaces={interface: Interface(key=key(target), content=NEW_USERS)}, rows="rename@1"
        )
        event = RepairEvent(kind=EventKind.MIGRATE, roots=(interface,), delta=delta, reason="r", actor="a")
        before = store.snapshot()
        case = engine.withdraw(store, event, operators=operators)
        assert event_of(store, case) == event
        sound(before, event, store.snapshot())
        report = engine.repair(store, case.id, operators=operators, solver="repair-all")
        assert report.still_withdrawn == ()
        sound(before, event, store.snapshot())
        row = store.get(key("row"))
        assert parse(row.content) == {"name": "Mei", "state": "QC"}
        assert row.slot == Slot(entity="Mei", attribute="address")
        assert parse(store.get(key("cached")).content) == {"name": "Mei", "state": "QC"}
        assert '"tool":"fetch_user"' in store.get(key("chain")).content
        assert [parent.key for parent in store.parents(key("row"))] == [key(target)]
        assert store.get(key(target)).metadata == {"owner": "ops"}


def test_the_operator_for_rows_must_exist_and_read_them() -> None:
    with memory() as store:
        store.write([Draft(key=key("i"), content="{}")])
        for rows, error in (("gone@1", UnknownId), ("join@1", InvalidEvent)):
            delta = Migration(interfaces={key("i"): Interface(key=key("i"), content="[]")}, rows=rows)
            event = RepairEvent(kind=EventKind.MIGRATE, roots=(key("i"),), delta=delta)
            with pytest.raises(error):
                engine.withdraw(store, event, operators=Operators([join]))
        assert store.cases() == []
        assert store.get(key("i")).content == "{}"


def test_a_corrected_row_goes_on_following_its_interface_and_a_corrected_summary_stands_alone() -> None:
    world = World()
    with memory() as store:
        store.write(
            [
                Draft(key=key("i"), content=OLD_USERS),
                Draft(key=key("row"), content="{}", reads=(Read(key=key("i")),)),
                Draft(
                    key=key("s"),
                    content="summary",
                    kind=Kind.SUMMARY,
                    recipe=Recipe(operator="summarise"),
                    reads=(Read(key=key("row")),),
                ),
            ]
        )
        for name in ("row", "s"):
            delta = Correction(replacements={key(name): "1"})
            event = RepairEvent(kind=EventKind.CORRECT, roots=(key(name),), delta=delta)
            before = store.snapshot()
            case = engine.withdraw(store, event)
            assert event_of(store, case) == event
            engine.repair(store, case.id, operators=world.operators)
            sound(before, event, store.snapshot())
        assert [parent.key.id for parent in store.parents(key("row"))] == ["i"]
        assert store.parents(key("s")) == []


def test_a_dry_run_changes_nothing() -> None:
    with memory() as store:
        write(store, World(), DIAMOND)
        before = store.snapshot()
        event = RepairEvent(kind=EventKind.DELETE, roots=(key("n0"),), delta=Deletion())
        case = engine.withdraw(store, event, dry_run=True)
        assert (case.id, case.withdrawn) == (0, 5)
        assert store.snapshot() == before


def test_a_plan_changes_nothing_and_progress_counts_up() -> None:
    world = World()
    with memory() as store:
        _, case = declared(store, DIAMOND, world, "new")
        before = store.snapshot()
        engine.plan(store, case, operators=world.operators)
        assert store.snapshot() == before
        seen: list[tuple[str, int, int]] = []
        engine.repair(
            store,
            case,
            operators=world.operators,
            progress=lambda stage, done, total: seen.append((stage, done, total)),
        )
        assert [done for _, done, _ in seen] == list(range(5))
        assert {total for _, _, total in seen} == {4}


def test_measured_costs_are_remembered_and_reported() -> None:
    class Metered:
        def generate(self, request: Request) -> Generated:
            return Generated(text="short", cites=(request.sources[0].key,), tokens=40)

    operators = Operators([RegenOperator(name="summarise", generator=Metered())])
    nodes: list[Node] = [("n0", "", ()), ("s", "summarise", ("n0",))]
    with memory() as store:
        _, case = declared(store, nodes, World(), "x" * 20)
        report = engine.repair(store, case, operators=operators)
        assert report.cost == 40.0
        (cost,) = store.operator_costs()
        assert (cost.operator, cost.size, cost.cost, cost.succeeded) == ("summarise@1", 20.0, 40.0, 1)
