"""Maximum closure as a linear program, whose vertices are closures."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from memorepair.errors import InvalidInput, NoSolution, ProofFailed
from memorepair.graphs.closure import violated_arc
from memorepair.graphs.digraph import Index, Int64
from memorepair.problems import Certificate, Closure, ClosureInstance
from memorepair.problems.integers import exact_total
from memorepair.problems.proof import Question, Ties, dual_bound, extreme_optimum, reduced_profits

Floats = npt.NDArray[np.float64]

_OFF_A_VERTEX = 1e-6

# max p x, x_i <= x_j where i requires j, 0 <= x <= 1: the matrix is that of a network, hence totally
# unimodular, so vertices are closures and the dual, the certificate pi, is in integers too. Profits are in
# units of 1, so absolute tolerances of 1e-7 cannot hide a profit; totals stay where the solver's floats hold
# every unit. The rounded pi then proves the rounded x, or the answer is refused; and pi gives every extreme
# optimum by one search.


class HighsLp:
    """HiGHS' dual simplex through `scipy.optimize.linprog`.

    Parameters
    ----------
    time_limit
        Seconds; None for no limit.
    """

    name: ClassVar[str] = "highs"
    exact: ClassVar[bool] = True
    ties: ClassVar[frozenset[Ties]] = frozenset(("fewest", "most"))
    max_size: ClassVar[int | None] = None
    package: ClassVar[str | None] = None

    total_limit: ClassVar[int] = 2**50

    def __init__(self, time_limit: float | None = None) -> None:
        self.time_limit = time_limit

    def solve(self, instance: ClosureInstance, /) -> Closure:
        """The extreme optimum with its dual.

        Raises
        ------
        InvalidInput
            Absolute profits add up to 2^50 or more (witness: the sum).
        NoSolution
            The time limit ended the search before an optimum (witness: HiGHS' message).
        ProofFailed
            HiGHS reports no optimum, or its dual does not prove its answer.
        """
        _check_total(instance, self.total_limit)
        k, (arcs, tails, heads) = instance.requires.n, _arcs(instance)
        if k == 0:  # SciPy refuses a program without variables
            return _proved(instance, np.zeros(0), arcs, np.zeros(0), self.name)
        row = np.arange(len(arcs))
        matrix = csr_array(
            (np.repeat((1.0, -1.0), len(arcs)), (np.tile(row, 2), np.concatenate((tails, heads)))),
            shape=(len(arcs), k),
        )
        optimize = import_module("scipy.optimize")  # whose stubs know no sparse matrix here
        options = {} if self.time_limit is None else {"time_limit": self.time_limit}
        result = optimize.linprog(
            -instance.profit.astype(np.float64),
            A_ub=matrix,
            b_ub=np.zeros(len(arcs)),
            bounds=(0, 1),
            method="highs-ds",
            options=options,
        )
        if result.status == 1:
            raise NoSolution(
                f"HiGHS found no optimum within its limit: {result.message}", witness=result.message
            )
        if result.status != 0 or result.x is None:
            raise ProofFailed(f"HiGHS found no optimum: {result.message}", witness=result.message)
        return _proved(instance, result.x, arcs, -result.ineqlin.marginals, self.name)


class Cbc:
    """CBC through PuLP.

    Parameters
    ----------
    time_limit
        Seconds; None for no limit.
    """

    name: ClassVar[str] = "cbc"
    exact: ClassVar[bool] = True
    ties: ClassVar[frozenset[Ties]] = frozenset(("fewest", "most"))
    max_size: ClassVar[int | None] = None
    package: ClassVar[str | None] = "pulp"

    total_limit: ClassVar[int] = 10**8
    """CBC hands back numbers in text of eight digits."""

    def __init__(self, time_limit: float | None = None) -> None:
        self.time_limit = time_limit

    def solve(self, instance: ClosureInstance, /) -> Closure:
        """The extreme optimum with its dual.

        Raises
        ------
        InvalidInput
            Absolute profits add up to 10^8 or more (witness: the sum).
        NoSolution
            The time limit ended the search before an optimum (witness: CBC's status).
        ProofFailed
            CBC reports no optimum, or its dual does not prove its answer.
        """
        _check_total(instance, self.total_limit)
        pulp = import_module("pulp")
        k, (arcs, tails, heads) = instance.requires.n, _arcs(instance)
        if k == 0:
            return _proved(instance, np.zeros(0), arcs, np.zeros(0), self.name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # PuLP 3 announces PuLP 4 at every variable
            program = pulp.LpProblem("closure", pulp.LpMaximize)
            x = [pulp.LpVariable(f"x{i}", 0, 1) for i in range(k)]
            program += pulp.LpAffineExpression(zip(x, instance.profit.tolist(), strict=True))
            rows = [x[i] - x[j] <= 0 for i, j in zip(tails.tolist(), heads.tolist(), strict=True)]
            for row in rows:
                program += row
            status = program.solve(pulp.PULP_CBC_CMD(msg=False, timeLimit=self.time_limit))
        told = f"{pulp.LpStatus[status]}, {pulp.LpSolution[program.sol_status]}"
        # At its limit CBC hands back points that break constraints; those are not read.
        if status == pulp.LpStatusNotSolved or program.sol_status == pulp.LpSolutionIntegerFeasible:
            raise NoSolution(f"CBC found no optimum within its limit: {told}", witness=told)
        if status != pulp.LpStatusOptimal or program.sol_status != pulp.LpSolutionOptimal:
            raise ProofFailed(f"CBC found no optimum: {told}", witness=told)
        chosen: Sequence[float | None] = [variable.varValue for variable in x]
        dual: Sequence[float | None] = [row.pi for row in rows]
        return _proved(instance, np.array(chosen, np.float64), arcs, np.array(dual, np.float64), self.name)


def _check_total(instance: ClosureInstance, limit: int) -> None:
    positive = instance.profit > 0
    total = exact_total(instance.profit[positive]) - exact_total(instance.profit[~positive])
    if total >= limit:
        raise InvalidInput(f"absolute profits add up to {limit:.3g} or more", witness=total)


def _arcs(instance: ClosureInstance) -> tuple[Int64, Index, Index]:
    """Numbers and ends of the arcs that are no loops: a loop's row would be empty, which HiGHS may refuse."""
    tails, heads = instance.requires.tails(), instance.requires.heads
    arcs = np.flatnonzero(tails != heads)
    return arcs, tails[arcs], heads[arcs]


def _proved(
    instance: ClosureInstance,
    x: Floats,
    arcs: Int64,
    dual: Floats,
    solver: str,
) -> Closure:
    off = np.abs(x - np.rint(x))
    if not off.max(initial=0.0) <= _OFF_A_VERTEX:
        raise ProofFailed(f"{solver} stopped off a vertex", witness=int(off.argmax()))
    mask = np.rint(x) == 1
    certificate = Certificate.of(arcs, np.maximum(np.rint(dual), 0).astype(np.int64))
    nothing = np.zeros(len(x), np.bool_)
    question = Question(requires=instance.requires, profit=instance.profit, forced=nothing, barred=nothing)
    r = reduced_profits(question, certificate.arcs, certificate.amounts)
    worth, bound, broken = (
        exact_total(instance.profit[mask]),
        dual_bound(question, r),
        violated_arc(instance.requires, mask),
    )
    if broken is not None or worth != bound:
        raise ProofFailed(f"{solver} says optimal, but {worth} of at most {bound}", witness=broken or bound)
    return Closure(
        mask=extreme_optimum(question, r, certificate.arcs, instance.ties), certificate=certificate
    )
