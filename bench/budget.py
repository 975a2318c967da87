"""Budgets: proven gap, CPU time, status on families easy and hard.

    python -m bench.budget [--quick] [--json] [--save]

prov families: budget 30 % of all cost, tradeoff 0. mine5r: a block model whose critical group is huge, the
budget 25, 50 and 75 % of the unbudgeted optimum's tonnage, the worst of the three. Each answer's leaves are
checked twice: by ``verify()``, and with the optimum of each leaf by OR-tools. Where the optimum is to be
proved, HiGHS alone is run beside, to its own proof. With ``--json`` the last line
of standard output is one JSON object, ``{family: {gap, cpu_s, status}}``; progress goes to standard error.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from statistics import median

import numpy as np

from bench.registry import machine, save
from memorepair import Selection, SelectionInstance, Status, select
from memorepair.graphs import generate, reach
from memorepair.graphs.digraph import Digraph, Int64
from memorepair.problems import ClosureInstance, budgeted_amounts
from memorepair.reductions.knapsack import Knapsack
from memorepair.selection.choosing import solve_closure
from memorepair.solvers import get_solver
from memorepair.solvers.ilp import Effort, propose

TARGETS = {
    "prov-1e2": 0.0,
    "prov-1e3": 0.0,
    "prov-1e4": 1e-5,
    "mine5r-1e4": 1e-3,
    "prov-1e5": 1e-6,
    "mine5r-1e5": 1e-3,
}
QUICK = ("prov-1e2", "prov-1e3", "prov-1e4", "mine5r-1e4")
TIME_LIMIT = 60.0
ROUNDS = 5
"""Runs of each, in turn, where HiGHS is run beside."""


def recheck(selection: Selection) -> bool:
    """Whether no leaf's optimum at its price, by OR-tools, is more than the bound claimed."""
    instance = selection.instance
    amounts, forced, barred = budgeted_amounts(instance)
    dependents = instance.requires.reverse()
    worst: list[int] = []
    for leaf in selection.leaves:
        inside = forced | reach(instance.requires, [i for i, side in leaf.decisions if side])
        outside = barred | reach(dependents, [i for i, side in leaf.decisions if not side])
        if (inside & outside).any() or not amounts.keeps(inside):
            continue
        price = tuple(
            one * amounts.value_scale / scale
            for one, scale in zip(leaf.price, amounts.cost_scales, strict=True)
        )
        profit, unit, charges = amounts.priced(price)
        free = ~inside & ~outside
        part = ClosureInstance(profit=profit[free], requires=instance.requires.induced(free))
        best = solve_closure(part, get_solver("ortools"))
        allowance = sum(a * b for a, b in zip(charges, amounts.budget, strict=True))
        whole = int(part.profit[best.mask].sum()) + int(profit[inside].sum()) + allowance
        worst.append(whole // unit)
    return max(worst, default=0) <= float(selection.bound) * float(amounts.value_scale) * (1 + 1e-15)


def instances(name: str) -> list[tuple[float, Digraph, Int64, Int64, int]]:
    """Share of the budget, graph, value, cost, budget."""
    drawn = generate(name.replace("5r", "5"))
    grade = 3 if "5r" in name else 1
    value = np.rint(drawn.value * grade * 1000).astype(np.int64)
    cost = np.maximum(1, np.rint(drawn.cost * 1000).astype(np.int64))
    if name.startswith("prov"):
        return [(0.3, drawn.requires, value, cost, int(0.3 * cost.sum()))]
    value, cost = value - cost, np.full(len(value), 1000)
    pit = select(value=value, requires=drawn.requires).mask
    return [(s, drawn.requires, value, cost, int(s * cost[pit].sum())) for s in (0.25, 0.5, 0.75)]


def highs_seconds(requires: Digraph, value: Int64, cost: Int64, budget: int) -> float:
    """CPU time that HiGHS takes for the whole problem, to a gap of 0."""
    barred = np.zeros(len(value), np.bool_)
    instance = SelectionInstance(
        value=value, cost=cost, requires=requires, executable=~barred, required=barred, budget=budget
    )
    knapsack, _ = Knapsack().apply(instance)
    if knapsack is None:
        raise SystemExit("nothing is required, so nothing costs too much")
    begin = time.process_time()
    propose("highs", knapsack, Effort(gap=0.0, nodes=10**9, seconds=TIME_LIMIT))
    return time.process_time() - begin


def measure(name: str) -> dict[str, object]:
    """The worst gap and the longest time of a family."""
    gaps, times, statuses = [], [], []
    result: dict[str, object] = {}
    for share, requires, value, cost, budget in instances(name):

        def ask(
            gap: float, arrays: tuple[Digraph, Int64, Int64, int] = (requires, value, cost, budget)
        ) -> Selection:
            graph, w, c, beta = arrays
            return select(
                value=w,
                cost=c,
                requires=graph,
                budget=beta,
                gap=gap,
                time_limit=TIME_LIMIT,
                node_limit=10**6,
            )

        own, highs = [], []
        answers = []
        for _ in range(ROUNDS if TARGETS[name] == 0 else 1):
            begin = time.process_time()
            answers.append(ask(TARGETS[name]))
            own.append(time.process_time() - begin)
            if TARGETS[name] == 0:
                highs.append(highs_seconds(requires, value, cost, budget))
        selection = answers[-1]
        times.append(median(own))
        if highs:
            print(
                f"{name}: {times[-1]:.3f} s, HiGHS alone {median(highs):.3f} s", file=sys.stderr, flush=True
            )
        gaps.append(selection.gap)
        statuses.append(selection.status)
        checked = selection.verify() and recheck(selection)
        print(
            f"{name} {share:.0%}: {selection.objective} of {selection.bound}, gap {selection.gap:.1e}, "
            f"{len(selection.leaves)} leaves, {times[-1]:.3f} s, checked {checked}",
            file=sys.stderr,
            flush=True,
        )
        if not checked:
            raise SystemExit(f"{name} {share:.0%}: a leaf does not bound its part")
        if name == "mine5r-1e4" and share == 0.5:
            proved = ask(0.0)
            result["optimum_50"] = proved.objective if proved.status is Status.OPTIMAL else None
    worst = Status.OPTIMAL if all(one is Status.OPTIMAL for one in statuses) else Status.FEASIBLE
    return {"gap": max(gaps), "cpu_s": round(max(times), 4), "status": worst.value, **result}


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.budget", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    parser.add_argument("--quick", action="store_true", help="families up to 1e4 only")
    parser.add_argument("--save", action="store_true", help="write the figures to bench/results")
    chosen = parser.parse_args()
    about = machine()
    warm = generate("prov-1e4")
    cost = np.rint(warm.cost * 1000).astype(np.int64)
    value = np.rint(warm.value * 1000).astype(np.int64)
    for node_limit in (0, 50):  # compile everything once
        select(
            value=value,
            cost=cost,
            requires=warm.requires,
            budget=int(cost.sum()) // 3,
            gap=0,
            node_limit=node_limit,
        )
    result = {name: measure(name) for name in (QUICK if chosen.quick else TARGETS)}
    if chosen.save:
        file = save("budget", {"machine": about, "summary": result})
        print(f"written: {file.name}", file=sys.stderr)
    if chosen.json:
        print(json.dumps(result))
    else:
        for name, figures in result.items():
            print(name, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
