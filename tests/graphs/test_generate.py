"""Generated instances are what their name says, the same for ever."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from memorepair.errors import InvalidInput
from memorepair.graphs import (
    FAMILIES,
    Digraph,
    GeneratedInstance,
    find_cycle,
    generate,
    greatest_closed_subset,
    least_closed_superset,
    waves,
)

MEASURED = [
    "prov-1e3",
    "prov-1e5",
    "provD-1e4",
    "provR-1e4",
    "chain-1e4",
    "chainw-1e4",
    "star-1e4",
    "bip-1e4",
]
MEASURED += ["mine5-1e4", "mine9-1e4", "mine5-1e5"]
ARCS = {  # beginning of the SHA-256 of offsets and heads
    "prov-1e3": "1af994598937cd59",
    "provD-1e3": "0ccc94432e5d63e5",
    "bip-1e3": "22a8c25152dfa587",
    "mine9-1e4": "6fbd04a11d391c47",
    "tree-1e3": "7fc18cab8fe1c8c1",
    "diamond-1e3": "816cc8c70a7d94f3",
    "greedy-1e3": "2477afde1822dadb",
}
SMALL = [f"{family}-1e4" for family in FAMILIES]


@pytest.mark.parametrize("name", SMALL)
def test_an_instance_is_well_formed(name: str) -> None:
    instance = generate(name)
    n = instance.requires.n
    assert instance.value.shape == instance.cost.shape == instance.executable.shape == (n,)
    assert n == 10_000
    assert np.isfinite(instance.value).all()
    assert (instance.cost >= 0).all()
    assert find_cycle(instance.requires) is None


def digest(instance: GeneratedInstance) -> str:
    arrays = (instance.requires.offsets, instance.requires.heads, instance.executable, instance.profits())
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()


@pytest.mark.parametrize("name", SMALL)
def test_a_name_and_a_seed_are_one_instance(name: str) -> None:
    assert digest(generate(name, 1)) == digest(generate(name, 1))
    if not name.startswith("chainw"):
        assert digest(generate(name, 1)) != digest(generate(name, 2))


@pytest.mark.parametrize("name", ARCS)
def test_a_name_means_the_same_arcs_for_ever(name: str) -> None:
    requires = generate(name).requires
    digest = hashlib.sha256(requires.offsets.tobytes() + requires.heads.tobytes()).hexdigest()
    assert digest.startswith(ARCS[name])


@pytest.fixture(scope="module")
def measured() -> Callable[[str], dict[str, np.ndarray]]:
    """The instances of the measured tables, from the sketch that made them."""
    path = Path(__file__).parents[3] / "shared" / "prototypes" / "instances.py"
    if not path.is_file():
        pytest.skip(f"the sketch that made the measured tables is not at {path}")
    spec = importlib.util.spec_from_file_location("instances", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    make: Callable[[str], dict[str, np.ndarray]] = module.make
    return make


@pytest.mark.parametrize("name", MEASURED)
def test_instances_are_those_of_the_measured_tables(
    name: str, measured: Callable[[str], dict[str, np.ndarray]]
) -> None:
    known, ours = measured(name), generate(name)
    requires = Digraph.from_arcs(len(known["w"]), known["src"], known["dst"])
    assert np.array_equal(ours.requires.offsets, requires.offsets)
    assert np.array_equal(ours.requires.heads, requires.heads)
    assert np.array_equal(ours.value, known["w"])
    assert np.array_equal(ours.cost, known["c"])
    assert np.array_equal(ours.executable, known["v"].astype(np.bool_))


def test_a_tree_has_one_requirement_a_node() -> None:
    assert np.diff(generate("tree-1e4").requires.offsets).tolist() == [0] + [1] * 9_999


def test_a_diamond_is_two_sides_between_joints() -> None:
    graph = generate("diamond-10").requires
    required = [graph.successors(node).tolist() for node in range(7)]
    assert [sorted(heads) for heads in required] == [[], [0], [0], [1, 2], [3], [3], [4, 5]]
    assert waves(generate("diamond-3001").requires).max() == 2_000


def test_the_trap_pays_clubs_together_and_baits_never() -> None:
    instance = generate("greedy-1600", seed=3)
    profit = instance.profits()
    place = np.arange(1600) % 16
    for node in range(1600):
        cone = least_closed_superset(instance.requires, [node])
        assert profit[cone].sum() < 0, "no node pays for itself"
    clubs = place < 8
    assert np.array_equal(greatest_closed_subset(instance.requires, clubs), clubs)
    assert (profit[clubs].reshape(100, 8).sum(axis=1) > 0).all()


def test_profits_are_scaled_to_the_nearest_integer() -> None:
    instance = generate("chain-1e3")
    exact = (instance.value - 0.3 * instance.cost) * 10_000
    assert np.abs(instance.profits(0.3, 10_000) - exact).max() <= 0.5


@pytest.mark.parametrize("tradeoff", [float("nan"), float("inf"), 1e30])
def test_profits_beyond_int64_are_refused(tradeoff: float) -> None:
    with pytest.raises(InvalidInput):
        generate("chain-1e3").profits(tradeoff)


@pytest.mark.parametrize(
    ("name", "witness"),
    [
        ("forest-1e3", "forest"),
        ("", ""),
        ("prov", ""),
        ("prov-many", "many"),
        ("prov-nan", "nan"),
        ("prov-inf", "inf"),
        ("prov-10.5", "10.5"),
        ("prov-3", "3"),
        ("chain--1e3", "-1e3"),
        ("chain-1e10", "1e10"),
        ("mine5-1e3", "1e3"),
    ],
)
def test_an_unknown_name_is_refused_with_the_part_at_fault(name: str, witness: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        generate(name)
    assert refused.value.witness == witness


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(InvalidInput):
        generate("chain-1e3", seed=-1)
