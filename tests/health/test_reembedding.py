"""A change of models: beside the old space, checked, in one step, and with a way back."""

from __future__ import annotations

import base64
import json
import lzma
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memorepair.errors import InvalidInput, MemoRepairError, NotAligned, OtherSpace, UndoRefused
from memorepair.facade import Memory
from memorepair.governance import Policy
from memorepair.health import drift, reembedding
from memorepair.health.reembedding import Alignment, Bounds
from memorepair.housekeeping import Keeping
from memorepair.memory.artifact import Draft, Embedding, Key, State
from memorepair.memory.store import Store
from memorepair.memory.vectors import Embedder, HashedNgrams, Space, Vectors, space_of
from memorepair.repair.ports import Remedy

SCOPE, OTHER = ("user", "42"), ("user", "43")
WHO: dict[str, Any] = {"actor": "ops", "reason": "new model"}
DAY = 86_400 * 10**9
OLD, NEW = HashedNgrams(), HashedNgrams(dimension=256)
TOPICS = ("green tea in the morning", "a flat in Lyon", "the cello lessons", "invoice 4711", "周五不上线")

Opener = Callable[..., Memory]


@dataclass
class Wrapped:
    """An embedder that can be told to break, or to do something before a batch."""

    inner: HashedNgrams = NEW
    model: str = "wrapped"
    revision: str = "1"
    normalised: bool = True
    before: Callable[[int], None] = field(default=lambda batch: None)
    turn: int = 0
    largest: int = 0

    @property
    def dimension(self) -> int:
        return self.inner.dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.turn += 1
        self.largest = max(self.largest, len(texts))
        self.before(self.turn)
        return self.inner.embed(texts)


class Noise:
    """Directions that say nothing about the texts."""

    model, revision, dimension, normalised = "noise", "1", 64, False

    def embed(self, texts: Sequence[str]) -> Vectors:
        seeds = [sum(text.encode()) * 2_654_435_761 % 2**32 for text in texts]
        return np.stack([np.random.default_rng(seed).standard_normal(64, np.float32) for seed in seeds])


@pytest.fixture
def opened(tmp_path: Path) -> Opener:
    ticks = count(1_700_000_000 * 10**9, 10**6)

    def open_(embedder: Embedder | None = OLD, *, later: float = 0.0) -> Memory:
        return Memory.open(
            tmp_path / "agent.db",
            embedder=embedder,
            clock=lambda: next(ticks) + int(later * DAY),
        )

    return open_


def texts(n: int) -> Iterator[tuple[str, str]]:
    return ((f"m{i}", f"{TOPICS[i % len(TOPICS)]}, note {i * 7919 % 1000}") for i in range(n))


def filled(memory: Memory, n: int = 60) -> None:
    memory.ingest([Draft(key=Key(SCOPE, id), content=text) for id, text in texts(n)])


def near(memory: Memory, query: str = "green tea", **more: Any) -> list[str]:
    hits = memory.search(query, scope=SCOPE, by="vector", limit=5, **more)
    return [hit.artifact.key.id for hit in hits]


