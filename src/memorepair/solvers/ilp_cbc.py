"""CBC through PuLP."""

from __future__ import annotations

import warnings
from importlib import import_module

import numpy as np

from memorepair.problems import KnapsackInstance
from memorepair.solvers.ilp import Effort, Proposal


def propose(instance: KnapsackInstance, effort: Effort) -> Proposal:
    """No bound: PuLP reads none from CBC; at a limit its point may be none, which `ilp.propose` checks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # PuLP 3.3 says at each use what 4.0 will remove
        values = _solved(instance, effort)
    if any(value is None for value in values):
        return Proposal(mask=None, bound=None)
    return Proposal(mask=np.array(values, np.float64) > 0.5, bound=None)


def _solved(instance: KnapsackInstance, effort: Effort) -> list[float | None]:
    pulp = import_module("pulp")
    requires, amounts = instance.requires, instance.amounts
    model = pulp.LpProblem("closure", pulp.LpMaximize)
    chosen = [pulp.LpVariable(f"x{node}", cat="Binary") for node in range(requires.n)]
    model += pulp.LpAffineExpression(list(zip(chosen, amounts.value.tolist(), strict=True)))
    for tail, head in zip(requires.tails().tolist(), requires.heads.tolist(), strict=True):
        if tail != head:
            model += chosen[tail] <= chosen[head]
    for kind, limit in enumerate(amounts.budget):
        costs = amounts.cost[:, kind].tolist()
        model += pulp.LpAffineExpression(list(zip(chosen, costs, strict=True))) <= limit
    model.solve(
        pulp.PULP_CBC_CMD(
            msg=False, threads=1, timeLimit=effort.seconds, gapRel=effort.gap, maxNodes=effort.nodes
        )
    )
    return [one.value() for one in chosen]
