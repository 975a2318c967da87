"""The command that solves an instance file on its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, cast

import typer

from memorepair.cli.guard import CLEAN, PROBLEMS, command
from memorepair.cli.options import AsJson, FromFormat, Solver, Ties, Tradeoff, amount
from memorepair.cli.output import emit, pairs, rows, say
from memorepair.cli.plain import plain
from memorepair.errors import InvalidFile, InvalidInput, UnknownId
from memorepair.formats import read
from memorepair.memory.artifact import Json
from memorepair.problems import Selection, SelectionInstance, Status, figure
from memorepair.problems.proof import Ties as TieRule
from memorepair.selection import select
from memorepair.selection.budgeting import GAP, NODE_LIMIT, TIME_LIMIT
from memorepair.selection.explaining import Explanation, explain
from memorepair.selection.frontier import frontier
from memorepair.solvers.ilp import ilp_solvers


def add_to(app: typer.Typer) -> None:
    """Register select."""
    command(app, "select")(solve)


def solve(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An instance file (docs/formats.md).")],
    tradeoff: Tradeoff = None,
    budget: Annotated[
        list[str] | None,
        typer.Option(
            help="The most that the chosen may cost together; once for each of several costs, in order.",
            metavar="NUMBER",
        ),
    ] = None,
    gap: Annotated[
        float | None, typer.Option(help="With a budget: a proven gap that is good enough.")
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="With a budget: stop after so many seconds.")
    ] = None,
    node_limit: Annotated[
        int | None, typer.Option(help="With a budget: stop after so many decisions.", min=0)
    ] = None,
    ilp: Annotated[
        str | None,
        typer.Option(help="With a budget: the integer program that looks for answers, or none."),
    ] = None,
    ties: Ties = "fewest",
    solver: Solver = "pseudoflow",
    required: Annotated[
        list[str] | None, typer.Option(help="Id that must be chosen; may be repeated.")
    ] = None,
    asked: Annotated[
        list[str] | None, typer.Option("--explain", help="Id to explain; may be repeated.", metavar="ID")
    ] = None,
    format: FromFormat = None,
    as_json: AsJson = False,
) -> int:
    """Choose the candidates whose value is worth their cost; exit code 1 where nothing feasible exists."""
    instance = read(file, format)
    if not isinstance(instance, SelectionInstance):
        raise InvalidFile("the file holds a network, no instance to select from", witness=str(file))
    if required:
        mask = instance.required.copy()
        mask[_positions(instance, required)] = True
        instance = replace(instance, required=mask)
    positions = _positions(instance, asked or ())
    limits = tuple(amount(text, "a budget") for text in budget or ())
    if limits:
        several = len(limits) > 1 or instance.cost.ndim == 2
        first = next(iter(limits))
        instance = replace(instance, budget=limits if several else first)
    stops = {"--gap": gap, "--time-limit": time_limit, "--node-limit": node_limit, "--ilp": ilp}
    given = [name for name, value in stops.items() if value is not None]
    if instance.budget is None and given:
        raise InvalidInput(f"{given[0]} is for the search within a budget: give one", witness=given[0])
    selection = select(
        instance,
        tradeoff=tradeoff,
        ties=cast(TieRule, ties),
        solver=solver,
        gap=GAP if gap is None else gap,
        time_limit=TIME_LIMIT if time_limit is None else time_limit,
        node_limit=NODE_LIMIT if node_limit is None else node_limit,
        ilp=None if ilp == "none" else ilp or ilp_solvers()[0],
    )
    verified = selection.verify()
    why = _explained(selection, positions)
    if as_json:
        emit(_told(selection, verified, why))
    elif selection.answer is None:
        _regret(selection)
    else:
        _show(selection, verified)
    if not as_json:
        for one in why:
            say(str(one))
    return PROBLEMS if selection.answer is None else CLEAN


def _positions(instance: SelectionInstance, ids: Sequence[str]) -> list[int]:
    if not ids:
        return []
    # 1 and "1" are two ids; of the two a text on the command line means the text.
    order = sorted(range(instance.k), key=lambda position: isinstance(instance.id_of(position), str))
    place = {str(plain(instance.id_of(position))): position for position in order}
    for id in ids:
        if id not in place:
            raise UnknownId(f"no candidate has the id {id!r}", witness=id)
    return [place[id] for id in ids]


def _explained(selection: Selection, positions: list[int]) -> list[Explanation]:
    instance = selection.instance
    several = len(positions) > 1 and selection.answer is not None and instance.kinds == 1
    curve = frontier(instance) if several else None
    return [explain(selection, instance.id_of(position), curve=curve) for position in positions]


def _regret(selection: Selection) -> None:
    report = selection.report
    if report.infeasible:
        say(f"{selection.status.value}: what is required needs what cannot be executed", style="yellow")
        say(" needs ".join(str(plain(id)) for id in report.infeasible))
    elif report.overrun:
        costs = ", ".join(str(plain(cost)) for cost in report.overrun)
        say(f"{selection.status.value}: what is required costs {costs}, more than the budget", style="yellow")
    else:
        say(f"{selection.status.value}: a limit was reached before the first answer", style="yellow")


def _told(selection: Selection, verified: bool, why: list[Explanation]) -> dict[str, Json]:
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
        about["loss"] = plain(figure(selection.instance, selection.report.loss))
    if selection.instance.budget is not None:
        about["budget"] = plain(selection.instance.budget)
        about["slack"] = [plain(figure(selection.instance, one)) for one in selection.report.slack]
        about["overrun"] = plain(selection.report.overrun)
        about["leaves"] = len(selection.leaves)
        about["ilp_bound"] = plain(selection.ilp_bound)
    if why:
        about["explanations"] = [plain(one.to_json()) for one in why]
    return about


def held(selection: Selection) -> str:
    """What verify() has checked: a proof of the answer, or only a bound on what could be better."""
    return "bound" if selection.status is Status.FEASIBLE else "proof"


_ROWS = 50


def _show(selection: Selection, verified: bool) -> None:
    proved = selection.status is Status.OPTIMAL
    report = selection.report
    loss, *slack = (figure(selection.instance, one) for one in (report.loss, *report.slack))
    pairs(
        {
            "status": f"{selection.status.value}, {held(selection)} {'' if verified else 'not '}verified",
            "objective": selection.objective,
            "bound": None if proved else selection.bound,
            "gap": selection.gap or None,
            "loss": loss or None,
            "slack": slack if any(slack) else None,
            "value": selection.value,
            "cost": selection.cost,
            "budget": selection.instance.budget,
            "leaves": len(selection.leaves) or None,
            "chosen": f"{len(selection.chosen)} of {selection.instance.k}",
            "barred": report.barred,
            "solver": selection.solver,
        }
    )
    value, cost = selection.instance.value, selection.instance.cost
    lines = [
        (selection.instance.id_of(place), plain(value[place]), plain(cost[place]))
        for place in selection.mask.nonzero()[0][:_ROWS].tolist()
    ]
    rows("chosen", ("id", "value", "cost"), lines)
    more = len(selection.chosen) - len(lines)
    if more > 0:
        say(f"and {more:,} more; --json lists all")
