"""Systems: the repair by this package with one part exchanged at a time, and three that know no cascade."""

from __future__ import annotations

import math
import random
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from bench.cascade.faults import FaultyTable
from bench.cascade.world import Truth, World
from memorepair.facade import Memory
from memorepair.graphs.support import Policy
from memorepair.graphs.terms import Relation
from memorepair.memory.artifact import Key
from memorepair.repair import engine
from memorepair.repair.candidates import Candidates
from memorepair.repair.events import Correction, Deletion, EventKind, Migration, RepairEvent
from memorepair.repair.operators.attempt import Failure, attempt
from memorepair.repair.operators.operator import Call, Input, may_read_own
from memorepair.repair.plan import REPAIR_ALL
from memorepair.repair.soundness import is_sound_publication

BUDGET = 0.57
"""Share of repair-all's cost that a budget allows."""

ZIPF = 1.0
"""Exponent of the law by which artifacts are used."""

_READS_PER_ARTIFACT = 3
_DAYS = 60
_DAY = 86_400 * 10**9
_START = 1_750_000_000 * 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """What is exchanged; everything else is shared.

    `priced` takes the price that the frontier gives for `BUDGET`, else the default holds.
    """

    name: str
    solver: str = "pseudoflow"
    priced: bool = True
    repairs: bool = True
    cutoff: bool = False
    evidence: bool = False
    reselect: bool = False
    budget: bool = False

    @property
    def plain(self) -> bool:
        """Whether its plan alone says what comes of an event."""
        return not (self.cutoff or self.evidence or self.reselect or self.budget)


SYSTEMS: tuple[System, ...] = (
    System(name="withdraw_only", repairs=False),
    System(name="repair_all", solver=REPAIR_ALL),
    System(name="greedy_ratio", solver="greedy"),
    System(name="greedy_cone", solver="cone-ratio"),
    System(name="greedy_marginal", solver="marginal-gain"),
    System(name="mincut"),
    System(name="mincut_cutoff", cutoff=True),
    System(name="mincut_evidence", evidence=True),
    System(name="mincut_reselect", reselect=True),
    System(name="mincut_budget", budget=True),
    System(name="mincut_default", priced=False),
)
"""That withdraw the cascade first; all but the last at one price, so that one part differs."""

