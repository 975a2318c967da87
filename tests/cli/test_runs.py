"""Runs on the command line: listed, shown, recovered as a dry run and in earnest, taken back."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memorepair.facade import Memory

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

WHY = ("--reason", "not hers")
FAULTY = ("--faulty", "u::home")
AGENT = ("--agent", "diner:agent")
PROGRAM = """
from memorepair.recovery import tool
from memorepair.repair.jsontext import parse

sent = []


@tool(effect="read")
def search(city):
    return {"Paris": "Chez Paul", "Lyon": "Le Bec"}[city]


@tool(effect="irreversible")
def mail(text):
    sent.append(text)
    return "sent"


def agent(run):
    home = run.read("u::home", id="home")
    city = run.claim(lambda: home.content.rpartition(" ")[2], uses=[home], id="city")
    found = run.call(search, plan=city, uses=[city], id="search", city=city.content)
    run.call(mail, plan=city, uses=[found], id="mail", text=parse(found.content))
    run.answer(lambda: parse(found.content), uses=[found], id="answer")


agent.tools = [search, mail]


def named(run):
    agent(run)


named.tools = {"search": search}
"""


@pytest.fixture
def lived(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    """A memory in which a run went wrong, its agent in a module."""
    (tmp_path / "diner.py").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "unwritten.py").write_text("def agent(run:", encoding="utf-8")
    (tmp_path / "broken.py").write_text("1 / 0", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    diner = importlib.import_module("diner")
    with Memory.open(shell.db, create=False) as memory:
        memory.record("home is Lyon", id="home", scope=("u",))
        memory.record("home is Paris", id="home", scope=("u",))
        with memory.run(task="dinner", scope=("u",), id="dinner") as run:
            diner.agent(run)
    yield shell
    del sys.modules["diner"]


def test_runs_are_listed_and_shown_without_content(lived: Shell) -> None:
    (listed,) = lived.told("run", "list")
    assert listed["key"] == "u/run:dinner::task"
    assert lived.told("run", "list", "--scope", "v") == []
    assert "dinner" in lived.shown("run", "list")
    told = lived.told("run", "show", "dinner")
    assert [one["key"].partition("::")[2] for one in told["steps"]] == [
        *("task", "home", "city", "search", "search.result", "mail", "mail.result", "answer")
    ]
    assert {one["effect"] for one in told["steps"]} == {None, "read", "irreversible"}
    shown = lived.shown("run", "show", "dinner")
    assert "memory_read" in shown
    assert "Paul" not in shown + str(told)
    assert lived.told("run", "show", "nobody", code=2)["error"]["type"] == "UnknownId"


@pytest.mark.parametrize("group", [("run", "recover"), ("recover",)])
def test_a_dry_run_shows_the_plan_and_changes_nothing(lived: Shell, group: tuple[str, ...]) -> None:
    with lived.unchanged():
        told = lived.told(*group, "dinner", *FAULTY, *WHY, "--dry-run")
        assert lived.told(
            *group, "dinner", *FAULTY, *WHY, "--same-origin", "u::home v::x", "--dry-run", code=2
        )
        assert "a dry run" in lived.shown(*group, "dinner", *FAULTY, *WHY, "--dry-run")
    assert (told["case"], told["verified"], told["irreversible"]) == (0, True, ["u/run:dinner::mail"])


def test_a_recovery_asks_for_approval_is_taken_up_and_taken_back(lived: Shell) -> None:
    error = lived.told("recover", "dinner", *FAULTY, *WHY, *AGENT, code=1)["error"]
    assert "case 1 is open" in str(error["notes"])
    assert (error["type"], error["witness"]) == (
        "ApprovalNeeded",
        '{"arguments":{"text":"Le Bec"},"tool":"mail"}',
    )
    assert lived.told("get", "u/run:dinner::answer", code=2)["error"]["type"] == "Withdrawn"
    told = lived.told("run", "replay", "1", "dinner", *AGENT, "--approve", error["witness"])
    assert (told["answer"], told["status"], told["left"]) == ("Le Bec", "closed", [])
    assert importlib.import_module("diner").sent == ["Chez Paul", "Le Bec"]
    lived.told("undo", "1", *WHY)
    assert lived.told("get", "u/run:dinner::answer")["content"] == "Chez Paul"


@pytest.mark.parametrize(
    ("more", "wrong"),
    [
        (("--agent", "nowhere:agent"), "nowhere:agent"),
        (("--agent", "diner:sent"), "diner:sent"),
        (("--agent", "unwritten:agent"), "SyntaxError"),
        (("--agent", "broken:agent"), "ZeroDivisionError"),
        (("--agent", "diner:named"), "a tool declares its effect"),
        (("--correct", "home"), "home"),
        (("--evidence", "some"), "some"),
    ],
)
def test_bad_input_is_told_and_changes_nothing(lived: Shell, more: tuple[str, ...], wrong: str) -> None:
    with lived.unchanged():
        error = lived.told("recover", "dinner", *FAULTY, *WHY, *more, code=2)["error"]
    assert wrong in str(error)
