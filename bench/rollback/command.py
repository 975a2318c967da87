"""The command line of a bench over the recorded tau-bench runs."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from bench.registry import machine, note, save


def print_figures(
    name: str, about: str | None, figures_of: Callable[[Path, int | None], Mapping[str, object]]
) -> None:
    """Run bench `name` on the folder that is asked for, on five runs or on all, and print its figures."""
    parser = argparse.ArgumentParser(prog=f"python -m bench.rollback.{name}", description=about)
    data = Path(os.environ.get("MEMOREPAIR_DATA", "data"))
    parser.add_argument("--data", type=Path, default=data, help="the folder that holds traces-tau-bench")
    parser.add_argument("--json", action="store_true", help="the last line is one JSON object")
    parser.add_argument("--quick", action="store_true", help="five runs")
    parser.add_argument("--save", action="store_true", help="write the figures to bench/results")
    given = parser.parse_args()
    figures = figures_of(given.data / "traces-tau-bench", 5 if given.quick else None)
    if given.save:
        note(f"written: {save(f'rollback-{name}', {'machine': machine(), 'figures': figures}).name}")
    if given.json:
        print(json.dumps(figures))
    else:
        for figure, value in figures.items():
            print(figure, value)
