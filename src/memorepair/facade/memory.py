"""Memory: the verbs users call, over one open store."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from memorepair.errors import InvalidInput
from memorepair.facade.base import LONGEST_DAYS, RETENTION_DAYS, check_callable
from memorepair.facade.events import Events
from memorepair.facade.keeping import Keeping
from memorepair.facade.provenance import Provenance
from memorepair.facade.reading import Reading
from memorepair.facade.removing import Removing
from memorepair.facade.repairing import Repairing
from memorepair.facade.running import Running
from memorepair.facade.vectors import Vectors
from memorepair.facade.writing import Writing
from memorepair.memory.extraction import Extractor
from memorepair.memory.sqlite import SqliteStore
from memorepair.memory.values import check_flags, check_type, is_number
from memorepair.memory.vectors import Embedder, HashedNgrams
from memorepair.repair.checks.check import Check, Context
from memorepair.repair.operators.operator import Operator
from memorepair.repair.operators.regen import Generator
from memorepair.repair.operators.registry import Operators
from memorepair.repair.pricing import Pricing
from memorepair.repair.validation import Checks

DEFAULT_EMBEDDER = HashedNgrams()
"""What makes vectors unless told otherwise."""


class Memory(Writing, Reading, Events, Provenance, Repairing, Keeping, Running, Removing, Vectors):
    """A memory whose derived parts can be withdrawn, repaired and republished.

    Every verb names artifacts by `Key` or its written form ``user/42::home``, cases by `Case` or number.
    Use it as a context manager, or call `close`.

    Examples
    --------
    >>> import memorepair as mr
    >>> with mr.Memory.open("agent.db") as memory:
    ...     home = memory.record("Lives in Paris", scope=("user", "42"))
    ...     with memory.deriving(kind="summary", operator="summarise", scope=("user", "42")) as d:
    ...         profile = d.write("Based in " + d.read(home).content.removeprefix("Lives in "))
    ...     case = memory.correct(home, "Lives in Lyon", reason="moved", actor="user:42")
    ...     report = memory.repair(case)
    ...     memory.get(profile).content
    'Lives in Lyon'
    """

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        create: bool = True,
        readonly: bool = False,
        clock: Callable[[], int] = time.time_ns,
        operators: Iterable[Operator] = (),
        generator: Generator | None = None,
        pricing: Pricing | None = None,
        checks: Iterable[Check[Context]] = (),
        retention_days: float = RETENTION_DAYS,
        embedder: Embedder | None = DEFAULT_EMBEDDER,
        vector_index: bool = False,
        extractor: Extractor | None = None,
        suspected: float | None = None,
    ) -> Self:
        """Open the memory in the file `path`, made if it is not there and `create` holds.

        A file is needed: the log, the lock and the key lie beside it. What a repair left behind whose process
        died is taken back, and its case is open again; an erasure that was cut off is finished. The barrier
        stands meanwhile. `recovered` tells what was found.

        Parameters
        ----------
        readonly
            Write nothing, neither uses nor what is taken back; so is a file that this process may not write.
        clock
            Nanoseconds since the epoch.
        operators
            Registered beside the built-in ones; packages bring more by entry point ``memorepair.operators``.
        generator
            Writes regenerated summaries and prompt skills; the embedded extractive one by default.
        pricing
            Values and costs of candidates; the defaults need no thought.
        checks
            What successors must pass beside the built-in checks; see `check`. Packages bring more by entry
            point ``memorepair.checks``.
        retention_days
            `prune` never removes what left service less than so many days ago.
        embedder
            Makes a vector of everything written from now on, for `search` by vector; hashed n-grams unless
            given, none with None. What an embedder of another model or revision made is not compared with it.
        vector_index
            Keep an index of the vectors of large scopes beside the file and search by it: faster, not exact.
        extractor
            Gives a slot to what is recorded, derived or ingested without one, by its text (see `Extractor`).
        suspected
            The policy on influence arcs that nobody recorded: from which probability on every event follows
            them (see `delete`); None follows recorded ones alone.

        Raises
        ------
        StoreError
            The file is damaged, foreign, of a newer schema, or missing; it is left as it was.
        InvalidInput
            An argument breaks the contract: a path that is no file's, a negative retention.
        """
        check_flags(create=create, readonly=readonly, vector_index=vector_index)
        if not is_number(retention_days, 0, LONGEST_DAYS):
            raise InvalidInput("a retention is a number of days, not negative", witness=retention_days)
        if suspected is not None and not is_number(suspected, 0, 1):
            raise InvalidInput("suspected is a probability", witness=suspected)
        check_type(pricing, Pricing | None, "the pricing is a Pricing")
        check_callable(clock, "the clock")
        if generator is not None:
            check_callable(getattr(generator, "generate", None), "the generate of a generator")
        if extractor is not None:
            check_callable(extractor, "the extractor")
        check_type(operators, Iterable, "the operators are an iterable of Operator")
        check_type(checks, Iterable, "the checks are an iterable of Check")
        judges = Checks(checks)
        registry = Operators.default(generator)
        for operator in operators:
            registry.register(operator)
        store = SqliteStore.open(
            path,
            create=create,
            clock=clock,
            readonly=readonly,
            embedder=embedder,
            vector_index=vector_index,
            extractor=extractor,
        )
        try:
            recovered = store.recover()
        except BaseException:
            store.close()
            raise
        return cls(
            store,
            operators=registry,
            pricing=pricing or Pricing(),
            checks=judges,
            retention_days=retention_days,
            suspected=suspected,
            recovered=recovered,
        )

    def close(self) -> None:
        """Write what is buffered, close the file."""
        try:
            self._recorder.flush()
        finally:
            self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
