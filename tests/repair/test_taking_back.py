"""Whatever a repair did, an undo returns to before the event, an erasure leaves only what is published."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorepair.errors import (
    InvalidInput,
    RepairInProgress,
    RepairsFailed,
    Tombstoned,
    UndoRefused,
    Withdrawn,
)
from memorepair.facade import Memory
from memorepair.memory.artifact import Case, CaseStatus, Draft, Erasure, Key, Read, Recipe, State
from memorepair.memory.snapshot import Snapshot
from memorepair.repair.events import Correction, Deletion, EventKind, RepairEvent
from memorepair.repair.operators.operator import Call
from memorepair.repair.operators.recompute import FunctionOperator, operator
from memorepair.repair.soundness import exposed, soundness_violations

SCOPE = ("t",)
Node = tuple[str, str, tuple[str, ...]]
"""Name, operator ("" for a root), parents."""


def key(name: str) -> Key:
    return Key(SCOPE, name)


@operator(name="join")
def join(call: Call) -> str:
    return " & ".join(source.content for source in call.inputs)


@operator(name="parity")
def parity(call: Call) -> str:
    return "even" if sum(len(source.content) for source in call.inputs) % 2 == 0 else "odd"


@contextmanager
def memory(*operators: FunctionOperator) -> Iterator[Memory]:
    with (
        TemporaryDirectory() as folder,
        Memory.open(Path(folder) / "memory.db", operators=[join, parity, *operators]) as opened,
    ):
        yield opened


def write(memory: Memory, nodes: Sequence[Node]) -> None:
    made: dict[str, str] = {}
    for name, how, parents in nodes:
        texts = [made[parent] for parent in sorted(parents)]
        even = sum(map(len, texts)) % 2 == 0
        made[name] = {"": f"text of {name}", "parity": "even" if even else "odd"}.get(how, " & ".join(texts))
    memory.ingest(
        [
            Draft(
                key=key(name),
                content=made[name],
                recipe=Recipe(operator=how or None),
                reads=tuple(Read(key=key(parent)) for parent in sorted(parents)),
            )
            for name, how, parents in nodes
        ]
    )


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[Node], RepairEvent]:
    nodes: list[Node] = []
    for place in range(draw(st.integers(2, 8))):
        above = [name for name, _, _ in nodes]
        parents = draw(st.sets(st.sampled_from(above), max_size=3)) if above else set()
        made = draw(st.sampled_from(["join", "parity"])) if parents else ""
        nodes.append((f"n{place}", made, tuple(sorted(parents))))
    names = [name for name, made, _ in nodes if not made]
    roots = tuple(map(key, sorted(draw(st.sets(st.sampled_from(names), min_size=1, max_size=2)))))
    if draw(st.booleans()):
        return nodes, RepairEvent(kind=EventKind.DELETE, roots=roots, delta=Deletion())
    texts = {root: draw(st.sampled_from(["new", "newer", f"text of {root.id}"])) for root in roots}
    return nodes, RepairEvent(kind=EventKind.CORRECT, roots=roots, delta=Correction(replacements=texts))


def declare(memory: Memory, event: RepairEvent) -> Case:
    if isinstance(event.delta, Correction):
        return memory.correct(event.delta.replacements, reason="r", actor="x")
    return memory.delete(event.roots, reason="r", actor="x")


def contents(memory: Memory) -> dict[Key, str]:
    return {
        one: there.content for one, there in memory.store.served([one.key for one in memory.list()]).items()
    }


def picture(snapshot: Snapshot) -> object:
    """All but versions that came since and are out of service, and what they were made from."""
    lasting = {
        place: view
        for place, view in snapshot.versions.items()
        if view.state not in (State.ARCHIVED, State.ERASED)
    }
    return lasting, snapshot.current, set(snapshot.arcs)


@settings(max_examples=25)
@given(worlds(), st.sampled_from([0.0, 0.3, 1e9]))
def test_undo_returns_to_before_the_event_and_the_event_may_come_again(
    drawn: tuple[list[Node], RepairEvent], tradeoff: float
) -> None:
    nodes, event = drawn
    with memory() as opened:
        write(opened, nodes)
        before, served = opened.store.snapshot(), contents(opened)
        case = declare(opened, event)
        first = opened.repair(case, tradeoff=tradeoff)
        repaired = contents(opened)
        report = opened.undo(case, actor="ada", reason="mistaken")
        assert picture(opened.store.snapshot()) == picture(before)
        assert contents(opened) == served
        assert {*report.restored, *report.kept} == {member.key for member in opened.store.members(case.id)}
        for verb in (opened.plan, opened.repair):
            with pytest.raises(InvalidInput, match="undone"):
                verb(case)
        between = opened.store.snapshot()
        again = declare(opened, event)
        second = opened.repair(again, tradeoff=tradeoff)
        assert contents(opened) == repaired
        assert [(one.key, one.fate) for one in second.members] == [
            (one.key, one.fate) for one in first.members
        ]
        assert soundness_violations(between, event, opened.store.snapshot()) == ()
        assert opened.store.check() == []


@settings(max_examples=25)
@given(worlds(), st.sampled_from([0.0, 0.3, 1e9]), st.booleans())
def test_an_erasure_leaves_what_is_published_and_nothing_else_of_the_cascade(
    drawn: tuple[list[Node], RepairEvent], tradeoff: float, at_once: bool
) -> None:
    nodes, event = drawn
    event = RepairEvent(kind=EventKind.DELETE, roots=event.roots)
    with memory() as opened:
        write(opened, nodes)
        before = opened.store.snapshot()
        case = opened.delete(event.roots, reason="r", actor="x", erase=not at_once)
        members = {member.key: member.version for member in opened.store.members(case.id)}
        if at_once:
            receipt = opened.erase(case, actor="ada", reason="asked to")
        else:
            report = opened.repair(case, tradeoff=tradeoff)
            assert report.receipt is not None
            receipt = report.receipt
            assert opened.receipt(case) == receipt
            assert report.case == opened.store.case(case.id)
        assert (receipt.status, opened.store.case(case.id).status) == (Erasure.DONE, CaseStatus.CLOSED)
        after = opened.store.snapshot()
        assert exposed(before, event, after) == ()
        assert soundness_violations(before, event, after) == ()
        for one, no in members.items():
            if after.current[one].version == no and after.current[one].state is State.ACTIVE:
                continue  # released: it was found to be free of the roots
            assert after.versions[one, no].state is State.ERASED
            with pytest.raises(Withdrawn, match="erased"):
                opened.inspect(one, actor="x", reason="r", version=no)
        assert opened.store.check() == []
        assert opened.repair(case).case.status is CaseStatus.CLOSED
        assert opened.store.snapshot().current == after.current
        with pytest.raises(UndoRefused) as caught:
            opened.undo(case, actor="x", reason="r")
        assert isinstance(caught.value.witness, tuple)
        assert set(event.roots) <= set(caught.value.witness)


CHAIN: list[Node] = [("a", "", ()), ("b", "", ()), ("c", "broken", ("a", "b"))]


def breaking(error: BaseException) -> FunctionOperator:
    def broken(call: Call) -> str:
        raise error

    return FunctionOperator(name="broken", function=broken)


def test_after_three_repairs_that_raised_another_one_has_to_be_asked_for() -> None:
    with memory(breaking(KeyboardInterrupt())) as opened:
        write(opened, CHAIN)
        case = opened.correct(key("a"), "new", reason="r", actor="x")
        for attempt in range(3):
            assert opened.store.case(case.id).attempts == attempt
            with pytest.raises(KeyboardInterrupt):
                opened.repair(case, solver="repair-all")
        entries = opened.store.journal()
        with pytest.raises(RepairsFailed) as caught:
            opened.repair(case)
        assert caught.value.witness == 3
        assert opened.store.journal() == entries
        with pytest.raises(KeyboardInterrupt):
            opened.repair(case, solver="repair-all", retry=True)
        with pytest.raises(Withdrawn):
            opened.get(key("c"))
        report = opened.repair(case, tradeoff=1e9, retry=True)
        assert (report.case.status, report.case.attempts) == (CaseStatus.CLOSED_PARTIAL, 0)


def test_the_plan_is_in_the_journal_before_anything_is_staged() -> None:
    with memory() as opened:
        write(opened, [("a", "", ()), ("b", "join", ("a",))])
        case = opened.correct(key("a"), "new", reason="r", actor="x")
        digest = opened.plan(case).digest
        opened.repair(case)
        acts = [entry.act for entry in reversed(opened.store.journal()) if entry.case == case.id]
        assert acts == ["withdraw", "replace", "repair", "stage", "publish", "close"]
        assert [entry.reason for entry in opened.store.journal() if entry.act == "repair"] == [digest]


def test_what_a_person_takes_back_waits_for_a_repair() -> None:
    with memory() as opened:
        write(opened, [("a", "", ()), ("b", "join", ("a",))])
        case = opened.delete(key("a"), reason="r", actor="x")
        with opened.store.repairing(case.id):
            for verb in (opened.undo, opened.erase):
                with pytest.raises(RepairInProgress):
                    verb(case, actor="x", reason="r")
        opened.undo(case, actor="x", reason="r")
        assert opened.get(key("b")).content == "text of a"


def test_what_was_removed_is_learned_again_only_where_a_person_signs() -> None:
    with memory() as opened:
        secret = opened.record("a secret", scope=SCOPE)
        opened.erase(opened.delete(secret, reason="r", actor="x"), actor="x", reason="r")
        again = Draft(key=key("b"), content="A  Secret".replace("  ", " "))
        with pytest.raises(Tombstoned):
            opened.record("a secret", scope=SCOPE)
        with pytest.raises(Tombstoned):
            opened.ingest([again])
        derivation = opened.deriving(kind="summary", scope=SCOPE).__enter__()
        derivation.write("a secret", id="c")
        with pytest.raises(Tombstoned):
            derivation.__exit__(None, None, None)
        with pytest.raises(InvalidInput):
            opened.record("a secret", scope=SCOPE, allow_tombstoned=True)
        opened.record("a secret", scope=SCOPE, allow_tombstoned=True, actor="ada", reason="hers after all")
        opened.ingest([again], allow_tombstoned=True, actor="ada", reason="hers after all")
        with opened.deriving(
            kind="summary", scope=SCOPE, allow_tombstoned=True, actor="ada", reason="hers after all"
        ) as d:
            d.write("a secret", id="c")
        assert [(entry.act, entry.actor) for entry in opened.store.journal(3)] == [
            ("derive", "ada"),
            ("import", "ada"),
            ("record", "ada"),
        ]
        assert len(opened.search("secret", scope=SCOPE)) == 3


def test_nothing_younger_than_the_retention_is_pruned(tmp_path: Path) -> None:
    now = [0]
    day = 86_400 * 10**9
    with Memory.open(tmp_path / "m.db", clock=lambda: now[0], retention_days=10) as opened:
        first = opened.record("first", id="a")
        opened.record("second", id="a")
        for days in (9.9, -1, float("nan")):
            with pytest.raises(InvalidInput):
                opened.prune(days)
        now[0] = 10 * day
        assert opened.prune().versions == ()
        now[0] += 1
        assert opened.prune(11).versions == ()
        assert opened.prune(dry_run=True).versions == ((first, 1),)
        assert opened.prune(actor="ada").versions == ((first, 1),)
        assert opened.get(first).content == "second"
    with pytest.raises(InvalidInput):
        Memory.open(tmp_path / "m.db", retention_days=-1)


# several processes -----------------------------------------------------------------------------------

DELETER = """
import sys
from memorepair.facade import Memory
with Memory.open(sys.argv[1]) as memory:
    sys.stdin.readline()
    case = memory.delete(f"t::{sys.argv[2]}", reason="r", actor=sys.argv[2])
    memory.repair(case, wait=60.0)
