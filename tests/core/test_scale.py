"""Large instances: certificates hold, deep chains do not recurse, real pits come out as published."""

from __future__ import annotations

import hashlib
import json
import lzma
import tracemalloc
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from memorepair import Selection, SelectionInstance, Status, select
from memorepair.graphs import Digraph, generate
from memorepair.graphs.digraph import Int64
from memorepair.problems.proof import Ties

RealInput = Callable[[str], Path]


@pytest.mark.parametrize("ties", ["fewest", "most"])
@pytest.mark.parametrize("name", ["prov-1e5", "chain-1e6", "mine5-1e5"])
def test_certificates_hold_on_large_instances(name: str, ties: Ties) -> None:
    drawn = generate(name)
    selection = select(
        value=drawn.value,
        cost=drawn.cost,
        requires=drawn.requires,
        executable=drawn.executable,
        tradeoff=1,
        ties=ties,
    )
    assert selection.verify()
    # Floats of 17 digits do not fit: the gap is what rounding could hide, no more.
    loss = float(selection.report.loss)
    assert 0 < selection.gap <= 2.1 * loss / float(selection.bound)
    assert selection.status is Status.FEASIBLE
    assert 0 < len(selection.chosen) < drawn.requires.n
    assert float(selection.report.loss) < 1e-6 * float(selection.objective)


def test_memory_is_a_few_numbers_a_candidate() -> None:
    drawn = generate("chain-1e5")

    def run() -> Selection:
        return select(value=drawn.value, cost=drawn.cost, requires=drawn.requires, tradeoff=1)

    run()  # what is loaded once is not counted
    tracemalloc.start()
    try:
        run()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 120 * drawn.requires.n


def test_vendor_agrees_on_a_large_instance() -> None:
    drawn = generate("prov-1e5")
    ours, theirs = (
        select(value=drawn.profits(), requires=drawn.requires, executable=drawn.executable, solver=solver)
        for solver in ("pseudoflow", "ortools")
    )
    assert np.array_equal(ours.mask, theirs.mask)
    assert ours.objective == theirs.objective


@cache
def blocks(folder: Path, base: str) -> Int64:
    return np.array(lzma.decompress((folder / f"{base}.dat.xz").read_bytes()).split(), np.int64)


def pit(
    folder: Path,
    answers: dict[str, list[tuple[int, int, int]]],
    base: str,
    window: list[int] | None,
    tenths: int,
) -> SelectionInstance:
    """A block model as an instance: a block requires the blocks of the search pattern above it."""
    shape = {"bauxitemed": (26, 120, 120), "sim2d76": (40, 1, 75)}[base]
    worth = blocks(folder, base).reshape(shape)
    if window is not None:
        x0, x1, y0, y1 = window
        worth = worth[:, y0:y1, x0:x1]
    number = np.arange(worth.size).reshape(worth.shape)
    tails, heads = [], []
    for dx, dy, dz in answers["offsets"]:
        low = tuple(
            slice(max(0, -d), size - max(0, d)) for d, size in zip((dz, dy, dx), worth.shape, strict=True)
        )
        high = tuple(
            slice(max(0, d), size - max(0, -d)) for d, size in zip((dz, dy, dx), worth.shape, strict=True)
        )
        if all(size > abs(d) for d, size in zip((dz, dy, dx), worth.shape, strict=True)):
            tails.append(number[low].ravel())
            heads.append(number[high].ravel())
    flat = worth.ravel()
    k = flat.size
    return SelectionInstance(
        value=np.where(flat > 0, flat * tenths // 10, flat),
        cost=np.zeros(k, np.int64),
        requires=Digraph.from_arcs(k, np.concatenate(tails), np.concatenate(heads)),
        executable=np.ones(k, np.bool_),
        required=np.zeros(k, np.bool_),
    )


def digest(selection: Selection) -> str:
    return hashlib.sha256(",".join(map(str, selection.chosen)).encode()).hexdigest()


def test_all_pits_of_the_published_models(real_input: RealInput) -> None:
    folder = real_input("closure-mineflow")
    answers = json.loads((folder / "answers.json").read_text())
    assert len(answers["cases"]) == 17
    for case in answers["cases"]:
        instance = pit(folder, answers, case["base"], case["window"], case["positive_value_times_tenths"])
        assert (instance.k, instance.requires.m) == (case["n_blocks"], case["n_arcs"])
        fewest, most = select(instance), select(instance, ties="most")
        assert fewest.status is most.status is Status.OPTIMAL
        assert fewest.objective == most.objective == case["optimum"]
        assert int(fewest.mask.sum()) == case["minimal_closure_size"]
        assert int(most.mask.sum()) == case["maximal_closure_size"]
        assert digest(fewest) == case["minimal_closure_sha256"]


def test_the_published_pit_of_bauxitemed(real_input: RealInput) -> None:
    folder = real_input("closure-mineflow")
    answers = json.loads((folder / "answers.json").read_text())
    instance = pit(folder, answers, "bauxitemed", None, 10)
    selection = select(instance)
    assert instance.requires.m == 5_349_104
    assert int(selection.mask.sum()) == 74_412
    assert selection.objective == 28_416_592
