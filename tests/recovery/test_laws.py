"""Random agents: a recovered run is the run that would have been, at the cost of what the fault reached."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import combinations, count
from pathlib import Path
from typing import Any, TypedDict

import pytest
from hypothesis import HealthCheck, Phase, event, given, reject, settings
from hypothesis import strategies as st

from memorepair.errors import ApprovalNeeded, MemoRepairError, TraceMismatch
from memorepair.facade import Memory
from memorepair.graphs.support import Policy
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import CaseStatus, Json, Key
from memorepair.recovery import Effect, Recorder, RecoveryReport, Step, Tool
from memorepair.recovery.trace import RESULT, out_of_service
from memorepair.repair.soundness import soundness_violations
from memorepair.repair.withdrawal import event_of

SCOPE = ("u",)
MEMORIES = ("m0", "m1", "m2")
WRITTEN = ("n0", "n1", "m2")


class Who(TypedDict):
    reason: str
    actor: str


WHY = Who(reason="it was wrong", actor="tester")


@dataclass(frozen=True)
class Op:
    """One step: what it uses are earlier steps by their numbers."""

    verb: str
    uses: tuple[int, ...] = ()
    what: str = ""
    lazy: bool = False
    either: bool = False  # each thing used is enough: what it says depends on none
    only: str = ""  # the branch it lies in: taken where the first step has read this


@dataclass(frozen=True)
class Program:
    ops: tuple[Op, ...]
    faulty: frozenset[str]

    @property
    def branches(self) -> bool:
        """Whether what it does depends on what it reads."""
        return any(op.only for op in self.ops)


@st.composite
def programs(draw: st.DrawFn) -> Program:
    ops: list[Op] = [Op("read", what=draw(st.sampled_from(MEMORIES)))]
    known: set[str] = set(MEMORIES)

    def used() -> tuple[int, ...]:
        """What a step names; what lies in a branch it names with what decided for the branch."""
        uses = draw(st.sets(st.integers(0, len(ops) - 1), min_size=1, max_size=3))
        return tuple(sorted(uses | ({0} if any(ops[one].only for one in uses) else set())))

    branching = draw(st.booleans())
    for _ in range(1, draw(st.integers(3, 9))):
        verb = draw(st.sampled_from(["read", "recall", "claim", "claim", "plan", "call", "call", "remember"]))
        only = draw(st.sampled_from(["", "", "good", "bad"])) if branching else ""
        uses = used()
        if only:
            uses = tuple(sorted({0, *uses}))
        match verb:
            case "read":
                ops.append(Op("read", what=draw(st.sampled_from(sorted(known))), only=only))
            case "recall":
                ops.append(Op("recall", uses, only=only))
            case "call":
                ops.append(Op("call", uses, draw(st.sampled_from(list(Effect))), only=only))
            case "remember":
                name = draw(st.sampled_from(WRITTEN))
                if not only:
                    known.add(name)
                ops.append(Op("remember", uses, name, only=only))
            case _:
                branched = any(ops[one].only for one in uses)
                either = not branched and not only and draw(st.booleans())
                ops.append(Op(verb, uses, lazy=draw(st.booleans()), either=either, only=only))
    ops.append(Op("answer", used(), lazy=draw(st.booleans())))
    # What the run writes itself is no fault here: a person's word on it would stand beside the run's.
    given = sorted(set(MEMORIES) - {op.what for op in ops if op.verb == "remember"})
    return Program(tuple(ops), frozenset(draw(st.sets(st.sampled_from(given), min_size=1, max_size=2))))


class BrokenOff(Exception):
    """An agent that gives up."""


@dataclass
class Agent:
    """Takes a program's steps; what each says is a digest of what it used."""

    program: Program
    kept: Counter[str] = field(default_factory=Counter)  # compensatable writes that stand
    put: dict[str, str] = field(default_factory=dict)
    sent: Counter[str] = field(default_factory=Counter)
    ran: Counter[str] = field(default_factory=Counter)
    breaks: int | None = None  # the step that it never comes to, the first time

    def tool(self, effect: Effect) -> Tool:
        def act(op: str, given: str) -> Json:
            self.ran[op] += 1
            if effect is Effect.COMPENSATABLE_WRITE:
                self.kept[given] += 1
            elif effect is Effect.IDEMPOTENT_WRITE:
                self.put[op] = given
            elif effect is Effect.IRREVERSIBLE:
                self.sent[given] += 1
            return {"of": given}

        def back(arguments: Mapping[str, Json], result: Json) -> None:
            self.kept -= Counter([str(arguments["given"])])

        compensation = back if effect is Effect.COMPENSATABLE_WRITE else None
        return Tool(name=effect.name.lower(), function=act, effect=effect, compensation=compensation)

    @property
    def tools(self) -> list[Tool]:
        return [self.tool(effect) for effect in Effect]

    def __call__(self, run: Recorder) -> None:
        plan = run.plan("go", id="go")
        steps: list[tuple[Step, ...]] = []
        for number, op in enumerate(self.program.ops):
            if number == self.breaks:
                raise BrokenOff
            taken = not op.only or steps[0][0].content.endswith(op.only)
            steps.append(self.take(run, op, f"s{number}", steps, plan) if taken else ())

    def take(
        self, run: Recorder, op: Op, id: str, steps: list[tuple[Step, ...]], plan: Step
    ) -> tuple[Step, ...]:
        used = [step for place in op.uses for step in steps[place]]

        def made() -> str:
            self.ran[id] += 1
            said = "" if op.either else " ".join(sorted(step.content for step in used))
            return "x" + sha256(f"{id} {said}".encode()).hexdigest()[:12]

        say = made if op.lazy else None
        uses = [[step] for step in used] if op.either and used else used
        match op.verb:
            case "read":
                return (run.read(Key(SCOPE, op.what), id=id),)
            case "recall":
                return run.recall("is", uses=uses, limit=20, id=id)
            case "claim":
                return (run.claim(say or made(), uses=uses, id=id),)
            case "plan":
                return (run.plan(say or made(), uses=uses, id=id),)
            case "answer":
                return (run.answer(say or made(), uses=uses, id=id),)
            case "remember":
                run.remember(lambda: f"{made()} is", uses=uses, id=op.what)
                return ()
            case _:
                seen = " ".join(sorted(one.content for one in used))
                given = sha256(f"{id} {seen}".encode()).hexdigest()[:12]
                return (
                    run.call(self.tool(Effect(op.what)), plan=plan, uses=used, id=id, op=id, given=given),
                )


