"""Cases: a user with a memory, a fault in it, a run that comes out wrong, and what happened later."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.rollback.agent import Agent, fact_id
from bench.rollback.worlds import DOMAINS, Domain, Errand, World, database
from memorepair import Key, Memory
from memorepair.recovery import Recorder

FAULTS = ("poisoned", "stale", "wrong user", "drifted summary")
COUNTS: Mapping[str, int] = {"shopping": 48, "travel": 49, "support": 53}
MULTIPLE = 22
"""Cases with two or three faults."""

Taker = Callable[[Recorder], None]
"""What takes the steps of a run."""

SEED = 20260810
RUN, LATER = "failed", "later"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing wrong: in what a fact is said to be; `value` is the false one."""

    kind: str
    fact: str
    value: str

    def memory(self, story: Story) -> str:
        """The id of the faulty memory."""
        return story.summaries[self.fact] if self.kind == "drifted summary" else fact_id(self.fact)


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """Everything that is drawn for a case, before anything runs.

    Attributes
    ----------
    facts
        What is true.
    former
        What was true before, for facts that have changed.
    summaries
        Fact -> the id of the summary that has it.
    """

    domain: Domain
    seed: int
    user: str
    facts: Mapping[str, str]
    former: Mapping[str, str]
    summaries: Mapping[str, str]
    faults: tuple[Fault, ...]

    @property
    def scope(self) -> tuple[str, ...]:
        """Where the user's memory lies."""
        return ("user", self.user)

    def world(self) -> World:
        """The database before the run."""
        return database(self.domain, random.Random(self.seed))

    def agent(self, world: World, errands: tuple[Errand, ...], *, remembers: bool = True) -> Taker:
        """The agent for some errands of the user."""
        return Agent(self.user, errands, world.tools(), self.summaries, remembers=remembers)

    @property
    def sibling(self) -> tuple[Errand, ...]:
        """Another task that needs the facts with the faults."""
        return tuple(self.domain.siblings[fault.fact] for fault in self.faults)


def draw(domain: Domain, seed: int, faults: int, sort: type[Story] = Story) -> Story:
    """A user and their faults, from a seed."""
    rng = random.Random(seed)
    names = list(domain.facts)
    facts = {name: rng.choice(domain.facts[name]) for name in names}
    order = rng.sample(names, len(names))
    size = rng.randint(3, 5)
    summaries = {name: f"profile {place // size}" for place, name in enumerate(order)}
    former, drawn = {}, []
    for fact in rng.sample(names, faults):
        kind = rng.choice(FAULTS)
        false = rng.choice([value for value in domain.facts[fact] if value != facts[fact]])
        if kind == "stale":
            former[fact] = false
        drawn.append(Fault(kind=kind, fact=fact, value=false))
    return sort(
        domain=domain,
        seed=seed,
        user=f"user{seed % 1000}",
        facts=facts,
        former=former,
        summaries=summaries,
        faults=tuple(drawn),
    )


def remember(memory: Memory, story: Story, *, faulty: bool) -> None:
    """Fill the memory, with the faults or as it should be: what was said, the facts, the summaries."""
    stale = {fault.fact for fault in story.faults if fault.kind == "stale"} if faulty else set()
    for name, value in story.facts.items():
        before = story.former.get(name)
        # What was true for years was said often, the news once.
        for year in (2021, 2022, 2023) if before is not None else ():
            _say(memory, story, name, before or "", f"{year}-05-01")
        _say(memory, story, name, value, "2025-01-01")
        told = before if name in stale and before is not None else value
        dates = ("2021-05-01", "2022-05-01", "2023-05-01") if name in stale else ("2025-01-01",)
        _state(memory, story, name, told, "2025-02-01", [f"said {name} {date}" for date in dates])
    for summary in sorted(set(story.summaries.values())):
        _summarise(memory, story, summary, {})
    if faulty:
        for fault in story.faults:
            _inject(memory, story, fault)


def _say(memory: Memory, story: Story, fact: str, value: str, date: str) -> None:
    memory.record(f"{date}; my {fact} is {value}", id=f"said {fact} {date}", scope=story.scope)


def _state(memory: Memory, story: Story, fact: str, value: str, date: str, sources: list[str]) -> None:
    with memory.deriving(kind="record", scope=story.scope) as derivation:
        for source in sources:
            derivation.read(Key(story.scope, source))
        derivation.write(f"{date}; {fact}: {value}", id=fact_id(fact), slot=(story.user, fact, value))


def _summarise(memory: Memory, story: Story, summary: str, wrong: Mapping[str, str]) -> None:
    facts = [fact for fact, one in story.summaries.items() if one == summary]
    with memory.deriving(kind="summary", scope=story.scope) as derivation:
        lines = []
        for fact in facts:
            said = derivation.read(Key(story.scope, fact_id(fact))).content
            lines.append(f"{fact}: {wrong.get(fact, said.rpartition(': ')[2])}")
        date = "2025-05-01" if wrong else "2025-03-01"
        derivation.write("; ".join([date, *lines]), id=summary)


def _inject(memory: Memory, story: Story, fault: Fault) -> None:
    if fault.kind == "poisoned":
        source = f"page about {fault.fact}"
        memory.record(
            f"2025-04-01; my {fault.fact} is {fault.value}", id=source, scope=story.scope, source="tool"
        )
        _state(memory, story, fault.fact, fault.value, "2025-04-01", [source])
    elif fault.kind == "wrong user":
        source = f"misfiled {fault.fact}"
        memory.record(f"2025-04-02; my {fault.fact} is {fault.value}", id=source, scope=story.scope)
        _state(memory, story, fault.fact, fault.value, "2025-04-02", [source])
    elif fault.kind == "drifted summary":
        _summarise(memory, story, story.summaries[fault.fact], {fault.fact: fault.value})


def run_story(memory: Memory, story: Story, world: World) -> str:
    """The task, then a later conversation that uses what was remembered; the answer of the task."""
    with memory.run(task="errands", scope=story.scope, id=RUN) as run:
        story.agent(world, story.domain.errands)(run)
    if story.sibling:
        with memory.run(task="more of the same", scope=story.scope, id=LATER) as run:
            story.agent(world, story.sibling)(run)
    return answer_of(memory, story, RUN)


def answer_of(memory: Memory, story: Story, run: str) -> str:
    """What a run answered."""
    return memory.get(Key((*story.scope, f"run:{run}"), "answer")).content


def cases(directory: Path, *, share: int = 1) -> Iterator[Story]:
    """The stories whose faults make the answer wrong: 48, 49 and 53, 22 of them with two or three faults.

    Of every domain one in `share`, drawn apart.
    """
    wanted = [(domain, COUNTS[domain.name] // share) for domain in DOMAINS]
    total = sum(COUNTS.values())
    found, seed = 0, SEED
    for domain, count in wanted:
        left = count
        while left:
            multiple = found * MULTIPLE // total != (found + 1) * MULTIPLE // total
            story = draw(domain, seed, (2 + seed % 2) if multiple else 1)
            seed += 1
            if matters(directory, story):
                yield story
                left -= 1
                found += 1


def matters(directory: Path, story: Story) -> bool:
    """Whether the faults make the answer wrong."""
    answers = []
    for faulty in (False, True):
        path = directory / f"probe-{story.seed}-{faulty}.db"
        with Memory.open(path) as memory:
            remember(memory, story, faulty=faulty)
            answers.append(run_story(memory, story, story.world()))
        for file in directory.glob(f"{path.name}*"):
            file.unlink()
    return answers[0] != answers[1]
