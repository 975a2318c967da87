"""Bad input: one message, one witness, exit code 2, nothing changed."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memorepair.cli import app
from memorepair.facade import Memory

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

HOME, NOBODY = "user/42::home", "user/42::nobody"
WHY = ("--reason", "test")
COMMANDS = (
    ("status",),
    ("list",),
    ("get", HOME),
    ("search", "Paris"),
    ("history", HOME),
    ("explain", HOME),
    ("inspect", HOME, *WHY),
    ("delete", HOME, *WHY),
    ("correct", HOME, "--content", "x", *WHY),
    ("migrate", HOME, "--file", "-", *WHY),
    ("plan", "1"),
    ("repair", "1"),
    ("undo", "1", *WHY),
    ("erase", "1", *WHY),
    ("receipt", "1"),
    ("prune",),
    ("check",),
)


@pytest.mark.parametrize(
    ("command", "type", "witness"),
    [
        (("get", NOBODY), "UnknownId", NOBODY),
        (("history", NOBODY), "UnknownId", NOBODY),
        (("explain", NOBODY), "UnknownId", NOBODY),
        (("inspect", NOBODY, *WHY), "UnknownId", NOBODY),
        (("inspect", HOME, *WHY, "--version", "7"), "UnknownId", None),
        (("inspect", HOME, "--reason", " "), "InvalidInput", None),
        (("delete", NOBODY, *WHY), "UnknownId", NOBODY),
        (("delete", HOME, HOME, *WHY), "InvalidEvent", HOME),
        (("delete", HOME, "--reason", ""), "InvalidEvent", "reason"),
        (("delete", HOME, *WHY, "--actor", " "), "InvalidEvent", "actor"),
        (("correct", NOBODY, "--content", "x", *WHY), "UnknownId", NOBODY),
        (("correct", HOME, *WHY), "InvalidInput", HOME),
        (("correct", HOME, "--content", "x", "--file", "-", *WHY), "InvalidInput", HOME),
        (("correct", HOME, "--file", "/nowhere/at/all", *WHY), "InvalidFile", "/nowhere/at/all"),
        (("migrate", NOBODY, "--file", "-", *WHY), "UnknownId", NOBODY),
        (("plan", "7"), "UnknownId", 7),
        (("plan", "1", "--tradeoff", "-1"), "InvalidInstance", None),
        (("plan", "1", "--tradeoff", "nan"), "InvalidInstance", None),
        (("plan", "1", "--ties", "some"), "InvalidInput", "some"),
        (("repair", "7"), "UnknownId", 7),
        (("repair", "99999999999999999999999"), "UnknownId", 99999999999999999999999),
        (("undo", "99999999999999999999999", *WHY), "UnknownId", 99999999999999999999999),
        (("erase", "99999999999999999999999", *WHY), "UnknownId", 99999999999999999999999),
        (("receipt", "99999999999999999999999"), "UnknownId", 99999999999999999999999),
        (("undo", "7", *WHY), "UnknownId", 7),
        (("undo", "1", "--reason", " "), "InvalidInput", "reason"),
        (("erase", "7", *WHY), "UnknownId", 7),
        (("erase", "1", *WHY), "InvalidInput", 1),
        (("receipt", "7"), "UnknownId", 7),
        (("prune", "--older-than-days", "29"), "InvalidInput", 29.0),
        (("repair", "1", "--solver", "oracle"), "UnknownId", "oracle"),
        (("list", "--kind", "cash"), "InvalidInput", "cash"),
        (("list", "--state", "gone"), "InvalidInput", "gone"),
        (("list", "--scope", "user//42"), "InvalidInput", None),
        (("list", "--scope", "user:"), "InvalidInput", None),
        (("search", "x", "--scope", "user//42"), "InvalidInput", None),
        (("get", "user/42::"), "InvalidInput", ""),
        (("import", "tau-bench", "/nowhere/at/all"), "InvalidFile", None),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_bad_arguments(corrected: Shell, command: tuple[str, ...], type: str, witness: object) -> None:
    with corrected.unchanged():
        error = corrected.told(*command, code=2)["error"]
        assert error["type"] == type
        assert error["message"]
        assert witness is None or error["witness"] == witness
        out, told = corrected.run(*command, code=2)
        assert out == ""
        assert told.startswith("error: ")


@pytest.mark.parametrize(
    "command",
    [
        ("delete", *WHY),
        ("repair",),
        ("repair", "one"),
        ("repair", "1", "--wait", "-1"),
        ("list", "--limit", "0"),
        ("migrate", HOME, *WHY),
        ("unheard-of",),
        ("status", "--unheard-of"),
    ],
    ids=" ".join,
)
def test_usage_errors(shell: Shell, command: tuple[str, ...]) -> None:
    with shell.unchanged():
        out, told = shell.run(*command, "--json", code=2)
        assert out == ""
        assert "Usage" in told


def test_an_event_needs_an_actor(shell: Shell) -> None:
    done = shell.runner.invoke(app, ["delete", HOME, *WHY], env={"MEMOREPAIR_DB": str(shell.db)})
    assert done.exit_code == 2
    assert "--actor" in done.stderr


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_missing_file_is_not_made(empty: Shell, command: tuple[str, ...]) -> None:
    assert empty.told(*command, code=2)["error"]["type"] == "StoreError"
    assert not empty.db.exists()


@pytest.mark.parametrize(
    "command", [*COMMANDS, ("init",), ("import", "tau-bench", "/nowhere")], ids=lambda c: c[0]
)
@pytest.mark.parametrize("file", ["foreign", "text", "newer", "truncated"])
def test_a_file_that_cannot_be_used_stays_as_it_is(shell: Shell, command: tuple[str, ...], file: str) -> None:
    expected = spoil(shell.db, file)
    content = shell.db.read_bytes()
    for path in shell.db.parent.glob("agent.db-*"):
        path.unlink()
    command = (*command, str(shell.db)) if command == ("init",) else command
    assert shell.told(*command, code=2)["error"]["type"] in expected
    assert shell.db.read_bytes() == content


def spoil(path: Path, how: str) -> tuple[str, ...]:
    if how == "foreign":
        path.unlink()
        with sqlite3.connect(path) as other:
            other.execute("CREATE TABLE mine(x)")
        other.close()
        return ("ForeignStore",)
    if how == "text":
        path.write_text("not a database at all, but long enough to be looked at\n" * 40, encoding="utf-8")
        return ("ForeignStore", "CorruptStore")
    if how == "newer":
        with sqlite3.connect(path) as newer:
            newer.execute("PRAGMA user_version = 999")
        newer.close()
        return ("NewerSchema",)
    path.write_bytes(path.read_bytes()[:5_000])
    return ("CorruptStore", "ForeignStore")


def test_an_import_that_fails_makes_nothing(empty: Shell) -> None:
    folder = empty.db.parent / "folder"
    folder.mkdir()
    assert empty.told("import", "tau-bench", str(folder), code=2)["error"]["type"] == "InvalidFile"
    assert [one.name for one in empty.db.parent.iterdir()] == ["folder"]


def test_a_file_that_may_not_be_written_is_read(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)
    assert shell.told("get", HOME)["content"] == "She lives in Paris."
    assert shell.told("check") == {"sound": True, "faults": [], "skipped": ["index"]}
    assert "not compared" in shell.shown("check")
    assert "read-only" in shell.told("delete", HOME, *WHY, code=2)["error"]["message"]


def test_a_second_repair_is_refused(corrected: Shell) -> None:
    with corrected.unchanged(), Memory.open(corrected.db) as memory, memory.store.repairing(1):
        for command in (("repair", "1"), ("repair", "1", "--wait", "0.05"), ("undo", "1", *WHY)):
            assert corrected.told(*command, code=2)["error"]["type"] == "RepairInProgress"
    corrected.told("repair", "1")
