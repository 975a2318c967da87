"""Opened: what every group of verbs works on."""

from __future__ import annotations

from memorepair.errors import InvalidInput
from memorepair.health.blockindex import BlockIndex
from memorepair.health.recording import Recorder
from memorepair.memory.connection import remove
from memorepair.memory.sqlite import SqliteStore
from memorepair.memory.store import Recovery
from memorepair.memory.values import named
from memorepair.repair.operators.registry import Operators
from memorepair.repair.pricing import Pricing
from memorepair.repair.validation import Checks
from memorepair.repair.verdicts import Verdicts

RETENTION_DAYS = 30.0
"""How long what left service is kept unless told otherwise."""

LONGEST_DAYS = 36_500.0
"""Nanoseconds are counted in 64 bits."""


class Opened:
    """An open store with what repairs it; the verbs are in the classes above."""

    def __init__(
        self,
        store: SqliteStore,
        *,
        operators: Operators,
        pricing: Pricing,
        checks: Checks | None = None,
        retention_days: float = RETENTION_DAYS,
        suspected: float | None = None,
        recovered: Recovery | None = None,
    ) -> None:
        self._store = store
        self._operators = operators
        self._pricing = pricing
        self._verdicts = Verdicts(store, operators, pricing)
        self._checks = checks or Checks()
        self._retention_days = retention_days
        self._suspected = suspected
        self._recovered = recovered or Recovery()
        self._recorder = Recorder(store)

    @property
    def store(self) -> SqliteStore:
        """The store underneath, for engines and adapters."""
        return self._store

    @property
    def recovered(self) -> Recovery:
        """What was found and done when this memory was opened."""
        return self._recovered

    @property
    def pricing(self) -> Pricing:
        """What goes into values and costs."""
        return self._pricing

    @property
    def operators(self) -> Operators:
        """What can make successors; `register` adds to it."""
        return self._operators

    def _forget_words(self) -> None:
        """After an erasure: the next whole check-up makes the index of words anew, without them."""
        remove(BlockIndex.beside(self._store.path))


def check_callable(function: object, what: str) -> None:
    """Refuse what cannot be called."""
    if not callable(function):
        raise InvalidInput(f"{what} must be callable, not {named(function)}", witness=what)
