"""Commands that declare events: a case, the barrier, and with --dry-run nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memorepair.facade import Memory

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

HOME, PROFILE = "user/42::home", "user/42::profile"
WHY = ("--reason", "test")


def test_delete_withdraws_the_cascade(shell: Shell) -> None:
    told = shell.told("delete", HOME, *WHY)
    assert (told["id"], told["event"], told["withdrawn"], told["actor"]) == (1, "delete", 3, "tester")
    assert "Withdrawn" in shell.told("get", HOME, code=2)["error"]["type"]
    shell.told("get", PROFILE, code=2)


def test_delete_takes_several_roots(shell: Shell) -> None:
    assert "case 1: 4 artifacts withdrawn" in shell.shown("delete", HOME, "user/42::likes", *WHY)


def test_correct_serves_the_replacement_at_once(shell: Shell, tmp_path: Path) -> None:
    assert "case 1" in shell.shown("correct", HOME, "--content", "She lives in Lyon.", *WHY)
    assert shell.told("get", HOME)["content"] == "She lives in Lyon."
    fresh = tmp_path / "fresh.txt"
    fresh.write_text("She lives in Lille.", encoding="utf-8")
    assert shell.told("correct", HOME, "--file", str(fresh), *WHY)["id"] == 2
    shell.run("correct", HOME, "--file", "-", *WHY, input="She lives in Nantes.")
    assert shell.told("get", HOME)["content"] == "She lives in Nantes."


def test_migrate_supersedes_an_interface(shell: Shell, tmp_path: Path) -> None:
    new = tmp_path / "new.json"
    new.write_text('{"tools": {}}', encoding="utf-8")
    told = shell.told("migrate", HOME, "--file", str(new), "--to", "user/42::home@2", *WHY)
    assert (told["event"], told["withdrawn"]) == ("migrate", 3)
    assert shell.told("get", "user/42::home@2")["content"] == '{"tools": {}}'
    shell.told("get", HOME, code=2)
    assert "case 2" in shell.shown("migrate", "user/42::home@2", "--file", str(new), *WHY)


@pytest.mark.parametrize(
    "command",
    [("delete", HOME), ("correct", HOME, "--content", "x"), ("migrate", HOME, "--file", "-")],
    ids=lambda command: command[0],
)
def test_a_dry_run_counts_and_changes_nothing(shell: Shell, command: tuple[str, ...]) -> None:
    with shell.unchanged():
        told = shell.told(*command, *WHY, "--dry-run")
        assert (told["id"], told["withdrawn"]) == (0, 3)
        assert told["keys"] == [HOME, PROFILE, "user/42::greeting"]
        shown = shell.shown(*command, *WHY, "--dry-run")
        assert "would withdraw 3" in shown
        assert PROFILE in shown
    assert shell.told(*command, *WHY)["keys"] is None


def test_a_dry_run_names_what_is_served_alone_and_in_a_table_the_first(shell: Shell) -> None:
    with Memory.open(shell.db) as memory:
        for n in range(30):
            with memory.deriving(kind="summary", operator="summarise") as d:
                d.write(d.read(HOME).content + str(n), id=f"note-{n:02}")
        memory.delete("note-00", reason="r", actor="a")
    told = shell.told("delete", HOME, *WHY, "--dry-run")
    assert told["withdrawn"] == len(told["keys"]) == 32
    assert "note-00" not in told["keys"]
    shown = shell.shown("delete", HOME, *WHY, "--dry-run")
    assert "note-01" in shown
    assert "note-29" not in shown
    assert "and 12 more; --json lists all" in shown


def test_evidence_spares_what_other_support_carries(empty: Shell) -> None:
    with Memory.open(empty.db) as memory:
        for id in ("page", "friend"):
            memory.record(f"{id}: it closes at six", id=id)
        with memory.deriving(kind="summary", operator="summarise") as d:
            d.read("page")
            d.read("friend")
            d.write("It closes at six.", id="hours", uses=[["page"], ["friend"]])
    given = ("delete", "page", "--reason", "hacked")
    assert empty.told(*given, "--dry-run")["withdrawn"] == 2
    one = empty.told(*given, "--evidence", "direct", "--same-origin", "page friend", "--dry-run")
    assert (one["withdrawn"], one["spared"]) == (2, 0)
    assert "1 spared by evidence" in empty.shown(*given, "--evidence", "grounded")
    told = empty.told("repair", "1")
    assert told["spared"] == [{"key": "hours", "stands_on": ["friend"]}]
    assert "spared by evidence" in empty.shown("repair", "1")
    with empty.unchanged():
        assert empty.told(*given, "--evidence", "some", code=2)["error"]["witness"] == "some"
