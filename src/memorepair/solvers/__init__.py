"""Solvers: one file an algorithm or a vendor, each knows integers on arcs only.

============== ====== =================================================================================
name           exact  what it is
============== ====== =================================================================================
pseudoflow     yes    the default: highest label pseudoflow for closures, compiled on large instances
ortools        yes    OR-tools' maximum flow, an independent check (extra `solvers`)
scipy          yes    SciPy's maximum flow; profits up to 2^30 together
networkx       yes    NetworkX' maximum flow, pure Python (extra `solvers`)
highs          yes    the linear program by HiGHS; absolute profits up to 2^50 together
cbc            yes    the linear program by CBC; absolute profits up to 10^8 together (extra `solvers`)
cp-sat         yes    OR-tools' constraint solver, for comparison (extra `solvers`)
exhaustive     yes    all closures, up to 20 free candidates: the oracle
greedy         no     best ratio first
cone-ratio     no     the same with all prerequisites counted
marginal-gain  no     what adds most, again and again
cheapest-first no     least losses among direct prerequisites first
repair-all     no     everything that is not barred
repair-none    no     only what is required
============== ====== =================================================================================

`parametric` finds the optima at all prices at once. With a budget `budgeted` puts together the price path,
cone fill (`cones`), an integer program (`ilp`), branch and bound (`branching`) on Lagrangian bounds
(`pricing`).
"""

from __future__ import annotations

from memorepair.solvers.registry import Listed, get_solver, listed, solvers
from memorepair.solvers.solver import ClosureSolver, FlowSolver, Solver

__all__ = ["ClosureSolver", "FlowSolver", "Listed", "Solver", "get_solver", "listed", "solvers"]
