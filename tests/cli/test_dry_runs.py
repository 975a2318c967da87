"""A dry run refuses exactly what the real verb refuses, for the same reason, and changes nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
import typer

from memorepair.cli import app
from memorepair.facade import Memory
from memorepair.memory.artifact import Key, Slot
from memorepair.memory.repairlock import repair_lock

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

WHY = ("--reason", "test")
WHO: dict[str, Any] = {"actor": "tester", "reason": "test"}
HOME, PROFILE = "user/42::home", "user/42::profile"


def nothing(memory: Memory) -> None:
    """The memory as it is: case 1 has corrected home."""


def erased(memory: Memory) -> None:
    memory.erase(memory.delete("user/42::likes", **WHO), **WHO)


def undone(memory: Memory) -> None:
    memory.undo(1, **WHO)


def overtaken(memory: Memory) -> None:
    memory.record("She lives in Nantes.", id="home", scope=("user", "42"))


def tired(memory: Memory) -> None:
    """Three repairs have died."""
    for _ in range(3):
        memory.store.begin_repair(1, "digest")
    memory.store.recover()


def deleted(memory: Memory) -> None:
    memory.delete(memory.record("She sings.", id="song"), **WHO)


REFUSED: dict[str, tuple[tuple[str, ...], Callable[[Memory], None], str]] = {
    "delete unknown": (("delete", "nobody"), nothing, "UnknownId"),
    "delete erased": (("delete", "user/42::likes"), erased, "Withdrawn"),
    "delete erase and spare": (("delete", HOME, "--erase", "--evidence", "direct"), nothing, "InvalidEvent"),
    "delete suspected": (
        ("delete", HOME, "--suspected", "0.5", "--evidence", "direct"),
        nothing,
        "InvalidEvent",
    ),
    "correct unknown": (("correct", "nobody", "--content", "x"), nothing, "UnknownId"),
    "correct erased": (("correct", "user/42::likes", "--content", "x"), erased, "Withdrawn"),
    "correct without": (("correct", HOME), nothing, "InvalidInput"),
    "migrate rows": (("migrate", HOME, "--file", "-", "--rows", "none@1"), nothing, "UnknownId"),
    "repair unknown": (("repair", "9"), nothing, "UnknownId"),
    "repair undone": (("repair", "1"), undone, "InvalidInput"),
    "repair tired": (("repair", "1"), tired, "RepairsFailed"),
    "repair budget": (("repair", "1", "--budget", "-1"), nothing, "InvalidInput"),
    "repair solver": (("repair", "1", "--solver", "oracle"), nothing, "UnknownId"),
    "undo unknown": (("undo", "9"), nothing, "UnknownId"),
    "undo undone": (("undo", "1"), undone, "UndoRefused"),
    "undo overtaken": (("undo", "1"), overtaken, "UndoRefused"),
    "erase unknown": (("erase", "9"), nothing, "UnknownId"),
    "erase corrected": (("erase", "1"), nothing, "InvalidInput"),
    "prune early": (("prune", "--older-than-days", "1"), nothing, "InvalidInput"),
    "leave nothing": (("leave", ""), nothing, "InvalidInput"),
    "reembed keep": (("vectors", "reembed", "--keep", "1e9"), nothing, "InvalidInput"),
    "drop home": (("vectors", "drop", "--model", "hashed-ngrams"), nothing, "InvalidInput"),
    "audit unknown": (("audit-provenance", "--accept", "nothing"), nothing, "UnknownId"),
    "recover unknown": (("run", "recover", "r9", "--faulty", HOME), nothing, "UnknownId"),
    "approve unknown": (("review", "approve", "nothing"), nothing, "UnknownId"),
    "keep unknown": (("review", "keep", "nobody"), nothing, "UnknownId"),
    "keep twice": (("review", "keep", HOME, HOME), nothing, "InvalidInput"),
    "reject unknown": (("review", "reject", "nothing"), nothing, "UnknownId"),
    "patrol occasion": (("patrol", "--after", "rain"), nothing, "InvalidInput"),
    "checkup since": (("checkup", "--repair", "--confirm", "nothing"), nothing, "InvalidInput"),
}

UNSIGNED = ("repair", "patrol", "checkup", "prune")
ELSEWHERE = {("import", "jsonl"), ("recover",)}
"""Imports refuse by the file, before there is a difference; `recover` is the old name of `run recover`."""


def refusal(shell: Shell, *words: str) -> dict[str, Any]:
    error: dict[str, Any] = shell.told(*words, code=2)["error"]
    return error


@pytest.mark.parametrize("name", REFUSED)
def test_a_dry_run_refuses_what_the_verb_refuses(corrected: Shell, name: str) -> None:
    words, before, kind = REFUSED[name]
    with Memory.open(corrected.db) as memory:
        before(memory)
    signed = words if words[0] in UNSIGNED else (*words, *WHY)
    with corrected.unchanged():
        dry = refusal(corrected, *signed, "--dry-run")
        assert dry == refusal(corrected, *signed)
        assert dry["type"] == kind


@pytest.mark.parametrize(
    "words", [("repair", "1"), ("undo", "1", *WHY), ("erase", "1", *WHY)], ids=lambda words: words[0]
)
def test_a_dry_run_is_told_who_holds_the_store(corrected: Shell, words: tuple[str, ...]) -> None:
    with repair_lock(corrected.db, wait=0.0):
        assert refusal(corrected, *words, "--dry-run") == refusal(corrected, *words)
        assert refusal(corrected, *words)["type"] == "RepairInProgress"


@pytest.mark.parametrize(
    "words",
    [
        ("delete", HOME, *WHY),
        ("correct", HOME, "--content", "x", *WHY),
        ("migrate", HOME, "--file", "-", *WHY),
        ("repair", "1"),
        ("undo", "1", *WHY),
        ("erase", "2", *WHY),
        ("prune",),
        ("leave", "Atlas", *WHY),
        ("review", "approve", "nothing", *WHY),
        ("review", "reject", "nothing", *WHY),
        ("review", "keep", HOME, *WHY),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_a_dry_run_is_told_that_the_file_may_not_be_written(
    corrected: Shell, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory.open(corrected.db) as memory:
        deleted(memory)
        step = Slot(entity="release", attribute="step", value="1", scene="Atlas")
        memory.record("deploy step 1", slot=step)
    monkeypatch.setattr(os, "access", lambda place, mode: mode != os.W_OK)
    assert refusal(corrected, *words, "--dry-run") == refusal(corrected, *words)
    assert "read-only" in refusal(corrected, *words)["message"]


def _dry_commands() -> set[tuple[str, ...]]:
    group = typer.main.get_command(app)
    found: set[tuple[str, ...]] = set()
    unread: list[tuple[tuple[str, ...], Any]] = [((), group)]
    while unread:
        path, here = unread.pop()
        unread += [((*path, name), one) for name, one in getattr(here, "commands", {}).items()]
        if any("--dry-run" in getattr(one, "opts", ()) for one in here.params):
            found.add(path)
    return found


def test_every_command_with_a_dry_run_is_compared() -> None:
    compared = {words for words, _, _ in REFUSED.values()}
    for path in _dry_commands() - ELSEWHERE:
        if path[0] != "import":
            assert any(words[: len(path)] == path for words in compared), path


# what waits for a person ----------------------------------------------------------------------------

ADA, BOB = ("user", "ada"), ("user", "bob")


@pytest.fixture
def leaking(empty: Shell) -> Shell:
    """Something made from what is Ada's lies with Bob, and waits to be moved."""
    with Memory.open(empty.db) as memory:
        for n in range(6):
            memory.record(f"Ada's note {n}", id=f"a{n}", scope=ADA, metadata={"user_id": "ada"})
            memory.record(f"Bob's remark {n}", id=f"b{n}", scope=BOB, metadata={"user_id": "bob"})
        with memory.deriving(kind="summary", operator="summarise", scope=BOB) as d:
            d.write("Ada is allergic. " + d.read("user/ada::a0").content, id="secret")
        memory.checkup(repair=True)
    return empty


