"""The check-up and its repairs: drills on a store of real texts, duplicates of FEBRL, growth, drift, a storm.

    python -m bench.health [--quick] [--json] [--save] [--data DIR] [--seed N]
                           [--only STEP ...] [--sizes N ...] [--keep DIR]

The last line of standard output is one JSON object. CPU times and ratios are of one run; the store of a drill
is built from FEBRL originals, memory texts of other systems and tau-bench. `--only` makes some of the steps
alone: growth, drill, febrl, drift, storm.

Growth: a whole check-up as `memorepair checkup` makes it, index and record included, in a process of its own;
the ratio is of the CPU time an artifact, largest store over smallest. Half of the records lie in one scope,
where blocks fill, and one in a hundred is a misspelt copy. The increment is a check-up of what is new, the
same way. The largest store takes long to write: with `--keep DIR` the stores are kept there, or taken from
there where they are already, and the figures are those of copies. `--sizes` measures other sizes.

Storm: repairs in a process of the priority that the command line gives itself; windows of half a second in
which it runs and in which it is stopped take turns, so that what else the machine does weighs on both alike.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import combinations
from pathlib import Path

import numpy as np

from bench.health_growth import Growth, grown, look
from bench.health_stores import EMBEDDER, build, records, said, separate, texts
from bench.registry import machine, note, save
from memorepair import Memory
from memorepair.cli.priority import step_back
from memorepair.drilling import EVERYTHING, drill
from memorepair.governance import Policy
from memorepair.governance.queue import MOST
from memorepair.health.detector import Asked, Found, about
from memorepair.health.drift import moved
from memorepair.health.finding import Damage, Level
from memorepair.health.rows import Rows
from memorepair.housekeeping import Keeping
from memorepair.memory.artifact import Draft, Json, Key
from memorepair.memory.vectors import Vectors
from memorepair.repair.evidence import duplicate_of
from memorepair.repair.ports import Remedy

ANCHORS = 20
RESAMPLES = 1_000
ROUNDS = 8
_WINDOW_S = 0.5
STEPS = ("growth", "drill", "febrl", "drift", "storm")
FILES = {"dataset1": ("dataset1",), "dataset2": ("dataset2",), "dataset4": ("dataset4a", "dataset4b")}


def drilled(data: Path, sizes: Sequence[int], folder: Path, seed: int) -> dict[str, dict[str, Json]]:
    """The worst figure of each damage over the sizes."""
    worst: dict[str, dict[str, Json]] = {}
    for n in sizes:
        path = folder / f"drill-{n}.db"
        build(path, separate(texts(data, n)))
        report = drill(path, rate=0.01, seed=seed, embedder=EMBEDDER)
        for damage, count in report.counts.items():
            figures = count.to_json()
            note(f"drill {n} {damage}: {figures}")
            kept = worst.setdefault(str(damage), dict(figures))
            for name, value in figures.items():
                known = kept[name]
                if isinstance(value, int | float) and isinstance(known, int | float):
                    pick = min if name in ("coverage", "repaired_rightly") else max
                    kept[name] = pick(known, value)
    return worst


def f1(data: Path, name: str, folder: Path) -> float:
    """Pairs that the repair merged against pairs of one person."""
    rows = [row for file in FILES[name] for row in records(data, file)]
    path = folder / f"{name}.db"
    with Memory.open(path, embedder=None) as memory:
        memory.ingest([Draft(key=Key(("people",), id), content=said(fields)) for id, fields in rows])
        memory.checkup(repair=True, keeping=EVERYTHING)
        under: dict[str, str] = {}
        for case in memory.store.cases():
            for duplicate in case.roots:
                primary = duplicate_of(case, duplicate)
                if primary is not None:
                    under[duplicate.id] = primary.id
    groups: dict[str, list[str]] = {}
    for id, _ in rows:
        top = id
        while top in under:
            top = under[top]
        groups.setdefault(top, []).append(id)
    mine = {pair for group in groups.values() for pair in combinations(sorted(group), 2)}
    people: dict[str, list[str]] = {}
    for id, _ in rows:
        people.setdefault(id.split("-")[1], []).append(id)
    true = {pair for group in people.values() for pair in combinations(sorted(group), 2)}
    both = len(mine & true)
    return 2 * both / (len(mine) + len(true))


def drifted(data: Path, seed: int) -> dict[str, float]:
    """Shares of fired probes: where the model changed, and where only noise did."""
    rng = np.random.default_rng(seed)
    vectors = EMBEDDER.embed(texts(data, 600))
    order = rng.permutation(EMBEDDER.dimension)
    changes = (vectors[:, order], vectors * np.float32(3.4), -vectors)
    noise = (
        vectors.astype(np.float16).astype(np.float32),
        np.asarray(vectors + rng.normal(0, 1e-3, vectors.shape), np.float32),
    )

    def fired(others: Sequence[Vectors]) -> float:
        hits = 0
        for n in range(RESAMPLES):
            picked = rng.choice(len(vectors), ANCHORS, replace=False)
            hits += moved(vectors[picked], others[n % len(others)][picked]).fired
        return hits / RESAMPLES

    return {"found": fired(changes), "false_alarms": fired(noise)}


class Always:
    """Finds the same artifacts damaged at every look."""

    name = "always"
    level = Level.STRUCTURE
    damages = frozenset({Damage.DRIFT})

    def find(self, rows: Rows, asked: Asked) -> Found:
        return Found(
            findings=tuple(
                about(self, rows, [row], "embedding_norm", "always") for row in range(min(8, rows.n))
            )
        )


def rage(path: Path) -> None:
    """Check up and repair over and over with a detector that always fires, and undo every other repair."""
    step_back()  # as the command line does
    keeping = Keeping(policy=Policy(confirmed=frozenset(Remedy)), detectors=(Always(),))
    with Memory.open(path, embedder=EMBEDDER) as memory:
        print("begun", flush=True)
        for turn in range(ROUNDS):
            done = [one.case for one in memory.checkup(repair=True, keeping=keeping).outcomes if one.case]
            if turn % 2 and done:
                memory.undo(done[-1], actor="storm", reason="another's work")
        waiting = len(memory.housekeeper(keeping).desk.waiting())
        note(f"storm: {waiting} wait for a person, {MOST} may")


def storm(data: Path, folder: Path) -> dict[str, float | int]:
    """Retrieval during a storm over retrieval without, and how often one artifact was tried at most."""
    path = folder / "storm.db"
    build(path, separate(texts(data, 2_000)))
    with Memory.open(path, embedder=EMBEDDER) as reader:

        def searches() -> Iterator[float]:
            """Seconds that each search of a window took."""
            over = time.perf_counter() + _WINDOW_S
            while (start := time.perf_counter()) < over:
                reader.search("person", scope=("user", str(int(start * 1e3) % 40)), by="vector")
                yield time.perf_counter() - start

        # A process of its own, as cron makes one: a thread would share this one's interpreter lock.
        command = [sys.executable, "-m", "bench.health", "--rage", str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as repairs:
            assert repairs.stdout is not None
            repairs.stdout.readline()
            during: list[float] = []
            usual: list[float] = []
            while repairs.poll() is None:
                during += searches()
                repairs.send_signal(signal.SIGSTOP)
                usual += searches()
                repairs.send_signal(signal.SIGCONT)
        if repairs.returncode:
            raise SystemExit(f"the storm ended with {repairs.returncode}")
        with_it, without = (float(np.quantile(taken, 0.95)) for taken in (during, usual))
        tries: Counter[str] = Counter()
        for case in reader.store.cases():
            tries.update(map(str, case.roots))
        note(
            f"storm: P95 {without * 1e3:.2f} -> {with_it * 1e3:.2f} ms over {len(usual)} and {len(during)} "
            f"searches, {len(reader.store.cases())} cases"
        )
    return {"p95_ratio": with_it / without, "max_tries": max(tries.values(), default=0)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and say it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10^4 artifacts and FEBRL dataset1")
    parser.add_argument("--json", action="store_true", help="the default: the last line is JSON")
    parser.add_argument("--save", action="store_true", help="keep the figures under bench/results")
    parser.add_argument("--only", nargs="+", choices=STEPS, default=STEPS, help="these steps alone")
    parser.add_argument("--sizes", nargs="+", type=int, help="artifacts of the stores of the growth")
    parser.add_argument("--keep", type=Path, help="where the stores of the growth are, or are left")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("MEMOREPAIR_DATA", "data")))
    parser.add_argument("--rage", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--look", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--since", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.rage is not None:
        rage(given.rage)
    elif given.look is not None:
        print(json.dumps(asdict(look(given.look, given.since))))
    else:
        measure(given)


def measure(given: argparse.Namespace) -> None:
    """Make the steps, and say their figures."""
    data, quick = given.data, given.quick
    result: dict[str, object] = {}
    sizes: list[Growth] = []
    with tempfile.TemporaryDirectory(prefix="bench-health-") as name:
        folder = Path(name)
        if "drill" in given.only:
            result["drill"] = drilled(data, [10**4] if quick else [10**4, 10**5], folder, given.seed)
        if "febrl" in given.only:
            result["febrl"] = {one: f1(data, one, folder) for one in (["dataset1"] if quick else FILES)}
        if "growth" in given.only:
            ns = given.sizes or ((10**3, 10**4) if quick else (10**4, 10**5, 10**6))
            if given.keep is not None:
                given.keep.mkdir(parents=True, exist_ok=True)
            sizes = grown(data, ns, 10**2 if quick else 10**3, folder, given.keep)
            result["growth_ratio"] = sizes[-1].us / sizes[0].us
            result["increment_cpu_s"] = sizes[-1].increment_cpu_s
        if "drift" in given.only:
            result["drift"] = drifted(data, given.seed)
        if "storm" in given.only:
            result["storm"] = storm(data, folder)
    if given.save:
        chosen = [] if set(given.only) == set(STEPS) else [one for one in STEPS if one in given.only]
        file = "-".join(["health", *(["quick"] if quick else []), *chosen])
        growth = [one.to_json() for one in sizes]
        kept = save(file, {"machine": machine(), "figures": result, "growth": growth})
        note(f"kept in {kept.name}")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
