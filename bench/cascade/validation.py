"""Validation ablation: successors that are stale on purpose, and which suites of checks let them through.

Every successor here is made by an operator at fault; each fault is one that real generators, tools and
learners have. What a suite publishes of them is a stale pass.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path

from bench.cascade.measures import ratio
from memorepair.facade import Memory
from memorepair.graphs.terms import Arch, Kind
from memorepair.memory.artifact import Draft, Key, Read, Recipe, Source, TaskCase
from memorepair.repair import engine
from memorepair.repair.checks.cases import CASES
from memorepair.repair.checks.check import Check, Context
from memorepair.repair.checks.schema import SCHEMA
from memorepair.repair.events import Correction, EventKind, Interface, Migration, RepairEvent
from memorepair.repair.modes import Mode
from memorepair.repair.operators.closedform import NaiveBayes
from memorepair.repair.operators.operator import Call, Input, Made, Operator
from memorepair.repair.operators.recompute import FunctionOperator
from memorepair.repair.plan import REPAIR_ALL
from memorepair.repair.report import RepairReport
from memorepair.repair.validation import CHECKS, Checks

SUITES: Mapping[str, tuple[Check[Context], ...]] = {
    "schema_only": (SCHEMA,),
    "task_regression_only": (CASES,),
    "composed": CHECKS,
}

_CASED = 0.7
"""Share of the texts with a stored case that says what a right successor must not state."""

_CITIES = ("Lisbon", "Vienna", "Turin", "Ghent", "Porto", "Basel", "Bergen", "Graz")
_NAMES = ("Orla", "Bruno", "Celia", "Dario", "Edda", "Fiona", "Goran", "Hanne")
_SCOPE = ("validation",)
_DRINKS = ("green tea", "black coffee", "plain water", "apple juice")
_TEXT = ("verbatim", "one sentence", "old value", "foreign citation")


UNMARKED = "unmarked value"
"""A reworded old value of common words that no stored case asks about: what no check here can tell."""


class _Only(Checks):
    """Exactly these checks."""

    def __init__(self, suite: Sequence[Check[Context]]) -> None:
        super().__init__()
        self._suite = tuple(suite)

    def all(self) -> tuple[Check[Context], ...]:
        """The suite; nothing that is built in or installed besides."""
        return self._suite


@dataclass(slots=True)
class _Flapping:
    """A tool whose cache is not yet empty: the first answer after the event is the old one."""

    old: Mapping[Key, str]
    asked: Counter[Key] = field(default_factory=Counter)

    def __call__(self, call: Call) -> str:
        self.asked[call.key] += 1
        fresh = " ".join(source.content for source in call.inputs)
        return self.old[call.key] if self.asked[call.key] == 1 else fresh


@dataclass(frozen=True, slots=True, kw_only=True)
class _Writer:
    """A generator that has seen the old texts, at fault in one of four ways."""

    old: Mapping[Key, str]
    faults: Mapping[Key, str]
    value: Mapping[Key, tuple[str, str]]
    name: str = "bench.writer"
    version: str = "1"
    mode: Mode = Mode.REGEN
    deterministic: bool = True
    reads_own_version: bool = False

    def make(self, call: Call) -> Made:
        """What is stale of it depends on the artifact."""
        fresh = " ".join(source.content for source in call.inputs)
        was, now = self.value[call.key]
        match self.faults[call.key]:
            case "verbatim":
                return Made(content=self.old[call.key])
            case "one sentence":
                return Made(content=f"{fresh} {self.old[call.key].partition('. ')[0]}.")
            case "unmarked value":
                return Made(content=f"At breakfast one is offered {was} here, and nothing else.")
            case "old value":
                return Made(content=f"In short: {fresh.replace(now, was)}")
            case _:
                return Made(content=fresh, cites=(Key(_SCOPE, "elsewhere"),))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unmoved:
    """Carries a chain over without changing it."""

    name: str = "bench.unmoved"
    version: str = "1"
    mode: Mode = Mode.REGEN
    deterministic: bool = True
    reads_own_version: bool = True

    def make(self, call: Call) -> Made:
        """The old version."""
        return Made(content=call.own or "")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Remembering(NaiveBayes):
    """A learner that forgets nothing."""

    name: str = "bench.remembering"

    def make(self, call: Call) -> Made:
        """The old model."""
        return Made(content=call.own or "")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bench:
    drafts: tuple[Draft, ...]
    operators: tuple[Operator, ...]
    faults: Mapping[Key, str]
    corrections: Mapping[Key, str]
    interface: Interface


def _key(id: str) -> Key:
    return Key(_SCOPE, id)


def _made(size: int, seed: int, texts: Sequence[str] = (*_TEXT, "cache", "model")) -> _Bench:
    draw = random.Random(f"validation {seed}")
    drafts: list[Draft] = []
    faults: dict[Key, str] = {}
    value: dict[Key, tuple[str, str]] = {}
    corrections: dict[Key, str] = {}
    for number, fault in zip(range(size), cycle(texts), strict=False):
        name = f"{draw.choice(_NAMES)} {draw.randint(1_000, 9_999)}"
        was, now = draw.sample(_DRINKS if fault == UNMARKED else _CITIES, 2)
        root, beside = _key(f"root-{number}"), _key(f"beside-{number}")
        told = (
            f"{name} prefers {was} since {draw.randint(1990, 2020)}. The desk of {name} is on floor {number}."
        )
        other = f"{name} answers mail on Mondays. Parcels for {name} go to gate {draw.randint(1, 40)}."
        reads = (Read(key=root), Read(key=beside))
        here = _key(f"made-{number}")
        if fault == "model":
            told = json.dumps([{"label": was, "features": [draw.random(), 1.0, 0.0]} for _ in range(6)])
            other = json.dumps([{"label": now, "features": [0.0, 1.0, draw.random()]} for _ in range(6)])
            fixed = told.replace(was, now).replace("1.0, 0.0", "0.0, 1.0")
        else:
            fixed = told.replace(was, now)
        drafts += [Draft(key=root, content=told), Draft(key=beside, content=other)]
        corrections[root] = fixed
        faults[here] = fault
        value[here] = (was, now)
        case = TaskCase(name="today", excludes=(was,))
        recipe = Recipe(
            operator={"cache": "bench.flapping", "model": "bench.remembering"}.get(fault, "bench.writer"),
            schema={"type": "object"} if fault == "model" else {"type": "string", "minLength": 10},
            cases=(case,) if fault not in ("model", UNMARKED) and draw.random() < _CASED else (),
        )
        content = f"{told} {other}"
        kind, arch = Kind.SUMMARY, Arch.NONE
        if fault == "cache":
            kind = Kind.CACHE
        elif fault == "model":
            kind, arch = Kind.SKILL, Arch.NEURAL
            content = _Remembering().train([_input(root, told), _input(beside, other)], recipe.params)
        drafts.append(Draft(key=here, content=content, kind=kind, arch=arch, recipe=recipe, reads=reads))
    old_tools, new_tools = _tools("get_user"), _tools("fetch_user", renamed_from="get_user")
    contract = _key("tools")
    drafts.append(Draft(key=contract, content=old_tools, source=Source.SYSTEM))
    for number in range(size // 6 if "model" in texts else 0):
        here = _key(f"chain-{number}")
        steps = [{"name": "user", "tool": "get_user", "arguments": {"id": "{id}"}, "outputs": ["city"]}]
        chain = json.dumps({"inputs": ["id"], "steps": steps, "result": "{user.city}"})
        recipe = Recipe(operator="bench.unmoved", schema={"type": "object"})
        drafts.append(
            Draft(
                key=here,
                content=chain,
                kind=Kind.SKILL,
                arch=Arch.CHAIN,
                recipe=recipe,
                reads=(Read(key=contract),),
            )
        )
        faults[here] = "chain"
    old = {draft.key: draft.content for draft in drafts}
    return _Bench(
        drafts=tuple(drafts),
        operators=(
            _Writer(old=old, faults=faults, value=value),
            FunctionOperator(name="bench.flapping", function=_Flapping(old)),
            _Unmoved(),
            _Remembering(),
        ),
        faults=faults,
        corrections=corrections,
        interface=Interface(key=contract, content=new_tools),
    )


def _tools(name: str, **more: str) -> str:
    return json.dumps({"tools": {name: {**more, "arguments": {"id": {"required": True}}}}})


def _input(key: Key, content: str) -> Input:
    draft = Draft(key=key, content=content)
    relation = Read(key=key).relation
    return Input(key=key, version=1, kind=draft.kind, relation=relation, content=content)


def measure(workshop: Path, *, size: int, seed: int = 0) -> dict[str, object]:
    """Share of stale successors that each suite publishes, in all and by fault; `made` is how many there are.

    `beyond` is the composed suite on `UNMARKED` successors alone, which the others leave out.
    """
    result: dict[str, object] = {}
    for name, suite in (*SUITES.items(), ("beyond", CHECKS)):
        bench = _made(size, seed, (UNMARKED,)) if name == "beyond" else _made(size, seed)
        passed: Counter[str] = Counter()
        made = Counter(bench.faults.values())
        for number, event in enumerate(_events(bench)):
            file = workshop / f"{name}-{number}.db"
            with Memory.open(file, operators=bench.operators, embedder=None) as memory:
                memory.ingest(bench.drafts)
                case = engine.withdraw(memory.store, event, operators=memory.operators)
                report = engine.repair(
                    memory.store,
                    case.id,
                    operators=memory.operators,
                    solver=REPAIR_ALL,
                    cutoff=False,
                    checks=_Only(suite),
                )
            passed.update(bench.faults[key] for key in _published(report) if key in bench.faults)
        result[name] = {
            "stale_passes": ratio(sum(passed.values()), sum(made.values())),
            "made": sum(made.values()),
            "by_fault": {fault: ratio(passed[fault], count) for fault, count in made.items()},
        }
    return result


def _published(report: RepairReport) -> tuple[Key, ...]:
    return (*report.republished, *report.unchanged)


def _events(bench: _Bench) -> tuple[RepairEvent, ...]:
    correct = RepairEvent(
        kind=EventKind.CORRECT,
        roots=tuple(bench.corrections),
        delta=Correction(replacements=bench.corrections),
        reason="moved",
        actor="bench",
    )
    migrate = RepairEvent(
        kind=EventKind.MIGRATE,
        roots=(bench.interface.key,),
        delta=Migration(interfaces={bench.interface.key: bench.interface}),
        reason="renamed",
        actor="bench",
    )
    return correct, migrate
