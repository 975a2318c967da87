"""Recovery of one story: where home is was overwritten, and dinner was booked in the wrong town."""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypedDict

import pytest

from memorepair.drills import Struck, fail, rehearse, striking
from memorepair.errors import (
    ApprovalNeeded,
    InvalidInput,
    StepFailed,
    Tombstoned,
    TraceMismatch,
    UnknownId,
    Withdrawn,
)
from memorepair.facade import Memory
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import CaseStatus, Json, Key, State
from memorepair.picture import picture_of
from memorepair.recovery import Effect, Recorder, Tool
from memorepair.repair.jsontext import parse
from memorepair.repair.soundness import soundness_violations
from memorepair.repair.withdrawal import event_of


class Who(TypedDict):
    reason: str
    actor: str


WHO = Who(reason="overwritten by a stranger", actor="user:42")
SCOPE = ("user", "42")
HOME = Key(SCOPE, "home")


class Town:
    """Tables that can be booked, guides that can be printed, letters that cannot be called back."""

    tables: Mapping[str, str] = {"Paris": "Chez Paul", "Lyon": "Le Bec"}

    def __init__(self) -> None:
        self.booked: list[str] = []
        self.letters: list[str] = []
        self.menu: dict[str, str] = {}
        self.ran: list[str] = []
        self.tools = {
            "search": Tool(name="search", function=self.search, effect=Effect.READ),
            "weather": Tool(name="weather", function=self.weather, effect=Effect.READ),
            "book": Tool(
                name="book",
                function=self.book,
                effect=Effect.COMPENSATABLE_WRITE,
                compensation=self.cancel,
            ),
            "note": Tool(name="note", function=self.note, effect=Effect.IDEMPOTENT_WRITE),
            "post": Tool(name="post", function=self.post, effect=Effect.IRREVERSIBLE),
        }

    def search(self, city: str) -> Json:
        self.ran.append("search")
        return {"table": self.tables.get(city, "nothing")}

    def weather(self, day: str) -> Json:
        self.ran.append("weather")
        return {"day": day, "rain": False}

    def book(self, table: str) -> Json:
        self.ran.append("book")
        self.booked.append(table)
        return {"booked": table}

    def cancel(self, arguments: Mapping[str, Json], result: Json) -> None:
        self.ran.append("cancel")
        if arguments["table"] in self.booked:  # it may have been taken back before
            self.booked.remove(str(arguments["table"]))

    def note(self, day: str, table: str) -> Json:
        self.ran.append("note")
        self.menu[day] = table
        return {"noted": table}

    def post(self, text: str) -> Json:
        self.ran.append("post")
        self.letters.append(text)
        return {"posted": text}


class Diner:
    """Takes the steps of the run `dinner`; with `posts` it writes a letter, which nothing takes back."""

    def __init__(self, town: Town, *, posts: bool = False) -> None:
        self.town = town
        self.posts = posts

    def __call__(self, run: Recorder) -> None:
        tools = self.town.tools
        ask = run.input("a table for two near home on Friday", id="ask")
        home = run.read("user/42::home", id="home")
        day = run.read("user/42::day", id="day")
        sky = run.call(
            tools["weather"],
            plan=run.plan("look at the sky", uses=[day, ask], id="look"),
            id="weather",
            day=day.content,
        )
        city = run.claim(
            lambda: f"the city is {home.content.rpartition(' ')[2]}",
            uses=[home],
            facet=("user 42", "city"),
            id="city",
        )
        near = run.plan(lambda: f"search where {city.content}", uses=[city, ask], id="near")
        found = run.call(
            tools["search"], plan=near, uses=[city], id="search", city=city.content.rpartition(" ")[2]
        )
        table = str(dict_of(found.content)["table"])
        booked = run.call(tools["book"], plan=near, uses=[found], id="book", table=table)
        run.call(tools["note"], plan=near, uses=[found, day], id="note", day=day.content, table=table)
        if self.posts:
            run.call(tools["post"], plan=near, uses=[found], id="post", text=f"dear {table}")
        run.remember(lambda: f"dinner at {table}", uses=[found], id="last dinner")
        run.remember(lambda: f"free on {day.content}", uses=[day], id="free day")
        run.answer(
            lambda: f"booked {dict_of(booked.content)['booked']}, rain {dict_of(sky.content)['rain']}",
            uses=[booked, sky],
            id="answer",
        )


def dict_of(text: str) -> dict[str, Json]:
    """An object from its text."""
    value = parse(text)
    assert isinstance(value, dict)
    return value


