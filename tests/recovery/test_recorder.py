"""The recorder: a step is in the store when its verb returns, with the ids of what it used."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from memorepair.errors import InvalidInput, TraceMismatch, UnknownId, Withdrawn
from memorepair.facade import Memory
from memorepair.graphs.terms import Kind, Relation
from memorepair.memory.artifact import Json, Key, State
from memorepair.recovery import Effect, Recorder, Run, Tool, tool

SCOPE = ("user", "42")
HERE = (*SCOPE, "run:r")


@pytest.fixture
def run(memory: Memory) -> Run:
    memory.record("home is Lyon", id="home", scope=SCOPE)
    return memory.run(task="book a table", scope=SCOPE, id="r")


def found(where: str, rain: bool = False) -> Json:
    return {"where": where, "rain": rain}


async def cancel_later(arguments: object, result: Json) -> None:
    """What nothing awaits."""


SEARCH = Tool(name="search", function=found, effect=Effect.READ)


def arcs(memory: Memory, id: str) -> set[tuple[str, Relation, int]]:
    return {
        (arc.parent.id, arc.relation, arc.group) for arc in memory.trace("r").steps[Key(HERE, id)].support
    }


def test_every_verb_leaves_its_kind_and_its_relations(memory: Memory, run: Run) -> None:
    with run:
        ask = run.input("near home")
        seen = run.read("user/42::home")
        claim = run.claim("home is Lyon", uses=[seen], facet=("user 42", "home", "Lyon"))
        plan = run.plan("search Lyon", uses=[claim, ask])
        got = run.call(SEARCH, plan=plan, uses=[claim], where="Lyon")
        kept = run.remember("likes Le Bec", uses=[got], id="likes")
        merged = run.remember("home and likes", uses=[got], id="both", consolidates=[kept, "user/42::home"])
        answer = run.answer("Le Bec", uses=[got])
    trace = memory.trace("r")
    assert [(one.key.id, one.kind) for one in trace.steps.values()] == [
        ("task", Kind.USER_INPUT),
        ("user_input", Kind.USER_INPUT),
        ("read user/42::home", Kind.MEMORY_READ),
        ("claim", Kind.CLAIM),
        ("plan", Kind.PLAN),
        ("search", Kind.ACTION),
        ("search.result", Kind.OBSERVATION),
        ("remember user/42::likes", Kind.MEMORY_MUTATION),
        ("remember user/42::both", Kind.MEMORY_MUTATION),
        ("answer", Kind.ANSWER),
    ]
    assert arcs(memory, "user_input") == {("task", Relation.INITIATE, 0)}
    assert arcs(memory, "read user/42::home") == {("home", Relation.CITE, 0)}
    assert arcs(memory, "claim") == {("read user/42::home", Relation.CITE, 0)}
    assert arcs(memory, "plan") == {("claim", Relation.SUPPORT, 0), ("user_input", Relation.INITIATE, 0)}
    assert arcs(memory, "search") == {("plan", Relation.PRODUCE, 0), ("claim", Relation.SUPPORT, 0)}
    assert arcs(memory, "search.result") == {("search", Relation.PRODUCE, 0)}
    assert arcs(memory, "remember user/42::likes") == {("search.result", Relation.SUPPORT, 0)}
    assert {(a.parent.id, a.relation) for a in memory.store.support([merged])} == {
        ("remember user/42::both", Relation.PRODUCE),
        ("likes", Relation.CONSOLIDATE),
        ("home", Relation.CONSOLIDATE),
    }
    assert trace.answer == answer.key
    assert trace.observation_of(Key(HERE, "search")) == got.key
    assert memory.get(claim.key).slot is not None


def test_a_second_writing_is_an_update_and_the_next_version(memory: Memory, run: Run) -> None:
    with run:
        seen = run.read("user/42::home")
        run.remember("home is Nice", uses=[seen], id="home")
    assert memory.get("user/42::home").version == 2
    assert {arc.relation for arc in memory.store.support([Key(SCOPE, "home")])} == {Relation.UPDATE}


def test_order_links_nothing(memory: Memory, run: Run) -> None:
    with run:
        run.claim("one")
        run.claim("two")
    assert arcs(memory, "claim #2") == {("task", Relation.INITIATE, 0)}


def test_lists_are_alternatives_and_a_mixture_is_refused(memory: Memory, run: Run) -> None:
    with run:
        one, two = run.claim("one"), run.claim("two")
        run.plan("go", uses=[[one], [two, Key(SCOPE, "home")]])
        with pytest.raises(InvalidInput, match="needed together, or lists"):
            run.plan("go", uses=[one, [two]], id="mixed")
    assert arcs(memory, "plan") == {
        ("claim", Relation.SUPPORT, 0),
        ("claim #2", Relation.SUPPORT, 1),
        ("home", Relation.DERIVE, 1),
    }
    assert Key(HERE, "mixed") not in memory.trace("r").steps


def test_names_are_given_once(memory: Memory, run: Run) -> None:
    with run:
        run.claim("one", id="same")
        with pytest.raises(InvalidInput, match="two steps of run r are called same"):
            run.claim("two", id="same")
    with (
        pytest.raises(InvalidInput, match="there is a run r already"),
        memory.run(task="again", scope=SCOPE, id="r"),
    ):
        pass
    with pytest.raises(InvalidInput, match="used once"), run:
        pass


def test_steps_are_taken_inside_the_block_only(run: Run) -> None:
    with pytest.raises(InvalidInput, match="inside its with block"):
        run.claim("early")
    with run:
        pass
    for late in (lambda: run.claim("late"), lambda: run.read("user/42::home"), lambda: run.recall("home")):
        with pytest.raises(InvalidInput, match="inside its with block"):
            late()


def test_a_block_that_raises_leaves_a_run_without_an_answer(memory: Memory, run: Run) -> None:
    def agent() -> None:
        with run:
            run.claim("so far")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        agent()
    trace = memory.trace("r")
    assert trace.answer is None
    assert [key.id for key in trace.steps] == ["task", "claim"]


def test_an_action_is_recorded_before_its_tool_runs(memory: Memory, run: Run) -> None:
    @tool(effect="irreversible")
    def burst() -> Json:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), run:
        run.call(burst, plan=run.plan("try"))
    trace = memory.trace("r")
    assert trace.steps[Key(HERE, "burst")].effect is Effect.IRREVERSIBLE
    assert trace.observation_of(Key(HERE, "burst")) is None


def test_a_search_leaves_a_step_for_each_memory_found(memory: Memory, run: Run) -> None:
    with run:
        hits = run.recall("home", limit=3)
        assert [hit.content for hit in hits] == ["home is Lyon"]
        assert run.recall("nothing of the kind") == ()
    step = memory.trace("r").steps[Key(HERE, "read user/42::home")]
    assert step.recipe.params["recall"] == "recall"


def test_a_search_stands_on_what_its_query_was_made_from(memory: Memory, run: Run) -> None:
    memory.record("Zoe", id="name", scope=SCOPE)
    memory.record("Zoe lives in Lyon", id="where", scope=SCOPE)
    with run:
        name = run.read("user/42::name")
        found = run.recall(name.content + " lives", uses=name)
        assert run.recall(name.content + " sleeps", uses=[name]) == ()
    memory.repair(memory.delete("user/42::name", erase=True, actor="ada", reason="asked"))
    steps = memory.trace("r").steps
    assert {steps[key].listing.state for key in (found[0].key, Key(HERE, "recall #2"))} == {State.ERASED}
    for file in memory.store.path.parent.glob(f"{memory.store.path.name}*"):
        assert b"Zoe sleeps" not in file.read_bytes()


@pytest.mark.parametrize("by", ["text", "vector"])
def test_no_word_of_a_query_is_in_any_file(memory: Memory, run: Run, by: str) -> None:
    """Whether it says what it was made from or not, whether it finds anything or not, erased or not."""
    memory.record("Zanzibar lies by the sea", id="gone", scope=SCOPE)
    with run:
        run.recall("canary-Zanzibar 4711")
        run.recall("home")
        (found,) = run.recall("zANZIBAR")
        assert found.content.startswith("Zanzibar")
    for n in range(60):
        memory.search(f"canary-Zanzibar {n}", scope=SCOPE, by=by)
    memory.retrieval()
    memory.repair(memory.delete("user/42::gone", erase=True, actor="ada", reason="asked"))
    memory.close()
    files = list(memory.store.path.parent.iterdir())
    assert len(files) > 1
    for file in files:
        said = file.read_bytes()
        assert not any(form.encode() in said for form in ("canary", "Zanzibar", "zANZIBAR"))


def test_steps_are_found_by_no_search_of_the_scope(memory: Memory, run: Run) -> None:
    with run:
        run.claim("home is a castle")
    assert [hit.artifact.key.id for hit in memory.search("castle", scope=SCOPE)] == []


def test_a_memory_withdrawn_under_way_stops_what_rests_on_it(memory: Memory, run: Run) -> None:
    with run:
        seen = run.read("user/42::home")
        case = memory.delete("user/42::home", reason="wrong", actor="me")
        with pytest.raises(Withdrawn):
            run.read("user/42::home", id="again")
        with pytest.raises(Withdrawn):
            run.claim("home is Lyon", uses=[seen])
        free = run.claim("the sky is blue")
    assert memory.get(free.key).content == "the sky is blue"
    memory.undo(case, reason="it was right", actor="me")
    assert memory.get(seen.key).content == "home is Lyon"


def test_what_a_tool_returned_is_kept_though_its_action_left_service_meanwhile(
    memory: Memory, run: Run
) -> None:
    @tool(effect="irreversible")
    def send(where: str) -> Json:
        memory.delete("user/42::home", reason="wrong", actor="me")
        return {"sent": where}

    with run:
        plan = run.plan("go", uses=[run.read("user/42::home")])
        sent = run.call(send, plan=plan, where="Lyon")
        with pytest.raises(Withdrawn):
            run.answer("sent", uses=[sent])
    step = memory.trace("r").steps[Key(HERE, "send.result")]
    assert step.listing.state is State.QUARANTINED
    with pytest.raises(Withdrawn):
        memory.get(step.key)


def test_an_unknown_memory_leaves_no_step(memory: Memory, run: Run) -> None:
    with run, pytest.raises(UnknownId):
        run.read("user/42::nobody")
    assert [key.id for key in memory.trace("r").steps] == ["task"]


@pytest.mark.parametrize("wrong", [found, None, "search"])
def test_a_bare_function_is_no_tool(run: Run, wrong: object) -> None:
    with run:
        plan = run.plan("go")
        with pytest.raises(InvalidInput, match="a tool declares its effect"):
            run.call(wrong, plan=plan)  # type: ignore[arg-type]


def test_async_runs_record_the_same_trace(tmp_path: Path) -> None:
    async def later(where: str) -> Json:
        await asyncio.sleep(0)
        return found(where)

    slow = Tool(name="search", function=later, effect=Effect.READ)

    def written(name: str, take: Callable[[Run], None]) -> list[tuple[str, Kind, object]]:
        with Memory.open(tmp_path / name) as memory:
            take(memory.run(task="t", id="r"))
            steps = memory.trace("r").steps.values()
            return [(one.key.id, one.kind, one.justifications) for one in steps]

    def now(run: Run) -> None:
        with run:
            got = run.call(SEARCH, plan=run.plan("go"), where="Lyon")
            run.answer(got.content, uses=[got])

    def then(run: Run) -> None:
        async def take() -> None:
            async with run:
                got = await run.acall(slow, plan=run.plan("go"), where="Lyon")
                run.answer(got.content, uses=[got])

        asyncio.run(take())

    assert written("a.db", now) == written("b.db", then)


@pytest.mark.parametrize(
    ("effect", "compensation", "message"),
    [
        (Effect.COMPENSATABLE_WRITE, None, "a compensation belongs to"),
        (Effect.READ, lambda arguments, result: None, "a compensation belongs to"),
        ("read", None, "the effect of a tool is an Effect"),
        (Effect.COMPENSATABLE_WRITE, "cancel", "is called with the arguments and the result"),
        (Effect.COMPENSATABLE_WRITE, cancel_later, "is called with the arguments and the result"),
    ],
)
def test_a_compensation_belongs_to_a_compensatable_write(
    effect: Effect, compensation: Callable[..., object] | None, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        Tool(name="x", function=found, effect=effect, compensation=compensation)


def test_an_unknown_effect_is_told_with_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match="one of pure, read, idempotent write"):
        tool(effect="magic")


def test_two_runs_of_one_id_are_told_apart_by_their_scope(memory: Memory) -> None:
    for user in ("1", "2"):
        with memory.run(task="t", scope=("user", user), id="same"):
            pass
    with pytest.raises(InvalidInput, match="several runs are called same"):
        memory.trace("same")
    assert memory.trace(("user", "2", "run:same")).id == "same"
    with pytest.raises(UnknownId):
        memory.trace(("user", "3", "run:same"))
    assert [one.key.scope[1] for one in memory.runs()] == ["1", "2"]
    assert [one.key.scope[1] for one in memory.runs(scope=("user", "1"))] == ["1"]


def test_no_step_is_written_over_another(memory: Memory, run: Run) -> None:
    """Neither by a running number, nor by what a call adds to its name, nor the task."""
    look = Tool(name="look", function=lambda: "seen", effect=Effect.READ)
    with run:
        run.claim("first", id="claim")
        run.claim("second")
        run.claim("third", id="look.result")
        run.call(look, plan=run.plan("look"))
        with pytest.raises(InvalidInput):
            run.claim("fourth", id="task")
    steps = memory.trace(run.id).steps
    assert {step.listing.version for step in steps.values()} == {1}
    assert [key.id for key in steps] == [
        "task", "claim", "claim #2", "look.result", "plan", "look #2", "look #2.result",
    ]  # fmt: skip


def test_a_memory_is_no_step(memory: Memory, run: Run) -> None:
    with run:
        plan = run.plan("keep it")
        with pytest.raises(InvalidInput):
            run.remember("x", uses=[plan], kind=Kind.CLAIM)
        with pytest.raises(InvalidInput):
            run.remember("x", uses=[plan], id="plan", scope=plan.key.scope)
    assert [key.id for key in memory.trace(run.id).steps] == ["task", "plan"]


def test_a_tool_that_cannot_be_called_so_is_not_called(memory: Memory, run: Run) -> None:
    async def slow() -> str:
        return "late"

    ran: list[str] = []
    quick = Tool(name="quick", function=lambda: ran.append("quick"), effect=Effect.IDEMPOTENT_WRITE)
    with run:
        plan = run.plan("go")
        with pytest.raises(InvalidInput, match="acall"):
            run.call(Tool(name="slow", function=slow, effect=Effect.READ), plan=plan)
        assert asyncio.run(run.acall(quick, plan=plan)).content == "null"
    assert ran == ["quick"]
    assert [key.id for key in memory.trace(run.id).steps] == ["task", "plan", "quick", "quick.result"]


@pytest.mark.parametrize("uses", [3, None, [3], [["task"], 3]])
def test_what_nothing_can_stand_on_is_refused(run: Run, uses: Any) -> None:
    with run, pytest.raises(InvalidInput):
        run.claim("x", uses=uses)


@pytest.mark.parametrize("asked", ["home", "Lyon"])
def test_a_replay_that_asks_something_else_is_told(memory: Memory, run: Run, asked: str) -> None:
    """By the digest of the query alone."""
    memory.record("it rains", id="rain", scope=SCOPE)

    def agent(recorder: Recorder, query: str = asked) -> None:
        found = recorder.recall(query)
        wet = recorder.read("user/42::rain")
        recorder.answer("stay in" if "rain" in str(wet.content) else "go out", uses=[*found, wet])

    with run:
        agent(run, "home")
    again = partial(memory.recover, "r", "user/42::rain", reason="r", actor="a", agent=agent)
    texts = {"user/42::rain": "it is dry"}
    if asked == "home":
        assert again(replacements=texts).answer == "go out"
    else:
        with pytest.raises(TraceMismatch, match="searched for something else"):
            again(replacements=texts)
