"""Maximum closure by OR-tools' constraint solver CP-SAT."""

from __future__ import annotations

from importlib import import_module
from typing import ClassVar

import numpy as np

from memorepair.errors import InvalidInput, NoSolution, ProofFailed
from memorepair.problems import Closure, ClosureInstance
from memorepair.problems.integers import TOTAL_LIMIT, exact_total
from memorepair.problems.proof import Ties


class CpSat:
    """Booleans and implications; for comparison only, a cut is a hundred times as fast.

    Parameters
    ----------
    time_limit
        Seconds; what CP-SAT has found by then is the answer, without a claim to be optimal.
    """

    name: ClassVar[str] = "cp-sat"
    exact: ClassVar[bool] = True
    ties: ClassVar[frozenset[Ties]] = frozenset(("fewest", "most"))
    max_size: ClassVar[int | None] = None
    package: ClassVar[str | None] = "ortools"

    def __init__(self, time_limit: float = 60.0) -> None:
        self.time_limit = time_limit

    def solve(self, instance: ClosureInstance, /) -> Closure:
        """The extreme optimum; it has no dual.

        Raises
        ------
        InvalidInput
            Absolute profits times k + 1 add up to 2^62 or more (witness: the sum).
        NoSolution
            The limit ended the search before the first closure (witness: CP-SAT's status).
        ProofFailed
            CP-SAT refuses the model or calls it infeasible (witness: its status).
        """
        k, profit = instance.requires.n, instance.profit
        # With weights p (k + 1) - 1 the best closure is the smallest of the best: k nodes together never
        # outweigh a unit of profit. With + 1 it is the largest.
        total = (exact_total(profit[profit > 0]) - exact_total(profit[profit < 0])) * (k + 1) + k
        if total >= TOTAL_LIMIT:
            raise InvalidInput("absolute profits times nodes add up to 2^62 or more", witness=total)
        cp_model = import_module("ortools.sat.python.cp_model")
        model, solver = cp_model.CpModel(), cp_model.CpSolver()
        x = [model.new_bool_var("") for _ in range(k)]
        for tail, head in zip(
            instance.requires.tails().tolist(), instance.requires.heads.tolist(), strict=True
        ):
            model.add_implication(x[tail], x[head])
        extra = -1 if instance.ties == "fewest" else 1
        weights = [one * (k + 1) + extra for one in profit.tolist()]  # Python integers: numpy's are refused
        model.maximize(cp_model.LinearExpr.weighted_sum(x, weights))
        solver.parameters.num_workers = 1  # several workers race: of two runs the answers would differ
        solver.parameters.max_time_in_seconds = self.time_limit
        status = solver.solve(model)
        told = solver.status_name(status)
        if status == cp_model.UNKNOWN:
            raise NoSolution("CP-SAT found no closure within its limit", witness=told)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            raise ProofFailed(f"CP-SAT found no optimum: {told}", witness=told)
        return Closure(mask=np.array([solver.boolean_value(one) for one in x], np.bool_), certificate=None)
