"""Points: the places on the way of a change where a drill may strike.

Everything that changes a store passes them, and so does a repair. They cost a look at one name while nobody
watches; `memorepair.drills` watches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from memorepair.errors import InvalidInput

Watcher: TypeAlias = Callable[[str], None]
"""Is given the point; what it raises is raised there."""

BEGIN = "begin"
"""Before a transaction asks for the write lock."""

STATEMENT = "statement"
"""Before any statement that writes."""

COMMIT = "commit"
"""Before a transaction commits."""

COMMITTED = "committed"
"""After it has."""

CHECKPOINT = "checkpoint"
"""Before the log is written into the file."""

OPERATOR = "operator"
"""Before a repair calls an operator."""

MADE = "made"
"""After it has, before anybody has looked at what came of it."""

VALIDATION = "validation"
"""Before a successor is validated."""

INTENT, ACTED, SEALED = "intent", "acted", "sealed"
"""After an act's entry in the journal is written, after the act, after its seal: ``publish: intent``."""

_watcher: Watcher | None = None


def reach(point: str) -> None:
    """Pass a point."""
    if _watcher is not None:
        _watcher(point)


@contextmanager
def watched(by: Watcher) -> Iterator[None]:
    """Let `by` have every point that this process passes, in any thread.

    Raises
    ------
    InvalidInput
        Somebody watches already.
    """
    global _watcher
    if _watcher is not None:
        raise InvalidInput("points are watched already", witness=_watcher)
    _watcher = by
    try:
        yield
    finally:
        _watcher = None
