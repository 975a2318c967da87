"""Reading commands: what they show, and that withdrawn content is never among it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

HOME, LIKES, PROFILE = "user/42::home", "user/42::likes", "user/42::profile"


def test_status_counts_and_is_clean(shell: Shell) -> None:
    told = shell.told("status")
    assert {(one["state"], one["kind"]): one["count"] for one in told["artifacts"]} == {
        ("active", "record"): 2,
        ("active", "summary"): 1,
        ("active", "skill"): 1,
    }
    assert told["open_cases"] == []
    assert "summary" in shell.shown("status")


def test_status_has_a_problem_while_a_case_is_open(corrected: Shell) -> None:
    assert [case["id"] for case in corrected.told("status", code=1)["open_cases"]] == [1]
    assert "moved" in corrected.shown("status", code=1)


def test_list_narrows(shell: Shell) -> None:
    assert [one["key"] for one in shell.told("list")] == [
        "user/42::greeting",
        HOME,
        LIKES,
        PROFILE,
    ]
    assert [one["key"] for one in shell.told("list", "--kind", "summary")] == [PROFILE]
    assert len(shell.told("list", "--scope", "user/42", "--limit", "2")) == 2
    assert shell.told("list", "--scope", "user/43") == []
    assert shell.told("list", "--state", "withdrawn") == []
    assert PROFILE in shell.shown("list")


def test_get_gives_the_served_version(shell: Shell) -> None:
    told = shell.told("get", HOME)
    assert (told["key"], told["content"], told["version"]) == (HOME, "She lives in Paris.", 1)
    assert "She lives in Paris." in shell.shown("get", HOME)


def test_stored_markup_and_escapes_are_shown_as_text(shell: Shell) -> None:
    for command in (("get", LIKES), ("search", "walks", "--scope", "user/42"), ("history", LIKES)):
        assert "[red]She[/red] likes \\x1b[2Jlong walks\\u202e." in shell.shown(*command)


def test_search_stays_in_its_scope(shell: Shell) -> None:
    assert [
        hit["artifact"]["key"] for hit in shell.told("search", "Paris", "--scope", "user/42", "--limit", "1")
    ]
    assert len(shell.told("search", "Paris", "--scope", "user/42")) == 3
    assert shell.told("search", "Paris") == []
    assert "0 found" in shell.shown("search", "Paris", "--scope", "user")


def test_search_by_vector_and_over_scopes(shell: Shell) -> None:
    told = shell.told("search", "a Parisian", "--scope", "user/42", "--by", "vector", "--limit", "1")
    assert [hit["artifact"]["key"] for hit in told] == [HOME]
    assert 0 < told[0]["score"] < 1
    assert len(shell.told("search", "Paris", "--scope", "user/43", "--also", "user/42", "--also", "")) == 3
    assert "text, vector" in shell.told("search", "x", "--by", "smell", code=2)["error"]["message"]


def test_history_explain(shell: Shell) -> None:
    assert [one["content"] for one in shell.told("history", HOME)] == ["She lives in Paris."]
    told = shell.told("explain", PROFILE)
    assert [one["key"] for one in told["parents"]] == [HOME, LIKES]
    assert [one["key"] for one in told["children"]] == ["user/42::greeting"]
    assert "served" in shell.shown("explain", PROFILE)


@pytest.mark.parametrize(
    "command",
    [
        ("status",),
        ("list",),
        ("search", "Paris", "--scope", "user/42"),
        ("search", "Paris", "--scope", "user/42", "--by", "vector"),
        ("history", PROFILE),
        ("history", HOME),
        ("explain", PROFILE),
        ("explain", HOME),
        ("plan", "1"),
        ("check",),
    ],
    ids=" ".join,
)
def test_no_command_shows_withdrawn_content(corrected: Shell, command: tuple[str, ...]) -> None:
    code = 1 if command == ("status",) else 0
    assert "Paris" not in corrected.shown(*command, code=code).replace(" ".join(command), "")
    out, err = corrected.run(*command, "--json", code=code)
    assert "Paris" not in out + err


def test_get_of_what_is_withdrawn_is_refused(corrected: Shell) -> None:
    told = corrected.told("get", PROFILE, code=2)["error"]
    assert (told["type"], told["witness"]) == ("Withdrawn", PROFILE)
    assert corrected.told("explain", PROFILE)["case"]["id"] == 1


def test_inspect_shows_withdrawn_content_and_is_journalled(corrected: Shell) -> None:
    before = corrected.snapshot().epoch
    assert "Paris" in corrected.told("inspect", PROFILE, "--reason", "review")["content"]
    assert "Paris" in corrected.shown("inspect", PROFILE, "--reason", "review", "--actor", "ada")
    told = corrected.told("inspect", HOME, "--reason", "review", "--version", "1")
    assert told["content"] == "She lives in Paris."
    assert corrected.snapshot().epoch == before + 3


def test_check(shell: Shell) -> None:
    assert shell.told("check") == {"sound": True, "faults": [], "skipped": []}
    assert "is sound" in shell.shown("check")
