"""select(): every way to state a problem gives the same answer, every malformed one names its witness."""

from __future__ import annotations

import doctest
import logging
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, cast

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import coo_array, csr_matrix

import memorepair
from memorepair import SelectionInstance, Status, select
from memorepair.errors import InvalidInput, InvalidInstance, MissingDependency, UnknownId
from memorepair.graphs import Digraph
from memorepair.selection import choosing as selection_module
from memorepair.solvers import get_solver, registry, solvers

PAIRS = [("c", "a"), ("c", "b"), ("d", "b")]
VALUE, COST = [1, 2, 9, 1], [2, 3, 4, 8]


@dataclass
class Record:
    """A candidate as an object."""

    id: str
    value: float
    cost: float
    requires: list[str] = field(default_factory=list)


def by_name(name: str) -> list[str]:
    return [head for tail, head in PAIRS if tail == name]


def graph() -> nx.DiGraph:
    result = nx.DiGraph(PAIRS)
    for name, w, c in zip("abcd", VALUE, COST, strict=True):
        result.nodes[name].update(value=w, cost=c)
    return result


def attributed(**about: object) -> nx.DiGraph:
    result = nx.DiGraph()
    result.add_node("a", value=1, **about)
    return result


INSTANCE = SelectionInstance(
    value=np.array(VALUE),
    cost=np.array(COST),
    requires=Digraph.from_arcs(4, [2, 2, 3], [0, 1, 1]),
    executable=np.ones(4, np.bool_),
    required=np.zeros(4, np.bool_),
    ids=tuple("abcd"),
)
RECORDS = [
    {"id": n, "value": w, "cost": c, "requires": by_name(n)}
    for n, w, c in zip("abcd", VALUE, COST, strict=True)
]


@pytest.mark.parametrize(
    "problem",
    [
        pytest.param(INSTANCE, id="instance"),
        pytest.param(RECORDS, id="mappings"),
        pytest.param(
            tuple(Record(n, w, c, by_name(n)) for n, w, c in zip("abcd", VALUE, COST, strict=True)),
            id="objects",
        ),
        pytest.param(graph(), id="networkx"),
    ],
)
def test_every_problem_form_gives_the_same_answer(problem: Any) -> None:
    selection = select(problem, tradeoff=1)
    assert set(selection.chosen) == {"a", "b", "c"}
    assert (selection.value, selection.cost, selection.objective) == (12, 9, 3)


POSITIONS = np.array([[2, 0], [2, 1], [3, 1]])
MATRIX = np.zeros((4, 4))
MATRIX[tuple(POSITIONS.T)] = 1


@pytest.mark.parametrize(
    "requires",
    [
        pytest.param(PAIRS, id="ids"),
        pytest.param(iter(PAIRS), id="iterator"),
        pytest.param(POSITIONS, id="array"),
        pytest.param(INSTANCE.requires, id="Digraph"),
        pytest.param(coo_array(MATRIX), id="sparse array"),
        pytest.param(csr_matrix(MATRIX), id="sparse matrix"),
    ],
)
def test_every_form_of_requires_gives_the_same_answer(requires: Any) -> None:
    assert select(value=VALUE, cost=COST, requires=requires, ids="abcd", tradeoff=1).chosen == ("a", "b", "c")


def test_without_ids_candidates_are_numbered() -> None:
    assert select(value=VALUE, cost=COST, requires=POSITIONS.tolist(), tradeoff=1).chosen == (0, 1, 2)


@pytest.mark.parametrize(
    "required", [["d"], np.array([False, False, False, True]), [False, False, False, True], {"d"}]
)
def test_required_by_id_or_mask(required: Any) -> None:
    selection = select(value=VALUE, cost=COST, requires=PAIRS, ids="abcd", required=required, tradeoff=1)
    assert set(selection.chosen) == set("abcd")
    assert selection.report.forced == 2


@pytest.mark.parametrize("problem", [INSTANCE, RECORDS, graph()], ids=["instance", "records", "networkx"])
@pytest.mark.parametrize("required", [["d"], np.arange(4) == 3], ids=["ids", "mask"])
def test_required_beside_a_problem_is_added_to_its_own(problem: Any, required: Any) -> None:
    if isinstance(required, np.ndarray) and isinstance(problem, nx.DiGraph):
        required = [node == "d" for node in problem]
    assert set(select(problem, required=required, tradeoff=1).chosen) == set("abcd")
    held = replace(INSTANCE, required=np.arange(4) == 1)
    assert select(held, required=["a"], tradeoff=100).chosen == ("a", "b")


