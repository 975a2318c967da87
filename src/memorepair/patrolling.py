"""Patrolling: the rounds of a memory, each with the drill that is due, one at a time or by a scheduler."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from memorepair.drilling import LEAST, DrillReport, drill
from memorepair.errors import InvalidInput
from memorepair.facade import Memory
from memorepair.graphs.terms import Kind
from memorepair.housekeeping import Keeping, Patrol
from memorepair.memory.artifact import Json, State
from memorepair.memory.exchange import Progress
from memorepair.memory.values import is_number

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
    """One round: the patrol, and the drill on a copy where one was due and the memory is large enough."""

    patrol: Patrol
    drill: DrillReport | None

    def to_json(self) -> dict[str, Json]:
        """As a JSON object."""
        return {
            **self.patrol.to_json(),
            "drill": None if self.drill is None else self.drill.to_json(),
        }


def make_round(
    memory: Memory,
    occasions: Iterable[str] = (),
    *,
    keeping: Keeping | None = None,
    rate: float = 0.01,
    progress: Progress | None = None,
) -> Round:
    """Make the checks that are due, then a drill if its month is over; the drill's seed is the month.

    Parameters
    ----------
    occasions, keeping
        As `Memory.patrol` takes them.
    rate
        Share of the copy that the drill damages in each way.
    """
    patrol = memory.patrol(occasions, keeping=keeping, progress=progress)
    drilled = None
    if patrol.drill_due and len(memory.list(kind=Kind.RECORD, state=State.ACTIVE)) >= LEAST:
        seed = memory.store.now() // _MONTH
        drilled = drill(
            memory.store.path, rate=rate, seed=seed, embedder=memory.store.embedder, progress=progress
        )
    return Round(patrol=patrol, drill=drilled)


def add_patrol(
    scheduler: Scheduler,
    path: str | Path,
    *,
    minutes: float = 5,
    keeping: Keeping | None = None,
    told: Callable[[Round], None] = lambda made: None,
) -> None:
    """Let a scheduler make the rounds of the memory at `path`; each opens the file, and closes it.

    Rounds that were missed are made once, and two are never under way together.

    Parameters
    ----------
    minutes
        Between two; the checks themselves know when they are due.
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
        with Memory.open(path, create=False) as memory:
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