def fill(memory: Memory) -> None:
    """What was right, then what was not: home in Lyon overwritten by Paris."""
    memory.record("home is Lyon", id="home", scope=SCOPE)
    memory.record("home is Paris", id="home", scope=SCOPE)
    memory.record("Friday", id="day", scope=SCOPE)


@pytest.fixture
def town() -> Town:
    return Town()


def live(memory: Memory, diner: Diner) -> None:
    """The run `dinner`, which comes out wrong."""
    fill(memory)
    with memory.run(task="dinner", scope=SCOPE, id="dinner") as run:
        diner(run)
    diner.town.ran.clear()


@pytest.fixture
def diner(memory: Memory, town: Town) -> Diner:
    diner = Diner(town)
    live(memory, diner)
    return diner


def step(id: str) -> Key:
    return Key((*SCOPE, "run:dinner"), id)


def served(memory: Memory) -> dict[Key, tuple[State, str | None]]:
    """Every artifact's state, and what it says where it says something."""
    now = memory.store.snapshot().current
    texts = memory.store.served(sorted(now))
    return {key: (view.state, texts[key].content if key in texts else None) for key, view in now.items()}


def ids(keys: tuple[Key, ...]) -> list[str]:
    return [key.id for key in keys]


def test_a_dry_run_tells_the_plan_and_changes_nothing(memory: Memory, diner: Diner) -> None:
    before = memory.store.snapshot()
    report = memory.recover("dinner", HOME, dry_run=True, **WHO)
    assert memory.store.snapshot() == before
    assert (report.case.id, report.made, report.answer) == (0, None, None)
    plan = report.plan
    assert ids(plan.again) == [
        *("home", "city", "near", "search", "search.result", "book", "book.result", "note", "note.result"),
        "answer",
    ]
    assert ids(plan.kept) == [
        *("task", "ask", "day", "look", "weather", "weather.result", "remember user/42::free day"),
    ]
    assert ids(plan.dropped) == ["remember user/42::last dinner"]
    assert ids(plan.compensated) == ["book"]
    assert ids(plan.quarantined) == ["last dinner"]
    assert plan.selection.verify()
    assert plan.calls == 3
    assert plan.replay_ratio == 10 / 18
    assert memory.recover("dinner", HOME, **WHO).plan.to_json() == plan.to_json()


def test_the_affected_steps_are_taken_again_and_the_others_read_back(
    memory: Memory, diner: Diner, town: Town
) -> None:
    before = memory.store.snapshot()
    report = memory.recover("dinner", HOME, agent=diner, tools=town.tools.values(), **WHO)
    assert report.answer == "booked Le Bec, rain False"
    assert memory.get(HOME).content == "home is Lyon"
    assert town.booked == ["Le Bec"]
    assert town.menu == {"Friday": "Le Bec"}
    assert town.ran == ["cancel", "search", "book", "note"]  # the weather was not asked again
    assert memory.get("user/42::free day").content == "free on Friday"
    assert report.made is not None
    assert report.made.calls == 3
    assert report.left == (Key(SCOPE, "last dinner"),)
    assert report.case.status is CaseStatus.CLOSED_PARTIAL
    declared = event_of(memory.store, report.case)
    assert soundness_violations(before, declared, memory.store.snapshot()) == ()
    assert memory.store.check() == []


def test_an_undo_brings_back_memories_steps_and_answer(memory: Memory, diner: Diner, town: Town) -> None:
    before = served(memory)
    report = memory.recover("dinner", HOME, agent=diner, tools=town.tools.values(), **WHO)
    memory.undo(report.case, **WHO)
    after = served(memory)
    assert {key: after[key] for key in before} == before
    # What the recovery alone has written, the note on what was taken back, is no step of the run.
    assert {key.id for key in after.keys() - before.keys()} <= {"book.taken-back"}


def test_a_person_may_say_what_is_right(memory: Memory, diner: Diner, town: Town) -> None:
    report = memory.recover(
        "dinner",
        HOME,
        agent=diner,
        tools=town.tools.values(),
        replacements={HOME: "home is Nowhere"},
        **WHO,
    )
    assert report.answer == "booked nothing, rain False"
    assert memory.get(HOME).content == "home is Nowhere"


