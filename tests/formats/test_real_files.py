"""Files of others: published networks and pits, and readers that are not ours."""

from __future__ import annotations

import hashlib
import json
import lzma
import subprocess
import warnings
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pulp
import pytest
from hypothesis import assume, given, settings

from memorepair import SelectionInstance, formats, select
from memorepair.graphs import Digraph, MinCutNetwork
from memorepair.problems.integers import fraction
from memorepair.solvers.ortools_flow import OrtoolsFlow
from memorepair.testing import instances

model_builder: Any = import_module("ortools.linear_solver.python.model_builder")  # it has no types
RealInput = Callable[[str], Path]
NETWORKS = ["gl1", "wlm3", "netgen-2"]
PIT_SAMPLE = 3


# Others reckon in floats with tolerances: nothing as small as 1e-12 for them.
def counted(drawn: SelectionInstance) -> SelectionInstance:
    """The instance with costs that a tradeoff or a budget counts: others no file holds."""
    if drawn.budget is None and not fraction(drawn.tradeoff):
        return replace(drawn, cost=np.zeros(drawn.k, np.int64))
    return drawn


READABLE = (
    instances(decimal=True, budgets=True)
    .filter(lambda drawn: drawn.k > 0 and np.float64 not in (drawn.value.dtype, drawn.cost.dtype))
    .map(counted)
)


@pytest.mark.parametrize("name", NETWORKS)
def test_published_networks_have_their_known_flow(name: str, real_input: RealInput, tmp_path: Path) -> None:
    folder = real_input("maxflow-networkx")
    known = json.loads((folder / "answers.json").read_text())[name]
    path = tmp_path / f"{name}.max"
    path.write_bytes(lzma.decompress((folder / f"{name}.max.xz").read_bytes()))
    network = formats.read(path)
    assert isinstance(network, MinCutNetwork)
    assert (network.n, network.m, network.source + 1, network.sink + 1) == (
        known["nodes"],
        known["arcs"],
        known["source"],
        known["sink"],
    )
    cut = OrtoolsFlow().cut(network)
    cut.verify()
    assert cut.value == known["max_flow"]
    assert cut.smallest_source_side().sum() == known["source_side_size"]
    formats.write(network, path)
    again = formats.read(path)
    assert isinstance(again, MinCutNetwork)
    assert np.array_equal(again.capacities, network.capacities)


