"""Commands that make a memory or bring something into one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from memorepair.adapters.embedders.named import from_environment
from memorepair.adapters.importing import ImportReport, bring
from memorepair.adapters.jsonl import read_jsonl
from memorepair.adapters.registry import KINDS, ImportKind
from memorepair.adapters.tau_bench import read_import
from memorepair.cli.guard import CLEAN, PROBLEMS, command
from memorepair.cli.options import AsJson, Db, DryRun, as_scope, opened
from memorepair.cli.output import emit, pairs, progress, rows, say
from memorepair.errors import InvalidInput
from memorepair.facade import Memory
from memorepair.memory.exchange import Refusal

Update = Annotated[
    bool, typer.Option("--update", help="What differs here gets its next version instead of being refused.")
]


def add_to(app: typer.Typer) -> None:
    """Register init and the import formats."""
    command(app, "init")(init)
    formats = typer.Typer(
        help="Bring into a memory what another one, or another system, has recorded.", no_args_is_help=True
    )
    command(formats, "jsonl")(jsonl)
    command(formats, "tau-bench")(tau_bench)
    for kind in KINDS.values():
        _add_kind(formats, kind)
    app.add_typer(formats, name="import")


def _add_kind(formats: typer.Typer, kind: ImportKind) -> None:
    """One command for a kind of the registry."""

    def bring_in(
        path: Annotated[Path, typer.Argument(metavar="PATH", help="What to read, plain or with .xz.")],
        db: Db,
        scope: Annotated[
            str | None, typer.Option(help="Where it is to live, like user/42; the kind's name unless given.")
        ] = None,
        update: Update = False,
        dry_run: DryRun = False,
        as_json: AsJson = False,
    ) -> int:
        if db.exists():
            opened(db).close()  # what is no memory is told before the long reading
        recording = kind.read(path)
        place = as_scope(kind.name if scope is None else scope)
        if dry_run and not db.exists():
            found = bring(None, recording, scope=place, dry_run=True)
        else:
            with Memory.open(db, create=not dry_run, embedder=from_environment()) as memory:
                found = bring(memory, recording, scope=place, update=update, dry_run=dry_run)
        if as_json:
            emit(found.to_json())
            return PROBLEMS if found.merged.refused else CLEAN
        return _show(found)

    bring_in.__doc__ = kind.about
    command(formats, kind.name)(bring_in)


def _show(found: ImportReport) -> int:
    recording, merged = found.recording, found.merged
    pairs(
        {
            "artifacts": len(recording.items),
            "influence arcs": len(recording.links),
            "new": f"{len(merged.written):,}",
            "updated": f"{len(merged.updated):,}",
            "here already": f"{merged.same:,}",
            "refused": f"{len(merged.refused):,}",
        }
    )
    rows("recorded", ("what", "count"), recording.recorded.items())
    if recording.inferred:
        rows("inferred", ("rule", "arcs"), recording.inferred.items(), wide="rule")
    if recording.missing:
        lines = [(one.what, one.count, ", ".join(one.examples)) for one in recording.missing]
        rows("missing", ("what", "count", "such as"), lines, wide="such as")
    if found.dry_run:
        say("nothing was changed")
    return _refused(merged.refused)


def init(
    db: Annotated[
        Path, typer.Argument(metavar="DB", envvar="MEMOREPAIR_DB", help="The file to make.", dir_okay=False)
    ],
    as_json: AsJson = False,
) -> int:
    """Make an empty memory; a memory that is there already is left as it is."""
    made = not db.exists()
    Memory.open(db, create=True, embedder=from_environment()).close()
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
    with Memory.open(db, create=True, embedder=from_environment()) as memory:
        found = made.merged(memory)
    if as_json:
        emit(found.to_json())
        return PROBLEMS if found.refused else CLEAN
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
    if found.same:
        say(f"{found.same:,} were in the memory already")
    return _refused(found.refused)


def jsonl(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="What export jsonl wrote; - for standard input.", allow_dash=True
        ),
    ],
    db: Db,
    update: Update = False,
    actor: Annotated[str | None, typer.Option(envvar="MEMOREPAIR_ACTOR", help="Who does it.")] = None,
    reason: Annotated[str | None, typer.Option(help="Why; goes into the journal.")] = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> int:
    """A memory from JSON Lines; what is here stays as it is. Exit code 1 if anything was refused."""
    if db.exists():
        opened(db).close()  # what is no memory is told before the long reading
    elif dry_run:
        raise InvalidInput("a dry run needs a memory that is there", witness=str(db))
    with progress(quiet=as_json) as step:
        items = read_jsonl(sys.stdin.buffer if str(file) == "-" else file, progress=step)
    with Memory.open(db, create=True, embedder=from_environment()) as memory:
        found = memory.store.merge(items, update=update, actor=actor, reason=reason, dry_run=dry_run)
    if as_json:
        emit(found)
        return PROBLEMS if found.refused else CLEAN
    pairs(
        {
            "new": f"{len(found.written):,}",
            "updated": f"{len(found.updated):,}",
            "here already": f"{found.same:,}",
            "refused": f"{len(found.refused):,}",
            "versions": f"{found.versions:,}",
            "influence arcs": f"{found.arcs:,}",
        }
    )
    if dry_run:
        say("nothing was changed")
    return _refused(found.refused)


def _refused(refused: tuple[Refusal, ...]) -> int:
    if refused:
        rows("refused", ("key", "why", "witness"), [(one.key, one.why, one.witness) for one in refused])
    return PROBLEMS if refused else CLEAN
