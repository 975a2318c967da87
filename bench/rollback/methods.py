"""Methods: what is done about a failed run, ours, the baselines, the ablations."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType

from bench.rollback.agent import fact_id, stated, statements
from bench.rollback.cases import Story
from bench.rollback.happened import RUN, answer_of, memories
from bench.rollback.offhand import Offhand
from bench.rollback.worlds import World
from memorepair import Key, Memory
from memorepair.errors import MemoRepairError, Tombstoned, Withdrawn
from memorepair.graphs.terms import Kind, Relation
from memorepair.memory.artifact import Draft, Source
from memorepair.recovery import RecoveryReport, Trace
from memorepair.recovery.trace import MODEL_STEPS
from memorepair.repair.operators.operator import Input
from memorepair.repair.operators.regen import Generator, Limits, Request

JUDGE_ACCURACY = 0.9
"""How often the judge labels a claim rightly; stated, not measured: an oracle with this much noise."""

VERDICT = (
    "Sources 1 to {} are claims of an agent, all others are what it has heard from the user. "
    "Write the numbers of the claims that are false now, separated by commas, or the word none."
)

JUDGED_AT_ONCE = 5
"""Claims a call of the judge looks at."""

SAID = ("said ", "page about ", "misfiled ")
"""Ids of raw records begin so; everything else in a user's scope is derived."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A failed run, to be dealt with.

    `faulty` names F, `texts` what F says; `trace` is the failed run's, `claims` every claim of all runs.
    """

    story: Story
    memory: Memory
    world: World
    trace: Trace
    faulty: Mapping[Key, str]
    claims: tuple[Key, ...]
    labels: Mapping[Key, bool]
    directory: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a method left: the memory and the world it works on now, its answer, what it held invalid."""

    memory: Memory
    world: World
    answer: str
    invalid: frozenset[Key]
    steps: int
    calls: int


Method = Callable[[Scene], Outcome]


# ours and its ablations ---------------------------------------------------------------------------------


def memorepair(scene: Scene) -> Outcome:
    """Barrier over all of A, evidence, the least replay set, selective replay: `recover` as it comes."""
    return _recovered(scene, scene.memory.recover)


def no_evidence(scene: Scene) -> Outcome:
    """Ours, and nothing is spared for other support."""
    return _recovered(scene, partial(scene.memory.recover, evidence="none"))


def direct_evidence(scene: Scene) -> Outcome:
    """Ours with the source's rule: a justification wholly outside all that is affected."""
    return _recovered(scene, partial(scene.memory.recover, evidence="direct"))


def no_selective(scene: Scene) -> Outcome:
    """Ours, and the whole run is taken again in a fresh world."""
    story = scene.story
    report = scene.memory.recover(RUN, faulty=list(scene.faulty), reason="diagnosed", actor="bench")
    world = story.world()
    invalid = _withdrawn(scene, report.case.id)
    scene.memory.repair(report.case, budget=0)
    # What the run had remembered is out of service: it is not written once more beside it.
    done = _again(scene, scene.memory, world, invalid, remembers=False)
    calls = sum(step.kind in MODEL_STEPS for step in scene.trace.steps.values())
    return _counted(done, steps=len(scene.trace.steps), calls=calls)


def no_planner(scene: Scene) -> Outcome:
    """The affected steps are taken again, but only the fault leaves the memory: nothing derived does."""
    plan = scene.memory.recover(
        RUN, faulty=list(scene.faulty), reason="diagnosed", actor="bench", dry_run=True
    ).plan
    memory = _naive(scene, without=scene.faulty)
    gone = {*plan.again, *plan.dropped}
    affected = frozenset(key for key in scene.claims if key in gone)
    done = _again(scene, memory, scene.world, affected)
    calls = sum(scene.trace.steps[key].kind in MODEL_STEPS for key in plan.again)
    return _counted(done, steps=len(plan.again), calls=calls)


# baselines: a memory without provenance -----------------------------------------------------------------


def no_repair(scene: Scene) -> Outcome:
    """Everything stays as it is."""
    answer = answer_of(scene.memory, scene.story, RUN)
    return Outcome(
        memory=_naive(scene), world=scene.world, answer=answer, invalid=frozenset(), steps=0, calls=0
    )


def full_reset(scene: Scene) -> Outcome:
    """All that is derived is forgotten, made again from the raw records, the task begun anew."""
    derived = [id for id in memories(scene.memory, scene.story) if not id.startswith(SAID)]
    memory = _naive(scene, without=[Key(scene.story.scope, id) for id in derived])
    consolidate(memory, scene.story)
    return _again(scene, memory, scene.story.world(), frozenset(scene.claims))


def delete_retrieved(scene: Scene) -> Outcome:
    """Every memory that the run read is deleted, the task taken again."""
    read = {
        arc.parent
        for step in scene.trace.steps.values()
        if step.kind is Kind.MEMORY_READ
        for arc in step.support
    }
    return _again(scene, _naive(scene, without=read), scene.world, frozenset(scene.claims))


