"""The commands, gathered."""

from __future__ import annotations

from typing import Annotated

import typer

from memorepair import __version__
from memorepair.cli import (
    auditing,
    check,
    checkup,
    converting,
    demo,
    doors,
    drilling,
    events,
    exporting,
    imports,
    patrol,
    pricing,
    repairs,
    retrieval,
    review,
    runs,
    selecting,
    solvers,
    undoing,
    vectors,
)

app = typer.Typer(
    name="memorepair",
    help="Withdraw what a wrong source has tainted, choose repairs exactly, republish what is validated.",
    epilog="Exit codes: 0 clean, 1 problems found, 2 bad input, nothing changed. Every command knows --json.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False) -> None:
    """Withdraw what a wrong source has tainted, choose repairs exactly, republish what is validated."""
    if version:
        typer.echo(__version__)
        raise typer.Exit


for room in (
    imports,
    exporting,
    doors,
    events,
    repairs,
    runs,
    undoing,
    pricing,
    check,
    checkup,
    patrol,
    review,
    retrieval,
    drilling,
    vectors,
    auditing,
    selecting,
    solvers,
    converting,
    demo,
):
    room.add_to(app)
