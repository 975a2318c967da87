"""What comes out the same keeps its version, vouched for by verdicts since the event alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from memorepair.facade import Memory
from memorepair.memory.artifact import Key
from memorepair.memory.snapshot import Snapshot
from memorepair.repair.events import Correction, EventKind, RepairEvent
from memorepair.repair.operators.operator import Call
from memorepair.repair.operators.recompute import operator
from memorepair.repair.report import Fate
from memorepair.repair.soundness import is_sound_publication

WORDS, COUNT = Key((), "words"), Key((), "count")


@operator(name="count")
def count(call: Call) -> str:
    return str(len(call.inputs[0].content.split()))


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "a.db", operators=[count]) as memory:
        memory.record("one two three", id="words")
        with memory.deriving(kind="cache", operator="count") as derivation:
            derivation.write(str(len(derivation.read(WORDS).content.split())), id="count")
        yield memory


def corrected(memory: Memory, content: str) -> tuple[Snapshot, RepairEvent, Snapshot]:
    before = memory.store.snapshot()
    case = memory.correct(WORDS, content, reason="test", actor="test")
    report = memory.repair(case)
    assert [(one.key, one.fate) for one in report.members] == [(COUNT, Fate.UNCHANGED)]
    event = RepairEvent(
        kind=EventKind.CORRECT, roots=(WORDS,), delta=Correction(replacements={WORDS: content})
    )
    return before, event, memory.store.snapshot()


def without_verdicts_since(picture: Snapshot, seq: int) -> Snapshot:
    view = replace(picture.current[COUNT], validated_at=seq)
    return replace(
        picture,
        current={**picture.current, COUNT: view},
        versions={**picture.versions, (COUNT, view.version): view},
    )


def test_the_same_result_is_served_again_in_its_version(memory: Memory) -> None:
    before, event, after = corrected(memory, "drei zwei eins")
    assert memory.get(COUNT).version == 1
    assert is_sound_publication(before, event, after)


def test_verdicts_of_an_earlier_repair_do_not_vouch_for_it(memory: Memory) -> None:
    corrected(memory, "drei zwei eins")
    before, event, after = corrected(memory, "a b c")
    assert before.current[COUNT].validated
    assert is_sound_publication(before, event, after)
    assert not is_sound_publication(before, event, without_verdicts_since(after, before.epoch))
