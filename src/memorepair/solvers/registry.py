"""Registry of solvers: a name, where the class is, one line each."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

from memorepair.errors import MissingDependency, UnknownId
from memorepair.problems.proof import Ties
from memorepair.solvers.solver import ClosureSolver, FlowSolver, Solver

_SOLVERS = {
    "pseudoflow": "memorepair.solvers.pseudoflow:Pseudoflow",
    "ortools": "memorepair.solvers.ortools_flow:OrtoolsFlow",
    "scipy": "memorepair.solvers.scipy_flow:ScipyFlow",
    "networkx": "memorepair.solvers.networkx_flow:NetworkxFlow",
    "highs": "memorepair.solvers.linear:HighsLp",
    "cbc": "memorepair.solvers.linear:Cbc",
    "cp-sat": "memorepair.solvers.cpsat:CpSat",
    "exhaustive": "memorepair.solvers.exhaustive:Exhaustive",
    "greedy": "memorepair.solvers.greedy:Greedy",
    "cone-ratio": "memorepair.solvers.greedy:ConeRatio",
    "marginal-gain": "memorepair.solvers.greedy:MarginalGain",
    "cheapest-first": "memorepair.solvers.greedy:CheapestFirst",
    "repair-all": "memorepair.solvers.baselines:RepairAll",
    "repair-none": "memorepair.solvers.baselines:RepairNone",
}


def solvers() -> tuple[str, ...]:
    """Names of all solvers, the default first, whether or not their packages are installed."""
    return tuple(_SOLVERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """What a solver declares about itself.

    Attributes
    ----------
    name, exact, ties, max_size, package
        As in `solver.Capabilities`.
    installed
        Whether its package is.
    what
        What it is, in a sentence.
    """

    name: str
    exact: bool
    ties: tuple[Ties, ...]
    max_size: int | None
    package: str | None
    installed: bool
    what: str


def listed() -> tuple[Listed, ...]:
    """All solvers with their capabilities, the default first; no package of a vendor is imported."""
    return tuple(_listed(_load(name)) for name in _SOLVERS)


def _listed(solver: Solver) -> Listed:
    return Listed(
        name=solver.name,
        exact=solver.exact,
        ties=tuple(sorted(solver.ties)),
        max_size=solver.max_size,
        package=solver.package,
        installed=solver.package is None or find_spec(solver.package) is not None,
        what=(solver.__doc__ or "").partition("\n")[0],
    )


def get_solver(name: str) -> Solver:
    """The solver called `name`.

    Raises
    ------
    UnknownId
        There is none (the message suggests names).
    MissingDependency
        Its package is not installed; the message names the extra that brings it.
    """
    if not isinstance(name, str) or name not in _SOLVERS:
        raise UnknownId.among("solver", name, _SOLVERS)
    solver = _load(name)
    if solver.package is not None and find_spec(solver.package) is None:
        raise MissingDependency(
            f"solver {name!r} needs {solver.package}: pip install 'memorepair[solvers]'",
            witness=solver.package,
        )
    return solver


def _load(name: str) -> Solver:
    module, _, attribute = _SOLVERS[name].partition(":")
    solver = getattr(import_module(module), attribute)()
    if not isinstance(solver, (ClosureSolver, FlowSolver)):
        raise TypeError(f"{attribute} is no solver")
    return solver
