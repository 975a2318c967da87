"""A replay that goes another way than the run: beyond its end, on what was dropped, past what nobody kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from memorepair.errors import ApprovalNeeded, StaleRead, StepFailed, TraceMismatch, UnknownId, Withdrawn
from memorepair.facade import Memory
from memorepair.memory.artifact import Json, Key
from memorepair.recovery import Effect, Recorder, Step, Tool
from memorepair.repair.soundness import soundness_violations
from memorepair.repair.withdrawal import event_of

SCOPE = ("user", "42")
HOME = Key(SCOPE, "home")


def live(memory: Memory, agent: Callable[[Recorder], object]) -> None:
    """The run `r`, after a stranger wrote Paris over Lyon; it may break off."""
    memory.record("home is Lyon", id="home", scope=SCOPE)
    memory.record("home is Paris", id="home", scope=SCOPE)
    try:
        with memory.run(task="dinner", scope=SCOPE, id="r") as run:
            agent(run)
    except KeyboardInterrupt:
        pass


def recovered(memory: Memory, agent: Callable[[Recorder], object]) -> str:
    report = memory.recover("r", HOME, agent=agent, reason="not hers", actor="me")
    assert memory.store.check() == []
    return report.answer or ""


def city(run: Recorder) -> Step:
    home = run.read(HOME, id="home")
    return run.claim(lambda: home.content.split()[-1], uses=[home], id="city")


def test_a_new_step_brings_back_what_was_put_off_and_it_stands_on(memory: Memory) -> None:
    def agent(run: Recorder) -> None:
        here = city(run)
        walk = run.plan(lambda: f"walk in {here.content}", uses=[here], id="walk")
        if here.content == "Lyon":
            far = run.plan("take the bridge", uses=[walk], id="far")
            run.answer("over the bridge", uses=[far], id="answer")
        else:
            run.answer(lambda: f"in {here.content}", uses=[here], id="answer")

    live(memory, agent)
    assert recovered(memory, agent) == "over the bridge"
    assert memory.get(Key((*SCOPE, "run:r"), "walk")).content == "walk in Lyon"


@pytest.mark.parametrize("needed", [False, True])
def test_a_memory_that_was_put_off_is_written_when_something_new_reads_it(
    memory: Memory, needed: bool
) -> None:
    """Also where the run writes it twice: who reads between finds the first."""

    def agent(run: Recorder) -> None:
        here = city(run)
        run.remember(lambda: f"first {here.content}", uses=[here], id="note")
        between = run.read(Key(SCOPE, "note"), id="between")
        run.remember(lambda: f"then {here.content}", uses=[here], id="note")
        after = run.read(Key(SCOPE, "note"), id="after")
        if needed and here.content == "Lyon":
            run.answer(lambda: f"{between.content}, {after.content}", uses=[between, after], id="answer")
        else:
            run.answer(lambda: here.content, uses=[here], id="answer")

    live(memory, agent)
    assert recovered(memory, agent) == ("first Lyon, then Lyon" if needed else "Lyon")
    assert memory.get(Key(SCOPE, "note")).content == "then Lyon"


def test_a_memory_that_is_written_twice_ends_as_it_was_written_last(memory: Memory) -> None:
    def agent(run: Recorder) -> None:
        here = city(run)
        run.remember(lambda: f"first {here.content}", uses=[here], id="note")
        between = run.read(Key(SCOPE, "note"), id="between")
        run.remember(lambda: f"then {here.content}", uses=[here], id="note")
        run.answer(lambda: between.content, uses=[between], id="answer")

    live(memory, agent)
    assert recovered(memory, agent) == "first Lyon"
    assert memory.get(Key(SCOPE, "note")).content == "then Lyon"


@pytest.mark.parametrize("affected", [False, True])
def test_a_call_whose_result_nobody_kept_is_not_made_again_unasked(memory: Memory, affected: bool) -> None:
    booked: list[str] = []

    def cancel(arguments: object, result: Json) -> None:
        booked.remove(str(result))

    def act(table: str) -> Json:
        booked.append(table)
        if len(booked) == 1:
            raise KeyboardInterrupt
        return table

    book = Tool(name="book", function=act, effect=Effect.COMPENSATABLE_WRITE, compensation=cancel)

    def agent(run: Recorder) -> None:
        ask = run.input("a table", id="ask")
        here = city(run)
        plan = run.plan("book", uses=[here if affected else ask], id="plan")
        table = here.content if affected else "at home"
        done = run.call(book, plan=plan, id="book", table=table)
        run.answer(lambda: f"{done.content} {here.content}", uses=[done, here], id="answer")

    live(memory, agent)
    planned = memory.recover("r", HOME, dry_run=True, reason="not hers", actor="me").plan
    assert planned.compensated == ()
    assert [key.id for key in planned.irreversible] == (["book"] if affected else [])
    with pytest.raises(ApprovalNeeded, match="may have run already") as asked:
        memory.recover("r", HOME, agent=agent, tools=[book], reason="not hers", actor="me")
    assert "Paris" not in str(asked.value.witness)
    assert len(booked) == 1
    (case,) = memory.store.cases()
    report = memory.replay(case, "r", agent, tools=[book], approved=[str(asked.value.witness)])
    assert report.answer == ('"Lyon" Lyon' if affected else '"at home" Lyon')
    assert len(booked) == 2


@pytest.mark.parametrize("before", [False, True])
def test_a_compensation_that_raises_stops_nothing_else(memory: Memory, before: bool) -> None:
    """Before the replay writes it is a failed step; after, the rest is taken back."""
    world: list[str] = []
    broken = {"at Paris"} if before else {"to Lyon"}

    def cancel(arguments: Mapping[str, Json], result: Json) -> None:
        if result in broken:
            raise OSError("the line is down")
        world.remove(str(result))

    def act(text: str) -> Json:
        world.append(text)
        return text

    write = Tool(name="write", function=act, effect=Effect.COMPENSATABLE_WRITE, compensation=cancel)

    def agent(run: Recorder) -> None:
        here = city(run)
        plan = run.plan(lambda: "write", uses=[here], id="plan")
        if here.content == "Paris" or not before:
            run.call(write, plan=plan, uses=[here], id="at", text=f"at {here.content}")
            run.call(write, plan=plan, uses=[here], id="to", text=f"to {here.content}")
        if here.content == "Lyon" and broken and not before:
            raise RuntimeError("later")
        run.answer(lambda: here.content, uses=[here], id="answer")

    live(memory, agent)
    with pytest.raises(StepFailed) as failed:
        memory.recover("r", HOME, agent=agent, tools=[write], reason="not hers", actor="me")
    notes = " ".join(failed.value.__notes__)
    assert ("write (compensatable write) has run and was not taken back" in notes) is not before
    assert world == (["at Paris"] if before else ["to Lyon"])
    broken.clear()
    approved: list[str] = []
    while True:
        try:
            report = memory.replay(1, "r", agent, tools=[write], approved=approved)
            break
        except ApprovalNeeded as asked:
            approved.append(str(asked.witness))
    assert report.answer == "Lyon"
    assert len(approved) == (0 if before else 2)


def test_what_leaves_service_during_a_replay_stops_its_publication(memory: Memory) -> None:
    """Both cases stay open; one case with both faults takes the run again."""
    memory.record("Friday", id="day", scope=SCOPE)
    late = {"correct": True}

    def agent(run: Recorder) -> None:
        here = city(run)
        day = run.read("user/42::day", id="day")
        known = run.claim(lambda: f"on {day.content}", uses=[day], id="known")
        if here.content == "Lyon" and late.pop("correct", False):
            memory.correct("user/42::day", "Monday", reason="moved", actor="me")
        run.answer(lambda: f"{here.content} {known.content}", uses=[here, known], id="answer")

    live(memory, agent)
    with pytest.raises(StaleRead) as stale:
        memory.recover("r", HOME, agent=agent, reason="not hers", actor="me")
    assert stale.value.witness == Key((*SCOPE, "run:r"), "known")
    with pytest.raises(Withdrawn):
        memory.get(Key((*SCOPE, "run:r"), "answer"))
    for case in reversed(memory.store.cases()):
        memory.undo(case, reason="in one case", actor="me")
    both = {HOME: "home is Lyon", Key(SCOPE, "day"): "Monday"}
    report = memory.recover("r", both, replacements=both, agent=agent, reason="both wrong", actor="me")
    assert report.answer == "Lyon on Monday"


def test_a_copy_that_nobody_linked_is_told(memory: Memory) -> None:
    """Neither what stands in place of the fault, nor what has left service, nor what says something else."""
    memory.record("She said that home is Paris since May", id="copy", scope=SCOPE)
    memory.record("home is Lyon, and always was", id="right", scope=SCOPE)
    memory.record("home is Paris", id="elsewhere", scope=("user", "43"))

    def agent(run: Recorder) -> None:
        here = city(run)
        run.remember(lambda: f"home is {here.content} still", uses=[here], id="note")
        run.answer(lambda: here.content, uses=[here], id="answer")

    live(memory, agent)
    before = memory.store.snapshot()
    planned = memory.recover("r", HOME, dry_run=True, reason="not hers", actor="me")
    assert planned.echoes == ()
    assert memory.store.snapshot() == before
    report = memory.recover("r", HOME, reason="not hers", actor="me")
    assert report.echoes == (Key(SCOPE, "copy"),)
    again = memory.replay(report.case, "r", agent)
    assert again.echoes == (Key(SCOPE, "copy"),)
    assert again.to_json()["echoes"] == ["user/42::copy"]


def test_a_step_that_a_person_stated_holds_in_later_cases(memory: Memory) -> None:
    def agent(run: Recorder) -> None:
        ask = run.input("where", id="ask")
        here = city(run)
        run.answer(lambda: f"in {here.content}", uses=[here, ask], id="answer")

    live(memory, agent)
    run = (*SCOPE, "run:r")
    claim = {Key(run, "city"): "Oslo"}
    first = memory.recover("r", claim, replacements=claim, agent=agent, reason="she said", actor="me")
    asked = {Key(run, "ask"): "where now"}
    second = memory.recover("r", asked, replacements=asked, agent=agent, reason="misheard", actor="me")
    assert first.answer == second.answer == "in Oslo"


def written_twice(run: Recorder) -> None:
    """The city, read between two writes of one memory; the second write has nothing to do with it."""
    there = run.read(Key(SCOPE, "there"), id="there")
    here = city(run)
    run.remember(lambda: f"first {here.content}", uses=[here], id="note")
    between = run.read(Key(SCOPE, "note"), id="between")
    run.remember(lambda: f"then {there.content}", uses=[there], id="note")
    run.answer(lambda: f"{between.content} {there.content}", uses=[between, there], id="answer")


def test_a_write_that_holds_is_not_overwritten_by_an_earlier_one_taken_again(memory: Memory) -> None:
    memory.record("there is a bridge", id="there", scope=SCOPE)
    live(memory, written_twice)
    assert recovered(memory, written_twice) == "first Lyon there is a bridge"
    assert memory.get(Key(SCOPE, "note")).content == "then there is a bridge"


def test_a_run_that_was_recovered_can_be_recovered_again(memory: Memory) -> None:
    """A read that stands on what a memory was made from is asked for as it was: by the memory."""

    def agent(run: Recorder) -> None:
        there = run.read(Key(SCOPE, "there"), id="there")
        here = city(run)
        run.remember(lambda: f"first {here.content}", uses=[here], id="note")
        (between,) = run.recall("first", scope=SCOPE)
        run.remember(lambda: f"then {here.content}", uses=[here], id="note")
        run.answer(lambda: f"{between.content} {there.content}", uses=[between, there], id="answer")

    memory.record("there is a bridge", id="there", scope=SCOPE)
    memory.record("there is a strange ferry", id="there", scope=SCOPE)
    live(memory, agent)
    assert recovered(memory, agent) == "first Lyon there is a strange ferry"
    report = memory.recover("r", Key(SCOPE, "there"), agent=agent, reason="no ferry", actor="me")
    assert report.answer == "first Lyon there is a bridge"
    assert memory.get(Key(SCOPE, "note")).content == "then Lyon"
    assert memory.store.check() == []


def test_what_a_replay_writes_no_more_stays_out_though_its_mutation_is_taken_again(memory: Memory) -> None:
    """The mutation says where it wrote: that it says the same is no reason to serve what it wrote before."""
    broken = True

    def agent(run: Recorder) -> None:
        home = run.read(HOME, id="home")
        run.remember("she said that home is Paris", uses=[home], id="note")
        if broken:
            raise KeyboardInterrupt
        run.answer(lambda: home.content, uses=[home], id="answer")

    live(memory, agent)
    broken = False
    report = memory.recover("r", HOME, agent=agent, reason="not hers", actor="me")
    assert report.answer == "home is Lyon"
    assert report.left == (Key(SCOPE, "note"),)
    assert report.echoes == ()
    with pytest.raises(Withdrawn):
        memory.get(Key(SCOPE, "note"))
    assert memory.search("Paris", scope=SCOPE) == []


def test_what_somebody_has_said_since_is_not_overwritten_by_the_run_taken_again(memory: Memory) -> None:
    def agent(run: Recorder) -> None:
        here = city(run)
        run.remember(lambda: f"first {here.content}", uses=[here], id="note")
        note = run.read(Key(SCOPE, "note"), id="note")
        run.answer(lambda: note.content, uses=[note], id="answer")

    live(memory, agent)
    memory.record("a word of her own", id="note", scope=SCOPE)
    assert recovered(memory, agent) == "first Lyon"
    assert memory.get(Key(SCOPE, "note")).content == "a word of her own"


NOTE = Key(SCOPE, "note")


def between(run: Recorder) -> None:
    """Writes one memory twice, neither for the city, and looks between in Lyon only."""
    ask = run.input("one and two", id="ask")
    here = city(run)
    run.remember("one", uses=[ask], id="note")
    seen = [run.read(NOTE, id="between")] if here.content == "Lyon" else []
    run.remember("two", uses=[ask], id="note")
    run.answer(lambda: " ".join(one.content for one in (here, *seen)), uses=[here, *seen], id="answer")


def test_a_new_read_finds_a_memory_as_the_run_had_left_it_there(memory: Memory) -> None:
    """It stands on that version of it."""
    live(memory, between)
    before = memory.store.snapshot()
    report = memory.recover("r", HOME, agent=between, reason="not hers", actor="me")
    assert report.answer == "Lyon one"
    assert memory.get(NOTE).content == "two"
    declared = event_of(memory.store, report.case)
    assert soundness_violations(before, declared, memory.store.snapshot()) == ()
    assert memory.store.check() == []
    (arc,) = memory.store.support([Key((*SCOPE, "run:r"), "between")])
    assert (arc.parent, arc.read_version) == (NOTE, 1)
    case = memory.delete(NOTE, reason="privacy", actor="me")
    with pytest.raises(Withdrawn):
        memory.get(Key((*SCOPE, "run:r"), "answer"))
    memory.undo(case, reason="kept", actor="me")
    memory.undo(report.case, reason="hers after all", actor="me")
    assert memory.get(Key((*SCOPE, "run:r"), "answer")).content == "Paris"
    assert memory.store.check() == []


def test_a_run_that_looked_into_its_past_can_be_recovered_again(memory: Memory) -> None:
    live(memory, between)
    assert recovered(memory, between) == "Lyon one"
    again = {Key((*SCOPE, "run:r"), "ask"): "one, then two"}
    report = memory.recover("r", again, replacements=again, agent=between, reason="misheard", actor="me")
    assert report.answer == "Lyon one"
    assert memory.get(NOTE).content == "two"
    assert memory.store.check() == []


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize("affected", [False, True])
def test_a_new_read_before_the_run_wrote_finds_what_was_there(
    memory: Memory, there: bool, affected: bool
) -> None:
    """Also where the run's last word on it is affected, and an earlier one comes back."""
    if there:
        memory.record("zero", id="note", scope=SCOPE)

    def agent(run: Recorder) -> None:
        ask = run.input("one and two", id="ask")
        here = city(run)
        said = "nothing"
        seen: list[Step] = []
        if here.content == "Lyon":
            try:
                seen.append(run.read(NOTE, id="before"))
                said = seen[0].content
            except UnknownId:
                pass
        run.remember("one", uses=[ask], id="note")
        run.remember(lambda: f"two in {here.content}", uses=[here if affected else ask], id="note")
        run.answer(lambda: f"{said} {here.content}", uses=[here, *seen], id="answer")

    live(memory, agent)
    assert recovered(memory, agent) == ("zero Lyon" if there else "nothing Lyon")
    assert memory.get(NOTE).content == ("one" if affected else "two in Paris")


