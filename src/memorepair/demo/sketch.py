"""A repaired cascade as a picture: who stood where in the snapshot, what the report says became of them."""

from __future__ import annotations

from collections.abc import Collection

from memorepair.memory.artifact import Key
from memorepair.memory.snapshot import Snapshot
from memorepair.picture import Look, Spot, draw_cascade
from memorepair.repair.events import EventKind, RepairEvent
from memorepair.repair.modes import Mode
from memorepair.repair.report import Fate, RepairReport

_LOOKS = {
    Fate.REPUBLISHED: Look.REPAIRED,
    Fate.UNCHANGED: Look.REPAIRED,
    Fate.RELEASED: Look.RELEASED,
    Fate.FAILED: Look.LEFT,
    Fate.SKIPPED: Look.LEFT,
    Fate.LEFT: Look.LEFT,
}
_ROOTS = {EventKind.DELETE: "deleted", EventKind.CORRECT: "replaced", EventKind.MIGRATE: "superseded"}
_DONE = {Mode.RECOMPUTE: "recomputed", Mode.REGEN: "regenerated", Mode.PARAM: "unlearned"}


def sketch(
    before: Snapshot, cascade: Collection[Key], event: RepairEvent, report: RepairReport, *, title: str
) -> str:
    """The page of `draw_cascade` for the members of a cascade and what they directly stand on."""
    members = set(cascade)
    arcs = [(arc.parent, arc.child) for arc in before.arcs if arc.child in members]
    support = sorted({parent for parent, _ in arcs} - members)
    spots = [
        Spot(key=key, kind=before.current[key].kind, before=Look.SERVED, after=Look.SERVED) for key in support
    ]
    spots += [
        Spot(
            key=root,
            kind=before.current[root].kind,
            before=Look.ROOT,
            after=Look.ROOT,
            note=_ROOTS[event.kind],
        )
        for root in event.roots
    ]
    rows = {row.key: row for row in report.plan.rows()}
    for member in report.members:
        row = rows[member.key]
        note = {Fate.UNCHANGED: "unchanged", Fate.REPUBLISHED: _DONE.get(row.mode, "")}.get(member.fate, "")
        if _LOOKS[member.fate] is Look.LEFT:
            note = row.reason if member.fate is Fate.LEFT else member.fate.value
        spots.append(
            Spot(
                key=member.key,
                kind=before.current[member.key].kind,
                before=Look.WITHDRAWN,
                after=_LOOKS[member.fate],
                note=note,
                why=f"{member.why}\nvalue {row.value:.1f}, cost {row.cost:.1f} {report.plan.candidates.unit}",
            )
        )
    ratio = f" ({report.cost_ratio:.0%})" if report.cost_ratio is not None else ""
    cost = f"{report.cost:,.0f} of {report.cost_all:,.0f}{ratio}"
    return draw_cascade(
        spots,
        arcs,
        title=f"{title}: {event.kind} {', '.join(map(str, event.roots))}",
        before={
            "artifacts": str(len(before.current)),
            "cascade, served until now": str(len(members)),
            "withdrawn": str(len(members)),
            "direct support, untouched": str(len(support)),
        },
        after={
            "republished": str(len(report.republished)),
            "came out unchanged": str(len(report.unchanged)),
            "released early": str(len(report.released)),
            "left withdrawn": str(len(report.still_withdrawn)),
            f"cost in {report.plan.candidates.unit}, of repair-all": cost,
        },
    )
