"""The check-up and its repairs: drills on a store of real texts, duplicates of FEBRL, growth, drift, a storm.

    python -m bench.health [--quick] [--json] [--data DIR] [--seed N]

The last line of standard output is one JSON object. CPU times and ratios are of one run; the store of a drill
is built from FEBRL originals, memory texts of other systems and tau-bench.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import lzma
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from pathlib import Path

import numpy as np

from bench.registry import note
from memorepair import Memory
from memorepair.drilling import EVERYTHING, drill
from memorepair.governance import Policy
from memorepair.health.checkup import check_up
from memorepair.health.detector import Asked, Found, about
from memorepair.health.drift import moved
from memorepair.health.finding import Damage, Level
from memorepair.health.rows import Rows
from memorepair.housekeeping import Keeping
from memorepair.memory.artifact import Draft, Json, Key
from memorepair.memory.vectors import HashedNgrams, Vectors
from memorepair.repair.evidence import duplicate_of
from memorepair.repair.ports import Remedy

EMBEDDER = HashedNgrams()
ANCHORS = 20
RESAMPLES = 1_000
_SHORT, _LONG = 20, 400
SOURCES = ("memory-cognee-evals", "memory-memtrust-cases", "memory-letta-agent-files", "traces-tau-bench")
FILES = {"dataset1": ("dataset1",), "dataset2": ("dataset2",), "dataset4": ("dataset4a", "dataset4b")}


def records(data: Path, name: str) -> list[tuple[str, dict[str, str]]]:
    """(record id, fields) of a FEBRL data set."""
    text = lzma.decompress((data / "dedup-febrl" / f"{name}.csv.xz").read_bytes()).decode()
    rows: list[tuple[str, dict[str, str]]] = []
    for record in csv.DictReader(io.StringIO(text)):
        fields = {field.strip(): value.strip() for field, value in record.items()}
        rows.append((fields.pop("rec_id"), fields))
    return rows


def said(fields: dict[str, str]) -> str:
    """A record as the text of a memory."""
    return ", ".join(f"{name}: {value}" for name, value in fields.items() if value)


def strings(data: Path) -> Iterator[str]:
    """Texts of the other systems' files, each once."""
    seen: set[str] = set()
    for folder in SOURCES:
        for path in sorted((data / folder).rglob("*.json")):
            todo: list[object] = [json.loads(path.read_text(encoding="utf-8"))]
            while todo:
                here = todo.pop()
                if isinstance(here, dict):
                    todo += list(here.values())
                elif isinstance(here, list):
                    todo += here
                elif isinstance(here, str) and _SHORT <= len(here) <= _LONG and here not in seen:
                    seen.add(here)
                    yield here


