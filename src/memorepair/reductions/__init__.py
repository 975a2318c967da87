"""Reductions: each turns an instance into an equivalent one, then its solution back.

========== ============================ ================= ==================================================
module     from                         to                what it does
========== ============================ ================= ==================================================
barred     SelectionInstance            SelectionInstance drops what cannot be executed, with what requires it
scalarize  SelectionInstance            ClosureInstance   value less priced cost, as one integer a node
required   ClosureInstance              ClosureInstance   fixes what must be chosen, with what it requires
mirror     ClosureInstance              ClosureInstance   the largest optimum as complement of a smallest
presolve   ClosureInstance              ClosureInstance   takes out leaves and inner nodes of paths
components ClosureInstance              ClosureInstances  cuts it into parts that no arc joins
mincut     ClosureInstance              MinCutNetwork     for solvers of minimum cuts
knapsack   SelectionInstance            KnapsackInstance  with a budget: integers on what is free to choose
lagrange   KnapsackInstance             ClosureInstance   a price for each cost in place of its budget
========== ============================ ================= ==================================================

`reduction` says what a reduction is; `part` maps what is kept back.
"""

from __future__ import annotations

from memorepair.reductions.barred import Barred, Witnesses, witnesses
from memorepair.reductions.components import Components
from memorepair.reductions.knapsack import Knapsack
from memorepair.reductions.lagrange import Lagrange
from memorepair.reductions.mincut import MinCut
from memorepair.reductions.mirror import Mirror
from memorepair.reductions.presolve import Presolve
from memorepair.reductions.reduction import Reduction
from memorepair.reductions.required import Required
from memorepair.reductions.scalarize import Scalarize

__all__ = [
    "Barred",
    "Components",
    "Knapsack",
    "Lagrange",
    "MinCut",
    "Mirror",
    "Presolve",
    "Reduction",
    "Required",
    "Scalarize",
    "Witnesses",
    "witnesses",
]