def audit(scene: Scene) -> Outcome:
    """Memories that differ from what most raw records say are deleted, the task taken again."""
    memory = scene.memory
    odd = []
    heard = _heard(memory, scene.story)
    for fact in scene.story.facts:
        votes = Counter(value for _, value, _ in heard[fact])
        most = votes.most_common(1)[0][0]
        for id in (fact_id(fact), scene.story.summaries[fact]):
            says = stated(memory.get(Key(scene.story.scope, id)).content, fact)
            if says is not None and says[1] != most:
                odd.append(Key(scene.story.scope, id))
    invalid = _resting_on(scene, set(odd))
    return _again(scene, _naive(scene, without=odd), scene.world, invalid)


def judge(scene: Scene) -> Outcome:
    """A judge labels each claim, rightly in nine of ten; what flagged claims read is deleted."""
    rng = random.Random(scene.story.seed)
    flagged = frozenset(key for key in scene.claims if scene.labels[key] is (rng.random() < JUDGE_ACCURACY))
    return _judged(scene, flagged)


def model_judge(generator: Generator) -> Method:
    """A judge that is a model: it is shown claims and what was said, and names the false ones."""

    def judge(scene: Scene) -> Outcome:
        heard = _heard(scene.memory, scene.story)
        said = [key for fact in heard.values() for *_, key in fact]
        flagged: set[Key] = set()
        for batch in _batches(scene.claims, JUDGED_AT_ONCE):
            shown = [
                Input(key=key, version=1, kind=there.kind, relation=Relation.SUPPORT, content=there.content)
                for key in (*batch, *said)
                for there in (scene.memory.get(key),)
            ]
            told = generator.generate(
                Request(instruction=VERDICT.format(len(batch)), sources=tuple(shown), limits=Limits())
            )
            numbers = {int(number) for number in re.findall(r"\d+", told.text)}
            flagged |= {key for place, key in enumerate(batch, 1) if place in numbers}
        return _judged(scene, frozenset(flagged))

    return judge


def _batches(keys: Sequence[Key], size: int) -> Iterator[Sequence[Key]]:
    return (keys[start : start + size] for start in range(0, len(keys), size))


def _judged(scene: Scene, flagged: frozenset[Key]) -> Outcome:
    done = _again(scene, _naive(scene, without=_read_by(scene, flagged)), scene.world, flagged)
    after = _after(scene, flagged)
    calls = sum(scene.trace.steps[key].kind in MODEL_STEPS for key in after)
    return _counted(done, steps=len(after), calls=calls + -(-len(scene.claims) // JUDGED_AT_ONCE))


def tracing(scene: Scene) -> Outcome:
    """All that came after the first read of the fault counts as caused by it; only the fault is deleted."""
    keys = list(scene.trace.steps)
    first = min(
        place
        for place, key in enumerate(keys)
        if any(arc.parent in scene.faulty for arc in scene.trace.steps[key].support)
    )
    after = keys[first:]
    memory = _naive(scene, without=scene.faulty)
    done = _again(scene, memory, scene.world, frozenset(scene.claims) & frozenset(after))
    calls = sum(scene.trace.steps[key].kind in MODEL_STEPS for key in after)
    return _counted(done, steps=len(after), calls=calls)


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "memorepair": memorepair,
        "memorepair_direct": direct_evidence,
        "no_repair": no_repair,
        "full_reset": full_reset,
        "delete_retrieved": delete_retrieved,
        "audit": audit,
        "judge": judge,
        "tracing": tracing,
        "no_evidence": no_evidence,
        "no_planner": no_planner,
        "no_selective": no_selective,
    }
)

BESIDE = ("memorepair_direct", "judge_model")
"""Shown with the others, no part of the last line."""


# a later day --------------------------------------------------------------------------------------------


def consolidate(memory: Memory, story: Story) -> None:
    """Make every fact again from what the raw records say most often, of equals the newest."""
    heard = _heard(memory, story)
    for fact in story.facts:
        votes = Counter(value for _, value, _ in heard[fact])
        newest = {value: date for date, value, _ in sorted(heard[fact])}
        sources = [key for _, _, key in heard[fact]]
        for value in sorted(votes, key=lambda one: (votes[one], newest[one]), reverse=True):
            if _learn(memory, story, fact, value, sources):
                break
    for summary in sorted(set(story.summaries.values())):
        _resume(memory, story, summary)


def _learn(memory: Memory, story: Story, fact: str, value: str, sources: Sequence[Key]) -> bool:
    """Whether the fact is known in this value afterwards; False where it must not be learned again."""
    key = Key(story.scope, fact_id(fact))
    try:
        says = stated(memory.get(key).content, fact)
        if says is not None and says[1] == value:
            return True
    except MemoRepairError:
        pass
    try:
        with memory.deriving(kind="record", scope=story.scope) as derivation:
            for source in sources:
                derivation.read(source)
            derivation.write(f"2025-08-01; {fact}: {value}", id=key.id, slot=(story.user, fact, value))
    except Tombstoned:
        return False
    except Withdrawn:
        return True  # the place is out of service: nothing is learned into it
    return True


