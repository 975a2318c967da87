"""The demo's three events, each measured from outside: snapshots, serving doors, soundness checker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from memorepair.demo.build import ALLERGY, HOME, NEW_RATES, RATES, build
from memorepair.demo.figures import Act, Line, Probe, Tour
from memorepair.demo.sketch import sketch
from memorepair.demo.tools import PRICES, TOOLS
from memorepair.demo.world import table
from memorepair.errors import InvalidFile, Withdrawn
from memorepair.facade import Memory
from memorepair.memory.artifact import Case, Key, Scope, State
from memorepair.memory.snapshot import Snapshot
from memorepair.repair.engine import RepairReport
from memorepair.repair.events import Correction, Deletion, EventKind, Interface, Migration, RepairEvent
from memorepair.repair.jsontext import canonical
from memorepair.repair.plan import RepairPlan
from memorepair.repair.pricing import Pricing
from memorepair.repair.report import Fate
from memorepair.repair.soundness import exposed, is_sound_publication

_MORNING = 1_772_438_400 * 10**9  # 2 March 2026, 08:00 UTC
_SECOND = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scene:
    title: str
    event: RepairEvent
    declare: Callable[[Memory], Case]
    query: str
    scope: Scope


def run(out: Path) -> Tour:
    """Build the memory in a temporary file, go through the events, write a picture of each into `out`.

    Raises
    ------
    InvalidFile
        `out` cannot be written to.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidFile.cannot("made", out, error) from error
    ticks = count(_MORNING, _SECOND)
    with (
        TemporaryDirectory(prefix="memorepair-demo-") as folder,
        Memory.open(
            Path(folder) / "assistant.db",
            clock=lambda: next(ticks),
            operators=TOOLS,
            pricing=Pricing(per_operator=PRICES),
        ) as memory,
    ):
        build(memory)
        start = memory.store.snapshot()
        return Tour(
            artifacts=len(start.current),
            arcs=len(start.arcs),
            scopes=len({key.scope for key in start.current}),
            acts=tuple(_play(memory, scene, out) for scene in _scenes()),
        )


def _scenes() -> tuple[_Scene, ...]:
    fresh = "Ada lives in Lyon, at 8 rue Merciere."
    interface = Interface(key=NEW_RATES, content=canonical(table("ops", "interface", "v2")))
    rows = "rates-to-v2@1"
    return (
        _Scene(
            title="Ada has moved",
            event=RepairEvent(
                kind=EventKind.CORRECT, roots=(HOME,), delta=Correction(replacements={HOME: fresh})
            ),
            declare=lambda memory: memory.correct(HOME, fresh, reason="she moved", actor="user:ada"),
            query="12 rue Oberkampf",
            scope=HOME.scope,
        ),
        _Scene(
            title="Mei wants her diagnosis forgotten",
            event=RepairEvent(kind=EventKind.DELETE, roots=(ALLERGY,), delta=Deletion()),
            declare=lambda memory: memory.delete(ALLERGY, reason="privacy request", actor="user:mei"),
            query="医生确认",
            scope=ALLERGY.scope,
        ),
        _Scene(
            title="The currency service changes its interface",
            event=RepairEvent(
                kind=EventKind.MIGRATE,
                roots=(RATES,),
                delta=Migration(interfaces={RATES: interface}, rows=rows),
            ),
            declare=lambda memory: memory.migrate(
                RATES, interface, rows=rows, reason="version 1 is switched off", actor="team:ops"
            ),
            query='"pair"',
            scope=RATES.scope,
        ),
    )


def _play(memory: Memory, scene: _Scene, out: Path) -> Act:
    before = memory.store.snapshot()
    stale = exposed(before, scene.event, before)
    contents = {key: memory.get(key).content for key in stale}
    found_before = _hits(memory, scene)
    case = scene.declare(memory)
    readable = _readable(memory, before, contents)
    found_withdrawn = _hits(memory, scene)
    barred = memory.store.snapshot()
    report = memory.repair(case)
    after = memory.store.snapshot()
    lines = _lines(before, report)
    picture = out / f"{report.case.id}-{scene.event.kind}.html"
    act = _measured(
        scene,
        report,
        lines,
        picture,
        artifacts=len(before.current),
        exposed=len(stale),
        withdrawn=sum(
            barred.versions[key, before.current[key].version].state is not State.ACTIVE for key in stale
        ),
        readable=readable,
        exposed_after=len(exposed(before, scene.event, after)),
        probe=Probe(
            query=scene.query, before=found_before, withdrawn=found_withdrawn, after=_hits(memory, scene)
        ),
        sound=is_sound_publication(before, scene.event, after),
    )
    page = sketch(before, stale, scene.event, report, title=scene.title)
    try:
        picture.write_text(page, encoding="utf-8")
    except OSError as error:
        raise InvalidFile.cannot("written", picture, error) from error
    return act


