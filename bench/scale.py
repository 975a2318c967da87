"""A large store: what withdrawals, reads and searches cost in it.

    python -m bench.scale [--quick] [--json] [--save]

A store of 10^6 artifacts and 3 * 10^6 arcs is built through `Memory.ingest`, and one of a tenth of the
size; cascades are scattered over all of it. Each is measured in a process of its own that opens the file
anew, through the verbs of `Memory`; the large withdrawals take turns, one in the small store, one in the
large, for a ratio wants the same load on both. ``withdraw_large_cpu_s`` is the median CPU time of
`Memory.delete` on a root of a tenth of all artifacts, ``withdraw_100_ms`` the median wall time of one whose
cascade has 100 members, ``get_ms`` the median wall time of `Memory.get` of artifacts at random,
``growth_ratio`` the CPU time of a large withdrawal a member against that in the small store. ``disk_mb``
counts every file of the store after the import, ``rss_mb`` is the peak of the measuring process. ``--quick``:
10^5 artifacts against 10^4. ``--save`` writes the figures with the machine to bench/results. With
``--json`` the last line of standard output is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import TypeVarTuple, Unpack

import numpy as np

from bench.population import COMMON, SCOPE_SIZE, Population, draw, rare
from bench.registry import machine, note, save
from memorepair.facade import Memory
from memorepair.graphs.digraph import Int64

_Ts = TypeVarTuple("_Ts")

LARGE_SHARE = 10
LARGE_TIMES = 5
SMALL = 100
SMALL_TIMES = 20
GETS = 5_000
SEARCHES = 50
BATCH = 50_000
"""Artifacts an ingest takes at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """What an import took; the commits write what the index has gathered, too."""

    rows_cpu_s: float
    index_cpu_s: float
    commit_cpu_s: float
    wall_s: float
    disk_mb: float
    rss_mb: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What one store showed; times in ms unless the name says otherwise.

    `large` and `small` are lists with a value a withdrawal: CPU seconds, wall.
    """

    n: int
    large_cpu_s: list[float]
    large_wall_s: list[float]
    small_cpu: list[float]
    small_wall: list[float]
    get: float
    get_cpu: float
    get_p99: float
    get_cold_p99: float
    search_rare: float
    search_common: float
    search_short: float
    search_rare_cpu: float
    search_common_cpu: float
    search_short_cpu: float
    rss_mb: float


def population(n: int) -> Population:
    """The one that a store of n artifacts holds."""
    return draw(n, [n // LARGE_SHARE] * LARGE_TIMES + [SMALL] * SMALL_TIMES)


def build(file: Path, n: int) -> Import:
    """Import the population of n."""
    drawn = population(n)
    spent = {"rows": 0.0, "index": 0.0, "commit": 0.0}
    wall = time.perf_counter()
    with Memory.open(file) as memory:
        for first in range(0, n, BATCH):
            last = min(first + BATCH, n)
            drafts = list(drawn.drafts(first, last))
            mark = time.process_time()

            def step(what: str, done: int, of: int) -> None:
                nonlocal mark
                if done == of:
                    now = time.process_time()
                    spent[what] += now - mark
                    mark = now

            memory.ingest(drafts, progress=step)
            spent["commit"] += time.process_time() - mark
            note(f"  imported {last} of {n}")
    return Import(
        rows_cpu_s=spent["rows"],
        index_cpu_s=spent["index"],
        commit_cpu_s=spent["commit"],
        wall_s=time.perf_counter() - wall,
        disk_mb=sum(part.stat().st_size for part in file.parent.glob(f"{file.name}*")) / 1e6,
        rss_mb=_peak_mb(),
    )


class Visitor:
    """Knocks at the doors of one store, then withdraws; lives in the process that measures."""

    def __init__(self, file: Path, n: int) -> None:
        self._drawn = population(n)
        self._memory = Memory.open(file, create=False)
        self._n = n
        self._large: list[tuple[float, float]] = []

    def withdraw_large(self, nth: int) -> None:
        """The nth of the large cascades."""
        self._large.append(_withdraw(self._memory, self._drawn, self._drawn.families[nth]))

    def knock(self) -> Callable[[], Figures]:
        """Read and search; what is left is to withdraw the small cascades, which gives all figures."""
        memory, drawn, n = self._memory, self._drawn, self._n
        rng = np.random.default_rng(1)
        first, _ = _timed(memory.get, [(drawn.key(i),) for i in rng.integers(n, size=GETS).tolist()])
        wall, cpu = _timed(memory.get, [(drawn.key(i),) for i in rng.integers(n, size=GETS).tolist()])
        some = rng.integers(n, size=SEARCHES).tolist()

        def searches(word: Callable[[int], str]) -> tuple[float, float]:
            asked = [(word(i), drawn.key(i).scope) for i in some]
            walls, spent = _timed(lambda query, scope: memory.search(query, scope=scope), asked)
            return median(walls), spent / SEARCHES

        rare_ms, common_ms, short_ms = searches(rare), searches(lambda _: COMMON), searches(lambda _: "no")

        def figures() -> Figures:
            small = [_withdraw(memory, drawn, family) for family in drawn.families[LARGE_TIMES:]]
            memory.close()
            return Figures(
                n=n,
                large_cpu_s=[cpu for cpu, _ in self._large],
                large_wall_s=[wall for _, wall in self._large],
                small_cpu=[cpu * 1e3 for cpu, _ in small],
                small_wall=[wall * 1e3 for _, wall in small],
                get=median(wall),
                get_cpu=cpu / GETS,
                get_p99=float(np.percentile(wall, 99)),
                get_cold_p99=float(np.percentile(first, 99)),
                search_rare=rare_ms[0],
                search_common=common_ms[0],
                search_short=short_ms[0],
                search_rare_cpu=rare_ms[1],
                search_common_cpu=common_ms[1],
                search_short_cpu=short_ms[1],
                rss_mb=_peak_mb(),
            )

        return figures


def visit(file: Path, n: int, turns: Connection) -> None:
    """Measure one store: a number from the other end is a large cascade's turn, None the end."""
    visitor = Visitor(file, n)
    figures = visitor.knock()
    turns.send(None)
    while (nth := turns.recv()) is not None:
        visitor.withdraw_large(nth)
        turns.send(None)
    turns.send(figures())