def texts(data: Path, n: int) -> list[str]:
    """n texts: as many of each source as there are, persons filling up."""
    found = list(islice(strings(data), n // 3))
    people = [
        fields
        for name in ("dataset4a", "dataset2", "dataset1")
        for id, fields in records(data, name)
        if id.endswith("org")
    ]
    found += [said(fields) for fields in people[: n - len(found)]]
    rng = np.random.default_rng(0)
    names = sorted({name for fields in people for name in fields})
    columns = {name: [fields.get(name, "") for fields in people] for name in names}
    while len(found) < n:
        picked = {name: values[int(rng.integers(len(values)))] for name, values in columns.items()}
        found.append(said(picked | {"soc_sec_id": str(rng.integers(10**6, 10**7))}))
    return found


def build(path: Path, contents: Sequence[str]) -> None:
    """A memory of records, fifty a user."""
    with Memory.open(path, embedder=EMBEDDER) as memory:
        memory.ingest(
            [Draft(key=Key(("user", str(n // 50)), f"k{n}"), content=text) for n, text in enumerate(contents)]
        )


def drilled(data: Path, sizes: Sequence[int], folder: Path, seed: int) -> dict[str, dict[str, Json]]:
    """The worst figure of each damage over the sizes."""
    worst: dict[str, dict[str, Json]] = {}
    for n in sizes:
        path = folder / f"drill-{n}.db"
        build(path, texts(data, n))
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


def grown(data: Path, sizes: tuple[int, int], more: int, folder: Path) -> tuple[float, float]:
    """Time an artifact of a whole check-up, the larger store over the smaller; seconds of an increment."""
    spent: list[float] = []
    increment = 0.0
    for n in sizes:
        contents = texts(data, n + more)
        path = folder / f"grown-{n}.db"
        build(path, contents[:n])
        with Memory.open(path, embedder=EMBEDDER) as memory:
            start = time.process_time()
            found = check_up(memory.store)
            spent.append((time.process_time() - start) / n)
            memory.ingest(
                [Draft(key=Key(("more",), f"m{i}"), content=text) for i, text in enumerate(contents[n:])]
            )
            start = time.process_time()
            check_up(memory.store, since=found.newest, thresholds=found.thresholds)
            increment = time.process_time() - start
        note(f"check-up of {n}: {spent[-1] * 1e6:.0f} us an artifact, {more} more in {increment:.2f} s CPU")
    return spent[1] / spent[0], increment


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
    """Check up and repair a memory over and over with a detector that always fires."""
    keeping = Keeping(policy=Policy(confirmed=frozenset(Remedy)), detectors=(Always(),))
    with Memory.open(path, embedder=EMBEDDER) as memory:
        for _ in range(8):
            memory.checkup(repair=True, keeping=keeping)


def storm(data: Path, folder: Path) -> dict[str, float | int]:
    """Retrieval during a storm over retrieval without, and how often one artifact was tried at most."""
    path = folder / "storm.db"
    build(path, texts(data, 2_000))
    with Memory.open(path, embedder=EMBEDDER) as reader:

        def p95(until: threading.Event | None) -> float:
            taken: list[float] = []
            while len(taken) < 200 or (until is not None and not until.is_set()):
                start = time.perf_counter()
                reader.search("person", scope=("user", str(len(taken) % 40)), by="vector")
                taken.append(time.perf_counter() - start)
            return float(np.quantile(taken, 0.95))

        usual = p95(None)
        over = threading.Event()

        def begin() -> None:
            # A process of its own, as cron makes one: a thread would share this one's interpreter lock.
            try:
                subprocess.run([sys.executable, "-m", "bench.health", "--rage", str(path)], check=True)
            finally:
                over.set()

        thread = threading.Thread(target=begin)
        thread.start()
        during = p95(over)
        thread.join()
        tries: Counter[str] = Counter()
        for case in reader.store.cases():
            tries.update(map(str, case.roots))
        note(f"storm: P95 {usual * 1e3:.2f} -> {during * 1e3:.2f} ms, cases {len(reader.store.cases())}")
    return {"p95_ratio": during / usual, "max_tries": max(tries.values(), default=0)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and say it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10^4 artifacts and FEBRL dataset1")
    parser.add_argument("--json", action="store_true", help="the default: the last line is JSON")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("MEMOREPAIR_DATA", "data")))
    parser.add_argument("--rage", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.rage is not None:
        rage(given.rage)
        return
    quick = given.quick
    with tempfile.TemporaryDirectory(prefix="bench-health-") as name:
        folder = Path(name)
        ratio, increment = grown(
            given.data, (10**3, 10**4) if quick else (10**4, 10**6), 10**2 if quick else 10**3, folder
        )
        result = {
            "drill": drilled(given.data, [10**4] if quick else [10**4, 10**5], folder, given.seed),
            "febrl": {one: f1(given.data, one, folder) for one in (["dataset1"] if quick else FILES)},
            "growth_ratio": ratio,
            "increment_cpu_s": increment,
            "drift": drifted(given.data, given.seed),
            "storm": storm(given.data, folder),
        }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
