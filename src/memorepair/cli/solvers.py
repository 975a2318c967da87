"""The command that lists the solvers."""

from __future__ import annotations

import typer

from memorepair.cli.guard import CLEAN, command
from memorepair.cli.options import AsJson
from memorepair.cli.output import emit, rows
from memorepair.solvers.registry import listed


def add_to(app: typer.Typer) -> None:
    """Register solvers."""
    command(app, "solvers")(solvers)


def solvers(as_json: AsJson = False) -> int:
    """The names that --solver takes, what each can do, whether its package is installed."""
    known = listed()
    if as_json:
        emit({"solvers": known})
        return CLEAN
    rows(
        "solvers",
        ("name", "exact", "ties by itself", "up to", "package", "installed", "what it is"),
        [
            (one.name, one.exact, ", ".join(one.ties), one.max_size, one.package, one.installed, one.what)
            for one in known
        ],
        wide="what it is",
    )
    return CLEAN
