"""Finding: one damage, where it is, and what speaks for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import TypeAlias

from memorepair.errors import InvalidInput
from memorepair.memory.artifact import Json, Key
from memorepair.memory.values import check_object, check_type, is_number

Measured: TypeAlias = "Mapping[str, float | int | str | bool | None]"


class Damage(StrEnum):
    """The kinds of damage a memory takes."""

    DUPLICATES = "duplicates"
    CONFLICTS = "conflicts"
    STALE = "stale"
    STRUCTURE = "structure"
    DRIFT = "drift"
    SCOPE = "scope"


class Level(IntEnum):
    """How a damage is seen: in the rows themselves, in what they mean, in what retrieval gives."""

    STRUCTURE = 1
    MEANING = 2
    RETRIEVAL = 3


def _nothing() -> Measured:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A suspicion with its reason. It quotes no content: the keys lead to it while it is served.

    Attributes
    ----------
    code
        What is wrong, such as ``content_empty``; stable, for programs.
    damage, level
        Its kind, and how it was seen.
    keys
        The artifacts concerned, in order of birth; empty where it concerns the store or a partition.
    versions
        The version of each key that was looked at: what has changed since is to be looked at again.
    evidence
        One sentence for a person.
    confidence
        Between 0 and 1; 1 where the rows themselves prove it.
    measured
        The figures behind it.
    detector
        Name of the detector.
    """

    code: str
    damage: Damage
    level: Level
    keys: tuple[Key, ...]
    evidence: str
    detector: str
    versions: tuple[int, ...] = ()
    confidence: float = 1.0
    measured: Measured = field(default_factory=_nothing)

    def __post_init__(self) -> None:
        check_type(self.keys, tuple, "the keys of a finding are a tuple")
        if len(self.versions) != len(self.keys):
            raise InvalidInput("a finding names the version of each key", witness=self.code)
        if not is_number(self.confidence, 0, 1):
            raise InvalidInput("the confidence of a finding is within 0 and 1", witness=self.confidence)
        check_object(self.measured, "what a finding has measured")
        object.__setattr__(self, "measured", MappingProxyType(dict(self.measured)))

    def to_json(self) -> dict[str, Json]:
        """As a JSON object; keys in their written form."""
        return {
            "code": self.code,
            "damage": str(self.damage),
            "level": int(self.level),
            "keys": [str(key) for key in self.keys],
            "versions": list(self.versions),
            "evidence": self.evidence,
            "confidence": self.confidence,
            "measured": dict(self.measured),
            "detector": self.detector,
        }
