"""The audit on a store: what it reads, what it proposes, and what becomes of suspicions in an event."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memorepair.errors import InvalidEvent, InvalidInput, StaleRead, UnknownId, Withdrawn
from memorepair.facade import Memory
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import CaseStatus, Draft, Key, Read, Recipe, State
from memorepair.repair.audit.report import AuditReport, Proposal
from memorepair.repair.events import Correction, Deletion, EventKind, RepairEvent
from memorepair.repair.operators.operator import Call
from memorepair.repair.operators.recompute import operator
from memorepair.repair.soundness import exposed, soundness_violations

SCOPE = ("team", "a")
WHY: dict[str, Any] = {"actor": "tester", "reason": "test"}


def key(name: str) -> Key:
    return Key(SCOPE, name)


@operator(name="firsts")
def firsts(call: Call) -> str:
    """The first sentences of each input: deterministic, and it says what it read."""
    return ". ".join(
        sentence for source in call.inputs for sentence in source.content.split(". ")[: 5 - len(call.inputs)]
    )


def fact(draw: random.Random) -> str:
    return f"office {draw.choice('abcdefgh')}{draw.randrange(60)} reported {draw.randrange(10**6)} units"


def drafts(chains: int = 14, depth: int = 9) -> list[Draft]:
    """Chains of summaries that `firsts` made, each step joined by a record of its own."""
    draw = random.Random(7)
    made: dict[str, Draft] = {}

    def add(name: str, text: str, parents: tuple[str, ...]) -> None:
        made[name] = Draft(
            key=key(name),
            content=text,
            kind=Kind.SUMMARY if parents else Kind.RECORD,
            recipe=Recipe(operator="firsts") if parents else Recipe(),
            reads=tuple(Read(key=key(parent)) for parent in parents),
        )

    for chain in range(chains):
        add(f"c{chain}-0", ". ".join(fact(draw) for _ in range(5)), ())
        for step in range(1, depth):
            add(f"r{chain}-{step}", ". ".join(fact(draw) for _ in range(5)), ())
            parents = (f"c{chain}-{step - 1}", f"r{chain}-{step}")
            text = ". ".join(
                sentence for parent in parents for sentence in made[parent].content.split(". ")[:3]
            )
            add(f"c{chain}-{step}", text, parents)
    return list(made.values())


LOST = {("c3-2", "c3-3"), ("c5-4", "c5-5"), ("c9-1", "c9-2"), ("r7-6", "c7-6")}
"""Arcs that nobody recorded, parent and child."""


def without(all_of: list[Draft], lost: set[tuple[str, str]]) -> list[Draft]:
    return [
        replace(draft, reads=tuple(read for read in draft.reads if (read.key.id, draft.key.id) not in lost))
        for draft in all_of
    ]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "agent.db", operators=[firsts]) as memory:
        memory.ingest(without(drafts(), LOST))
        yield memory


def proposal(report: AuditReport, parent: str, child: str) -> Proposal:
    return next(one for one in report.proposals if (one.parent.id, one.child.id) == (parent, child))


# what it says ---------------------------------------------------------------------------------------------


def test_lost_reads_are_proposed_with_what_both_say_and_nothing_is_written(memory: Memory) -> None:
    before = memory.store.snapshot()
    report = memory.audit_provenance()
    assert report.calibrated
    for parent, child in LOST:
        one = proposal(report, parent, child)
        assert (one.probability or 0) > 0.3
        assert one.shared
        assert all(
            word in memory.get(end).content
            for end in (one.parent, one.child)
            for word in one.shared[0].split()
        )
    sure = [one for one in report.proposals if (one.probability or 0) >= 0.3]
    assert len(sure) <= len(LOST) + 3
    assert memory.store.snapshot() == before
    assert memory.audit_provenance() == report


def test_nothing_of_what_is_withdrawn_is_read_or_told(memory: Memory) -> None:
    said = set(memory.get(key("c3-0")).content.split())
    memory.delete(key("c3-0"), **WHY)
    served = " ".join(memory.get(one.key).content for one in memory.list(state="active"))
    secret = {word for word in said - set(served.split()) if len(word) > 4}
    assert secret
    report = memory.audit_provenance()
    gone = {one.key for one in memory.list(state="withdrawn")}
    assert not gone & {end for one in report.proposals for end in (one.parent, one.child)}
    assert not any(word in repr(report) for word in secret)


def test_nothing_of_what_leaves_service_during_an_audit_is_told(memory: Memory) -> None:
    told = {one.parent for one in memory.audit_provenance().proposals}
    assert key("c3-2") in told

    def event(*_: object) -> None:
        if memory.list(state="active", limit=1) and not memory.list(state="withdrawn", limit=1):
            memory.delete(key("c3-0"), **WHY)

    report = memory.audit_provenance(progress=event)
    gone = {one.key for one in memory.list(state="withdrawn")}
    assert key("c3-2") in gone
    assert not gone & {end for one in report.proposals for end in (one.parent, one.child)}


def test_the_step_of_a_run_may_have_read_what_its_user_keeps(memory: Memory) -> None:
    source = memory.get(key("r11-5"))
    with memory.run(task="what was reported?", scope=SCOPE, id="r") as run:
        step = run.answer(source.content)
    mine = [one for one in memory.audit_provenance().proposals if one.child == step.key]
    assert mine
    assert {one.parent.scope for one in mine} == {SCOPE}


def test_a_derived_artifact_without_any_parent_is_a_finding(memory: Memory) -> None:
    source = memory.get(key("c11-5"))
    memory.store.write([Draft(key=key("answer"), content=source.content, kind=Kind.SUMMARY)])
    report = memory.audit_provenance()
    assert report.lone == (key("answer"),)
    assert "summary" in report.silent
    mine = [one for one in report.proposals if one.child == key("answer")]
    assert mine
    assert all(one.lone and one.followed(1.0) for one in mine)


def test_what_a_user_said_in_a_run_is_no_finding(memory: Memory) -> None:
    """A task stands on nothing, and may say what some memory says: it is nobody's successor."""
    source = memory.get(key("c11-5"))
    with memory.run(task=source.content, scope=SCOPE, id="r") as run:
        run.answer("done")
    report = memory.audit_provenance()
    assert run.task not in {*report.lone, *(one.child for one in report.proposals)}
    assert "user_input" not in report.silent


