"""Limits: how much repair there may be, kept in the store so that a restart forgets nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from memorepair.errors import InvalidInput
from memorepair.memory.artifact import Json
from memorepair.memory.store import Store
from memorepair.memory.values import is_number, is_whole
from memorepair.repair.ports import Proposal

BOOK = "limits"

_SECOND = 10**9
_DAY = 86_400 * _SECOND


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Caps.

    Attributes
    ----------
    items
        Artifacts that one repair may touch; above, a person is asked.
    repairs_a_day
        Repairs begun in any 24 hours.
    share_a_day, least_a_day
        Share of the artifacts that repairs may touch in any 48 hours before the next one waits, and the
        number that is always allowed.
    repairs_a_minute
        Rate: what is beyond waits.
    at_once
        Repairs under way; the store's lock lets one change it at a time.
    slower
        How many times its usual P95 retrieval may take while repairs go on.
    """

    items: int = 500
    repairs_a_day: int = 1_000
    share_a_day: float = 0.2
    least_a_day: int = 50
    repairs_a_minute: int = 120
    at_once: int = 1
    slower: float = 1.5

    def __post_init__(self) -> None:
        for count in (self.items, self.repairs_a_day, self.least_a_day, self.repairs_a_minute, self.at_once):
            if not is_whole(count, low=1):
                raise InvalidInput("a limit is a whole number from 1", witness=count)
        if not is_number(self.share_a_day, 0, 1) or not is_number(self.slower, low=1):
            raise InvalidInput("a share is within 0 and 1, a slowdown from 1", witness=self.share_a_day)


class Meter:
    """Counts the repairs of the last two days against the limits."""

    def __init__(self, store: Store, limits: Limits, load: Callable[[], float] | None = None) -> None:
        self._store = store
        self._limits = limits
        self._load = load
        self._begun = _read(store.notes(BOOK).get("begun"))

    def refusal(self, proposal: Proposal, artifacts: int) -> str:
        """Why a repair may not begin now; empty where it may."""
        limits, now = self._limits, self._store.now()
        recent = [(at, items) for at, items in self._begun if now - at < 2 * _DAY]
        allowed = max(limits.least_a_day, int(limits.share_a_day * artifacts))
        touched = sum(items for _, items in recent) + proposal.impact
        if sum(now - at < _DAY for at, _ in recent) >= limits.repairs_a_day:
            return f"{limits.repairs_a_day} repairs in a day"
        if touched > allowed:
            return f"with it repairs would touch {touched} of {artifacts} artifacts in two days"
        if sum(now - at < 60 * _SECOND for at, _ in recent) >= limits.repairs_a_minute:
            return f"{limits.repairs_a_minute} repairs in a minute"
        if self._load is not None and (slower := self._load()) > limits.slower:
            return f"retrieval takes {slower:.2g} times what it usually does"
        return ""

    def begin(self, proposal: Proposal) -> None:
        """Count a repair, before it acts."""
        now = self._store.now()
        self._begun = [(at, items) for at, items in self._begun if now - at < 2 * _DAY]
        self._begun.append((now, proposal.impact))
        self._store.note(BOOK, {"begun": [list[Json](one) for one in self._begun]})


def _read(stored: Json) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for one in stored if isinstance(stored, list) else []:
        match one:
            case [int(at), int(items)]:
                found.append((at, items))
            case _:
                continue
    return found
