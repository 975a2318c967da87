"""Deciding: which of two contradicting memories holds, by four rules in their order."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from memorepair.health.conflict.facts import facts, of_slot
from memorepair.memory.artifact import Artifact, Source

INFERRED = {
    Source.HUMAN: 3,
    Source.SYSTEM: 3,
    Source.USER: 3,
    Source.EXTRACTION: 2,
    Source.TOOL: 2,
    Source.LOG: 1,
}
"""Rule 3: what a user or a person states outright over what a model infers, over what logs count."""

SETTLED = {
    Source.SYSTEM: 3,
    Source.HUMAN: 3,
    Source.USER: 2,
    Source.TOOL: 1,
    Source.LOG: 1,
    Source.EXTRACTION: 0,
}
"""Rule 4: configuration and rules of people over what was extracted."""


class Rule(StrEnum):
    """By what a conflict is decided."""

    SCOPE = "the more specific scene"
    NEWER = "the newer"
    CONFIDENCE = "the more certain"
    SOURCE = "the better source"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Which side holds.

    `wins` is 0 or 1, the place of the side; None where no rule decides. By `Rule.SCOPE` both stay in service:
    the specific one holds inside its scene, the general one elsewhere.
    """

    wins: int | None
    rule: Rule | None = None


def decide(one: Artifact, other: Artifact) -> Decision:
    """The first rule that tells them apart."""
    first, second = _scenes(one), _scenes(other)
    if {""} in (first, second) and first and second and not first & second:
        return Decision(wins=int(first == {""}), rule=Rule.SCOPE)
    for rule in (Rule.NEWER, Rule.CONFIDENCE, Rule.SOURCE):
        mine, yours = _score(rule, one), _score(rule, other)
        if mine != yours:
            return Decision(wins=0 if mine > yours else 1, rule=rule)
    return Decision(wins=None)


def _scenes(one: Artifact) -> set[str]:
    """Where what it states holds: by its slot, else by the patterns; an empty text is everywhere."""
    said = facts(one.content) if one.slot is None else (of_slot(one.slot),)
    return {fact.scene for fact in said}


def _score(rule: Rule, one: Artifact) -> tuple[float, float]:
    if rule is Rule.NEWER:
        since = None if one.slot is None else one.slot.valid_from
        return one.updated_at / 1e9 if since is None else since, 0.0
    if rule is Rule.SOURCE:
        return SETTLED[one.source], 0.0
    return INFERRED[one.source], 0.5 if one.confidence is None else one.confidence
