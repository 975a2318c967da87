"""The command line ``memorepair``.

Exit codes: 0 clean; 1 problems found (members still withdrawn, findings, open cases, no feasible selection);
2 bad input, nothing changed; 74 the output could not be written; 130 interrupted; 141 its reader has gone.
"""

from __future__ import annotations

import os
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
    if "--json" in sys.argv:
        _keep_stdout()
    if BEHIND.intersection(sys.argv[1:2]):
        step_back()
    app()


def _keep_stdout() -> None:
    """Standard output is for the document alone: what a library in C prints there goes to standard error."""
    try:
        ours = os.dup(sys.stdout.fileno())
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    except (AttributeError, OSError, ValueError):  # a stream is closed, or is no file
        return
    sys.stdout = os.fdopen(ours, "w", encoding=sys.stdout.encoding, errors="backslashreplace", closefd=False)
