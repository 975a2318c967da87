"""Integer programming solvers: they propose closures within budgets; what they claim is not proof.

========= ==================================================== =============
name      what it is                                           extra
========= ==================================================== =============
highs     HiGHS through SciPy, the default
highspy   HiGHS by its own package                             `solvers`
cp-sat    OR-tools' CP-SAT                                     `solvers`
cbc       CBC through PuLP                                     `solvers`
========= ==================================================== =============
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

from memorepair.errors import MissingDependency, UnknownId
from memorepair.graphs.closure import is_closed
from memorepair.graphs.digraph import Mask
from memorepair.problems import KnapsackInstance


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedIlp:
    """What an integer programming solver declares about itself.

    Attributes
    ----------
    name
        What ``select(ilp=)`` calls it.
    package
        Package to import.
    installed
        Whether it is.
    bounds
        Whether it tells a bound of its own, which `Selection.ilp_bound` shows.
    counts_nodes
        Whether it stops after so many nodes; otherwise after so much deterministic time.
    what
        What it is, in a sentence.
    """

    name: str
    package: str
    installed: bool
    bounds: bool
    counts_nodes: bool
    what: str


_SOLVERS = {
    "highs": ("ilp_highs", "scipy", True, True, "HiGHS through SciPy, branch and cut"),
    "highspy": ("ilp_highspy", "highspy", True, True, "HiGHS by its own package"),
    "cp-sat": ("ilp_cpsat", "ortools", True, False, "OR-tools' CP-SAT, clause learning, one worker"),
    "cbc": ("ilp_cbc", "pulp", False, True, "CBC through PuLP, branch and cut"),
}
"""Module, package, and what `ListedIlp` says: bounds, counts_nodes, what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """When a solver is to stop.

    Attributes
    ----------
    gap
        Relative gap by its own account.
    nodes
        Nodes of its own tree, where it counts them.
    seconds
        Wall time; None for no limit.
    """

    gap: float
    nodes: int
    seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Proposal:
    """What a solver came back with.

    Attributes
    ----------
    mask : (k,) bool, or None
        A closure within the budgets; None where it had none.
    bound
        What it claims that nothing exceeds; None where it claims nothing.
    """

    mask: Mask | None
    bound: float | None


Propose = Callable[[KnapsackInstance, Effort], Proposal]


def ilp_solvers() -> tuple[str, ...]:
    """Names of all, the default first, whether or not their packages are installed."""
    return tuple(_SOLVERS)


def listed_ilps() -> tuple[ListedIlp, ...]:
    """All with what they can do, the default first; none is imported."""
    return tuple(
        ListedIlp(
            name=name,
            package=package,
            installed=find_spec(package) is not None,
            bounds=bounds,
            counts_nodes=counts_nodes,
            what=what,
        )
        for name, (_, package, bounds, counts_nodes, what) in _SOLVERS.items()
    )


def check_ilp(name: str) -> None:
    """Raise UnknownId or MissingDependency unless `name` can be used."""
    if not isinstance(name, str) or name not in _SOLVERS:
        raise UnknownId.among("integer programming solver", name, _SOLVERS)
    package = _SOLVERS[name][1]
    if find_spec(package) is None:
        raise MissingDependency(
            f"{name!r} needs {package}: pip install 'memorepair[solvers]'", witness=package
        )


def propose(name: str, instance: KnapsackInstance, effort: Effort) -> Proposal:
    """What solver `name` finds; a set that is no closure or exceeds a budget is not passed on.

    Raises
    ------
    UnknownId, MissingDependency
        As `check_ilp`.
    """
    check_ilp(name)
    if instance.requires.n == 0:
        return Proposal(mask=None, bound=0.0)
    function: Propose = import_module(f"memorepair.solvers.{_SOLVERS[name][0]}").propose
    found = function(instance, effort)
    mask = found.mask
    # CBC at its time limit hands back points that violate constraints, others values that are half-way.
    if mask is not None and not (instance.amounts.keeps(mask) and is_closed(instance.requires, mask)):
        mask = None
    bound = found.bound if found.bound is not None and math.isfinite(found.bound) else None
    return Proposal(mask=mask, bound=bound)