FILES = count()

# Each example writes files: shrinking one that fails would take longer than to read it.
ON_FILES: dict[str, Any] = {
    "suppress_health_check": [HealthCheck.too_slow],
    "phases": [Phase.explicit, Phase.reuse, Phase.generate],
}


@contextmanager
def lived(
    folder: Path, program: Program, *, wrong: bool, breaks: int | None = None
) -> Iterator[tuple[Memory, Agent]]:
    """A memory in which the run has taken place, with the fault or without."""
    with Memory.open(folder / f"{next(FILES)}.db") as memory:
        for name in MEMORIES:
            word = "bad" if wrong and name in program.faulty else "good"
            memory.record(f"{name} is {word}", id=name, scope=SCOPE)
        agent = Agent(program, breaks=breaks)
        with suppress(BrokenOff), memory.run(task="go", scope=SCOPE, id="r") as run:
            agent(run)
        agent.breaks = None
        agent.ran.clear()
        yield memory, agent


def recovered(memory: Memory, agent: Agent, evidence: Policy) -> RecoveryReport:
    """Recover, approving what cannot be taken back as it is asked for; nothing of it runs before.

    A replay that writes in another branch what a step that holds has read stops: that is no example then.
    """
    try:
        return _recovered(memory, agent, evidence)
    except TraceMismatch:
        assert any(op.verb == "remember" and op.only == "good" for op in agent.program.ops)
        event("a step that holds has read what the replay writes")
        reject()


def _recovered(memory: Memory, agent: Agent, evidence: Policy) -> RecoveryReport:
    faulty = {Key(SCOPE, name): f"{name} is good" for name in sorted(agent.program.faulty)}
    approved: list[str] = []
    planned = memory.recover("r", faulty, replacements=faulty, evidence=evidence, dry_run=True, **WHY).plan
    case = memory.recover("r", faulty, replacements=faulty, evidence=evidence, **WHY)
    assert case.plan.to_json() == planned.to_json()
    while True:
        try:
            return memory.replay(case.case, "r", agent, tools=agent.tools, approved=approved)
        except ApprovalNeeded as needed:
            if needed.witness in approved:
                raise
            approved.append(str(needed.witness))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("laws")


