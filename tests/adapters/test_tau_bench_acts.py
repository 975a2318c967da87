"""All tools of the airline: every recorded result again, the database left, a replay that runs little."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import cast

import pytest

from memorepair.adapters.shapes import Row, list_of
from memorepair.adapters.tau_bench.acts import act
from memorepair.adapters.tau_bench.database import Database
from memorepair.adapters.tau_bench.effects import changed
from memorepair.adapters.tau_bench.running import run_tool
from memorepair.adapters.tau_bench.state import Held, RunState
from memorepair.adapters.tau_bench.traces import Run, ToolCall
from memorepair.errors import InvalidInput

HashOf = Callable[[Database], Callable[[Mapping[tuple[str, str], Row]], str]]


class Watched(RunState):
    """A run's state that knows the rows put into it."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.own: dict[tuple[str, str], Row] = {}

    def put(self, table: str, id: str, held: Held) -> None:
        super().put(table, id, held)
        self.own[table, id] = held.row


def calls_of(run: Run) -> list[ToolCall]:
    return [step for step in run.steps if isinstance(step, ToolCall)]


def test_every_recorded_result_comes_out_again_to_the_byte(database: Database, runs: tuple[Run, ...]) -> None:
    calls = 0
    for run in runs:
        state = RunState(database)
        for call in calls_of(run):
            assert run_tool(call, state, database).result == call.result, (run.name, call.message)
            calls += 1
    assert (len(runs), calls) == (136, 784)


def test_the_tools_leave_the_rows_that_the_results_tell(database: Database, runs: tuple[Run, ...]) -> None:
    for run in runs:
        acted, told = Watched(database), Watched(database)
        for call in calls_of(run):
            run_tool(call, acted, database)
            for change in changed(call, told):
                told.put(change.table, change.id, Held(artifact="", row=change.row))
        assert {key: row for key, row in acted.own.items() if told.own.get(key, row) != row} == {}
        assert all(acted.own[key] == row for key, row in told.own.items())


def test_the_database_after_a_run_has_the_gold_hash_exactly_where_it_is_stated(
    database: Database, runs: tuple[Run, ...], answers: Mapping[str, Row], hash_of: HashOf
) -> None:
    digest = hash_of(database)
    gold = {run["task_id"]: run["gt_data_hash"] for run in answers.values() if run["gt_data_hash"]}
    matched = 0
    for run in runs:
        state = Watched(database)
        for call in calls_of(run):
            run_tool(call, state, database)
        if run.task in gold:
            reached = digest(state.own) == gold[run.task]
            assert reached == answers[run.name]["final_database_equals_gold"], run.name
            matched += reached
    assert matched > 50


def test_after_the_migration_a_selective_replay_runs_what_changed_and_ends_where_a_full_one_does(
    database: Database,
    migrated: dict[str, Row],
    runs: tuple[Run, ...],
    answers: Mapping[str, Row],
    hash_of: HashOf,
) -> None:
    after = replace(database, users=migrated)
    digest = hash_of(after)
    ran = 0
    for run in runs:
        known = list_of(answers[run.name], "calls", run.name)
        stale = {
            cast(int, call["call_message"])
            for call in known
            if isinstance(call, dict) and call["result_changes_after_migration"]
        }
        full, selective = Watched(after), Watched(after)
        differing = set()
        for call in calls_of(run):
            whole = run_tool(call, full, after).result
            if whole != call.result:
                differing.add(call.message)
            if call.message in stale:
                ran += 1
                assert run_tool(call, selective, after).result == whole
            else:  # read back: what it did is told from its record, and nothing runs
                for change in changed(call, selective):
                    selective.put(change.table, change.id, Held(artifact="", row=change.row))
        assert differing == stale, run.name
        assert digest(selective.own) == digest(full.own), run.name
    assert ran == 85  # of 784: 699 calls saved, 89 %


def test_what_is_no_tool_is_refused(database: Database) -> None:
    call = ToolCall(message=1, tool="fly", arguments={}, result="")
    with pytest.raises(InvalidInput, match="no tool that acts"):
        act(call, RunState(database))
