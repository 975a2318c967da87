"""Many problems at once have the answers and proofs they have one by one."""

from __future__ import annotations

import sys
from dataclasses import replace
from fractions import Fraction
from typing import cast

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorepair import Selection, SelectionInstance, select
from memorepair.errors import InvalidInput, InvalidInstance, MissingDependency, UnknownId
from memorepair.graphs import Digraph, generate
from memorepair.problems import ClosureInstance
from memorepair.problems.proof import Ties
from memorepair.reductions import Components
from memorepair.selection import many
from memorepair.selection.choosing import solve_closure
from memorepair.selection.many import select_many
from memorepair.solvers import get_solver
from memorepair.testing import assert_certificate, assert_optimal, instances


def same(one: Selection, other: Selection) -> None:
    assert (one.status, one.solver, one.ties, one.report.loss) == (
        other.status,
        other.solver,
        other.ties,
        other.report.loss,
    )
    assert_certificate(one)
    if other.answer is not None:
        assert np.array_equal(one.mask, other.mask)
        assert not one.mask.flags.writeable
        assert (one.objective, one.bound, one.gap) == (other.objective, other.bound, other.gap)


@settings(max_examples=30)
@given(st.lists(instances(budgets=True, max_size=6), max_size=4))
def test_order_and_answers_are_kept(problems: list[SelectionInstance]) -> None:
    found = select_many(problems)
    assert len(found) == len(problems)
    for selection, problem in zip(found, problems, strict=True):
        same(selection, select(problem))
        assert selection.instance.k == problem.k


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_the_callers_backend_changes_nothing(backend: str) -> None:
    problems = [random_instance(seed) for seed in range(6)]
    with joblib.parallel_config(backend=backend, n_jobs=2):
        found = select_many(problems, jobs=None, tradeoff=1, ties="most")
    for selection, problem in zip(found, problems, strict=True):
        same(selection, select(problem, tradeoff=1, ties="most"))
        assert selection.chosen == select(problem, tradeoff=1, ties="most").chosen


def random_instance(seed: int) -> SelectionInstance:
    drawn = generate("provD-30", seed=seed)
    return SelectionInstance(
        value=drawn.value,
        cost=drawn.cost,
        requires=drawn.requires,
        executable=drawn.executable,
        required=np.zeros(len(drawn.value), np.bool_),
        ids=tuple(f"c{place}" for place in range(len(drawn.value))),
    )


@pytest.mark.parametrize("jobs", [1, 2])
def test_errors_name_the_problem(jobs: int) -> None:
    good = [{"id": "a", "value": 1}]
    with pytest.raises(InvalidInstance, match=r"^problem 1: ") as caught:
        select_many([good, [{"id": "a", "value": 1, "cost": -1}]], jobs=jobs)
    assert caught.value.witness == (1, "a")
    with pytest.raises(InvalidInput, match=r"^problem 1: ") as late:
        select_many([good, [{"id": n, "value": 1} for n in range(30)]], jobs=jobs, solver="exhaustive")
    assert late.value.witness == (1, 30)
    with pytest.raises(UnknownId, match=r"^problem 0: "):
        select_many([good], jobs=jobs, split=True, solver="oracle")


@pytest.mark.parametrize(("problems", "jobs"), [(5, 1), ([], "x"), ([], 1.5), (None, 2)])
def test_what_is_no_list_or_no_number_is_named(problems: object, jobs: object) -> None:
    with pytest.raises(InvalidInput):
        select_many(cast("list[SelectionInstance]", problems), jobs=cast("int", jobs))


def test_jobs_are_some() -> None:
    with pytest.raises(InvalidInput):
        select_many([], jobs=0)


def test_without_joblib_nothing_falls_back_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "joblib", None)
    problems = [[{"id": "a", "value": 1}]]
    with pytest.raises(MissingDependency, match=r"memorepair\[parallel\]"):
        select_many(problems, jobs=2)
    assert select_many(problems)[0].chosen == ("a",)


@settings(max_examples=40)
@given(instances(max_size=9), st.sampled_from(["fewest", "most"]), st.sampled_from(["pseudoflow", "ortools"]))
def test_a_split_problem_has_the_answer_and_proof_of_the_whole(
    instance: SelectionInstance, ties: Ties, solver: str
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(many, "Components", lambda: Components(at_least=1))
        (found,) = select_many([instance], split=True, ties=ties, solver=solver)
    same(found, select(instance, ties=ties, solver=solver))
    if found.answer is not None:
        assert_optimal(found)


@settings(max_examples=60)
@given(instances(max_size=12), st.integers(1, 5))
def test_parts_are_whole_components_and_come_back(instance: SelectionInstance, at_least: int) -> None:
    k, rng = instance.k, np.random.default_rng(instance.k)
    whole = ClosureInstance(profit=rng.integers(-9, 9, k), requires=instance.requires, scale=Fraction(1))
    reduction = Components(at_least=at_least)
    parts, record = reduction.apply(whole)
    assert sum(part.requires.n for part in parts) == k
    assert sum(part.requires.m for part in parts) == instance.requires.m
    assert np.array_equal(np.sort(record.nodes), np.arange(k))
    closures = tuple(solve_closure(part, get_solver("pseudoflow")) for part in parts)
    joined = reduction.invert(closures, record)
    alone = solve_closure(whole, get_solver("pseudoflow"))
    assert np.array_equal(joined.mask, alone.mask)
    silent = tuple(replace(closure, certificate=None) for closure in closures)
    assert bool(silent) == (reduction.invert(silent, record).certificate is None)


def test_a_split_problem_runs_in_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many, "Components", lambda: Components(at_least=500))
    n, copies = 100, 20
    value = np.tile(np.where(np.arange(n) % 3 == 0, 5, -2), copies)
    tails = np.arange(n * copies)[np.arange(n * copies) % n != 0]
    instance = select(value=value, requires=Digraph.from_arcs(n * copies, tails, tails - 1)).instance
    (found,) = select_many([instance], split=True, jobs=2)
    same(found, select(instance))


def test_a_budget_is_not_split() -> None:
    with pytest.raises(InvalidInput, match=r"^problem 0: a budget"):
        select_many([[{"id": "a", "value": 1}]], split=True, budget=3)
