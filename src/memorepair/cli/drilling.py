"""The command that drills: known damage in a copy, and what is made of it."""

from __future__ import annotations

from typing import Annotated

import typer

from memorepair.adapters.embedders.named import from_environment
from memorepair.cli.guard import CLEAN, PROBLEMS, command
from memorepair.cli.options import AsJson, Db
from memorepair.cli.output import emit, progress, rows, say
from memorepair.cli.text import some
from memorepair.drilling import DrillReport, drill, recommend


def add_to(app: typer.Typer) -> None:
    """Register drill."""
    command(app, "drill")(run)


def run(
    db: Db,
    rate: Annotated[float, typer.Option(min=0.0, max=0.1, help="Share to damage in each way.")] = 0.01,
    seed: Annotated[int, typer.Option(min=0, help="Which ones.")] = 0,
    times: Annotated[int, typer.Option(min=1, max=20, help="Drills, with seeds from this one on.")] = 1,
    as_json: AsJson = False,
) -> int:
    """Damage a copy of the memory, repair it, count; exit code 1 where anything healthy was harmed."""
    embedder = from_environment()
    with progress(quiet=as_json) as step:
        reports = [
            drill(db, rate=rate, seed=seed + n, embedder=embedder, progress=step) for n in range(times)
        ]
    advice = recommend(reports)
    if as_json:
        last = reports[-1].to_json()
        emit(last if times == 1 else {"drills": [one.to_json() for one in reports], "recommended": advice})
    else:
        for report in reports:
            table(report)
        for group, value in advice.items():
            say(f"recommended threshold of {group}: {value:.3f}")
    harmed = any(one.harmed for report in reports for one in report.counts.values())
    return PROBLEMS if harmed else CLEAN


def table(report: DrillReport) -> None:
    """A drill for a person."""
    lines = [
        (damage, one.injected, one.named, one.alarms, one.repaired, one.rightly, one.harmed)
        for damage, one in report.counts.items()
    ]
    columns = ("damage", "injected", "found", "false alarms", "repaired", "rightly", "harmed")
    rows(f"drill, seed {report.seed}, {some(report.artifacts, 'artifact')}", columns, lines)
    for damage, why in report.not_made.items():
        say(f"{damage}: not made, {why}")
