"""Cases: a story as it happened with the faults, beside the same story without them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from bench.rollback.agent import statements
from bench.rollback.cases import Story, draw, remember
from bench.rollback.offhand import Offhand
from bench.rollback.worlds import DOMAINS, World
from memorepair import Key, Memory
from memorepair.errors import MemoRepairError
from memorepair.recovery.trace import STEPS

SEED = 20260810
COUNTS: Mapping[str, int] = MappingProxyType({"shopping": 48, "travel": 49, "support": 53})
MULTIPLE = 22
"""Cases with two or three faults."""

RUN, LATER = "failed", "later"


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """The story without its faults: the answer, the world's state, what memories say, what was claimed.

    `values` has what every memory states, by attribute.
    """

    answer: str
    state: str
    values: Mapping[str, str]
    claims: frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A clean run, the same run with the faults in memory, and what happened later.

    `directory` has the store after all that, closed, and nothing else; `world` is as the runs left it.
    """

    story: Story
    truth: Truth
    directory: Path
    world: World

    def copy_to(self, directory: Path) -> Path:
        """The store once more; its file."""
        shutil.copytree(self.directory, directory)
        return directory / "case.db"

    def discard(self) -> None:
        """Remove the store."""
        shutil.rmtree(self.directory)


def cases(root: Path, *, share: int = 1) -> Iterator[Case]:
    """48, 49 and 53 cases, 22 with two or three faults; of every domain one in `share`, drawn apart."""
    total = sum(COUNTS.values())
    found, seed = 0, SEED
    for domain in DOMAINS:
        left = COUNTS[domain.name] // share
        while left:
            multiple = found * MULTIPLE // total != (found + 1) * MULTIPLE // total
            story = draw(domain, seed, (2 + seed % 2) if multiple else 1)
            seed += 1
            case = happen(root, story)
            if case is not None:
                yield case
                left -= 1
                found += 1


def happen(root: Path, story: Story) -> Case | None:
    """Let a story happen; None where the faults do not make the answer wrong."""
    truth = _without_faults(root / "clean", story)
    directory = root / "faulty"
    directory.mkdir()
    world = story.world()
    with Memory.open(directory / "case.db") as memory:
        remember(memory, story, faulty=True)
        with memory.run(task="errands", scope=story.scope, id=RUN) as run:
            story.agent(world, story.domain.errands)(run)
        if story.sibling:
            with memory.run(task="more of the same", scope=story.scope, id=LATER) as run:
                story.agent(world, story.sibling)(run)
        wrong = answer_of(memory, story, RUN)
    case = Case(story=story, truth=truth, directory=directory, world=world)
    if wrong != truth.answer:
        return case
    case.discard()
    return None


def _without_faults(directory: Path, story: Story) -> Truth:
    directory.mkdir()
    world = story.world()
    with Memory.open(directory / "case.db") as memory:
        remember(memory, story, faulty=False)
        done = Offhand(memory, scope=story.scope)
        story.agent(world, story.domain.errands)(done)
        later = Offhand(memory, scope=story.scope)
        if story.sibling:
            story.agent(world, story.sibling)(later)
        stated = {
            attribute: value
            for text in memories(memory, story).values()
            for attribute, value in statements(text)
            if story.facts.get(attribute, value) == value
        }
    shutil.rmtree(directory)
    return Truth(
        answer=done.answered,
        state=world.state,
        values=MappingProxyType(stated),
        claims=frozenset(facet(text) for text in (*done.claims, *later.claims)),
    )


def memories(memory: Memory, story: Story) -> dict[str, str]:
    """Id -> content of what is served in the user's scope, steps of runs left out."""
    found = {}
    for there in memory.list(scope=story.scope, state="active"):
        if there.kind not in STEPS:
            try:
                found[there.key.id] = memory.get(there.key).content
            except MemoRepairError:
                continue
    return found


def answer_of(memory: Memory, story: Story, run: str) -> str:
    """What a run answered."""
    return memory.get(Key((*story.scope, f"run:{run}"), "answer")).content


def facet(text: str) -> tuple[str, str]:
    """(attribute, value) of a claim; the subject is the same throughout."""
    attribute, _, value = text.rpartition(" is ")
    return attribute, value