def test_positions_of_numpy_are_positions() -> None:
    instance = replace(INSTANCE, ids=None)
    assert instance.position(np.int64(1)) == 1
    unknown: tuple[Any, ...] = (True, np.int64(4), -1, 1.5, [], 10**5000)
    for id in unknown:
        with pytest.raises(UnknownId):
            instance.position(id)


def test_flags_of_records_may_be_numpys() -> None:
    record = {"id": 1, "value": -1, "required": np.int64(1), "executable": np.bool_(True)}
    assert select([record]).chosen == (1,)


def test_tradeoff_is_the_instances_unless_given() -> None:
    priced = SelectionInstance(
        value=np.array([1.0]),
        cost=np.array([2.0]),
        requires=Digraph.from_arcs(1, (), ()),
        executable=np.ones(1, np.bool_),
        required=np.zeros(1, np.bool_),
        tradeoff=1,
    )
    assert select(priced).chosen == ()
    assert select(priced, tradeoff=0.4).chosen == (0,)
    assert select(value=[1], cost=[2]).chosen == (0,)


@pytest.mark.parametrize(
    ("value", "chosen"),
    [([], ()), ([0], ()), ([1], (0,)), ([-1], ()), ([1, 2, 3], (0, 1, 2)), ([-1, -2], ()), ([0, 0], ())],
)
@pytest.mark.parametrize("solver", solvers())
def test_small_and_one_sided_instances(value: list[int], chosen: tuple[int, ...], solver: str) -> None:
    selection = select(value=value, solver=solver)
    assert selection.verify()
    if get_solver(solver).exact:
        assert selection.chosen == chosen


def test_figures_keep_the_kind_of_the_numbers() -> None:
    assert isinstance(select(value=[3]).objective, int)
    assert select(value=[Fraction(1, 3)]).objective == Fraction(1, 3)
    assert select(value=[Decimal("0.1"), Decimal("0.2")]).objective == Fraction(3, 10)
    floats = select(value=[0.1, 0.2])
    assert (floats.objective, type(floats.objective)) == (0.3, float)
    assert type(select(value=[3], cost=[1], tradeoff=0.5).objective) is float


def test_the_givers_arrays_stay_writeable() -> None:
    value, executable = np.array([1.0, 2.0]), np.array([True, True])
    selection = select(value=value, executable=executable)
    value[0], executable[0] = -1, False
    assert selection.verify()
    with pytest.raises(ValueError):
        selection.mask[0] = False


NAN = float("nan")
HUGE = coo_array(([1, 1], ([0, 1], [1, 0])), shape=(2_000_000_000, 2_000_000_000))


