"""Costs: what operators have cost so far, by the size of their input."""

from __future__ import annotations

import math
from collections.abc import Sequence

from memorepair.errors import InvalidInput
from memorepair.memory.connection import Connection
from memorepair.memory.exchange import OperatorCost, OperatorRun
from memorepair.memory.values import is_number

# Welford's recurrence: mean and sum of squared deviations from it, without a difference of large sums. The
# fraction stands between the two deviations, so that 0 comes before what could overflow.
_NOTE = """INSERT INTO operator_cost(
        operator, unit, octave, runs, succeeded, seconds, measured, size, cost, square)
    VALUES(?,?,?,1,?,?,?,?,?,0.0)
    ON CONFLICT DO UPDATE SET
    runs = runs + 1, succeeded = succeeded + excluded.succeeded,
    seconds = seconds + (excluded.seconds - seconds) / (runs + 1),
    measured = measured + excluded.measured,
    size = iif(excluded.measured, size + (excluded.size - size) / (measured + 1), size),
    cost = iif(excluded.measured, cost + (excluded.cost - cost) / (measured + 1), cost),
    square = iif(excluded.measured, square
        + (excluded.cost - cost) * (measured * 1.0 / (measured + 1)) * (excluded.cost - cost), square)"""


def note(db: Connection, runs: Sequence[OperatorRun]) -> None:
    """Add runs to the means of their operators."""
    for run in runs:
        for name, given in (("size", run.size), ("cost", run.cost or 0.0), ("seconds", run.seconds)):
            if not is_number(given, low=0):
                raise InvalidInput(f"{name} must be finite and not negative", witness=given)
    db.many(
        _NOTE,
        (
            (
                run.operator,
                run.unit,
                octave_of(run.size),
                run.succeeded,
                run.seconds,
                run.cost is not None,
                max(run.size, 1.0),
                run.cost or 0.0,
            )
            for run in runs
        ),
    )


def octave_of(size: float) -> int:
    """k where 2^k <= size < 2^(k+1); 0 below 1."""
    return math.frexp(max(size, 1.0))[1] - 1


def running(db: Connection) -> list[OperatorCost]:
    """Means so far, in the order of operators, units and sizes."""
    rows = db.rows(
        """SELECT operator, unit, octave, runs, succeeded, seconds, measured, size, cost, square
        FROM operator_cost ORDER BY operator, unit, octave"""
    )
    return [
        OperatorCost(
            operator=operator,
            unit=unit,
            octave=octave,
            runs=runs,
            succeeded=succeeded,
            seconds=seconds,
            measured=measured,
            size=size,
            cost=cost if measured else None,
            spread=_spread(square, measured),
        )
        for operator, unit, octave, runs, succeeded, seconds, measured, size, cost, square in rows
    ]


def _spread(square: float, measured: int) -> float | None:
    return math.sqrt(square / (measured - 1)) if measured > 1 and math.isfinite(square) else None
