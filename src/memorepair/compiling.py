"""Compiling of kernels by numba, which is loaded no earlier, outside the time that a search may take."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from time import monotonic
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R], /, signature: str | None = None) -> Callable[P, R]:
    """`function` compiled at its first call for each combination of types, or from numba's cache.

    With `signature`, the parameters' types as numba writes them, for these alone, and at once.

    A function that calls compiled ones is cached with them: after a change of one of these its own file must
    be touched too.
    """
    with _pauses.one():
        import numba

        _listen()
        try:
            return numba.njit(signature, cache=True, nogil=True)(function)
        except RuntimeError:  # no place to keep the cache
            return numba.njit(signature, nogil=True)(function)


def clock() -> float:
    """Seconds that were not spent compiling or loading kernels, by `time.monotonic`.

    So a limit of time means the same in the first call on a machine as in every other.
    """
    return monotonic() - _pauses.total()


class _Pauses:
    """How long at least one thread has been compiling, or loading what is compiled."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._open, self._began, self._ended = 0, 0.0, 0.0

    def start(self) -> None:
        with self._lock:
            if self._open == 0:
                self._began = monotonic()
            self._open += 1

    def end(self) -> None:
        with self._lock:
            self._open -= 1
            if self._open == 0:
                self._ended += monotonic() - self._began

    @contextmanager
    def one(self) -> Iterator[None]:
        self.start()
        try:
            yield
        finally:
            self.end()

    def total(self) -> float:
        with self._lock:
            return self._ended + (monotonic() - self._began if self._open else 0.0)


_pauses = _Pauses()


@cache
def _listen() -> None:
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: object) -> None:
            _pauses.start()

        def on_end(self, event: object) -> None:
            _pauses.end()

    event.register("numba:compiler_lock", Listener())