def pits(folder: Path) -> list[tuple[dict[str, Any], SelectionInstance]]:
    """The cases of the small base model, blocks numbered x fastest, then y, then z."""
    answers = json.loads((folder / "answers.json").read_text())
    values = np.array(lzma.decompress((folder / "sim2d76.dat.xz").read_bytes()).split(), np.int64)
    found = []
    for case in answers["cases"]:
        if case["base"] != "sim2d76" or case["window"] is not None:
            continue
        nx_, ny, nz = case["nx"], case["ny"], case["nz"]
        z, y, x = np.unravel_index(np.arange(nx_ * ny * nz), (nz, ny, nx_))
        tails, heads = [], []
        for dx, dy, dz in answers["offsets"]:
            inside = (
                (x + dx >= 0) & (x + dx < nx_) & (y + dy >= 0) & (y + dy < ny) & (z + dz >= 0) & (z + dz < nz)
            )
            tails.append(np.flatnonzero(inside))
            heads.append(tails[-1] + dx + nx_ * (dy + ny * dz))
        scaled = np.where(values > 0, values * case["positive_value_times_tenths"] // 10, values)
        k = len(values)
        instance = SelectionInstance(
            value=scaled,
            cost=np.zeros(k, np.int64),
            requires=Digraph.from_arcs(k, np.concatenate(tails), np.concatenate(heads)),
            executable=np.ones(k, np.bool_),
            required=np.zeros(k, np.bool_),
        )
        found.append((case, instance))
    return found


def test_published_pits_keep_their_optimum_through_minelib(real_input: RealInput, tmp_path: Path) -> None:
    cases = pits(real_input("closure-mineflow"))
    assert len(cases) >= PIT_SAMPLE
    for case, instance in cases:
        path = tmp_path / f"{case['case']}.upit"
        formats.write(instance, path)
        again = formats.read(path)
        assert isinstance(again, SelectionInstance)
        assert again.requires.m == case["n_arcs"]
        selection = select(again)
        assert selection.objective == case["optimum"]
        blocks = ",".join(map(str, selection.chosen))
        assert hashlib.sha256(blocks.encode()).hexdigest() == case["minimal_closure_sha256"]


@settings(max_examples=30)
@given(instances(named=True, decimal=True))
def test_networkx_reads_our_node_link(
    tmp_path_factory: pytest.TempPathFactory, instance: SelectionInstance
) -> None:
    path = tmp_path_factory.getbasetemp() / "graph.node-link.json"
    formats.write(instance, path)
    graph = nx.node_link_graph(json.loads(path.read_text()), edges="edges")
    assert tuple(graph) == instance.named(range(instance.k))
    selection = select(instance)
    other = select(graph, tradeoff=graph.graph["tradeoff"])
    assert other.status == selection.status
    if selection.answer is not None:
        assert float(other.objective) == pytest.approx(float(selection.objective))


@pytest.mark.parametrize("edges", ["edges", "links"])
def test_we_read_networkx(edges: str, tmp_path: Path) -> None:
    graph = nx.MultiDiGraph(tradeoff=0.5)
    graph.add_node("a", value=3, cost=1)
    graph.add_node(2, value=-1, executable=True)
    graph.add_edge("a", 2)
    graph.add_edge("a", 2)
    path = tmp_path / "graph.node-link.json"
    path.write_text(json.dumps(nx.node_link_data(graph, edges=edges)))
    instance = formats.read(path)
    assert isinstance(instance, SelectionInstance)
    assert instance.requires.m == 2
    assert select(instance).chosen == ("a", 2)
    assert instance.tradeoff == Fraction(1, 2)


@settings(max_examples=30)
@given(instance=READABLE)
def test_or_tools_finds_the_optimum_of_an_mps_file(
    tmp_path_factory: pytest.TempPathFactory, instance: SelectionInstance
) -> None:
    path = tmp_path_factory.getbasetemp() / "program.mps"
    formats.write(instance, path)
    model = model_builder.Model()
    assert model.import_from_mps_file(str(path))
    solver = model_builder.Solver("sat" if instance.limits else "glop")
    solved = solver.solve(model) == model_builder.SolveStatus.OPTIMAL
    compare(instance, solver.objective_value if solved else None)


@pytest.fixture(scope="module")
def cbc() -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return str(pulp.PULP_CBC_CMD(msg=False).path)


@settings(max_examples=30)
@given(instance=READABLE.filter(lambda drawn: drawn.requires.m > 0))
def test_cbc_finds_the_optimum_of_an_lp_file(
    tmp_path_factory: pytest.TempPathFactory, cbc: str, instance: SelectionInstance
) -> None:
    assume(
        any(
            tail != head
            for tail, head in zip(instance.requires.tails(), instance.requires.heads, strict=True)
        )
    )
    path = tmp_path_factory.getbasetemp() / "program.lp"
    solution = path.with_suffix(".solution")
    formats.write(instance, path)
    subprocess.run(
        [cbc, path, "solve", "solution", solution],
        check=True,
        capture_output=True,
    )
    told = solution.read_text().splitlines()[0]
    compare(instance, float(told.split()[-1]) if told.startswith("Optimal") else None)


def compare(instance: SelectionInstance, found: float | None) -> None:
    selection = select(instance)
    if selection.answer is None:
        assert found is None
    else:
        assert found is not None
        near = 1e-6 * max(1, abs(found))  # within a budget a gap of 1e-6 is good enough
        assert selection.objective - near <= found <= selection.bound + near
