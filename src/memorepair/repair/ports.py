"""Ports: the values of a repair that nobody declared, from the proposal to what came of it.

Health makes proposals, governance admits them, the ledger keeps outcomes; repair, which carries out what was
admitted, knows none of them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from types import MappingProxyType

from memorepair.errors import InvalidInput
from memorepair.memory.artifact import Json, Key
from memorepair.memory.values import check_object, check_type, check_word, is_number, is_whole
from memorepair.repair.events import RepairEvent


class Remedy(StrEnum):
    """What can be done about a damage."""

    STATUS = "status"
    REINDEX = "reindex"
    COMPLETE = "complete"
    REEMBED = "reembed"
    MERGE = "merge"
    SETTLE = "settle"
    DEMOTE = "demote"
    REVIEW = "review"
    SCOPE = "scope"
    PERSON = "person"


class Grade(IntEnum):
    """Who lets a remedy act: nobody need be asked, a rule or a window, a person."""

    AUTOMATIC = 1
    CONFIRMED = 2
    APPROVED = 3


def _nothing() -> Mapping[str, Json]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A remedy for some artifacts as they are now.

    Attributes
    ----------
    remedy, keys, params
        Enough to work the proposal out again; no content.
    codes
        Of the findings behind it, with their number.
    event
        What it declares; None where it changes no version, or a person must say what to do.
    looked_at, fingerprint
        All the artifacts that it was worked out from, and a digest of what they are now: versions, states and
        keyed digests of their content.
    impact
        Artifacts it touches, those it would withdraw included.
    confidence
        The least of the findings'.
    why, way_back
        Sentences for a person: why this, and how it is taken back.
    cause
        What the damaged rows have in common, in words; empty where nothing.
    """

    remedy: Remedy
    keys: tuple[Key, ...]
    why: str
    way_back: str
    looked_at: tuple[Key, ...]
    fingerprint: str
    codes: Mapping[str, int]
    impact: int
    confidence: float = 1.0
    params: Mapping[str, Json] = field(default_factory=_nothing)
    event: RepairEvent | None = None
    cause: str = ""

    def __post_init__(self) -> None:
        check_type(self.remedy, Remedy, "the remedy of a proposal is a Remedy")
        check_type(self.keys, tuple, "the keys of a proposal are a tuple")
        check_word(self.fingerprint, "the fingerprint of a proposal")
        check_object(self.params, "the params of a proposal")
        check_object(self.codes, "the codes of a proposal")
        if not is_whole(self.impact, low=0) or not is_number(self.confidence, 0, 1):
            raise InvalidInput("a proposal has an impact and a confidence", witness=self.impact)

    @property
    def digest(self) -> str:
        """What an approval is bound to: the remedy, and everything it looks at, as it is now (hex)."""
        said = [self.remedy, [str(key) for key in self.keys], dict(self.params), self.fingerprint]
        return hashlib.sha256(json.dumps(said, sort_keys=True, ensure_ascii=False).encode()).hexdigest()

    def to_json(self) -> dict[str, Json]:
        """As a JSON object, without content and without the event."""
        return {
            "remedy": str(self.remedy),
            "keys": [str(key) for key in self.keys],
            "params": dict(self.params),
            "codes": dict(self.codes),
            "impact": self.impact,
            "confidence": self.confidence,
            "why": self.why,
            "way_back": self.way_back,
            "cause": self.cause,
            "digest": self.digest,
        }


class Answer(StrEnum):
    """What a gate says."""

    GO = "go"
    WAIT = "wait"
    SKIP = "skip"


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """Whether a proposal may be carried out now; `why` where it may not."""

    answer: Answer
    grade: Grade
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a proposal.

    `done` and `case` where it was carried out; `answer` and `why` of the gate where not; `failed` what an
    attempt raised. `withdrawn` artifacts left service, `left` of them have no successor.
    """

    proposal: Proposal
    grade: Grade
    answer: Answer
    why: str = ""
    done: bool = False
    case: int | None = None
    failed: str | None = None
    withdrawn: int = 0
    left: int = 0

    def to_json(self) -> dict[str, Json]:
        """As a JSON object."""
        return {
            "proposal": self.proposal.to_json(),
            "grade": int(self.grade),
            "answer": str(self.answer),
            "why": self.why,
            "done": self.done,
            "case": self.case,
            "failed": self.failed,
            "withdrawn": self.withdrawn,
            "left": self.left,
        }