def test_what_stands_on_something_out_of_service_is_recorded(memory: Memory) -> None:
    memory.store.write(
        [Draft(key=key("late"), content="x", kind=Kind.SUMMARY, reads=(Read(key=key("r1-1")),))]
    )
    memory.record("another text", id="r1-1", scope=SCOPE)  # its parent has a new version now
    assert key("late") not in memory.audit_provenance().lone


# events ---------------------------------------------------------------------------------------------------


def test_an_event_follows_suspicions_where_it_is_told_to(memory: Memory) -> None:
    plain = memory.delete(key("c3-0"), **WHY, dry_run=True)
    counted = memory.delete(key("c3-0"), **WHY, suspected=0.3, dry_run=True)
    assert memory.store.suspects() == []
    before = memory.store.snapshot()
    case = memory.delete(key("c3-0"), **WHY, suspected=0.3)
    assert plain.withdrawn == 3
    assert counted.withdrawn == case.withdrawn == 9
    (arc,) = memory.store.suspects(case.id)
    assert (arc.parent, arc.child, arc.case) == (key("c3-2"), key("c3-3"), case.id)
    assert arc.parent not in {one.key for one in memory.explain(arc.child).parents}  # never a recorded arc
    with pytest.raises(Withdrawn):
        memory.get(key("c3-8"))
    for _ in range(2):  # the second answer is the plan's
        assert memory.explain(key("c3-3")).why.count("suspected to stand on team/a::c3-2") == 1
    row = next(row for row in memory.plan(case).rows() if row.key == key("c3-3"))
    assert "suspected to stand on team/a::c3-2" in row.why
    event = RepairEvent(kind=EventKind.DELETE, roots=(key("c3-0"),), delta=Deletion(), suspected=0.3)
    assert soundness_violations(before, event, memory.store.snapshot()) == ()
    memory.repair(case)
    after = memory.store.snapshot()
    assert soundness_violations(before, event, after) == ()
    assert exposed(before, event, after) == ()
    memory.undo(case, **WHY)
    assert memory.get(key("c3-8")).state is State.ACTIVE
    assert memory.store.suspects() == []


