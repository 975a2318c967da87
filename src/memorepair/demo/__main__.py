"""``python -m memorepair.demo [--out DIR] [--json]``."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path

from memorepair.demo import run, show
from memorepair.errors import MemoRepairError


def main() -> int:
    """Run the demo; 0 if all of it is sound, 1 if not, 2 on bad input."""
    parser = ArgumentParser(prog="python -m memorepair.demo", description=main.__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/demo"), help="folder for the pictures")
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    chosen = parser.parse_args()
    try:
        tour = run(chosen.out)
    except MemoRepairError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    if chosen.json:
        sys.stdout.write(json.dumps(tour.to_json()) + "\n")
    else:
        show(tour)
    return 0 if tour.sound else 1


if __name__ == "__main__":
    sys.exit(main())