@pytest.mark.parametrize(
    ("arguments", "witness"),
    [
        pytest.param({"value": [1, NAN], "ids": "ab"}, "b", id="NaN value"),
        pytest.param({"value": [1], "cost": [NAN], "ids": "a"}, "a", id="NaN cost"),
        pytest.param({"value": [1, 1], "cost": [0, -1], "ids": "ab"}, "b", id="negative cost"),
        pytest.param({"value": [1], "tradeoff": -0.1}, -0.1, id="negative tradeoff"),
        pytest.param({"value": [1, 1], "ids": "aa"}, "a", id="duplicate id"),
        pytest.param({"value": [1, 1], "ids": "a"}, 1, id="too few ids"),
        pytest.param({"value": [1], "ids": [[]]}, [], id="unhashable id"),
        pytest.param({"value": [1, 1], "requires": [(0, 2)]}, (0, 2), id="dangling position"),
        pytest.param({"value": [1], "requires": [(0, -1)]}, (0, -1), id="negative position"),
        pytest.param({"value": [1], "ids": "a", "requires": [("a", "z")]}, ("a", "z"), id="dangling id"),
        pytest.param({"value": [1], "ids": "a", "requires": ["a"]}, "a", id="no pair"),
        pytest.param({"value": [1], "requires": [(0, 0), (0,)]}, 2, id="ragged pairs"),
        pytest.param({"value": [1], "requires": np.zeros((1, 2))}, ("float64", (1, 2)), id="float pairs"),
        pytest.param({"value": [1], "requires": "ab"}, "str", id="text for pairs"),
        pytest.param({"value": [1], "requires": Digraph.from_arcs(2, (), ())}, 2, id="another graph"),
        pytest.param({"value": [1, 2], "cost": [1]}, (1,), id="too few costs"),
        pytest.param({"value": [[1]]}, 0, id="a list of lists"),
        pytest.param({"value": np.ones((1, 1))}, (1, 1), id="two dimensions"),
        pytest.param({"value": 3}, 3, id="a number alone"),
        pytest.param({"value": [1, 2], "executable": [True]}, (1,), id="too few executable"),
        pytest.param({"value": [1], "executable": ["yes"]}, "<U3", id="executable no boolean"),
        pytest.param({"value": [1], "required": [3]}, 3, id="required is no candidate"),
        pytest.param({"value": [1], "required": "0"}, "0", id="required is text"),
        pytest.param({"value": [1, 2], "ids": [({}, 1), 2]}, ({}, 1), id="unhashable inside an id"),
        pytest.param({"value": [1, 2], "ids": {"a", "b"}}, "set", id="ids without order"),
        pytest.param({"value": [1], "ids": 5}, "int", id="ids a number"),
        pytest.param({"value": [1], "ids": [10**5000] * 2}, 2, id="ids of many digits"),
        pytest.param({"value": [1, 1], "ids": [10**5000] * 2}, 10**5000, id="a long id twice"),
        pytest.param({"value": [Decimal("sNaN")]}, 0, id="a signalling NaN"),
        pytest.param({"value": np.array(5)}, "ndarray", id="an array of no dimension"),
        pytest.param({"value": csr_matrix(np.eye(2))}, "csr_matrix", id="a sparse value"),
        pytest.param({"value": [1], "requires": coo_array(np.ones(1))}, (1,), id="one sparse dimension"),
        pytest.param({"value": [1], "requires": coo_array(np.ones((1, 2)))}, (1, 2), id="not square"),
        pytest.param({"value": [1, 2], "requires": HUGE}, HUGE.shape, id="a sparse matrix of the world"),
        pytest.param({"value": [1], "cost": [-(10**5000)]}, 0, id="negative of many digits"),
        pytest.param({"value": [1], "tradeoff": -(10**5000)}, -(10**5000), id="tradeoff of many digits"),
        pytest.param({"value": [1], "budget": -(10**5000)}, -(10**5000), id="budget of many digits"),
        pytest.param({"value": [1], "required": [10**5000]}, 10**5000, id="required of many digits"),
        pytest.param(
            {"value": [1], "requires": [(0, 10**5000)]}, ("object", (1, 2)), id="requires of many digits"
        ),
        pytest.param(
            {"value": [1], "requires": [(0, 10**5000)], "ids": "a"}, (0, 10**5000), id="so with ids"
        ),
        pytest.param(
            {"value": [1], "requires": np.array([[0, 2**63 + 1]], np.uint64)}, (0, 2**63 + 1), id="uint64"
        ),
        pytest.param({"value": np.ma.array([1, 2], mask=[False, True])}, 1, id="masked value"),
        pytest.param({"value": [1, 2], "cost": np.ma.array([1, 2], mask=[True, False])}, 0, id="masked cost"),
        pytest.param(
            {"value": [1], "requires": np.ma.array([[0, 0]], mask=[[False, True]])},
            [0, 1],
            id="masked requires",
        ),
        pytest.param(
            {"value": [1], "executable": np.ma.array([True], mask=[True])}, 0, id="masked executable"
        ),
        pytest.param({"value": [1], "required": np.ma.array([True], mask=[True])}, 0, id="masked required"),
        pytest.param({"value": [1] * 2, "required": np.array([0, 1], np.uint8)}, 2, id="flags of 8 bits"),
        pytest.param({"value": [1] * 3, "required": [0, 1, 1]}, 3, id="flags for positions"),
        pytest.param({"value": [1], "required": np.array([[0]])}, (1, 1), id="required of two dimensions"),
    ],
)
def test_malformed_arrays_name_their_witness(arguments: dict[str, Any], witness: object) -> None:
    with pytest.raises(InvalidInstance) as caught:
        select(**arguments)
    assert witness is None or caught.value.witness == witness


def test_tradeoff_must_be_finite() -> None:
    with pytest.raises(InvalidInstance):
        select(value=[1], tradeoff=NAN)


