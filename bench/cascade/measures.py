"""Measures: figures of one system, pooled over events as sums; 0 / 0 is left out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bench.cascade.systems import Outcome
from memorepair.memory.artifact import Key

Figures = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """An outcome beside that of repair-all of the same event, with what each candidate is worth."""

    outcome: Outcome
    against: Outcome
    worth: Mapping[Key, float]
    members: int
    healthy: int


def ratio(over: float, under: float) -> float | None:
    """None for 0 / 0; also where there is nothing to be a part of."""
    return round(over / under, 5) if under > 0 else None


def pooled(judged: Sequence[Judged]) -> Figures:
    """The measures of one system over its events.

    Attributes of the result: `exposure` = stale members of C(F) in service / |C(F)|; `stale_use` = later
    reads that were given one / reads; `recovered_*` against repair-all; `cost_ratio` = executed / all that
    can be executed. `stale_use_of_cascade` counts only the reads of members of C(F). `wall` and `cpu` are
    seconds from the declarations to the ends of the repairs.
    """

    def total(of: Iterable[float]) -> float:
        return math.fsum(of)

    outcomes = [one.outcome for one in judged]
    return {
        "exposure": ratio(
            total(len(one.outcome.stale) for one in judged), total(one.members for one in judged)
        ),
        "stale_use": ratio(
            total(one.later.stale for one in outcomes), total(one.later.reads for one in outcomes)
        ),
        "recovered_value": ratio(
            total(_worth(one, one.outcome.recovered) for one in judged),
            total(_worth(one, one.against.recovered) for one in judged),
        ),
        "recovered_count": ratio(
            total(len(one.outcome.recovered) for one in judged),
            total(len(one.against.recovered) for one in judged),
        ),
        "cost_ratio": ratio(total(one.cost for one in outcomes), total(one.cost_all for one in outcomes)),
        "stale_use_of_cascade": ratio(
            total(one.later.stale for one in outcomes), total(one.later.of_cascade for one in outcomes)
        ),
        "wrongly_withdrawn": ratio(
            total(len(one.outcome.wrong) for one in judged), total(one.healthy for one in judged)
        ),
        "wall": round(total(one.seconds for one in outcomes), 2),
        "cpu": round(total(one.cpu for one in outcomes), 2),
    }


def _worth(one: Judged, keys: Iterable[Key]) -> float:
    return math.fsum(one.worth.get(key, 0.0) for key in keys)
