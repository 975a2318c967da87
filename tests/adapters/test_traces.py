"""Recorded agents as typed steps: what is recorded, what is inferred by which rule, what is missing."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest

from memorepair.adapters import openai_messages, otel, who_and_when
from memorepair.adapters.importing import bring
from memorepair.adapters.recording import UNDECLARED, Recording
from memorepair.adapters.registry import import_kind
from memorepair.errors import InvalidFile
from memorepair.facade import Memory
from memorepair.graphs.terms import Kind, Relation
from memorepair.memory.artifact import Json
from memorepair.recovery import Effect, Recorder, Tool
from memorepair.recovery.trace import STEPS


def written(folder: Path, value: Json, name: str = "talk.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def links(recording: Recording) -> set[tuple[str, str, str | None]]:
    return {(link.tail, link.head, link.rule) for link in recording.links}


def kinds(recording: Recording) -> dict[str, Kind]:
    return {item.id: item.kind for item in recording.items}


CALL: Json = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"of": "Lyon"}'}}


def test_a_conversation_becomes_typed_steps(tmp_path: Path) -> None:
    talk: Json = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "A table in Lyon?"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "Bec-9 is open"},
        {"role": "assistant", "content": "Take Bec-9."},
    ]
    recording = openai_messages.read(written(tmp_path, talk))
    assert kinds(recording) == {
        "talk/0": Kind.RECORD,
        "talk/1": Kind.USER_INPUT,
        "talk/2/call-0": Kind.ACTION,
        "talk/3": Kind.OBSERVATION,
        "talk/4": Kind.ANSWER,
    }
    assert links(recording) == {
        ("talk/1", "talk/2/call-0", openai_messages.REPLIES),
        ("talk/2/call-0", "talk/3", None),
        ("talk/1", "talk/4", openai_messages.REPLIES),
        ("talk/3", "talk/4", openai_messages.QUOTES),
    }
    assert [one.what for one in recording.missing] == [UNDECLARED]


def test_an_imported_run_is_recovered_like_one_of_our_own(tmp_path: Path) -> None:
    plan: Json = {"role": "assistant", "content": "I look in Lyon.", "tool_calls": [CALL]}
    talk: Json = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "A table in Lyon?"},
        plan,
        {"role": "tool", "tool_call_id": "c1", "content": "Bec-9 is open"},
        {"role": "assistant", "content": "Take Bec-9."},
    ]
    recording = openai_messages.read(written(tmp_path, talk))
    assert recording.runs == ("talk",)
    find = Tool(name="find", function=lambda of: f"a table in {of}", effect=Effect.READ)

    def agent(run: Recorder) -> None:
        look = run.plan(lambda: "I look", uses=[run.task], id="2")
        found = run.call(find, plan=look, uses=[run.task], id="2/call-0", of="Lyon")
        run.answer(lambda: f"Take {found.content[:5]}.", uses=[run.task, found], id="4")

    with Memory.open(tmp_path / "agent.db") as memory:
        bring(memory, recording, scope=("talks",))
        assert [one.key.scope for one in memory.runs()] == [("talks", "run:talk")]
        trace = memory.trace("talk")
        assert [key.id for key in trace.steps] == ["task", "2", "2/call-0", "2/call-0.result", "4"]
        wrong = "talks/run:talk::2/call-0.result"
        report = memory.recover(
            "talk", wrong, replacements={wrong: "Bec-7 is open"}, agent=agent, reason="wrong", actor="me"
        )
        assert (report.answer, [key.id for key in report.plan.again]) == ("Take Bec-7.", ["4"])
        assert memory.get("talks::talk/0").content == "Be brief."
        # What a foreign tool did to the world nobody has declared.
        again = memory.recover("talk", "talks/run:talk::task", dry_run=True, reason="wrong", actor="me").plan
        assert [key.id for key in again.irreversible] == ["2/call-0"]
        memory.undo(report.case, reason="no", actor="me")
        assert memory.get("talks/run:talk::4").content == "Take Bec-9."


def test_a_log_in_which_nobody_asks_is_no_run(tmp_path: Path) -> None:
    recording = openai_messages.read(written(tmp_path, [{"role": "assistant", "content": "Hello."}]))
    assert recording.runs == ()
    assert "runs without a recorded task, kept as artifacts" in {one.what for one in recording.missing}


@pytest.mark.parametrize(
    ("kind", "data", "runs"),
    [
        ("toolbench-runs", "traces-toolbench/answers.jsonl.xz", None),
        ("swe-agent-runs", "traces-swe-agent", None),
        ("who-and-when", "traces-who-and-when", 123),
        ("openai-messages", "traces-tau-bench/gpt-4o-airline.jsonl.xz", 136),
    ],
)
def test_real_traces_are_typed_runs(
    kind: str, data: str, runs: int | None, real_input: Callable[[str], Path]
) -> None:
    folder, _, rest = data.partition("/")
    recording = import_kind(kind).read(real_input(folder) / rest)
    assert runs is None or len(recording.runs) == runs
    steps = [item for item in recording.items if item.id in recording.steps]
    assert {item.kind for item in steps} <= STEPS
    # Every step of the file is one, under a name of its own, each run begins with its task.
    assert len(steps) == sum(item.kind in STEPS for item in recording.items)
    keys = [recording.key((), item.id) for item in recording.items]
    assert len(set(keys)) == len(keys)
    assert {key.scope for key in keys if key.id == "task"} == {("run:" + run,) for run in recording.runs}
    observed = {item.id for item in steps if item.kind is Kind.OBSERVATION}
    called = {item.id for item in steps if item.kind is Kind.ACTION}
    produced = {
        link.head for link in recording.links if link.tail in called and link.relation is Relation.PRODUCE
    }
    assert kind == "who-and-when" or produced == observed
    # What is recorded, or follows by structure, comes from what came before.
    number = {id: place.number for id, place in recording.steps.items()}
    assert all(
        number[link.tail] < number[link.head]
        for link in recording.links
        if link.tail in number and link.head in number
    )
    # A run recorded elsewhere goes into a memory whole.
    first = recording.runs[0]
    drafts = {draft.key: draft for draft in recording.drafts(("there",))}
    of_first = [draft for key, draft in drafts.items() if key.scope == ("there", "run:" + first)]
    assert [draft.recipe.params["place"] for draft in of_first] == list(range(len(of_first)))
    assert Kind.ANSWER in {item.kind for item in steps}


@pytest.mark.parametrize(
    ("talk", "message"),
    [
        ({"turns": []}, "has no list of messages"),
        ([{"role": "oracle", "content": "x"}], "unknown role"),
        ([{"role": "assistant", "tool_calls": [{"id": "c"}]}], "no field 'function'"),
    ],
)
def test_a_file_of_another_shape_is_refused_with_its_place(tmp_path: Path, talk: Json, message: str) -> None:
    with pytest.raises(InvalidFile, match=message):
        openai_messages.read(written(tmp_path, talk))


def test_recorded_exchanges_are_read_with_their_answers(real_input: Callable[[str], Path]) -> None:
    recording = openai_messages.read(real_input("embeddings-otel-openai") / "tool_call_exchanges.json.xz")
    # Two exchanges of one conversation and a streamed one; the third is no list of messages.
    assert recording.recorded["calls"] == 4
    assert recording.recorded["results"] == 2
    assert recording.recorded["answers"] == 1
    (answer,) = (item.id for item in recording.items if item.kind is Kind.ANSWER)
    quoted = {link.tail for link in recording.links if link.head == answer}
    results = {item.id for item in recording.items if item.kind is Kind.OBSERVATION}
    assert results <= quoted
    assert {one.what for one in recording.missing} >= {
        "responses that are streams, left out",
        "exchanges without a list of messages, left out",
    }


def test_tau_bench_runs_are_message_lists(real_input: Callable[[str], Path]) -> None:
    recording = openai_messages.read(real_input("traces-tau-bench") / "gpt-4o-airline.jsonl.xz")
    assert recording.recorded["results"] == recording.recorded["calls"] == 784
    assert not [one for one in recording.missing if one.what == "results without a call"]


def _span(span: str, start: int, **attributes: str) -> Json:
    given: Json = [
        {"key": f"gen_ai.{key.replace('_', '.')}", "value": {"stringValue": value}}
        for key, value in attributes.items()
    ]
    return {"traceId": "t", "spanId": span, "startTimeUnixNano": str(start), "attributes": given}


def test_spans_say_what_a_model_was_given(tmp_path: Path) -> None:
    ask: Json = {"role": "user", "parts": [{"type": "text", "content": "A table?"}]}
    call: Json = {"type": "tool_call", "id": "c1", "name": "find", "arguments": {"of": "Lyon"}}
    plan: Json = {"role": "assistant", "parts": [call]}
    result: Json = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "Bec"}]}
    said: Json = {"role": "assistant", "parts": [{"type": "text", "content": "Bec"}]}

    def chat(span: str, start: int, given: list[Json], out: Json) -> Json:
        return _span(
            span,
            start,
            operation_name="chat",
            input_messages=json.dumps(given),
            output_messages=json.dumps([out]),
        )

    tool = _span("b", 2, operation_name="execute_tool", tool_name="find", tool_call_id="c1")
    spans: Json = [
        chat("c", 3, [ask, plan, result], said),
        chat("a", 1, [ask], plan),
        tool,
        _span("d", 4, operation_name="invoke_agent"),
    ]
    root: Json = {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}
    recording = otel.read(written(tmp_path, root))
    assert links(recording) == {
        ("t/a/user-0", "t/a/0", None),
        ("t/a/0", "t/a/0/find/call", None),
        ("t/a/0/find/call", "t/b/result", None),
        ("t/a/user-0", "t/c/0", None),
        ("t/b/result", "t/c/0", None),
    }
    assert kinds(recording)["t/c/0"] is Kind.ANSWER
    assert {one.what for one in recording.missing} == {
        "tool spans without a captured result",
        "spans that are no call of a model or a tool, left out",
        UNDECLARED,
    }


def test_a_failure_log_links_by_quotation_and_addressing_only(tmp_path: Path) -> None:
    log: Json = {
        "question": "Who won?",
        "mistake_step": "1",
        "mistake_reason": "wrong year",
        "history": [
            {"role": "Boss (-> WebSurfer)", "content": "Please look"},
            {"role": "WebSurfer", "content": "It says Kim-2020"},
            {"role": "Clerk", "content": "no idea"},
            {"role": "Judge", "content": "So kim-2020 it is"},
            {"role": "Judge", "content": "TERMINATE"},
        ],
    }
    recording = who_and_when.read(written(tmp_path, log))
    assert {link for link in links(recording) if link[2]} == {
        ("talk/0", "talk/1", who_and_when.ADDRESSES),
        ("talk/1", "talk/3", who_and_when.QUOTES),
    }
    assert kinds(recording)["talk/3"] is Kind.ANSWER
    assert [item.metadata.get("mistake") for item in recording.items if item.id == "talk/1"] == ["wrong year"]


def test_a_marked_mistake_reaches_the_answer_and_less_than_all_that_is_later(
    real_input: Callable[[str], Path],
) -> None:
    recording = who_and_when.read(real_input("traces-who-and-when"))
    children: defaultdict[str, set[str]] = defaultdict(set)
    for link in recording.links:
        children[link.tail].add(link.head)
    size: defaultdict[str, int] = defaultdict(int)
    answer: dict[str, int] = {}
    marked: dict[str, int] = {}
    for item in recording.items:
        log, _, place = item.id.rpartition("/")
        if place.isdecimal():
            size[log] += 1
            if item.kind is Kind.ANSWER:
                answer[log] = int(place)
            if "mistake" in item.metadata:
                marked[log] = int(place)
    assert len(marked) == 123
    missed: list[str] = []
    shares: list[float] = []
    for log, mistake in marked.items():
        reached, waiting = {f"{log}/{mistake}"}, [f"{log}/{mistake}"]
        while waiting:
            new = children[waiting.pop()] - reached
            reached |= new
            waiting += new
        numbers = {int(id.rpartition("/")[2]) for id in reached}
        assert min(numbers) == mistake  # no earlier step
        if answer[log] not in numbers and answer[log] > mistake:
            missed.append(log)
        if later := size[log] - mistake - 1:
            shares.append((len(numbers) - 1) / later)
    # Where the answer is missed, the mistake brought no word of its own, or the answer is a bare value.
    assert 1 - len(missed) / len(marked) >= 0.87
    assert sum(shares) / len(shares) <= 0.8
