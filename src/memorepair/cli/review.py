"""Commands of a person who reviews: what waits, and what is to become of it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from memorepair.cli.guard import CLEAN, PROBLEMS, command
from memorepair.cli.options import Actor, AsJson, Db, DryRun, Reason, as_scope, opened
from memorepair.cli.output import emit, pairs, rows, say
from memorepair.governance import Item
from memorepair.memory.artifact import Key

ItemId = Annotated[str, typer.Argument(metavar="ID", help="The item, or a beginning of its id.")]


def add_to(app: typer.Typer) -> None:
    """Register review list, show, approve, reject, keep."""
    group = typer.Typer(help="What waits for a person.", no_args_is_help=True, rich_markup_mode=None)
    command(group, "list")(listed)
    command(group, "show")(shown)
    command(group, "approve")(approve)
    command(group, "reject")(reject)
    command(group, "keep")(keep)
    app.add_typer(group, name="review")


def listed(db: Db, as_json: AsJson = False) -> int:
    """What waits, the most urgent first; exit code 1 where something does."""
    with opened(db) as memory:
        items = memory.housekeeper().desk.waiting()
    if as_json:
        emit([item.to_json() for item in items])
    else:
        lines = [(i.id, i.remedy, "I" * int(i.grade), len(i.keys), i.impact, i.held) for i in items]
        rows("waiting", ("id", "remedy", "grade", "artifacts", "impact", "why it waits"), lines)
    return PROBLEMS if items else CLEAN


def shown(id: ItemId, db: Db, as_json: AsJson = False) -> int:
    """One item: what would be done, why, how it is taken back."""
    with opened(db) as memory:
        item = memory.housekeeper().desk.show(id)
    if as_json:
        emit(item.to_json())
        return CLEAN
    pairs(
        {
            "id": item.id,
            "remedy": f"{item.remedy}, grade {'I' * int(item.grade)}, {item.status}",
            "why": item.why,
            "findings": ", ".join(f"{n} {code}" for code, n in item.codes.items()),
            "cause": item.cause,
            "impact": str(item.impact),
            "waits": item.held,
            "acts by itself": _instant(item),
            "way back": item.way_back,
            "case": item.case,
            "digest": item.digest,
        }
    )
    rows("artifacts", ("key",), [(key,) for key in item.keys])
    return CLEAN


def approve(
    id: ItemId,
    db: Db,
    actor: Actor,
    reason: Reason,
    keep: Annotated[
        str | None, typer.Option(metavar="KEY", help="Of an undecided conflict: the artifact that holds.")
    ] = None,
    move: Annotated[
        str | None, typer.Option(metavar="SCOPE", help="Of a leak: the scope where it belongs.")
    ] = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> int:
    """Let an item act, exactly as it was shown; refused where anything has changed since."""
    with opened(db) as memory:
        kept = None if keep is None else Key.parse(keep)
        to = None if move is None else as_scope(move)
        outcome = memory.housekeeper().approve(
            id, actor=actor, reason=reason, keep=kept, move=to, dry_run=dry_run
        )
    if as_json:
        emit(outcome.to_json())
    else:
        state = "would act" if dry_run else "done" if outcome.done else outcome.failed or outcome.why
        say(f"{outcome.proposal.remedy}: {state}" + (f" (case {outcome.case})" if outcome.case else ""))
    return CLEAN if outcome.done or dry_run else PROBLEMS


def reject(
    id: ItemId, db: Db, actor: Actor, reason: Reason, dry_run: DryRun = False, as_json: AsJson = False
) -> int:
    """Refuse an item; what was flagged or withdrawn until then is served as before."""
    with opened(db) as memory:
        item = memory.housekeeper().reject(id, actor=actor, reason=reason, dry_run=dry_run)
    if as_json:
        emit(item.to_json())
    else:
        say(f"{'would reject' if dry_run else 'rejected'} {item.id}")
    return CLEAN


def keep(
    keys: Annotated[list[str], typer.Argument(metavar="KEY...", help="Artifacts, like user/42::home.")],
    db: Db,
    actor: Actor,
    reason: Reason,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> int:
    """Let artifacts stay beside each other as they are; not named again until one of them changes."""
    with opened(db) as memory:
        kept = memory.housekeeper().keep(
            [Key.parse(key) for key in keys], actor=actor, reason=reason, dry_run=dry_run
        )
    if as_json:
        emit({"kept": [str(key) for key in kept], "dry_run": dry_run})
    else:
        say(f"{'would keep' if dry_run else 'kept'} {', '.join(map(str, kept))}")
    return CLEAN


def _instant(item: Item) -> str:
    if item.due is None:
        return "never"
    return datetime.fromtimestamp(item.due / 1e9, UTC).strftime("%Y-%m-%d %H:%M UTC")
