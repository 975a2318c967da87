"""The command that audits: its JSON, its words, its exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from memorepair.cli import app
from memorepair.facade import Memory
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import Draft, Key

USER = ("user", "42")
TEXT = "Office kalomi reported 48213 units and contract 77120 to tavore."
WHY = ("--actor", "tester", "--reason", "looked at it")


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A note, and an answer that repeats it although nothing was recorded."""
    file = tmp_path / "agent.db"
    with Memory.open(file) as memory:
        memory.record(TEXT, id="note", scope=USER)
        memory.record("She likes long walks.", id="likes", scope=USER)
        memory.store.write(
            [Draft(key=Key(USER, "answer"), content=f"[red]So[/red]: {TEXT}", kind=Kind.SUMMARY)]
        )
    return file


def run(db: Path, *args: str, code: int) -> str:
    done = CliRunner().invoke(app, [*args, "--db", str(db)], env={"COLUMNS": "200", "MEMOREPAIR_ACTOR": ""})
    assert done.exit_code == code, (done.stdout, done.stderr)
    return done.stdout


def told(db: Path, *args: str, code: int) -> Any:
    return json.loads(run(db, "audit-provenance", *args, "--json", code=code))


def test_a_small_store_gets_proposals_without_probabilities(db: Path) -> None:
    found = told(db, code=1)
    assert found["parentless"] == ["user/42::answer"]
    assert found["silent"] == ["summary"]
    assert found["calibrated"] is False
    assert found["missing"] is None
    (one,) = found["proposals"]
    assert (one["parent"], one["child"]) == ("user/42::note", "user/42::answer")
    assert one["probability"] is None
    assert "48213" in " ".join(one["shared"])
    shown = run(db, "audit-provenance", code=1)
    assert "too few hidden arcs" in shown
    assert one["id"] in shown


def test_a_judgement_is_made_by_a_person_once(db: Path) -> None:
    id = told(db, code=1)["proposals"][0]["id"]
    assert told(db, "--accept", id, code=2)["error"]["witness"] == "reason"
    assert told(db, "--accept", "nothing", *WHY, code=2)["error"]["type"] == "UnknownId"
    assert told(db, "--accept", id, "--reject", id, *WHY, code=2)["error"]["witness"] == id
    assert told(db, "--accept", id, "--dry-run", *WHY, code=1)["accepted"] == [id]
    assert told(db, code=1)["suspected"] == []
    assert told(db, "--accept", "all-above", *WHY, code=1)["accepted"] == [id]
    after = told(db, code=1)
    assert after["proposals"] == []
    assert [arc["child"] for arc in after["suspected"]] == ["user/42::answer"]


def test_a_rejected_proposal_does_not_come_back(db: Path) -> None:
    id = told(db, code=1)["proposals"][0]["id"]
    assert told(db, "--reject", id, *WHY, code=1)["rejected"] == [id]
    assert told(db, code=1)["proposals"] == []


@pytest.mark.parametrize(
    "event",
    [
        ("delete", "user/42::note"),
        ("correct", "user/42::note", "--content", "Office kalomi is closed."),
    ],
)
def test_an_event_follows_suspicions_by_option(db: Path, event: tuple[str, ...]) -> None:
    plain = json.loads(run(db, *event, *WHY, "--dry-run", "--json", code=0))
    assert plain["withdrawn"] == 1
    case = json.loads(run(db, *event, *WHY, "--suspected", "0.8", "--json", code=0))
    assert case["withdrawn"] == 2
    assert case["suspected"] == 0.8
    assert "suspected to stand on user/42::note" in run(db, "explain", "user/42::answer", code=0)
    run(db, "get", "user/42::answer", code=2)


def test_a_repair_follows_accepted_suspicions_by_option(db: Path) -> None:
    told(db, "--accept", "all-above", *WHY, code=1)
    run(db, "delete", "user/42::note", *WHY, code=0)
    run(db, "get", "user/42::answer", code=0)
    run(db, "repair", "1", "--suspected", "0.8", code=1)
    run(db, "get", "user/42::answer", code=2)


def test_the_probe_says_what_it_spent(db: Path) -> None:
    assert told(db, "--probe", "5", code=1)["replays"] == 0  # nothing says how the answer was made
