"""Single cuts side by side: ours, OR-tools, the sketches, other vendors.

    python -m bench.solvers [--quick] [--json] [--save]

From the arrays (tails, heads, profit) to the mask, ours with its certificate; CPU time, interleaved rounds,
the median. Every subject's closure is checked to be closed and of equal value, ours to be proved by its
certificate. ``--quick``: every family at 1e5, without the slow vendors. ``--save`` writes all figures with
the machine to bench/results. With ``--json`` the last line of standard output is one JSON object, ``{family:
{ortools_ratio, prototype_ratio, cpu_s, peak_mb, objective_ok}}``: OR-tools' time over ours, ours over the
faster sketch's (null without the sketches), our time, our extra memory; progress goes to standard error.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import numpy as np

from bench.registry import (
    FAMILIES,
    SUBJECTS,
    Arrays,
    Subject,
    families,
    interleaved,
    machine,
    note,
    peak_mb,
    save,
    subject,
)
from memorepair.errors import MemoRepairError
from memorepair.graphs import Digraph
from memorepair.graphs.closure import is_closed
from memorepair.graphs.digraph import Mask
from memorepair.problems import Closure, ClosureInstance
from memorepair.problems.proof import Question, dual_bound, reduced_profits
from memorepair.selection.choosing import solve_closure
from memorepair.solvers import get_solver

SMALL = 1e5  # nodes plus arcs that vendors in Python or with a linear program still manage

families(
    (
        "prov-1e5",
        "provD-1e5",
        "provR-1e5",
        "star-1e5",
        "bip-1e5",
        "mine5-1e5",
        "mine9-1e5",
        "chain-1e5",
        "chainw-1e5",
        "tree-1e5",
        "diamond-1e5",
        "greedy-1e5",
    ),
    quick=True,
)
families(
    ("prov-1e3", "prov-1e4", "mine5-1e4", "prov-1e6", "provD-1e6", "bip-1e6", "mine5-1e6", "chain-1e6"),
    quick=False,
)


def _instance(arrays: Arrays) -> ClosureInstance:
    requires = Digraph.from_arcs(arrays.n, arrays.tails, arrays.heads)
    return ClosureInstance(profit=arrays.profit.copy(), requires=requires)


def _answer(arrays: Arrays, solver: str) -> Closure:
    return solve_closure(_instance(arrays), get_solver(solver))


@subject("ours", quick=True)
def ours(arrays: Arrays) -> Mask:
    """The default solver with presolve."""
    return _answer(arrays, "pseudoflow").mask


@subject("kernel alone")
def kernel_alone(arrays: Arrays) -> Mask:
    """The default solver without presolve."""
    solver = import_module("memorepair.solvers.pseudoflow").Pseudoflow()
    closure: Closure = solver.solve(_instance(arrays))
    return closure.mask


@subject("ortools", up_to=1.5e6, quick=True)
def ortools(arrays: Arrays) -> Mask:
    """SimpleMaxFlow as its users would call it, no check of ours."""
    solver = import_module("ortools.graph.python.max_flow").SimpleMaxFlow()
    n, profit = arrays.n, arrays.profit
    gains, losses = np.flatnonzero(profit > 0), np.flatnonzero(profit < 0)
    solver.add_arcs_with_capacity(
        np.concatenate((arrays.tails, np.full(len(gains), n, np.int32), losses.astype(np.int32))),
        np.concatenate((arrays.heads, gains.astype(np.int32), np.full(len(losses), n + 1, np.int32))),
        np.concatenate((np.full(len(arrays.tails), 1 + profit[gains].sum()), profit[gains], -profit[losses])),
    )
    solver.solve(n, n + 1)
    side = np.zeros(n + 2, np.bool_)
    side[solver.get_source_side_min_cut()] = True
    return side[:n]


for _vendor, _size in (
    ("scipy", SMALL),
    ("networkx", SMALL),
    ("highs", SMALL),
    ("cbc", 3e4),
    ("cp-sat", 3e4),
):

    @subject(_vendor, up_to=_size)
    def vendor(arrays: Arrays, name: str = _vendor) -> Mask:
        """Through our reductions, with their checks."""
        return _answer(arrays, name).mask


def sketches(folder: Path) -> ModuleType | None:
    """The sketched kernels, compiled from a copy, so that nothing is written beside them; None if absent."""
    source = Path(__file__).parents[2] / "shared" / "prototypes" / "kernels.py"
    if not source.is_file():
        return None
    copy = shutil.copy(source, folder)
    spec = spec_from_file_location("sketched_kernels", copy)
    if spec is None or spec.loader is None:
        return None
    module = module_from_spec(spec)
    sys.modules["sketched_kernels"] = module  # numba looks its functions' module up
    spec.loader.exec_module(module)
    return module


def enter_sketches(module: ModuleType) -> list[str]:
    """Enter them as subjects; their names."""

    @subject("sketch", quick=True)
    def plain(arrays: Arrays) -> Mask:
        mask: Mask = module.numba_pf(arrays.n, arrays.tails, arrays.heads, arrays.profit)[0]
        return mask

    @subject("sketch with reductions", quick=True)
    def reduced(arrays: Arrays) -> Mask:
        mask: Mask = module.red_pf(arrays.n, arrays.tails, arrays.heads, arrays.profit)[0]
        return mask

    return ["sketch", "sketch with reductions"]


def proved(arrays: Arrays, worth: int) -> bool:
    """Whether our closure is worth `worth` and its certificate proves it."""
    instance = _instance(arrays)
    closure = solve_closure(instance, get_solver("pseudoflow"))
    if closure.certificate is None or int(arrays.profit[closure.mask].sum()) != worth:
        return False
    nothing = np.zeros(arrays.n, np.bool_)
    question = Question(requires=instance.requires, profit=instance.profit, forced=nothing, barred=nothing)
    r = reduced_profits(question, closure.certificate.arcs, closure.certificate.amounts)
    return dual_bound(question, r) == worth


def right(arrays: Arrays, subjects: list[Subject]) -> tuple[list[Subject], bool]:
    """The subjects that can be run, and whether all find closures of equal value, ours proved."""
    requires = Digraph.from_arcs(arrays.n, arrays.tails, arrays.heads)
    able, worths, sound = [], set(), True
    for one in subjects:
        try:
            mask = one.run(arrays)
        except MemoRepairError as error:
            note(f"  {one.name} is out: {error}")
            continue
        able.append(one)
        worths.add(int(arrays.profit[mask].sum()))
        sound = sound and is_closed(requires, mask)
    return able, sound and len(worths) == 1 and proved(arrays, worths.pop())


def measure(name: str, *, quick: bool, sketched: list[str]) -> tuple[dict[str, object], dict[str, float]]:
    """The summary of a family, and the time of each subject."""
    arrays = Arrays.of(name)
    size = arrays.n + len(arrays.tails)
    subjects = [one for one in SUBJECTS if size <= one.up_to and (one.quick or not quick)]
    able, sound = right(arrays, subjects)
    times = interleaved(able, arrays, 5 if size < 1.5e6 else 3)
    fastest = min(times.values())
    told = ", ".join(f"{one} {t * 1e3:.2f} ms ({t / fastest:.1f}x)" for one, t in times.items())
    note(f"{name}: {told}; {'equal and proved' if sound else 'WRONG'}")
    own = times["ours"]
    rivals = [times[one] for one in sketched]
    summary: dict[str, object] = {
        "ortools_ratio": round(times["ortools"] / own, 2) if "ortools" in times else None,
        "prototype_ratio": round(own / min(rivals), 2) if rivals else None,
        "cpu_s": round(own, 5),
        "peak_mb": peak_mb(ours, arrays),
        "objective_ok": sound,
    }
    return summary, times


def show(summaries: dict[str, object], times: dict[str, dict[str, float]]) -> None:
    """A table for a person: milliseconds and the ratio to the fastest."""
    from rich.console import Console
    from rich.table import Table

    names = list(dict.fromkeys(one for found in times.values() for one in found))
    table = Table("ms (x the fastest)", *names, "MB", "right")
    for family, found in times.items():
        summary = summaries[family]
        assert isinstance(summary, dict)
        cells = [
            f"{found[one] * 1e3:.2f} ({found[one] / min(found.values()):.1f})" if one in found else ""
            for one in names
        ]
        table.add_row(family, *cells, str(summary["peak_mb"]), "yes" if summary["objective_ok"] else "NO")
    Console().print(table)


def main() -> int:
    """Print the figures; 1 where an objective is wrong."""
    parser = argparse.ArgumentParser(prog="python -m bench.solvers", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    parser.add_argument("--quick", action="store_true", help="every family at 1e5, without the slow vendors")
    parser.add_argument("--save", action="store_true", help="write the figures to bench/results")
    chosen = parser.parse_args()
    about = machine()
    summaries: dict[str, object] = {}
    times: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        module = sketches(Path(folder))
        sketched = [] if module is None else enter_sketches(module)
        for name, quick in FAMILIES.items():
            if quick or not chosen.quick:
                summaries[name], times[name] = measure(name, quick=chosen.quick, sketched=sketched)
    if chosen.save:
        seconds = {name: {one: round(t, 6) for one, t in found.items()} for name, found in times.items()}
        figures = {"machine": about, "summary": summaries, "cpu_seconds": seconds}
        note(f"written: {save('solvers', figures).name}")
    if chosen.json:
        print(json.dumps(summaries))
    else:
        show(summaries, times)
    return 0 if all(isinstance(one, dict) and one["objective_ok"] for one in summaries.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
