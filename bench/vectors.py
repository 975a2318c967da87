"""The vector index beside exact search: what it costs to build, what it finds, how long a query takes.

    python -m bench.vectors [--n N] [--quick] [--json] [--save] [--keep DIR] [--data DIR]

A store of N persons (10^5; `--quick`: 2 * 10^4) in one scope is asked for the ten nearest of each of 100
persons that are not in it, with the index and without, in turns. `recall` is the share of the exact ten that
the index finds, `query_ms` and `exact_ms` are median CPU times of `Memory.search`, `first_query_ms` that of
one that reads the file, `build_us` the CPU time of `Memory.index_vectors` a vector. With `--keep DIR` the
store is kept there, or taken from there. The last line of standard output is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from bench.health_stores import EMBEDDER, build, originals, persons
from bench.registry import machine, note, save
from memorepair import Memory
from memorepair.memory.artifact import Draft, Key

SCOPE = ("everybody",)
QUERIES, NEAREST = 100, 10


def stored(data: Path, n: int, folder: Path) -> Path:
    """The store of n persons in a folder: that which is there, else a new one."""
    path = folder / f"persons-{n}.db"
    if not path.exists():
        people = persons(originals(data), n)
        build(path, (Draft(key=Key(SCOPE, f"p{i}"), content=text) for i, text in enumerate(people)))
    return path


def measure(path: Path, n: int, queries: Sequence[str]) -> dict[str, float]:
    """Build the index, and ask both ways."""
    with Memory.open(path, embedder=EMBEDDER, vector_index=True) as memory:
        begin = time.process_time()
        memory.index_vectors(progress=lambda _step, done, of: note(f"  {done} of {of} scopes indexed"))
        built = time.process_time() - begin
    size = sum(file.stat().st_size for file in path.parent.glob(f"{path.name}.vectors-*"))
    found: list[float] = []
    spent: dict[bool, list[float]] = {True: [], False: []}
    with (
        Memory.open(path, embedder=EMBEDDER, vector_index=True) as quick,
        Memory.open(path, embedder=EMBEDDER) as exact,
    ):
        begin = time.process_time()
        quick.search(queries[0], scope=SCOPE, by="vector", limit=NEAREST)
        loaded = time.process_time() - begin
        for query in queries:
            hits: dict[bool, set[str]] = {}
            for indexed, memory in ((True, quick), (False, exact)):
                begin = time.process_time()
                answer = memory.search(query, scope=SCOPE, by="vector", limit=NEAREST)
                spent[indexed].append(time.process_time() - begin)
                hits[indexed] = {hit.artifact.key.id for hit in answer}
            found.append(len(hits[True] & hits[False]) / len(hits[False]))
    return {
        "n": n,
        "recall": sum(found) / len(found),
        "query_ms": median(spent[True]) * 1e3,
        "exact_ms": median(spent[False]) * 1e3,
        "first_query_ms": loaded * 1e3,
        "build_us": built / n * 1e6,
        "index_mb": size / 1e6,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and say it as JSON."""
    parser = argparse.ArgumentParser(prog="python -m bench.vectors", description=__doc__)
    parser.add_argument("--n", type=int, help="vectors")
    parser.add_argument("--quick", action="store_true", help="20,000 vectors")
    parser.add_argument("--json", action="store_true", help="the default: the last line is JSON")
    parser.add_argument("--save", action="store_true", help="keep the figures under bench/results")
    parser.add_argument("--keep", type=Path, help="where the store is, or is left")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("MEMOREPAIR_DATA", "data")))
    given = parser.parse_args(arguments)
    n = given.n or (20_000 if given.quick else 100_000)
    queries = list(persons(originals(given.data), QUERIES, seed=2))
    with tempfile.TemporaryDirectory(prefix="bench-vectors-") as name:
        folder = Path(name) if given.keep is None else given.keep
        folder.mkdir(parents=True, exist_ok=True)
        result = measure(stored(given.data, n, folder), n, queries)
    if given.save:
        note(f"kept in {save('vectors', {'machine': machine(), 'figures': result}).name}")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
