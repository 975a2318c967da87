"""Grades: who lets a remedy act."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from memorepair.errors import InvalidInput
from memorepair.memory.values import check_counts, check_numbers, check_type
from memorepair.repair.ports import Grade, Proposal, Remedy

_USUAL: Mapping[Remedy, Grade] = MappingProxyType(
    {
        Remedy.STATUS: Grade.AUTOMATIC,
        Remedy.REINDEX: Grade.AUTOMATIC,
        Remedy.COMPLETE: Grade.AUTOMATIC,
        Remedy.REEMBED: Grade.AUTOMATIC,
        Remedy.MERGE: Grade.CONFIRMED,
        Remedy.SETTLE: Grade.CONFIRMED,
        Remedy.DEMOTE: Grade.CONFIRMED,
        Remedy.REVIEW: Grade.APPROVED,
        Remedy.SCOPE: Grade.APPROVED,
        Remedy.PERSON: Grade.APPROVED,
    }
)

OTHER_MODEL = frozenset({"embedding_other_model", "embedding_other_dimension"})
"""Findings that a switch of models brings: to re-embed for them is for a person, however few they are."""

KEPT = "duplicate_kept"
"""Code of duplicates of which a person lets some stay beside each other: no rule merges them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What the keeper of a memory lets happen without being asked.

    Attributes
    ----------
    confirmed
        Remedies of grade II that a rule confirms at once; the others wait for their window.
    window_s
        Seconds in which a person may reject a remedy of grade II before it acts.
    stricter
        Remedies with a grade above their usual one.
    bulk
        Artifacts from which on re-embedding is for a person.
    least_confidence
        Of a finding, below which its remedy is for a person.
    withdraw_leaks
        From which confidence on a scope leak leaves service before a person has looked.
    """

    confirmed: frozenset[Remedy] = frozenset()
    window_s: float = 86_400.0
    stricter: Mapping[Remedy, Grade] = field(default_factory=lambda: MappingProxyType({}))
    bulk: int = 10
    least_confidence: float = 0.5
    withdraw_leaks: float = 0.9

    def __post_init__(self) -> None:
        for remedy in (*self.confirmed, *self.stricter):
            check_type(remedy, Remedy, "a policy names remedies")
        for remedy, grade in self.stricter.items():
            if not isinstance(grade, Grade) or grade < _USUAL[remedy]:
                raise InvalidInput(f"{remedy} has grade {int(_USUAL[remedy])} at least", witness=grade)
        check_numbers(self, "a policy", "window_s")
        check_counts(self, "a policy", "bulk")
        check_numbers(self, "a policy", "least_confidence", "withdraw_leaks", high=1)


def grade_of(proposal: Proposal, policy: Policy) -> Grade:
    """The greatest grade that anything about the proposal asks for."""
    grade = max(_USUAL[proposal.remedy], policy.stricter.get(proposal.remedy, Grade.AUTOMATIC))
    if proposal.confidence < policy.least_confidence or KEPT in proposal.codes:
        return Grade.APPROVED
    if proposal.remedy is Remedy.REEMBED and (
        len(proposal.keys) > policy.bulk or OTHER_MODEL & proposal.codes.keys()
    ):
        return Grade.APPROVED
    return grade
