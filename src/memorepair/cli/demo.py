"""The bundled demo as a command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memorepair.cli.guard import CLEAN, PROBLEMS, command
from memorepair.cli.options import AsJson
from memorepair.cli.output import emit
from memorepair.demo import run, show


def add_to(app: typer.Typer) -> None:
    """Register demo."""
    command(app, "demo")(demo)


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the pictures.", file_okay=False)] = Path("out/demo"),
    as_json: AsJson = False,
) -> int:
    """Take a bundled assistant memory through a correction, a deletion and a migration."""
    tour = run(out)
    if as_json:
        emit(tour.to_json())
    else:
        show(tour)
    return CLEAN if tour.sound else PROBLEMS
