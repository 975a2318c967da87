"""Commands that take a case back, or remove content for good."""

from __future__ import annotations

from typing import Annotated

import typer

from memorepair.cli.guard import CLEAN, PROBLEMS, command
from memorepair.cli.options import Actor, AsJson, CaseNumber, Db, DryRun, Reason, Wait, opened
from memorepair.cli.output import emit, first_rows, pairs, rows, say
from memorepair.cli.text import some
from memorepair.memory.artifact import Erasure
from memorepair.memory.exchange import Receipt, UndoReport


def add_to(app: typer.Typer) -> None:
    """Register undo, erase, receipt, prune."""
    command(app, "undo")(undo)
    command(app, "erase")(erase)
    command(app, "receipt")(receipt)
    command(app, "prune")(prune)


def undo(
    case: CaseNumber,
    db: Db,
    actor: Actor,
    reason: Reason,
    wait: Wait = 0.0,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> int:
    """Take a case back: what it withdrew is served again, what it brought is archived."""
    with opened(db) as memory:
        report = memory.undo(case, actor=actor, reason=reason, wait=wait, dry_run=dry_run)
    if as_json:
        emit(report)
    else:
        _show_undo(report, dry_run)
    return CLEAN


def erase(
    case: CaseNumber,
    db: Db,
    actor: Actor,
    reason: Reason,
    wait: Wait = 0.0,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> int:
    """Remove all content that a deletion withdrew, at once; exit code 1 while it is pending."""
    with opened(db) as memory:
        found = memory.erase(case, actor=actor, reason=reason, wait=wait, dry_run=dry_run)
    if found.status is not Erasure.ASKED:  # made, or a dry run of what has been made
        return _show_receipt(found, as_json)
    if as_json:
        emit(found)
    else:
        artifacts = len({one.key for one in found.versions})
        told = f"{some(len(found.versions), 'version')} of {some(artifacts, 'artifact')}"
        say(f"would erase {told}; nothing was changed")
        first_rows("would be erased", ("key", "version"), [(one.key, one.version) for one in found.versions])
    return CLEAN


def receipt(case: CaseNumber, db: Db, as_json: AsJson = False) -> int:
    """What a case has erased, without content; exit code 1 while it is pending or there is none."""
    with opened(db) as memory:
        found = memory.receipt(case)
    if found is not None:
        return _show_receipt(found, as_json)
    if as_json:
        emit(None)
    else:
        say(f"case {case} has erased nothing")
    return PROBLEMS


def prune(
    db: Db,
    older_than_days: Annotated[
        float | None, typer.Option(help="Since it left service; the retention (30) unless given.")
    ] = None,
    actor: Annotated[str | None, typer.Option(envvar="MEMOREPAIR_ACTOR", help="Who does it.")] = None,
    reason: Annotated[str | None, typer.Option(help="Why; goes into the journal.")] = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> int:
    """Remove content that left service long ago and that nothing needs any more."""
    with opened(db) as memory:
        report = memory.prune(older_than_days, actor=actor, reason=reason, dry_run=dry_run)
    if as_json:
        emit(report)
    else:
        done = "would prune" if dry_run else "pruned"
        say(f"{done} {some(len(report.versions), 'version')}, {some(report.size, 'character')}")
        if not (dry_run or report.clean):
            say("a reader holds an older snapshot: bytes remain in the files until the next prune")
        if report.versions:
            rows("versions", ("key", "version"), report.versions)
    return CLEAN


def _show_undo(report: UndoReport, dry_run: bool) -> None:
    pairs(
        {
            "case": f"{report.case.id}, {'would be ' if dry_run else ''}{report.case.status}",
            "restored": str(len(report.restored)),
            "retired": str(len(report.retired)),
            "kept": str(len(report.kept)),
            "still withdrawn": str(len(report.still_withdrawn)),
        }
    )
    lines = [(key, "restored") for key in report.restored]
    lines += [(key, f"version {no} retired") for key, no in report.retired]
    lines += [(key, "withdrawn by an earlier case") for key in report.still_withdrawn]
    rows("artifacts", ("key", "what"), lines)


def _show_receipt(found: Receipt, as_json: bool) -> int:
    if as_json:
        emit(found)
    else:
        pairs(
            {
                "case": f"{found.case}, erasure {found.status}",
                "versions": str(len(found.versions)),
                "journal entry": str(found.entry),
                "seal": found.seal,
            }
        )
        lines = [(one.key, one.version, one.digest) for one in found.versions]
        rows("erased", ("key", "version", "digest"), lines)
        if found.status is Erasure.PENDING:
            say("a reader holds an older snapshot of the file: erase again when it has gone", style="yellow")
    return CLEAN if found.status is Erasure.DONE else PROBLEMS
