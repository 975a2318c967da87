"""Losses of provenance: arcs dropped at random or by the block, with and without the audit; arcs too many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from bench.audit import LOSSES, RATES, THRESHOLD, measure
from bench.registry import note
from bench.workloads import Workload, deep, requests_of, tau_bench, toolbench
from memorepair.graphs.digraph import Digraph
from memorepair.graphs.reach import reach

BLOCKS = 0.1
"""Share of the scopes, or of the kinds, whose arcs are all lost."""

SPURIOUS = (0.01, 0.05)
"""Arcs too many, as shares of those recorded."""

Side = dict[str, float]


def workloads(data: Path, seed: int, *, runs: int) -> Mapping[str, Workload]:
    """Those that the audit is measured on; the deep one is new for every seed."""
    return {
        "tau-bench": tau_bench(data / "traces-tau-bench", runs=runs),
        "toolbench": toolbench(data / "traces-toolbench"),
        "deep": deep("extractive", seed=seed, requests=requests_of(data / "traces-toolbench")),
    }


def dropout(data: Path, *, runs: int, seeds: Sequence[int]) -> tuple[dict[str, object], dict[str, object]]:
    """Exposure before any repair and what is wrongly withdrawn, means over roots and seeds.

    Returns
    -------
    worst, blocks
        By rate, the largest of the workloads for each figure, and each workload beside; by block, each
        workload.
    """
    drawn = {seed: workloads(data, seed, runs=runs) for seed in seeds}
    worst: dict[str, object] = {}
    for rate in RATES:
        each = _each(drawn, rate, "arcs")
        worst[f"{rate:g}"] = {
            side: {
                **{
                    name: max(told[side][name] for told in each.values())
                    for name in ("exposure", "wrongly_withdrawn")
                },
                "workloads": {name: told[side] for name, told in each.items()},
            }
            for side in ("audit", "plain")
        }
    blocks: dict[str, object] = {by: _each(drawn, BLOCKS, by) for by in LOSSES[1:]}
    return worst, blocks


def _each(drawn: Mapping[int, Mapping[str, Workload]], rate: float, by: str) -> dict[str, dict[str, Side]]:
    each: dict[str, dict[str, Side]] = {}
    for name in next(iter(drawn.values())):
        found = [
            measure(made[name], rate, seed, by=by, threshold=THRESHOLD, regularity=name != "deep")
            for seed, made in drawn.items()
        ]
        each[name] = {
            side: {
                figure: round(float(np.mean([getattr(getattr(one, side), figure) for one in found])), 5)
                for figure in ("exposure", "wrongly_withdrawn", "local")
            }
            for side in ("audit", "plain")
        }
        plain, audited = each[name]["plain"], each[name]["audit"]
        note(f"  {by} {rate:g} {name}: {plain['exposure']:.4f} -> {audited['exposure']:.4f}")
    return each


def spurious(data: Path, *, runs: int, seed: int) -> dict[str, object]:
    """What arcs too many withdraw wrongly: from an earlier artifact of the scope, drawn at random."""
    result: dict[str, object] = {}
    for name, workload in workloads(data, seed, runs=runs).items():
        result[name] = {f"{rate:g}": _spurious(workload, rate, seed) for rate in SPURIOUS}
    return result


def _spurious(workload: Workload, rate: float, seed: int) -> float:
    draw = np.random.default_rng([seed, 7])
    n = len(workload.items)
    places: dict[str, list[int]] = {}
    added: list[tuple[int, int]] = []
    wanted = set(draw.choice(len(workload.arcs), round(rate * len(workload.arcs)), replace=False).tolist())
    heads = [workload.arcs[place][1] for place in sorted(wanted)]
    for place, item in enumerate(workload.items):
        places.setdefault(item.scope, []).append(place)
    for head in heads:
        earlier = [one for one in places[workload.items[head].scope] if one < head]
        if earlier:
            added.append((int(draw.choice(earlier)), head))
    true, seen = _graph(n, workload.arcs), _graph(n, [*workload.arcs, *added])
    wrong = [
        (reach(seen, [root]) & ~cascade).sum() / (n - cascade.sum())
        for root in workload.roots
        for cascade in (reach(true, [root]),)
    ]
    return round(float(np.mean(wrong)), 5)


def _graph(n: int, arcs: Sequence[tuple[int, int]]) -> Digraph:
    pairs = np.array(arcs, np.int64).reshape(-1, 2)
    return Digraph.from_arcs(n, pairs[:, 0], pairs[:, 1])
