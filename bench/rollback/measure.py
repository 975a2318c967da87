"""Measures: what a method's outcome is worth, against the same story without the faults."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from bench.rollback.cases import LATER, RUN, Story, remember, run_story
from bench.rollback.methods import SAID, Method, Outcome, Scene, consolidate
from bench.rollback.worlds import World
from memorepair import Key, Memory
from memorepair.errors import MemoRepairError
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import State
from memorepair.recovery.trace import STEPS


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """The story without its faults: the answer, the world's state, every memory, the facets of its claims."""

    answer: str
    state: str
    memories: Mapping[str, str]
    facets: frozenset[tuple[str, str]]


def measure(root: Path, story: Story, methods: Mapping[str, Method]) -> dict[str, Figures]:
    """Every method on its own copy of the store and of the world."""
    truth = _truth(root, story)
    faulty = root / "faulty.db"
    with Memory.open(faulty) as memory:
        remember(memory, story, faulty=True)
        before = story.world()
        wrong = run_story(memory, story, before)
        held = _memories(memory, story)
    found = {}
    for name, method in methods.items():
        place = root / name
        place.mkdir()
        for file in root.glob("faulty.db*"):
            shutil.copy(file, place / file.name)
        with Memory.open(place / "faulty.db") as memory:
            scene = _scene(memory, story, before.copy(), truth, place)
            outcome = method(scene)
            found[name] = _figures(scene, outcome, truth, wrong, held)
            if outcome.memory is not memory:
                outcome.memory.close()
        shutil.rmtree(place)
    for file in root.glob("*.db*"):
        file.unlink()
    return found


def _truth(root: Path, story: Story) -> Truth:
    with Memory.open(root / "clean.db") as memory:
        remember(memory, story, faulty=False)
        world = story.world()
        answer = run_story(memory, story, world)
        facets = frozenset(_facet(memory.get(key).content) for key in _claims(memory, story))
        return Truth(answer=answer, state=world.state, memories=_memories(memory, story), facets=facets)


def _scene(memory: Memory, story: Story, world: World, truth: Truth, place: Path) -> Scene:
    claims = _claims(memory, story)
    faulty = {Key(story.scope, fault.memory(story)): "" for fault in story.faults}
    return Scene(
        story=story,
        memory=memory,
        world=world,
        trace=memory.trace(RUN),
        faulty={key: memory.get(key).content for key in faulty},
        claims=tuple(claims),
        labels={key: _facet(memory.get(key).content) not in truth.facets for key in claims},
        directory=place,
    )


def _figures(scene: Scene, outcome: Outcome, truth: Truth, wrong: str, held: Mapping[str, str]) -> Figures:
    kept = {id: text for id, text in held.items() if truth.memories.get(id) == text}
    now = _memories(outcome.memory, scene.story)
    removed = [now.get(key.id) != text for key, text in scene.faulty.items()]
    recovered = outcome.answer == truth.answer and outcome.world.state == truth.state
    return Figures(
        recovered=recovered,
        recurred=_recurs(scene, outcome, truth, wrong),
        faults_removed=sum(removed) / len(removed),
        benign_kept=sum(now.get(id) == text for id, text in kept.items()) / len(kept),
        true_positive=sum(scene.labels[key] for key in outcome.invalid),
        predicted=len(outcome.invalid),
        invalid=sum(scene.labels.values()),
        replay_ratio=outcome.steps / len(scene.trace.steps),
        calls=outcome.calls,
    )


def _recurs(scene: Scene, outcome: Outcome, truth: Truth, wrong: str) -> bool:
    """Whether the false values come back after a consolidation, in the same task or in a sibling."""
    story, memory = scene.story, outcome.memory
    consolidate(memory, story)
    with memory.run(task="errands", scope=story.scope, id="probe") as run:
        story.agent(outcome.world, story.domain.errands, remembers=False)(run)
    with memory.run(task="sibling", scope=story.scope, id="probe sibling") as run:
        story.agent(outcome.world, story.sibling, remembers=False)(run)
    false = {(fault.fact, fault.value) for fault in story.faults}
    told = {
        _facet(memory.get(key).content)
        for probe in ("probe", "probe sibling")
        for key in _claims(memory, story, probe)
    }
    return bool(false & told)


def _facet(text: str) -> tuple[str, str]:
    """(attribute, value) of a claim; the subject is the same throughout."""
    attribute, _, value = text.rpartition(" is ")
    return attribute, value


def _claims(memory: Memory, story: Story, *runs: str) -> list[Key]:
    return [
        there.key
        for run in runs or (RUN, LATER)
        for there in memory.list(scope=(*story.scope, f"run:{run}"), kind=Kind.CLAIM)
        if there.state is State.ACTIVE
    ]


def _memories(memory: Memory, story: Story) -> dict[str, str]:
    """What is served in the user's scope, raw records left out."""
    found = {}
    for there in memory.list(scope=story.scope, state="active"):
        if there.kind not in STEPS and not there.key.id.startswith(SAID):
            try:
                found[there.key.id] = memory.get(there.key).content
            except MemoRepairError:
                continue
    return found