def test_nothing_stands_in_place_of_a_memory_without_a_former_version(memory: Memory, town: Town) -> None:
    memory.record("home is Paris", id="home", scope=SCOPE)

    def agent(run: Recorder) -> None:
        try:
            home = run.read(HOME, id="home")
        except (UnknownId, Withdrawn):
            run.answer("I do not know where home is", uses=[run.input("where?", id="where")], id="answer")
            return
        run.answer(home.content, uses=[home], id="answer")

    with memory.run(task="t", scope=SCOPE, id="dinner") as run:
        agent(run)
    report = memory.recover("dinner", HOME, agent=agent, **WHO)
    assert report.answer == "I do not know where home is"
    assert memory.store.describe(HOME).state is State.ARCHIVED


def test_the_fault_is_not_learned_again(memory: Memory, diner: Diner, town: Town) -> None:
    memory.record("she moved", id="moved", scope=SCOPE, slot=("user 42", "city", "Nice"))
    with memory.run(task="t", scope=SCOPE, id="other") as run:
        run.answer("Nice", uses=[run.read("user/42::moved")])
    memory.recover("other", "user/42::moved", **WHO)
    for text, slot in (("she moved", None), ("gone to Nice", ("user 42", "city", "Nice"))):
        with pytest.raises(Tombstoned):
            memory.record(text, id="again", scope=SCOPE, slot=slot)
        with pytest.raises(Tombstoned), memory.run(task="t", scope=SCOPE) as run:
            run.remember(text, uses=[run.input("so she said")], slot=slot)
    memory.record("gone to Oslo", id="oslo", scope=SCOPE, slot=("user 42", "city", "Oslo"))
    memory.record("she moved", id="again", scope=SCOPE, allow_tombstoned=True, **WHO)
    assert memory.get("user/42::again").content == "she moved"


def test_a_replay_that_differs_from_the_record_stops_and_nothing_is_published(
    memory: Memory, diner: Diner, town: Town
) -> None:
    def other(run: Recorder) -> None:
        ask = run.input("a table for two near home on Friday", id="ask")
        home = run.read(HOME, id="home")
        plan = run.plan("search", uses=[home, ask], id="near")
        run.call(town.tools["book"], plan=plan, id="book", table="Le Bec")
        run.call(town.tools["note"], plan=plan, id="note", day="Monday", table="Le Bec")
        run.plan("look", uses=[ask], id="look")  # recorded with the day as well: fewer sources, another step

    before = served(memory)
    with pytest.raises(TraceMismatch) as caught:
        memory.recover("dinner", HOME, agent=other, tools=town.tools.values(), **WHO)
    assert caught.value.witness == step("look")
    assert town.booked == []  # the wrong table and the new one are both given back
    assert caught.value.__notes__ == [
        "note (idempotent write) has run and was not taken back",
        "case 1 is open, its barrier stands: a replay takes it up again",
    ]
    (case,) = memory.store.cases()
    assert case.status is CaseStatus.OPEN
    now = served(memory)
    members = {one.key for one in memory.store.members(case.id)} - {HOME}
    assert all(now[key][1] is None for key in members)
    assert {key: now[key] for key in before.keys() - members - {HOME}} == {
        key: before[key] for key in before.keys() - members - {HOME}
    }
    report = memory.replay(case, "dinner", diner, tools=town.tools.values())
    assert report.answer == "booked Le Bec, rain False"
    assert town.booked == ["Le Bec"]


@pytest.mark.parametrize(
    ("change", "witness"),
    [
        (lambda run, town: run.claim("rain", uses=[run.input("x", id="ask")], id="look"), "look"),
        (
            lambda run, town: run.call(
                town.tools["weather"],
                plan=run.plan(
                    "", uses=[run.read("user/42::day", id="day"), run.input("", id="ask")], id="look"
                ),
                id="weather",
                day="Monday",
            ),
            "weather",
        ),
    ],
    ids=["another kind", "other arguments"],
)
def test_what_holds_is_asked_for_as_it_was_recorded(
    memory: Memory,
    diner: Diner,
    town: Town,
    change: Callable[[Recorder, Town], object],
    witness: str,
) -> None:
    with pytest.raises(TraceMismatch) as caught:
        memory.recover("dinner", HOME, agent=lambda run: change(run, town), tools=town.tools.values(), **WHO)
    assert caught.value.witness == step(witness)


def test_a_replay_without_the_answer_stops(memory: Memory, diner: Diner, town: Town) -> None:
    with pytest.raises(TraceMismatch, match="no answer"):
        memory.recover("dinner", HOME, agent=lambda run: None, tools=town.tools.values(), **WHO)


def test_a_missing_tool_is_told_before_anything_is_taken_back(
    memory: Memory, diner: Diner, town: Town
) -> None:
    before = memory.store.snapshot()
    with pytest.raises(UnknownId, match="there is no tool book"):
        memory.recover("dinner", HOME, agent=diner, **WHO)
    assert memory.store.snapshot() == before
    assert town.ran == []
    assert town.booked == ["Chez Paul"]


