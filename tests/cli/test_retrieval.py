"""Retrieval on the command line: figures, alarms, and a scene that is left."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from memorepair.cli import app
from memorepair.facade import Memory
from memorepair.memory.artifact import Slot

WHO = ("--actor", "ops", "--reason", "moved on")
SCOPE = ("--scope", "user/42")


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMOREPAIR_DB", str(tmp_path / "agent.db"))
    with Memory.open(tmp_path / "agent.db") as memory:
        for n in range(6):
            slot = Slot(entity=f"item {n}", attribute="step", value=str(n), scene="Atlas")
            memory.record(f"deploy step {n}", id=f"a{n}", scope=("user", "42"), slot=slot)
    return tmp_path / "agent.db"


def run(*words: str, code: int = 0) -> Any:
    done = CliRunner().invoke(app, [*words, "--json"])
    assert done.exit_code == code, done.output
    return json.loads(done.stdout)


def told(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == code, done.output
    return done.stdout


def test_figures_of_searches_and_a_scene_that_still_leads(db: Path) -> None:
    assert run("retrieval")["hours"] == []
    run("search", "deploy", *SCOPE)
    (hour,) = run("retrieval")["hours"]
    assert (hour["scope"], hour["searches"]) == (["user", "42"], 1)
    assert run("leave", "atlas", *SCOPE, *WHO, "--dry-run")["case"] is None
    assert len(run("leave", "atlas", *SCOPE, *WHO)["keys"]) == 6
    for _ in range(8):
        run("search", "deploy", *SCOPE)
    (alarm,) = run("retrieval", code=1)["alarms"]
    assert alarm["code"] == "old_scene_leads"
    assert "old_scene_leads in user/42" in told("retrieval", code=1)
    run("undo", "1", *WHO)
    assert "0 rank lower" in told("leave", "borealis", *SCOPE, *WHO)
    assert run("leave", " ", *SCOPE, *WHO, code=2)["error"]["type"] == "InvalidInput"
