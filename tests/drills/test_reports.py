"""What users of other memory systems report, as laws here; more of them stand in the rooms they are about."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

import memorepair as mr
from memorepair.cli import app
from memorepair.errors import Tombstoned, UnknownId, Withdrawn
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import CaseStatus, Draft, Json, Key, Read, Recipe, State
from memorepair.memory.points import watched
from memorepair.memory.vectors import HashedNgrams
from memorepair.repair.operators.operator import Call
from memorepair.repair.operators.regen import Generated, Request
from memorepair.repair.report import Fate

SCOPE = ("s",)
DELETER = """
import sys
import memorepair as mr
with mr.Memory.open(sys.argv[1]) as memory:
    memory.delete(sys.argv[2], actor="x", reason="r")
"""


def key(id: str) -> Key:
    return Key(SCOPE, id)


def summary(id: str, content: str, *reads: str) -> Draft:
    return Draft(
        key=key(id), content=content, kind=Kind.SUMMARY, reads=tuple(Read(key=key(r)) for r in reads)
    )


RECORDS = (Draft(key=key("a"), content="Anna likes tea."), Draft(key=key("b"), content="Boris rows at dawn."))
WORLD = (
    *RECORDS,
    summary("both", "Anna likes tea. Boris rows at dawn.", "a", "b"),
    summary("claim", "Tea is liked by Anna.", "a"),
    summary("pattern", "Anna is one for tea.", "claim"),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with mr.Memory.open(tmp_path / "m.db") as memory:
        memory.ingest(WORLD)
    return tmp_path / "m.db"


def served(memory: mr.Memory) -> set[str]:
    return {one.key.id for one in memory.list() if one.state is State.ACTIVE}


def fates(report: mr.RepairReport) -> dict[str, Fate]:
    return {member.key.id: member.fate for member in report.members}


def test_a_deletion_in_a_fresh_process_is_there_for_those_who_had_the_file_open(path: Path) -> None:
    with mr.Memory.open(path) as memory:
        for id in ("a", "both", "claim", "pattern"):
            memory.get(key(id))  # whatever could be warm is warm
        subprocess.run([sys.executable, "-c", DELETER, str(path), str(key("a"))], check=True)
        assert served(memory) == {"b"}
        for id in ("a", "both", "claim", "pattern"):  # two hops: record, claim, pattern
            with pytest.raises(Withdrawn):
                memory.get(key(id))
        assert memory.search("tea", scope=SCOPE) == []


def test_a_summary_of_two_records_tells_of_one_after_the_other_is_deleted(path: Path) -> None:
    with mr.Memory.open(path) as memory:
        case = memory.delete(key("a"), actor="x", reason="r", erase=True)
        memory.repair(case, tradeoff=0.0)
        assert memory.get(key("both")).content == "Boris rows at dawn."
    with mr.Memory.open(path) as memory:
        assert memory.get(key("both")).content == "Boris rows at dawn."
        assert {hit.artifact.key.id for hit in memory.search("dawn", scope=SCOPE)} == {"b", "both"}
        assert memory.search("tea", scope=SCOPE) == []


def test_the_same_deletion_has_the_same_cascade_through_every_way_in(path: Path, tmp_path: Path) -> None:
    cli, store, exported = (tmp_path / name for name in ("cli.db", "store.db", "out.jsonl"))
    for copy in (cli, store):
        with mr.Memory.open(copy) as memory:
            memory.ingest(WORLD)
    ways: list[set[str]] = []
    carried = tmp_path / "carried.db"
    for file, *command in (
        (path, "export", "jsonl", str(exported)),
        (carried, "import", "jsonl", str(exported)),
        (cli, "delete", str(key("a")), "--reason", "r"),
    ):
        environment = {"MEMOREPAIR_ACTOR": "x", "MEMOREPAIR_DB": str(file)}
        done = CliRunner().invoke(app, list(map(str, command)), env=environment)
        assert done.exit_code == 0, done.output
    for file in (path, carried):
        with mr.Memory.open(file) as memory:
            memory.delete(key("a"), actor="x", reason="r")
    with mr.Memory.open(store) as memory:
        memory.store.open_case(event="delete", roots=[key("a")], actor="x", reason="r")
    for file in (path, carried, cli, store):
        with mr.Memory.open(file) as memory:
            ways.append({member.key.id for member in memory.store.members(1)})
            assert served(memory) == {"b"}
    assert ways == [{"a", "both", "claim", "pattern"}] * 4


class Broken:
    """An embedder that fails when it is told to: a second back end behind the store."""

    model, revision, dimension, normalised = "broken", "1", 8, False
    fails = False

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.fails:
            raise ConnectionError("the vectors' service is away")
        return np.ones((len(texts), self.dimension), np.float32)


def test_a_second_back_end_that_fails_keeps_the_barrier_up_and_is_made_up_for(tmp_path: Path) -> None:
    broken = Broken()
    with mr.Memory.open(tmp_path / "m.db", embedder=broken) as memory:
        memory.ingest(WORLD)
        case = memory.delete(key("a"), actor="x", reason="r", erase=True)
        broken.fails = True
        assert served(memory) == {"b"}
        memory.repair(case, tradeoff=0.0)
        assert served(memory) == {"b", "both"}
        assert memory.get(key("both")).content == "Boris rows at dawn."
        broken.fails = False
        before = {hit.artifact.key.id for hit in memory.search("Anna", scope=SCOPE, by="vector")}
        assert before == {"b"}  # what left has no vector either; what came has none yet
        memory.reembed(actor="x", reason="the service is back")
        after = {hit.artifact.key.id for hit in memory.search("Anna", scope=SCOPE, by="vector")}
        assert after == {"b", "both"}
        assert memory.store.check() == []


def test_deleting_what_is_not_there_is_an_error_that_changes_nothing(path: Path) -> None:
    with mr.Memory.open(path) as memory:
        before = memory.store.snapshot()
        with pytest.raises(UnknownId):
            memory.delete([key("a"), key("nobody")], actor="x", reason="r")
        assert memory.store.snapshot() == before


@mr.operator(name="length")
def length(call: Call) -> str:
    return str(len(call.inputs))


@mr.operator(name="follow")
def follow(call: Call) -> str:
    return "followed " + " ".join(source.content for source in call.inputs)


def test_a_parent_that_vanished_is_a_change_though_the_others_are_older(tmp_path: Path) -> None:
    with mr.Memory.open(tmp_path / "m.db", operators=[length, follow]) as memory:
        memory.ingest(RECORDS)
        memory.ingest(
            [
                Draft(
                    key=key("of both"),
                    content="unlike what its operator says",
                    kind=Kind.SUMMARY,
                    reads=(Read(key=key("a")), Read(key=key("b"))),
                ),
                Draft(
                    key=key("above"),
                    content="followed",
                    kind=Kind.CACHE,
                    recipe=Recipe(operator="follow"),
                    reads=(Read(key=key("of both")),),
                ),
            ]
        )
        case = memory.delete(key("a"), actor="x", reason="r")
        report = memory.repair(case, tradeoff=0.0)
        assert fates(report)["of both"] is Fate.REPUBLISHED  # b is as it was, and newer than nothing
        assert memory.get(key("above")).content == "followed Boris rows at dawn."


def test_the_same_id_or_the_same_text_in_two_scopes_are_strangers(tmp_path: Path) -> None:
    mine, yours = ("user", "1"), ("user", "2")
    with mr.Memory.open(tmp_path / "m.db", embedder=HashedNgrams()) as memory:
        for scope in (mine, yours):
            memory.ingest(
                [
                    Draft(key=Key(scope, "home"), content="Lives in Paris."),
                    Draft(
                        key=Key(scope, "profile"),
                        content="Based in Paris.",
                        kind=Kind.SUMMARY,
                        reads=(Read(key=Key(scope, "home")),),
                    ),
                ]
            )
        for by in ("text", "vector"):
            hits = memory.search("Paris", scope=mine, by=by)
            assert {hit.artifact.key.scope for hit in hits} == {mine}
        case = memory.delete(Key(mine, "home"), actor="x", reason="r", erase=True)
        memory.repair(case)
        assert {member.key for member in memory.store.members(case.id)} == {
            Key(mine, "home"),
            Key(mine, "profile"),
        }
        assert memory.get(Key(yours, "home")).content == "Lives in Paris."
        assert memory.get(Key(yours, "profile")).content == "Based in Paris."
        memory.record("Lives in Paris.", scope=yours)  # what one forgets the other may learn
        with pytest.raises(Tombstoned):
            memory.record("Lives in Paris.", scope=mine)


def test_a_mined_log_does_not_bring_a_deleted_lesson_back(path: Path) -> None:
    with mr.Memory.open(path) as memory:
        case = memory.delete(key("claim"), actor="x", reason="wrong")
        memory.repair(case)
        before = memory.store.snapshot()
        mined = [
            Draft(key=key("log"), content="of the day"),
            Draft(key=key("x"), content="TEA is liked  by Anna."),
        ]
        with pytest.raises(Tombstoned):
            memory.ingest(mined)
        assert memory.store.snapshot() == before


class Writer:
    """A regenerator that says what it is told to."""

    def __init__(self, text: str, *cites: str) -> None:
        self.text, self.cites = text, cites

    def generate(self, request: Request) -> Generated:
        return Generated(text=self.text, cites=tuple(map(key, self.cites)))


@pytest.mark.parametrize(
    ("writer", "check"),
    [
        (Writer("\x00 {]", "b"), "schema"),
        (Writer('{"says": "Anna likes tea."}', "b"), "canary"),
        (Writer('{"says": "Boris rows."}', "b", "nobody"), "support"),
        (Writer('{"says": "Boris rows."}', "b", "a"), "support"),
    ],
)
def test_a_regenerator_of_junk_or_of_unknown_parents_serves_nothing(
    tmp_path: Path, writer: Writer, check: str
) -> None:
    with mr.Memory.open(tmp_path / "m.db", generator=writer) as memory:
        memory.ingest(RECORDS)
        reads = (Read(key=key("a")), Read(key=key("b")))
        recipe = Recipe(operator="summarise", schema={"type": "object"})
        old = Draft(key=key("both"), content='{"says": "old"}', kind=Kind.SUMMARY, reads=reads, recipe=recipe)
        memory.ingest([old])
        case = memory.delete(key("a"), actor="x", reason="r")
        report = memory.repair(case, tradeoff=0.0)
        (told,) = (member for member in report.members if member.key == key("both"))
        assert told.fate is Fate.FAILED
        assert check in told.why
        assert [past.state for past in memory.history(key("both"))] == [State.WITHDRAWN, State.QUARANTINED]
        assert report.case.status is CaseStatus.CLOSED_PARTIAL
        with pytest.raises(Withdrawn):
            memory.get(key("both"))
        assert memory.search("says", scope=SCOPE) == []


def changing(memory: mr.Memory) -> Iterator[tuple[str, Callable[[], object]]]:
    yield "update", lambda: memory.record("Boris rows and swims at dawn.", id="b", scope=SCOPE)
    merged = summary("b", "Boris rows, and Anna likes tea at dawn.", "b", "a")
    yield "merge", lambda: memory.ingest([merged])


def test_a_merged_memory_is_never_absent_while_the_old_one_is_already_gone(path: Path) -> None:
    with mr.Memory.open(path) as memory, mr.Memory.open(path, readonly=True) as reader:
        for _, change in changing(memory):
            seen: list[str] = []

            def look(point: str, seen: list[str] = seen) -> None:
                (hit,) = (
                    hit for hit in reader.search("Boris dawn", scope=SCOPE) if hit.artifact.key == key("b")
                )
                assert hit.artifact.content == reader.get(key("b")).content
                seen.append(hit.artifact.content)

            old = memory.get(key("b")).content
            with watched(look):
                change()
            new = memory.get(key("b")).content
            assert new != old
            assert seen == [old] * seen.count(old) + [new] * seen.count(new)  # one switch, no gap
            assert seen.count(old) > 10


def test_metadata_survive_an_update_of_the_text(path: Path) -> None:
    said: dict[str, Json] = {"pinned": True, "tags": ["a", "b"]}
    with mr.Memory.open(path) as memory:
        one = memory.record("Rows at dawn.", id="one", scope=SCOPE, metadata=said)
        memory.record("Rows at dusk.", id="one", scope=SCOPE)
        assert (memory.get(one).content, memory.get(one).metadata) == ("Rows at dusk.", said)
        memory.correct(one, "Rows at noon.", reason="wrong", actor="x")
        assert memory.get(one).metadata == said
        memory.record("Rows at noon, always.", id="one", scope=SCOPE, metadata={})
        assert memory.get(one).metadata == {}
