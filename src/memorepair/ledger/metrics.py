"""Metrics: the counters of a store as Prometheus text."""

from __future__ import annotations

from collections import Counter

from memorepair.ledger.case import Ledger
from memorepair.memory.artifact import SERVING, CaseStatus
from memorepair.memory.store import Store


def metrics(store: Store) -> str:
    """All counters, one read of the store; no content, no ids.

    `memorepair_invalid_served_total` counts what is served although it stands on something withdrawn: 0
    unless the store is damaged.
    """
    with store.reading():
        counts, cases, snapshot = store.counts(), store.cases(), store.snapshot()
        records = Ledger(store).records()
    lines: list[str] = []
    _family(lines, "artifacts", "gauge", "Artifacts by state and kind.")
    for (state, kind), n in sorted(counts.items()):
        lines.append(f'memorepair_artifacts{{state="{state.name.lower()}",kind="{kind.name.lower()}"}} {n}')
    _family(lines, "cases", "gauge", "Cases by event and status.")
    by = Counter((case.event, case.status) for case in cases)
    for (event, status), n in sorted(by.items()):
        lines.append(f'memorepair_cases{{event="{event}",status="{status}"}} {n}')
    _family(lines, "withdrawn_total", "counter", "Artifacts that cases have withdrawn.")
    lines.append(f"memorepair_withdrawn_total {sum(case.withdrawn for case in cases)}")
    _family(lines, "open_cases", "gauge", "Cases that still have something out of service.")
    unfinished = (CaseStatus.OPEN, CaseStatus.RUNNING, CaseStatus.CLOSED_PARTIAL)
    lines.append(f"memorepair_open_cases {sum(case.status in unfinished for case in cases)}")
    _family(lines, "invalid_served_total", "counter", "Served, standing on a withdrawn version.")
    served = {key: view for key, view in snapshot.current.items() if view.state in SERVING}
    bad = {
        arc.child
        for arc in snapshot.arcs
        if arc.child in served
        and (view := snapshot.versions.get((arc.parent, arc.read_version))) is not None
        and view.state.name == "WITHDRAWN"
    }
    lines.append(f"memorepair_invalid_served_total {len(bad)}")
    _family(lines, "checkups_total", "counter", "Check-ups on record.")
    lines.append(f"memorepair_checkups_total {len(records)}")
    if records:
        _family(lines, "findings", "gauge", "Findings of the newest check-up by damage.")
        for damage, codes in records[-1].found.items():
            lines.append(f'memorepair_findings{{damage="{damage}"}} {sum(codes.values())}')
        _family(lines, "remedies_total", "counter", "Remedies on record by what came of them.")
        shares: Counter[str] = Counter()
        for record in records:
            shares.update(record.share())
        lines += [f'memorepair_remedies_total{{outcome="{name}"}} {n}' for name, n in sorted(shares.items())]
    return "\n".join([*lines, ""])


def _family(lines: list[str], name: str, kind: str, help: str) -> None:
    lines += [f"# HELP memorepair_{name} {help}", f"# TYPE memorepair_{name} {kind}"]
