"""Taking a remedy back: the export afterwards is to the byte the export before, and nothing is lost."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from memorepair.adapters.jsonl import export_jsonl, import_jsonl
from memorepair.facade import Memory
from memorepair.governance import Policy
from memorepair.health.remedies import Wanted
from memorepair.housekeeping import Keeping
from memorepair.memory.artifact import Draft, Key, Slot
from memorepair.memory.vectors import Embedder, HashedNgrams
from memorepair.repair.ports import Remedy

U, ADA, BOB = ("user", "1"), ("user", "ada"), ("user", "bob")
ALL = Keeping(policy=Policy(confirmed=frozenset(Remedy)))
SIGNED: Any = {"actor": "ada", "reason": "seen"}
DAY = 86_400 * 10**9


def exported(memory: Memory, *, full: bool = False) -> bytes:
    stream = io.BytesIO()
    signature: dict[str, Any] = {"with_withdrawn": True, **SIGNED} if full else {}
    export_jsonl(memory, stream, **signature)
    return stream.getvalue()


class Clock:
    """Ticks a second a look; days pass when told."""

    def __init__(self) -> None:
        self._ticks = count(1_700_000_000 * 10**9, 10**9)
        self.later = 0

    def __call__(self) -> int:
        return next(self._ticks) + self.later


@dataclass
class Life:
    """A memory that can be opened again with another embedder."""

    path: Path
    clock: Clock
    memory: Memory

    def reopen(self, embedder: Embedder) -> Memory:
        self.memory.close()
        self.memory = Memory.open(self.path, clock=self.clock, embedder=embedder)
        return self.memory


@pytest.fixture
def life(tmp_path: Path) -> Iterator[Life]:
    clock, path = Clock(), tmp_path / "agent.db"
    opened = Life(path=path, clock=clock, memory=Memory.open(path, clock=clock))
    yield opened
    opened.memory.close()


def derived(memory: Memory, parent: Key | str, id: str, scope: tuple[str, ...] = U) -> None:
    with memory.deriving(kind="summary", operator="summarise", scope=scope) as d:
        d.write(f"In short: {d.read(parent).content}", id=id)


def duplicates(life: Life) -> None:
    door = life.memory.record("The spare key hangs here 钥匙", id="a", scope=U, metadata={"floor": 1})
    life.memory.record(" the SPARE key hangs here 钥匙", id="b", scope=U, metadata={"door": "green"})
    derived(life.memory, door, "where")
    derived(life.memory, "user/1::b", "there")


def conflict(life: Life) -> None:
    likes = Slot(entity="Tom", attribute="likes", value="cilantro")
    loves = life.memory.record("Tom loves cilantro", id="old", scope=U, slot=likes)
    life.memory.record("Tom hates cilantro", id="new", scope=U, slot=replace(likes, polarity=False))
    derived(life.memory, loves, "about")


def undecided(life: Life) -> None:
    life.memory.record("Tom eats a lot of sugar", id="x", scope=U)
    life.memory.record("Tom never eats sugar", id="y", scope=U)


def stale(life: Life) -> None:
    life.memory.record("Waiting for the parcel", id="parcel", scope=U, type="temporary")
    life.clock.later = 60 * DAY


def description(life: Life) -> None:
    for n in range(30):
        life.memory.record(
            f"Note {n * 7919}", id=f"k{n}", scope=U, metadata={"lang": "en"} if n else {"k": "é"}
        )
    derived(life.memory, "user/1::k0", "short")


def status(life: Life) -> None:
    life.memory.record("Lives in Paris", id="a", scope=U)


def vector(life: Life) -> None:
    for n in range(30):
        life.memory.record(f"Note {n * 7919}", id=f"k{n}", scope=U)
    life.memory.store._db.run("DELETE FROM vector WHERE vid = 1")


def spaces(life: Life) -> None:
    topics = ("green tea in the morning", "a flat in Lyon", "the cello lessons", "周五不上线")
    life.memory.ingest(
        [Draft(key=Key(U, f"m{n}"), content=f"{topics[n % 4]}, note {n * 7919 % 1000}") for n in range(40)]
    )
    life.reopen(HashedNgrams(dimension=256))


def leak(life: Life) -> None:
    for n in range(6):
        life.memory.record(f"Ada's note {n}", id=f"a{n}", scope=ADA, metadata={"user_id": "ada"})
        life.memory.record(f"Bob's remark {n}", id=f"b{n}", scope=BOB, metadata={"user_id": "bob"})
    for id, parents in (("secret", ("user/ada::a0",)), ("digest", ("user/bob::secret", "user/bob::b0"))):
        with life.memory.deriving(kind="summary", operator="summarise", scope=BOB) as d:
            d.write("Seen: " + " ".join(d.read(parent).content for parent in parents), id=id)


def repaired(life: Life) -> None:
    life.memory.checkup(repair=True, keeping=ALL)


def broken(life: Life) -> None:
    life.memory.store._db.run("INSERT INTO barrier(vid, state, cause) VALUES(1, 99, NULL)")
    repaired(life)


def asked(life: Life) -> None:
    pair = tuple(one.key for one in life.memory.list())
    house = life.memory.housekeeper(ALL)
    outcome = house.acting.act_on(Wanted(remedy=Remedy.REVIEW, keys=pair, confidence=0.5))
    assert outcome is not None
    assert outcome.done


def switched(life: Life) -> None:
    life.memory.reembed(**SIGNED)


def moved(life: Life) -> None:
    house = life.memory.housekeeper()
    house.run()
    (item,) = [one for one in house.desk.waiting() if one.remedy is Remedy.SCOPE]
    assert house.approve(item.id, **SIGNED, move=ADA).done


@pytest.mark.parametrize(
    ("arrange", "act", "cases"),
    [
        pytest.param(duplicates, repaired, 1, id="merge"),
        pytest.param(conflict, repaired, 1, id="conflict"),
        pytest.param(undecided, asked, 1, id="review"),
        pytest.param(stale, repaired, 1, id="demotion"),
        pytest.param(description, repaired, 1, id="metadata"),
        pytest.param(status, broken, 0, id="status"),
        pytest.param(vector, repaired, 1, id="vector"),
        pytest.param(spaces, switched, 1, id="switch"),
        pytest.param(leak, moved, 1, id="move"),
    ],
)
def test_the_export_after_an_undo_is_the_one_before(
    life: Life, tmp_path: Path, arrange: Callable[[Life], None], act: Callable[[Life], None], cases: int
) -> None:
    arrange(life)
    before, full = exported(life.memory), exported(life.memory, full=True)
    act(life)
    memory = life.memory
    assert len(memory.store.cases()) == cases
    for case in reversed(memory.store.cases()):
        memory.undo(case, **SIGNED)
    assert exported(memory) == before
    # A full backup has what was brought and taken back as well: nothing is lost.
    assert set(full.splitlines()[1:]) <= set(exported(memory, full=True).splitlines()[1:])
    assert memory.store.check() == []
    with Memory.open(tmp_path / "other.db", embedder=None) as other:
        assert import_jsonl(other, io.BytesIO(before)).refused == ()
        assert exported(other) == before


def test_what_is_written_after_an_undo_travels_with_a_gap_in_its_numbers(life: Life, tmp_path: Path) -> None:
    """What the case brought is neither read nor named as similar in the export, however it stood there."""
    leak(life)
    moved(life)
    memory = life.memory
    copy = memory.get("user/ada::secret")
    near = memory.record("nearly the same", id="near", scope=ADA)
    memory.ingest([Draft(key=near, content="nearly the same, again", semantic=(copy.key,))])
    memory.undo(memory.store.cases()[-1], **SIGNED)
    home = memory.correct("user/bob::b1", "Bob was wrong", **SIGNED)
    memory.undo(home, **SIGNED)
    memory.record("Bob's remark, later", id="b1", scope=BOB)
    text = exported(memory)
    lines = [json.loads(line) for line in text.splitlines()[1:]]
    assert [line["version"] for line in lines if line["id"] == "b1"] == [1, 3]
    assert [line["scope"] for line in lines if line["id"] == "secret"] == [list(BOB)]
    assert [line.get("semantic") for line in lines if line["id"] == "near"] == [None, None]
    with Memory.open(tmp_path / "other.db", embedder=None) as other:
        assert import_jsonl(other, io.BytesIO(text)).refused == ()
        assert exported(other) == text
        assert [one.version for one in other.history("user/bob::b1")] == [1, 3]
        other.record("Bob's remark, later still", id="b1", scope=BOB)
        assert other.get("user/bob::b1").version == 4
        assert other.store.check() == []