NAIVE = ("root_only", "one_hop", "timestamp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Later:
    """Reads after the event: all, those of members of the true cascade, those that were given a stale one."""

    reads: int
    of_cascade: int
    stale: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one system made of one event.

    Attributes
    ----------
    served
        Members of the true cascade, without what the event brings, that are in service afterwards.
    stale
        Those of them that were not validated since the event, and no true evidence carries.
    recovered
        Descendants that are in service with a validated successor, or released, or rightly spared.
    wrong
        Out of service though the event does not concern them.
    cost, cost_all
        Executed; of all that can be executed.
    seconds, cpu
        From the declaration of the event to the end of its repair.
    """

    served: frozenset[Key]
    stale: frozenset[Key]
    recovered: frozenset[Key]
    wrong: frozenset[Key]
    cost: float
    cost_all: float
    later: Later
    released: int = 0
    spared: int = 0
    failed: int = 0
    reselections: int = 0
    sound: bool | None = None
    seconds: float = 0.0
    cpu: float = 0.0


Known = dict[tuple[EventKind, tuple[Key, ...], str], Outcome]
"""What came of an event, by the digest of the plan."""


@dataclass(slots=True)
class _Clock:
    now: int = _START

    def __call__(self) -> int:
        self.now += 1_000
        return self.now


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A world in a file, used as by an agent; each run gets a copy of it."""

    world: World
    file: Path
    truth: Truth
    later: tuple[Key, ...]
    """Reads after an event, drawn as those before it."""
    clock: int
    contents: Mapping[Key, str]

    @contextmanager
    def opened(self) -> Iterator[Memory]:
        """A copy of the memory, as it is before an event."""
        folder = self.file.parent / "run"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for part in self.file.parent.glob(f"{self.file.name}*"):
            shutil.copyfile(part, folder / part.name)
        with Memory.open(
            folder / self.file.name,
            create=False,
            operators=self.world.operators,
            embedder=None,
            clock=_Clock(self.clock),
        ) as memory:
            yield memory


def settle(world: World, folder: Path, seed: int, *, uses: bool = True) -> Setting:
    """Store a world and use it: three reads an artifact on average, by Zipf's law, over two months.

    Without `uses` it is stored alone.
    """
    folder.mkdir(parents=True, exist_ok=True)
    clock = _Clock()
    draw = random.Random(f"{world.name} uses {seed}")
    keys = [draft.key for draft in world.drafts]
    draw.shuffle(keys)
    weight = [1 / rank**ZIPF for rank in range(1, len(keys) + 1)]
    count = _READS_PER_ARTIFACT * len(keys)
    file = folder / "memory.db"
    with Memory.open(file, operators=world.operators, embedder=None, clock=clock) as memory:
        memory.ingest(world.drafts)
        for key in draw.choices(keys, weight, k=count if uses else 0):
            clock.now += _DAYS * _DAY // count
            memory.get(key)
    return Setting(
        world=world,
        file=file,
        truth=Truth(world.drafts),
        later=tuple(draw.choices(keys, weight, k=count)),
        clock=clock.now,
        contents={draft.key: draft.content for draft in world.drafts},
    )


def candidates_of(setting: Setting, event: RepairEvent) -> Candidates:
    """What could be repaired after an event, at the default prices."""
    with setting.opened() as memory:
        case = engine.withdraw(memory.store, event, operators=memory.operators)
        return engine.plan(memory.store, case.id, operators=memory.operators).candidates


def run(
    setting: Setting,
    event: RepairEvent,
    system: System,
    *,
    price: float,
    candidates: Candidates,
    prove: bool = False,
    luck: int | None = None,
    known: Known | None = None,
) -> Outcome:
    """Declare the event in a copy of the memory, repair by `system`, and look at what is served.

    Parameters
    ----------
    price
        lambda in the candidates' own units.
    prove
        Whether `is_sound_publication` is asked too.
    luck
        Of the draw of operators' faults (`FaultyTable`); None where they have none.
    known
        What plain systems made of the event before, by plan: one that makes the same plan is not carried out
        again.
    """
    members = setting.truth.cascade(event.roots)
    declared = replace(event, evidence="grounded") if system.evidence else event
    cost_all = math.fsum(candidates.cost[candidates.executable].tolist())
    with setting.opened() as memory:
        before = memory.store.snapshot() if prove else None
        operators = memory.operators if luck is None else FaultyTable(memory.operators, luck)
        began, cpu = time.perf_counter(), time.process_time()
        case = engine.withdraw(memory.store, declared, operators=operators)
        report = None
        plan = None
        if system.repairs:
            if system.priced and not system.budget:
                memory.store.set_scale(case.id, (1.0, 1.0))
            tradeoff = price if system.priced and not system.budget else None
            budget = BUDGET * cost_all if system.budget else None
            if known is not None and system.plain and luck is None:
                planned = engine.plan(
                    memory.store, case.id, operators=operators, tradeoff=tradeoff, solver=system.solver
                )
                plan = event.kind, event.roots, planned.digest
                if plan in known:
                    return known[plan]
            report = engine.repair(
                memory.store,
                case.id,
                operators=operators,
                tradeoff=tradeoff,
                budget=budget,
                solver=system.solver,
                reselect=system.reselect,
                cutoff=system.cutoff,
            )
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        sound = None
        if before is not None:
            sound = bool(is_sound_publication(before, declared, memory.store.snapshot()))
        served = frozenset(memory.store.served(list(setting.contents)))
    done = frozenset[Key]()
    if report is not None:
        done = frozenset((*report.republished, *report.unchanged, *report.released))
    brought = frozenset(event.roots)
    carried = setting.truth.carried(event.roots) if system.evidence else frozenset[Key]()
    spared = (members & served) - done - brought
    stale = spared - carried
    outcome = Outcome(
        served=(members & served) - brought,
        stale=stale,
        recovered=done & members | spared & carried,
        wrong=frozenset(setting.contents) - members - served,
        cost=0.0 if report is None else report.cost,
        cost_all=cost_all,
        later=_later(setting, members, stale),
        released=0 if report is None else len(report.released),
        spared=len(spared),
        failed=0 if report is None else len(report.failed),
        reselections=0 if report is None else report.reselections,
        sound=sound,
        seconds=seconds,
        cpu=cpu,
    )
    if known is not None and plan is not None:
        known[plan] = outcome
    return outcome


def spared_by(setting: Setting, event: RepairEvent, policy: Policy) -> frozenset[Key]:
    """Members of the true cascade that the event leaves in service on these terms; roots left out."""
    with setting.opened() as memory:
        engine.withdraw(memory.store, replace(event, evidence=policy), operators=memory.operators)
        served = frozenset(memory.store.served(list(setting.contents)))
    return (setting.truth.cascade(event.roots) & served) - frozenset(event.roots)


def _later(setting: Setting, members: frozenset[Key], stale: frozenset[Key]) -> Later:
    return Later(
        reads=len(setting.later),
        of_cascade=sum(key in members for key in setting.later),
        stale=sum(key in stale for key in setting.later),
    )


# systems without a cascade -----------------------------------------------------------------------------


class _Naive:
    """A memory that knows direct sources only; it rebuilds with the operators and prices of the others."""

    def __init__(self, setting: Setting, event: RepairEvent, candidates: Candidates, memory: Memory) -> None:
        self.setting, self.event, self.memory = setting, event, memory
        self.members = setting.truth.cascade(event.roots)
        self.place = {key: place for place, key in enumerate(candidates.keys)}
        self.candidates = candidates
        self.dropped: set[Key] = set(event.roots) if isinstance(event.delta, Deletion) else set()
        self.rebuilt: dict[Key, str] = {}
        self.clean: set[Key] = set() if self.dropped else set(event.roots)
        self.cost = 0.0
        self.fresh: dict[Key, str] = {}
        if isinstance(event.delta, Migration):
            self.fresh = {root: one.content for root, one in event.delta.interfaces.items()}
        elif isinstance(event.delta, Correction):
            self.fresh = dict(event.delta.replacements)

    def parents(self, key: Key) -> list[Key]:
        return [one for group in self.setting.truth.parents[key].values() for one in sorted(group)]

    def content(self, key: Key) -> str:
        return self.rebuilt.get(key) or self.fresh.get(key) or self.setting.contents[key]

    def rebuild(self, key: Key) -> None:
        """Make it again from what is there now, whatever that stands on; drop it where that is impossible."""
        place = self.place.get(key)
        name = None if place is None else self.candidates.operators[place]
        operator = None if name is None else self.memory.operators.get(name)
        there = [one for one in self.parents(key) if one not in self.dropped]
        if place is None or operator is None or not there:
            self.dropped.add(key)
            return
        recipe = self.memory.store.recipes([key]).get(key)
        migrates = isinstance(self.event.delta, Migration)
        call = Call(
            key=key,
            inputs=tuple(self._input(one) for one in there),
            params={} if recipe is None else recipe.params,
            interfaces=self.fresh if migrates else {},
            own=self.setting.contents[key]
            if may_read_own(operator, self.candidates.modes[place], migrates=migrates)
            else None,
        )
        made = attempt(operator, call)
        self.cost += float(self.candidates.cost[place])
        if isinstance(made, Failure):
            self.dropped.add(key)
            return
        self.rebuilt[key] = made.content
        if all(one in self.clean or one not in self.members for one in there):
            self.clean.add(key)

    def _input(self, key: Key) -> Input:
        listing = self.memory.store.describe(key)
        return Input(
            key=key,
            version=listing.version,
            kind=listing.kind,
            relation=Relation.DERIVE,
            content=self.content(key),
        )

    def outcome(self, stale_reads: int | None = None) -> Outcome:
        """What is served in the end; `stale_reads` where they were counted on the way."""
        roots = frozenset(self.event.roots)
        served = self.members - self.dropped - roots
        stale = served - self.clean
        later = _later(self.setting, self.members, stale)
        if stale_reads is not None:
            later = replace(later, stale=stale_reads)
        return Outcome(
            served=served,
            stale=stale,
            recovered=frozenset(self.clean) - roots,
            wrong=frozenset(),
            cost=self.cost,
            cost_all=math.fsum(self.candidates.cost[self.candidates.executable].tolist()),
            later=later,
        )


def run_naive(setting: Setting, event: RepairEvent, name: str, candidates: Candidates) -> Outcome:
    """The event in a memory that does not follow derivations.

    `root_only` deletes or replaces the root. `one_hop` also makes what read it anew. `timestamp` makes an
    artifact anew when it is read and one of its direct sources is newer: a deletion leaves nothing newer, and
    what stands further down is found only once what stands between has been read.
    """
    with setting.opened() as memory:
        naive = _Naive(setting, event, candidates, memory)
        began, cpu = time.perf_counter(), time.process_time()
        if name == "one_hop":
            for root in event.roots:
                for child in setting.truth.children(root):
                    naive.rebuild(child)
        found = _by_timestamp(naive) if name == "timestamp" else naive.outcome()
        return replace(found, seconds=time.perf_counter() - began, cpu=time.process_time() - cpu)


def _by_timestamp(naive: _Naive) -> Outcome:
    newer = set(naive.fresh)
    stale_reads = 0
    for key in naive.setting.later:
        if key in naive.dropped or key not in naive.members or key in naive.event.roots:
            continue
        outdated = any(one in newer and one not in naive.dropped for one in naive.parents(key))
        if outdated and key not in newer:
            naive.rebuild(key)
            newer.add(key)
        if key not in naive.dropped and key not in naive.clean:
            stale_reads += 1
    return naive.outcome(stale_reads)
