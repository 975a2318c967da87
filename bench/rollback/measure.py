"""Measures: what a method's outcome is worth, against the same story without the faults."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from bench.rollback.agent import statements
from bench.rollback.happened import LATER, RUN, Case, facet, memories
from bench.rollback.methods import Method, Outcome, Scene, consolidate
from bench.rollback.offhand import Offhand
from memorepair import Key, Memory
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import State


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """One case, one method. Claims are counted, not rated: the score is pooled over cases."""

    NAMES: ClassVar = (
        "recovery",
        "recurrence",
        "faults_removed",
        "benign_kept",
        "claim_f1",
        "replay_ratio",
        "calls",
    )

    recovered: bool
    recurred: bool
    faults_removed: float
    benign_kept: float
    true_positive: int
    predicted: int
    invalid: int
    replay_ratio: float
    calls: int


@dataclass(slots=True)
class Tally:
    """Figures of many cases."""

    cases: list[Figures] = field(default_factory=list)

    def add(self, figures: Figures) -> None:
        """One more case."""
        self.cases.append(figures)

    def summary(self) -> dict[str, float | None]:
        """Means over cases; F1 pooled, None where nothing was predicted and nothing invalid."""
        n = len(self.cases)
        both = sum(one.predicted + one.invalid for one in self.cases)
        hit = sum(one.true_positive for one in self.cases)

        def mean(name: str) -> float:
            return sum(float(getattr(one, name)) for one in self.cases) / n

        return {
            "recovery": mean("recovered"),
            "recurrence": mean("recurred"),
            "faults_removed": mean("faults_removed"),
            "benign_kept": mean("benign_kept"),
            "claim_f1": 2 * hit / both if both else None,
            "replay_ratio": mean("replay_ratio"),
            "calls": mean("calls"),
        }


def measure(root: Path, case: Case, methods: Mapping[str, Method]) -> dict[str, Figures]:
    """Every method on its own copy of the store and of the world."""
    found = {}
    for name, method in methods.items():
        place = root / name
        with Memory.open(case.copy_to(place)) as memory:
            scene = _scene(memory, case, place)
            held = memories(memory, case.story)
            outcome = method(scene)
            found[name] = _figures(scene, outcome, case, held)
            if outcome.memory is not memory:
                outcome.memory.close()
        shutil.rmtree(place)
    return found


def _scene(memory: Memory, case: Case, place: Path) -> Scene:
    story = case.story
    claims = [
        there.key
        for run in (RUN, LATER)
        for there in memory.list(scope=(*story.scope, f"run:{run}"), kind=Kind.CLAIM)
        if there.state is State.ACTIVE
    ]
    faulty = [Key(story.scope, fault.memory(story)) for fault in story.faults]
    return Scene(
        story=story,
        memory=memory,
        world=case.world.copy(),
        trace=memory.trace(RUN),
        faulty={key: memory.get(key).content for key in faulty},
        claims=tuple(claims),
        labels={key: facet(memory.get(key).content) not in case.truth.claims for key in claims},
        directory=place,
    )


def _figures(scene: Scene, outcome: Outcome, case: Case, held: Mapping[str, str]) -> Figures:
    truth, faulty = case.truth, {key.id for key in scene.faulty}
    benign = {
        id: text
        for id, text in held.items()
        if id not in faulty
        and all(truth.values.get(attribute, value) == value for attribute, value in statements(text))
    }
    now = memories(outcome.memory, scene.story)
    removed = [now.get(key.id) != text for key, text in scene.faulty.items()]
    return Figures(
        recovered=outcome.answer == truth.answer and outcome.world.state == truth.state,
        recurred=_recurs(scene, outcome),
        faults_removed=sum(removed) / len(removed),
        benign_kept=sum(now.get(id) == text for id, text in benign.items()) / len(benign),
        true_positive=sum(scene.labels[key] for key in outcome.invalid),
        predicted=len(outcome.invalid),
        invalid=sum(scene.labels.values()),
        replay_ratio=outcome.steps / len(scene.trace.steps),
        calls=outcome.calls,
    )


def _recurs(scene: Scene, outcome: Outcome) -> bool:
    """Whether the false values come back after a consolidation, in the same task or in a sibling."""
    story, memory = scene.story, outcome.memory
    consolidate(memory, story)
    told: set[tuple[str, str]] = set()
    for errands in (story.domain.errands, story.sibling):
        probe = Offhand(memory, scope=story.scope)
        story.agent(outcome.world, errands, remembers=False)(probe)
        told |= {facet(text) for text in probe.claims}
    return any((fault.fact, fault.value) in told for fault in story.faults)