@pytest.mark.parametrize(
    ("records", "witness"),
    [
        ([{"value": 1}], 0),
        ([{"id": "a"}], "a"),
        ([{"id": "a", "value": "1"}], "a"),
        ([{"id": "a", "value": 1, "requires": "b"}], "a"),
        ([{"id": "a", "value": 1, "requires": ["b"]}], ("a", "b")),
        ([{"id": "a", "value": 1, "executable": "no"}], "a"),
        ([{"id": "a", "value": 1}, {"id": "a", "value": 1}], "a"),
        ([{"id": [], "value": 1}], 0),
        ([{"id": ({}, 1), "value": 1}], 0),
        ([{"id": "a", "value": 1, "requries": []}], "a"),
        ([{"id": "a", "value": 1, "required": 10**5000}], "a"),
        ([{"id": "a", "value": 1, "requires": [10**5000]}], ("a", 10**5000)),
    ],
)
def test_malformed_records_name_their_witness(records: list[dict[str, object]], witness: object) -> None:
    with pytest.raises(InvalidInstance) as caught:
        select(records)
    assert caught.value.witness == witness


@pytest.mark.parametrize(
    ("problem", "arguments"),
    [
        pytest.param(None, {}, id="nothing"),
        pytest.param(RECORDS, {"value": [1]}, id="twice"),
        pytest.param(RECORDS, {"required": ["z"]}, id="required is no candidate"),
        pytest.param(RECORDS, {"required": np.zeros(3, np.bool_)}, id="a mask of another problem"),
        pytest.param(attributed(requires=["b"]), {}, id="requires as attribute"),
        pytest.param(attributed(id="b"), {}, id="id as attribute"),
        pytest.param(attributed(requierd=True), {}, id="an unknown attribute"),
        pytest.param(None, {"value": [1], "ties": ["fewest"]}, id="ties a list"),
        pytest.param("file.json", {}, id="text"),
        pytest.param(3, {}, id="a number"),
        pytest.param(nx.Graph(), {}, id="undirected"),
        pytest.param(None, {"value": [1], "ties": "none"}, id="ties"),
        pytest.param(None, {"value": [1] * 21, "solver": "exhaustive"}, id="too large"),
    ],
)
def test_misuse_is_invalid_input(problem: Any, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        select(problem, **arguments)


def test_an_unknown_solver_is_answered_with_near_names() -> None:
    with pytest.raises(UnknownId, match="pseudoflow") as caught:
        select(value=[1], solver="pseudoflo")
    assert caught.value.witness == "pseudoflo"
    with pytest.raises(UnknownId):
        get_solver(cast(str, ["pseudoflow"]))


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "find_spec", lambda name: None)
    with pytest.raises(MissingDependency, match=r"memorepair\[solvers\]"):
        get_solver("ortools")
    assert get_solver("pseudoflow").name == "pseudoflow"


def test_every_solver_is_called_what_the_registry_calls_it() -> None:
    assert solvers()[0] == "pseudoflow"
    for name in solvers():
        solver = get_solver(name)
        assert solver.name == name
        assert bool(solver.ties) == solver.exact


def test_the_example_of_select_is_true() -> None:
    result = doctest.testmod(selection_module)
    assert (result.attempted > 0, result.failed) == (True, 0)


def test_public_names_exist() -> None:
    assert {"select", "Selection", "SelectionInstance", "Certificate", "Status"} <= set(memorepair.__all__)
    assert all(hasattr(memorepair, name) for name in memorepair.__all__)


def test_barred_through_a_chain_names_the_nearest() -> None:
    selection = select(
        value=[1] * 5,
        requires=[("a", "b"), ("b", "c"), ("d", "c"), ("d", "e")],
        executable=[True, True, False, True, True],
        ids="abcde",
    )
    assert selection.chosen == ("e",)
    assert selection.barred() == {"a": "c", "b": "c", "c": "c", "d": "c"}
    assert (selection.report.barred, selection.status) == (4, Status.OPTIMAL)


def test_loading_the_compiled_kernel_is_logged(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memorepair.solvers import pseudoflow

    monkeypatch.setattr(pseudoflow, "COMPILED_FROM", 0)
    pseudoflow.compiled_kernel.cache_clear()
    with caplog.at_level(logging.INFO, "memorepair"):
        select(value=[1, -1], requires=[(0, 1)])
        select(value=[1, -1], requires=[(0, 1)])
    assert len(caplog.records) == 1