def test_compensations_run_the_latest_first_and_once_though_the_process_dies_between(memory: Memory) -> None:
    shelf: list[str] = []
    order: list[str] = []

    def put(what: str) -> str:
        shelf.append(what)
        return what

    def back(arguments: object, result: object) -> None:
        order.append(str(result))
        shelf.remove(str(result))
        if order == ["c", "b"]:
            raise Struck

    tool = Tool(name="put", function=put, effect=Effect.COMPENSATABLE_WRITE, compensation=back)
    memory.record("bad", id="m", scope=SCOPE)

    def agent(run: Recorder) -> None:
        seen = run.read("user/42::m", id="seen")
        plan = run.plan("put all", uses=[seen], id="plan")
        for what in "abc":
            run.call(tool, plan=plan, id=what, what=what + ("" if seen.content == "bad" else "!"))
        run.answer("done", uses=[plan], id="answer")

    with memory.run(task="t", scope=SCOPE, id="dinner") as run:
        agent(run)
    good = {"user/42::m": "good"}
    with pytest.raises(Struck):
        memory.recover("dinner", list(good), agent=agent, tools=[tool], replacements=good, **WHO)
    # It dies within the compensation of b, after it acted: b alone has to bear being taken back once more.
    shelf.append("b")
    memory.replay(1, "dinner", agent, tools=[tool])
    assert order == ["c", "b", "b", "a"]
    assert shelf == ["a!", "b!", "c!"]


def test_wherever_the_process_dies_the_case_can_be_taken_up(tmp_path: Path) -> None:
    def recovery(path: Path) -> tuple[Diner, Callable[[], object]]:
        diner = Diner(Town())
        with Memory.open(path) as memory:
            live(memory, diner)

        def act() -> None:
            with Memory.open(path) as memory:
                memory.recover("dinner", HOME, agent=diner, tools=diner.town.tools.values(), **WHO)

        return diner, act

    stops = rehearse(recovery(tmp_path / "whole.db")[1])
    ends = {stop.point: stop for stop in stops}  # the last time at every point
    some = [stop for number, stop in enumerate(stops) if stop == ends[stop.point] or not number % 25]
    assert {"begin", "committed", "publish: intent", "compensate: acted"} <= {stop.point for stop in some}
    for number, stop in enumerate(some):
        path = tmp_path / f"{number}.db"
        diner, act = recovery(path)
        with pytest.raises(Struck), striking(stop, fail):
            act()
        with Memory.open(path) as memory:
            assert memory.store.check() == []
            cases = memory.store.cases()
            if not cases:  # it was never declared
                assert memory.get(HOME).content == "home is Paris"
                continue
            if memory.store.describe(step("answer")).state is State.WITHDRAWN:
                memory.replay(cases[0].id, "dinner", diner, tools=diner.town.tools.values())
            assert memory.get(step("answer")).content == "booked Le Bec, rain False"
            # The death may have come between a compensation and its note, or after a booking: the town
            # may hold one booking more or less, never the answer another.
            assert memory.get(HOME).content == "home is Lyon"


@pytest.mark.parametrize("undone", [False, True])
def test_what_an_earlier_recovery_has_done_to_the_world_is_taken_back_by_the_next(
    memory: Memory, diner: Diner, town: Town, undone: bool
) -> None:
    tools = town.tools.values()
    first = memory.recover("dinner", HOME, agent=diner, tools=tools, **WHO)
    assert town.booked == ["Le Bec"]
    if undone:  # an undo does not act on the world
        memory.undo(first.case, **WHO)
    there = {HOME: "home is Nowhere"}
    second = memory.recover("dinner", HOME, agent=diner, tools=tools, replacements=there, **WHO)
    assert second.answer == "booked nothing, rain False"
    assert town.booked == ["nothing"]
    assert town.ran.count("cancel") == 2
    memory.replay(second.case, "dinner", diner, tools=tools)
    assert town.booked == ["nothing"]
    assert memory.store.check() == []


def test_runs_of_one_id_are_told_apart_by_the_scope_that_the_error_names(
    memory: Memory, diner: Diner
) -> None:
    with memory.run(task="another", scope=("user", "43"), id="dinner"):
        pass
    with pytest.raises(InvalidInput, match="user/42/run:dinner, user/43/run:dinner"):
        memory.trace("dinner")
    assert memory.trace("user/42/run:dinner").scope == memory.trace((*SCOPE, "run:dinner")).scope
    assert len(memory.trace("user/43/run:dinner").steps) == 1
    with pytest.raises(UnknownId):
        memory.trace("user/44/run:dinner")


