"""Commands that declare what turned out wrong."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, cast

import typer

from memorepair.cli.guard import CLEAN, command
from memorepair.cli.options import (
    Actor,
    AsJson,
    Db,
    DryRun,
    Evidence,
    KeyText,
    Reason,
    SameOrigin,
    Suspected,
    opened,
)
from memorepair.cli.output import emit, first_rows, say
from memorepair.cli.text import some
from memorepair.errors import InvalidFile, InvalidInput
from memorepair.graphs.support import Policy
from memorepair.memory.arguments import as_key
from memorepair.memory.artifact import Case
from memorepair.repair.events import Interface

File = Annotated[Path, typer.Option("--file", help="The new content; - for standard input.", allow_dash=True)]
MaybeFile = Annotated[
    Path | None,
    typer.Option("--file", help="Read the new content here; - for standard input.", allow_dash=True),
]


def add_to(app: typer.Typer) -> None:
    """Register delete, correct, migrate."""
    command(app, "delete")(delete)
    command(app, "correct")(correct)
    command(app, "migrate")(migrate)


def delete(
    keys: Annotated[list[str], typer.Argument(metavar="KEY", help="Artifacts, written like user/42::home.")],
    db: Db,
    actor: Actor,
    reason: Reason,
    erase: Annotated[
        bool, typer.Option("--erase", help="The repair, or erase, then removes the content for good.")
    ] = False,
    evidence: Evidence = "none",
    same_origin: SameOrigin = None,
    suspected: Suspected = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> int:
    """Withdraw artifacts and all that was derived from them."""
    with opened(db) as memory:
        case = memory.delete(
            keys,
            reason=reason,
            actor=actor,
            evidence=cast(Policy, evidence),
            same_origin=_sets(same_origin),
            erase=erase,
            suspected=suspected,
            dry_run=dry_run,
        )
    _show(case, as_json)
    return CLEAN


def correct(
    key: KeyText,
    db: Db,
    actor: Actor,
    reason: Reason,
    content: Annotated[str | None, typer.Option(help="The new content.")] = None,
    file: MaybeFile = None,
    evidence: Evidence = "none",
    same_origin: SameOrigin = None,
    suspected: Suspected = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> int:
    """Replace content that was wrong; all that was derived from it is withdrawn."""
    if (content is None) == (file is None):
        raise InvalidInput("give the new content by --content or by --file", witness=key)
    fresh = content if file is None else _read(file)
    with opened(db) as memory:
        case = memory.correct(
            key,
            fresh,
            reason=reason,
            actor=actor,
            evidence=cast(Policy, evidence),
            same_origin=_sets(same_origin),
            suspected=suspected,
            dry_run=dry_run,
        )
    _show(case, as_json)
    return CLEAN


def migrate(
    key: KeyText,
    file: File,
    db: Db,
    actor: Actor,
    reason: Reason,
    to: Annotated[
        str | None, typer.Option(help="Key of the new interface; the old key's next version unless given.")
    ] = None,
    rows: Annotated[
        str | None, typer.Option(help="Operator (name@version) that carries data rows over.")
    ] = None,
    evidence: Evidence = "none",
    same_origin: SameOrigin = None,
    suspected: Suspected = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> int:
    """Supersede an interface (a schema or tool contract); what follows the old one is withdrawn."""
    interface = Interface(key=as_key(key if to is None else to), content=_read(file) or "")
    with opened(db) as memory:
        case = memory.migrate(
            key,
            interface,
            rows=rows,
            reason=reason,
            actor=actor,
            evidence=cast(Policy, evidence),
            same_origin=_sets(same_origin),
            suspected=suspected,
            dry_run=dry_run,
        )
    _show(case, as_json)
    return CLEAN


def _read(file: Path) -> str:
    try:
        return sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidFile.cannot("read as text", file, error) from error


def _sets(given: list[str] | None) -> list[list[str]]:
    return [one.split() for one in given or ()]


def _kept(case: Case) -> str:
    return f", {case.spared} spared by evidence" if case.spared else ""


def _show(case: Case, as_json: bool) -> None:
    if as_json:
        emit(case)
    elif case.id == 0:
        say(f"would withdraw {some(case.withdrawn, 'artifact')}{_kept(case)}; nothing was changed")
        first_rows("would be withdrawn", ("key",), [(key,) for key in case.keys or ()])
    else:
        say(f"case {case.id}: {some(case.withdrawn, 'artifact')} withdrawn{_kept(case)}", style="bold")
        say(f"next: memorepair plan {case.id}, memorepair repair {case.id}")
