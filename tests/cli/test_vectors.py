"""Vectors on the command line: status, the move, what it refuses, and the drop."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from memorepair.cli import app
from memorepair.facade import Memory

SCOPE = ("user", "42")
WHO = ("--actor", "ops", "--reason", "new model")


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMOREPAIR_DB", str(tmp_path / "agent.db"))
    monkeypatch.delenv("MEMOREPAIR_EMBEDDER", raising=False)
    with Memory.open(tmp_path / "agent.db") as memory:
        for n in range(12):
            memory.record(f"note {n} about {('tea', 'the cello', 'Lyon')[n % 3]}", id=f"n{n}", scope=SCOPE)
    return tmp_path / "agent.db"


def run(*words: str, code: int = 0) -> Any:
    done = CliRunner().invoke(app, [*words, "--json"])
    assert done.exit_code == code, done.output
    return json.loads(done.stdout)


def told(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == code, done.output
    return done.stdout


def test_the_move_and_the_way_back(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (
        run("vectors", "status")["spaces"][0] | {"rows": 12, "searched": True, "opened": True}
        == (run("vectors", "status")["spaces"][0])
    )
    assert run("vectors", "check") == []
    monkeypatch.setenv("MEMOREPAIR_EMBEDDER", "hashed:256")
    assert run("vectors", "status", code=1)["lacking"] == 12
    (finding,) = run("vectors", "check", "--all", code=1)
    assert finding["code"] == "embedding_other_dimension"
    before = db.read_bytes()
    assert run("vectors", "reembed", *WHO, "--dry-run")["case"] is None
    assert db.read_bytes() == before
    assert "case" in told("vectors", "reembed", *WHO)
    status = run("vectors", "status")
    assert (status["home"]["dimension"], status["lacking"], status["switch"]) == (256, 0, 1)
    assert "searched" in told("vectors", "status")
    monkeypatch.setenv("MEMOREPAIR_EMBEDDER", "hashed")
    error = run("search", "tea", "--scope", "user/42", "--by", "vector", code=2)["error"]
    assert error["type"] == "OtherSpace"
    run("undo", "1", *WHO)
    assert run("search", "tea", "--scope", "user/42", "--by", "vector")


def test_the_drop(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMOREPAIR_EMBEDDER", "hashed:256")
    run("vectors", "reembed", *WHO)
    name = ("vectors", "drop", "--model", "hashed-ngrams", *WHO)
    assert run(*name, code=2)["error"]["message"].startswith("there are 2 spaces")
    assert "way back" in run(*name, "--dimension", "384", code=2)["error"]["message"]
    assert run(*name, "--dimension", "384", "--dry-run")["vectors"] == 12
    assert "dropped 12" in told(*name, "--dimension", "384", "--early")
    assert run(*name, "--dimension", "256", code=2)["error"]["message"].startswith("memories live")
    assert run("undo", "1", *WHO, code=2)["error"]["type"] == "UndoRefused"


def test_names_that_are_none(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMOREPAIR_EMBEDDER", "word2vec")
    assert run("vectors", "status", code=2)["error"]["type"] == "InvalidInput"
    monkeypatch.setenv("MEMOREPAIR_EMBEDDER", "none")
    assert "without an embedder" in run("vectors", "reembed", *WHO, code=2)["error"]["message"]
