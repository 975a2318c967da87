"""The command that checks the memory's file."""

from __future__ import annotations

import typer

from memorepair.cli.guard import CLEAN, PROBLEMS, command
from memorepair.cli.options import AsJson, Db, opened
from memorepair.cli.output import emit, rows, say
from memorepair.cli.text import some


def add_to(app: typer.Typer) -> None:
    """Register check."""
    command(app, "check")(check)


def check(db: Db, as_json: AsJson = False) -> int:
    """Whether the file is what was written (database, seals, barrier, index); exit code 1 if it is not."""
    with opened(db) as memory:
        faults = memory.store.check()
        skipped = ["index"] if memory.store.readonly else []
    if as_json:
        emit({"sound": not faults, "faults": faults, "skipped": skipped})
    elif faults:
        rows(
            some(len(faults), "fault"),
            ("code", "what", "witness"),
            [(one.code, one.message, one.witness) for one in faults],
        )
    else:
        say(f"{db} is sound", style="green")
    if skipped and not as_json:
        say("not compared: the index with the content, for the file may not be written", style="yellow")
    return PROBLEMS if faults else CLEAN
