"""undo, erase, receipt, prune: what they do and say, and that --dry-run changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

HOME, PROFILE, GREETING = "user/42::home", "user/42::profile", "user/42::greeting"
WHY = ("--reason", "test")


def test_undo_serves_again_what_was_withdrawn(corrected: Shell) -> None:
    with corrected.unchanged():
        dry = corrected.told("undo", "1", *WHY, "--dry-run")
        assert "would be undone" in corrected.shown("undo", "1", *WHY, "--dry-run")
    corrected.told("repair", "1")
    told = corrected.told("undo", "1", *WHY)
    assert set(told["restored"]) == set(dry["restored"]) >= {HOME, PROFILE, GREETING}
    assert {version for _, version in told["retired"]} == {2}
    assert told["case"]["status"] == "undone"
    assert corrected.told("get", HOME)["content"] == "She lives in Paris."
    assert corrected.told("status")["open_cases"] == []
    assert corrected.told("undo", "1", *WHY, code=2)["error"]["type"] == "UndoRefused"


def test_undo_shows_what_it_did(corrected: Shell) -> None:
    shown = corrected.shown("undo", "1", *WHY)
    assert PROFILE in shown
    assert "version 2 retired" in shown


def test_undo_names_what_stands_in_its_way(corrected: Shell) -> None:
    corrected.told("delete", HOME, *WHY)
    with corrected.unchanged():
        error = corrected.told("undo", "1", *WHY, code=2)["error"]
    assert (error["type"], error["witness"]) == ("UndoRefused", [GREETING, 2])


def test_a_deletion_erases_when_it_is_repaired(shell: Shell) -> None:
    assert shell.told("delete", HOME, *WHY, "--erase")["erasure"] == "asked"
    assert shell.told("receipt", "1", code=1) is None
    assert "erased nothing" in shell.shown("receipt", "1", code=1)
    told = shell.told("repair", "1")
    assert (told["erasure"], told["erased"]) == ("done", 3)
    receipt = shell.told("receipt", "1")
    assert [one["key"] for one in receipt["versions"]] == [GREETING, HOME, PROFILE]
    assert "Paris" not in str(receipt)
    assert "erasure done" in shell.shown("receipt", "1")
    assert shell.told("inspect", HOME, *WHY, code=2)["error"]["type"] == "Withdrawn"
    assert shell.told("check")["sound"]


def test_erase_does_it_at_once(shell: Shell) -> None:
    shell.told("delete", HOME, *WHY)
    assert "erasure done" in shell.shown("erase", "1", *WHY)
    assert len(shell.told("erase", "1", *WHY)["versions"]) == 3
    assert b"She lives in Paris" not in shell.db.read_bytes()


def test_a_dry_erasure_tells_what_would_go(shell: Shell) -> None:
    shell.told("delete", HOME, *WHY)
    with shell.unchanged():
        dry = shell.told("erase", "1", *WHY, "--dry-run")
        shown = shell.shown("erase", "1", *WHY, "--dry-run")
    assert (dry["status"], dry["entry"], dry["seal"]) == ("asked", 0, "")
    assert "would erase 3 versions of 3 artifacts; nothing was changed" in shown
    assert PROFILE in shown
    assert "Paris" in shell.told("inspect", HOME, *WHY)["content"]
    assert shell.told("check")["sound"]
    told = shell.told("erase", "1", *WHY)
    assert told["versions"] == dry["versions"]
    assert shell.told("erase", "1", *WHY, "--dry-run") == told


def test_repair_says_what_was_erased(shell: Shell) -> None:
    shell.told("delete", HOME, *WHY, "--erase")
    assert "erased 3 versions: done" in shell.shown("repair", "1", "--retry")


def test_prune_finds_nothing_young(corrected: Shell) -> None:
    with corrected.unchanged():
        assert corrected.told("prune", "--dry-run") == {"versions": [], "size": 0, "clean": False}
        assert "pruned 0 versions, 0 characters" in corrected.shown("prune", "--older-than-days", "31")
