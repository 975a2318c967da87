"""Ledger: records read back, are kept their time, and what others wrote in them is never markup."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import memorepair as mr
from memorepair.errors import CorruptStore, InvalidInput, UnknownId
from memorepair.ledger import CaseRecord, Ledger, metrics, to_html, to_markdown

DAY = 86_400 * 10**9
NASTY = "<script>alert(1)</script> | x\n# y \x1b[2J\u202e [a](javascript:b)"


class Clock:
    def __init__(self) -> None:
        self.now = 1_700_000_000 * 10**9

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[mr.Memory]:
    with mr.Memory.open(tmp_path / "agent.db", clock=clock) as opened:
        yield opened


def closed(memory: mr.Memory) -> CaseRecord:
    return Ledger(memory.store).close(
        artifacts=3,
        found={"duplicates": {"duplicate_exact": 2}},
        before={"duplicate share": 0.5},
        after={"duplicate share": 0.0},
        waiting=("abc",),
        causes=(NASTY,),
        prevention=("look",),
    )


def test_a_record_reads_back(memory: mr.Memory) -> None:
    record = closed(memory)
    assert Ledger(memory.store).get(record.id) == record == CaseRecord.from_json(record.to_json())
    assert closed(memory).id == record.id + 1
    with pytest.raises(UnknownId):
        Ledger(memory.store).get(99)
    with pytest.raises(CorruptStore):
        CaseRecord.from_json({"id": 1})
    assert memory.store.check() == []


def test_records_are_kept_thirty_days_at_least(memory: mr.Memory, clock: Clock) -> None:
    closed(memory)
    with pytest.raises(InvalidInput):
        Ledger(memory.store).forget(29)
    clock.now += 29 * DAY
    assert Ledger(memory.store).forget() == 0
    clock.now += 2 * DAY
    assert Ledger(memory.store).forget() == 1
    assert Ledger(memory.store).records() == []


def test_what_others_wrote_is_no_markup(memory: mr.Memory) -> None:
    record = closed(memory)
    page = to_html(record)
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    text = to_markdown(record)
    assert "<script" not in text
    assert "\n# y" not in text
    assert "\\[a\\](javascript" in text
    for written in (page, text):
        assert all(one.isprintable() or one == "\n" for one in written)


def test_counters_are_prometheus_text(memory: mr.Memory) -> None:
    memory.record("one")
    closed(memory)
    lines = metrics(memory.store).splitlines()
    assert 'memorepair_artifacts{state="active",kind="record"} 1' in lines
    assert "memorepair_invalid_served_total 0" in lines
    assert 'memorepair_findings{damage="duplicates"} 2' in lines
    named = {line.split()[2] for line in lines if line.startswith("# TYPE")}
    assert {line.partition("{")[0].split()[0] for line in lines if not line.startswith("#")} <= named
