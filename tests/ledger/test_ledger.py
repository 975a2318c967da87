"""Ledger: records read back, are kept their time, and what others wrote in them is never markup."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import memorepair as mr
from memorepair.errors import CorruptStore, InvalidInput, UnknownId
from memorepair.governance import Policy
from memorepair.housekeeping import Keeping
from memorepair.ledger import CaseRecord, Ledger, metrics, to_html, to_markdown
from memorepair.repair.ports import Remedy

if TYPE_CHECKING:
    from tests.conftest import Clock

DAY = 86_400 * 10**9
NASTY = "<script>alert(1)</script> | x\n# y \x1b[2J\u202e [a](javascript:b)"


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


TRACER = """
told = []

class Span:
    def __enter__(self): return self
    def __exit__(self, *error): told.append("end")
    def set_attribute(self, name, value): told.append((name, value))

class Tracer:
    def start_as_current_span(self, name):
        told.append(name)
        return Span()

def get_tracer(name): return Tracer()
"""


def test_work_is_a_span_where_opentelemetry_is_installed(
    memory: mr.Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.checkup()  # without it nothing is told, and nothing fails
    package = tmp_path / "opentelemetry"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "trace.py").write_text(TRACER, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("opentelemetry", "opentelemetry.trace"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    memory.record("secret words", id="a")
    memory.record("SECRET words", id="b")
    memory.checkup(repair=True, keeping=Keeping(policy=Policy(confirmed=frozenset(Remedy))))
    told = sys.modules["opentelemetry.trace"].told
    assert "memorepair.checkup" in told
    assert "memorepair.repair" in told
    assert ("memorepair.remedy", "merge") in told
    assert told.count("end") == sum(isinstance(one, str) and one.startswith("memorepair.") for one in told)
    assert "secret" not in str(told).casefold()
    for name in ("opentelemetry", "opentelemetry.trace"):
        monkeypatch.delitem(sys.modules, name, raising=False)