def contents(memory: Memory, keys: set[Key]) -> dict[Key, str]:
    return {key: there.content for key, there in memory.store.served(sorted(keys)).items()}


@settings(max_examples=25, **ON_FILES)
@given(program=programs(), evidence=st.sampled_from(["none", "direct", "grounded"]))
def test_a_recovered_run_is_the_run_that_would_have_been(
    program: Program, evidence: Policy, folder: Path
) -> None:
    with (
        lived(folder, program, wrong=False) as (right, other),
        lived(folder, program, wrong=True) as (
            memory,
            agent,
        ),
    ):
        before = memory.store.snapshot()
        first = contents(memory, set(before.current))
        report = recovered(memory, agent, evidence)
        plan, made = report.plan, report.made
        assert made is not None
        event(f"{len(plan.again)} of {len(plan.trace.steps)} again")

        answer = plan.trace.answer
        assert answer is not None
        assert report.answer == memory.get(answer).content == right.get(answer).content
        stays = {key.id for key in report.effects}  # in a branch not taken, and nothing takes it back
        assert all(program.ops[int(id[1:])].only == "bad" for id in stays)
        agent.put = {id: given for id, given in agent.put.items() if id not in stays}
        assert (agent.kept, agent.put) == (other.kept, other.put)
        assert all(agent.sent[given] for given in other.sent)
        steps = plan.trace.steps.keys()
        every = {*before.current, *right.store.snapshot().current}
        expected, now = contents(right, every), contents(memory, every)
        ours = now.keys() - report.reinstated.keys()
        assert all(expected[key] == now[key] for key in ours & expected.keys())
        assert {key for key in ours if key.scope == SCOPE} <= expected.keys()
        assert set(expected) - set(now) <= {*report.left, *plan.dropped}

        # What holds is read back and never run; the rest runs where it is needed, or where somebody looks.
        often = {f"s{n}" for n, op in enumerate(program.ops) if op.lazy or op.verb == "call"}
        again = {key.id.removesuffix(RESULT) for key in plan.again}
        assert not agent.ran.keys() & often & ({key.id for key in plan.kept} - again)
        assert set(plan.again) & expected.keys() <= set(made.steps)  # the others lie in a branch not taken
        assert set(made.steps) & steps <= {*plan.again, *plan.dropped}
        assert set(made.frozen) <= set(plan.kept)
        if not program.branches:
            assert set(plan.again) <= set(made.steps) <= steps
            assert ours <= expected.keys()
            assert plan.calls <= made.calls
            assert report.effects == ()
        assert {*plan.again, *plan.kept, *plan.dropped} == set(plan.trace.steps)
        assert plan.selection.verify()

        declared = event_of(memory.store, memory.store.case(report.case.id))
        assert soundness_violations(before, declared, memory.store.snapshot()) == ()
        assert memory.store.check() == []

        memory.undo(report.case, **WHY)
        assert contents(memory, set(before.current)) == first


@settings(max_examples=15, **ON_FILES)
@given(program=programs(), data=st.data())
def test_a_run_that_broke_off_comes_to_the_answer_it_would_have_had(
    program: Program, data: st.DataObject, folder: Path
) -> None:
    """The replay goes on where the run stopped, be it on steps that were affected."""
    breaks = data.draw(st.integers(1, len(program.ops) - 1))
    with (
        lived(folder, program, wrong=False) as (right, other),
        lived(folder, program, wrong=True, breaks=breaks) as (memory, agent),
    ):
        assert memory.trace("r").answer is None
        report = recovered(memory, agent, "grounded")
        plan, made = report.plan, report.made
        assert made is not None
        assert plan.dropped == ()
        assert set(plan.again) & right.trace("r").steps.keys() <= set(made.steps)
        if not program.branches:
            assert set(plan.again) <= set(made.steps)
            assert report.effects == ()
        assert report.answer == right.get(Key((*SCOPE, "run:r"), f"s{len(program.ops) - 1}")).content
        for key in report.effects:
            agent.put.pop(key.id, None)
        assert (agent.kept, agent.put) == (other.kept, other.put)
        expected = contents(right, set(right.store.snapshot().current))
        now = contents(memory, set(expected))
        kept = now.keys() - report.reinstated.keys()
        assert all(expected[key] == now[key] for key in kept)
        assert memory.store.check() == []


