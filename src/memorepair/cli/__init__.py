"""The command line ``memorepair``.

Exit codes: 0 clean; 1 problems found (members still withdrawn, findings, open cases, no feasible selection);
2 bad input, nothing changed; 74 the output could not be written; 130 interrupted; 141 its reader has gone.
"""

from __future__ import annotations

import sys
from io import TextIOWrapper

from memorepair.cli.app import app
from memorepair.cli.priority import BEHIND, step_back

__all__ = ["app", "main"]


def main() -> None:
    """Run ``memorepair`` on the arguments of this process."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal without UTF-8 is no reason to fail
    if BEHIND.intersection(sys.argv[1:2]):
        step_back()
    app()
