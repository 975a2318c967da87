"""python -m bench.rollback.airline: real runs of an airline agent, a fault put into what it remembers.

The agent of a recorded tau-bench run takes its recorded calls; the ids of users and reservations come from
its memory. One of them is made wrong, so that the run writes the wrong rows of the database. Recovery is
judged by the whole database at the end: it must be that of the run without the fault.

Last line of stdout with ``--json``: ``{runs, cases, recovery, replay_ratio, tool_calls, tool_calls_again,
approvals}``; progress goes to stderr.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType

from bench.rollback.agent import value_of
from bench.rollback.command import print_figures
from bench.rollback.offhand import Offhand
from memorepair import Key, Memory
from memorepair.adapters.tau_bench.database import Database, read_database
from memorepair.adapters.tau_bench.effects import WRITES
from memorepair.adapters.tau_bench.running import run_tool
from memorepair.adapters.tau_bench.state import RunState
from memorepair.adapters.tau_bench.traces import Run, Said, ToolCall, read_runs
from memorepair.errors import ApprovalNeeded, InvalidInput
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import Json
from memorepair.recovery import Effect, Recorder, RecoveryReport, Step, Tool
from memorepair.repair.jsontext import canonical

SEED = 20260811
TRIES = 40
"""Wrong ids that are tried until one changes what a run leaves in the database."""

SCOPE = ("tau-bench",)
TABLE = MappingProxyType({"user_id": "users", "reservation_id": "reservations"})


@dataclass(slots=True)
class Airline:
    """The database as a run leaves it: the shared rows, and the writes since, in order."""

    database: Database
    log: list[tuple[str, Mapping[str, Json]]] = field(default_factory=list)
    rows: RunState = field(init=False)
    touched: set[tuple[str, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.rows = RunState(self.database)

    @property
    def state(self) -> str:
        """Hash of every row that differs from the shared one."""
        found: dict[str, Json] = {}
        for table, id in sorted(self.touched):
            held = self.rows.find(table, id)
            if held is not None and held.row != self.database.table(table).get(id):
                found[f"{table}/{id}"] = dict(held.row)
        return sha256(canonical(found).encode()).hexdigest()

    def moved(self, after: Database) -> Airline:
        """The same rows once the users' addresses have been migrated."""
        there = Airline(after, touched=set(self.touched))
        for table, id in self.touched:
            held = self.rows.find(table, id)
            if held is not None:
                row = held.row | {"address": after.users[id]["address"]} if table == "users" else held.row
                there.rows.put(table, id, replace(held, row=row))
        return there

    def tool(self, name: str) -> Tool:
        """A tool of the airline, with what it does to the world."""
        if name == "transfer_to_human_agents":
            return Tool(name=name, function=partial(self._run, name), effect=Effect.IRREVERSIBLE)
        if name not in WRITES:
            return Tool(name=name, function=partial(self._run, name), effect=Effect.READ)
        return Tool(
            name=name,
            function=partial(self._run, name),
            effect=Effect.COMPENSATABLE_WRITE,
            compensation=partial(self._take_back, name),
        )

    def _run(self, name: str, **arguments: Json) -> str:
        call = ToolCall(message=0, tool=name, arguments=arguments, result="")
        try:
            result = run_tool(call, self.rows, self.database).result
        except InvalidInput as error:
            return f"Error: {error}"
        if name in WRITES:
            self.log.append((name, arguments))
            self._look(arguments, result)
        return result

    def _look(self, arguments: Mapping[str, Json], result: str) -> None:
        """Note the rows that a write may have left: those it names, and their owner's."""
        named = {(TABLE[name], str(value)) for name, value in arguments.items() if name in TABLE}
        try:
            told: Json = json.loads(result)
        except ValueError:
            told = None
        if isinstance(told, dict):
            named |= {(TABLE[name], str(told[name])) for name in TABLE if name in told}
        self.touched |= named

    def _take_back(self, name: str, arguments: Mapping[str, Json], result: Json) -> None:
        """Leave a write out, and do the others again as they were."""
        log = self.log
        place = max(at for at, done in enumerate(log) if done == (name, dict(arguments)))
        self.log, self.rows = [], RunState(self.database)
        for tool, given in (*log[:place], *log[place + 1 :]):
            self._run(tool, **given)


