"""Drills: the memory itself is not touched, what is injected is found, nothing healthy is harmed."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

import memorepair as mr
from memorepair.drilling import DrillReport, drill, recommend
from memorepair.errors import ForeignStore, InvalidInput, StoreError
from memorepair.health.finding import Damage
from memorepair.memory.artifact import Draft, Embedding, Key
from memorepair.memory.vectors import HashedNgrams

WORDS = "amber basin cedar delta ember fjord grove heron inlet jetty knoll larch maple north ocean quart"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("drill") / "agent.db"
    rng = random.Random(3)
    with mr.Memory.open(place) as memory:
        memory.ingest(
            [
                Draft(
                    key=Key(("user", str(n % 8)), f"k{n}"),
                    content=f"{' '.join(rng.choices(WORDS.split(), k=9))} {n * 7919 + 1009}",
                )
                for n in range(240)
            ]
        )
    return place


@pytest.fixture(scope="module")
def report(path: Path) -> DrillReport:
    return drill(path, rate=0.02, seed=1, embedder=HashedNgrams())


def test_every_damage_is_found_and_nothing_healthy_is_harmed(report: DrillReport) -> None:
    for damage, count in report.counts.items():
        assert count.injected >= 5, damage
        assert count.named == count.injected, damage
        assert (count.alarms, count.harmed) == (0, 0), damage
        assert count.rightly == count.repaired, damage


def test_the_memory_is_as_it_was(path: Path, report: DrillReport) -> None:
    with mr.Memory.open(path) as memory:
        assert report.artifacts == len(memory.list()) == 240
        assert not [one for one in memory.list() if "drill" in one.key.id]
        assert memory.store.check() == []


def test_the_same_seed_makes_the_same_drill(path: Path, report: DrillReport) -> None:
    assert drill(path, rate=0.02, seed=1, embedder=HashedNgrams()).to_json() == report.to_json()


def test_a_recommendation_comes_of_drills_without_alarms(report: DrillReport) -> None:
    assert recommend([report]) == dict(report.thresholds)
    assert recommend([]) == {}


@pytest.mark.parametrize("rate", [-0.1, 0.5, float("nan")])
def test_a_rate_that_is_none_is_refused(path: Path, rate: float) -> None:
    with pytest.raises(InvalidInput):
        drill(path, rate=rate, embedder=None)


def test_what_is_no_memory_is_told(tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    other.write_bytes(b"no database" * 500)
    with pytest.raises(ForeignStore):
        drill(other, embedder=None)
    with pytest.raises(StoreError, match="there is no store"):
        drill(tmp_path / "missing.db", embedder=None)
    assert [one.name for one in tmp_path.iterdir()] == ["other.db"]


def test_what_cannot_be_damaged_is_null_with_its_reason(tmp_path: Path) -> None:
    """Without vectors none can drift: neither a coverage of nothing nor a say in the recommendation."""
    place = tmp_path / "agent.db"
    with mr.Memory.open(place, embedder=None) as memory:
        for n in range(12):
            memory.record(f"钥匙 {n * 7919} hangs in room {n}", id=f"k{n}", scope=("用户", "1"))
        memory.record("...", id="signs")
    made = drill(place, rate=0.1, seed=4, embedder=None)
    assert set(Damage) - set(made.counts) == set(made.not_made) == {Damage.DRIFT}
    figures = made.to_json()["drill"]
    assert isinstance(figures, dict)
    assert figures["drift"] == dict.fromkeys(("coverage", "false_alarms", "repaired_rightly", "harmed"))
    assert all((one.named, one.harmed) == (one.injected, 0) for one in made.counts.values())
    assert recommend([made, replace(made, counts={})]) == dict(made.thresholds)
    assert recommend([replace(made, counts={}, thresholds={"a/b/c": 0.5})]) == {}


def test_the_few_that_have_a_vector_drift(tmp_path: Path) -> None:
    place = tmp_path / "agent.db"
    with mr.Memory.open(place, embedder=None) as memory:
        for n in range(40):
            vector = (
                Embedding(vector=(0.6, 0.8), model="m", revision="1", normalised=True) if n == 7 else None
            )
            memory.record(f"key {n * 7919} hangs in room {n}", id=f"k{n}", embedding=vector)
    made = drill(place, rate=0.1, embedder=None)
    assert {damage: one.injected for damage, one in made.counts.items()} == {
        damage: 8 if damage is Damage.CONFLICTS else 1 if damage is Damage.DRIFT else 4 for damage in Damage
    }
    assert made.counts[Damage.STRUCTURE].named == 4
    assert made.counts[Damage.DRIFT].named == 1
