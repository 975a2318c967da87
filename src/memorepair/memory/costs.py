"""Costs: what operators have cost so far."""

from __future__ import annotations

import math

from memorepair.errors import InvalidInput
from memorepair.memory.connection import Connection
from memorepair.memory.exchange import OperatorCost


def note(db: Connection, operator: str, size: float, cost: float, seconds: float) -> None:
    """Add one run to an operator's sums."""
    for name, given in (("size", size), ("cost", cost), ("seconds", seconds)):
        if not (math.isfinite(given) and given >= 0):
            raise InvalidInput(f"{name} must be finite and not negative", witness=given)
    db.run(
        """INSERT INTO operator_cost(operator, runs, size, cost, seconds) VALUES(?,1,?,?,?)
        ON CONFLICT DO UPDATE
        SET runs = runs + 1, size = size + excluded.size, cost = cost + excluded.cost,
        seconds = seconds + excluded.seconds""",
        (operator, size, cost, seconds),
    )


def running(db: Connection) -> dict[str, OperatorCost]:
    """Means so far, by operator; a total size of 0 counts as 1."""
    rows = db.rows("SELECT operator, runs, size, cost, seconds FROM operator_cost ORDER BY operator")
    return {
        operator: OperatorCost(
            runs=runs, cost_per_size=cost / (size or 1.0), seconds_per_size=seconds / (size or 1.0)
        )
        for operator, runs, size, cost, seconds in rows
    }
