"""Growth of a check-up: stores of several sizes, each looked at in a process of its own."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.health_stores import COPIES, EMBEDDER, copy, files, growing, originals, persons, remove
from bench.registry import note
from memorepair import Memory
from memorepair.health.finding import Damage
from memorepair.memory.artifact import Draft, Key


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One check-up as its process saw it."""

    cpu_s: float
    peak_mb: float
    newest: int
    duplicates: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """One size: CPU time of a whole check-up an artifact, its memory, and an increment.

    `found` is the share of the copies in the store that were found.
    """

    n: int
    us: float
    peak_mb: float
    found: float
    more: int
    increment_cpu_s: float
    increment_peak_mb: float
    disk_mb: float

    def to_json(self) -> dict[str, float]:
        """As a JSON object."""
        return asdict(self)


def look(path: Path, since: int | None) -> Look:
    """One check-up of a memory, from the door; the peak is that of this process."""
    told = ""

    def step(name: str, done: int, of: int) -> None:
        nonlocal told
        if name != told:
            told = name
            note(f"  {name}: {time.process_time() - start:.1f} s CPU, {_peak_mb():.0f} MB")

    with Memory.open(path, embedder=EMBEDDER) as memory:
        start = time.process_time()
        checkup = memory.checkup(since=since, progress=step if since is None else None).checkup
        spent = time.process_time() - start
    found = checkup.counts().get(Damage.DUPLICATES, 0)
    return Look(cpu_s=spent, peak_mb=_peak_mb(), newest=checkup.newest, duplicates=found)


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def apart(path: Path, since: int | None = None) -> Look:
    """`look` in a process of its own, so that its memory is its own."""
    command = [sys.executable, "-m", "bench.health", "--look", str(path)]
    command += [] if since is None else ["--since", str(since)]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return Look(**json.loads(told.splitlines()[-1]))


def grown(data: Path, sizes: Sequence[int], more: int, folder: Path, keep: Path | None) -> list[Growth]:
    """A whole check-up, and one of what is new, of each size of store; `keep` has them or gets them."""
    found: list[Growth] = []
    for n in sizes:
        made = growing(data, n, folder if keep is None else keep)
        disk = sum(file.stat().st_size for file in files(made)) / 1e6
        path = made
        if keep is not None:
            path = folder / made.name
            copy(made, path)
        note(f"check-up of {n}, {disk:.0f} MB on disk")
        whole = apart(path)
        with Memory.open(path, embedder=EMBEDDER) as memory:
            new = persons(originals(data), more, seed=1)
            memory.ingest([Draft(key=Key(("shared",), f"m{i}"), content=text) for i, text in enumerate(new)])
        increment = apart(path, whole.newest)
        remove(path)
        one = Growth(
            n=n,
            us=whole.cpu_s / n * 1e6,
            peak_mb=whole.peak_mb,
            found=whole.duplicates / (n // COPIES),
            more=more,
            increment_cpu_s=increment.cpu_s,
            increment_peak_mb=increment.peak_mb,
            disk_mb=disk,
        )
        found.append(one)
        note(
            f"check-up of {n}: {one.us:.0f} us an artifact ({one.us / found[0].us:.2f}), "
            f"peak {one.peak_mb:.0f} MB, {one.found:.2f} of the copies found; "
            f"{more} more in {one.increment_cpu_s:.2f} s CPU"
        )
    return found
