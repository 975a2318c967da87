"""Vectors on the command line: status, the move, what it refuses, and the drop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memorepair.facade import Memory

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

SCOPE = ("user", "42")
WHO = ("--actor", "ops", "--reason", "new model")


@pytest.fixture
def shell(empty: Shell, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.delenv("MEMOREPAIR_EMBEDDER", raising=False)
    with Memory.open(empty.db) as memory:
        for n in range(12):
            memory.record(f"note {n} about {('tea', 'the cello', 'Lyon')[n % 3]}", id=f"n{n}", scope=SCOPE)
    return empty


def test_the_move_and_the_way_back(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (
        shell.told("vectors", "status")["spaces"][0] | {"rows": 12, "searched": True, "opened": True}
        == (shell.told("vectors", "status")["spaces"][0])
    )
    assert shell.told("vectors", "check") == []
    monkeypatch.setenv("MEMOREPAIR_EMBEDDER", "hashed:256")
    assert shell.told("vectors", "status", code=1)["lacking"] == 12
    (finding,) = shell.told("vectors", "check", "--all", code=1)
    assert finding["code"] == "embedding_other_dimension"
    before = shell.db.read_bytes()
    assert shell.told("vectors", "reembed", *WHO, "--dry-run")["case"] is None
    assert shell.db.read_bytes() == before
    assert "case" in shell.shown("vectors", "reembed", *WHO)
    status = shell.told("vectors", "status")
    assert (status["home"]["dimension"], status["lacking"], status["switch"]) == (256, 0, 1)
    assert "searched" in shell.shown("vectors", "status")
    monkeypatch.setenv("MEMOREPAIR_EMBEDDER", "hashed")
    error = shell.told("search", "tea", "--scope", "user/42", "--by", "vector", code=2)["error"]
    assert error["type"] == "OtherSpace"
    shell.told("undo", "1", *WHO)
    assert shell.told("search", "tea", "--scope", "user/42", "--by", "vector")


def test_the_drop(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMOREPAIR_EMBEDDER", "hashed:256")
    shell.told("vectors", "reembed", *WHO)
    name = ("vectors", "drop", "--model", "hashed-ngrams", *WHO)
    assert shell.told(*name, code=2)["error"]["message"].startswith("there are 2 spaces")
    assert "way back" in shell.told(*name, "--dimension", "384", code=2)["error"]["message"]
    assert "way back" in shell.told(*name, "--dimension", "384", "--dry-run", code=2)["error"]["message"]
    assert shell.told(*name, "--dimension", "384", "--dry-run", "--early")["vectors"] == 12
    assert "dropped 12" in shell.shown(*name, "--dimension", "384", "--early")
    assert shell.told(*name, "--dimension", "256", code=2)["error"]["message"].startswith("memories live")
    assert shell.told("undo", "1", *WHO, code=2)["error"]["type"] == "UndoRefused"


def test_names_that_are_none(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMOREPAIR_EMBEDDER", "word2vec")
    assert shell.told("vectors", "status", code=2)["error"]["type"] == "InvalidInput"
    monkeypatch.setenv("MEMOREPAIR_EMBEDDER", "none")
    assert "without an embedder" in shell.told("vectors", "reembed", *WHO, code=2)["error"]["message"]
