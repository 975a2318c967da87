"""What other systems have been reported to do wrong, in our words, through the doors that a user has."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import memorepair as mr
from memorepair.adapters.importing import bring
from memorepair.adapters.jsonl import export_jsonl
from memorepair.adapters.recording import Item, Recorder
from memorepair.cli import app
from memorepair.errors import StepFailed
from memorepair.governance import Limits, Policy
from memorepair.health import Expected, check_up
from memorepair.health.conflict.facts import facts
from memorepair.health.conflict.judge import Answer
from memorepair.health.finding import Damage
from memorepair.housekeeping import Keeping, acting
from memorepair.memory.artifact import Draft, Key, Slot
from memorepair.repair.events import Interface
from memorepair.repair.ports import Grade, Remedy

U = ("user", "1")
ALL = Keeping(policy=Policy(confirmed=frozenset(Remedy)))
SIGNED: Any = {"actor": "ada", "reason": "seen"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "agent.db"


@pytest.fixture
def memory(path: Path) -> Iterator[mr.Memory]:
    ticks = count(1_700_000_000 * 10**9, 10**9)
    with mr.Memory.open(path, clock=lambda: next(ticks)) as opened:
        yield opened


class Undecided:
    """A judge that leaves it to a person."""

    def __init__(self) -> None:
        self.asked = 0

    def decide(self, one: str, other: str) -> Answer:
        self.asked += 1
        return Answer.JUDGE


def active(memory: mr.Memory) -> dict[str, str]:
    return {one.key.id: memory.get(one.key).content for one in memory.list(state="active")}


def test_the_same_memory_twice_is_one_row_with_its_id(memory: mr.Memory) -> None:
    first = memory.record("Lives in Paris", id="home", scope=U)
    assert memory.record("Lives in Paris", id="home", scope=U) == first
    assert active(memory) == {"home": "Lives in Paris"}
    second = memory.record("lives in  Paris", scope=U)  # under an id of its own
    memory.checkup(repair=True, keeping=ALL)
    assert len(active(memory)) == 1
    memory.checkup(repair=True, keeping=ALL)
    assert len(active(memory)) == 1
    assert {one.key for one in memory.list()} == {first, second}  # none is lost


DOORS = ("record", "ingest", "merge", "deriving", "import", "jsonl")


@pytest.mark.parametrize("door", DOORS)
def test_no_way_of_writing_gets_past_the_look_for_duplicates(
    memory: mr.Memory, path: Path, tmp_path: Path, door: str
) -> None:
    """Whichever door the second copy comes by, one stays, and what comes by it next is found again."""
    said, again = "The spare key hangs behind the green door", " the SPARE key hangs behind the green door"
    source = memory.record("Where is the key?", id="asked", scope=U)
    if door == "deriving":
        with memory.deriving(kind="summary", operator="summarise", scope=U) as d:
            d.read(source)
            d.write(said, id="first")
    else:
        memory.record(said, id="first", scope=U)
    draft = Draft(key=Key(U, "second"), content=again)
    match door:
        case "record":
            memory.record(again, id="second", scope=U)
        case "ingest":
            memory.ingest([draft])
        case "merge":
            memory.merge([draft])
        case "deriving":
            with memory.deriving(kind="summary", operator="summarise", scope=U) as d:
                d.read(source)
                d.write(again, id="second")
        case "import":
            recorder = Recorder("test")
            recorder.add(Item(id="second", what="texts", content=again))
            bring(memory, recorder.finish(), scope=U)
        case _:
            with mr.Memory.open(tmp_path / "other.db") as other:
                other.ingest([draft])
            env = {"MEMOREPAIR_DB": str(tmp_path / "other.db")}
            CliRunner().invoke(app, ["export", "jsonl", str(tmp_path / "other.jsonl")], env=env)
            done = CliRunner().invoke(
                app, ["import", "jsonl", str(tmp_path / "other.jsonl"), "--db", str(path)]
            )
            assert done.exit_code == 0, done.output
    memory.checkup(repair=True, keeping=ALL)
    assert len(active(memory).keys() & {"first", "second"}) == 1
    assert memory.store.check() == []


def test_paraphrases_without_slots_are_told_as_what_rules_cannot_see(memory: mr.Memory) -> None:
    texts = [
        "Has an apartment by the Seine",
        "Paris is where the heart is",
        "Came to stay for good",
        "Home: IDF",
    ]
    for n, text in enumerate(texts):
        memory.record(text, id=f"p{n}", scope=U)
    told = memory.checkup()
    assert told.checkup.findings == ()
    assert any("rules see no fact" in one for one in told.checkup.left_out)
    for n, text in enumerate(texts):
        memory.record(text, id=f"p{n}", scope=U, slot=("user", "home", "Paris"))
    memory.checkup(repair=True, keeping=ALL)
    assert len(active(memory)) == 1


def test_an_old_side_that_was_superseded_and_is_still_served_is_found(memory: mr.Memory) -> None:
    old = memory.record("The office is in Lyon", id="old", scope=U)
    with memory.deriving(kind="summary", operator="update", scope=U, relation="supersede") as d:
        d.read(old)
        d.write("The office is in Nice", id="new")
    codes = {one.code for one in memory.checkup().checkup.findings}
    assert "superseded_still_served" in codes


def test_a_repairer_that_always_raises_stops_after_three_tries_whatever_restarts(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []

    def broken(*args: object, **more: object) -> None:
        tried.append("once more")
        raise StepFailed("broken", witness=None)

    monkeypatch.setattr(acting, "carry_out", broken)
    for _ in range(6):
        with mr.Memory.open(path) as memory:
            memory.record("Lives in Paris", id="a", scope=U)
            memory.record("lives in  Paris", id="b", scope=U)
            memory.checkup(repair=True, keeping=ALL)
    assert len(tried) == 3
    with mr.Memory.open(path) as memory:
        waiting = memory.housekeeper().desk.waiting()
        assert any((item.grade, item.due) == (Grade.APPROVED, None) for item in waiting)
        assert len(active(memory)) == 2


def test_a_repair_that_would_take_most_of_the_store_is_held(memory: mr.Memory) -> None:
    for group in range(20):
        for copy in range(10):
            memory.record(f"{' ' * copy}The {group * 7919} box is in rack {group * 104729}", scope=U)
    limits = Limits(share_a_day=0.2, least_a_day=10)
    report = memory.checkup(repair=True, keeping=Keeping(policy=ALL.policy, limits=limits))
    assert len(active(memory)) >= 0.8 * 200
    assert any("in two days" in one.why for one in report.outcomes)
    assert memory.housekeeper().desk.waiting()


def test_a_fact_about_a_tools_old_version_blocks_no_call_after_a_migration(memory: mr.Memory) -> None:
    tool = memory.record("search(query, key): the key is required", id="search", scope=("tools",))
    with memory.deriving(operator="summarise", kind="summary", scope=U) as d:
        d.write(f"Calls without a key fail: {d.read(tool).content}", id="fact")
    case = memory.migrate(tool, Interface(key=tool, content="search(query): no key"), **SIGNED)
    assert set(active(memory)) == {"search"}  # at once, before anything is repaired
    memory.repair(case)
    assert "required" not in str(active(memory))
    assert memory.search("required", scope=U, also=[("tools",)]) == []
    assert active(memory)["search"] == "search(query): no key"


def test_five_hundred_rows_that_are_nearly_equal_stay_apart(memory: mr.Memory) -> None:
    memory.ingest(
        [
            Draft(
                key=Key(U, f"n{n}"), content=f"The nightly job ended with {n} warnings on the Hamburg server"
            )
            for n in range(500)
        ]
    )
    assert memory.checkup(repair=True, keeping=ALL).checkup.counts().get(Damage.DUPLICATES, 0) == 0
    assert len(active(memory)) == 500


def test_labelled_pairs_from_the_door(memory: mr.Memory, real_input: Callable[[str], Path]) -> None:
    """Precision and recall of the whole check-up on the labelled pairs, each in a scope of its own."""
    pairs = json.loads((real_input("conflict-pairs") / "pairs.json").read_text(encoding="utf-8"))
    drafts: list[Draft] = []
    for number, pair in enumerate(pairs):
        for side in ("a", "b"):
            slot = None
            if interval := pair.get(f"interval_{side}"):  # a validity is given with the slot
                (fact, *_) = facts(pair[side])
                slot = Slot(
                    entity=fact.subject,
                    attribute=fact.attribute,
                    value=fact.value,
                    polarity=fact.polarity > 0,
                    valid_from=interval[0],
                    valid_to=interval[1],
                )
            drafts.append(Draft(key=Key(("pair", str(number)), side), content=pair[side], slot=slot))
    memory.ingest(drafts)
    found = check_up(memory.store, detectors=["conflicts"], expected=Expected(judgements=1_000)).findings
    named = {one.keys[0].scope[1] for one in found if one.code == "conflict"}
    asked = {one.keys[0].scope[1] for one in found if one.code == "conflict_undecided"}
    truth = {str(number) for number, pair in enumerate(pairs) if pair["conflict"]}
    assert len(named & truth) >= 0.95 * len(named)
    assert len(named & truth) >= 0.9 * len(truth)
    assert not asked & named
    # What it takes knowledge of the world to see is a judge's, or is told as left out: never silent.
    told = check_up(memory.store, detectors=["conflicts"]).left_out
    assert any("ruling something out" in one for one in told)
    judge = Undecided()
    expected = Expected(judgements=1_000, judge=judge)
    found = check_up(memory.store, detectors=["conflicts"], expected=expected).findings
    assert len(truth - {one.keys[0].scope[1] for one in found}) <= 0.03 * len(truth)
    assert judge.asked <= 0.2 * len(pairs)


def test_steps_of_runs_are_no_damage(memory: mr.Memory) -> None:
    """An agent that said a thing twice, or took it back, has said so: its run stays whole."""
    home = memory.record("Tom lives in Paris", id="home", scope=U)
    for name in ("first", "again"):
        with memory.run(task="dinner", scope=U, id=name) as run:
            read = run.read(home)
            for text in ("User likes Paris", "User dislikes Paris", "User dislikes  Paris"):
                run.claim(text, uses=[read])
    for kind in mr.Kind:
        if kind >= mr.Kind.USER_INPUT:  # as importers write them
            memory.record(f"{kind.name} of a trace", scope=U, kind=kind)
    memory.record("User likes Paris", id="likes", scope=U)
    report = memory.checkup(repair=True, keeping=ALL)
    assert report.checkup.findings == ()
    memory.record("User dislikes Paris", id="dislikes", scope=U)
    since = memory.checkup(repair=True, keeping=ALL, since=report.checkup.newest).checkup
    assert [one.code for one in since.findings] == ["conflict"]


def test_undo_gives_back_every_byte_that_was_served(path: Path, tmp_path: Path) -> None:
    """Merging, settling with its cascade, demotion, completion, in one run; then all of it taken back."""
    now = [1_700_000_000 * 10**9]

    def clock() -> int:
        now[0] += 10**9
        return now[0]

    with mr.Memory.open(path, clock=clock) as memory:
        door = memory.record("The spare key hangs here", id="a", scope=U, metadata={"floor": 1})
        memory.record(" the SPARE key hangs here", id="b", scope=U, metadata={"door": "green"})
        likes = Slot(entity="Tom", attribute="likes", value="cilantro")
        loves = memory.record("Tom loves cilantro", id="old", scope=U, slot=likes)
        memory.record("Tom hates cilantro", id="new", scope=U, slot=replace(likes, polarity=False))
        for id, parent in (("about", loves), ("where", door)):
            with memory.deriving(kind="summary", operator="summarise", scope=U) as d:
                d.write(f"In short: {d.read(parent).content}", id=id)
        memory.record("Waiting for the parcel", id="parcel", scope=U, type="temporary")
        now[0] += 60 * 86_400 * 10**9

        def exported(name: str) -> bytes:
            export_jsonl(memory, tmp_path / name)
            return (tmp_path / name).read_bytes()

        before = exported("before.jsonl")
        report = memory.checkup(repair=True, keeping=ALL)
        done = {one.proposal.remedy for one in report.outcomes if one.done}
        assert done == {Remedy.MERGE, Remedy.SETTLE, Remedy.DEMOTE}
        assert exported("between.jsonl") != before
        for case in reversed(memory.store.cases()):
            memory.undo(case, **SIGNED)
        assert exported("after.jsonl") == before
        assert memory.store.check() == []


@pytest.mark.parametrize(
    ("general", "specific"),
    [("I like coffee", "At work, I don't like coffee"), ("我喜欢咖啡", "在公司，我不喜欢咖啡")],
)
def test_a_scene_that_the_words_name_holds_there_and_the_general_elsewhere(
    memory: mr.Memory, general: str, specific: str
) -> None:
    memory.record(general, id="general")
    memory.record(specific, id="specific")
    keeping = Keeping(policy=Policy(confirmed=frozenset({Remedy.SETTLE})))
    report = memory.checkup(repair=True, keeping=keeping)
    assert [one.code for one in report.checkup.findings] == ["conflict"]
    assert active(memory) == {"general": general, "specific": specific}
