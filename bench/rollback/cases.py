"""Stories: a user, what is true of them, what their memory says instead."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bench.rollback.agent import Agent, fact_id
from bench.rollback.worlds import Domain, Errand, World, database
from memorepair import Key, Memory
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import Draft, Read, Slot, Source
from memorepair.recovery import Recorder

FORMERLY, NEWLY = ("2021-05-01", "2022-05-01", "2023-05-01"), "2025-01-01"
"""When a fact was said: before it changed, and since."""

FAULTS = ("poisoned", "stale", "wrong user", "drifted summary")
Taker = Callable[[Recorder], None]
"""What takes the steps of a run."""


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
    told: dict[str, str] = {}
    heard: list[Draft] = []
    facts: list[Draft] = []
    for name, value in story.facts.items():
        before = story.former.get(name)
        # What was true for years was said often, the news once.
        years = [(date, before) for date in FORMERLY] if before is not None else []
        heard += [
            _said(story, f"said {name} {date}", name, said, date) for date, said in (*years, (NEWLY, value))
        ]
        told[name] = before if name in stale and before is not None else value
        dates = FORMERLY if name in stale else (NEWLY,)
        sources = [f"said {name} {date}" for date in dates]
        facts.append(_fact(story, name, told[name], "2025-02-01", sources))
    summaries = [_summary(story, one, told, "2025-03-01") for one in sorted(set(story.summaries.values()))]
    memory.ingest(heard)
    memory.ingest(facts)
    memory.ingest(summaries)
    if faulty:
        _inject(memory, story, told)


def _inject(memory: Memory, story: Story, told: dict[str, str]) -> None:
    drifted: dict[str, dict[str, str]] = {}
    for fault in story.faults:
        if fault.kind == "poisoned":
            heard = _said(
                story, f"page about {fault.fact}", fault.fact, fault.value, "2025-04-01", Source.TOOL
            )
            _misstate(memory, story, fault, heard, "2025-04-01")
            told[fault.fact] = fault.value
        elif fault.kind == "wrong user":
            heard = _said(story, f"misfiled {fault.fact}", fault.fact, fault.value, "2025-04-02")
            _misstate(memory, story, fault, heard, "2025-04-02")
            told[fault.fact] = fault.value
        elif fault.kind == "drifted summary":
            drifted.setdefault(fault.memory(story), {})[fault.fact] = fault.value
    for summary, wrong in drifted.items():
        memory.ingest([_summary(story, summary, {**told, **wrong}, "2025-05-01")])


def _misstate(memory: Memory, story: Story, fault: Fault, heard: Draft, date: str) -> None:
    memory.ingest([heard])
    memory.ingest([_fact(story, fault.fact, fault.value, date, [heard.key.id])])


def _said(story: Story, id: str, fact: str, value: str, date: str, source: Source = Source.USER) -> Draft:
    return Draft(key=Key(story.scope, id), content=f"{date}; my {fact} is {value}", source=source)


def _fact(story: Story, fact: str, value: str, date: str, sources: Sequence[str]) -> Draft:
    return Draft(
        key=Key(story.scope, fact_id(fact)),
        content=f"{date}; {fact}: {value}",
        source=Source.EXTRACTION,
        slot=Slot(entity=story.user, attribute=fact, value=value),
        reads=tuple(Read(key=Key(story.scope, source)) for source in sources),
    )


def _summary(story: Story, id: str, told: Mapping[str, str], date: str) -> Draft:
    facts = [fact for fact, one in story.summaries.items() if one == id]
    return Draft(
        key=Key(story.scope, id),
        content="; ".join([date, *(f"{fact}: {told[fact]}" for fact in facts)]),
        kind=Kind.SUMMARY,
        source=Source.EXTRACTION,
        reads=tuple(Read(key=Key(story.scope, fact_id(fact))) for fact in facts),
    )
