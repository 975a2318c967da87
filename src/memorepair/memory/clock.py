"""Clock: the time of an act, also where the caller's own clock fails."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from memorepair.memory.values import is_whole, named

logger = logging.getLogger(__name__)


def steady(clock: Callable[[], int]) -> Callable[[], int]:
    """The clock, in whose place the system's stands wherever it raises or tells no time.

    No withdrawal waits for a clock: what is wrong leaves service, if need be at a time read elsewhere.
    """

    def now() -> int:
        try:
            at = clock()
        except Exception as error:  # noqa: BLE001  whatever a caller's clock raises: it is told, the act goes on
            logger.warning("the clock has raised %s; the system's tells the time", type(error).__name__)
            return time.time_ns()
        if not is_whole(at, low=0):
            logger.warning("the clock gives no time but %s; the system's tells it", named(at))
            return time.time_ns()
        return at

    return now
