"""HiGHS through SciPy."""

from __future__ import annotations

import math

import numpy as np
from scipy.sparse import csr_array, vstack

from memorepair.problems import KnapsackInstance
from memorepair.solvers.ilp import Effort, Proposal


def propose(instance: KnapsackInstance, effort: Effort) -> Proposal:
    """A mixed integer program, objective and budgets scaled to 1: HiGHS has absolute tolerances."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    requires, amounts = instance.requires, instance.amounts
    k = requires.n
    unit = float(np.abs(amounts.value).max(initial=1))
    arcs = np.flatnonzero(requires.tails() != requires.heads)  # of a loop the two entries would add up
    rows = np.arange(len(arcs))
    closed = csr_array(
        (
            np.concatenate((np.ones(len(arcs)), -np.ones(len(arcs)))),
            (np.concatenate((rows, rows)), np.concatenate((requires.tails()[arcs], requires.heads[arcs]))),
        ),
        shape=(len(arcs), k),
    )
    scale = 1.0 / np.maximum(1.0, np.array(amounts.budget, np.float64))
    within = csr_array(amounts.cost.T * scale[:, None])
    limits = np.concatenate((np.zeros(len(arcs)), np.array(amounts.budget) * scale))
    seconds = math.inf if effort.seconds is None else effort.seconds
    found = milp(
        -amounts.value / unit,
        constraints=LinearConstraint(vstack([closed, within]), -np.inf, limits),
        integrality=np.ones(k, np.int8),
        bounds=Bounds(0, 1),
        options={"mip_rel_gap": effort.gap, "node_limit": effort.nodes, "time_limit": seconds},
    )
    mask = None if found.x is None else np.asarray(found.x) > 0.5
    bound = found.mip_dual_bound
    return Proposal(mask=mask, bound=None if bound is None else -float(bound) * unit)
