"""The command that shows prices."""

from __future__ import annotations

import typer

from memorepair.cli.guard import CLEAN, command
from memorepair.cli.options import AsJson, Db, opened
from memorepair.cli.output import emit, pairs, rows
from memorepair.cli.plain import plain
from memorepair.memory.exchange import OperatorCost
from memorepair.repair.history import History


def add_to(app: typer.Typer) -> None:
    """Register pricing."""
    room = typer.Typer(help="What repairs are worth and cost.", no_args_is_help=True)
    command(room, "show")(show)
    app.add_typer(room, name="pricing")


def show(db: Db, as_json: AsJson = False) -> int:
    """What goes into values and costs, and what operators have cost so far, by the size of their input."""
    with opened(db) as memory:
        listed, costs = memory.pricing.told(), memory.store.operator_costs()
    history = History(costs)
    if as_json:
        emit(
            {
                "pricing": plain(listed),
                "operators": [
                    {
                        "operator": one.operator,
                        "unit": one.unit,
                        "from_size": 2**one.octave,
                        "below_size": 2 ** (one.octave + 1),
                        "runs": one.runs,
                        "succeeded": one.succeeded,
                        "success": history.success(one.operator),
                        "measured": one.measured,
                        "cost": one.cost,
                        "spread": one.spread,
                        "seconds": one.seconds,
                    }
                    for one in costs
                ],
            }
        )
        return CLEAN
    pairs(listed)
    rows(
        "operators",
        ("operator", "input", "runs", "succeeded", "success", "cost", "spread", "unit", "seconds"),
        [
            (
                one.operator,
                _size(one),
                one.runs,
                one.succeeded,
                history.success(one.operator),
                "" if one.cost is None else one.cost,
                "" if one.spread is None else one.spread,
                one.unit,
                one.seconds,
            )
            for one in costs
        ],
    )
    return CLEAN


def _size(one: OperatorCost) -> str:
    return f"{2**one.octave:,} to {2 ** (one.octave + 1) - 1:,}"
