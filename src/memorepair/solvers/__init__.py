"""Solvers: one file an algorithm or a vendor, each knows integers on arcs only.

============ ====== ===================================================================================
name         exact  what it is
============ ====== ===================================================================================
pseudoflow   yes    the default: highest label pseudoflow for closures, compiled on large instances
ortools      yes    OR-tools' maximum flow, an independent check (extra `solvers`)
exhaustive   yes    all closures, up to 20 free candidates: the oracle
greedy       no     best ratio first
repair-all   no     everything that is not barred
repair-none  no     only what is required
============ ====== ===================================================================================
"""

from __future__ import annotations

from memorepair.solvers.registry import get_solver, solvers
from memorepair.solvers.solver import ClosureSolver, FlowSolver, Solver

__all__ = ["ClosureSolver", "FlowSolver", "Solver", "get_solver", "solvers"]