def _measured(
    scene: _Scene,
    report: RepairReport,
    lines: tuple[Line, ...],
    picture: Path,
    *,
    artifacts: int,
    exposed: int,
    withdrawn: int,
    readable: int,
    exposed_after: int,
    probe: Probe,
    sound: bool,
) -> Act:
    plan = report.plan
    executable = dict(zip(plan.candidates.keys, plan.candidates.executable.tolist(), strict=True))
    executed = Counter(line.mode for line in lines if line.fate in (Fate.REPUBLISHED, Fate.UNCHANGED))
    back = (Fate.REPUBLISHED, Fate.UNCHANGED, Fate.RELEASED)
    return Act(
        title=scene.title,
        event=scene.event.kind,
        roots=scene.event.roots,
        artifacts=artifacts,
        exposed=exposed,
        withdrawn=withdrawn,
        readable=readable,
        exposed_after=exposed_after,
        executable=sum(executable.values()),
        chosen=sum(map(len, plan.waves)),
        optimal=plan.selection.verify() and plan.selection.gap == 0,
        objective=float(plan.selection.objective),
        recomputed=executed["recompute"],
        regenerated=executed["regen"],
        lines=lines,
        verdicts={f"{check} {word}": times for (check, word), times in sorted(report.verdicts.items())},
        worth=sum(line.worth for line in lines if line.fate in back),
        worth_all=sum(line.worth for line in lines if executable[line.key]),
        cost=report.cost,
        cost_all=report.cost_all,
        unit=plan.candidates.unit,
        probe=probe,
        sound=sound,
        picture=picture,
    )


def _lines(before: Snapshot, report: RepairReport) -> tuple[Line, ...]:
    instance = report.plan.selection.instance
    scale = float(instance.tradeoff)
    fate = {member.key: member for member in report.members}
    reasons = {**_served(report.plan, report), **_unchosen(report.plan, report)}
    return tuple(
        Line(
            key=row.key,
            kind=before.current[row.key].kind,
            mode=row.mode.value,
            worth=float(instance.value[place]),
            price=scale * float(instance.cost[place]),
            fate=fate[row.key].fate,
            why=reasons.get(row.key, fate[row.key].why),
        )
        for place, row in enumerate(report.plan.rows())
    )


def _served(plan: RepairPlan, report: RepairReport) -> dict[Key, str]:
    """How what was executed came back, and what paid for it where it is not worth its price alone."""
    instance = plan.selection.instance
    rows = plan.rows()
    pays = {head: tail for tail, head in _chosen_arcs(plan)}
    reasons: dict[Key, str] = {}
    for place, member in enumerate(report.members):
        worth, price = float(instance.value[place]), float(instance.tradeoff) * float(instance.cost[place])
        if member.fate not in (Fate.REPUBLISHED, Fate.UNCHANGED):
            continue
        how = f"{rows[place].mode.value}, {member.why}"
        reasons[member.key] = how if worth > price else f"{how}; {rows[pays[place]].key} needs it"
    return reasons


def _chosen_arcs(plan: RepairPlan) -> list[tuple[int, int]]:
    requires, mask = plan.selection.instance.requires, plan.selection.mask
    pairs = zip(requires.tails().tolist(), requires.heads.tolist(), strict=True)
    return [(tail, head) for tail, head in pairs if mask[tail]]


def _unchosen(plan: RepairPlan, report: RepairReport) -> dict[Key, str]:
    """Why a candidate that could be executed was not chosen, in figures."""
    instance = plan.selection.instance
    reasons: dict[Key, str] = {}
    for place, row in enumerate(plan.rows()):
        if report.members[place].fate is not Fate.LEFT or not instance.executable[place]:
            continue
        worth, price = float(instance.value[place]), float(instance.tradeoff) * float(instance.cost[place])
        if worth <= price:
            reasons[row.key] = f"worth {worth:.1f}, price {price:.1f}"
        else:
            needs = [instance.id_of(one) for one in instance.requires.successors(place).tolist()]
            unpaid = [str(one) for one in needs if not plan.selection.mask[plan.candidates.keys.index(one)]]
            reasons[row.key] = f"requires {', '.join(unpaid)}, not worth it"
    return reasons


def _hits(memory: Memory, scene: _Scene) -> int:
    return len(memory.search(scene.query, scope=scene.scope, limit=1_000))


def _readable(memory: Memory, before: Snapshot, contents: Mapping[Key, str]) -> int:
    """How many versions served before are still given out by get, search or history."""
    found = set()
    for key, content in contents.items():
        version = before.current[key].version
        try:
            if memory.get(key).version == version:
                found.add(key)
        except Withdrawn:
            pass
        for hit in memory.search(content[:40], scope=key.scope, limit=1_000):
            if hit.artifact.key == key and hit.artifact.version == version:
                found.add(key)
        for past in memory.history(key):
            if past.version == version and past.content is not None:
                found.add(key)
    return len(found)