def test_a_faulty_step_is_a_fault_like_any_other(memory: Memory, diner: Diner, town: Town) -> None:
    city = step("city")
    with pytest.raises(Tombstoned):  # the agent would say the same once more
        memory.recover("dinner", city, agent=diner, tools=town.tools.values(), **WHO)
    (case,) = memory.store.cases()
    memory.undo(case, **WHO)
    report = memory.recover(
        "dinner",
        city,
        agent=diner,
        tools=town.tools.values(),
        replacements={city: "the city is Lyon"},
        **WHO,
    )
    assert report.plan.faulty == (city,)
    assert report.answer == "booked Le Bec, rain False"
    assert memory.get(HOME).content == "home is Paris"  # the memory behind it is as it was


def test_two_runs_share_a_memory_and_each_is_replayed_in_the_case(
    memory: Memory, diner: Diner, town: Town
) -> None:
    def lunch(run: Recorder) -> None:
        home = run.read(HOME, id="home")
        run.answer(lambda: f"lunch where {home.content}", uses=[home], id="answer")

    with memory.run(task="lunch", scope=SCOPE, id="lunch") as run:
        lunch(run)
    report = memory.recover("dinner", HOME, agent=diner, tools=town.tools.values(), **WHO)
    other = Key((*SCOPE, "run:lunch"), "answer")
    assert other in report.plan.others
    with pytest.raises(Withdrawn):
        memory.get(other)
    assert memory.replay(report.case, "lunch", lunch).answer == "lunch where home is Lyon"
    assert memory.get(other).content == "lunch where home is Lyon"
    memory.undo(report.case, **WHO)
    assert memory.get(other).content == "lunch where home is Paris"


def test_a_memory_that_another_run_stands_on_is_written_again(memory: Memory) -> None:
    """Nothing in the run that wrote it needs it: without it the other run would find nothing to read."""

    def first(run: Recorder) -> None:
        home = run.read(HOME, id="home")
        run.remember(lambda: f"lives where {home.content}", uses=[home], id="note")
        if "Paris" in home.content:
            run.remember("far away", uses=[home], id="note")
        run.remember(lambda: f"nobody asks for {home.content}", uses=[home], id="diary")
        run.answer("noted", id="answer")

    def second(run: Recorder) -> None:
        note = run.read(Key(SCOPE, "note"), id="note")
        run.answer(lambda: note.content, uses=[note], id="answer")

    fill(memory)
    for name, agent in (("first", first), ("second", second)):
        with memory.run(task=name, scope=SCOPE, id=name) as run:
            agent(run)
    report = memory.recover("first", HOME, agent=first, **WHO)
    assert {key.id for key in report.plan.again} == {
        "home",
        *("remember user/42::note", "remember user/42::note #2"),  # a replay may not come to the last
    }
    assert report.left == (Key(SCOPE, "diary"),)
    assert memory.replay(report.case, "second", second).answer == "lives where home is Lyon"


def test_several_faults_in_one_case_or_one_after_the_other(memory: Memory, diner: Diner, town: Town) -> None:
    memory.record("Monday", id="day", scope=SCOPE)
    day = Key(SCOPE, "day")
    with memory.run(task="dinner", scope=SCOPE, id="second") as run:
        diner(run)
    tools = town.tools.values()
    both = memory.recover("second", [HOME, day], agent=diner, tools=tools, **WHO)
    assert town.menu["Friday"] == "Le Bec"
    assert {HOME, day} <= set(both.reinstated)
    memory.undo(both.case, **WHO)
    first = memory.recover("second", HOME, agent=diner, tools=tools, **WHO)
    second = memory.recover("second", day, agent=diner, tools=tools, **WHO)
    assert (first.answer, second.answer) == ("booked Le Bec, rain False",) * 2
    with pytest.raises(Withdrawn):  # both runs wrote it, and no answer rests on it
        memory.get("user/42::free day")
    assert memory.store.check() == []


