"""Limits: how much repair there may be, whichever process makes it."""

from __future__ import annotations

from dataclasses import dataclass

from memorepair.governance.attempts import Attempts
from memorepair.memory.store import Store
from memorepair.memory.values import check_counts, check_numbers
from memorepair.repair.ports import Proposal

_SECOND = 10**9
_DAY = 86_400 * _SECOND


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Caps; beside them the store lets one repair change it at a time.

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
    slower
        How many times its usual P95 retrieval may take while repairs go on.
    """

    items: int = 500
    repairs_a_day: int = 1_000
    share_a_day: float = 0.2
    least_a_day: int = 50
    repairs_a_minute: int = 120
    slower: float = 1.5

    def __post_init__(self) -> None:
        check_counts(self, "limits", "items", "repairs_a_day", "least_a_day", "repairs_a_minute")
        check_numbers(self, "limits", "share_a_day", high=1)
        check_numbers(self, "limits", "slower", low=1)


class Meter:
    """Counts the attempts of the last two days against the limits."""

    def __init__(self, store: Store, attempts: Attempts, limits: Limits) -> None:
        self._store = store
        self._attempts = attempts
        self._limits = limits

    def refusal(self, proposal: Proposal, artifacts: int) -> str:
        """Why a repair may not begin now; empty where it may."""
        limits, now = self._limits, self._store.now()
        recent = self._attempts.within(2 * _DAY)
        allowed = max(limits.least_a_day, int(limits.share_a_day * artifacts))
        touched = sum(one.items for one in recent) + proposal.impact
        if sum(now - one.at < _DAY for one in recent) >= limits.repairs_a_day:
            return f"{limits.repairs_a_day} repairs in a day"
        if touched > allowed:
            return f"with it repairs would touch {touched} of {artifacts} artifacts in two days"
        if sum(now - one.at < 60 * _SECOND for one in recent) >= limits.repairs_a_minute:
            return f"{limits.repairs_a_minute} repairs in a minute"
        return ""