"""
DYING = """
import os, sys
from memorepair.facade import Memory
from memorepair.repair.operators.recompute import FunctionOperator

def die(call):
    os._exit(9)

with Memory.open(sys.argv[1], operators=[FunctionOperator(name="broken", function=die)]) as memory:
    memory.repair(1, solver="repair-all")
"""


def test_two_deletions_at_once_leave_a_shared_descendant_out_and_no_parent_restored() -> None:
    with memory(breaking(LookupError())) as opened:
        write(opened, CHAIN)
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", DELETER, str(opened.store.path), name],
                stdin=subprocess.PIPE,
                text=True,
            )
            for name in "ab"
        ]
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        for process in processes:
            process.communicate()
            assert process.returncode == 0
        found = {listing.key.id: listing.state for listing in opened.list()}
        assert found == {"a": State.ARCHIVED, "b": State.ARCHIVED, "c": State.WITHDRAWN}
        assert opened.store.check() == []
        for case in opened.status().open_cases:
            opened.repair(case)
        assert opened.explain(key("c")).listing.state is State.WITHDRAWN


def test_a_repair_that_was_killed_is_taken_back_by_the_next_to_open(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Memory.open(path) as opened:
        write(opened, CHAIN)
        opened.correct(key("a"), "new", reason="r", actor="x")
    for attempt in range(1, 4):
        done = subprocess.run([sys.executable, "-c", DYING, str(path)], check=False)
        assert done.returncode == 9
        with Memory.open(path) as opened:
            assert opened.recovered.reopened == (1,)
            assert (opened.store.case(1).status, opened.store.case(1).attempts) == (CaseStatus.OPEN, attempt)
            with pytest.raises(Withdrawn):
                opened.get(key("c"))
            assert opened.store.check() == []
    with Memory.open(path) as opened:
        assert opened.recovered.reopened == ()
        with pytest.raises(RepairsFailed):
            opened.repair(1)
        opened.undo(1, actor="ada", reason="give it up")
        assert opened.get(key("c")).content == "text of a & text of b"


@pytest.mark.parametrize(
    "order",
    ["correct delete repair1 repair2", "correct delete repair2 repair1", "correct repair1 delete repair2"],
)
@pytest.mark.parametrize("erase", [False, True])
def test_a_case_whose_last_member_another_case_deletes_is_closed(order: str, erase: bool) -> None:
    with memory() as opened:
        write(opened, [("a", "", ()), ("c", "", ("a",))])  # nothing makes c again
        cases: dict[str, Case] = {}
        for step in order.split():
            if step == "correct":
                cases["1"] = opened.correct(key("a"), "new", reason="r", actor="x")
            elif step == "delete":
                cases["2"] = opened.delete(key("c"), reason="r", actor="x", erase=erase)
            else:
                opened.repair(cases[step[-1]])
        assert {opened.store.case(case.id).status for case in cases.values()} == {CaseStatus.CLOSED}
        assert opened.store.check() == []
