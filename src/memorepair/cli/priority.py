"""Priority: work that nobody waits for lets everybody else have the processor first."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

NICE = 10
"""The niceness: a tenth of the processor where somebody else wants it, all of it otherwise."""

BEHIND = frozenset({"checkup", "patrol", "drill"})
"""Commands that step back: retrieval comes first."""


def step_back() -> None:
    """Give this process a lower priority, for good; on Windows nothing is done."""
    if sys.platform == "win32":
        return
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, max(NICE, os.getpriority(os.PRIO_PROCESS, 0)))