def test_what_only_the_fault_said_comes_into_no_memory_and_no_answer(memory: Memory, town: Town) -> None:
    memory.record("The door code is 4711-B and nobody else knows it.", id="code", scope=SCOPE)
    memory.record("The house is green.", id="house", scope=SCOPE)
    heard: list[str] = []

    def agent(run: Recorder, *, tells: bool = False) -> None:
        house = run.read("user/42::house", id="house")
        try:
            code = run.read("user/42::code", id="code")
            heard.append(code.content)
            used = [house, code]
        except Withdrawn:
            used = [house]
        run.remember(lambda: f"noted: {heard[0]}", uses=used, id="note")
        run.answer(lambda: heard[0] if tells else "it is noted", uses=used, id="answer")

    with memory.run(task="t", scope=SCOPE, id="dinner") as run:
        agent(run)
    with pytest.raises(StepFailed, match="repeats what"):
        memory.recover("dinner", "user/42::code", agent=lambda run: agent(run, tells=True), **WHO)
    (case,) = memory.store.cases()
    report = memory.replay(case, "dinner", agent)
    assert report.answer == "it is noted"
    assert Key(SCOPE, "note") in report.left
    with pytest.raises(Withdrawn):
        memory.get("user/42::note")


def test_a_search_of_the_replay_finds_what_it_has_written(memory: Memory) -> None:
    memory.record("bad", id="m", scope=SCOPE)
    memory.record("a lamp", id="place", scope=SCOPE)

    def agent(run: Recorder) -> None:
        seen = run.read("user/42::m", id="seen")
        run.remember(lambda: f"the lamp is {seen.content}", uses=[seen], id="lamp")
        place = run.read("user/42::place", id="place")
        found = run.recall("the lamp", uses=[place])
        nothing = run.recall("no such thing")
        run.answer(lambda: "; ".join(one.content for one in (*found, *nothing)), uses=found, id="answer")

    with memory.run(task="t", scope=SCOPE, id="dinner") as run:
        agent(run)
    memory.record("no such thing is here now", id="later", scope=SCOPE)
    good = {"user/42::m": "good"}
    report = memory.recover("dinner", list(good), agent=agent, replacements=good, **WHO)
    assert report.answer == "the lamp is good"  # the search that had found nothing is read back
    assert memory.get("user/42::lamp").content == "the lamp is good"


def test_a_memory_that_a_run_reads_and_writes_again(memory: Memory) -> None:
    memory.record("3 cups", id="cups", scope=SCOPE)
    memory.record("bad", id="m", scope=SCOPE)

    def agent(run: Recorder) -> None:
        seen = run.read("user/42::m", id="seen")
        cups = run.read("user/42::cups", id="cups")
        run.remember(lambda: f"{cups.content} and {seen.content}", uses=[cups, seen], id="cups")
        again = run.read("user/42::cups", id="cups again")
        run.answer(lambda: again.content, uses=[again], id="answer")

    with memory.run(task="t", scope=SCOPE, id="dinner") as run:
        agent(run)
    before = memory.store.snapshot()
    good = {"user/42::m": "good"}
    report = memory.recover("dinner", list(good), agent=agent, replacements=good, **WHO)
    assert report.answer == memory.get("user/42::cups").content == "3 cups and good"
    declared = event_of(memory.store, report.case)
    assert soundness_violations(before, declared, memory.store.snapshot()) == ()
    memory.undo(report.case, **WHO)
    assert memory.get("user/42::cups").content == "3 cups and bad"


def test_erased_content_is_neither_read_back_nor_learned_again(
    memory: Memory, diner: Diner, town: Town
) -> None:
    case = memory.delete("user/42::day", reason="privacy", actor="user:42")
    memory.erase(case, reason="privacy", actor="user:42")
    with pytest.raises((UnknownId, Withdrawn)):
        memory.recover("dinner", HOME, agent=diner, tools=town.tools.values(), **WHO)
    with pytest.raises(Tombstoned):
        memory.record("Friday", id="day again", scope=SCOPE)


def test_without_an_agent_the_case_waits_for_the_replay(memory: Memory, diner: Diner, town: Town) -> None:
    report = memory.recover("dinner", HOME, **WHO)
    assert (report.made, report.answer) == (None, None)
    assert report.case.status is CaseStatus.OPEN
    assert report.left == (Key(SCOPE, "last dinner"),)
    assert all(memory.store.describe(key).kind is not Kind.RECORD for key in report.plan.again)
    report = memory.replay(report.case, "dinner", diner, tools=town.tools.values())
    assert report.answer == "booked Le Bec, rain False"
    memory.undo(report.case, **WHO)
    with pytest.raises(InvalidInput, match="undone"):
        memory.replay(report.case, "dinner", diner, tools=town.tools.values())


