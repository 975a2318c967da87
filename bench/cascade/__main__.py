"""The cascade experiment: events in memories whose provenance is known, repaired by many systems.

    python -m bench.cascade [--quick] [--json] [--save] [--workload NAME]... [--each N] [--data DIR]

Progress and tables go to standard error; with ``--json`` the last line of standard output is one JSON object:
a key a workload, then ``dropout``, ``validation``, ``neural``. ``--save`` keeps more.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

from bench.cascade.experiment import FULL, QUICK, experiment
from bench.cascade.families import WORLDS
from bench.cascade.tables import show, stale_systems
from bench.registry import cpu_seconds, machine, note, save
from memorepair.errors import MemoRepairError


def main() -> int:
    """Print the figures; 1 where a system that must leave nothing stale did, 2 where data are missing."""
    parser = argparse.ArgumentParser(prog="python -m bench.cascade", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer events, runs, seeds and prices")
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    parser.add_argument("--save", action="store_true", help="keep the figures under bench/results")
    parser.add_argument("--each", type=int, help="events of each kind, instead of what the extent says")
    parser.add_argument(
        "--workload", action="append", choices=sorted(WORLDS), help="this alone; everything unless given"
    )
    data = Path(os.environ.get("MEMOREPAIR_DATA", Path(__file__).parents[3] / "shared" / "data"))
    parser.add_argument("--data", type=Path, default=data, help="folder of the recorded traces")
    chosen = parser.parse_args()
    extent = QUICK if chosen.quick else FULL
    if chosen.each is not None:
        extent = replace(extent, each=chosen.each)
    began, cpu = time.perf_counter(), cpu_seconds()
    try:
        result = experiment(chosen.data, extent, chosen.workload or ())
    except MemoRepairError as error:
        note(f"{error} (witness: {error.witness})")
        return 2
    more = result["more"]
    assert isinstance(more, dict)
    more["seconds"] = {
        "wall": round(time.perf_counter() - began, 1),
        "cpu": round(cpu_seconds() - cpu, 1),
    }
    more["machine"] = machine()
    show(result)
    if chosen.save:
        note(f"kept in {save('cascade-quick' if chosen.quick else 'cascade', result)}")
    stale = stale_systems(result)
    for line in stale:
        note(f"STALE: {line}")
    if chosen.json:
        print(json.dumps({name: told for name, told in result.items() if name != "more"}))
    if any(unsound := more["unsound"].values()):
        note(f"UNSOUND: {unsound}")
        return 1
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
