"""checkup, record, metrics, review, patrol, drill: tables beside JSON, dry runs that change nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memorepair.facade import Memory

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

EVIL = "\x1b[2J\u202e [red]<script>x</script>"
WHY = ("--reason", "seen")


@pytest.fixture
def doubled(empty: Shell) -> Shell:
    """One fact three times, of an import whose name would clear the screen and colour what follows."""
    with Memory.open(empty.db) as memory:
        for n, text in enumerate(("The key hangs here", " the KEY hangs here", "The key  hangs here")):
            memory.record(text, id=f"key{n}", scope=("user", "1"), metadata={"batch": EVIL})
        for n in range(12):
            memory.record(f"Parcel {n * 7919} is in rack {n * 104729}", id=f"p{n}", scope=("user", "1"))
    return empty


def test_a_check_up_tells_and_keeps_a_record(doubled: Shell) -> None:
    with doubled.unchanged():
        dry = doubled.told("checkup", "--repair", "--dry-run", code=1)
        assert dry["record"] is None
        shown = doubled.shown("checkup", "--dry-run", code=1)
    assert "duplicate_exact" in shown
    assert "[red]" in shown  # told as it is, not acted on
    told = doubled.told("checkup", "--repair", code=1)
    assert told["record"]["found"] == {"duplicates": {"duplicate_exact": 1}}
    assert told["record"]["share"]["waiting"] == 1
    assert doubled.told("record")["id"] == told["record"]["id"]
    assert "# " in doubled.shown("record")
    assert doubled.told("metrics")['memorepair_findings{damage="duplicates"}'] == 1
    newest = told["checkup"]["newest"]
    assert doubled.told("checkup", "--since", str(newest))["checkup"]["findings"] == []


def test_a_page_of_a_record_has_no_markup_of_others(doubled: Shell) -> None:
    doubled.run("checkup", "--repair", "--confirm", "all", code=1)
    page = doubled.db.with_name("page.html")
    doubled.run("record", "--html", str(page))
    text = page.read_text(encoding="utf-8")
    assert "<script" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_what_waits_is_listed_shown_approved_and_rejected(doubled: Shell) -> None:
    doubled.run("checkup", "--repair", code=1)
    (item,) = doubled.told("review", "list", code=1)
    assert item["id"] in doubled.shown("review", "list", code=1)
    assert doubled.told("review", "show", item["id"][:6]) == item
    assert "undo the case" in doubled.shown("review", "show", item["id"])
    with doubled.unchanged():
        for verb in ("approve", "reject"):
            doubled.told("review", verb, item["id"], *WHY, "--dry-run")
    assert doubled.told("review", "list", code=1) == [item]
    assert doubled.told("review", "approve", item["id"], *WHY)["done"]
    assert doubled.told("review", "list") == []
    for verb in ("approve", "reject"):
        error = doubled.told("review", verb, item["id"], *WHY, code=2)["error"]
        assert error["type"] == "InvalidInput"
    assert doubled.told("review", "show", "nothing", code=2)["error"]["type"] == "UnknownId"


def test_a_rejected_item_is_over(doubled: Shell) -> None:
    doubled.run("checkup", "--repair", code=1)
    (item,) = doubled.told("review", "list", code=1)
    assert doubled.told("review", "reject", item["id"], *WHY)["status"] == "rejected"
    doubled.run("checkup", "--repair")  # what a person has decided about is no finding any more
    assert doubled.told("review", "list") == []


def test_a_dry_patrol_says_what_is_due(doubled: Shell) -> None:
    with doubled.unchanged():
        told = doubled.told("patrol", "--confirm", "merge", "--dry-run", code=1)
    assert {"structure whole", "duplicates whole", "staleness"} <= set(told["checks"])
    assert told["report"]["record"] is None
    assert not any(one["done"] for one in told["report"]["outcomes"])
    assert doubled.told("patrol", "--dry-run", "--every", "5", code=2)["error"]["type"] == "InvalidInput"


def test_a_drill_has_the_embedder_of_the_environment(doubled: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMOREPAIR_EMBEDDER", "no such")
    assert doubled.told("drill", code=2)["error"]["type"] == "InvalidInput"


def test_a_patrol_makes_what_is_due_and_ends(doubled: Shell) -> None:
    told = doubled.told("patrol", "--confirm", "merge", code=1)
    assert {"structure whole", "duplicates whole", "staleness"} <= set(told["checks"])
    assert any(one["done"] for one in told["report"]["outcomes"])
    assert doubled.told("patrol")["report"] is None
    assert "checks:" in doubled.shown("patrol", "--after", "import")
    assert doubled.told("patrol", "--after", "flood", code=2)["error"]["type"] == "InvalidInput"


def test_a_drill_leaves_the_memory_as_it_is(doubled: Shell) -> None:
    with doubled.unchanged():
        told = doubled.told("drill", "--rate", "0.1", "--times", "2")
        assert len(told["drills"]) == 2
        assert "recommended" in told
    assert set(told["drills"][0]["drill"]) == {
        "duplicates", "conflicts", "stale", "structure", "drift", "scope",
    }  # fmt: skip


def test_unknown_confirmations_are_refused(doubled: Shell) -> None:
    assert doubled.told("checkup", "--confirm", "scope", code=2)["error"]["type"] == "InvalidInput"