def test_a_search_taken_again_finds_what_the_run_had_written_by_then(memory: Memory) -> None:
    """Nothing of its future, and what was put off too."""

    def agent(run: Recorder) -> None:
        ask = run.input("one and two", id="ask")
        here = city(run)
        run.remember("word one", uses=[ask], id="note")
        run.remember(lambda: f"word of {here.content}", uses=[here], id="aside")
        found = run.recall("word", uses=[here]) if here.content == "Lyon" else ()
        run.remember("word two", uses=[ask], id="note")
        run.remember("word three", uses=[ask], id="other")
        later = run.recall("word t", uses=[here]) if here.content == "Lyon" else ()
        texts = [sorted(one.content for one in some) for some in (found, later)]
        run.answer(lambda: f"{here.content} {texts}", uses=[here, *found, *later], id="answer")

    live(memory, agent)
    answer = recovered(memory, agent)
    assert answer == "Lyon [['word of Lyon', 'word one'], ['word three', 'word two']]"
    assert memory.get(Key(SCOPE, "aside")).content == "word of Lyon"


def test_what_others_have_said_since_is_what_a_new_read_finds(memory: Memory) -> None:
    live(memory, between)
    memory.record("a word of her own", id="note", scope=SCOPE)
    assert recovered(memory, between) == "Lyon a word of her own"