@settings(max_examples=15, **ON_FILES)
@given(program=programs())
def test_nothing_irreversible_runs_unapproved(program: Program, folder: Path) -> None:
    with lived(folder, program, wrong=True) as (memory, agent):
        faulty = {Key(SCOPE, name): f"{name} is good" for name in sorted(program.faulty)}
        sent = Counter(agent.sent)
        kinds = {f"s{n}": op.what for n, op in enumerate(program.ops) if op.verb == "call"}
        before = memory.store.snapshot()
        try:
            memory.recover("r", faulty, agent=agent, tools=agent.tools, replacements=faulty, **WHY)
        except ApprovalNeeded:
            event("asked")
            # Nothing was published: of the cascade only the replacements are served.
            (case,) = memory.store.cases()
            after = memory.store.snapshot()
            declared = event_of(memory.store, case)
            assert soundness_violations(before, declared, after) == ()
            members = {one.key: one for one in memory.store.members(case.id)}
            served = contents(memory, set(members))
            assert set(served) <= set(faulty)
        assert agent.sent == sent
        assert not any(agent.ran[op] for op, what in kinds.items() if what is Effect.IRREVERSIBLE)


@settings(max_examples=20, **ON_FILES)
@given(program=programs(), evidence=st.sampled_from(["none", "direct", "grounded"]))
def test_the_replay_set_is_the_least_that_is_closed_and_has_the_outcomes(
    program: Program, evidence: Policy, folder: Path
) -> None:
    with lived(folder, program, wrong=True) as (memory, _):
        faulty = [Key(SCOPE, name) for name in sorted(program.faulty)]
        plan = memory.recover("r", faulty, evidence=evidence, **WHY).plan
        trace = memory.trace("r")
        lost = {key for key, step in trace.steps.items() if out_of_service(step.listing)}
        order = list(trace.steps)
        uses: dict[Key, set[Key]] = {key: set() for key in order}
        for key, step in trace.steps.items():
            for arc in step.support:
                if arc.parent in trace.steps:
                    uses[key].add(arc.parent)
                elif out_of_service(memory.store.describe(arc.parent)):
                    earlier = order[: order.index(key)]
                    uses[key] |= set(trace.writers.get(arc.parent, ())) & set(earlier)
        outcomes = {
            key
            for key in lost
            if key == trace.answer
            or (
                trace.steps[key].kind is Kind.OBSERVATION and Effect(trace.steps[key].effect or "pure").writes
            )
        }
        reaching, waiting = set(outcomes), list(outcomes)
        while waiting:
            more = uses[waiting.pop()] - reaching
            reaching |= more
            waiting += more
        outcomes |= lost & reaching
        # By brute force: of all sets that have the outcomes, whatever lost step leads to one of them, and
        # whatever lost step a member uses, the least.
        candidates = [key for key in order if key in lost or key in outcomes]
        closed: list[set[Key]] = []
        for size in range(len(outcomes), len(candidates) + 1):
            closed = [
                set(chosen)
                for chosen in combinations(candidates, size)
                if outcomes <= set(chosen)
                and all(used in chosen for one in chosen for used in uses[one] if used in lost)
            ]
            if closed:
                break
        assert closed == [set(plan.again)]


def test_a_case_leaves_what_no_run_can_take_again_to_its_repair(folder: Path) -> None:
    """A memory derived from what the run wrote follows by the nave, in the same case."""
    program = Program(
        (Op("read", what="m0"), Op("remember", (0,), "n0"), Op("answer", (0,))), frozenset({"m0"})
    )
    with lived(folder, program, wrong=True) as (memory, agent):
        with memory.deriving(kind="summary", operator="summarise", scope=SCOPE) as derivation:
            said = derivation.read(Key(SCOPE, "m0")).content
            summary = derivation.write(said, id="summary")
        report = recovered(memory, agent, "direct")
        assert report.left == (Key(SCOPE, "n0"), summary)
        with pytest.raises(MemoRepairError):
            memory.get(summary)
        memory.repair(report.case, tradeoff=0.0)
        assert memory.get(summary).content == "m0 is good."
        assert memory.store.case(report.case.id).status is CaseStatus.CLOSED_PARTIAL
