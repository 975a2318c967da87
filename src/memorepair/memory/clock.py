"""Clock: the time of an act, also where the caller's own clock fails."""

from __future__ import annotations

import time
from collections.abc import Callable

from memorepair.memory.values import is_whole


def steady(clock: Callable[[], int]) -> Callable[[], int]:
    """The clock, in whose place the system's stands wherever it raises or tells no time.

    No withdrawal waits for a clock: what is wrong leaves service, if need be at a time read elsewhere.
    """

    def now() -> int:
        try:
            at = clock()
        except Exception:  # noqa: BLE001  whatever a caller's clock raises
            return time.time_ns()
        return at if is_whole(at, low=0) else time.time_ns()

    return now
