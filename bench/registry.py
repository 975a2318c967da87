"""Registry of what is measured: subjects and families enter themselves, drivers walk through them."""

from __future__ import annotations

import ctypes
import datetime
import gc
import json
import os
import platform
import resource
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median

from memorepair.graphs import generate
from memorepair.graphs.digraph import Index, Int64, Mask


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Arrays:
    """What every subject is given.

    Attributes
    ----------
    n
        Number of nodes.
    tails, heads : (m,) int32
        Arc k: ``tails[k]`` requires ``heads[k]``; by tail.
    profit : (n,) int64
        p_i.
    """

    n: int
    tails: Index
    heads: Index
    profit: Int64

    @classmethod
    def of(cls, name: str) -> Arrays:
        """Of the family and size called `name`, tradeoff 1."""
        drawn = generate(name)
        return cls(
            n=drawn.requires.n,
            tails=drawn.requires.tails(),
            heads=drawn.requires.heads.copy(),
            profit=drawn.profits(),
        )


Run = Callable[[Arrays], Mask]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Something that turns arrays into a closure.

    Attributes
    ----------
    name
        What tables call it.
    run
        Everything from the arrays to the mask is measured.
    up_to
        Nodes plus arcs up to which it is run.
    quick
        Whether it is run in a quick measurement too.
    """

    name: str
    run: Run
    up_to: float
    quick: bool


SUBJECTS: list[Subject] = []
FAMILIES: dict[str, bool] = {}
"""Names with whether a quick measurement has them."""


def subject(name: str, *, up_to: float = float("inf"), quick: bool = False) -> Callable[[Run], Run]:
    """Enter a function as a subject."""

    def enter(run: Run) -> Run:
        SUBJECTS.append(Subject(name=name, run=run, up_to=up_to, quick=quick))
        return run

    return enter


def families(names: Iterable[str], *, quick: bool) -> None:
    """Enter families."""
    FAMILIES.update(dict.fromkeys(names, quick))


SLOW = 2.0
"""Seconds from which one run is enough."""


def cpu_seconds() -> float:
    """CPU time of this process and of its children that have ended: CBC is one."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def interleaved(subjects: Sequence[Subject], arrays: Arrays, rounds: int) -> dict[str, float]:
    """Median CPU seconds of each subject: in every round each runs once; the first does not count."""
    times: dict[str, list[float]] = {one.name: [] for one in subjects}
    for turn in range(rounds + 1):
        for one in subjects:
            found = times[one.name]
            if turn > 0 and found[0] >= SLOW:
                continue
            if turn == 1:
                found.clear()
            begin = cpu_seconds()
            one.run(arrays)
            found.append(cpu_seconds() - begin)
    return {name: median(found) for name, found in times.items()}


def peak_mb(run: Run, arrays: Arrays) -> float | None:
    """Largest extra memory while `run` works, in MB; None where the system does not tell."""
    gc.collect()
    try:
        ctypes.CDLL("libc.so.6").malloc_trim(0)  # freed memory that is still held would hide what is taken
        Path("/proc/self/clear_refs").write_text("5")
    except (OSError, AttributeError):
        return None
    before = _status("VmRSS")
    kept = run(arrays)
    peak = _status("VmHWM")
    del kept
    return round((peak - before) / 1024, 1)


def _status(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1])


def machine() -> dict[str, object]:
    """What the figures were measured on."""
    model = platform.processor()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(
            (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), model
        )
    except OSError:
        pass
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        **{name: _version(name) for name in ("numpy", "scipy", "numba", "ortools", "networkx", "pulp")},
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def save(name: str, figures: Mapping[str, object]) -> Path:
    """Write figures to a file of bench/results that is called after the bench and today."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    file = Path(__file__).parent / "results" / f"{name}-{today}.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"date": today, **figures}, indent=1) + "\n", encoding="utf-8")
    return file


def note(line: str) -> None:
    """A line of progress."""
    print(line, file=sys.stderr, flush=True)
