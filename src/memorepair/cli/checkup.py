"""Commands that look for damage, and tell what was found before."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memorepair.cli.guard import CLEAN, PROBLEMS, command
from memorepair.cli.options import AsJson, Db, DryRun, opened
from memorepair.cli.output import content, emit, pairs, progress, rows, say
from memorepair.errors import InvalidInput
from memorepair.governance import Policy
from memorepair.housekeeping import Keeping, Report
from memorepair.ledger import Ledger, metrics, to_html, to_markdown
from memorepair.repair.ports import Outcome, Remedy

Confirm = Annotated[
    list[str] | None,
    typer.Option(help="A remedy of grade II that needs no window: merge, settle, demote, or all; repeat it."),
]


def add_to(app: typer.Typer) -> None:
    """Register checkup, record, metrics."""
    command(app, "checkup")(checkup)
    command(app, "record")(record)
    command(app, "metrics")(metrics_text)


def keeping(confirm: list[str] | None) -> Keeping:
    """How the options say a memory is kept."""
    names = set(confirm or ())
    known = {str(remedy) for remedy in (Remedy.MERGE, Remedy.SETTLE, Remedy.DEMOTE)}
    if wrong := names - known - {"all"}:
        raise InvalidInput(f"--confirm takes {', '.join(sorted(known))} or all", witness=min(wrong))
    wanted = known if "all" in names else names
    return Keeping(policy=Policy(confirmed=frozenset(Remedy(name) for name in wanted)))


def checkup(
    db: Db,
    repair: Annotated[bool, typer.Option("--repair", help="Do about it what may be done.")] = False,
    confirm: Confirm = None,
    since: Annotated[
        int | None, typer.Option(min=0, help="Look only at what is newer than an earlier check-up's newest.")
    ] = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> int:
    """Look for damage; exit code 1 where some was found. Repairs only with --repair."""
    how = keeping(confirm)
    with opened(db) as memory, progress(quiet=as_json) as step:
        report = memory.checkup(repair=repair, keeping=how, since=since, dry_run=dry_run, progress=step)
    if as_json:
        emit(report.to_json())
    else:
        show(report)
    return PROBLEMS if report.checkup.findings else CLEAN


def show(report: Report) -> None:
    """A check-up for a person."""
    counts = {str(damage): str(n) for damage, n in report.checkup.counts().items()}
    pairs({"artifacts": f"{report.checkup.artifacts:,}", "newest": report.checkup.newest, **counts})
    lines = [(f.damage, f.code, f.keys, f.confidence, f.evidence) for f in report.checkup.findings]
    if lines:
        rows("findings", ("damage", "code", "key", "confidence", "evidence"), lines, wide="evidence")
    for code, cause in report.diagnosis.causes.items():
        say(f"cause of {code}: {cause}")
    outcomes(report.outcomes)
    for what in report.checkup.left_out:
        say(f"not looked at: {what}", style="yellow")
    if report.record is not None and report.record.waiting:
        say(f"{len(report.record.waiting)} wait for a person: memorepair review list", style="yellow")


def outcomes(found: tuple[Outcome, ...]) -> None:
    """What came of remedies."""
    if not found:
        return
    lines = [
        (
            one.proposal.remedy,
            "I" * int(one.grade),
            len(one.proposal.keys),
            "done" if one.done else one.answer,
            "" if one.case is None else str(one.case),
            one.failed or one.why or one.proposal.why,
        )
        for one in found
    ]
    rows("remedies", ("remedy", "grade", "artifacts", "state", "case", "why"), lines, wide="why")


def record(
    db: Db,
    number: Annotated[
        int | None, typer.Argument(metavar="N", help="Number of the record; the newest unless given.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write the record as a page into this file.", dir_okay=False)
    ] = None,
    as_json: AsJson = False,
) -> int:
    """The record of a check-up as Markdown, JSON or HTML."""
    with opened(db) as memory:
        ledger = Ledger(memory.store)
        if number is None:
            kept = ledger.records()
            if not kept:
                raise InvalidInput("there is no record yet: memorepair checkup makes one", witness=None)
            found = kept[-1]
        else:
            found = ledger.get(number)
    if html is not None:
        html.write_text(to_html(found), encoding="utf-8")
    if as_json:
        emit(found.to_json())
    elif html is None:
        content(to_markdown(found))
    else:
        say(f"wrote {html}")
    return CLEAN


def metrics_text(db: Db, as_json: AsJson = False) -> int:
    """The counters of a memory as Prometheus text."""
    with opened(db) as memory:
        text = metrics(memory.store)
    if as_json:
        lines = [line.rpartition(" ") for line in text.splitlines() if line and not line.startswith("#")]
        emit({name: float(value) for name, _, value in lines})
    else:
        content(text.removesuffix("\n"))
    return CLEAN
