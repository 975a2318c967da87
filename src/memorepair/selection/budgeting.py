"""Budgeting: a selection within its budget, with leaves as the proof."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np

from memorepair.compiling import clock
from memorepair.errors import InvalidInput
from memorepair.problems import Selection, SelectionInstance, figure
from memorepair.problems.integers import nearest, shown
from memorepair.reductions.barred import witnesses
from memorepair.reductions.knapsack import Knapsack
from memorepair.selection.closing import close
from memorepair.solvers.budgeted import solve_budgeted
from memorepair.solvers.ilp import check_ilp
from memorepair.solvers.limits import Limits

SOLVER = "budgeted"

GAP = 1e-6
TIME_LIMIT = 60.0
NODE_LIMIT = 1_000
"""Where `select` stops by itself."""


def _as_float(value: object) -> float:
    """The float nearest to a number; NaN for what is none."""
    if isinstance(value, (int, Fraction)):
        return nearest(value)
    return float(value) if isinstance(value, (float, Decimal, np.number)) else math.nan


def solve_within(
    instance: SelectionInstance,
    *,
    gap: float,
    time_limit: float | None,
    node_limit: int,
    ilp: str | None,
) -> Selection:
    """The best selection found within the budget of `instance`, with the bound its leaves prove.

    Raises
    ------
    InvalidInput
        `gap` is not from 0 to below 1, a limit is negative, or one of them no number (witness: it).
    """
    if not 0 <= _as_float(gap) < 1:
        raise InvalidInput(f"gap must be from 0 to below 1, not {shown(gap)}", witness=gap)
    if not (isinstance(node_limit, (int, np.integer)) and node_limit >= 0):
        raise InvalidInput(
            f"the limit of nodes must be an integer from 0, not {shown(node_limit)}", witness=node_limit
        )
    if time_limit is not None and not _as_float(time_limit) >= 0:
        raise InvalidInput(
            f"the limit of time must be seconds from 0, not {shown(time_limit)}", witness=time_limit
        )
    if ilp is not None:
        check_ilp(ilp)
    until = math.inf if time_limit is None else clock() + _as_float(time_limit)
    found = witnesses(instance.requires, instance.executable)
    conflict = np.flatnonzero(instance.required & (found.step >= 0))
    if len(conflict):
        path = instance.named(found.path(int(conflict[0])))
        return Selection.infeasible(instance, path, barred_by=found.nearest, solver=SOLVER, ties=None)
    knapsack, freed = Knapsack().apply(instance)
    if knapsack is None:
        return Selection.overrun(instance, barred_by=found.nearest, solver=SOLVER)
    limits = Limits(gap=_as_float(gap), nodes=int(node_limit), until=until)
    answer = solve_budgeted(knapsack, limits, ilp, close)
    mask, leaves = Knapsack().invert(answer.mask, answer.leaves, freed)
    claim = answer.ilp_bound
    return Selection.bounded(
        instance,
        mask,
        leaves,
        barred_by=found.nearest,
        solver=SOLVER,
        ilp_bound=None
        if claim is None
        else figure(instance, (claim + knapsack.base) / knapsack.amounts.value_scale),
    )