def test_the_picture_of_a_run_tells_its_nodes_apart(memory: Memory, diner: Diner, town: Town) -> None:
    with memory.run(task="t", scope=SCOPE, id="other") as run:
        home, day = run.read(HOME, id="home"), run.read("user/42::day", id="day")
        run.claim("it is Friday", uses=[[home], [day]], id="known")
    report = memory.recover("dinner", HOME, agent=diner, tools=town.tools.values(), **WHO)
    looks = {}
    for name in ("dinner", "other"):
        page = picture_of(memory, report.case, run=name)
        assert "Chez Paul" not in page
        assert "Le Bec" not in page
        after = page[page.index("After: what repair") :]
        looks[name] = {
            id: style
            for style, id in re.findall(
                r'class="chip (\w+) n\d+".*?class="id"[^>]*>([^<]*)<', after, re.DOTALL
            )
        }
    assert looks["dinner"]["home"] in ("root", "repaired")
    assert looks["dinner"]["city"] == looks["dinner"]["answer"] == "repaired"
    assert looks["dinner"]["ask"] == looks["dinner"]["weather"] == "frozen"
    assert looks["dinner"]["remember user/42::last…"] == looks["dinner"]["last dinner"] == "left"
    assert looks["other"]["known"] == "spared"
    with pytest.raises(UnknownId):
        picture_of(memory, report.case, run="nobody")


def test_a_mismatch_before_the_first_call_leaves_the_world_alone(
    memory: Memory, diner: Diner, town: Town
) -> None:
    def other(run: Recorder) -> None:
        run.plan("look", uses=[run.input("a table for two near home on Friday", id="ask")], id="look")

    case = memory.recover("dinner", HOME, **WHO).case
    before = memory.store.snapshot()
    with pytest.raises(TraceMismatch):
        memory.replay(case, "dinner", other, tools=town.tools.values())
    assert memory.store.snapshot() == before
    assert town.booked == ["Chez Paul"]
    assert town.ran == []
    assert (
        memory.replay(case, "dinner", diner, tools=town.tools.values()).answer == "booked Le Bec, rain False"
    )
    assert town.ran == ["cancel", "search", "book", "note"]


def test_what_an_agent_raises_is_told_as_a_failed_step(memory: Memory, diner: Diner, town: Town) -> None:
    def broken(city: str) -> Json:
        raise ZeroDivisionError(city)

    town.tools["search"] = Tool(name="search", function=broken, effect=Effect.READ)
    with pytest.raises(StepFailed, match="ZeroDivisionError") as caught:
        memory.recover("dinner", HOME, agent=diner, tools=town.tools.values(), **WHO)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert "Lyon" not in str(caught.value)
    (case,) = memory.store.cases()
    with pytest.raises(Withdrawn):
        memory.get(step("answer"))
    town.tools["search"] = Tool(name="search", function=town.search, effect=Effect.READ)
    assert memory.replay(case, "dinner", diner, tools=town.tools.values()).case.status is not CaseStatus.OPEN
    assert town.booked == ["Le Bec"]


def test_an_agent_may_be_a_coroutine_function(memory: Memory) -> None:
    async def search(city: str) -> Json:
        await asyncio.sleep(0)
        return {"Paris": "Chez Paul", "Lyon": "Le Bec"}[city]

    tool = Tool(name="search", function=search, effect=Effect.READ)

    async def agent(run: Recorder) -> None:
        home = run.read(HOME, id="home")
        city = run.claim(lambda: home.content.rpartition(" ")[2], uses=[home], id="city")
        found = await run.acall(tool, plan=city, uses=[city], id="search", city=city.content)
        run.answer(lambda: str(parse(found.content)), uses=[found], id="answer")

    async def live() -> None:
        async with memory.run(task="dinner", scope=SCOPE, id="dinner") as run:
            await agent(run)
        with pytest.raises(InvalidInput, match="to_thread"):
            memory.recover("dinner", HOME, agent=agent, **WHO)
        (case,) = memory.store.cases()
        report = await asyncio.to_thread(memory.replay, case.id, "dinner", agent)
        assert report.answer == "Le Bec"
        memory.undo(case, **WHO)

    fill(memory)
    asyncio.run(live())
    assert memory.get(step("answer")).content == "Chez Paul"
    assert memory.recover("dinner", HOME, agent=agent, **WHO).answer == "Le Bec"


