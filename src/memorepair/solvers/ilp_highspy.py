"""HiGHS by its own package."""

from __future__ import annotations

from importlib import import_module

import numpy as np

from memorepair.problems import KnapsackInstance
from memorepair.solvers.ilp import Effort, Proposal

_FEASIBLE = 2  # HiGHS' kSolutionStatusFeasible


def propose(instance: KnapsackInstance, effort: Effort) -> Proposal:
    """The program of `ilp_highs`, passed row by row without SciPy's copy."""
    highspy = import_module("highspy")
    requires, amounts = instance.requires, instance.amounts
    k, kinds = requires.n, len(amounts.budget)
    unit = float(np.abs(amounts.value).max(initial=1))
    tails = requires.tails()
    arcs = np.flatnonzero(tails != requires.heads)
    scale = 1.0 / np.maximum(1.0, np.array(amounts.budget, np.float64))
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = k, len(arcs) + kinds
    model.sense_ = highspy.ObjSense.kMaximize
    model.col_cost_ = amounts.value / unit
    model.col_lower_, model.col_upper_ = np.zeros(k), np.ones(k)
    model.row_lower_ = np.full(len(arcs) + kinds, -np.inf)
    model.row_upper_ = np.concatenate((np.zeros(len(arcs)), np.array(amounts.budget) * scale))
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = np.concatenate(
        (2 * np.arange(len(arcs) + 1), 2 * len(arcs) + k * np.arange(1, kinds + 1))
    ).astype(np.int32)
    pairs = np.column_stack((tails[arcs], requires.heads[arcs])).ravel()
    model.a_matrix_.index_ = np.concatenate((pairs, np.tile(np.arange(k), kinds))).astype(np.int32)
    model.a_matrix_.value_ = np.concatenate(
        (np.tile([1.0, -1.0], len(arcs)), (amounts.cost.T * scale[:, None]).ravel())
    )
    model.integrality_ = [highspy.HighsVarType.kInteger] * k
    # Its constructor ends with this method, which as it is writes a banner to file descriptor 1.
    quiet = type("Quiet", (highspy.Highs,), {"enableCallbacks": lambda self: self.silent()})
    solver = quiet()
    options: dict[str, bool | int | float] = {
        "threads": 1,
        "mip_rel_gap": effort.gap,
        "mip_max_nodes": effort.nodes,
    }
    if effort.seconds is not None:
        options["time_limit"] = float(effort.seconds)
    for name, value in options.items():
        solver.setOptionValue(name, value)
    solver.passModel(model)
    solver.run()
    about = solver.getInfo()
    values = np.array(solver.getSolution().col_value)
    solved = int(about.primal_solution_status) == _FEASIBLE and len(values) == k
    return Proposal(mask=values > 0.5 if solved else None, bound=float(about.mip_dual_bound) * unit)
