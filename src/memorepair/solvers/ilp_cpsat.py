"""OR-tools' CP-SAT."""

from __future__ import annotations

from importlib import import_module

import numpy as np

from memorepair.problems import KnapsackInstance
from memorepair.solvers.ilp import Effort, Proposal


def propose(instance: KnapsackInstance, effort: Effort) -> Proposal:
    """Implications and linear constraints in integers; one worker, so that two runs agree."""
    cp_model = import_module("ortools.sat.python.cp_model")
    requires, amounts = instance.requires, instance.amounts
    model = cp_model.CpModel()
    chosen = [model.new_bool_var("") for _ in range(requires.n)]
    for tail, head in zip(requires.tails().tolist(), requires.heads.tolist(), strict=True):
        if tail != head:
            model.add_implication(chosen[tail], chosen[head])
    for kind, limit in enumerate(amounts.budget):
        model.add(cp_model.LinearExpr.weighted_sum(chosen, amounts.cost[:, kind].tolist()) <= limit)
    model.maximize(cp_model.LinearExpr.weighted_sum(chosen, amounts.value.tolist()))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.relative_gap_limit = effort.gap
    if effort.seconds is not None:
        solver.parameters.max_time_in_seconds = float(effort.seconds)
    else:
        solver.parameters.max_deterministic_time = effort.nodes / 10.0
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Proposal(mask=None, bound=None)
    mask = np.array([solver.boolean_value(one) for one in chosen], np.bool_)
    return Proposal(mask=mask, bound=float(solver.best_objective_bound))
