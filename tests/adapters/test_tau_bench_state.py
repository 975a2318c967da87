"""A run's own database, derived from recorded results alone, is the one its calls left behind."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from memorepair.adapters.shapes import Row
from memorepair.adapters.tau_bench.database import Database
from memorepair.adapters.tau_bench.effects import changed
from memorepair.adapters.tau_bench.state import Held, RunState
from memorepair.adapters.tau_bench.traces import Run, ToolCall

HashOf = Callable[[Database], Callable[[Mapping[tuple[str, str], Row]], str]]


def test_the_derived_database_has_the_gold_hash_exactly_where_upstream_says_so(
    database: Database, runs: tuple[Run, ...], answers: Mapping[str, Row], hash_of: HashOf
) -> None:
    digest = hash_of(database)
    gold = {run["task_id"]: run["gt_data_hash"] for run in answers.values() if run["gt_data_hash"]}
    matched = 0
    for run in runs:
        state = RunState(database)
        own: dict[tuple[str, str], Row] = {}
        for call in run.steps:
            if isinstance(call, ToolCall):
                for change in changed(call, state):
                    state.put(change.table, change.id, Held(artifact="", row=change.row))
                    own[change.table, change.id] = change.row
        expected = answers[run.name]
        if run.task in gold:
            reached = digest(own) == gold[run.task]
            assert reached == expected["final_database_equals_gold"], run.name
            matched += reached
    assert matched > 50


def test_exactly_the_calls_that_upstream_marks_change_the_database(
    database: Database, runs: tuple[Run, ...], answers: Mapping[str, Row]
) -> None:
    changes = 0
    for run in runs:
        state = RunState(database)
        calls = answers[run.name]["calls"]
        assert isinstance(calls, list)
        writes = {call["call_message"]: call["writes"] for call in calls if isinstance(call, dict)}
        for call in run.steps:
            if isinstance(call, ToolCall):
                found = changed(call, state)
                assert bool(found) == writes.pop(call.message), (run.name, call.message)
                changes += bool(found)
                for change in found:
                    state.put(change.table, change.id, Held(artifact="", row=change.row))
        assert not writes
    assert changes == 112


def _book(method: Row) -> tuple[Database, ToolCall]:
    user: Row = {"address": {}, "payment_methods": {"p_1": method}, "reservations": []}
    paid = '[{"payment_id": "p_1", "amount": 30}]'
    booked = f'{{"reservation_id": "HATHAT", "user_id": "u", "payment_history": {paid}}}'
    call = ToolCall(message=2, tool="book_reservation", arguments={"user_id": "u"}, result=booked)
    return Database(users={"u": user}, reservations={}, flights={}), call


def test_a_gift_card_pays_from_its_amount() -> None:
    database, call = _book({"source": "gift_card", "amount": 100, "id": "p_1"})
    _, user = changed(call, RunState(database))
    assert user.row["payment_methods"] == {"p_1": {"source": "gift_card", "amount": 70, "id": "p_1"}}
    assert user.row["reservations"] == ["HATHAT"]
    assert database.users["u"]["reservations"] == []


def test_a_certificate_is_used_up() -> None:
    database, call = _book({"source": "certificate", "amount": 100, "id": "p_1"})
    _, user = changed(call, RunState(database))
    assert user.row["payment_methods"] == {}


def test_a_failed_write_changes_nothing() -> None:
    database, call = _book({"source": "credit_card", "id": "p_1"})
    failed = ToolCall(message=2, tool=call.tool, arguments=call.arguments, result="Error: not enough seats")
    assert changed(failed, RunState(database)) == ()
