"""select(): which candidates to repair, with the proof."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from memorepair.errors import InvalidInput, NoSolution
from memorepair.problems import (
    Closure,
    ClosureInstance,
    Report,
    Selection,
    SelectionInstance,
    Status,
    asking,
    check_ties,
)
from memorepair.problems.asking import Problem, Requires
from memorepair.problems.integers import BIGNUM_NODES, Number, NumbersLike
from memorepair.problems.proof import Ties
from memorepair.reductions.barred import Barred, Witnesses, witnesses
from memorepair.reductions.mincut import MinCut
from memorepair.reductions.mirror import Mirror
from memorepair.reductions.required import Required
from memorepair.reductions.scalarize import Scalarize
from memorepair.selection.budgeting import GAP, NODE_LIMIT, TIME_LIMIT, solve_within
from memorepair.selection.closing import close
from memorepair.solvers.pseudoflow import Pseudoflow
from memorepair.solvers.registry import get_solver
from memorepair.solvers.solver import ClosureSolver, Solver

EXACT_SIZE = 100_000
"""Nodes plus arcs up to which the default solver takes Python integers where 64 bits do not hold the profits,
some 10 microseconds each; what is larger is rounded."""


def select(
    problem: Problem | None = None,
    /,
    *,
    value: NumbersLike | None = None,
    cost: NumbersLike | None = None,
    requires: Requires | None = None,
    executable: npt.ArrayLike | None = None,
    required: npt.ArrayLike | Iterable[Hashable] = (),
    ids: Iterable[Hashable] | None = None,
    tradeoff: Number | None = None,
    ties: Ties = "fewest",
    solver: str = "pseudoflow",
    budget: Number | Sequence[Number] | None = None,
    gap: float = GAP,
    time_limit: float | None = TIME_LIMIT,
    node_limit: int = NODE_LIMIT,
    ilp: str | None = "highs",
) -> Selection:
    """Choose the candidates whose repair is worth its cost: exactly, or within a budget with a proven gap.

        max  sum_i (w_i - lambda c_i) x_i    s.t.  x_i <= v_i,  x_i <= x_j where i requires j,  x_i = 1 for i
        in R,  sum_i c_i x_i <= beta where there is a budget

    Parameters
    ----------
    problem
        A SelectionInstance; or candidate records, mappings or objects with id and value and optionally cost,
        requires (ids), executable, required; or a networkx DiGraph with value and optionally cost,
        executable, required as node attributes, where i -> j reads "i requires j". A mapping or node with
        other fields is refused. None: the arrays below instead.
    value : (k,) numbers
        w_i, any sign. A float stands for the shortest decimal that reads back as it; Decimals, with an
        exponent of at most 5,000, become Fractions.
    cost : (k,) numbers, or (k, d) for d costs each
        c_i >= 0, in the unit of your choice; 0 where left out.
    requires
        "i requires j": pairs (i, j) of ids, or of positions where there are no ids; or, by position, an (m,
        2) integer array, a Digraph, a square SciPy sparse matrix whose stored entries other than 0 are the
        arcs. A dense array is always read as pairs, never as an adjacency matrix. Cycles are legal: all of a
        cycle or nothing.
    executable : (k,) bool
        v_i; a false one is barred with everything that requires it. All true where left out.
    required
        R: ids (or positions) that must be chosen, or a (k,) boolean mask; beside a problem, added to its own.
    ids
        Names in order, hashable, unique; 0 .. k - 1 where left out.
    tradeoff
        lambda >= 0, value per unit of cost. Where left out, the instance's own, else 0: cost has no price.
    ties
        Among several optima the one contained in all ("fewest") or containing all ("most").
    solver
        A name of `memorepair.solvers.solvers()`; with a budget there is one, the default.
    budget
        beta >= 0, the most the chosen may cost together; d of them for d costs. Where left out, the
        instance's own, else none. With a budget the problem is NP-hard, `ties` has no meaning, and these stop
        the search:
    gap
        A proven (bound - objective) / max(|bound|, |objective|) that is good enough.
    time_limit
        Seconds of wall time for the search, of which the price path takes at most half; None for no limit.
        What is under way when it is up has a tenth of a second left. Reading the instance and checking the
        answer come on top: a pass over candidates and prerequisites for each leaf, on the families measured
        up to a tenth of what the search took. Compiling the kernels, once on a machine, is not counted. The
        answer is the same each time unless the limit, or half of it before the path is known, is reached.
    node_limit
        Decisions of the branch and bound at most, whether in the tree that is returned or in one given up for
        a better: there are at most so many leaves and one.
    ilp
        A name of `memorepair.solvers.ilp.ilp_solvers()` that looks for better answers, not for proofs; None
        for none.

    Returns
    -------
    Selection
        Checked before it is returned: closed, within budget, nothing barred, status and gap as its
        certificate or its leaves prove. OPTIMAL where the bound is the objective, the same number; FEASIBLE,
        with the gap between them, otherwise. A required candidate that is barred, or required ones that cost
        more than the budget, give status INFEASIBLE, not an exception.

    Raises
    ------
    InvalidInput
        The problem is malformed (InvalidInstance), given twice, too large for the solver.
    UnknownId, MissingDependency
        The solver does not exist, or its package is not installed.
    ProofFailed
        The solver's answer does not satisfy its definition or certificate.

    Notes
    -----
    O(k + m) memory, with a budget so much for each leaf; the default solver took near linear time on every
    family measured.

    Profits w - lambda c are whole numbers in a common unit, exact where these fit 62 bits, and with the
    default solver also where they do not, up to 20,000 candidates and 100,000 candidates and prerequisites
    together. Elsewhere, and with a budget where a total has more than 40 bits, they are rounded;
    ``report.loss`` is what that can hide. Status, bound and gap count it: then OPTIMAL means that the bound,
    loss included, and the objective are the same float (or equal, where the figures are exact), and FEASIBLE
    with a gap of 1e-13 that an optimum of the rounded numbers was found. ``ties`` are those of the rounded
    numbers.

    Examples
    --------
    >>> selection = select(value=[3, -1, 2], requires=[(0, 1), (2, 1)])
    >>> selection.chosen, selection.objective, selection.status.value
    ((0, 1, 2), 4, 'optimal')
    >>> within = select(value=[3, 4, 6], cost=[1, 2, 3], budget=4)
    >>> within.chosen, within.objective, within.gap
    ((0, 2), 9, 0.0)
    """
    instance = asking.as_instance(
        problem,
        value=value,
        cost=cost,
        requires=requires,
        executable=executable,
        required=required,
        ids=ids,
        tradeoff=tradeoff,
        budget=budget,
    )
    if instance.budget is None:
        return solve(instance, ties=ties, solver=solver)
    check_ties(ties)
    if ties != "fewest" or solver != "pseudoflow":
        raise InvalidInput("with a budget there is one solver and no tie rule", witness=(solver, ties))
    return solve_within(instance, gap=gap, time_limit=time_limit, node_limit=node_limit, ilp=ilp)


def solve(
    instance: SelectionInstance,
    *,
    ties: Ties,
    solver: str,
    close: Callable[[ClosureInstance, Solver], Closure] | None = None,
) -> Selection:
    """Drop what is barred, price, fix what is required, solve by `close`, map back, check."""
    check_ties(ties)
    algorithm = get_solver(solver)
    promised = ties if algorithm.exact else None
    found = witnesses(instance.requires, instance.executable)
    conflict = np.flatnonzero(instance.required & (found.step >= 0))
    if len(conflict):
        path = instance.named(found.path(int(conflict[0])))
        return Selection.infeasible(instance, path, barred_by=found.nearest, solver=solver, ties=promised)
    try:
        closure = _reduced(instance, found, ties, algorithm, close or solve_closure)
    except NoSolution:  # a vendor reached its limit before its first answer
        report = Report(barred_by=found.nearest, forced=0)
        return Selection(
            instance=instance, status=Status.NO_SOLUTION, solver=solver, ties=promised, report=report
        )
    return Selection.proved(instance, closure, barred_by=found.nearest, solver=solver, ties=promised)


def _reduced(
    instance: SelectionInstance,
    found: Witnesses,
    ties: Ties,
    algorithm: Solver,
    close: Callable[[ClosureInstance, Solver], Closure],
) -> Closure:
    """The closure that `close` finds through the reductions, which are gone when it is checked."""
    barred = Barred()
    free, kept = barred.drop(instance, found)
    small = free.k <= BIGNUM_NODES and free.k + free.requires.m <= EXACT_SIZE
    scalarize = Scalarize(ties=ties, big=small and isinstance(algorithm, Pseudoflow))
    priced, same = scalarize.apply(free)
    required = Required(required=free.required)
    closure_instance, rest = required.apply(priced)
    closure = required.invert(close(closure_instance, algorithm), rest)
    return barred.invert(scalarize.invert(closure, same), kept)


def solve_closure(instance: ClosureInstance, solver: Solver) -> Closure:
    """The answer of `solver`, through the mirror or the cut where it needs one, always with a certificate."""
    if solver.max_size is not None and instance.requires.n > solver.max_size:
        raise InvalidInput(
            f"solver {solver.name!r} takes at most {solver.max_size} free candidates",
            witness=instance.requires.n,
        )
    if not isinstance(solver, ClosureSolver):
        network, record = MinCut().apply(instance)
        cut = solver.cut(network)
        cut.verify()
        return MinCut().invert(cut, record)
    if solver.exact and instance.ties not in solver.ties:
        mirrored, arcs = Mirror().apply(instance)
        return Mirror().invert(solve_closure(mirrored, solver), arcs)
    if isinstance(solver, Pseudoflow):  # others get the instance as it is: to compare them means that
        return close(instance)
    closure = solver.solve(instance)
    if closure.certificate is None:
        # A dual proves an optimum whoever found it; one from elsewhere makes the answer checkable, not
        # different.
        dual = solve_closure(instance, get_solver("pseudoflow"))
        closure = Closure(mask=closure.mask, certificate=dual.certificate)
    return closure