def measure(files: Mapping[int, Path]) -> list[Figures]:
    """The figures of each store, by its size, in turns."""
    spawn = multiprocessing.get_context("spawn")
    ends = [spawn.Pipe() for _ in files]
    pipes = [ours for ours, _ in ends]
    processes = [
        spawn.Process(target=visit, args=(file, n, theirs))
        for (n, file), (_, theirs) in zip(files.items(), ends, strict=True)
    ]
    for process, (ours, theirs) in zip(processes, ends, strict=True):  # one after the other reads
        process.start()
        theirs.close()
        ours.recv()
    for nth in range(LARGE_TIMES):
        for pipe in pipes:
            pipe.send(nth)
            pipe.recv()
    found: list[Figures] = []
    for pipe, process in zip(pipes, processes, strict=True):
        pipe.send(None)
        found.append(pipe.recv())
        process.join()
    return found


def _withdraw(memory: Memory, drawn: Population, family: Int64) -> tuple[float, float]:
    root = drawn.key(int(family[0]))
    cpu, wall = time.process_time(), time.perf_counter()
    case = memory.delete(root, reason="measured", actor="bench")
    spent = time.process_time() - cpu, time.perf_counter() - wall
    assert case.withdrawn == len(family), (case.withdrawn, len(family))
    return spent