@pytest.mark.parametrize("deep", [False, True])
def test_a_copy_of_the_fault_spares_nothing(memory: Memory, deep: bool) -> None:
    for name in ("page", "mirror", "friend"):
        memory.record(f"{name}: the shop is open", id=name, scope=SCOPE)
    with memory.run(task="shop", scope=SCOPE, id="dinner") as run:
        page, mirror = run.read("user/42::page", id="page"), run.read("user/42::mirror", id="mirror")
        other = run.claim("the mirror says so", uses=[mirror], id="says") if deep else mirror
        run.answer("open", uses=[[page], [other]], id="answer")

    def spared(faulty: str, *origin: str) -> set[str]:
        sets = [[f"user/42::{name}" for name in origin]] if origin else []
        plan = memory.recover("dinner", f"user/42::{faulty}", same_origin=sets, dry_run=True, **WHO).plan
        return {key.id for key in plan.spared}

    assert spared("page") == spared("mirror") == {"answer"}
    assert spared("page", "page", "mirror") == spared("mirror", "page", "mirror") == set()
    assert spared("page", "page", "friend") == {"answer"}
    with pytest.raises(UnknownId):
        spared("page", "page", "nobody")


@pytest.mark.parametrize(
    "wrong",
    [
        {"agent": "diner"},
        {"tools": ["book"]},
        {"approved": "post"},
        {"replacements": ["home is Lyon"]},
        {"evidence": "some"},
        {"same_origin": [["user/42::home", "user/42::nobody"]]},
        {"wait": -1.0},
        {"tools": None},
        {"approved": [3]},
    ],
)
def test_bad_input_is_refused_before_anything_is_withdrawn(
    memory: Memory, diner: Diner, wrong: dict[str, Any]
) -> None:
    before = memory.store.snapshot()
    with pytest.raises((InvalidInput, UnknownId)):
        memory.recover("dinner", HOME, **{"agent": diner, **wrong}, **WHO)
    assert memory.store.snapshot() == before


KILLED = """
import os, signal, sys
sys.path.insert(0, {tests!r})
from memorepair.facade import Memory
from memorepair.recovery import Effect, Tool
from test_recovery import HOME, WHO, Diner, Town

town = Town()
town.booked.append("Chez Paul")


def book(table):
    with open({log!r}, "a") as log:
        log.write(table)
    os.kill(os.getpid(), signal.SIGKILL)


town.tools["book"] = Tool(
    name="book", function=book, effect=Effect.COMPENSATABLE_WRITE, compensation=town.cancel
)
with Memory.open({db!r}, create=False) as memory:
    memory.recover("dinner", HOME, agent=Diner(town), tools=town.tools.values(), **WHO)
"""


def test_a_killed_replay_leaves_word_of_the_call_it_was_killed_in(tmp_path: Path, town: Town) -> None:
    """What may have run is not run again unasked, nor twice after a person has looked."""
    db, log = tmp_path / "agent.db", tmp_path / "log"
    diner = Diner(town)
    with Memory.open(db) as memory:
        live(memory, diner)
    program = KILLED.format(tests=str(Path(__file__).parent), log=str(log), db=str(db))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert log.read_text() == "Le Bec"
    with Memory.open(db, create=False) as memory:
        (case,) = memory.store.cases()
        with pytest.raises(ApprovalNeeded, match="may have run already") as asked:
            memory.replay(case, "dinner", diner, tools=town.tools.values())
        assert "book" not in town.ran
        report = memory.replay(
            case, "dinner", diner, tools=town.tools.values(), approved=[str(asked.value.witness)]
        )
        assert report.answer == "booked Le Bec, rain False"
        assert memory.store.notes("begun calls") == {}
        assert memory.store.check() == []


def test_what_cannot_be_taken_back_is_not_done_twice_for_one_approval(memory: Memory, town: Town) -> None:
    diner = Diner(town, posts=True)
    live(memory, diner)

    def stops(run: Recorder) -> None:
        diner(run)
        raise RuntimeError("later")

    with pytest.raises(ApprovalNeeded) as asked:
        memory.recover("dinner", HOME, agent=diner, tools=town.tools.values(), **WHO)
    (case,) = memory.store.cases()
    approved = [str(asked.value.witness)]
    with pytest.raises(StepFailed):
        memory.replay(case, "dinner", stops, tools=town.tools.values(), approved=approved)
    with pytest.raises(ApprovalNeeded, match="may have run already") as again:
        memory.replay(case, "dinner", diner, tools=town.tools.values(), approved=approved)
    assert town.letters == ["dear Chez Paul", "dear Le Bec"]
    memory.replay(
        case, "dinner", diner, tools=town.tools.values(), approved=[*approved, str(again.value.witness)]
    )
    assert town.letters == ["dear Chez Paul", "dear Le Bec", "dear Le Bec"]
    assert memory.store.notes("begun calls") == {}
