"""The command that looks for influence arcs nobody recorded."""

from __future__ import annotations

from typing import Annotated

import typer

from memorepair.cli.guard import CLEAN, PROBLEMS, command
from memorepair.cli.options import AsJson, Db, DryRun, opened
from memorepair.cli.output import emit, pairs, progress, rows, say
from memorepair.cli.plain import plain
from memorepair.cli.text import some
from memorepair.errors import InvalidInput
from memorepair.facade import Memory
from memorepair.repair.audit.probe import Probed
from memorepair.repair.audit.report import THRESHOLD, AuditReport, Proposal

ALL_ABOVE = "all-above"
"""In place of an id: every proposal that a cascade from the threshold on follows."""

Threshold = Annotated[
    float, typer.Option(min=0.0, max=1.0, help="From this probability on a proposal is acted on.")
]
Ids = Annotated[list[str] | None, typer.Option(metavar="ID", help="Id of a proposal, or all-above.")]


def add_to(app: typer.Typer) -> None:
    """Register audit-provenance."""
    command(app, "audit-provenance")(audit_provenance)


def audit_provenance(
    db: Db,
    threshold: Threshold = THRESHOLD,
    accept: Ids = None,
    reject: Ids = None,
    probe: Annotated[
        float | None, typer.Option(min=0.0, help="Replay suspects first, up to this cost (1 a replay).")
    ] = None,
    content_only: Annotated[
        bool, typer.Option("--content-only", help="Take no evidence from the place in a scope.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of what calibration hides.")] = 0,
    actor: Annotated[str | None, typer.Option(envvar="MEMOREPAIR_ACTOR", help="Who judges.")] = None,
    reason: Annotated[str | None, typer.Option(help="Why; goes into the journal.")] = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> int:
    """Propose influence arcs that were never recorded; exit code 1 if any is left to judge."""
    with opened(db) as memory, progress(quiet=as_json) as step:
        report = memory.audit_provenance(regularity=not content_only, seed=seed, progress=step)
        taken, refused = _picked(report, accept, threshold), _picked(report, reject, threshold)
        twice = {one.id for one in taken} & {one.id for one in refused}
        if twice:
            raise InvalidInput("a proposal is accepted or rejected, not both", witness=min(twice))
        if (taken or refused) and (actor is None or reason is None):
            raise InvalidInput("a judgement needs --actor and --reason", witness="reason")
        probed = None
        if probe is not None:
            probed = memory.probe(report.proposals, budget=probe)
            settled = {one.id: one for one in probed.proposals}
            taken = tuple(settled[one.id] for one in taken)
        _judge(memory, taken, refused, actor or "", reason or "", dry_run)
    judged = {one.id for one in (*taken, *refused)}
    left = [one for one in (probed or report).proposals if one.id not in judged]
    if as_json:
        emit(_told(report, probed, left, taken, refused, threshold))
    else:
        _show(report, probed, left, taken, refused, threshold, dry_run=dry_run)
    return PROBLEMS if any(one.followed(threshold) for one in left) or report.lone else CLEAN


def _picked(report: AuditReport, ids: list[str] | None, threshold: float) -> tuple[Proposal, ...]:
    named = dict.fromkeys(ids or ())
    if ALL_ABOVE in named:
        del named[ALL_ABOVE]
        named |= dict.fromkeys(one.id for one in report.above(threshold))
    return report.pick(named)


def _judge(
    memory: Memory,
    taken: tuple[Proposal, ...],
    refused: tuple[Proposal, ...],
    actor: str,
    reason: str,
    dry_run: bool,
) -> None:
    if taken:
        memory.accept(taken, actor=actor, reason=reason, dry_run=dry_run)
    if refused:
        memory.reject(refused, actor=actor, reason=reason, dry_run=dry_run)


def _told(
    report: AuditReport,
    probed: Probed | None,
    left: list[Proposal],
    taken: tuple[Proposal, ...],
    refused: tuple[Proposal, ...],
    threshold: float,
) -> dict[str, object]:
    return {
        "artifacts": report.artifacts,
        "arcs": report.arcs,
        "calibrated": report.calibrated,
        "hidden": report.hidden,
        "found": report.found,
        "missing": report.missing,
        "threshold": threshold,
        "proposals": plain(left),
        "parentless": plain(report.lone),
        "silent": plain(report.silent),
        "suspected": plain(report.accepted),
        "accepted": [one.id for one in taken],
        "rejected": [one.id for one in refused],
        "replays": None if probed is None else probed.replays,
        "spent": None if probed is None else probed.spent,
    }


def _show(
    report: AuditReport,
    probed: Probed | None,
    left: list[Proposal],
    taken: tuple[Proposal, ...],
    refused: tuple[Proposal, ...],
    threshold: float,
    *,
    dry_run: bool,
) -> None:
    missing = "" if report.missing is None else f"{report.missing:.1%} of the arcs, of those it can see"
    pairs(
        {
            "audited": f"{some(report.artifacts, 'artifact')}, {some(report.arcs, 'recorded arc')}",
            "calibrated on": f"{report.found:,} of {report.hidden:,} hidden arcs found again",
            "missing": missing,
            "replays": "" if probed is None else f"{probed.replays}, cost {probed.spent:g}",
            "would accept" if dry_run else "accepted": len(taken) or "",
            "would reject" if dry_run else "rejected": len(refused) or "",
        }
    )
    if not report.calibrated:
        say("too few hidden arcs were found again to state probabilities", style="yellow")
    for sort in report.silent:
        say(f"no {sort} has a recorded parent", style="yellow")
    if report.lone:
        rows("derived, but nothing is recorded that they stand on", ("key",), [(key,) for key in report.lone])
    lines = [
        (
            one.id,
            "" if one.probability is None else one.probability,
            "yes" if one.followed(threshold) else "",
            one.child,
            one.parent,
            one.rule if not one.shared else ", ".join(one.shared),
        )
        for one in left
    ]
    rows("proposals", ("id", "probability", "above", "child", "parent", "why"), lines, wide="why")