def dump(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """What a store says, but for its journal and its vectors."""
    with sqlite3.connect(path) as db:
        tables = ("artifact", "version", "barrier", "content", "arc", "mark", "recipe", "tombstone")
        found = {name: db.execute(f"SELECT * FROM {name}").fetchall() for name in tables}
    db.close()
    return found


# the switch ------------------------------------------------------------------------------------------------


def test_a_switch_moves_everything_and_its_undo_is_the_way_back(opened: Opener) -> None:
    with opened() as memory:
        filled(memory)
        before, said = near(memory), dump(memory.store.path)
    with opened(NEW) as memory:
        counted = memory.reembed(**WHO, dry_run=True)
        assert (counted.lacking, counted.embedded, counted.case) == (60, 0, None)
        assert memory.vectors().home == space_of(OLD)
        done = memory.reembed(**WHO)
        assert (done.former, done.space, done.embedded, done.blank) == (space_of(OLD), space_of(NEW), 60, 0)
        assert done.alignment is not None
        assert done.alignment.sound
        status = memory.vectors()
        assert (status.home, dict(status.rows), status.lacking) == (
            space_of(NEW),
            {space_of(OLD): 60, space_of(NEW): 60},
            0,
        )
        assert set(near(memory)) & set(before)
        assert dump(memory.store.path) == said
        assert memory.store.check() == []
        (case,) = memory.store.cases()
        assert (case.id, case.event, case.actor, case.roots) == (done.case, "maintain", "ops", ())
    with opened() as memory:
        with pytest.raises(OtherSpace, match="since case 1") as caught:
            near(memory)
        assert caught.value.witness == space_of(NEW)
        memory.undo(1, actor="ops", reason="worse")
        assert near(memory) == before
        assert memory.store.check() == []
        assert dump(memory.store.path) == said


def test_what_was_written_meanwhile_is_filled_after_the_way_back(opened: Opener) -> None:
    with opened() as memory:
        filled(memory)
    with opened(NEW) as memory:
        case = memory.reembed(**WHO).case
        memory.record("green tea, the latest", id="late", scope=SCOPE)
        assert "late" in near(memory, "green tea, the latest")
    with opened() as memory:
        assert case is not None
        memory.undo(case, actor="ops", reason="worse")
        assert "late" not in near(memory, "green tea, the latest")
        back = memory.reembed(**WHO)
        assert (back.embedded, back.case) == (1, None)
        assert near(memory, "green tea, the latest")[0] == "late"


def test_no_search_mixes_spaces_of_equal_dimension(opened: Opener) -> None:
    with opened(Wrapped(OLD, model="one")) as memory:
        filled(memory, 30)
    with opened(Wrapped(OLD, model="two")) as memory:
        memory.record("green tea", id="two", scope=SCOPE)
        assert near(memory) == ["two"]
        memory.reembed(**WHO)
        assert len(near(memory)) == 5


def test_embeddings_of_ones_own_are_searched_in_their_space_all_the_same(opened: Opener) -> None:
    mine = Embedding(vector=(0.6, 0.8), model="mine", revision="1", normalised=True)
    with opened() as memory:
        filled(memory, 10)
        memory.record("brought along", id="given", scope=SCOPE, embedding=mine)
    with opened(NEW) as memory:
        memory.reembed(**WHO)
        assert [hit.artifact.key.id for hit in memory.search(mine, scope=SCOPE, by="vector")] == ["given"]
        assert near(memory, "brought along")[0] == "given"


def test_texts_that_say_nothing_are_no_obstacle(opened: Opener) -> None:
    with opened() as memory:
        filled(memory, 20)
        memory.record("!?", id="blank", scope=SCOPE)
    with opened(NEW) as memory:
        done = memory.reembed(**WHO, batch=3)
        assert (done.embedded, done.blank) == (20, 1)
        assert done.case is not None
        assert memory.checkup(dry_run=True).checkup.findings == ()


def test_two_scopes_with_the_same_text_stay_apart(opened: Opener) -> None:
    with opened() as memory:
        filled(memory, 20)
        for scope in (SCOPE, OTHER):
            memory.record("the very same words", id="same", scope=scope)
    with opened(NEW) as memory:
        memory.reembed(**WHO)
        hits = memory.search("the very same words", scope=OTHER, by="vector")
        assert [hit.artifact.key for hit in hits] == [Key(OTHER, "same")]


# the check -------------------------------------------------------------------------------------------------


def test_a_space_that_recalls_something_else_is_not_searched(opened: Opener) -> None:
    with opened() as memory:
        filled(memory)
        before = near(memory)
    with opened(Noise()) as memory:
        with pytest.raises(NotAligned, match="is searched as before") as caught:
            memory.reembed(**WHO)
        assert isinstance(caught.value.witness, dict)
        assert caught.value.witness["sound"] is False
        assert memory.vectors().home == space_of(OLD)
        assert memory.reembed(**WHO, bounds=Bounds(overlap=0.0)).case is not None
    with opened() as memory:
        memory.undo(1, actor="ops", reason="noise")
        assert near(memory) == before


@pytest.mark.parametrize("n", [8, 20, 60])
def test_random_directions_never_pass(opened: Opener, n: int) -> None:
    with opened() as memory:
        filled(memory, n)
    with opened(Noise()) as memory, pytest.raises(NotAligned):
        memory.reembed(**WHO)


def test_another_model_under_the_same_name_is_refused_before_it_writes(opened: Opener) -> None:
    with opened(Wrapped(OLD)) as memory:
        filled(memory, 40)
        entries = memory.store.epoch()

    class Mirrored(Wrapped):
        def embed(self, texts: Sequence[str]) -> Vectors:
            return -super().embed(texts)

    with opened(Mirrored(OLD)) as memory:
        with pytest.raises(NotAligned, match="another revision"):
            memory.reembed(**WHO)
        assert memory.store.epoch() == entries
        (finding,) = memory.check_vectors()
        assert (finding.code, finding.keys) == ("embedding_drift", ())
        entries = memory.store.epoch()
        memory.record("green tea", id="odd", scope=SCOPE)
    with opened(Wrapped(OLD)) as memory:
        (finding,) = memory.check_vectors(rows=None)
        assert (finding.code, finding.keys) == ("embedding_foreign", (Key(SCOPE, "odd"),))
        report = memory.housekeeper().run(beside=[finding])
        assert [one.proposal.remedy for one in report.outcomes if one.done] == [Remedy.REEMBED]
        assert memory.check_vectors(rows=None) == []


# what can go wrong -----------------------------------------------------------------------------------------


def test_an_embedder_that_fails_leaves_the_old_space_searched(opened: Opener) -> None:
    def fail(turn: int) -> None:
        if turn == 3:
            raise ConnectionError("the endpoint is gone")

    with opened() as memory:
        filled(memory)
        before = near(memory)
    with opened(Wrapped(before=fail)) as memory, pytest.raises(ConnectionError):
        memory.reembed(**WHO, batch=10)
    with opened() as memory:
        assert near(memory) == before
        assert memory.store.cases() == []
    again = Wrapped()
    with opened(again) as memory:
        done = memory.reembed(**WHO, batch=10)
        assert (done.lacking, done.embedded) == (40, 40)
        assert again.largest <= 20
        assert memory.store.check() == []


def test_a_process_that_dies_in_between_leaves_the_old_space_whole(opened: Opener) -> None:
    with opened() as memory:
        filled(memory)
        before, path = near(memory), memory.store.path
    code = f"""
import os
from memorepair.facade import Memory
from memorepair.memory.vectors import HashedNgrams

def step(what, done, total):
    if done >= 30:
        os._exit(9)

with Memory.open({str(path)!r}, embedder=HashedNgrams(dimension=256)) as memory:
    memory.reembed(actor="ops", reason="r", batch=10, progress=step)
"""
    died = subprocess.run([sys.executable, "-W", "error", "-c", code], check=False)
    assert died.returncode == 9
    with opened() as memory:
        assert near(memory) == before
        assert memory.vectors().home == space_of(OLD)
        assert memory.store.check() == []
    with opened(NEW) as memory:
        assert memory.reembed(**WHO).lacking == 30
        assert memory.vectors().home == space_of(NEW)


def test_writes_and_withdrawals_between_the_batches_are_seen(opened: Opener) -> None:
    with opened() as memory:
        filled(memory)
    with opened() as old:

        def meanwhile(turn: int) -> None:
            if turn == 2:
                old.record("green tea from the other process", id="fresh", scope=SCOPE)
                old.delete([Key(SCOPE, "m0"), Key(SCOPE, "m59")], actor="u", reason="r")
            if turn == 3:
                old.correct(Key(SCOPE, "m1"), "moved to Paris", actor="u", reason="r")

        with opened(Wrapped(before=meanwhile)) as memory:
            done = memory.reembed(**WHO, batch=20)
            assert done.case is not None
            assert memory.vectors().lacking == 0
            assert near(memory, "green tea from the other process")[0] == "fresh"
            assert near(memory, "moved to Paris")[0] == "m1"
            found = near(memory, TOPICS[0] + ", note 0")
            assert not {"m0", "m59"} & set(found)
            assert memory.store.describe(Key(SCOPE, "m0")).state is State.WITHDRAWN
        with pytest.raises(OtherSpace):
            near(old)
        assert old.search("tea", scope=SCOPE)  # by words, nothing has changed


def test_what_comes_back_into_service_after_the_switch_is_found_and_filled(opened: Opener) -> None:
    with opened() as memory:
        filled(memory)
        withdrawn = memory.delete(Key(SCOPE, "m0"), actor="u", reason="r")
    with opened(NEW) as memory:
        memory.reembed(**WHO)
        memory.undo(withdrawn, actor="u", reason="a mistake")
        assert memory.vectors().lacking == 1
        report = memory.checkup()
        assert [(one.code, one.keys) for one in report.checkup.findings if one.damage == "drift"] == [
            ("embedding_other_dimension", (Key(SCOPE, "m0"),))
        ]
        assert memory.reembed(**WHO).embedded == 1
        assert near(memory, TOPICS[0] + ", note 0")[0] == "m0"


def test_two_switches_are_undone_in_turn(opened: Opener) -> None:
    with opened() as memory:
        filled(memory)
    with opened(NEW) as memory:
        first = memory.reembed(**WHO).case
    with opened(HashedNgrams(dimension=128)) as memory:
        second = memory.reembed(**WHO).case
        assert (first, second) == (1, 2)
        with pytest.raises(UndoRefused, match="undo case 2 first"):
            memory.undo(1, **WHO)
        memory.undo(2, **WHO)
        assert memory.vectors().home == space_of(NEW)
        memory.undo(1, **WHO)
        assert memory.vectors().home == space_of(OLD)


def test_former_vectors_are_kept_and_then_dropped(opened: Opener) -> None:
    with opened() as memory:
        filled(memory)
    with opened(NEW) as memory:
        memory.reembed(**WHO, keep_days=7)
        with pytest.raises(InvalidInput, match="way back of case 1"):
            memory.drop_vectors(space_of(OLD), **WHO)
        with pytest.raises(InvalidInput, match="memories live"):
            memory.drop_vectors(space_of(NEW), **WHO)
    with opened(NEW, later=8) as memory:
        assert memory.drop_vectors(space_of(OLD), **WHO) == 60
        assert memory.drop_vectors(Space("never", "1", 3, False), **WHO) == 0
        with pytest.raises(UndoRefused, match="have been dropped"):
            memory.undo(1, **WHO)
        assert len(near(memory)) == 5
        assert memory.store.check() == []


def test_without_an_embedder_there_is_nothing_to_do(opened: Opener) -> None:
    with opened(None) as memory:
        for ask in (lambda: memory.reembed(**WHO), memory.check_vectors):
            with pytest.raises(InvalidInput, match="without an embedder"):
                ask()
        assert memory.vectors().embedder is None


@pytest.mark.parametrize("bad", [{"batch": 0}, {"keep_days": -1.0}, {"bounds": None}, {"actor": ""}])
def test_bad_arguments_change_nothing(opened: Opener, bad: dict[str, Any]) -> None:
    with opened() as memory:
        filled(memory, 10)
    with opened(NEW) as memory:
        with pytest.raises(MemoRepairError):
            memory.reembed(**WHO | bad)
        assert memory.vectors().home == space_of(OLD)


def test_an_empty_memory_needs_no_switch(opened: Opener) -> None:
    with opened(NEW) as memory:
        assert memory.reembed(**WHO).case is None
        assert memory.vectors().home is None


# found by a check-up ---------------------------------------------------------------------------------------


def test_a_store_that_meets_another_model_is_one_finding_and_a_person_decides(opened: Opener) -> None:
    with opened() as memory:
        filled(memory)
        assert memory.checkup(dry_run=True).checkup.findings == ()
    with opened(NEW) as memory:
        memory.record("green tea of the new model", id="new", scope=SCOPE)
        report = memory.checkup(repair=True)
        (finding,) = [one for one in report.checkup.findings if one.damage == "drift"]
        assert (finding.code, finding.keys) == ("embedding_other_dimension", ())
        assert (finding.measured["rows"], finding.measured["current_rows"]) == (60, 1)
        keeper = memory.housekeeper()
        (item,) = keeper.desk.waiting()
        assert (item.remedy, item.grade, item.keys) == (Remedy.REEMBED, 3, ())
        assert memory.vectors().home == space_of(OLD)
        outcome = keeper.approve(item.id, actor="ops", reason="yes")
        assert outcome.done
        assert memory.vectors().home == space_of(NEW)
        assert memory.checkup(dry_run=True).checkup.findings == ()
        assert outcome.case is not None
        memory.undo(outcome.case, actor="ops", reason="no")
        assert memory.vectors().home == space_of(OLD)


def test_an_approval_meant_for_one_model_does_not_let_another_act(opened: Opener) -> None:
    with opened() as memory:
        filled(memory)
    with opened(NEW) as memory:
        memory.checkup(repair=True)
        (item,) = memory.housekeeper().desk.waiting()
    with opened(HashedNgrams(dimension=128)) as memory:
        with pytest.raises(MemoRepairError):
            memory.housekeeper().approve(item.id, actor="ops", reason="yes")
        assert memory.vectors().home == space_of(OLD)
        assert memory.vectors().rows == {space_of(OLD): 60}


def test_anchors_of_the_new_space_raise_no_alarm_after_a_switch(opened: Opener) -> None:
    with opened() as memory:
        filled(memory)
        assert memory.patrol(["model"]).report is not None
        assert memory.check_vectors() == []
    with opened(NEW) as memory:
        memory.reembed(**WHO)
        assert memory.check_vectors() == []
        assert memory.patrol(["model"]).report is not None
        assert not memory.housekeeper().check_drift()


def test_two_processes_that_move_to_one_model_end_with_one_switch(opened: Opener) -> None:
    with opened() as memory:
        filled(memory)
    done: list[int | None] = []

    def other(turn: int) -> None:
        if turn == 2 and not done:
            done.append(0)
            with opened(Wrapped()) as second:
                done.append(second.reembed(**WHO).case)

    with opened(Wrapped(before=other)) as memory:
        assert memory.reembed(**WHO, batch=20).case is None
        assert done == [0, 1]
        assert memory.vectors().home == space_of(Wrapped())
        assert memory.store.check() == []


def test_a_switch_that_another_process_makes_a_moment_before_is_no_error(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened() as memory:
        filled(memory)
    done: list[int | None] = []
    real = reembedding.aligned

    def between(store: Store, old: Space, new: Space, bounds: Bounds) -> Alignment | None:
        if not done:
            done.append(None)
            with opened(NEW) as second:
                done.append(second.reembed(**WHO).case)
        return real(store, old, new, bounds)

    monkeypatch.setattr(reembedding, "aligned", between)
    with opened(NEW) as memory:
        assert memory.reembed(**WHO).case is None
        assert done == [None, 1]
        assert memory.vectors().home == space_of(NEW)


def test_real_vectors_of_two_dimensions_and_two_families(
    tmp_path: Path, real_input: Callable[[str], Path]
) -> None:
    recorded = json.loads(
        lzma.decompress((real_input("embeddings-otel-openai") / "embeddings.json.xz").read_bytes())
    )
    rows = [(one["embedding"], answer["model"]) for answer in recorded for one in answer["data"]]
    with Memory.open(tmp_path / "real.db", embedder=None) as memory:
        for n, (said, model) in enumerate(rows):
            packed = base64.b64decode(said) if isinstance(said, str) else np.array(said, "<f4").tobytes()
            numbers = tuple(np.frombuffer(packed, "<f4").tolist())
            there = Embedding(vector=numbers, model=model, revision="1", normalised=True)
            memory.record(f"text {n}", id=f"v{n}", scope=SCOPE, embedding=there)
        small = {f"v{n}" for n, (said, _) in enumerate(rows) if len(said) == 512}
        large = next(numbers for numbers, _ in rows if len(numbers) == 1536)
        older = Embedding(vector=tuple(large), model="text-embedding-ada-002", revision="1", normalised=True)
        memory.record("of another family", id="family", scope=SCOPE, embedding=older)
        findings = memory.checkup(dry_run=True).checkup.findings
        found = {code: {one.keys[0].id for one in findings if one.code == code} for code in drift.OTHER}
    assert small
    assert found == {"embedding_other_dimension": small, "embedding_other_model": {"family"}}


def test_a_repair_waits_for_no_embedder(opened: Opener) -> None:
    down = Wrapped()
    with opened(down) as memory:
        home = memory.record("She lives in Paris.", id="home", scope=SCOPE)
        with memory.deriving(kind="summary", operator="summarise", scope=SCOPE) as derived:
            profile = derived.write(derived.read(home).content, id="profile")
        down.before = fail
        case = memory.correct(home, "She lives in Lyon.", reason="she moved", actor="ada")
        memory.repair(case)
        assert memory.get(profile).content == "She lives in Lyon."
        assert memory.vectors().lacking == 2
        down.before = lambda batch: None
        assert memory.reembed(**WHO).embedded == 2
        hits = memory.search("She lives in Lyon.", scope=SCOPE, by="vector")
        assert {hit.artifact.key for hit in hits} == {home, profile}
        assert memory.store.check() == []


def fail(batch: int) -> None:
    raise ConnectionError("the endpoint is down, it was asked for: a secret")


def test_a_remedy_waits_for_no_embedder_but_where_it_makes_vectors(opened: Opener) -> None:
    down = Wrapped()
    with opened(down) as memory:
        keys = [memory.record(f"Parcel {n} is in rack {n * 7919}", scope=SCOPE) for n in range(30)]
        twin = memory.record("parcel 0 is in rack 0", scope=SCOPE)
        with sqlite3.connect(memory.store.path) as db:
            db.execute("DELETE FROM vector WHERE vid = 5")
        down.before = fail
        keeping = Keeping(policy=Policy(confirmed=frozenset({Remedy.MERGE})))
        done = {one.proposal.remedy: one for one in memory.checkup(repair=True, keeping=keeping).outcomes}
        assert done[Remedy.MERGE].done
        assert (done[Remedy.REEMBED].done, done[Remedy.REEMBED].failed) == (False, "ConnectionError")
        assert len(memory.store.served([keys[0], twin])) == 1
        assert "secret" not in json.dumps(memory.store.notes("attempts"))


def test_without_the_embedder_what_lacks_a_vector_is_for_a_person_and_holds_up_nothing(
    opened: Opener,
) -> None:
    keeping = Keeping(policy=Policy(confirmed=frozenset({Remedy.MERGE})))
    with opened() as memory:
        filled(memory, 20)
        memory.record("the cello lessons are on Monday", id="one", scope=SCOPE)
    with opened(None) as memory:
        memory.record("The cello lessons  are on Monday", id="twin", scope=SCOPE)
        memory.record("a whale was seen off Bergen", id="bare", scope=SCOPE)
        done = {one.proposal.remedy: one for one in memory.checkup(repair=True, keeping=keeping).outcomes}
        assert Remedy.REEMBED not in done
        assert done[Remedy.MERGE].done
        assert not done[Remedy.PERSON].done
    with opened() as memory:
        assert memory.vectors().lacking
        done = {one.proposal.remedy: one for one in memory.checkup(repair=True, keeping=keeping).outcomes}
        assert done[Remedy.REEMBED].done
        assert not memory.vectors().lacking