def test_a_former_version_that_is_gone_stops_the_replay(memory: Memory) -> None:
    live(memory, between)
    memory.store.prune(0)
    home = {HOME: "home is Lyon"}
    with pytest.raises(TraceMismatch) as stopped:
        memory.recover("r", home, replacements=home, agent=between, reason="not hers", actor="me")
    assert stopped.value.witness == NOTE


def test_what_was_put_off_reads_a_memory_as_it_was_before_a_later_write(memory: Memory) -> None:
    """Looked at only after that: it stands on what it had read, in no circle with what was made of it."""
    memory.record("an old note", id="note", scope=SCOPE)

    def agent(run: Recorder) -> None:
        here = city(run)
        first = run.recall("note", uses=[here], id="first")
        run.remember(lambda: f"note on {here.content}", uses=[here, *first], id="note")
        first[0].content.strip()  # somebody looks
        run.answer(lambda: here.content, uses=[here], id="answer")

    live(memory, agent)
    before = memory.store.snapshot()
    report = memory.recover("r", HOME, agent=agent, reason="not hers", actor="me")
    assert report.reinstated.keys() == {HOME, NOTE}
    assert memory.get(NOTE).content == "an old note"
    declared = event_of(memory.store, report.case)
    assert soundness_violations(before, declared, memory.store.snapshot()) == ()


def test_a_run_that_broke_off_writes_on_what_it_had_written(memory: Memory) -> None:
    broken = True

    def agent(run: Recorder) -> None:
        ask = run.input("one and two", id="ask")
        here = city(run)
        run.remember("one", uses=[ask], id="note")
        if broken:
            raise KeyboardInterrupt
        run.remember("two", uses=[ask], id="note")
        run.answer(lambda: here.content, uses=[here], id="answer")

    live(memory, agent)
    broken = False
    assert recovered(memory, agent) == "Lyon"
    assert memory.get(NOTE).content == "two"


def test_a_search_that_holds_finds_what_the_new_branch_writes_as_well(memory: Memory) -> None:
    memory.record("a word before", id="other", scope=SCOPE)

    def agent(run: Recorder) -> None:
        here = city(run)
        if here.content == "Lyon":
            run.remember(lambda: f"a word of {here.content}", uses=[here], id="note")
        seen = run.recall("word", id="seen")
        says = sorted(one.content for one in seen)
        run.answer(lambda: f"{here.content}: {says}", uses=[here, *seen], id="answer")

    live(memory, agent)
    assert recovered(memory, agent) == "Lyon: ['a word before', 'a word of Lyon']"
