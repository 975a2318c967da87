"""The bench that kills a memory's whole life finds no law broken, by some of its deaths."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path


def test_no_death_exposes_loses_or_blocks_anything() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench.crash", "--quick", "--trials", "8", "--json"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert list(told) == ["trials", "points", "exposed", "lost", "stuck"]
    assert told["points"] > 30
    assert (told["trials"], told["exposed"], told["lost"], told["stuck"]) == (8, 0, 0, 0)
