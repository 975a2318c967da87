"""The detector port: what a detector is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from memorepair.errors import InvalidInput
from memorepair.health.conflict.judge import Judge
from memorepair.health.finding import Damage, Finding, Level, Measured
from memorepair.health.reading import Known
from memorepair.health.rows import Rows
from memorepair.health.thresholds import Threshold
from memorepair.memory.artifact import Json
from memorepair.memory.exchange import Progress
from memorepair.memory.schemas import require_schema
from memorepair.memory.values import check_type, is_whole
from memorepair.memory.vectors import Space

Mask = npt.NDArray[np.bool_]
Schemas: TypeAlias = "Mapping[str, Mapping[str, Json]]"


def silent(step: str, done: int, of: int) -> None:
    """Progress that nobody hears."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What the keeper of a memory expects of it; all of it may be left out.

    Attributes
    ----------
    schemas
        JSON Schema of the metadata, by type (``fact``, ``preference``, ``temporary``) or kind (``record``,
        ``summary``, ...); the subset of `require_schema`.
    space
        Where vectors should live: the current model's; None takes the one that most live in.
    judge
        Decides what rules cannot; None leaves it to a person.
    judgements
        Pairs it is asked at most in one check-up.
    many
        Attributes that hold several values at once, beside the built-in ones; `single` those that hold one.
    """

    schemas: Schemas = field(default_factory=lambda: MappingProxyType({}))
    space: Space | None = None
    judge: Judge | None = None
    judgements: int = 100
    many: frozenset[str] = frozenset()
    single: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for name, schema in self.schemas.items():
            check_type(name, str, "metadata schemas are named by type or kind")
            require_schema(schema)
        if not is_whole(self.judgements, low=0):
            raise InvalidInput("judgements is a whole number from 0", witness=self.judgements)
        if both := self.many & self.single:
            raise InvalidInput("an attribute holds one value or many", witness=min(both))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Near:
    """What an index says of rows that are new.

    Attributes
    ----------
    pairs : (p, 2) int64
        aid of the new, aid of the old.
    key
        Of the hashes.
    known
        What it knows of the rest of the store.
    """

    pairs: npt.NDArray[np.int64]
    key: bytes
    known: Known


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Asked:
    """One check-up as its detectors see it.

    Attributes
    ----------
    expected
        What the keeper expects.
    now
        Nanoseconds since the epoch.
    fresh : (n,) bool or None
        Rows whose findings are wanted, each against all rows given; None: all.
    thresholds
        Calibrated before, by group.
    near
        In an incremental check-up that knows the rest of the store by an index: whom to compare with whom.
    recipes
        Operator and whether it was observed, of rows; reads the store.
    progress
        Is told how far a detector is.
    """

    expected: Expected
    now: int
    fresh: Mask | None = None
    thresholds: Mapping[tuple[str, str, str], Threshold] = field(default_factory=lambda: MappingProxyType({}))
    near: Near | None = None
    recipes: Callable[[list[int]], dict[int, tuple[str | None, bool]]] = lambda rows: {}
    progress: Progress = silent

    def wants(self, row: int) -> bool:
        """Whether findings about the row are wanted."""
        return self.fresh is None or bool(self.fresh[row])


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a detector found, the thresholds it used, and in words what it did not look at."""

    findings: tuple[Finding, ...] = ()
    thresholds: tuple[Threshold, ...] = ()
    left_out: tuple[str, ...] = ()


class Detector(Protocol):
    """Looks for one sort of damage. It is a function of what it is given: it writes nothing."""

    @property
    def name(self) -> str:
        """Its name in the registry."""
        ...

    @property
    def level(self) -> Level:
        """How it sees."""
        ...

    @property
    def damages(self) -> frozenset[Damage]:
        """The kinds it may report."""
        ...

    def find(self, rows: Rows, asked: Asked) -> Found:
        """Look; findings in order of birth of their first key."""
        ...


def counted(number: int, one: str) -> str:
    """How many there are of what is left out: 1 statement, 2 statements."""
    return f"{number} {one if number == 1 else one + 's'}"


def about(
    detector: Detector,
    rows: Rows,
    members: Sequence[int],
    code: str,
    evidence: str,
    *,
    damage: Damage | None = None,
    confidence: float = 1.0,
    measured: Measured = MappingProxyType({}),
) -> Finding:
    """A finding of `detector` about rows; `damage` may be left out by one that reports a single kind."""
    if damage is None:
        (damage,) = detector.damages
    return Finding(
        code=code,
        damage=damage,
        level=detector.level,
        keys=tuple(rows.key(row) for row in members),
        versions=tuple(int(rows.survey.version[row]) for row in members),
        evidence=evidence,
        confidence=confidence,
        measured=measured,
        detector=detector.name,
    )
