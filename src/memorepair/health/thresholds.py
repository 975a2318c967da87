"""Thresholds: the similarity that chance does not reach, from random pairs, without a label."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memorepair.errors import InvalidInput
from memorepair.memory.artifact import Json
from memorepair.memory.values import check_word, is_number, is_whole

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

FALSE_PAIRS = 0.01
"""False pairs a row that chance may bring (alpha)."""

PAIRS = 20_000
"""Random pairs that a calibration draws."""

ENOUGH = 30
"""Rows below which a group has no null distribution."""

HIGHEST = 0.95
"""No threshold is larger: where templates fill the tail, other rules keep rows apart."""

WITHOUT_NULL = 0.8
"""The threshold of a group too small to have a null distribution."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """A calibrated threshold, kept with what it was calibrated on.

    Attributes
    ----------
    measure
        Which similarity, with the model's name where it rests on vectors.
    kind, schema
        Which rows: the null distribution belongs to rows of one form.
    value
        Pairs from this similarity on are near.
    sample
        Random pairs drawn; 0 where there were too few rows.
    population
        Rows of the group at that time.
    """

    measure: str
    kind: str
    schema: str
    value: float
    sample: int
    population: int

    def __post_init__(self) -> None:
        for name in ("measure", "kind", "schema"):
            check_word(getattr(self, name), f"the {name} of a threshold")
        if not is_number(self.value, 0, 1):
            raise InvalidInput("a threshold is within 0 and 1", witness=self.value)
        for count in (self.sample, self.population):
            if not is_whole(count, low=0):
                raise InvalidInput("a threshold counts pairs and rows", witness=count)

    @property
    def group(self) -> tuple[str, str, str]:
        """Measure, kind and schema."""
        return self.measure, self.kind, self.schema

    def holds_for(self, population: int) -> bool:
        """Whether it still stands for so many rows: until the group doubles, or halves."""
        return self.population <= 2 * population and population <= 2 * self.population

    def to_json(self) -> dict[str, Json]:
        """As a JSON object that `from_json` reads."""
        return {
            "measure": self.measure,
            "kind": self.kind,
            "schema": self.schema,
            "value": self.value,
            "sample": self.sample,
            "population": self.population,
        }

    @classmethod
    def from_json(cls, read: object) -> Threshold:
        """From what `to_json` gave.

        Raises
        ------
        InvalidInput
            It is something else.
        """
        if not isinstance(read, dict) or set(read) != set(cls.__slots__):
            raise InvalidInput("a threshold is an object of six members", witness=type(read).__name__)
        return cls(**read)


def calibrated(
    group: tuple[str, str, str],
    rows: Ints,
    similarity: Callable[[Ints, Ints], Floats],
    *,
    seed: int = 0,
) -> Threshold:
    """The threshold of a group of rows; the same for the same rows and seed.

    Parameters
    ----------
    rows : (k,) int64
        The group.
    similarity
        Of rows (p,) with rows (p,), each within 0 and 1.

    Notes
    -----
    At `FALSE_PAIRS` a row the wanted quantile q = 2 alpha / (k - 1) lies beyond any sample, and the last
    permille of the sample holds true duplicates. So an exponential tail is fitted between the quantiles 10 %
    and 1 %, where duplicates are too few to matter, and extrapolated: t0 + (t1 - t0) log10(0.1 / q).
    """
    measure, kind, schema = group
    k = len(rows)
    if k < ENOUGH:
        return Threshold(
            measure=measure, kind=kind, schema=schema, value=WITHOUT_NULL, sample=0, population=k
        )
    rng = np.random.default_rng(seed)
    left, right = rng.choice(rows, (2, PAIRS))
    other = left != right
    found = np.sort(similarity(left[other], right[other]))[::-1]
    low, high = found[int(0.1 * len(found))], found[int(0.01 * len(found))]
    decades = max(1.0, math.log10(0.1 * (max(k, 100) - 1) / (2 * FALSE_PAIRS)))
    return Threshold(
        measure=measure,
        kind=kind,
        schema=schema,
        value=float(min(HIGHEST, low + (high - low) * decades)),
        sample=len(found),
        population=k,
    )
