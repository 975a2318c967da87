"""Reports: what a check-up or a patrol tells of itself."""

from __future__ import annotations

from dataclasses import dataclass

from memorepair.health.checkup import CheckUp
from memorepair.health.diagnose import Diagnosis
from memorepair.ledger import CaseRecord
from memorepair.memory.artifact import Json
from memorepair.repair.ports import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One check-up with what was done about it.

    Attributes
    ----------
    checkup
        The first look.
    diagnosis
        Of it.
    outcomes
        Of every remedy, in the order they were weighed; empty where nothing was to be repaired.
    record
        What the ledger keeps; None of a dry run.
    """

    checkup: CheckUp
    diagnosis: Diagnosis
    outcomes: tuple[Outcome, ...] = ()
    record: CaseRecord | None = None

    def to_json(self) -> dict[str, Json]:
        """As a JSON object."""
        return {
            "checkup": self.checkup.to_json(),
            "diagnosis": self.diagnosis.to_json(),
            "outcomes": [one.to_json() for one in self.outcomes],
            "record": None if self.record is None else self.record.to_json(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Patrol:
    """One round: the checks that were due, what came of them, and of what had waited for its time."""

    checks: tuple[str, ...]
    report: Report | None
    resumed: tuple[Outcome, ...] = ()
    drill_due: bool = False

    def to_json(self) -> dict[str, Json]:
        """As a JSON object."""
        return {
            "checks": list(self.checks),
            "report": None if self.report is None else self.report.to_json(),
            "resumed": [one.to_json() for one in self.resumed],
            "drill_due": self.drill_due,
        }
