"""What a format can hold it gives back, number by number; what it cannot it refuses before it writes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memorepair import SelectionInstance, formats, select
from memorepair.errors import InvalidFile, InvalidInput, UnknownId
from memorepair.formats import lp, mps, mps_plain
from memorepair.graphs import Digraph, MinCutNetwork, generate
from memorepair.problems.integers import fraction
from memorepair.problems.profits import profits
from memorepair.solvers.ortools_flow import OrtoolsFlow
from memorepair.testing import instances

WHOLE = ["json", "node-link", "npz"]
LINEAR = ["lp", "mps"]


def exact(column: np.ndarray) -> list[list[Fraction]]:
    return [
        [fraction(one) for one in row]
        for row in column.reshape(len(column), column.shape[1] if column.ndim == 2 else 1).tolist()
    ]


def limits(instance: SelectionInstance) -> list[Fraction]:
    return [fraction(limit) for limit in instance.limits]


def net(instance: SelectionInstance) -> list[Fraction]:
    price = fraction(instance.tradeoff)
    costs = instance.cost.tolist() if price else [0] * instance.k
    return [fraction(w) - price * fraction(c) for w, c in zip(instance.value.tolist(), costs, strict=True)]


def arcs(requires: Digraph, *, loops: bool) -> list[tuple[int, int]]:
    pairs = zip(requires.tails().tolist(), requires.heads.tolist(), strict=True)
    return [(tail, head) for tail, head in pairs if loops or tail != head]


def through(content: formats.Content, format: str, folder: Path) -> formats.Content:
    path = folder / f"file{formats.get_format(format).suffixes[0]}"
    formats.write(content, path)
    return formats.read(path)


def instance_through(instance: SelectionInstance, format: str, folder: Path) -> SelectionInstance:
    again = through(instance, format, folder)
    assert isinstance(again, SelectionInstance)
    return again


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files")


@pytest.mark.parametrize("format", WHOLE)
@settings(max_examples=40)
@given(st.data())
def test_whole_formats_give_the_same_instance(format: str, folder: Path, data: st.DataObject) -> None:
    drawn = instances(budgets=True, named=data.draw(st.booleans()), decimal=format != "npz")
    instance = data.draw(drawn)
    again = instance_through(instance, format, folder)
    assert again.named(range(again.k)) == instance.named(range(instance.k))
    assert exact(again.value) == exact(instance.value)
    assert exact(again.cost) == exact(instance.cost)
    assert fraction(again.tradeoff) == fraction(instance.tradeoff)
    assert (again.budget is None, limits(again)) == (instance.budget is None, limits(instance))
    assert arcs(again.requires, loops=True) == arcs(instance.requires, loops=True)
    assert np.array_equal(again.executable, instance.executable)
    assert np.array_equal(again.required, instance.required)


@settings(max_examples=40)
@given(instances(budgets=True, named=True))
def test_npz_keeps_types_and_bytes(folder: Path, instance: SelectionInstance) -> None:
    path, other = folder / "one.npz", folder / "two.npz"
    formats.write(instance, path)
    again = formats.read(path)
    assert isinstance(again, SelectionInstance)
    assert (again.value.dtype, again.cost.dtype) == (instance.value.dtype, instance.cost.dtype)
    assert isinstance(again.tradeoff, float) == isinstance(instance.tradeoff, float)
    formats.write(again, other)
    assert path.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("format", LINEAR)
@settings(max_examples=40)
@given(st.data())
def test_linear_programs_keep_what_decides(format: str, folder: Path, data: st.DataObject) -> None:
    instance = counted(data.draw(instances(budgets=True, decimal=True)))
    again = instance_through(instance, format, folder)
    assert net(again) == net(instance)
    assert sorted(arcs(again.requires, loops=True)) == sorted(arcs(instance.requires, loops=False))
    assert np.array_equal(again.executable, instance.executable)
    assert np.array_equal(again.required, instance.required)
    assert limits(again) == limits(instance)
    if instance.limits:
        assert exact(again.cost) == exact(instance.cost)


@settings(max_examples=40)
@given(instances(budgets=True, decimal=True))
def test_pits_keep_what_decides(folder: Path, drawn: SelectionInstance) -> None:
    instance = counted(
        replace(drawn, executable=np.ones(drawn.k, np.bool_), required=np.zeros(drawn.k, np.bool_))
    )
    format = "upit" if instance.budget is None else "cpit"
    again = instance_through(instance, format, folder)
    assert net(again) == net(instance)
    assert arcs(again.requires, loops=True) == arcs(instance.requires, loops=True)
    assert limits(again) == limits(instance)
    if instance.limits and instance.k:
        assert exact(again.cost) == exact(instance.cost)


@settings(max_examples=60)
@given(instances(budgets=True, decimal=True))
def test_what_is_read_in_bulk_is_what_is_read_line_by_line(instance: SelectionInstance) -> None:
    instance = counted(instance)
    text = mps.format_mps(instance)
    bulk = mps_plain.plain_program(text)
    assert bulk is not None
    assert same(bulk.instance(), mps.read_program(text).instance())
    text = lp.format_lp(instance)
    assert same(lp.parse_lp(text), lp.parse_lp(text.replace(" <= ", "\n<= ")))


BUDGETS: list[int | tuple[int, ...] | None] = [None, 3, (3,), (3, 5), (0, 0)]


@pytest.mark.parametrize("format", [name for name in formats.formats() if name != "dimacs"])
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.object_])
@pytest.mark.parametrize("k", [0, 1, 3])
def test_few_candidates_and_no_prerequisites_come_back(
    format: str, budget: int | tuple[int, ...] | None, dtype: type, k: int, tmp_path: Path
) -> None:
    kinds = len(budget) if isinstance(budget, tuple) else None
    shape = (k,) if kinds is None else (k, kinds)
    cost: np.ndarray = np.arange(k * (kinds or 1)).reshape(shape).astype(dtype)
    value: np.ndarray = np.arange(k).astype(dtype) - 1
    instance = SelectionInstance(
        value=value,
        cost=cost if budget is not None else 0 * cost,
        requires=Digraph.from_arcs(k, (), ()),
        executable=np.ones(k, np.bool_),
        required=np.zeros(k, np.bool_),
        budget=budget,
    )
    if (format == "upit") != (budget is None) and format in ("upit", "cpit"):
        return  # the two kinds of pit differ in this
    if format == "lp" and k == 0 and budget is not None:
        with pytest.raises(InvalidFile, match="a row needs a variable"):
            instance_through(instance, format, tmp_path)
        return
    again = instance_through(instance, format, tmp_path)
    assert again.requires.m == 0
    assert limits(again) == limits(instance)
    assert exact(again.value) == exact(instance.value)
    assert exact(again.cost) == exact(instance.cost)
    if instance.kinds > 1:
        assert again.cost.shape == instance.cost.shape


def counted(instance: SelectionInstance) -> SelectionInstance:
    """The instance with costs that a tradeoff or a budget counts, and candidates that a budget is for."""
    assume(instance.k > 0 or instance.budget is None)
    if instance.budget is None and not fraction(instance.tradeoff):
        return replace(instance, cost=np.zeros(instance.k, np.int64))
    return instance


def same(one: SelectionInstance, other: SelectionInstance) -> bool:
    return (
        (exact(one.value), exact(one.cost), limits(one), one.ids)
        == (exact(other.value), exact(other.cost), limits(other), other.ids)
        and sorted(arcs(one.requires, loops=True)) == sorted(arcs(other.requires, loops=True))
        and np.array_equal(one.executable, other.executable)
        and np.array_equal(one.required, other.required)
    )


def network_of(instance: SelectionInstance, folder: Path) -> MinCutNetwork:
    try:
        network = through(counted(instance), "dimacs", folder)
    except InvalidFile:
        assert profits(instance.value, instance.cost, instance.tradeoff).loss > 0
        assume(False)
    assert isinstance(network, MinCutNetwork)
    return network


@settings(max_examples=40)
@given(instances())
def test_a_minimum_cut_is_the_optimal_closure(folder: Path, instance: SelectionInstance) -> None:
    network = network_of(instance, folder)
    cut = OrtoolsFlow().cut(network)
    cut.verify()
    selection = select(instance)
    k = instance.k
    if selection.answer is None:
        assert cut.value >= network.capacities.max()
    else:
        assert np.array_equal(cut.smallest_source_side()[:k], selection.mask)
        assert np.array_equal(cut.largest_source_side()[:k], select(instance, ties="most").mask)


@settings(max_examples=40)
@given(instances())
def test_a_network_is_read_as_it_was_written(folder: Path, instance: SelectionInstance) -> None:
    network = network_of(instance, folder)
    again = through(network, "dimacs", folder)
    assert isinstance(again, MinCutNetwork)
    assert (again.n, again.source, again.sink) == (network.n, network.source, network.sink)
    for name in ("tails", "heads", "capacities"):
        assert np.array_equal(getattr(again, name), getattr(network, name))


def test_a_network_file_says_what_it_made_of_costs_and_names(tmp_path: Path) -> None:
    formats.write(plain(tradeoff=0.3), tmp_path / "file.max")
    comments = [line for line in (tmp_path / "file.max").read_text().splitlines() if line.startswith("c ")]
    assert "c a profit is value - 3/10 cost: value and cost alone are not in this file" in comments
    assert {"c node 1 is 'a'", "c node 2 is 'b'"} < set(comments)
    formats.write(plain(cost=np.zeros(2, np.int64), ids=None), tmp_path / "bare.max")
    assert "cost" not in (tmp_path / "bare.max").read_text()


def plain(**changes: Any) -> SelectionInstance:
    instance = SelectionInstance(
        value=np.array([3, -1]),
        cost=np.array([1, 2]),
        requires=Digraph.from_arcs(2, (0,), (1,)),
        executable=np.ones(2, np.bool_),
        required=np.zeros(2, np.bool_),
        ids=("a", "b"),
    )
    return replace(instance, **changes)


THIRD = {"value": np.array([Fraction(1, 3), 1], np.object_)}


@pytest.mark.parametrize(
    ("format", "changes", "witness"),
    [
        ("dimacs", {"budget": 2}, "budget"),
        ("upit", {"budget": 2}, "budget"),
        ("cpit", {}, "budget"),
        ("upit", {"required": np.array([False, True])}, "b"),
        ("cpit", {"executable": np.array([False, True]), "budget": 2}, "a"),
        ("json", THIRD, '"a"'),
        ("node-link", THIRD, '"a"'),
        ("lp", THIRD | {"tradeoff": 1}, "a"),
        ("mps", THIRD | {"tradeoff": 1}, "a"),
        ("upit", THIRD | {"tradeoff": 1}, "a"),
        ("json", {"ids": (("a",), ("b",))}, ("a",)),
        ("node-link", {"ids": (1.5, 2)}, 1.5),
        ("npz", {"ids": (None, 2)}, None),
        ("json", {"value": np.array([10**4000, 1], np.object_)}, '"a"'),
        *((format, {}, "cost") for format in ("dimacs", "lp", "mps", "upit")),
        *(
            (format, {"cost": np.array([[1, 2], [3, 4]])}, "cost")
            for format in ("dimacs", "lp", "mps", "upit")
        ),
        ("dimacs", {"value": np.array([10**30, 1], np.object_)}, None),
    ],
)
def test_what_a_format_cannot_hold_is_refused_unwritten(
    format: str, changes: dict[str, object], witness: object, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    with pytest.raises(InvalidFile) as caught:
        formats.write(plain(**changes), path, format)
    assert witness is None or caught.value.witness == witness
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("format", [name for name in formats.formats() if name != "dimacs"])
def test_a_network_is_no_instance(format: str, tmp_path: Path) -> None:
    network = through(plain(tradeoff=1), "dimacs", tmp_path)
    with pytest.raises(InvalidFile):
        formats.write(network, tmp_path / "other", format)


@pytest.mark.parametrize("format", formats.formats())
def test_a_file_that_cannot_be_written_is_named(format: str, tmp_path: Path) -> None:
    path = tmp_path / "absent" / "file"
    with pytest.raises(InvalidFile) as caught:
        formats.write(plain(budget=3) if format == "cpit" else plain(tradeoff=1), path, format)
    assert caught.value.witness == str(path)


def test_names_decide_and_near_names_are_offered(tmp_path: Path) -> None:
    assert formats.format_of("a.node-link.json").name == "node-link"
    assert formats.format_of("A.JSON").name == "json"
    with pytest.raises(InvalidInput, match=r"\.upit"):
        formats.format_of(tmp_path / "a.txt")
    with pytest.raises(UnknownId, match="dimacs"):
        formats.get_format("dimacz")


@pytest.mark.parametrize("format", [name for name in formats.formats() if name not in ("dimacs", "cpit")])
def test_a_memory_of_thousands_keeps_its_optimum(format: str, tmp_path: Path) -> None:
    drawn = generate("provD-3e3", seed=3)
    instance = SelectionInstance(
        value=drawn.value,
        cost=drawn.cost,
        requires=drawn.requires,
        executable=np.ones(drawn.requires.n, np.bool_),
        required=np.zeros(drawn.requires.n, np.bool_),
        tradeoff=0.3,
    )
    again = instance_through(instance, format, tmp_path)
    assert np.array_equal(select(again).mask, select(instance).mask)
