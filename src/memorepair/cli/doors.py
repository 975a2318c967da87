"""Reading commands: what there is, what is served, where an artifact stands."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from memorepair.cli.guard import CLEAN, PROBLEMS, command
from memorepair.cli.options import Actor, AsJson, Db, KeyText, MaybeScope, Reason, ScopeText, as_scope, opened
from memorepair.cli.output import content, emit, excerpt, pairs, rows, say
from memorepair.cli.plain import plain
from memorepair.facade import Status
from memorepair.memory.artifact import Artifact, Case, Json, Listing

_COLUMNS = ("key", "version", "kind", "state", "case")


def add_to(app: typer.Typer) -> None:
    """Register the reading commands."""
    command(app, "status")(status)
    command(app, "list")(list_)
    command(app, "get")(get)
    command(app, "search")(search)
    command(app, "history")(history)
    command(app, "explain")(explain)
    command(app, "inspect")(inspect)


def status(db: Db, as_json: AsJson = False) -> int:
    """Artifacts by state and kind, and the cases not closed; exit code 1 while there are any."""
    with opened(db) as memory:
        found = memory.status()
    if as_json:
        emit(_status(found))
        return PROBLEMS if found.open_cases else CLEAN
    lines = [
        (state.name.lower(), kind.name.lower(), count)
        for (state, kind), count in sorted(found.counts.items())
    ]
    rows("artifacts", ("state", "kind", "count"), lines)
    if found.open_cases:
        show_cases("cases not closed", found.open_cases)
    return PROBLEMS if found.open_cases else CLEAN


def list_(
    db: Db,
    scope: MaybeScope = None,
    kind: Annotated[str | None, typer.Option(help="Only this kind: record, cache, summary, skill.")] = None,
    state: Annotated[
        str | None, typer.Option(help="Only this state: active, withdrawn, quarantined, ...")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many.")] = None,
    as_json: AsJson = False,
) -> int:
    """What there is, served or not, without content."""
    with opened(db) as memory:
        within = None if scope is None else as_scope(scope)
        found = memory.list(scope=within, kind=kind, state=state, limit=limit)
    if as_json:
        emit(found)
    else:
        show_listings("artifacts", found)
    return CLEAN


def get(key: KeyText, db: Db, as_json: AsJson = False) -> int:
    """The served version with its content."""
    with opened(db) as memory:
        _show(memory.get(key), as_json)
    return CLEAN


def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Words to find.")],
    db: Db,
    scope: ScopeText = "",
    also: Annotated[list[str] | None, typer.Option(help="A further scope; may be given again.")] = None,
    by: Annotated[str, typer.Option(help="text: contains the words. vector: is near them.")] = "text",
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 10,
    as_json: AsJson = False,
) -> int:
    """Served artifacts of exactly the scopes named that contain the words, or are near them, best first."""
    with opened(db) as memory:
        further = [as_scope(one) for one in also or ()]
        hits = memory.search(query, scope=as_scope(scope), also=further, by=by, limit=limit)
    if as_json:
        emit(hits)
    else:
        lines = [
            (hit.artifact.key, hit.artifact.kind, hit.score, excerpt(hit.artifact.content)) for hit in hits
        ]
        rows(f"{len(hits)} found", ("key", "kind", "score", "content"), lines, wide="content")
    return CLEAN


def history(key: KeyText, db: Db, as_json: AsJson = False) -> int:
    """All versions; content only of those that did not leave through a repair event."""
    with opened(db) as memory:
        found = memory.history(key)
    if as_json:
        emit(found)
    else:
        lines = [
            (one.version, one.state, one.case, _when(one.created_at), excerpt(one.content)) for one in found
        ]
        rows(f"versions of {key}", ("version", "state", "case", "written", "content"), lines, wide="content")
    return CLEAN


def explain(key: KeyText, db: Db, as_json: AsJson = False) -> int:
    """Where an artifact stands, on what, and why."""
    with opened(db) as memory:
        found = memory.explain(key)
    if as_json:
        emit(found)
        return CLEAN
    say(f"{found.listing.key}", style="bold")
    say(found.why)
    if found.parents:
        show_listings("stands on", found.parents)
    if found.children:
        show_listings("feeds", found.children)
    return CLEAN


def inspect(
    key: KeyText,
    db: Db,
    actor: Actor,
    reason: Reason,
    version: Annotated[int | None, typer.Option(help="Which version; the newest unless given.")] = None,
    as_json: AsJson = False,
) -> int:
    """Content of any version, withdrawn or not, for a person who reviews; the look is journalled."""
    with opened(db) as memory:
        _show(memory.inspect(key, actor=actor, reason=reason, version=version), as_json)
    return CLEAN


def show_listings(title: str, found: list[Listing] | tuple[Listing, ...]) -> None:
    """A table of artifacts without content."""
    lines = [(one.key, one.version, one.kind, one.state, one.case) for one in found]
    rows(f"{title} ({len(found)})", _COLUMNS, lines)


def show_cases(title: str, cases: tuple[Case, ...]) -> None:
    """A table of cases."""
    lines = [
        (one.id, one.event, one.status, one.withdrawn, one.roots, one.actor, one.reason) for one in cases
    ]
    rows(title, ("case", "event", "status", "withdrawn", "roots", "actor", "reason"), lines, wide="reason")


def _show(artifact: Artifact, as_json: bool) -> None:
    if as_json:
        emit(artifact)
        return
    about = {
        "key": artifact.key,
        "version": artifact.version,
        "kind": artifact.kind,
        "state": artifact.state,
        "source": artifact.source,
        "type": artifact.type,
        "confidence": artifact.confidence,
        "written": _when(artifact.created_at),
    }
    pairs(about)
    content(artifact.content)


def _status(found: Status) -> Json:
    counts: list[Json] = [
        {"state": plain(state), "kind": plain(kind), "count": count}
        for (state, kind), count in sorted(found.counts.items())
    ]
    return {"artifacts": counts, "open_cases": plain(found.open_cases)}


def _when(nanoseconds: int) -> str:
    return datetime.fromtimestamp(nanoseconds // 10**9, UTC).strftime("%Y-%m-%d %H:%M UTC")
