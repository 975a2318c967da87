"""Drills: faults put on purpose at any point of a change.

`rehearse` lists the points an action passes; `striking` deals a blow at one of them. So every crash point of
an action can be tried, whatever the action is:

>>> for stop in rehearse(lambda: memory.repair(case)):      # doctest: +SKIP
...     with striking(stop, fail):
...         memory.repair(case)

Operators and validators stand at the points ``operator``, ``made`` and ``validation``.
"""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, TypeAlias

from memorepair.errors import InvalidInput
from memorepair.memory.points import watched

Blow: TypeAlias = Callable[[], NoReturn]


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Stop:
    """The `nth` time, from 1, that an action passes a point."""

    point: str
    nth: int


class Struck(BaseException):
    """Stands for the end of the process where that goes on: no handler of errors takes it for one."""


@dataclass(slots=True)
class Strike:
    """Whether the blow has fallen."""

    fallen: bool = False


def rehearse(action: Callable[[], object]) -> tuple[Stop, ...]:
    """Run an action without a fault; the stops it passes, in order."""
    passed: list[Stop] = []
    times: Counter[str] = Counter()

    def note(point: str) -> None:
        times[point] += 1
        passed.append(Stop(point=point, nth=times[point]))

    with watched(note):
        action()
    return tuple(passed)


@contextmanager
def striking(stop: Stop, blow: Blow) -> Iterator[Strike]:
    """Deal the blow when the stop is reached inside the block; the block ends with what the blow raises.

    Raises
    ------
    InvalidInput
        Another drill is on.
    """
    strike = Strike()
    left = stop.nth

    def wait(point: str) -> None:
        nonlocal left
        if point == stop.point and not strike.fallen:
            left -= 1
            if not left:
                strike.fallen = True
                blow()

    with watched(wait):
        yield strike


# blows -------------------------------------------------------------------------------------------------


def kill() -> NoReturn:
    """End this process at once, as a power cut or the system would: nothing is cleaned up."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise Struck  # never reached


def fail() -> NoReturn:
    """Raise `Struck`: the process goes on, without the action."""
    raise Struck


def fill() -> NoReturn:
    """Raise what SQLite raises on a full disk."""
    raise _sqlite("database or disk is full", sqlite3.SQLITE_FULL)


def lock_out() -> NoReturn:
    """Raise what SQLite raises when another process holds the lock for longer than it waits."""
    raise _sqlite("database is locked", sqlite3.SQLITE_BUSY)


def _sqlite(message: str, code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError(message)
    error.sqlite_errorcode = code
    return error


# surroundings ------------------------------------------------------------------------------------------


@contextmanager
def no_room(size: int) -> Iterator[None]:
    """No file of this process grows beyond `size` bytes inside the block: the system refuses the writes.

    Raises
    ------
    InvalidInput
        A negative size.
    """
    if size < 0:
        raise InvalidInput("a size is not negative", witness=size)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))  # Python ignores the signal, so writes fail
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def held(path: Path) -> Iterator[sqlite3.Connection]:
    """Another writer holds the file at `path` inside the block; to commit the connection lets go earlier."""
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield other
