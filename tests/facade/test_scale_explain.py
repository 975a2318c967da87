"""To explain every member of a case takes one plan."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memorepair.facade import Memory
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import Draft, Key, Listing, Read, Recipe
from memorepair.memory.sqlite import SqliteStore
from memorepair.repair import engine
from memorepair.repair.operators.regen import ExtractiveSummariser, RegenOperator
from memorepair.repair.plan import RepairPlan, make_plan

ROOT = Key((), "root")
MEMBERS = [Key((), f"m{i}") for i in range(6)]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    drafts = [Draft(key=ROOT, content="the root says something"), Draft(key=Key((), "by"), content="besides")]
    for i, key in enumerate(MEMBERS):
        reads = (Read(key=MEMBERS[i - 1] if i else ROOT), Read(key=Key((), "by")))
        recipe = Recipe(operator="gone" if i > 3 else "summarise")
        drafts.append(Draft(key=key, content=f"m{i}", kind=Kind.SUMMARY, reads=reads, recipe=recipe))
    with Memory.open(tmp_path / "agent.db") as memory:
        memory.ingest(drafts)
        yield memory


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> list[RepairPlan]:
    """Every plan that is made."""
    made: list[RepairPlan] = []
    plan = make_plan

    def counted(*arguments: Any, **options: Any) -> RepairPlan:
        made.append(plan(*arguments, **options))
        return made[-1]

    monkeypatch.setattr(engine, "make_plan", counted)
    return made


def explained(memory: Memory) -> list[str]:
    return [memory.explain(key).why.partition("; ")[2] for key in MEMBERS]


def planned(memory: Memory, case: int) -> list[str]:
    said = {row.key: row.why for row in memory.plan(case).rows()}
    return [said[key].replace("chosen", "repair would make it again") for key in MEMBERS]


def test_all_members_take_one_plan_and_a_second_round_none(memory: Memory, plans: list[RepairPlan]) -> None:
    case = memory.correct(ROOT, "the root says something else", reason="r", actor="a")
    first = explained(memory)
    assert len(plans) == 1
    assert explained(memory) == first
    assert len(plans) == 1
    assert first == planned(memory, case.id)
    assert len(set(first)) > 1


def test_one_barred_member_takes_no_plan(memory: Memory, plans: list[RepairPlan]) -> None:
    memory.correct(ROOT, "the root says something else", reason="r", actor="a")
    assert "gone" in memory.explain(MEMBERS[4]).why
    assert plans == []


def test_a_change_of_the_store_by_anyone_is_planned_again(memory: Memory, plans: list[RepairPlan]) -> None:
    case = memory.correct(ROOT, "the root says something else", reason="r", actor="a")
    before = explained(memory)
    with Memory.open(memory.store.path) as other:
        other.delete([ROOT, Key((), "by")], reason="r", actor="a")
    plans.clear()
    after = explained(memory)
    assert len(plans) == 1
    assert after != before
    assert after == planned(memory, case.id)


def test_an_operator_more_is_planned_again(memory: Memory) -> None:
    case = memory.correct(ROOT, "the root says something else", reason="r", actor="a")
    before = explained(memory)
    memory.register(RegenOperator(name="gone", generator=ExtractiveSummariser()))
    after = explained(memory)
    assert after != before
    assert after == planned(memory, case.id)


def test_an_explanation_is_of_one_instant(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    case = memory.correct(ROOT, "the root says something else", reason="r", actor="a")
    describe = memory.store.describe

    def overtaken(key: Key) -> Listing:
        listing = describe(key)
        with Memory.open(memory.store.path) as other:
            other.undo(case, actor="b", reason="r")
        monkeypatch.undo()
        return listing

    monkeypatch.setattr(SqliteStore, "describe", lambda _, key: overtaken(key))
    assert "withdrawn by case 1" in memory.explain(MEMBERS[0]).why
    assert memory.explain(MEMBERS[0]).why == "served: active"
