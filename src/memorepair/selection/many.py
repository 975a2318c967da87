"""select_many(): independent problems side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from importlib import import_module
from typing import TypedDict, TypeVar, Unpack

import numpy as np

from memorepair.errors import InvalidInput, MemoRepairError, MissingDependency
from memorepair.graphs.digraph import Digraph, read_only
from memorepair.problems import Closure, ClosureInstance, Selection, SelectionInstance
from memorepair.problems.asking import Problem, as_instance
from memorepair.problems.integers import Number
from memorepair.problems.proof import Ties
from memorepair.reductions.components import Components
from memorepair.selection import select
from memorepair.selection.choosing import solve, solve_closure
from memorepair.solvers.registry import get_solver
from memorepair.solvers.solver import Solver

Task = TypeVar("Task")
Result = TypeVar("Result")


class Options(TypedDict, total=False):
    """Arguments of `select` that hold for every problem."""

    tradeoff: Number
    ties: Ties
    solver: str
    budget: Number | Sequence[Number]
    gap: float
    time_limit: float | None
    node_limit: int
    ilp: str | None


def select_many(
    problems: Iterable[Problem],
    /,
    *,
    jobs: int | None = 1,
    split: bool = False,
    **options: Unpack[Options],
) -> tuple[Selection, ...]:
    """`select` for each of many problems, in order.

    Parameters
    ----------
    problems
        Each as `select` takes it.
    jobs
        1: here, one after another, without joblib. Another number: so many at once through joblib, -1 for one
        a core. None: as the caller's ``joblib.parallel_config`` says, backend (loky, threading, Dask, Ray)
        and number of jobs.
    split
        Work at once on the parts of a problem that no prerequisite joins, problem after problem, instead of
        on several problems. The answers are those of the whole, and so are their proofs.
    options
        tradeoff, ties, solver, budget, gap, time_limit, node_limit, ilp, as `select` takes them.

    Returns
    -------
    tuple of Selection
        The same whatever `jobs` is; and, from an exact solver, whatever `split` is.

    Raises
    ------
    MissingDependency
        joblib is not installed, and `jobs` is not 1: nothing falls back in silence.
    InvalidInput
        `jobs` is 0 or no number; `problems` are none; or `split` with a budget, which joins what no
        prerequisite joins.
    MemoRepairError
        What `select` raises; the message begins with the problem's position, the witness is the pair of it
        and of the problem's own witness.

    Examples
    --------
    >>> [found.objective for found in select_many([[{"id": "a", "value": 2}], [{"id": "b", "value": -1}]])]
    [2, 0]
    """
    if jobs == 0 or not isinstance(jobs, int | None):
        raise InvalidInput(f"jobs must be a number other than 0, or None, not {jobs!r}", witness=jobs)
    if not isinstance(problems, Iterable):
        raise InvalidInput(f"no problems to take one after another: {problems!r}", witness=problems)
    instances = []
    for position, problem in enumerate(problems):
        with _located(position):
            instances.append(
                as_instance(
                    problem,
                    value=None,
                    cost=None,
                    requires=None,
                    executable=None,
                    required=(),
                    ids=None,
                    tradeoff=options.get("tradeoff"),
                    budget=options.get("budget"),
                )
            )
    if split:
        return tuple(_split(position, instance, jobs, options) for position, instance in enumerate(instances))
    tasks = [(position, instance, options) for position, instance in enumerate(instances)]
    found = _mapped(_one, tasks, jobs)
    return tuple(
        replace(_frozen(selection), instance=instance)
        for selection, instance in zip(found, instances, strict=True)
    )


_NOBODY = SelectionInstance(
    value=np.zeros(0, np.int64),
    cost=np.zeros(0, np.int64),
    requires=Digraph.from_arcs(0, (), ()),
    executable=np.zeros(0, np.bool_),
    required=np.zeros(0, np.bool_),
)


def _one(task: tuple[int, SelectionInstance, Options]) -> Selection:
    position, instance, options = task
    with _located(position):
        # The asker has the instance: it need not travel back.
        return replace(select(instance, **options), instance=_NOBODY)


def _split(position: int, instance: SelectionInstance, jobs: int | None, options: Options) -> Selection:
    def close(whole: ClosureInstance, solver: Solver) -> Closure:
        parts, record = Components().apply(whole)
        return Components().invert(
            tuple(_mapped(_part, [(part, solver.name) for part in parts], jobs)), record
        )

    with _located(position):
        if instance.budget is not None:
            raise InvalidInput("a budget joins the parts of a problem: do not split it", witness="budget")
        return solve(
            instance,
            ties=options.get("ties", "fewest"),
            solver=options.get("solver", "pseudoflow"),
            close=close,
        )


def _part(task: tuple[ClosureInstance, str]) -> Closure:
    part, solver = task
    return solve_closure(part, get_solver(solver))


def _mapped(function: Callable[[Task], Result], tasks: list[Task], jobs: int | None) -> list[Result]:
    if jobs == 1:
        return [function(task) for task in tasks]
    try:
        joblib = import_module("joblib")
    except ImportError:
        raise MissingDependency(
            "jobs other than 1 need joblib: pip install 'memorepair[parallel]'; jobs=1 does without",
            witness="joblib",
        ) from None
    found: list[Result] = joblib.Parallel(n_jobs=jobs)(joblib.delayed(function)(task) for task in tasks)
    return found


@contextmanager
def _located(position: int) -> Iterator[None]:
    """Errors raised inside say which problem they are about."""
    try:
        yield
    except MemoRepairError as error:
        error.message = f"problem {position}: {error.message}"
        error.witness = (position, error.witness)
        error.args = (error.message,)
        raise


def _frozen(value: Result) -> Result:
    """`value`, its arrays read-only again: what has travelled between processes has lost that."""
    if isinstance(value, np.ndarray):
        read_only(value)
    elif isinstance(value, tuple):
        for one in value:
            _frozen(one)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            _frozen(getattr(value, field.name))
    return value