def _timed(
    call: Callable[[Unpack[_Ts]], object], arguments: Sequence[tuple[*_Ts]]
) -> tuple[list[float], float]:
    """Wall ms of each call, and CPU ms of all."""
    walls = []
    cpu = time.process_time()
    for one in arguments:
        begin = time.perf_counter()
        call(*one)
        walls.append((time.perf_counter() - begin) * 1e3)
    return walls, (time.process_time() - cpu) * 1e3


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def apart(file: Path, n: int) -> Import:
    """Import in a fresh process, so that its memory is its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(build, (file, n))


def run(n: int, folder: Path) -> tuple[dict[str, float], dict[str, object]]:
    """The figures of the issue, and all figures."""
    imports: dict[int, Import] = {}
    for size in (n // 10, n):
        note(f"{size} artifacts, {3 * size} arcs")
        imported = apart(folder / f"{size}.db", size)
        note(
            f"  import: rows {imported.rows_cpu_s:.1f} s CPU, index {imported.index_cpu_s:.1f} s CPU,"
            f" commits {imported.commit_cpu_s:.1f} s CPU, all"
            f" with the making of the drafts {imported.wall_s:.0f} s wall; {imported.disk_mb:.0f} MB,"
            f" peak {imported.rss_mb:.0f} MB"
        )
        imports[size] = imported
    measured = measure({size: folder / f"{size}.db" for size in imports})
    for figures in measured:
        note(f"{figures.n} artifacts")
        _tell(figures)
    found = list(zip(imports.values(), measured, strict=True))
    (small_import, small), (large_import, large) = found
    ratio = _import_cpu(large_import) / _import_cpu(small_import) / 10
    note(f"import, CPU an artifact in the large store against the small one: {ratio:.2f}")
    summary = {
        "withdraw_large_cpu_s": round(median(large.large_cpu_s), 3),
        "withdraw_100_ms": round(median(large.small_wall), 2),
        "get_ms": round(large.get, 4),
        "growth_ratio": round(median(large.large_cpu_s) / median(small.large_cpu_s) / 10, 3),
        "disk_mb": round(large_import.disk_mb, 1),
        "rss_mb": round(large.rss_mb, 1),
    }
    return summary, {str(one.n): {"import": asdict(took), "doors": asdict(one)} for took, one in found}


def _import_cpu(took: Import) -> float:
    return took.rows_cpu_s + took.index_cpu_s + took.commit_cpu_s


def _tell(figures: Figures) -> None:
    members = figures.n // LARGE_SHARE
    cpu = median(figures.large_cpu_s)
    note(
        f"  get: {figures.get:.3f} ms median ({figures.get_cpu:.3f} CPU), p99 {figures.get_p99:.2f},"
        f" p99 of the first {GETS} after opening {figures.get_cold_p99:.2f}"
    )
    note(
        f"  search in a scope of {SCOPE_SIZE}, ms (CPU): rare word {figures.search_rare:.2f}"
        f" ({figures.search_rare_cpu:.2f}), word of every text {figures.search_common:.2f}"
        f" ({figures.search_common_cpu:.2f}), two letters {figures.search_short:.2f}"
        f" ({figures.search_short_cpu:.2f})"
    )
    each = ", ".join(f"{one:.3f}" for one in figures.large_cpu_s)
    note(
        f"  withdraw {members}: {cpu:.3f} s CPU ({cpu / members * 1e6:.1f} us a member; each {each}),"
        f" wall {median(figures.large_wall_s):.2f} s"
    )
    note(
        f"  withdraw {SMALL}: {median(figures.small_wall):.2f} ms wall (longest"
        f" {max(figures.small_wall):.1f}), {median(figures.small_cpu):.2f} ms CPU;"
        f" peak {figures.rss_mb:.0f} MB"
    )


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10^5 artifacts instead of 10^6")
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    parser.add_argument("--save", action="store_true", help="write the figures to bench/results")
    chosen = parser.parse_args()
    about = machine()
    with tempfile.TemporaryDirectory() as folder:
        summary, details = run(100_000 if chosen.quick else 1_000_000, Path(folder))
    if chosen.save:
        name = "scale-quick" if chosen.quick else "scale"
        note(f"written: {save(name, {'machine': about, 'summary': summary, 'details': details}).name}")
    if chosen.json:
        print(json.dumps(summary))
    else:
        for name, value in summary.items():
            print(f"{name}: {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
