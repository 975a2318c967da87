"""Solvers of other libraries agree, or are refused where they would be wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

import numpy as np
import pytest

from memorepair import Selection, SelectionInstance, Status, select
from memorepair.errors import InvalidInput, NoSolution, ProofFailed
from memorepair.graphs import Digraph, MinCutNetwork, generate
from memorepair.problems import Closure, ClosureInstance
from memorepair.problems.proof import Ties
from memorepair.selection.choosing import solve_closure
from memorepair.solvers import get_solver, registry, solvers
from memorepair.solvers.cpsat import CpSat
from memorepair.solvers.linear import Cbc, HighsLp
from memorepair.solvers.networkx_flow import NetworkxFlow
from memorepair.solvers.ortools_flow import OrtoolsFlow
from memorepair.solvers.scipy_flow import ScipyFlow
from memorepair.solvers.solver import FlowSolver

Draw = Callable[[np.random.Generator], SelectionInstance]

EXACT = [name for name in solvers() if get_solver(name).exact and name not in ("pseudoflow", "exhaustive")]
LIMITED_DIGITS = {"scipy", "highs", "cbc", "cp-sat"}
FLOWS: list[FlowSolver] = [OrtoolsFlow(), ScipyFlow(), NetworkxFlow()]


@pytest.mark.parametrize("solver", EXACT)
@pytest.mark.parametrize("ties", ["fewest", "most"])
def test_every_exact_solver_finds_both_extreme_optima(draw: Draw, ties: Ties, solver: str) -> None:
    """500 instances, 25 side by side: the extreme optimum of a union is the union of extreme optima."""
    rng = np.random.default_rng(31)
    for _ in range(20):
        parts = [draw(rng) for _ in range(25)]
        starts = np.cumsum([0, *(part.k for part in parts)])
        tails = [part.requires.tails() + start for part, start in zip(parts, starts, strict=False)]
        heads = [part.requires.heads + start for part, start in zip(parts, starts, strict=False)]
        union = ClosureInstance(
            profit=np.concatenate([part.value - part.cost for part in parts]).astype(np.int64),
            requires=Digraph.from_arcs(int(starts[-1]), np.concatenate(tails), np.concatenate(heads)),
            ties=ties,
        )
        found, reference = (solve_closure(union, get_solver(name)).mask for name in (solver, "pseudoflow"))
        assert np.array_equal(found, reference)


@pytest.mark.parametrize("solver", EXACT)
def test_every_exact_solver_agrees_on_a_larger_instance(solver: str) -> None:
    drawn = generate("prov-1e3")
    ours, theirs = (
        select(
            value=drawn.profits(scale=100),
            requires=drawn.requires,
            executable=drawn.executable,
            solver=name,
        )
        for name in ("pseudoflow", solver)
    )
    assert np.array_equal(ours.mask, theirs.mask)


@pytest.mark.parametrize("solver", EXACT)
@pytest.mark.parametrize(("sign", "chosen"), [(1, 5), (-1, 0), (0, 0)])
def test_profits_of_one_sign(solver: str, sign: int, chosen: int) -> None:
    selection = select(value=[sign * one for one in range(1, 6)], requires=[(0, 1), (3, 2)], solver=solver)
    assert (len(selection.chosen), selection.gap) == (chosen, 0)


@pytest.mark.parametrize("solver", EXACT)
def test_loops_parallel_arcs_and_cycles(solver: str) -> None:
    requires = [(0, 0), (0, 1), (0, 1), (0, 1), (1, 2), (2, 1), (3, 3), (4, 2), (2, 4)]
    selection = select(value=[9, -3, -2, -1, -2], requires=requires, solver=solver)
    assert selection.chosen == (0, 1, 2, 4)
    assert selection.verify()


@pytest.mark.parametrize("solver", EXACT)
def test_weights_of_every_size_at_once(solver: str) -> None:
    value, requires = [1e-9, -1e12, 1e12, 2e-9, -1e-9], [(0, 1), (2, 1), (3, 4)]
    if LIMITED_DIGITS & {solver}:
        with pytest.raises(InvalidInput):
            select(value=value, requires=requires, solver=solver)
        return
    selection = select(value=value, requires=requires, solver=solver)
    assert 0 < selection.report.loss < 0.01  # 21 digits do not fit 62 bits: rounded, and said so
    assert abs(2e-9 - float(selection.objective)) <= selection.report.loss


@pytest.mark.parametrize("solver", EXACT)
def test_small_weights_are_not_lost_in_tolerances(solver: str) -> None:
    selection = select(value=[3e-9, -2e-9, 1e-9, -2e-9], requires=[(0, 1), (2, 3)], solver=solver)
    assert selection.chosen == (0, 1)
    assert selection.objective == pytest.approx(1e-9)


@pytest.mark.parametrize("solver", EXACT)
@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.uint64, np.float32])
def test_numbers_of_any_numpy_type(solver: str, kind: type[np.generic]) -> None:
    value = np.array([5, 1, 3]).astype(kind)
    assert select(value=value, cost=value, requires=[(0, 1)], tradeoff=2, solver=solver).chosen == ()


@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.name)
def test_networks_that_reductions_do_not_make(flow: FlowSolver) -> None:
    """Opposite and parallel arcs, loops, arcs into the source and out of the sink."""
    rng = np.random.default_rng(3)
    for _ in range(100):
        n = int(rng.integers(2, 8))
        m = int(rng.integers(0, 25))
        tails, heads = rng.integers(0, n, (2, m)).astype(np.int32)
        network = MinCutNetwork(
            n=n, tails=tails, heads=heads, capacities=rng.integers(0, 6, m), source=0, sink=n - 1
        )
        cut = flow.cut(network)
        cut.verify()
        assert cut.value == OrtoolsFlow().cut(network).value


def test_three_arcs_of_two_to_the_62() -> None:
    network = MinCutNetwork(
        n=3,
        tails=np.array([0, 1, 1, 1], np.int32),
        heads=np.array([1, 2, 2, 2], np.int32),
        capacities=np.array([7, 2**62, 2**62, 2**62]),
        source=0,
        sink=2,
    )
    for flow in FLOWS:
        cut = flow.cut(network)
        cut.verify()
        assert cut.value == 7


def test_scipy_takes_a_chain_of_100_000_nodes() -> None:
    chain = generate("chain-1e5")
    profit = np.where(np.arange(100_000) % 4 == 3, 5, -2)  # short paths: on long ones it is quadratic
    ours, theirs = (
        select(value=profit, requires=chain.requires, solver=solver) for solver in ("pseudoflow", "scipy")
    )
    assert np.array_equal(ours.mask, theirs.mask)


def test_scipy_is_refused_before_32_bits_wrap() -> None:
    for total, fits in ((2**30 - 1, True), (2**30, False), (2**31 + 5, False), (2**32 + 5, False)):
        if fits:
            assert select(value=[total, 1 - total], requires=[(0, 1)], solver="scipy").objective == 1
        else:
            with pytest.raises(InvalidInput) as caught:
                select(value=[total, 1 - total], requires=[(0, 1)], solver="scipy")
            assert caught.value.witness == total


LIMITED = [HighsLp(time_limit=0.0), Cbc(time_limit=0), CpSat(time_limit=0.0)]


@pytest.mark.parametrize("vendor", LIMITED, ids=lambda vendor: vendor.name)
def test_a_limit_before_the_first_answer_is_no_answer(vendor: HighsLp | Cbc | CpSat) -> None:
    drawn = generate("mine5-1e4")
    instance = ClosureInstance(profit=drawn.profits(scale=10), requires=drawn.requires)
    with pytest.raises(NoSolution):
        vendor.solve(instance)


class Liar:
    """Claims an optimum that is none."""

    name: ClassVar[str] = "liar"
    exact: ClassVar[bool] = True
    ties: ClassVar[frozenset[Ties]] = frozenset(("fewest", "most"))
    max_size: ClassVar[int | None] = None
    package: ClassVar[str | None] = None
    answer: ClassVar[list[bool] | None] = None

    def solve(self, instance: ClosureInstance, /) -> Closure:
        if self.answer is None:
            raise NoSolution("no incumbent", witness="UNKNOWN")
        return Closure(mask=np.array(self.answer), certificate=None)


@pytest.fixture
def liar(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Liar]]:
    monkeypatch.setattr(registry, "get_solver", lambda name: Liar() if name == "liar" else get_solver(name))
    monkeypatch.setattr("memorepair.selection.choosing.get_solver", registry.get_solver)
    yield Liar
    Liar.answer = None


def test_claims_are_not_believed(liar: type[Liar]) -> None:
    def asked() -> Selection:
        return select(value=[3, -1, -2], requires=[(0, 1)], solver="liar")

    liar.answer = [True, False, False]
    with pytest.raises(ProofFailed):  # "optimal", with a violated constraint
        asked()
    liar.answer = [False, False, False]
    short = asked()
    assert (short.status, short.objective, short.bound) == (Status.FEASIBLE, 0, 2)
    liar.answer = [True, True, False]
    assert asked().status is Status.OPTIMAL
    liar.answer = None
    nothing = asked()
    assert nothing.status is Status.NO_SOLUTION
    with pytest.raises(NoSolution):
        nothing.mask  # noqa: B018 - reading it is the test


def test_a_certificate_comes_with_every_closure() -> None:
    instance = ClosureInstance(profit=np.array([3, -1]), requires=Digraph.from_arcs(2, [0], [1]), ties="most")
    for name in solvers():
        assert solve_closure(instance, get_solver(name)).certificate is not None
