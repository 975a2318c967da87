"""python -m bench.rollback: recovery of failed runs against baselines and ablations.

Last line of stdout: one JSON object, ``{cases, <method>: {recovery, recurrence, faults_removed, benign_kept,
claim_f1, replay_ratio, calls}, transfer: {recovery, claim_f1}}``; progress and the figures by domain and
kind of fault go to stderr.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from bench.rollback.cases import Story, cases
from bench.rollback.measure import Figures, Tally, measure
from bench.rollback.methods import METHODS
from bench.rollback.navigation import transfer

SHOWN = ("memorepair", "no_repair")


def main() -> None:
    """Run all cases through all methods, print the figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.rollback", description=__doc__)
    parser.add_argument("--json", action="store_true", help="the last line is one JSON object")
    parser.add_argument("--quick", action="store_true", help="one case in ten of every domain")
    parser.add_argument("--only", action="append", choices=list(METHODS), help="only these methods")
    given = parser.parse_args()
    chosen = {name: METHODS[name] for name in given.only or METHODS}
    root = Path(tempfile.mkdtemp(prefix="rollback-"))
    tallies: dict[str, Tally] = {name: Tally() for name in chosen}
    apart: dict[tuple[str, str, str], Tally] = defaultdict(Tally)
    count = 0
    try:
        for count, story in enumerate(cases(root, share=10 if given.quick else 1), 1):
            for name, figures in measure(root, story, chosen).items():
                tallies[name].add(figures)
                for group in _groups(story):
                    apart[(*group, name)].add(figures)
            print(f"\r{count} cases", end="", file=sys.stderr, flush=True)
        moved = transfer(root, limit=5 if given.quick else None)
    finally:
        shutil.rmtree(root)
    print(file=sys.stderr)
    _show(tallies, apart)
    found: dict[str, object] = {"cases": count}
    found |= {name: tally.summary() for name, tally in tallies.items()}
    found["transfer"] = moved
    if given.json:
        print(json.dumps(found))


def _groups(story: Story) -> list[tuple[str, str]]:
    kinds = {fault.kind for fault in story.faults}
    return [("domain", story.domain.name), *(("fault", kind) for kind in sorted(kinds))]


def _show(tallies: Mapping[str, Tally], apart: Mapping[tuple[str, str, str], Tally]) -> None:
    def line(name: str, tally: Tally) -> str:
        return f"{name:32}" + "".join(
            f"{value:>15.3f}" if value is not None else f"{'-':>15}" for value in tally.summary().values()
        )

    names = list(Figures.NAMES)
    print(f"{'':32}" + "".join(f"{name:>15}" for name in names), file=sys.stderr)
    for name, tally in tallies.items():
        print(line(name, tally), file=sys.stderr)
    for (sort, value, name), tally in sorted(apart.items()):
        if name in SHOWN:
            print(line(f"{sort} {value}: {name}", tally), file=sys.stderr)


if __name__ == "__main__":
    main()
