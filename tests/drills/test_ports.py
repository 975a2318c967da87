"""No withdrawal waits for what users bring: whatever a port raises, the barrier is up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar, NoReturn

import pytest

import memorepair as mr
from memorepair.errors import InvalidInput, StepFailed
from memorepair.graphs.terms import Arch, Kind
from memorepair.health.remedies import Wanted
from memorepair.housekeeping import Keeping
from memorepair.memory.artifact import CaseStatus, Draft, Key, Read, Recipe, State
from memorepair.memory.vectors import HashedNgrams, Vectors
from memorepair.repair.events import Interface
from memorepair.repair.operators.regen import Generated, Request
from memorepair.repair.ports import Remedy
from memorepair.repair.pricing import Pricing

ROOT, MADE, CHAIN = Key((), "root"), Key((), "made"), Key((), "chain")
BAD = "heron"


class Broken(Exception):
    """Of no type that the house knows."""


def broken(*_: object, **__: object) -> NoReturn:
    raise Broken


class BrokenEmbedder(HashedNgrams):
    """Works until it is told to break."""

    works: ClassVar[list[bool]] = [True]

    def embed(self, texts: Sequence[str]) -> Vectors:
        return super().embed(texts) if self.works[0] else broken()


class BrokenGenerator:
    """Writes nothing."""

    def generate(self, request: Request) -> Generated:
        broken()


class Clock:
    """Works until it is told to break."""

    works = True

    def __call__(self) -> int:
        return 10**18 if self.works else broken()


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[mr.Memory]:
    """A root, a summary of it and a chain, in a memory whose every port is about to break."""
    BrokenEmbedder.works[0] = True
    clock = Clock()
    with mr.Memory.open(
        tmp_path / "agent.db",
        clock=clock,
        generator=BrokenGenerator(),
        embedder=BrokenEmbedder(),
        pricing=Pricing(value=broken, cost=broken),
        checks=[mr.check(name="broken")(broken)],
    ) as opened:
        opened.ingest(
            [
                Draft(key=ROOT, content=f"The {BAD} nests here."),
                Draft(
                    key=MADE,
                    content=f"A {BAD}.",
                    kind=Kind.SUMMARY,
                    reads=(Read(key=ROOT),),
                    recipe=Recipe(operator="summarise"),
                ),
                Draft(
                    key=CHAIN,
                    content="[]",
                    kind=Kind.SKILL,
                    arch=Arch.CHAIN,
                    reads=(Read(key=MADE),),
                    recipe=Recipe(operator="chain"),
                ),
            ]
        )
        BrokenEmbedder.works[0] = clock.works = False
        yield opened


def served(memory: mr.Memory) -> set[str]:
    return {one.key.id for one in memory.list(state=State.ACTIVE)}


EVENTS = {
    "delete": lambda memory: memory.delete(ROOT, reason="asked", actor="a"),
    "erase": lambda memory: memory.delete(ROOT, reason="asked", actor="a", erase=True),
    "suspected": lambda memory: memory.delete(ROOT, reason="asked", actor="a", suspected=0.9),
    "evidence": lambda memory: memory.delete(ROOT, reason="asked", actor="a", evidence="grounded"),
    "correct": lambda memory: memory.correct(ROOT, "The stork nests here.", reason="wrong", actor="a"),
    "migrate": lambda memory: memory.migrate(
        ROOT, Interface(key=ROOT, content="The stork nests here."), reason="changed", actor="a"
    ),
}


@pytest.mark.parametrize("event", EVENTS)
def test_the_barrier_is_up_whatever_the_ports_raise(memory: mr.Memory, event: str) -> None:
    case = EVENTS[event](memory)
    assert case.status is CaseStatus.OPEN
    assert case.withdrawn == 3
    assert served(memory) == ({"root"} if event in ("correct", "migrate") else set())
    assert memory.search(BAD) == []
    for key in (MADE, CHAIN):
        with pytest.raises(mr.Withdrawn):
            memory.get(key)


@pytest.mark.parametrize("event", EVENTS)
def test_a_repair_that_a_port_breaks_leaves_the_barrier_up(memory: mr.Memory, event: str) -> None:
    case = EVENTS[event](memory)
    before = served(memory)
    with pytest.raises(InvalidInput, match="value"):
        memory.repair(case)
    assert served(memory) == before
    assert memory.search(BAD) == []


def test_what_a_port_raises_is_told_by_its_type_alone(
    memory: mr.Memory, caplog: pytest.LogCaptureFixture
) -> None:
    memory.correct(ROOT, "The stork nests here.", reason="wrong", actor="a")
    told = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert any("embedder has raised Broken" in line for line in told)
    assert any("clock has raised Broken" in line for line in told)
    assert not any(BAD in line for line in told)


def test_the_vectors_that_a_broken_embedder_left_out_are_made_up_for(memory: mr.Memory) -> None:
    memory.correct(ROOT, "The stork nests here.", reason="wrong", actor="a")
    BrokenEmbedder.works[0] = True
    assert memory.search("stork", by="vector") == []
    memory.store.embed_missing(10)
    assert [hit.artifact.key for hit in memory.search("stork", by="vector")] == [ROOT]
    assert memory.store.check() == []


def test_a_correction_has_its_vector_when_it_returns(memory: mr.Memory) -> None:
    BrokenEmbedder.works[0] = True
    memory.correct(ROOT, "The stork nests here.", reason="wrong", actor="a")
    assert [hit.artifact.key for hit in memory.search("stork", by="vector")] == [ROOT]


def test_a_recovery_takes_the_fault_out_before_anything_is_run_again(memory: mr.Memory) -> None:
    BrokenEmbedder.works[0] = True
    with memory.run(task="find the nest") as run:
        seen = run.read(ROOT)
        run.answer("here", uses=seen)
    BrokenEmbedder.works[0] = False
    with pytest.raises(StepFailed) as failed:
        memory.recover(run.id, [ROOT], reason="wrong", actor="a", agent=broken)
    assert isinstance(failed.value.__cause__, Broken)
    assert served(memory) & {"root", "made", "chain"} == set()


def test_a_leak_leaves_service_though_nobody_can_tell_the_load(memory: mr.Memory) -> None:
    house = memory.housekeeper(Keeping(load=broken))
    outcome = house.acting.act_on(Wanted(remedy=Remedy.SCOPE, keys=(ROOT,), confidence=1.0))
    assert outcome is not None
    assert outcome.done
    assert served(memory) == set()
