"""The price path beside single cuts, and beside the same divide and conquer in Python over OR-tools.

    python -m bench.path [--quick] [--json] [--save]

CPU time, interleaved rounds, the median. With ``--json`` the last line of standard output is one JSON object,
``{family: {own_cut_ratio, python_dc_ratio, breakpoints}}``; progress goes to standard error.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from importlib import import_module
from statistics import median

import numpy as np

from bench.registry import machine, save
from memorepair.graphs import Digraph, generate
from memorepair.graphs.digraph import Int64, Mask
from memorepair.problems import ClosureInstance
from memorepair.solvers.parametric import price_groups
from memorepair.solvers.pseudoflow import Pseudoflow

QUICK = ("prov-1e5", "provD-1e5", "bip-1e5", "mine5-1e5", "mine9-1e5", "chain-1e5", "star-1e5")
FULL = (*QUICK, "provR-1e5", "prov-1e6")
WITHOUT_PYTHON = {"star-1e5", "prov-1e6"}
"""Families that the loop in Python is not held against."""

SLOW = 30.0
"""Seconds after which the loop in Python runs once, not once a round."""


def ortools_closure(tails: Int64, heads: Int64, profit: Int64) -> Mask:
    """A smallest maximum closure by OR-tools, as its users would write it."""
    k = len(profit)
    gains, losses = np.flatnonzero(profit > 0), np.flatnonzero(profit < 0)
    if len(gains) == 0 or len(losses) == 0:
        return profit > 0
    solver = import_module("ortools.graph.python.max_flow").SimpleMaxFlow()
    supply = int(profit[gains].sum())
    solver.add_arcs_with_capacity(
        np.concatenate((tails, np.full(len(gains), k), losses)).astype(np.int32),
        np.concatenate((heads, gains, np.full(len(losses), k + 1))).astype(np.int32),
        np.concatenate((np.full(len(tails), supply + 1), profit[gains], -profit[losses])),
    )
    solver.solve(k, k + 1)
    side = np.zeros(k + 2, np.bool_)
    side[solver.get_source_side_min_cut()] = True
    return side[:k]


def python_path(requires: Digraph, value: Int64, cost: Int64) -> int:
    """The number of groups, by the recursion of `price_groups` with a call of OR-tools for each cut."""
    tails, heads = requires.tails().astype(np.int64), requires.heads.astype(np.int64)
    groups, place = 0, np.full(requires.n, -1, np.int64)
    segments = [(np.arange(requires.n), tails, heads)]
    while segments:
        nodes, t, h = segments.pop()
        w, c = int(value[nodes].sum()), int(cost[nodes].sum())
        if len(nodes) == 1 or c == 0:
            groups += 1
            continue
        place[nodes] = np.arange(len(nodes))
        mask = ortools_closure(place[t], place[h], value[nodes] * c - cost[nodes] * w)
        if not mask.any() or mask.all():
            groups += 1
            continue
        inside = np.zeros(requires.n, np.bool_)
        inside[nodes[mask]] = True
        both, neither = inside[t] & inside[h], ~inside[t] & ~inside[h]
        segments.append((nodes[mask], t[both], h[both]))
        segments.append((nodes[~mask], t[neither], h[neither]))
    return groups


def measure(name: str, rounds: int) -> dict[str, object]:
    """The ratios on one family."""
    drawn = generate(name)
    value = np.rint(drawn.value * 1000).astype(np.int64)
    cost = np.rint(drawn.cost * 1000).astype(np.int64)
    cuts: list[float] = []
    paths: list[float] = []
    loops: list[float] = []
    groups = price_groups(drawn.requires, value, cost)
    for turn in range(rounds):
        begin = time.process_time()
        Pseudoflow().solve(ClosureInstance(profit=value - cost, requires=drawn.requires))
        cuts.append(time.process_time() - begin)
        begin = time.process_time()
        groups = price_groups(drawn.requires, value, cost)
        paths.append(time.process_time() - begin)
        if name not in WITHOUT_PYTHON and (turn == 0 or sum(loops) < SLOW):
            begin = time.process_time()
            found = python_path(drawn.requires, value, cost)
            loops.append(time.process_time() - begin)
            print(f"  {name}: {len(groups.value)} groups, in Python {found}", file=sys.stderr, flush=True)
    cut, path = median(cuts), median(paths)
    loop = median(loops) if loops else None
    told = "" if loop is None else f", in Python {loop:.2f} s"
    print(f"{name}: path {path:.3f} s, cut {cut:.4f} s{told}", file=sys.stderr, flush=True)
    return {
        "own_cut_ratio": round(path / cut, 2),
        "python_dc_ratio": None if loop is None else round(loop / path, 2),
        "breakpoints": int((groups.value > 0).sum()),
    }


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.path", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    parser.add_argument("--quick", action="store_true", help="families at 1e5 only, fewer rounds")
    parser.add_argument("--save", action="store_true", help="write the figures to bench/results")
    chosen = parser.parse_args()
    about = machine()
    warm = generate("prov-1e5")
    Pseudoflow().solve(ClosureInstance(profit=warm.profits(), requires=warm.requires))
    result = {name: measure(name, 3 if chosen.quick else 7) for name in (QUICK if chosen.quick else FULL)}
    if chosen.save:
        file = save("path", {"machine": about, "summary": result})
        print(f"written: {file.name}", file=sys.stderr)
    if chosen.json:
        print(json.dumps(result))
    else:
        for name, figures in result.items():
            print(name, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
