"""Rounds: what one patrol looks at, of the checks that are due and what they lead to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from memorepair.health.finding import Finding
from memorepair.health.registry import detectors
from memorepair.health.schedule import Check, Schedule
from memorepair.housekeeping.looking import HEALTH, Looking
from memorepair.memory.sqlite import SqliteStore


def schedule_of(store: SqliteStore) -> Schedule:
    """When each check was made last."""
    last = store.notes(HEALTH).get("schedule")
    kept = last.items() if isinstance(last, dict) else ()
    return Schedule(last={name: at for name, at in kept if isinstance(at, int)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What is looked at, and what was seen already.

    Attributes
    ----------
    detectors
        Who looks.
    since
        They look at what is newer; None: at everything.
    findings
        Of retrieval and of a drift probe.
    left_out
        Why there was no probe that was due.
    """

    detectors: tuple[str, ...]
    since: int | None
    findings: tuple[Finding, ...]
    left_out: tuple[str, ...]

    @property
    def asks(self) -> bool:
        """Whether there is anything to look at or to tell."""
        return bool(self.detectors or self.findings or self.left_out)

    @classmethod
    def of(cls, looking: Looking, due: Sequence[Check], now: int, *, keep: bool) -> Self:
        """Of the checks that are due, with what the alarms of retrieval ask for.

        `keep`: write down the anchors of a model that is seen for the first time.
        """
        names = {check.name for check in due}
        raised = looking.recent_alarms(now) if "retrieval" in names else []
        # Each alarm says what to look at next.
        hinted = {name for one in raised for name in str(one.measured["next"]).split(", ")}
        asked = dict.fromkeys(name for check in due for name in check.detectors or ())
        asked |= dict.fromkeys(name for name in detectors() if name in hinted)
        probe = "drift" in hinted or "drift" in names
        drifted, unasked = looking.probe_drift(keep=keep) if probe else ([], ())
        newest = looking.store.notes(HEALTH).get("newest")
        whole = bool(hinted) or any(check.whole for check in due)
        return cls(
            detectors=tuple(asked),
            since=newest if isinstance(newest, int) and not whole else None,
            findings=(*drifted, *raised),
            left_out=unasked,
        )
