"""Commands about vectors: which space memories live in, and the move to another model."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from memorepair.cli.guard import CLEAN, PROBLEMS, command
from memorepair.cli.options import Actor, AsJson, Db, DryRun, Reason, opened
from memorepair.cli.output import emit, pairs, progress, rows, say
from memorepair.cli.text import some
from memorepair.errors import InvalidInput
from memorepair.health.drift import SAMPLE
from memorepair.health.reembedding import BATCH, DEFAULT, KEEP_DAYS, Bounds, Reembedding, space_json
from memorepair.memory.artifact import Json
from memorepair.memory.vectors import Space


def add_to(app: typer.Typer) -> None:
    """Register vectors status, check, reembed, index, drop."""
    group = typer.Typer(
        help="Vectors: where they live, and the move to another model. MEMOREPAIR_EMBEDDER names the model.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    command(group, "status")(status)
    command(group, "check")(check)
    command(group, "reembed")(reembed)
    command(group, "index")(index)
    command(group, "drop")(drop)
    app.add_typer(group, name="vectors")


def status(db: Db, as_json: AsJson = False) -> int:
    """Which spaces there are and which one is searched; exit code 1 where that is not this embedder's."""
    with opened(db) as memory:
        found = memory.vectors()
    told: list[Json] = [
        {**space_json(space), "rows": n, "searched": space == found.home, "opened": space == found.embedder}
        for space, n in found.rows.items()
    ]
    if as_json:
        said: dict[str, Json] = {
            "home": None if found.home is None else space_json(found.home),
            "embedder": None if found.embedder is None else space_json(found.embedder),
            "spaces": told,
            "lacking": found.lacking,
            "switch": None if found.switch is None else found.switch.case,
            "kept_until": None if found.switch is None else found.switch.until,
        }
        emit(said)
    else:
        lines = [
            (space.model, space.revision, space.dimension, n, "searched" if space == found.home else "")
            for space, n in found.rows.items()
        ]
        rows("spaces", ("model", "revision", "dimension", "rows", ""), lines)
        pairs(
            {
                "opened with": "no embedder" if found.embedder is None else _name(found.embedder),
                "lacking there": found.lacking,
                "switched by case": "" if found.switch is None else found.switch.case,
                "former kept until": "" if found.switch is None else _day(found.switch.until),
            }
        )
    return CLEAN if found.home in (None, found.embedder) else PROBLEMS


def check(
    db: Db,
    whole: Annotated[bool, typer.Option("--all", help="Embed every row again, not a sample.")] = False,
    as_json: AsJson = False,
) -> int:
    """Whether this embedder is the one that made the vectors; exit code 1 where it is not."""
    with opened(db) as memory, progress(quiet=as_json) as step:
        found = memory.check_vectors(rows=None if whole else SAMPLE, progress=step)
    if as_json:
        emit([one.to_json() for one in found])
    else:
        lines = [(one.code, one.keys, one.evidence) for one in found]
        rows(f"{len(found)} found", ("code", "key", "evidence"), lines, wide="evidence")
    return PROBLEMS if found else CLEAN


def reembed(
    db: Db,
    actor: Actor,
    reason: Reason,
    overlap: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Share of neighbours both spaces must agree on.")
    ] = DEFAULT.overlap,
    batch: Annotated[int, typer.Option(min=1, help="Texts embedded at once.")] = BATCH,
    keep: Annotated[float, typer.Option(min=0.0, help="Days to keep the former vectors.")] = KEEP_DAYS,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> int:
    """Move everything served into the space of MEMOREPAIR_EMBEDDER, and search there; undo takes it back."""
    with opened(db) as memory, progress(quiet=as_json) as step:
        done = memory.reembed(
            actor=actor,
            reason=reason,
            bounds=Bounds(overlap=overlap),
            batch=batch,
            keep_days=keep,
            dry_run=dry_run,
            progress=step,
        )
    if as_json:
        emit(done.to_json())
    else:
        _show(done, dry_run)
    return CLEAN


def index(db: Db, as_json: AsJson = False) -> int:
    """Build the index of each large scope anew, for memories opened with vector_index."""
    with opened(db) as memory, progress(quiet=as_json) as step:
        built = memory.index_vectors(progress=step)
    if as_json:
        emit([{"scope": list[Json](scope), "vectors": n} for scope, n in built.items()])
    else:
        rows("indexed", ("scope", "vectors"), [("/".join(scope), n) for scope, n in built.items()])
    return CLEAN


def drop(
    db: Db,
    model: Annotated[str, typer.Option(help="Name of the model.")],
    actor: Actor,
    reason: Reason,
    revision: Annotated[str | None, typer.Option(help="Its revision, where several are there.")] = None,
    dimension: Annotated[int | None, typer.Option(min=1, help="Its dimension, likewise.")] = None,
    early: Annotated[bool, typer.Option("--early", help="Give up the way back before its time.")] = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> int:
    """Remove the vectors that a model made, once memories have left its space."""
    with opened(db) as memory:
        found = [
            space
            for space in memory.statistics().spaces
            if space.model == model
            and revision in (None, space.revision)
            and dimension in (None, space.dimension)
        ]
        if len(found) != 1:
            what = "no such vectors" if not found else f"{len(found)} spaces"
            advice = "name its revision or dimension" if found else "vectors status names those there are"
            raise InvalidInput(f"there are {what} of {model}; {advice}", witness=model)
        n = memory.drop_vectors(found[0], actor=actor, reason=reason, early=early, dry_run=dry_run)
    if as_json:
        emit({"space": space_json(found[0]), "vectors": n, "dry_run": dry_run})
    else:
        say(f"{'would drop' if dry_run else 'dropped'} {some(n, 'vector')} of {_name(found[0])}")
    return CLEAN


def _show(done: Reembedding, dry_run: bool) -> None:
    pairs(
        {
            "from": "" if done.former is None else _name(done.former),
            "to": _name(done.space),
            "without a vector there": done.lacking,
            "embedded": "" if dry_run else done.embedded,
            "say nothing": done.blank,
            "neighbours shared": ""
            if done.alignment is None
            else f"{done.alignment.overlap:.0%} of {done.alignment.rows:,} rows, "
            f"{done.alignment.bound:.0%} asked for",
            "case": done.case,
            "former kept until": "" if done.until is None else _day(done.until),
        }
    )


def _name(space: Space) -> str:
    return f"{space.model}, revision {space.revision}, {space.dimension} dimensions"


def _day(nanoseconds: int) -> str:
    return datetime.fromtimestamp(nanoseconds // 10**9, UTC).strftime("%Y-%m-%d")
