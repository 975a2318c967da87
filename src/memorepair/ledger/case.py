"""Case record: one check-up with what was done about its findings, without content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Self, TypeAlias

from memorepair.errors import CorruptStore, InvalidInput, UnknownId
from memorepair.memory.artifact import Json
from memorepair.memory.store import Store
from memorepair.memory.values import is_number
from memorepair.repair.ports import Answer, Grade, Outcome

BOOK = "ledger"
KEPT_DAYS = 30.0
"""How long a record is kept at least."""

_DAY = 86_400 * 10**9

Figures: TypeAlias = "Mapping[str, float]"
"""Key figures by name, in the unit that the name says."""

PREVENTION: Mapping[str, str] = MappingProxyType(
    {
        "import batch": "check imports before they are written: a dry run, schemas, a check-up right after",
        "model version": "switch models in two spaces, and only after an alignment check",
        "writer": "give this writer slots, sources and schemas, and look at what it writes",
        "window": "look at what ran in that hour: an upgrade, a migration, a change of permissions",
    }
)
"""What would have kept a damage away, by what caused it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRecord:
    """What a check-up found and what came of it.

    Attributes
    ----------
    id
        Number, from 1.
    at
        Nanoseconds since the epoch.
    artifacts
        How many were looked at.
    found
        Findings by damage, by code.
    outcomes
        What came of each remedy (JSON of `Outcome`).
    before, after
        Key figures; after is the same where nothing was done.
    waiting
        Ids of what waits for a person.
    causes
        In words.
    prevention
        What would have kept the damage away.
    left_out
        What was not looked at.
    """

    id: int
    at: int
    artifacts: int
    found: Mapping[str, Mapping[str, int]]
    outcomes: tuple[Mapping[str, Json], ...]
    before: Figures
    after: Figures
    waiting: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()
    prevention: tuple[str, ...] = ()
    left_out: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        for figures in (self.before, self.after):
            for name, value in figures.items():
                if not is_number(value):
                    raise InvalidInput(f"figure {name} is no finite number", witness=value)

    @property
    def findings(self) -> int:
        """How many in all."""
        return sum(sum(codes.values()) for codes in self.found.values())

    def share(self) -> dict[str, int]:
        """How many remedies were carried out by themselves, by a rule or a person, wait, failed."""
        counts: Counter[str] = Counter()
        for one in self.outcomes:
            if one.get("failed"):
                counts["failed"] += 1
            elif one.get("done"):
                counts["automatic" if one.get("grade") == Grade.AUTOMATIC else "approved"] += 1
            elif one.get("answer") == Answer.WAIT:
                counts["waiting"] += 1
            else:
                counts["skipped"] += 1
        return {name: counts[name] for name in ("automatic", "approved", "waiting", "skipped", "failed")}

    def to_json(self) -> dict[str, Json]:
        """As a JSON object that `from_json` reads."""
        return {
            "id": self.id,
            "at": self.at,
            "artifacts": self.artifacts,
            "found": {damage: dict(codes) for damage, codes in self.found.items()},
            "outcomes": [dict(one) for one in self.outcomes],
            "before": dict(self.before),
            "after": dict(self.after),
            "waiting": list(self.waiting),
            "causes": list(self.causes),
            "prevention": list(self.prevention),
            "left_out": list(self.left_out),
            "share": dict(self.share()),
        }

    @classmethod
    def from_json(cls, read: Json) -> Self:
        """From what `to_json` gave; CorruptStore where it is something else."""
        match read:
            case {
                "id": int(id),
                "at": int(at),
                "artifacts": int(artifacts),
                "found": dict(found),
                "outcomes": list(outcomes),
                "before": dict(before),
                "after": dict(after),
                "waiting": list(waiting),
                "causes": list(causes),
                "prevention": list(prevention),
                "left_out": list(left_out),
            }:
                return cls(
                    id=id,
                    at=at,
                    artifacts=artifacts,
                    found={
                        damage: {code: n for code, n in codes.items() if isinstance(n, int)}
                        for damage, codes in found.items()
                        if isinstance(codes, dict)
                    },
                    outcomes=tuple(one for one in outcomes if isinstance(one, dict)),
                    before=_figures(before),
                    after=_figures(after),
                    waiting=tuple(map(str, waiting)),
                    causes=tuple(map(str, causes)),
                    prevention=tuple(map(str, prevention)),
                    left_out=tuple(map(str, left_out)),
                )
            case _:
                raise CorruptStore("the ledger holds something that is no record", witness=str(read)[:200])


def _figures(read: Mapping[str, Json]) -> dict[str, float]:
    return {name: value for name, value in read.items() if isinstance(value, int | float)}


def prevention_of(causes: Mapping[str, str]) -> tuple[str, ...]:
    """What would have kept these causes (kind -> words) from doing damage."""
    return tuple(PREVENTION[what] for what in causes if what in PREVENTION)


class Ledger:
    """The records of a store, oldest first; between two of them it keeps what comes of proposals."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._outcomes: list[Outcome] = []

    def record(self, outcome: Outcome) -> None:
        """Note what came of a remedy, for the record that is closed next."""
        self._outcomes.append(outcome)

    @property
    def open(self) -> tuple[Outcome, ...]:
        """What has been noted since the last record."""
        return tuple(self._outcomes)

    def close(
        self,
        *,
        artifacts: int,
        found: Mapping[str, Mapping[str, int]],
        before: Figures,
        after: Figures,
        waiting: tuple[str, ...],
        causes: tuple[str, ...],
        prevention: tuple[str, ...],
        left_out: tuple[str, ...] = (),
    ) -> CaseRecord:
        """Keep a record of what was noted."""
        record = CaseRecord(
            id=max(map(int, self._store.notes(BOOK)), default=0) + 1,
            at=self._store.now(),
            artifacts=artifacts,
            found=found,
            outcomes=tuple(one.to_json() for one in self._outcomes),
            before=before,
            after=after,
            waiting=waiting,
            causes=causes,
            prevention=prevention,
            left_out=left_out,
        )
        self._store.note(BOOK, {f"{record.id:09d}": record.to_json()})
        self._outcomes = []
        return record

    def records(self) -> list[CaseRecord]:
        """All that are kept, oldest first."""
        return [CaseRecord.from_json(note) for note in self._store.notes(BOOK).values()]

    def get(self, id: int) -> CaseRecord:
        """One record.

        Raises
        ------
        UnknownId
        """
        note = self._store.notes(BOOK).get(f"{id:09d}")
        if note is None:
            raise UnknownId(f"the ledger has no record {id}", witness=id)
        return CaseRecord.from_json(note)

    def forget(self, days: float = KEPT_DAYS) -> int:
        """Drop records older than so many days, never younger than `KEPT_DAYS`; how many."""
        if not is_number(days, low=KEPT_DAYS):
            raise InvalidInput(f"records are kept {KEPT_DAYS:g} days at least", witness=days)
        before = self._store.now() - int(days * _DAY)
        old = [record for record in self.records() if record.at < before]
        if old:
            self._store.note(BOOK, {f"{record.id:09d}": None for record in old})
        return len(old)
