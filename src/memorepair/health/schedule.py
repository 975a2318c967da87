"""Schedule: which check is due, by how long ago it was made and by what has happened since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from memorepair.errors import InvalidInput
from memorepair.memory.artifact import Json
from memorepair.memory.values import is_whole

_SECOND = 10**9
_HOUR = 3_600 * _SECOND


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A check of the schedule.

    Attributes
    ----------
    name
        Its name in the book.
    every
        Nanoseconds between two; 0 where only an occasion calls for it.
    detectors
        Who looks; None: all.
    whole
        Looks at the whole store, not at what is new.
    """

    name: str
    every: int
    detectors: tuple[str, ...] | None
    whole: bool


STRUCTURE = ("required", "metadata", "embeddings", "provenance", "barriers", "scopes")

CHECKS = (
    Check(name="structure", every=300 * _SECOND, detectors=STRUCTURE, whole=False),
    Check(name="structure whole", every=_HOUR, detectors=STRUCTURE, whole=True),
    Check(name="duplicates new", every=300 * _SECOND, detectors=("duplicates",), whole=False),
    Check(name="duplicates whole", every=24 * _HOUR, detectors=("duplicates",), whole=True),
    Check(name="conflicts new", every=300 * _SECOND, detectors=("conflicts",), whole=False),
    Check(name="conflicts daily", every=24 * _HOUR, detectors=("conflicts",), whole=False),
    Check(name="staleness", every=24 * _HOUR, detectors=("staleness",), whole=True),
    Check(name="retrieval", every=_HOUR, detectors=(), whole=False),
    Check(name="drift", every=0, detectors=(), whole=False),
    Check(name="drill", every=30 * 24 * _HOUR, detectors=(), whole=False),
)
"""What is looked at how often (structure, duplicates, conflicts, retrieval, drift, drills)."""

OCCASIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "import": ("structure whole", "duplicates whole", "conflicts daily"),
        "upgrade": ("structure whole", "drift"),
        "model": ("structure whole", "drift"),
        "permission": ("structure whole",),
    }
)
"""What is looked at out of turn where most damage happens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When each check was last made (nanoseconds since the epoch); one never made is due."""

    last: Mapping[str, int]
    checks: tuple[Check, ...] = CHECKS

    def __post_init__(self) -> None:
        for name, at in self.last.items():
            if not is_whole(at, low=0):
                raise InvalidInput(f"check {name} was made at no time", witness=at)

    def due(self, now: int, occasions: Iterable[str] = ()) -> tuple[Check, ...]:
        """What is to be made now, in the order of the schedule; a whole check stands for the one of the new.

        Raises
        ------
        InvalidInput
            There is no such occasion.
        """
        forced: set[str] = set()
        for occasion in occasions:
            if occasion not in OCCASIONS:
                known = ", ".join(OCCASIONS)
                raise InvalidInput(f"no occasion {occasion!r}: one of {known}", witness=occasion)
            forced |= set(OCCASIONS[occasion])
        due = [
            check
            for check in self.checks
            if check.name in forced
            or (check.every and now - self.last.get(check.name, -check.every) >= check.every)
        ]
        whole = {name for check in due if check.whole for name in check.detectors or ()}
        return tuple(
            check
            for check in due
            if check.whole or not check.detectors or not whole.issuperset(check.detectors)
        )

    def made(self, checks: Iterable[Check], now: int) -> dict[str, Json]:
        """The book after these checks; a whole check was one of the new as well."""
        whole = {name for check in checks if check.whole for name in check.detectors or ()}
        names = {check.name for check in checks}
        names |= {
            check.name
            for check in self.checks
            if check.detectors and not check.whole and whole.issuperset(check.detectors)
        }
        return {**self.last, **dict.fromkeys(sorted(names), now)}
