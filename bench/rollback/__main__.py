"""python -m bench.rollback: recovery of failed runs against baselines and ablations.

Last line of stdout: one JSON object, ``{cases, <method>: {recovery, recurrence, faults_removed, benign_kept,
claim_f1, replay_ratio, calls}, transfer: {recovery, claim_f1}}``; progress and the figures by domain and
kind of fault go to stderr. ``memorepair`` is what `recover` does when nothing else is asked for.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from bench.registry import machine, note, save
from bench.rollback.happened import Case, cases
from bench.rollback.measure import Figures, Tally, measure
from bench.rollback.methods import BESIDE, METHODS, model_judge
from bench.rollback.navigation import journeys
from memorepair.repair.operators.chat import ChatGenerator
from memorepair.repair.operators.endpoint import Endpoint

Tallies = dict[str, Tally]


def main() -> None:
    """Run all cases through all methods, print the figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.rollback", description=__doc__)
    parser.add_argument("--json", action="store_true", help="the last line is one JSON object")
    parser.add_argument("--quick", action="store_true", help="one case in ten of every domain, five journeys")
    parser.add_argument("--only", action="append", choices=list(METHODS), help="only these methods")
    parser.add_argument("--save", action="store_true", help="write the figures to bench/results")
    parser.add_argument(
        "--judge",
        nargs=3,
        metavar=("URL", "MODEL", "KEY_VARIABLE"),
        help="judge_model beside the others: a model behind an endpoint of the OpenAI protocol, its key in a "
        "variable of the environment (- for none)",
    )
    given = parser.parse_args()
    wanted = {name: METHODS[name] for name in given.only or METHODS}
    if given.judge is not None:
        url, model, key = given.judge
        endpoint = Endpoint(base_url=url, model=model, key_variable=None if key == "-" else key)
        wanted["judge_model"] = model_judge(ChatGenerator(endpoint=endpoint))
    root = Path(tempfile.mkdtemp(prefix="rollback-"))
    apart: dict[str, Tallies] = {}
    moved: Tallies = defaultdict(Tally)
    tallies: Tallies = defaultdict(Tally)
    try:
        for case in _counted(cases(root, share=10 if given.quick else 1), "cases"):
            for name, figures in measure(root, case, wanted).items():
                tallies[name].add(figures)
                for group in _groups(case):
                    apart.setdefault(group, defaultdict(Tally))[name].add(figures)
        for case in _counted(journeys(root, limit=5 if given.quick else None), "journeys"):
            for name, figures in measure(root, case, wanted).items():
                moved[name].add(figures)
    finally:
        shutil.rmtree(root)
    everything = {"all": tallies, **dict(sorted(apart.items())), "journeys": moved}
    for group, some in everything.items():
        _show(group, some)
    note(f"{time.process_time():.0f} seconds of CPU")
    count = len(next(iter(tallies.values())).cases)
    found: dict[str, object] = {"cases": count}
    found |= {name: tally.summary() for name, tally in tallies.items() if name not in BESIDE}
    if "memorepair" in moved:
        ours = moved["memorepair"].summary()
        found["transfer"] = {"recovery": ours["recovery"], "claim_f1": ours["claim_f1"]}
    if given.save:
        told = {
            group: {name: {"cases": len(tally.cases), **tally.summary()} for name, tally in some.items()}
            for group, some in everything.items()
        }
        note(f"written: {save('rollback', {'machine': machine(), 'figures': told}).name}")
    if given.json:
        print(json.dumps(found))


def _counted(some: Iterator[Case], what: str) -> Iterator[Case]:
    """The cases, each told when it is done, its store removed."""
    for number, case in enumerate(some, 1):
        yield case
        case.discard()
        print(f"\r{number} {what}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def _groups(case: Case) -> list[str]:
    kinds = {fault.kind for fault in case.story.faults}
    number = "one fault" if len(case.story.faults) == 1 else "several faults"
    return [case.story.domain.name, number, *sorted(kinds)]


def _show(group: str, some: Mapping[str, Tally]) -> None:
    note(f"{group:20}" + "".join(f"{name:>15}" for name in Figures.NAMES))
    for name, tally in some.items():
        told = ("-" if value is None else f"{value:.3f}" for value in tally.summary().values())
        note(f"{name:20}" + "".join(f"{one:>15}" for one in told))


if __name__ == "__main__":
    main()
