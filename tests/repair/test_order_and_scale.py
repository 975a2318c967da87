"""What a repair keeps for the next one: the order of reads, the scale of prices."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import memorepair as mr
from memorepair.repair.operators.operator import Call


@mr.operator(name="join")
def join(call: Call) -> str:
    return " ".join(source.content for source in call.inputs)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[mr.Memory]:
    with mr.Memory.open(tmp_path / "agent.db", operators=[join]) as memory:
        yield memory


@pytest.mark.parametrize("order", [("c", "a", "b"), ("b", "c", "a"), ("a", "b", "c")])
def test_operators_see_inputs_in_the_order_they_were_read(memory: mr.Memory, order: tuple[str, ...]) -> None:
    for id in "abc":
        memory.record(f"text {id}", id=id)
    with memory.deriving(kind="cache", operator="join") as d:
        joined = d.write(" ".join(d.read(id).content for id in order), id="joined")
    for correction in ("first", "second"):  # a published successor keeps the order for the next repair
        memory.repair(memory.correct("a", f"{correction} correction", reason="wrong", actor="test"))
        expected = [f"{correction} correction" if id == "a" else f"text {id}" for id in order]
        assert memory.get(joined).content == " ".join(expected)


def test_an_update_that_reads_its_version_before_stands_on_what_that_stood_on(memory: mr.Memory) -> None:
    first, second = memory.record("met Ann", id="monday"), memory.record("met Bob", id="tuesday")
    with memory.deriving(kind="summary", operator="join") as d:
        d.write(d.read(first).content, id="running")
    with memory.deriving(kind="summary", operator="join") as d:
        d.write(d.read("running").content + " " + d.read(second).content, id="running")
    assert [parent.key for parent in memory.explain("running").parents] == [first, second]
    case = memory.delete(first, reason="forget Ann", actor="test")
    with pytest.raises(mr.Withdrawn):
        memory.get("running")
    memory.repair(case, solver="repair-all")
    assert memory.get("running").content == "met Bob"


def test_what_was_left_for_its_price_stays_left_at_the_same_price(memory: mr.Memory) -> None:
    memory.record("source", id="source")
    for place, (value, cost) in enumerate(
        [(9.0, 1.0), (5.0, 1.0), (4.0, 2.0), (1.0, 9.0), (1.0, 8.0), (1.0, 40.0)]
    ):
        with memory.deriving(kind="cache", recipe=mr.Recipe(operator="join", value=value, cost=cost)) as d:
            d.write(d.read("source").content, id=f"copy {place}")
    case = memory.correct("source", "new source", reason="wrong", actor="test")
    assert memory.store.case(case.id).scale is None
    first = memory.repair(case)
    assert 0 < len(first.still_withdrawn) < 6
    scale = memory.store.case(case.id).scale
    again = memory.repair(case)
    assert again.republished == ()
    assert len(again.still_withdrawn) == len(first.still_withdrawn)
    assert memory.store.case(case.id).scale == scale
    assert memory.repair(case, tradeoff=0.0).still_withdrawn == ()
