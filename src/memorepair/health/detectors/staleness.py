"""Staleness: what has lost its weight by age and disuse; nothing is deleted."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from memorepair.health.detector import Asked, Found, about
from memorepair.health.finding import Damage, Level
from memorepair.health.rows import Rows

Floats = npt.NDArray[np.float64]

DAY = 86_400 * 10**9
"""Nanoseconds."""

REST = {"temporary": 1.5, "preference": 180.0, "fact": 730.0, None: 730.0}
"""Days in which half the weight goes, by type: the design's three days make a temporary memory stale."""

STALE = 0.25
"""Weight from which down a memory is stale: two half-lives."""


def weights(rows: Rows, now: int) -> Floats:
    """(n,) effective weight of each row for ranking, 1 when touched just now, halving with each rest.

    Touched means written or read, whichever is later; a time that is missing or lies ahead counts as now.
    """
    survey = rows.survey
    touched = np.maximum(survey.updated, survey.accessed)
    age = np.where(touched < 0, 0, np.maximum(0, now - touched)) / DAY
    rest = np.array([REST.get(type, REST[None]) for type in rows.types], np.float64)
    return np.asarray(np.exp2(-age / rest) if rows.n else np.zeros(0), np.float64)


class Staleness:
    """Memories of a type that goes stale, long not touched."""

    name = "staleness"
    level = Level.MEANING
    damages = frozenset({Damage.STALE})

    def find(self, rows: Rows, asked: Asked) -> Found:
        """O(n)."""
        weight = weights(rows, asked.now)
        typed = np.array([type is not None for type in rows.types], np.bool_)
        stale = rows.remembered & typed & (weight <= STALE)
        findings = [
            about(
                self,
                rows,
                [row],
                "stale",
                f"nobody has touched this {rows.types[row]} for long: it should rank lower",
                confidence=0.9 if rows.types[row] == "temporary" else 0.7,
                measured={
                    "weight": float(weight[row]),
                    "type": rows.types[row],
                    "days": (asked.now - int(max(rows.survey.updated[row], rows.survey.accessed[row]))) / DAY,
                },
            )
            for row in np.flatnonzero(stale).tolist()
            if asked.wants(row)
        ]
        return Found(findings=tuple(findings))
