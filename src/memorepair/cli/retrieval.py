"""Commands about retrieval: what searches gave, and a scene that is over."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from memorepair.cli.guard import CLEAN, PROBLEMS, command
from memorepair.cli.options import Actor, AsJson, Db, DryRun, Reason, ScopeText, as_scope, opened
from memorepair.cli.output import emit, rows, say
from memorepair.health.detectors.staleness import STALE
from memorepair.memory.artifact import Json


def add_to(app: typer.Typer) -> None:
    """Register retrieval, leave."""
    command(app, "retrieval")(retrieval)
    command(app, "leave")(leave)


def retrieval(db: Db, as_json: AsJson = False) -> int:
    """What searches gave by scope and hour; exit code 1 where the newest hours raise an alarm."""
    with opened(db) as memory:
        found = memory.retrieval()
    if as_json:
        emit(found.to_json())
    else:
        lines = [
            (
                "/".join(one.scope),
                datetime.fromtimestamp(one.hour * 3_600, UTC).strftime("%Y-%m-%d %H:00 UTC"),
                one.searches,
                *(_cell(value, ".3g") for value in (one.similarity, one.p95)),
                *(_cell(value, ".0%") for value in (one.repeated, one.foreign, one.rejected)),
            )
            for one in found.hours
        ]
        columns = ("scope", "hour", "searches", "similarity", "p95 s", "repeated", "over", "rejected")
        rows("retrieval", columns, lines)
        for alarm in found.alarms:
            scope = alarm.measured["scope"]
            say(f"{alarm.code} in {scope or 'the root scope'}: {alarm.evidence}", style="yellow")
    return PROBLEMS if found.alarms else CLEAN


def leave(
    scene: Annotated[str, typer.Argument(metavar="SCENE", help="The scene that is over, as slots name it.")],
    db: Db,
    actor: Actor,
    reason: Reason,
    scope: ScopeText = "",
    weight: Annotated[float, typer.Option(min=0.0, max=1.0, help="What scores are multiplied with.")] = STALE,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> int:
    """A scene is over: what belongs to it ranks lower in the scope, until it is read; undo takes it back."""
    with opened(db) as memory:
        left = memory.leave(
            scene, actor=actor, reason=reason, scope=as_scope(scope), weight=weight, dry_run=dry_run
        )
    if as_json:
        keys: list[Json] = [str(key) for key in left.keys]
        emit({"case": left.case, "keys": keys})
    else:
        what = "would rank lower" if dry_run else "rank lower"
        say(f"{len(left.keys)} {what}" + (f" (case {left.case})" if left.case else ""))
    return CLEAN


def _cell(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)