def buried(memory: Memory) -> None:
    said = memory.inspect("user/bob::secret", **WHO).content
    memory.delete(memory.record(said, id="gone", scope=ADA), **WHO)


def parent_gone(memory: Memory) -> None:
    memory.repair(memory.delete("user/ada::a0", **WHO))


def declared_on(memory: Memory) -> None:
    memory.repair(memory.delete("user/bob::secret", **WHO))


MOVES: list[tuple[str, str, Callable[[Memory], None], str]] = [
    ("approve", "user/bob", nothing, "InvalidInput"),
    ("approve", "user/eve", nothing, "InvalidInput"),
    ("approve", "user//ada", nothing, "InvalidInput"),
    ("approve", "user/ada", buried, "Tombstoned"),
    ("approve", "user/ada", parent_gone, "InvalidInput"),
    ("approve", "user/ada", declared_on, "StaleRead"),
    ("reject", "", declared_on, "UndoRefused"),
]


@pytest.mark.parametrize(("verb", "move", "before", "kind"), MOVES)
def test_a_dry_review_refuses_what_the_review_refuses(
    leaking: Shell, verb: str, move: str, before: Callable[[Memory], None], kind: str
) -> None:
    with Memory.open(leaking.db) as memory:
        before(memory)
        (item,) = [one for one in memory.housekeeper().desk.waiting() if one.remedy == "scope"]
    words = ["review", verb, item.id, *(("--move", move) if move else ()), *WHY]
    with leaking.unchanged():
        dry = refusal(leaking, *words, "--dry-run")
    real = refusal(leaking, *words)
    assert dry == real
    assert dry["type"] == kind


def test_a_move_that_would_act_is_not_refused_and_not_made(leaking: Shell) -> None:
    with Memory.open(leaking.db) as memory:
        (item,) = [one for one in memory.housekeeper().desk.waiting() if one.remedy == "scope"]
    words = ("review", "approve", item.id, "--move", "user/ada", *WHY)
    with leaking.unchanged():
        leaking.told(*words, "--dry-run")
        with Memory.open(leaking.db) as memory:
            assert memory.store.epoch() == memory.store.journal(1)[0].seq
            assert Key(ADA, "secret") not in memory.store.snapshot().current
    assert leaking.told(*words)["done"]
    with Memory.open(leaking.db) as memory:
        assert memory.get("user/ada::secret").content.startswith("Ada is allergic")
