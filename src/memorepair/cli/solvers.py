"""The command that lists the solvers, of closures and within budgets."""

from __future__ import annotations

import typer

from memorepair.cli.guard import CLEAN, command
from memorepair.cli.options import AsJson
from memorepair.cli.output import emit, rows
from memorepair.solvers.ilp import ListedIlp, listed_ilps
from memorepair.solvers.registry import Listed, listed


def add_to(app: typer.Typer) -> None:
    """Register solvers."""
    command(app, "solvers")(solvers)


def solvers(as_json: AsJson = False) -> int:
    """The names that --solver and --ilp take, what each can do, whether its package is installed."""
    known, programs = listed(), listed_ilps()
    if as_json:
        emit({"solvers": known, "ilps": programs})
        return CLEAN
    rows(
        "solvers",
        ("name", "exact", "ties", "up to", "needs", "what it is"),
        [(one.name, one.exact, " ".join(one.ties), one.max_size, _needs(one), one.what) for one in known],
        wide="what it is",
    )
    rows(
        "integer programs for --ilp",
        ("name", "own bound", "node limit", "needs", "what it is"),
        [(one.name, one.bounds, one.counts_nodes, _needs(one), one.what) for one in programs],
        wide="what it is",
    )
    return CLEAN


def _needs(one: Listed | ListedIlp) -> str:
    absent = "" if one.installed else " (absent)"
    return f"{one.package or ''}{absent}"
