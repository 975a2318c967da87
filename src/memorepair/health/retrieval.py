"""Retrieval: what searches give, by partition and hour, and the alarms that its figures raise.

What is recorded holds no content: numbers, and which of the hits say the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from memorepair.errors import InvalidInput
from memorepair.health.finding import Damage, Finding, Level
from memorepair.memory.artifact import Hit, Json, Scope, check_scope
from memorepair.memory.values import check_counts, check_numbers, is_number, is_whole

HOUR = 3_600 * 10**9
"""Nanoseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """One search as it was served.

    Attributes
    ----------
    at
        Nanoseconds since the epoch.
    scope
        The partition.
    seconds
        How long it took.
    similarity
        Mean cosine of what it gave; None for a search by words, or without a hit.
    hits
        How many it gave.
    repeated
        How many of them say what an earlier hit says.
    foreign
        How many belong to a scene or project that is over.
    """

    at: int
    scope: Scope
    seconds: float
    similarity: float | None = None
    hits: int = 0
    repeated: int = 0
    foreign: int = 0

    def __post_init__(self) -> None:
        check_scope(self.scope)
        if not is_whole(self.at, low=0) or not is_number(self.seconds, low=0):
            raise InvalidInput("a recall has a time and a duration", witness=(self.at, self.seconds))
        if self.similarity is not None and not is_number(self.similarity, -1, 1):
            raise InvalidInput("a similarity is within -1 and 1", witness=self.similarity)
        for part in (self.repeated, self.foreign):
            if not is_whole(self.hits, low=0) or not is_whole(part, low=0) or part > self.hits:
                raise InvalidInput("a part of the hits is no more than all", witness=(part, self.hits))

    @classmethod
    def of(
        cls,
        hits: Sequence[Hit],
        *,
        at: int,
        scope: Scope,
        seconds: float,
        by_vector: bool,
        over: frozenset[str] = frozenset(),
    ) -> Recall:
        """What a search gave; `over` names scenes that have ended. O(hits x characters)."""
        from memorepair.health.wording import wording

        said = [wording(hit.artifact.content).exact for hit in hits]
        scenes = [hit.artifact.slot.scene if hit.artifact.slot is not None else None for hit in hits]
        return cls(
            at=at,
            scope=scope,
            seconds=seconds,
            similarity=float(np.mean([hit.score for hit in hits])) if hits and by_vector else None,
            hits=len(hits),
            repeated=len(said) - len(set(said)),
            foreign=sum(scene in over for scene in scenes),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """What a user did with a memory or a suggestion: `accepted`, or edited, deleted, declined."""

    at: int
    scope: Scope
    accepted: bool

    def __post_init__(self) -> None:
        check_scope(self.scope)
        if not is_whole(self.at, low=0):
            raise InvalidInput("feedback has a time", witness=self.at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hour:
    """Figures of one partition in one hour; None where nothing was measured.

    Attributes
    ----------
    scope, hour
        The partition; hours since the epoch.
    searches
        How many.
    similarity
        Mean of the means.
    p95
        Seconds that 95 % of the searches took at most.
    repeated, foreign
        Share of the hits that repeat another, that belong to what is over.
    rejected
        Share of the feedback that edits, deletes or declines.
    """

    scope: Scope
    hour: int
    searches: int
    similarity: float | None
    p95: float | None
    repeated: float | None
    foreign: float | None
    rejected: float | None

    def to_json(self) -> dict[str, Json]:
        """As a JSON object."""
        return {
            "scope": list(self.scope),
            "hour": self.hour,
            "searches": self.searches,
            "similarity": self.similarity,
            "p95": self.p95,
            "repeated": self.repeated,
            "foreign": self.foreign,
            "rejected": self.rejected,
        }


def by_hour(recalls: Sequence[Recall], feedback: Sequence[Feedback] = ()) -> list[Hour]:
    """Figures of each partition and hour, in this order; O(n log n)."""
    searches: defaultdict[tuple[Scope, int], list[Recall]] = defaultdict(list)
    said: defaultdict[tuple[Scope, int], list[bool]] = defaultdict(list)
    for recall in recalls:
        searches[recall.scope, recall.at // HOUR].append(recall)
    for one in feedback:
        said[one.scope, one.at // HOUR].append(one.accepted)
    return [
        _hour(scope, hour, searches[scope, hour], said[scope, hour])
        for scope, hour in sorted({*searches, *said})
    ]


def _hour(scope: Scope, hour: int, recalls: list[Recall], said: list[bool]) -> Hour:
    similar = [recall.similarity for recall in recalls if recall.similarity is not None]
    hits = sum(recall.hits for recall in recalls)
    return Hour(
        scope=scope,
        hour=hour,
        searches=len(recalls),
        similarity=float(np.mean(similar)) if similar else None,
        p95=float(np.percentile([recall.seconds for recall in recalls], 95)) if recalls else None,
        repeated=sum(recall.repeated for recall in recalls) / hits if hits else None,
        foreign=sum(recall.foreign for recall in recalls) / hits if hits else None,
        rejected=said.count(False) / len(said) if said else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When a figure raises an alarm; the usual is the median of the partition's earlier hours.

    Attributes
    ----------
    similarity_drop
        By how much the mean similarity may fall below the usual.
    latency_jump
        How many times the usual P95.
    repeated
        Share of hits that repeat others.
    rejected_rise
        By how much the share of rejections may rise above the usual.
    foreign
        Share of hits that belong to what is over.
    hours
        Earlier hours that make a usual.
    searches
        Searches, or feedback, without which an hour says nothing.
    """

    similarity_drop: float = 0.1
    latency_jump: float = 2.0
    repeated: float = 0.5
    rejected_rise: float = 0.2
    foreign: float = 0.5
    hours: int = 3
    searches: int = 5

    def __post_init__(self) -> None:
        shares = ("similarity_drop", "latency_jump", "repeated", "rejected_rise", "foreign")
        check_numbers(self, "alarms", *shares)
        check_counts(self, "alarms", "hours", "searches")


NEXT: Mapping[str, tuple[Damage, str, tuple[str, ...]]] = MappingProxyType(
    {
        "similarity_dropped": (
            Damage.DRIFT,
            "what is recalled fits less than usual: a damaged index, or embedding drift",
            ("embeddings", "drift"),
        ),
        "latency_jumped": (
            Damage.STRUCTURE,
            "searches take longer than usual: a damaged index",
            ("embeddings",),
        ),
        "top_repeats_itself": (Damage.DUPLICATES, "the best hits say the same", ("duplicates",)),
        "rejections_rose": (
            Damage.CONFLICTS,
            "users correct and decline more than usual: memories are stale or contradict",
            ("conflicts", "staleness"),
        ),
        "old_scene_leads": (
            Damage.STALE,
            "what belongs to a scene that is over still leads",
            ("staleness", "scopes"),
        ),
    }
)
"""Alarm -> the damage it hints at, in words, and the detectors to run next."""


def alarms(hours: Sequence[Hour], limits: Limits | None = None) -> list[Finding]:
    """Alarms of the newest hour of each partition, against its earlier ones; O(hours)."""
    bounds = limits or Limits()
    partitions: defaultdict[Scope, list[Hour]] = defaultdict(list)
    for hour in sorted(hours, key=lambda one: (one.scope, one.hour)):
        partitions[hour.scope].append(hour)
    found: list[Finding] = []
    for scope, known in partitions.items():
        *earlier, now = known
        enough = now.searches >= bounds.searches
        usual = {
            name: _usual([getattr(hour, name) for hour in earlier], bounds.hours)
            for name in ("similarity", "p95", "rejected")
        }
        tests = (
            (
                "similarity_dropped",
                enough,
                now.similarity,
                _shifted(usual["similarity"], -bounds.similarity_drop),
                -1,
            ),
            ("latency_jumped", enough, now.p95, _scaled(usual["p95"], bounds.latency_jump), 1),
            ("top_repeats_itself", enough, now.repeated, bounds.repeated, 1),
            ("rejections_rose", True, now.rejected, _shifted(usual["rejected"], bounds.rejected_rise), 1),
            ("old_scene_leads", enough, now.foreign, bounds.foreign, 1),
        )
        for code, counts, value, bound, sign in tests:
            if counts and value is not None and bound is not None and sign * value > sign * bound:
                found.append(_alarm(code, scope, now, value, bound))
    return found


def _usual(values: list[float | None], hours: int) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.median(known)) if len(known) >= hours else None


def _shifted(usual: float | None, by: float) -> float | None:
    return None if usual is None else usual + by


def _scaled(usual: float | None, by: float) -> float | None:
    return None if usual is None else usual * by


def _alarm(code: str, scope: Scope, now: Hour, value: float, bound: float) -> Finding:
    damage, why, following = NEXT[code]
    return Finding(
        code=code,
        damage=damage,
        level=Level.RETRIEVAL,
        keys=(),
        evidence=why,
        confidence=0.5,
        measured={
            "scope": "/".join(scope),
            "hour": now.hour,
            "value": value,
            "bound": bound,
            "searches": now.searches,
            "next": ", ".join(following),
        },
        detector="retrieval",
    )
