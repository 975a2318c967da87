"""Recoveries one after the other: of a run whose recovery was undone, of runs that write one memory."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memorepair.errors import TraceMismatch, UnknownId, Withdrawn
from memorepair.facade import Memory
from memorepair.memory.artifact import Json, Key
from memorepair.recovery import Effect, Recorder, RecoveryReport, Tool
from memorepair.recovery.trace import TAKEN_BACK
from memorepair.repair.soundness import soundness_violations
from memorepair.repair.withdrawal import event_of

SCOPE = ("user", "42")
HOME, ASIDE, NOTE = (Key(SCOPE, id) for id in ("home", "aside", "note"))
RUN = (*SCOPE, "run:r")
Agent = Callable[[Recorder], None]


def live(memory: Memory, *agents: Agent) -> None:
    """The runs `r`, `r1` ..., after a stranger wrote Paris over Lyon; the first may break off."""
    memory.record("home is Lyon", id="home", scope=SCOPE)
    memory.record("home is Paris", id="home", scope=SCOPE)
    for number, agent in enumerate(agents):
        try:
            with memory.run(task="dinner", scope=SCOPE, id=f"r{number or ''}") as run:
                agent(run)
        except KeyboardInterrupt:
            pass


def recovered(memory: Memory, *agents: Agent, tools: tuple[Tool, ...] = ()) -> RecoveryReport:
    before = memory.store.snapshot()
    report = memory.recover("r", HOME, agent=agents[0], tools=tools, reason="not hers", actor="me")
    for number, agent in enumerate(agents[1:], 1):
        report = memory.replay(report.case, f"r{number}", agent, tools=tools)
    declared = event_of(memory.store, report.case)
    found = soundness_violations(before, declared, memory.store.snapshot())
    # A note of what was taken back is no part of the case: it says what has happened in the world.
    assert [one for one in found if not one.key.id.endswith(TAKEN_BACK)] == []
    assert memory.store.check() == []
    return report


@pytest.mark.parametrize("breaks", [False, True])
def test_what_an_undone_recovery_had_brought_is_new_to_the_next_one(memory: Memory, breaks: bool) -> None:
    """Its branch is taken again whole: its steps, its memory, its call, and the answer the run never had."""
    booked: list[str] = []
    first = breaks

    def cancel(arguments: object, result: Json) -> None:
        booked.remove(str(result))

    def act(table: str) -> Json:
        booked.append(table)
        return table

    book = Tool(name="book", function=act, effect=Effect.COMPENSATABLE_WRITE, compensation=cancel)

    def agent(run: Recorder) -> None:
        home = run.read(HOME, id="home")
        if home.content.endswith("Lyon"):
            foot = run.input("by foot", id="foot")  # stands on nothing of the fault
            plan = run.plan("cross the bridge", uses=[foot, home], id="plan")
            done = run.call(book, plan=plan, id="book", table="beyond the bridge")
            run.remember(lambda: f"she walked {done.content}", uses=[done], id="aside")
        if first:
            raise KeyboardInterrupt
        run.answer(lambda: home.content, uses=[home], id="answer")

    live(memory, agent)
    first = False
    for _ in range(3):
        report = recovered(memory, agent, tools=(book,))
        assert report.answer == memory.get(Key(RUN, "answer")).content == "home is Lyon"
        assert memory.get(ASIDE).content == 'she walked "beyond the bridge"'
        assert booked == ["beyond the bridge"]
        memory.undo(report.case, reason="hers after all", actor="me")
        assert memory.trace("r").answer == (None if breaks else Key(RUN, "answer"))
        with pytest.raises((UnknownId, Withdrawn)):
            memory.get(ASIDE)


def test_a_memory_that_two_recovered_runs_write_is_validated_as_the_last_one_leaves_it(
    memory: Memory,
) -> None:
    def agent(run: Recorder) -> None:
        home = run.read(HOME, id="home")
        run.remember(lambda: f"run {run.id}: {home.content}", uses=[home], id="note")
        note = run.read(NOTE, id="note")
        run.answer(lambda: note.content, uses=[note], id="answer")

    live(memory, agent, agent)
    report = recovered(memory, agent, agent)
    assert report.answer == memory.get(NOTE).content == "run r1: home is Lyon"
    assert memory.get(Key(RUN, "answer")).content == "run r: home is Lyon"


@pytest.mark.parametrize("spoken", [False, True])
def test_what_a_new_branch_writes_stands_after_what_the_run_had_written_itself(
    memory: Memory, spoken: bool
) -> None:
    """But not over what somebody has said since."""

    def agent(run: Recorder) -> None:
        ask = run.input("a note", id="ask")
        home = run.read(HOME, id="home")
        run.remember("one", uses=[ask], id="note")
        seen = [home]
        if home.content.endswith("Lyon"):
            run.remember("two", uses=[ask], id="note")
            seen.append(run.read(NOTE, id="seen"))
        run.answer(lambda: ", ".join(one.content for one in seen), uses=seen, id="answer")

    live(memory, agent)
    if spoken:
        memory.record("a word of her own", id="note", scope=SCOPE)
    last = memory.get(NOTE).content
    report = recovered(memory, agent)
    assert report.answer == "home is Lyon, two"
    assert memory.get(NOTE).content == ("a word of her own" if spoken else "two")
    memory.undo(report.case, reason="hers after all", actor="me")
    assert memory.get(NOTE).content == last


@pytest.mark.parametrize("when", ["before", "by the run", "meanwhile"])
def test_a_read_that_holds_has_seen_what_the_replay_newly_writes_before_it(memory: Memory, when: str) -> None:
    """Else its answer is not that of the right run, and no arc tells. What was said meanwhile came after."""
    first = True

    def agent(run: Recorder) -> None:
        ask = run.input("a note", id="ask")
        home = run.read(HOME, id="home")
        if when == "by the run":
            run.remember("old", uses=[ask], id="note")
        if home.content.endswith("Lyon"):
            run.remember("new", uses=[home], id="note")
        if when == "meanwhile" and first:
            memory.record("hers", id="note", scope=SCOPE)
        note = run.read(NOTE, id="note")
        run.answer(lambda: note.content, uses=[note], id="answer")

    if when == "before":
        memory.record("old", id="note", scope=SCOPE)
    live(memory, agent)
    first = False
    if when == "meanwhile":
        assert recovered(memory, agent).answer == "hers"
        return
    with pytest.raises(TraceMismatch) as stopped:
        recovered(memory, agent)
    assert stopped.value.witness == Key(RUN, "note")
    (case,) = memory.store.cases()
    memory.undo(case, reason="name both", actor="me")
    both = {HOME: "home is Lyon", Key(RUN, "note"): "new"}
    report = memory.recover("r", both, replacements=both, agent=agent, reason="not hers", actor="me")
    assert report.answer == memory.get(NOTE).content == "new"
    assert memory.store.check() == []


def test_a_read_released_with_one_run_stands_though_the_next_run_writes_on(memory: Memory) -> None:
    """It had read the note before its run wrote it, and reads that version still."""

    def asks(run: Recorder) -> None:
        home = run.read(HOME, id="home")
        run.answer(lambda: home.content, uses=[home], id="answer")

    def writes(run: Recorder) -> None:
        note = run.read(NOTE, id="note")
        home = run.read(HOME, id="home")
        run.remember(lambda: f"{home.content} for good", uses=[home], id="note")
        after = run.read(NOTE, id="after")
        run.answer(lambda: f"{note.content}: {after.content}", uses=[note, after], id="answer")

    memory.record("old", id="note", scope=SCOPE)
    live(memory, asks, writes)
    report = recovered(memory, asks, writes)
    assert report.answer == "old: home is Lyon for good"
    assert memory.get(NOTE).content == "home is Lyon for good"
    (arc,) = memory.store.support([Key((*SCOPE, "run:r1"), "note")])
    assert memory.history(NOTE)[arc.read_version - 1].content == "old"