def _resume(memory: Memory, story: Story, summary: str) -> None:
    facts = [fact for fact, one in story.summaries.items() if one == summary]
    try:
        with memory.deriving(kind="summary", scope=story.scope) as derivation:
            lines = [derivation.read(Key(story.scope, fact_id(fact))).content for fact in facts]
            derivation.write("; ".join(["2025-08-02", *(line.split("; ")[1] for line in lines)]), id=summary)
    except MemoRepairError:
        return  # something it would stand on is out of service


# shared -------------------------------------------------------------------------------------------------


def _recovered(scene: Scene, recover: Callable[..., RecoveryReport]) -> Outcome:
    report = recover(
        RUN,
        faulty=list(scene.faulty),
        agent=scene.story.agent(scene.world, scene.story.domain.errands),
        tools=scene.world.tools().values(),
        reason="diagnosed",
        actor="bench",
    )
    made = report.made
    assert made is not None
    return Outcome(
        memory=scene.memory,
        world=scene.world,
        answer=report.answer or "",
        invalid=_withdrawn(scene, report.case.id),
        steps=len(made.steps),
        calls=made.calls,
    )


def _withdrawn(scene: Scene, case: int) -> frozenset[Key]:
    gone = {member.key for member in scene.memory.store.members(case)}
    return frozenset(key for key in scene.claims if key in gone)


def _naive(scene: Scene, without: Iterable[Key] = ()) -> Memory:
    """A plain memory: no provenance, no tombstones; what is deleted is not there, and that is all."""
    deleted = frozenset(without)
    memory = Memory.open(scene.directory / "naive.db")
    held = [Key(scene.story.scope, id) for id in memories(scene.memory, scene.story)]
    there = [scene.memory.get(key) for key in held if key not in deleted]
    memory.ingest(
        [Draft(key=one.key, content=one.content, kind=one.kind, source=Source.USER) for one in there]
    )
    return memory


def _again(
    scene: Scene, memory: Memory, world: World, invalid: frozenset[Key], *, remembers: bool = True
) -> Outcome:
    """The whole task taken again on what memory is left."""
    run = Offhand(memory, scope=scene.story.scope)
    scene.story.agent(world, scene.story.domain.errands, remembers=remembers)(run)
    return Outcome(
        memory=memory, world=world, answer=run.answered, invalid=invalid, steps=run.steps, calls=run.calls
    )


def _counted(done: Outcome, *, steps: int, calls: int) -> Outcome:
    return Outcome(
        memory=done.memory,
        world=done.world,
        answer=done.answer,
        invalid=done.invalid,
        steps=steps,
        calls=calls,
    )


def _heard(memory: Memory, story: Story) -> dict[str, list[tuple[str, str, Key]]]:
    """Fact -> (date, value, key) of every raw record about it that is served."""
    heard: dict[str, list[tuple[str, str, Key]]] = {fact: [] for fact in story.facts}
    for id, text in memories(memory, story).items():
        if id.startswith(SAID):
            for fact, value in statements(text):
                heard[fact].append((text[:10], value, Key(story.scope, id)))
    return heard


def _read_by(scene: Scene, claims: frozenset[Key]) -> list[Key]:
    """The memories behind claims of the failed run, one step back over their reads."""
    reads = {
        arc.parent
        for key in claims
        if key in scene.trace.steps
        for arc in scene.trace.steps[key].support
        if arc.parent in scene.trace.steps
    }
    found = {
        arc.parent
        for key in reads
        if scene.trace.steps[key].kind is Kind.MEMORY_READ
        for arc in scene.trace.steps[key].support
    }
    return sorted(key for key in found if not key.id.startswith(SAID))


def _resting_on(scene: Scene, memories: set[Key]) -> frozenset[Key]:
    """Claims that read one of the memories directly."""
    return frozenset(
        key for key in scene.claims if not memories.isdisjoint(_read_by(scene, frozenset({key})))
    )


def _after(scene: Scene, flagged: frozenset[Key]) -> list[Key]:
    """The flagged claims with all that follows from them in the failed run, and the answer."""
    children = defaultdict(list)
    for key, step in scene.trace.steps.items():
        for arc in step.support:
            children[arc.parent].append(key)
    reached = {key for key in flagged if key in scene.trace.steps}
    if scene.trace.answer is not None:
        reached.add(scene.trace.answer)
    waiting = list(reached)
    while waiting:
        for child in children[waiting.pop()]:
            if child not in reached:
                reached.add(child)
                waiting.append(child)
    return sorted(reached)
