"""Embeddings: every vector lives in the space it names, and what is compared lives in one."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from memorepair.health.detector import Asked, Found, about
from memorepair.health.finding import Damage, Finding, Level
from memorepair.health.rows import Rows
from memorepair.memory.survey import BROKEN
from memorepair.memory.vectors import STORED, Space

Mask = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

NORM_TOLERANCE = 0.02
"""How far the length of a normalised vector may be from 1; quantised ones are off by less."""

COVERED = 0.5
"""Where more of the served have vectors of the main space, one without is missing."""

_UNIT_SHARE = 0.95

_SAYS = re.compile(r"[^\W_]")
"""A letter or digit; many embedders, the built-in one too, have no vector for a text without any."""


class Embeddings:
    """Dimension, length and space of every vector; the level-1 side of embedding drift."""

    name = "embeddings"
    level = Level.STRUCTURE
    damages = frozenset({Damage.STRUCTURE, Damage.DRIFT})

    def find(self, rows: Rows, asked: Asked) -> Found:
        """O(n + vectors)."""
        survey = rows.survey
        if not len(survey.vectors):
            return Found()
        aid, _given, number, size = survey.vectors.T
        place = rows.find(aid)
        dimension = np.array([_dimension(survey.spaces.get(one)) for one in number.tolist()], np.int64)
        known = dimension > 0
        wrong_size = known & (size != dimension * STORED.itemsize)
        normalised = np.array(
            [space is not None and space.normalised for space in map(survey.spaces.get, number.tolist())],
            np.bool_,
        )
        finite = np.isfinite(survey.norms)
        zero = finite & (survey.norms == 0)
        sound = known & ~wrong_size & finite
        off = sound & ~zero & normalised & (np.abs(survey.norms - 1) > NORM_TOLERANCE)
        main = self._main(asked, number, survey.spaces)
        # In a space that does not promise length 1, nearly all may have it all the same: then one that has
        # not was made by another normalisation.
        unit = sound & ~normalised & (number == main) & (np.abs(survey.norms - 1) <= NORM_TOLERANCE)
        inner = sound & ~normalised & (number == main) & ~zero
        if inner.any() and unit.sum() >= _UNIT_SHARE * inner.sum():
            off |= inner & ~unit
        findings: list[Finding] = []
        for code, where, why, damage in (
            (
                "embedding_space_unknown",
                ~known,
                "its vector names a space that is not there",
                Damage.STRUCTURE,
            ),
            (
                "embedding_dim_mismatch",
                wrong_size,
                "its vector is longer or shorter than its space says",
                Damage.STRUCTURE,
            ),
            (
                "embedding_not_finite",
                ~finite,
                "its vector holds a number that is not finite",
                Damage.STRUCTURE,
            ),
            ("embedding_norm", off, "its vector has not the length of the others", Damage.DRIFT),
        ):
            for vector in np.flatnonzero(where & (place >= 0)).tolist():
                row = int(place[vector])
                if asked.wants(row):
                    findings.append(
                        about(
                            self,
                            rows,
                            [row],
                            code,
                            why,
                            damage=damage,
                            measured={
                                "dimension": int(dimension[vector]),
                                "bytes": int(size[vector]),
                                "norm": float(survey.norms[vector]) if finite[vector] else None,
                            },
                        )
                    )
        found, left_out = self._other_spaces(rows, asked, place, number, main)
        return Found(findings=(*findings, *found), left_out=left_out)

    @staticmethod
    def _main(asked: Asked, number: Ints, spaces: dict[int, Space]) -> int:
        """Number of the space to live in: the expected one, `BROKEN` where nothing does; else the fullest."""
        if asked.expected.space is not None:
            return next((one for one, space in spaces.items() if space == asked.expected.space), BROKEN)
        numbers, counts = np.unique(number, return_counts=True)
        return int(numbers[np.argmax(counts)])

    def _other_spaces(
        self, rows: Rows, asked: Asked, place: Ints, number: Ints, main: int
    ) -> tuple[list[Finding], tuple[str, ...]]:
        """Rows that a search in the main space cannot see: those without a vector there."""
        spaces = rows.survey.spaces
        here = place >= 0
        has_main = np.zeros(rows.n, np.bool_)
        has_main[place[here & (number == main)]] = True
        has_other = np.zeros(rows.n, np.bool_)
        has_other[place[here & (number != main)]] = True
        wanted = asked.expected.space
        current = wanted if wanted is not None else spaces.get(main)
        findings: list[Finding] = []
        for vector in np.flatnonzero(here & (number != main)).tolist():
            row = int(place[vector])
            other = spaces.get(int(number[vector]))
            if has_main[row] or not asked.wants(row) or other is None or current is None:
                continue
            code = (
                "embedding_other_dimension"
                if other.dimension != current.dimension
                else "embedding_other_model"
            )
            findings.append(
                about(
                    self,
                    rows,
                    [row],
                    code,
                    "its vector lives in another space than the current model's: a search cannot find it",
                    damage=Damage.DRIFT,
                    measured={
                        "model": other.model,
                        "revision": other.revision,
                        "dimension": other.dimension,
                        "current_model": current.model,
                        "current_dimension": current.dimension,
                    },
                )
            )
        meant = np.array([says(text or "") for text in rows.survey.texts], np.bool_)
        missing = rows.served & meant & ~has_main & ~has_other
        if has_main.sum() > COVERED * rows.served.sum():
            findings += [
                about(
                    self,
                    rows,
                    [row],
                    "embedding_missing",
                    "it has no vector where most have one",
                    damage=Damage.STRUCTURE,
                    measured={"covered": float(has_main.sum() / max(1, rows.served.sum()))},
                )
                for row in np.flatnonzero(missing).tolist()
                if asked.wants(row)
            ]
        elif asked.fresh is None and missing.any():
            return findings, (f"{missing.sum()} without a vector, where fewer than half have one",)
        return findings, ()


def says(text: str) -> bool:
    """Whether a text says something: one of signs alone has no vector."""
    return _SAYS.search(text) is not None


def _dimension(space: Space | None) -> int:
    return space.dimension if space is not None and isinstance(space.dimension, int) else 0
