"""The command for cron: what is due is done, then it ends."""

from __future__ import annotations

from typing import Annotated

import typer

from memorepair.cli.checkup import Confirm, keeping, outcomes, show
from memorepair.cli.guard import CLEAN, PROBLEMS, command
from memorepair.cli.options import AsJson, Db, opened
from memorepair.cli.output import emit, progress, say


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
    as_json: AsJson = False,
) -> int:
    """Make the checks that are due and the repairs whose time has come; exit code 1 where damage is found."""
    how = keeping(confirm)
    with opened(db) as memory, progress(quiet=as_json) as step:
        found = memory.patrol(after or (), keeping=how, progress=step)
    if as_json:
        emit(found.to_json())
    else:
        say(f"checks: {', '.join(found.checks) or 'none is due'}")
        outcomes(found.resumed)
        if found.report is not None:
            show(found.report)
        if found.drill_due:
            say("a drill is due: memorepair drill", style="yellow")
    return PROBLEMS if found.report is not None and found.report.checkup.findings else CLEAN