def test_a_suspect_is_never_released_by_early_cutoff_on_its_recorded_parents(memory: Memory) -> None:
    before = memory.store.snapshot()
    old = memory.get(key("c3-3")).content
    text = ". ".join(fact(random.Random(99)) for _ in range(5))
    case = memory.correct(key("c3-0"), text, **WHY, suspected=0.3)
    report = memory.repair(case)
    assert key("c3-3") not in report.released
    event = RepairEvent(
        kind=EventKind.CORRECT,
        roots=(key("c3-0"),),
        delta=Correction(replacements={key("c3-0"): text}),
        suspected=0.3,
    )
    assert soundness_violations(before, event, memory.store.snapshot()) == ()
    now = {one.key: one for one in memory.list(scope=SCOPE)}[key("c3-3")]
    if now.state is State.ACTIVE:
        assert memory.get(key("c3-3")).content != old  # made again, from what is recorded alone
        assert {one.key for one in memory.explain(key("c3-3")).parents} == {key("r3-3")}


def test_the_policy_of_a_memory_is_that_of_its_events(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "agent.db", operators=[firsts], suspected=0.3) as memory:
        memory.ingest(without(drafts(), LOST))
        assert memory.delete(key("c3-0"), **WHY).withdrawn == 9


def test_an_event_with_evidence_follows_no_suspicions_of_the_memory(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "agent.db", operators=[firsts], suspected=0.3) as memory:
        memory.ingest(without(drafts(), LOST))
        case = memory.delete(key("c3-0"), **WHY, evidence="grounded")
        assert (case.withdrawn, case.suspected) == (3, None)
        with pytest.raises(InvalidEvent):
            memory.delete(key("c3-1"), **WHY, evidence="grounded", suspected=0.3)


@pytest.mark.parametrize(
    "tampering",
    [
        "UPDATE suspected SET accepted = 0",
        "UPDATE suspected SET p = 0.99",
        "UPDATE suspected SET src = dst",
        "DELETE FROM suspected",
        "INSERT INTO suspected SELECT src, src_vid, src, src_vid, p, 1, '', 1, NULL FROM suspected LIMIT 1",
        "UPDATE journal_row SET suspects = NULL",
    ],
)
@pytest.mark.parametrize("by", ["person", "case"])
def test_the_check_finds_suspicions_that_nobody_judged(tmp_path: Path, tampering: str, by: str) -> None:
    file = tmp_path / "agent.db"
    with Memory.open(file, operators=[firsts]) as memory:
        memory.ingest(without(drafts(), LOST))
        if by == "person":
            memory.accept([proposal(memory.audit_provenance(), "c3-2", "c3-3")], **WHY)
        else:
            memory.delete(key("c3-0"), **WHY, suspected=0.3)
        assert memory.store.check() == []
    db = sqlite3.connect(file)
    with db:
        db.execute(tampering)
    db.close()
    with Memory.open(file) as memory:
        assert "suspects" in {fault.code for fault in memory.store.check()}


def test_an_undo_forgets_what_its_case_suspected(memory: Memory) -> None:
    case = memory.delete(key("c3-0"), **WHY, suspected=0.3)
    memory.undo(case, **WHY)
    assert memory.store.suspects() == []
    assert memory.store.check() == []


# judgements -----------------------------------------------------------------------------------------------


def test_an_accepted_suspicion_is_followed_from_its_probability_on(memory: Memory) -> None:
    one = proposal(memory.audit_provenance(), "c3-2", "c3-3")
    entries = len(memory.store.journal(None))
    memory.accept([one], dry_run=True, **WHY)
    assert memory.store.suspects() == []
    memory.accept([one], **WHY)
    entry = memory.store.journal(None)[0]
    assert (len(memory.store.journal(None)) - entries, entry.act, entry.actor) == (1, "suspect", "tester")
    report = memory.audit_provenance()
    assert one.id not in {other.id for other in report.proposals}
    assert [arc.child for arc in report.accepted] == [key("c3-3")]
    assert memory.delete(key("c3-0"), **WHY, dry_run=True).withdrawn == 3
    assert memory.delete(key("c3-0"), **WHY, suspected=0.2, dry_run=True).withdrawn == 9
    assert memory.store.check() == []


def test_a_rejected_suspicion_is_neither_proposed_nor_followed(memory: Memory) -> None:
    one = proposal(memory.audit_provenance(), "c3-2", "c3-3")
    memory.reject([one], **WHY)
    report = memory.audit_provenance()
    assert one.id not in {other.id for other in report.proposals}
    assert memory.delete(key("c3-0"), **WHY, suspected=0.3, dry_run=True).withdrawn == 3


