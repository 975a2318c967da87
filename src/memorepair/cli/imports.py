"""Commands that make a memory or bring something into one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memorepair.adapters.tau_bench import read_import
from memorepair.cli.guard import CLEAN, command
from memorepair.cli.options import AsJson, Db, opened
from memorepair.cli.output import emit, pairs, progress, rows, say
from memorepair.facade import Memory


def add_to(app: typer.Typer) -> None:
    """Register init and the import formats."""
    command(app, "init")(init)
    formats = typer.Typer(help="Bring what other systems recorded into a memory.", no_args_is_help=True)
    command(formats, "tau-bench")(tau_bench)
    app.add_typer(formats, name="import")


def init(
    db: Annotated[
        Path, typer.Argument(metavar="DB", envvar="MEMOREPAIR_DB", help="The file to make.", dir_okay=False)
    ],
    as_json: AsJson = False,
) -> int:
    """Make an empty memory; a memory that is there already is left as it is."""
    made = not db.exists()
    Memory.open(db, create=True).close()
    if as_json:
        emit({"db": str(db), "made": made})
    else:
        say(f"{db} is ready" if made else f"{db} was a memory already")
    return CLEAN


def tau_bench(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder with the database and the recorded runs.")
    ],
    db: Db,
    as_json: AsJson = False,
) -> int:
    """Recorded tau-bench airline runs; read tools are replayed and compared with what they returned."""
    if db.exists():
        opened(db).close()  # what is no memory is told before the long reading
    with progress(quiet=as_json) as step:
        made = read_import(folder, progress=step)
    with Memory.open(db, create=True) as memory:
        memory.ingest(made.drafts)
    found = made.report
    if as_json:
        emit(found.to_json())
        return CLEAN
    pairs(
        {
            "runs": found.runs,
            "artifacts": found.artifacts,
            "influence arcs": found.arcs,
            "calls that changed the database": found.changes,
            "reads replayed alike": f"{found.reads.agree} of {found.reads.total} ({found.reads.share:.1%})",
        }
    )
    rows("imported", ("what", "count"), found.by_kind.items())
    if found.reads.disagreements:
        rows(
            "replayed differently", ("key", "why"), [(one.key, one.why) for one in found.reads.disagreements]
        )
    if found.skipped:
        rows("not taken over", ("what", "count"), found.skipped.items())
    return CLEAN
