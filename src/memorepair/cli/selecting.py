"""The command that solves an instance file on its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, cast

import typer

from memorepair.cli.guard import CLEAN, PROBLEMS, command
from memorepair.cli.options import AsJson, Solver, Ties, Tradeoff
from memorepair.cli.output import emit, pairs, rows, say
from memorepair.cli.plain import plain
from memorepair.errors import UnknownId
from memorepair.formats import read_instance
from memorepair.memory.artifact import Json
from memorepair.problems import Selection, SelectionInstance
from memorepair.proof import Ties as TieRule
from memorepair.selection import select


def add_to(app: typer.Typer) -> None:
    """Register select."""
    command(app, "select")(solve)


def solve(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An instance file (docs/formats.md).")],
    tradeoff: Tradeoff = None,
    ties: Ties = "fewest",
    solver: Solver = "pseudoflow",
    required: Annotated[
        list[str] | None, typer.Option(help="Id that must be chosen; may be repeated.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Choose the candidates whose value is worth their cost; exit code 1 where nothing feasible exists."""
    instance = _requiring(read_instance(file), required or ())
    selection = select(instance, tradeoff=tradeoff, ties=cast(TieRule, ties), solver=solver)
    verified = selection.verify()
    if as_json:
        emit(_told(selection, verified))
    elif selection.answer is None:
        say(f"{selection.status.value}: what is required needs what cannot be executed", style="yellow")
        say(" needs ".join(map(str, selection.report.infeasible)))
    else:
        _show(selection, verified)
    return PROBLEMS if selection.answer is None else CLEAN


def _requiring(instance: SelectionInstance, ids: Sequence[str]) -> SelectionInstance:
    if not ids:
        return instance
    # 1 and "1" are two ids; of the two a text on the command line means the text.
    order = sorted(range(instance.k), key=lambda position: isinstance(instance.id_of(position), str))
    place = {str(instance.id_of(position)): position for position in order}
    mask = instance.required.copy()
    for id in ids:
        if id not in place:
            raise UnknownId(f"no candidate has the id {id!r}", witness=id)
        mask[place[id]] = True
    return replace(instance, required=mask)


def _told(selection: Selection, verified: bool) -> dict[str, Json]:
    about: dict[str, Json] = {
        "status": selection.status.value,
        "solver": selection.solver,
        "ties": selection.ties,
        "verified": verified,
        "barred": plain(selection.barred()),
        "infeasible": plain(selection.report.infeasible),
    }
    if selection.answer is not None:
        for name in ("chosen", "value", "cost", "objective", "bound", "gap"):
            about[name] = plain(getattr(selection, name))
    return about


def _show(selection: Selection, verified: bool) -> None:
    pairs(
        {
            "status": f"{selection.status.value}, proof {'verified' if verified else 'not verified'}",
            "objective": selection.objective,
            "value": selection.value,
            "cost": selection.cost,
            "chosen": f"{len(selection.chosen)} of {selection.instance.k}",
            "barred": selection.report.barred,
            "solver": selection.solver,
        }
    )
    value, cost = selection.instance.value.tolist(), selection.instance.cost.tolist()
    lines = [
        (selection.instance.id_of(place), value[place], cost[place])
        for place in selection.mask.nonzero()[0].tolist()
    ]
    rows("chosen", ("id", "value", "cost"), lines)