class Clerk:
    """Takes the calls of a recorded run; whose they are about comes from memory.

    A call may see what every earlier write of the run has left, so it stands on them.
    """

    def __init__(self, run: Run, facts: Mapping[str, str], world: Airline) -> None:
        self._run = run
        self._facts = facts
        self.world = world

    def __call__(self, run: Recorder) -> None:
        said = [step.text for step in self._run.steps if isinstance(step, Said) and not step.by_assistant]
        ask = run.input(said[0] if said else "help me", id="ask")
        known: dict[str, Step] = {}
        for name, id in self._facts.items():
            seen = run.read(Key(SCOPE, name), id=f"read {name}")
            known[id] = run.claim(
                partial("{} is {}".format, name, seen.content),
                uses=[seen],
                facet=("customer", name),
                id=f"know {name}",
            )
        writes: list[Step] = []
        told: list[Step] = []
        for call in calls_of(self._run):
            step = self._call(run, call, ask, known, writes)
            if call.tool in WRITES:
                writes.append(step)
            if self.tells(call):
                told.append(step)
        run.answer(lambda: "; ".join(step.content for step in told) or "done", uses=[ask, *told], id="answer")

    def _call(
        self, run: Recorder, call: ToolCall, ask: Step, known: Mapping[str, Step], writes: Sequence[Step]
    ) -> Step:
        about = {
            name: known[value]
            for name, value in call.arguments.items()
            if name in TABLE and isinstance(value, str) and value in known
        }
        given = {**call.arguments, **{name: value_of(step) for name, step in about.items()}}
        uses = [*about.values(), *self.looks(run, call), *writes]
        plan = run.plan(f"{call.tool} as asked", uses=[ask, *uses], id=f"plan {call.message}")
        tool = self.world.tool(call.tool)
        return run.call(tool, plan=plan, uses=uses, id=f"call {call.message}", **given)

    def tells(self, call: ToolCall) -> bool:
        """Whether the answer repeats what a call has returned."""
        return call.tool in WRITES

    def looks(self, run: Recorder, call: ToolCall) -> list[Step]:
        """What else of memory a call shows."""
        return []


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A run with a fault, recovered: its steps and calls of tools, and those of them taken again."""

    recovered: bool
    steps: int
    again: int
    tool_calls: int
    tool_calls_again: int
    approvals: int


def calls_of(run: Run) -> list[ToolCall]:
    """What the agent called, its thoughts left out."""
    return [step for step in run.steps if isinstance(step, ToolCall) and step.tool != "think"]


def facts_of(run: Run, database: Database) -> dict[str, str]:
    """Name of a memory -> the id it holds: the users and reservations that the run is about."""
    found: dict[str, str] = {}
    for call in calls_of(run):
        for name, table in TABLE.items():
            id = call.arguments.get(name)
            if isinstance(id, str) and id in database.table(table) and id not in found.values():
                found[f"{table.removesuffix('s')} {len(found) + 1}"] = id
    return found


def judge(root: Path, run: Run, database: Database) -> Judged | None:
    """Put a fault into a run's memory and recover from it; None where no fault changes the database."""
    facts = facts_of(run, database)
    if not any(call.tool in WRITES for call in calls_of(run)) or not facts:
        return None
    with Memory.open(root / "clean.db") as memory:
        _remember(memory, facts)
        clean = Airline(database)
        right = Offhand(memory, scope=SCOPE)
        Clerk(run, facts, clean)(right)
        wrong = next(_wrong(run, facts, database, clean.state, memory), None)
    try:
        if wrong is None:
            return None
        with Memory.open(root / "case.db") as memory:
            _remember(memory, facts)
            return _recovered(memory, run, facts, wrong, clean.state, right.answered, database)
    finally:
        for file in root.glob("*.db*"):
            file.unlink()


def _remember(memory: Memory, facts: Mapping[str, str]) -> None:
    for name, id in facts.items():
        memory.record(id, id=name, scope=SCOPE)


def _wrong(
    run: Run, facts: Mapping[str, str], database: Database, clean: str, memory: Memory
) -> Iterator[tuple[str, str]]:
    """(memory, wrong id) pairs with which the run leaves another database, in an order drawn from the run."""
    rng = random.Random(f"{SEED} {run.name}")
    for _ in range(TRIES):
        name = rng.choice(list(facts))
        id = rng.choice(list(database.table(f"{name.partition(' ')[0]}s")))
        world = Airline(database)
        memory.record(id, id=name, scope=SCOPE)
        Clerk(run, facts, world)(Offhand(memory, scope=SCOPE))
        memory.record(facts[name], id=name, scope=SCOPE)
        if world.state != clean:
            yield name, id


def _recovered(
    memory: Memory,
    run: Run,
    facts: Mapping[str, str],
    wrong: tuple[str, str],
    clean: str,
    answer: str,
    database: Database,
) -> Judged:
    name, id = wrong
    memory.record(id, id=name, scope=SCOPE)
    world = Airline(database)
    clerk = Clerk(run, facts, world)
    with memory.run(task="customer", scope=SCOPE, id=run.name) as recorder:
        clerk(recorder)
    trace = memory.trace(run.name)
    tools = [world.tool(one) for one in {call.tool for call in calls_of(run)}]
    faulty = Key(SCOPE, name)
    case = memory.recover(run.name, faulty, reason="wrong id", actor="bench").case
    approved: list[str] = []
    report: RecoveryReport | None = None
    while report is None:
        try:
            report = memory.replay(case, run.name, clerk, tools=tools, approved=approved)
        except ApprovalNeeded as asked:
            approved.append(str(asked.witness))
    made = report.made
    assert made is not None
    acted = [key for key, step in trace.steps.items() if step.kind is Kind.ACTION]
    return Judged(
        recovered=world.state == clean and report.answer == answer,
        steps=len(trace.steps),
        again=len(made.steps),
        tool_calls=len(acted),
        tool_calls_again=sum(key in made.drafts for key in acted),
        approvals=len(approved),
    )


def airline(folder: Path, *, limit: int | None = None) -> dict[str, float]:
    """The figures over all runs, or over the first `limit` cases."""
    database, runs = read_database(folder), read_runs(folder)
    root = Path(tempfile.mkdtemp(prefix="airline-"))
    found: list[Judged] = []
    try:
        for number, run in enumerate(runs, 1):
            judged = judge(root, run, database)
            if judged is not None:
                found.append(judged)
            print(f"\r{number} runs, {len(found)} cases", end="", file=sys.stderr, flush=True)
            if len(found) == limit:
                break
    finally:
        shutil.rmtree(root)
        print(file=sys.stderr)
    cases = len(found)
    return {
        "runs": len(runs),
        "cases": cases,
        "recovery": sum(one.recovered for one in found) / cases,
        "replay_ratio": sum(one.again / one.steps for one in found) / cases,
        "tool_calls": sum(one.tool_calls for one in found),
        "tool_calls_again": sum(one.tool_calls_again for one in found),
        "approvals": sum(one.approvals for one in found),
    }


if __name__ == "__main__":
    print_figures("airline", __doc__, lambda folder, limit: airline(folder, limit=limit))