def test_a_proposal_of_a_version_that_is_gone_is_refused(memory: Memory) -> None:
    one = proposal(memory.audit_provenance(), "c3-2", "c3-3")
    memory.record("another text", id="c3-3", scope=SCOPE, kind="summary")
    with pytest.raises(StaleRead):
        memory.accept([one], **WHY)
    with pytest.raises(UnknownId):
        memory.audit_provenance().pick(["nothing"])
    with pytest.raises(InvalidInput):
        memory.accept([one], actor="", reason="x")


def test_a_suspicion_of_a_former_version_is_of_no_new_one(memory: Memory) -> None:
    memory.accept([proposal(memory.audit_provenance(), "c3-2", "c3-3")], **WHY)
    memory.record("another text", id="c3-3", scope=SCOPE, kind="summary")
    case = memory.delete(key("c3-0"), **WHY, suspected=0.2)
    assert memory.get(key("c3-3")).content == "another text"
    # The former version is suspected still: it leaves the history, as do the former ones made from a root.
    past = memory.history(key("c3-3"))[0]
    assert (past.state, past.case, past.content) == (State.ARCHIVED, case.id, None)


def test_a_repair_withdraws_what_accepted_suspicions_lead_to(memory: Memory) -> None:
    memory.accept([proposal(memory.audit_provenance(), "c3-2", "c3-3")], **WHY)
    before = memory.store.snapshot()
    case = memory.delete(key("c3-0"), **WHY)
    memory.repair(case)
    assert memory.get(key("c3-8")).version == 1
    report = memory.repair(case, suspected=0.2)
    assert report.case.withdrawn == 9
    assert report.case.suspected == 0.2
    assert report.case.status in (CaseStatus.CLOSED, CaseStatus.CLOSED_PARTIAL)
    after = memory.store.snapshot()
    event = RepairEvent(kind=EventKind.DELETE, roots=(key("c3-0"),), delta=Deletion(), suspected=0.2)
    assert soundness_violations(before, event, after) == ()
    assert exposed(before, event, after) == ()
    assert len({member.key for member in memory.store.members(case.id)}) == 9
    assert memory.store.check() == []
    memory.undo(case, **WHY)
    assert memory.get(key("c3-8")).version == 1


@pytest.mark.parametrize(
    "wrong", [{"probability": 7.0}, {"probability": float("nan")}, {"parent": key("c3-3")}]
)
def test_a_proposal_that_nobody_could_make_is_refused(memory: Memory, wrong: dict[str, Any]) -> None:
    one = proposal(memory.audit_provenance(), "c3-2", "c3-3")
    with pytest.raises(InvalidInput):
        replace(one, **wrong)


# probe ----------------------------------------------------------------------------------------------------


def test_a_replay_settles_suspicions_and_writes_nothing(memory: Memory) -> None:
    report = memory.audit_provenance()
    before = memory.store.snapshot()
    found = memory.probe(report.proposals, budget=1_000)
    by_ends = {(one.parent.id, one.child.id): one for one in found.proposals}
    for lost in LOST:
        assert by_ends[lost].probability == 1.0
        assert by_ends[lost].rule == "replay"
    settled = [one for one in found.proposals if one.child in found.settled]
    assert all((one.probability == 1.0) == ((one.parent.id, one.child.id) in LOST) for one in settled)
    assert memory.store.snapshot() == before


def test_a_probe_replays_nothing_that_is_served_no_more(memory: Memory) -> None:
    proposals = memory.audit_provenance().proposals
    memory.delete(key("c3-0"), **WHY)  # a parent that is proposed leaves service, its child does not
    memory.record("another text", id="c5-5", scope=SCOPE, kind="summary")
    found = memory.probe(proposals, budget=1_000)
    assert not {key("c3-3"), key("c5-5")} & {*found.settled}
    assert key("c9-2") in found.settled


def test_the_probe_stops_at_its_budget_and_begins_where_most_is_at_stake(memory: Memory) -> None:
    report = memory.audit_provenance()
    assert memory.probe(report.proposals, budget=0).replays == 0
    doubtful = [replace(one, probability=0.5) for one in report.proposals]
    first = memory.probe(doubtful, budget=3)
    assert 0 < first.spent <= 3
    assert key("c9-2") in first.settled  # the longest chain below
