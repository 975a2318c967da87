"""Patrolling: the rounds of a memory, each with the drill that is due, one at a time or by a scheduler."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from memorepair.drilling import LEAST, DrillReport, drill
from memorepair.errors import InvalidInput
from memorepair.facade import Memory
from memorepair.facade.memory import DEFAULT_EMBEDDER
from memorepair.graphs.terms import Kind
from memorepair.housekeeping import Keeping, Patrol
from memorepair.memory.artifact import Json, State
from memorepair.memory.exchange import Progress
from memorepair.memory.values import is_number
from memorepair.memory.vectors import Embedder

_MONTH = 30 * 86_400 * 10**9


class Scheduler(Protocol):
    """What calls a function again and again; APScheduler 3 is one."""

    def add_job(
        self,
        func: Callable[[], None],
        trigger: str,
        *,
        minutes: float,
        id: str,
        max_instances: int,
        coalesce: bool,
        replace_existing: bool,
    ) -> object:
        """Call `func` as `trigger` and its options say."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One round: the patrol, and the drill on a copy where one was due and the memory is large enough.

    `undrilled` is why a drill that was due could not be made: what an embedder or the disk raised.
    """

    patrol: Patrol
    drill: DrillReport | None
    undrilled: str | None = None

    def to_json(self) -> dict[str, Json]:
        """As a JSON object."""
        return {
            **self.patrol.to_json(),
            "drill": None if self.drill is None else self.drill.to_json(),
            "undrilled": self.undrilled,
        }


def make_round(
    memory: Memory,
    occasions: Iterable[str] = (),
    *,
    keeping: Keeping | None = None,
    rate: float = 0.01,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Round:
    """Make the checks that are due, then a drill if its month is over; the drill's seed is the month.

    Parameters
    ----------
    occasions, keeping
        As `Memory.patrol` takes them.
    rate
        Share of the copy that the drill damages in each way.
    dry_run
        Say what is due, would be found and done; nothing is written, and no drill made.
    """
    patrol = memory.patrol(occasions, keeping=keeping, dry_run=dry_run, progress=progress)
    if dry_run or not patrol.drill_due or len(memory.list(kind=Kind.RECORD, state=State.ACTIVE)) < LEAST:
        return Round(patrol=patrol, drill=None)
    seed = memory.store.now() // _MONTH
    try:
        drilled = drill(
            memory.store.path, rate=rate, seed=seed, embedder=memory.store.embedder, progress=progress
        )
    except Exception as error:  # noqa: BLE001  of an embedder, a disk: the patrol is told
        return Round(patrol=patrol, drill=None, undrilled=type(error).__name__)
    return Round(patrol=patrol, drill=drilled)


def add_patrol(
    scheduler: Scheduler,
    path: str | Path,
    *,
    minutes: float = 5,
    keeping: Keeping | None = None,
    embedder: Embedder | None = DEFAULT_EMBEDDER,
    told: Callable[[Round], None] = lambda made: None,
) -> None:
    """Let a scheduler make the rounds of the memory at `path`; each opens the file, and closes it.

    Rounds that were missed are made once, and two are never under way together.

    Parameters
    ----------
    minutes
        Between two; the checks themselves know when they are due.
    embedder
        As `Memory.open` takes it.
    told
        Is given each round.

    Raises
    ------
    InvalidInput
        `minutes` is no positive number.
    """
    if not is_number(minutes, low=0) or not minutes:
        raise InvalidInput("rounds have a positive number of minutes between them", witness=minutes)

    def once() -> None:
        with Memory.open(path, create=False, embedder=embedder) as memory:
            told(make_round(memory, keeping=keeping))

    scheduler.add_job(
        once,
        "interval",
        minutes=minutes,
        id=f"memorepair {path}",
        max_instances=1,
        coalesce=True,
        replace_existing=True,
    )
