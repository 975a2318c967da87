"""A second import of tau-bench runs changes nothing, least of all what was corrected in between."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memorepair.adapters.tau_bench import import_tau_bench, read_import
from memorepair.adapters.tau_bench.importer import key
from memorepair.errors import InvalidFile
from memorepair.facade import Memory

USER = {"name": {"first_name": "Ada"}, "address": {}, "payment_methods": {}, "reservations": []}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    asked = {"name": "get_user_details", "arguments": json.dumps({"user_id": "u_1"})}
    call = {"id": "x", "type": "function", "function": asked}
    run = {
        "task_id": 0,
        "trial": 0,
        "traj": [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "name": "get_user_details", "content": json.dumps(USER), "tool_call_id": "x"},
        ],
    }
    for name, value in {
        "airline_users.json": {"u_1": USER, "u_2": USER},
        "airline_reservations.json": {},
        "airline_flights.json": {},
        "gpt-4o-airline.jsonl": run,
    }.items():
        (tmp_path / name).write_text(json.dumps(value), encoding="utf-8")
    return tmp_path


def test_a_second_import_changes_nothing(folder: Path) -> None:
    with Memory.open(folder / "agent.db") as memory:
        first = import_tau_bench(memory, folder)
        before = memory.store.snapshot()
        again = import_tau_bench(memory, folder)
        assert memory.store.snapshot() == before
    assert (first.same, first.refused) == (0, ())
    assert (again.same, again.refused) == (first.artifacts, ())
    assert again.to_json()["same"] == first.artifacts


def test_a_second_import_takes_back_no_correction_and_no_deletion(folder: Path) -> None:
    with Memory.open(folder / "agent.db") as memory:
        import_tau_bench(memory, folder)
        right = json.dumps(USER | {"address": {"city": "Lyon"}})
        memory.repair(memory.correct(key("users/u_1"), right, reason="moved", actor="ada"))
        memory.repair(memory.delete(key("users/u_2"), reason="left", actor="ada"))
        before = memory.store.snapshot()
        again = import_tau_bench(memory, folder)
        assert memory.store.snapshot() == before
        assert memory.get(key("users/u_1")).content == right
    refused = {one.key.id: one.why for one in again.refused}
    assert refused["users/u_1"] == "removed"
    assert refused["users/u_2"] == "out of service"


def test_an_id_twice_is_refused(folder: Path) -> None:
    users = folder / "airline_users.json"
    users.write_text(users.read_text().replace('"u_2"', '"u_1"'))
    with pytest.raises(InvalidFile) as caught:
        read_import(folder)
    assert str(caught.value.witness) == "airline_users.json: u_1"
