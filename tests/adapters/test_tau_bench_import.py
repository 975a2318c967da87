"""What an import holds: every call and row once, arcs to all that was read, nothing of a broken folder."""

from __future__ import annotations

import json
import lzma
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from memorepair.adapters.shapes import Row
from memorepair.adapters.tau_bench.importer import OBSERVED, READ_TOOLS, SCOPE, Import, key, read_import
from memorepair.adapters.tau_bench.replay import disagreement, operator_of
from memorepair.adapters.tau_bench.traces import Run, ToolCall
from memorepair.errors import InvalidFile
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import Draft


def _calls(runs: tuple[Run, ...]) -> dict[str, ToolCall]:
    return {
        f"{run.name}/call-{step.message}": step
        for run in runs
        for step in run.steps
        if isinstance(step, ToolCall) and step.tool != "think"
    }


@pytest.fixture(scope="session")
def drafts(made: Import) -> dict[str, Draft]:
    return {draft.key.id: draft for draft in made.drafts}


def test_the_four_read_tools_agree_on_all_490_calls(made: Import) -> None:
    reads = made.report.reads
    assert reads.disagreements == ()
    assert (reads.agree, reads.total, reads.share) == (490, 490, 1.0)


def test_every_row_call_and_interface_is_there_once(
    made: Import, drafts: Mapping[str, Draft], runs: tuple[Run, ...]
) -> None:
    by_kind = made.report.by_kind
    assert len(drafts) == len(made.drafts) == made.report.artifacts == sum(by_kind.values())
    assert made.report.arcs == sum(len(draft.reads) for draft in made.drafts)
    assert (made.report.runs, by_kind["interfaces"], by_kind["rows"]) == (136, 3, 2_800)
    calls = _calls(runs)
    assert by_kind["caches"] + by_kind["observed records"] == len(calls) == 784 - 52
    assert {id: call.result for id, call in calls.items()} == {id: drafts[id].content for id in calls}
    assert made.report.changes == 112
    assert made.report.skipped["thoughts"] == 52
    assert all(draft.key.scope == SCOPE for draft in made.drafts)


def test_arcs_lead_to_what_was_there_before(made: Import) -> None:
    seen: set[str] = set()
    for draft in made.drafts:
        assert {read.key.id for read in draft.reads} <= seen
        assert len({read.key for read in draft.reads}) == len(draft.reads)
        seen.add(draft.key.id)


def test_a_row_stands_below_its_interface(drafts: Mapping[str, Draft]) -> None:
    for id, draft in drafts.items():
        table = id.split("/")[0]
        if table in ("users", "reservations", "flights"):
            assert [read.key for read in draft.reads] == [key(f"airline.{table}@1")]


def test_what_acts_on_the_world_is_observed_and_what_looks_can_be_made_again_from_its_arcs(
    drafts: Mapping[str, Draft], runs: tuple[Run, ...]
) -> None:
    again = Counter[str]()
    for id, call in _calls(runs).items():
        draft = drafts[id]
        assert draft.recipe.observed == (call.tool in OBSERVED)
        if call.tool in READ_TOOLS:
            operator = operator_of(call.tool)
            assert operator is not None
            assert (draft.recipe.operator, draft.recipe.version) == (operator.name, operator.version)
            assert draft.recipe.params == call.arguments
            assert disagreement(operator, draft.key, call, [drafts[it.key.id] for it in draft.reads]) is None
            again[call.tool] += 1
    assert again == {
        "get_user_details": 85,
        "get_reservation_details": 283,
        "search_direct_flight": 91,
        "search_onestop_flight": 31,
    }


def test_a_read_after_a_write_stands_on_the_write(tmp_path: Path) -> None:
    before = {"reservation_id": "AAAAAA", "user_id": "u_1", "flights": [], "payment_history": []}
    after = before | {"status": "cancelled"}
    steps = [
        _told("cancel_reservation", {"reservation_id": "AAAAAA"}, json.dumps(after)),
        _told("get_reservation_details", {"reservation_id": "AAAAAA"}, json.dumps(after)),
        _told("send_certificate", {"user_id": "u_1", "amount": 50},
              "Certificate certificate_3221322 added to user u_1 with amount 50."),
        _told("get_user_details", {"user_id": "u_1"}, json.dumps(_user() | {"payment_methods": {
              "certificate_3221322": {"source": "certificate", "amount": 50, "id": "certificate_3221322"}}})),
    ]  # fmt: skip
    made = read_import(_folder(tmp_path, reservations={"AAAAAA": before}, steps=steps))
    assert made.report.reads.disagreements == ()
    arcs = {draft.key.id: [read.key.id for read in draft.reads] for draft in made.drafts}
    assert arcs["run-0-0/call-0"] == ["reservations/AAAAAA"]
    assert arcs["run-0-0/call-2"] == ["run-0-0/call-0"]
    assert arcs["run-0-0/call-4/users/u_1"] == ["run-0-0/call-4", "users/u_1"]
    assert arcs["run-0-0/call-6"] == ["run-0-0/call-4/users/u_1"]


def test_a_result_that_its_tool_does_not_make_is_reported_and_observed(
    tmp_path: Path,
) -> None:
    steps = [_told("get_user_details", {"user_id": "u_1"}, "something else")]
    made = read_import(_folder(tmp_path, steps=steps))
    (told,) = made.report.reads.disagreements
    assert told.key == key("run-0-0/call-0")
    assert "character 0" in told.why
    assert made.report.reads.share == 0.0
    assert made.drafts[-1].recipe.observed
    assert made.report.to_json()["read_agreement"] == {
        "agree": 0, "total": 1, "share": 0.0, "disagreements": [{"key": str(told.key), "why": told.why}]
    }  # fmt: skip


