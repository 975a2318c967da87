"""Commands that bring a memory, or a view of it, out: exports, statistics, pictures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from memorepair.adapters.jsonl import ExportReport, export_jsonl
from memorepair.cli.guard import CLEAN, command
from memorepair.cli.options import AsJson, CaseNumber, Db, opened
from memorepair.cli.output import emit, pairs, progress, rows, say
from memorepair.cli.text import some
from memorepair.errors import InvalidInput
from memorepair.memory.artifact import Json
from memorepair.memory.codec import scope_name
from memorepair.memory.statistics import Statistics
from memorepair.picture import picture_of


def add_to(app: typer.Typer) -> None:
    """Register the export formats, stats and picture."""
    formats = typer.Typer(help="Bring a memory out, for another one or for a backup.", no_args_is_help=True)
    command(formats, "jsonl")(jsonl)
    app.add_typer(formats, name="export")
    command(app, "stats")(stats)
    command(app, "picture")(picture)


def jsonl(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="The file to write; - for standard output.", allow_dash=True),
    ],
    db: Db,
    with_withdrawn: Annotated[
        bool,
        typer.Option("--with-withdrawn", help="A full backup: content behind the barrier too; journalled."),
    ] = False,
    actor: Annotated[
        str | None, typer.Option(envvar="MEMOREPAIR_ACTOR", help="Who takes out a full backup.")
    ] = None,
    reason: Annotated[str | None, typer.Option(help="Why a full backup is taken out.")] = None,
    as_json: AsJson = False,
) -> int:
    """A whole memory as JSON Lines: content that is served, of the rest ids and states alone."""
    out = str(file) == "-"
    if out and as_json:
        raise InvalidInput("standard output cannot hold the export and the report", witness="--json")
    with opened(db) as memory, progress(quiet=as_json) as step:
        report = export_jsonl(
            memory,
            sys.stdout.buffer if out else file,
            with_withdrawn=with_withdrawn,
            actor=actor if with_withdrawn else None,
            reason=reason,
            progress=step,
        )
    if as_json:
        emit(report)
    elif not out:
        _show(file, report)
    return CLEAN


def stats(db: Db, as_json: AsJson = False) -> int:
    """How much there is of everything, and how large it lies on disk; no content."""
    with opened(db) as memory:
        found = memory.statistics()
    if as_json:
        emit(_plain(found))
        return CLEAN
    pairs(
        {
            "versions": f"{found.versions:,}, {found.content:,} with content",
            "influence arcs": f"{found.arcs:,}, {found.former_arcs:,} into former versions",
            "journal entries": f"{found.entries:,}",
            "file": f"{found.file_bytes:,} bytes, its log {found.log_bytes:,}",
            "text": f"{found.text_characters:,} characters",
            "full-text index": f"{found.index_bytes:,} bytes",
            "vectors": f"{found.vectors:,}, {found.vector_bytes:,} bytes",
        }
    )
    states = sorted(found.artifacts.items())
    rows("artifacts", ("state", "kind", "count"), ((*about, count) for about, count in states))
    scopes = ((scope_name(scope) or "(root)", count) for scope, count in found.scopes.items())
    rows("scopes", ("scope", "count"), scopes)
    if found.cases:
        rows("cases", ("status", "count"), found.cases.items())
    return CLEAN


def picture(
    case: CaseNumber,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The page (XHTML) to write.", dir_okay=False)],
    db: Db,
    run: Annotated[
        str | None, typer.Option("--run", metavar="RUN", help="Show what became of this run instead.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """A page with the case's cascade, before and after: ids, states and reasons, no content."""
    with opened(db) as memory:
        page = picture_of(memory, case, run=run)
    file.write_text(page, encoding="utf-8")
    if as_json:
        emit({"case": case, "file": str(file)})
    else:
        say(f"{file} shows case {case}")
    return CLEAN


def _show(file: Path, report: ExportReport) -> None:
    say(f"{file}: {some(report.artifacts, 'artifact')}")
    say(f"{some(report.versions, 'version')}, {report.content:,} of them with content")
    if report.entry is not None:
        say(f"a full backup, journal entry {report.entry}")


def _plain(found: Statistics) -> dict[str, object]:
    """Mappings whose keys are values become lists of objects."""
    artifacts: list[object] = [
        {"state": state, "kind": kind, "count": count}
        for (state, kind), count in sorted(found.artifacts.items())
    ]
    scopes: list[object] = [{"scope": list(scope), "count": count} for scope, count in found.scopes.items()]
    spaces: list[object] = [space._asdict() | {"count": count} for space, count in found.spaces.items()]
    numbers: dict[str, Json] = {
        name: getattr(found, name)
        for name in (
            *("versions", "content", "vectors", "arcs", "former_arcs", "entries", "file_bytes", "log_bytes"),
            *("text_characters", "index_bytes", "vector_bytes"),
        )
    }
    return {"artifacts": artifacts, "scopes": scopes, "spaces": spaces, "cases": found.cases, **numbers}
