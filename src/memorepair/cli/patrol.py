"""The command for cron: what is due is done, then it ends."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from memorepair.adapters.embedders.named import from_environment
from memorepair.cli.checkup import Confirm, keeping, outcomes, show
from memorepair.cli.drilling import table
from memorepair.cli.guard import CLEAN, PROBLEMS, command
from memorepair.cli.options import AsJson, Db, DryRun, opened
from memorepair.cli.output import emit, progress, say
from memorepair.errors import InvalidInput, MissingDependency
from memorepair.housekeeping import Keeping
from memorepair.patrolling import Round, add_patrol, make_round


def add_to(app: typer.Typer) -> None:
    """Register patrol."""
    command(app, "patrol")(patrol)


def patrol(
    db: Db,
    after: Annotated[
        list[str] | None,
        typer.Option(help="What has happened: import, upgrade, model, permission; repeat it."),
    ] = None,
    confirm: Confirm = None,
    every: Annotated[
        float | None,
        typer.Option(metavar="MINUTES", help="Stay, and make a round so often; needs APScheduler."),
    ] = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> int:
    """Make the checks that are due, the repairs whose time has come, and a monthly drill on a copy.

    Exit code 1 where damage is found, or a drill has harmed something.
    """
    how = keeping(confirm)
    if every is not None and dry_run:
        raise InvalidInput("a dry run is one round: leave --every out", witness=every)
    if every is not None:
        return _stay(db, every, after or [], how, as_json=as_json)
    with opened(db) as memory, progress(quiet=as_json) as step:
        found = make_round(memory, after or (), keeping=how, dry_run=dry_run, progress=step)
    _tell(found, as_json=as_json)
    report = found.patrol.report
    damaged = report is not None and report.checkup.findings
    return PROBLEMS if damaged or _harmed(found) else CLEAN


def _stay(db: Path, minutes: float, after: list[str], how: Keeping, *, as_json: bool) -> int:
    """A round at once, which is told what has happened, then others until somebody interrupts them."""
    try:
        from apscheduler.schedulers.blocking import BlockingScheduler
    except ImportError as error:
        raise MissingDependency(
            "patrol --every needs APScheduler: pip install 'memorepair[patrol]', or let cron call patrol",
            witness="apscheduler",
        ) from error
    scheduler = BlockingScheduler()
    add_patrol(
        scheduler,
        db,
        minutes=minutes,
        keeping=how,
        embedder=from_environment(),
        told=lambda made: _tell(made, as_json=as_json),
    )
    with opened(db) as memory:
        first = make_round(memory, after, keeping=how)
    _tell(first, as_json=as_json)
    scheduler.start()
    return CLEAN


def _tell(found: Round, *, as_json: bool) -> None:
    if as_json:
        emit(found.to_json())
    else:
        _show(found)
    sys.stdout.flush()  # whoever follows a patrol that stays reads each round when it is over


def _show(found: Round) -> None:
    say(f"checks: {', '.join(found.patrol.checks) or 'none is due'}")
    outcomes(found.patrol.resumed)
    if found.patrol.report is not None:
        show(found.patrol.report)
    if found.drill is not None:
        table(found.drill)
    if found.undrilled is not None:
        say(f"the drill that was due could not be made: {found.undrilled}", style="yellow")


def _harmed(found: Round) -> bool:
    return found.drill is not None and any(one.harmed for one in found.drill.counts.values())