def test_plain_and_compressed_folders_are_the_same(tmp_path: Path) -> None:
    steps = [_told("get_user_details", {"user_id": "u_1"}, json.dumps(_user()))]
    plain = _folder(tmp_path / "plain", steps=steps)
    packed = tmp_path / "packed"
    packed.mkdir()
    for path in plain.iterdir():
        (packed / f"{path.name}.xz").write_bytes(lzma.compress(path.read_bytes()))
    assert read_import(plain) == read_import(packed)


def test_summaries_stand_on_results_or_summaries_of_their_own_run(made: Import) -> None:
    for draft in made.drafts:
        if draft.kind is Kind.SUMMARY:
            run = draft.key.id.split("/")[0]
            assert draft.reads
            assert {read.key.id.split("/")[0] for read in draft.reads} == {run}
            assert draft.metadata == {"provenance": "inferred"}
            assert draft.recipe.operator == "summarise"


def test_an_answer_stands_on_all_summaries_of_its_run(made: Import, drafts: Mapping[str, Draft]) -> None:
    for id, draft in drafts.items():
        if id.endswith("/answer"):
            run = id.split("/")[0]
            summaries = {other for other in drafts if other.startswith(f"{run}/message-")}
            assert summaries <= {read.key.id for read in draft.reads}


def _user() -> Row:
    return {
        "name": {"first_name": "Ada", "last_name": "Li"},
        "address": {},
        "payment_methods": {},
        "reservations": [],
    }


def _told(tool: str, arguments: Row, result: str) -> list[Row]:
    call: Row = {
        "function": {"name": tool, "arguments": json.dumps(arguments)},
        "id": "x",
        "type": "function",
    }
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "name": tool, "content": result, "tool_call_id": "x"},
    ]


def _folder(
    folder: Path, *, reservations: Mapping[str, object] | None = None, steps: list[list[Row]] | None = None
) -> Path:
    folder.mkdir(exist_ok=True)
    run = {"task_id": 0, "trial": 0, "traj": [message for step in steps or [] for message in step]}
    for name, value in {
        "airline_users.json": {"u_1": _user()},
        "airline_reservations.json": reservations or {},
        "airline_flights.json": {},
        "gpt-4o-airline.jsonl": run,
    }.items():
        (folder / name).write_text(json.dumps(value), encoding="utf-8")
    return folder


def _break_line(text: str) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        with (folder / "gpt-4o-airline.jsonl").open("a", encoding="utf-8") as file:
            file.write("\n" + text)

    return spoil


def _replace(name: str, text: str) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        (folder / name).write_text(text, encoding="utf-8")

    return spoil


def _line(tool: str, arguments: Row, result: str) -> str:
    return RUN % ", ".join(map(json.dumps, _told(tool, arguments, result)))


RUN = '{"task_id": 1, "trial": 0, "traj": [%s]}'


@pytest.mark.parametrize(
    ("spoil", "witness"),
    [
        (lambda folder: (folder / "airline_users.json").unlink(), "airline_users.json"),
        (lambda folder: (folder / "gpt-4o-airline.jsonl").unlink(), "gpt-4o-airline.jsonl"),
        (_replace("airline_users.json", "{"), "airline_users.json"),
        (_replace("airline_users.json", "[]"), "users"),
        (_replace("airline_users.json", '{"u_1": 3}'), "u_1"),
        (_replace("airline_users.json", '{"u_1": {}}'), "u_1.address"),
        (_replace("airline_users.json", '{"u_1": NaN}'), "airline_users.json"),
        (_replace("airline_users.json", "[" * 100_000), "airline_users.json"),
        (_replace("airline_users.json", json.dumps({"\x07": _user()})), "\x07"),
        (_replace("airline_flights.json", '{"HAT1": {"flight_number": "HAT2"}}'), "HAT1.flight_number"),
        (_break_line("{"), "gpt-4o-airline.jsonl:2"),
        (_break_line("3"), "gpt-4o-airline.jsonl:2"),
        (_break_line('{"task_id": 0, "trial": 0, "traj": []}'), "run-0-0"),
        (_break_line('{"task_id": true, "trial": 0, "traj": []}'), "task_id"),
        (_break_line(RUN % '{"role": "tool", "name": "think", "content": ""}'), "traj[0]"),
        (_break_line(RUN % '{"role": "oracle", "content": ""}'), "traj[0]"),
        (_break_line(RUN % '{"role": "user", "content": "\\ud800"}'), "traj[0].content"),
        (_break_line(RUN % json.dumps(_told("think", {}, "")[0])), "traj[0]"),
        (_break_line(RUN % '{"role": "assistant", "content": null, "tool_calls": []}'), "traj[0].tool_calls"),
        (_break_line(_line("erase_all", {}, "")), "erase_all"),
        (_break_line(_line("get_user_details", {}, "")), "user_id"),
        (_break_line(_line("book_reservation", {"user_id": "u_1", "flights": []}, "ok")), "book_reservation"),
    ],
)  # fmt: skip
def test_bad_input_is_one_typed_error_that_names_the_place(
    spoil: Callable[[Path], None], witness: str, tmp_path: Path
) -> None:
    folder = _folder(tmp_path)
    spoil(folder)
    with pytest.raises(InvalidFile) as refused:
        read_import(folder)
    assert witness in str(refused.value.witness)
