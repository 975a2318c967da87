"""The worked case: an import without scenes, duplicates, contradictions, vectors of two normalisations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import memorepair as mr
from memorepair.demo.checkup import main
from memorepair.governance import Policy
from memorepair.health import Expected
from memorepair.health.finding import Damage
from memorepair.housekeeping import Keeping
from memorepair.ledger import to_html, to_markdown
from memorepair.memory.artifact import Draft, Embedding, Key, Slot, State
from memorepair.repair.ports import Grade, Remedy

if TYPE_CHECKING:
    from tests.conftest import Clock

U = ("user", "42")
FACTS = (
    "The router stands in the hall cupboard",
    "The spare key hangs behind the green door",
    "The dentist has moved to Harbour Street",
    "The bicycle lock opens with a brass key",
    "The winter tyres are stored in the cellar",
    "The piano is tuned every second spring",
)
BEFORE, AFTER = {"retrieval P95 ms": 400.0}, {"retrieval P95 ms": 90.0}


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[mr.Memory]:
    clock.tick = 10**9
    with mr.Memory.open(tmp_path / "agent.db", clock=clock) as opened:
        for place, fact in enumerate(FACTS):
            for copy, text in enumerate((fact, f" {fact.upper()}", f"{fact}  ")):
                opened.record(text, id=f"fact-{place}-{copy}", scope=U, metadata={"scene": "home"})
        for place in range(10):
            who = f"guest {place}"
            for id, likes in (("old", True), ("new", False)):
                slot = Slot(entity=who, attribute="likes", value="coriander", polarity=likes)
                said = f"{who} {'likes' if likes else 'hates'} coriander"
                opened.record(said, id=f"{id}-{place}", scope=U, slot=slot, metadata={"scene": "home"})
        for id, motto in (("motto-a", "carpe diem"), ("motto-b", "festina lente")):
            slot = Slot(entity="guest 3", attribute="motto", value=motto)
            opened.record(f"guest 3 says {motto}", id=id, scope=U, slot=slot, metadata={"scene": "home"})
        opened.ingest(
            [
                Draft(key=Key(U, f"import-{n}"), content=f"Imported note {n * 7919} of the {n} shelf")
                for n in range(5)
            ]
        )
        yield opened


def test_the_worked_case(memory: mr.Memory) -> None:
    for n in range(12):  # a partial upgrade: the same model, another normalisation
        vector = tuple(3.0 if place == n else 0.0 for place in range(384))
        given = Embedding(vector=vector, model="hashed-ngrams", revision="1", normalised=True)
        memory.record(
            f"Upgraded note number {n * 104729}",
            id=f"vector-{n}",
            scope=U,
            embedding=given,
            metadata={"scene": "work"},
        )
    expected = Expected(schemas={"record": {"type": "object", "required": ["scene"]}})
    keeper = memory.housekeeper(Keeping(expected=expected, policy=Policy(confirmed=frozenset(Remedy))))
    report = keeper.run(figures=BEFORE, measure=lambda: AFTER)
    found = report.checkup.counts()
    bare = [one for one in report.checkup.findings if one.code == "metadata_schema"]
    assert {key.id for one in bare for key in one.keys} == {f"import-{n}" for n in range(5)}
    assert report.diagnosis.causes["metadata_schema"].what == "import batch"
    undecided = [one for one in report.checkup.findings if one.code == "conflict_undecided"]
    assert [[key.id for key in one.keys] for one in undecided] == [["motto-a", "motto-b"]]
    assert found[Damage.DUPLICATES] == 6
    assert found[Damage.CONFLICTS] >= 10
    assert found[Damage.DRIFT] == 12
    done = {one.proposal.remedy: one for one in report.outcomes if one.done}
    assert done[Remedy.MERGE].grade is Grade.CONFIRMED
    assert done[Remedy.SETTLE].grade is Grade.CONFIRMED
    assert Remedy.REEMBED not in done  # twelve at once are for a person
    waiting = {item.remedy: item for item in keeper.desk.waiting()}
    assert waiting[Remedy.REEMBED].grade is Grade.APPROVED
    assert {key.id for key in waiting[Remedy.REVIEW].keys} == {"motto-a", "motto-b"}
    flagged = {memory.get(Key(U, id)).state for id in ("motto-a", "motto-b")}
    assert flagged == {State.PENDING_REVIEW}  # a person decides; until then both are served

    again = memory.housekeeper(Keeping(policy=Policy(confirmed=frozenset(Remedy))))
    outcome = again.approve(waiting[Remedy.REEMBED].id, actor="ada", reason="the upgrade")
    assert outcome.done
    after = again.look()
    assert after.counts().get(Damage.DUPLICATES, 0) == 0
    assert after.counts().get(Damage.DRIFT, 0) == 0

    served = [one.key for one in memory.list(state=State.ACTIVE)]
    assert sum(key.id.startswith("fact-") for key in served) == 6
    assert {key.id for key in served if key.id.startswith(("old-", "new-"))} == {
        f"new-{n}" for n in range(10)
    }
    for key in served[:20]:  # what was repaired is complete
        assert memory.get(key).content
    record = report.record
    assert record is not None
    assert (record.before["retrieval P95 ms"], record.after["retrieval P95 ms"]) == (400.0, 90.0)
    assert record.before["duplicate share"] > 0.1 > record.after["duplicate share"]
    assert "retrieval P95 ms" in to_markdown(record)
    page = to_html(record)
    assert "<svg" in page
    assert "<script" not in page
    assert memory.store.check() == []


def test_everything_the_story_did_is_taken_back(memory: mr.Memory) -> None:
    before = {key: memory.get(key).content for key in (one.key for one in memory.list())}
    memory.housekeeper(Keeping(policy=Policy(confirmed=frozenset(Remedy)))).run()
    for case in reversed(memory.store.cases()):
        memory.undo(case, actor="ada", reason="back")
    assert {key: memory.get(key).content for key in before} == before
    assert memory.store.check() == []


def test_the_demo_shows_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    assert main([str(page)]) == 0
    assert "18 that say the same become 6" in capsys.readouterr().out
    assert "<svg" in page.read_text(encoding="utf-8")
