"""Limits: when a search is to stop, whatever part of it is under way."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from memorepair.compiling import clock
from memorepair.graphs.digraph import Index

SLICE = 0.1
"""Seconds that what is under way has left when time is up."""

WATCH = "memorepair time limit"
"""Name of the thread that looks at the clock."""


def never() -> Index:
    """A flag for kernels that nothing stops."""
    return np.zeros(1, np.int32)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Limits:
    """When to stop: each holds on its own.

    Attributes
    ----------
    gap
        (bound - objective) / max(|bound|, |objective|) that is good enough.
    nodes
        Decisions at most.
    until
        `clock` at which to stop.
    stop : (1,)
        Read by kernels, which cannot ask the clock: 0, and 1 a `SLICE` after time is up, while `watched`.
    """

    gap: float
    nodes: int
    until: float = math.inf
    stop: Index = field(default_factory=never)

    @property
    def late(self) -> bool:
        """Whether time is up."""
        return bool(self.stop[0]) or clock() >= self.until

    def half(self) -> Limits:
        """The same with half of the time that is left."""
        now = clock()
        return replace(self, until=now + (self.until - now) / 2, stop=never())

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Have `stop` set in time, by a thread: a compiled kernel holds no lock that it needs.

        Where no thread can be had, the clock is looked at between the kernels alone.
        """
        ended = threading.Event()
        thread = None if self.until == math.inf else self._started(ended)
        try:
            yield
        finally:
            ended.set()
            if thread is not None:
                thread.join()

    def _started(self, ended: threading.Event) -> threading.Thread | None:
        thread = threading.Thread(target=self._watch, args=(ended,), name=WATCH, daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the system has no more threads, or the interpreter is shutting down
            return None
        return thread

    def _watch(self, ended: threading.Event) -> None:
        # The clock stands still while kernels are compiled, so it may take several looks.
        while not ended.wait(min(max(0.0, self.until + SLICE - clock()), threading.TIMEOUT_MAX)):
            if clock() >= self.until + SLICE:
                self.stop[0] = 1
                return
