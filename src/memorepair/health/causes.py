"""Causes: what the rows of findings have in common that others have not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from memorepair.health.finding import Finding
from memorepair.health.rows import Rows
from memorepair.memory.artifact import Json, Key

Ints = npt.NDArray[np.int64]

HOUR = 3_600 * 10**9
"""Nanoseconds."""

BATCH = 5
"""Artifacts written at one instant from which on they are an import."""

COVERS = 0.6
"""Share of the damaged rows that a cause explains at least."""

LIFT = 2.0
"""How many times more of the damaged rows than of all rows have it, at least."""

BATCH_NAMES = ("batch", "import", "import_id", "import_batch")
WRITER_NAMES = ("writer", "agent", "written_by")
"""Members of the metadata that name them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """A root cause: `what` it is, which one, how many of the damaged rows have it and how many of all."""

    what: str
    which: str
    damaged: int
    of: int
    rows: int

    def __str__(self) -> str:
        return f"{self.what} {self.which}: {self.damaged} of {self.of} damaged, {self.rows} rows in all"

    def to_json(self) -> dict[str, Json]:
        """As a JSON object."""
        return {
            "what": self.what,
            "which": self.which,
            "damaged": self.damaged,
            "of": self.of,
            "rows": self.rows,
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trait:
    """One sort of cause: `which` (n,) is a place in `names`; the last of them, `None`, is none."""

    names: tuple[str | None, ...]
    which: Ints

    @classmethod
    def of(cls, names: Sequence[str | None], which: Ints) -> Trait:
        """Equal names become one; O(n)."""
        places = dict.fromkeys(name for name in names if name is not None)
        known: list[str | None] = [*places, None]
        place = {name: number for number, name in enumerate(known)}
        translated = np.array([place[name] for name in names], np.int64)
        return cls(names=tuple(known), which=translated[which])

    def most(self, rows: Ints) -> tuple[int, int, int] | None:
        """The name that most of some rows have: its place, how many of them, how many of all have it."""
        none = len(self.names) - 1
        here = self.which[rows]
        here = here[here != none]
        if not len(here):
            return None
        place = int(np.bincount(here).argmax())
        return place, int((here == place).sum()), int((self.which == place).sum())


def causes(rows: Rows, findings: Sequence[Finding]) -> dict[str, Cause]:
    """Of each finding's code the cause that joins its findings, where there is one. O(n + findings)."""
    if not findings:
        return {}
    traits = _traits(rows)
    place = _places(rows, {key for finding in findings for key in finding.keys})
    members: defaultdict[str, set[int]] = defaultdict(set)
    for finding in findings:
        members[finding.code].update(place[key] for key in finding.keys if key in place)
    found = {code: _cause(traits, rows.n, sorted(group)) for code, group in members.items() if group}
    return {code: cause for code, cause in found.items() if cause is not None}


def _cause(traits: Mapping[str, Trait], n: int, members: list[int]) -> Cause | None:
    """What most of some rows have in common and the rest of the store has not; the best covering one."""
    best: tuple[float, int, Cause] | None = None
    for rank, (what, trait) in enumerate(traits.items()):
        most = trait.most(np.array(members, np.int64))
        if most is None:
            continue
        place, damaged, whole = most
        lift = damaged * n / (len(members) * whole)
        if damaged < COVERS * len(members) or lift < LIFT:
            continue
        # Of causes that cover the same rows, the one that concerns the fewest others.
        score = 2 * damaged / (len(members) + whole)
        which = str(trait.names[place])
        found = Cause(what=what, which=which, damaged=damaged, of=len(members), rows=whole)
        if best is None or (score, -rank) > best[:2]:
            best = (score, -rank, found)
    return None if best is None else best[2]


def _places(rows: Rows, keys: set[Key]) -> dict[Key, int]:
    """The rows of keys, without a key for every row."""
    wanted = {key.id for key in keys}
    found = {rows.key(row): row for row, id in enumerate(rows.survey.ids) if id in wanted}
    return {key: row for key, row in found.items() if key in keys}


def _traits(rows: Rows) -> dict[str, Trait]:
    """Import batch, model version, writer and hour of writing, as columns."""
    updated = rows.survey.updated
    batches: dict[int, str] = {}
    writers: dict[int, str] = {}
    for row, meta in enumerate(rows.survey.metas):
        if meta is None or '"metadata"' not in meta:
            continue
        metadata = rows.metadata(row)
        batch = next((metadata[name] for name in BATCH_NAMES if name in metadata), None)
        if isinstance(batch, str | int) and not isinstance(batch, bool):
            batches[row] = str(batch)
        writer = next((metadata[name] for name in WRITER_NAMES if name in metadata), None)
        if isinstance(writer, str):
            writers[row] = writer
    times, time, size = np.unique(updated, return_inverse=True, return_counts=True)
    instants = [
        f"of {n} at {_instant(when)}" if n >= BATCH else None
        for when, n in zip(times.tolist(), size.tolist(), strict=True)
    ]
    hours, hour = np.unique(updated // HOUR * HOUR, return_inverse=True)
    sources = dict.fromkeys(rows.sources)
    source = {name: place for place, name in enumerate(sources)}
    said = np.array([source[name] for name in rows.sources], np.int64)
    return {
        "import batch": _but(instants, time, batches),
        "model version": _models(rows),
        "writer": _but([f"source {name}" for name in sources], said, writers),
        "window": Trait.of([f"hour of {_instant(when)}" for when in hours.tolist()], hour),
    }


def _but(names: Sequence[str | None], which: Ints, told: Mapping[int, str]) -> Trait:
    """By a column, but for the rows of which something else is told."""
    which = which.copy()
    which[list(told)] = len(names) + np.arange(len(told))
    return Trait.of([*names, *told.values()], which)


def _models(rows: Rows) -> Trait:
    numbers = {number: place for place, number in enumerate(rows.survey.spaces, start=1)}
    names = [f"{one.model}@{one.revision}/{one.dimension}" for one in rows.survey.spaces.values()]
    which = np.zeros(rows.n, np.int64)
    at = rows.find(rows.survey.vectors[:, 0])
    place = np.array([numbers.get(number, 0) for number in rows.survey.vectors[:, 2].tolist()], np.int64)
    known = (at >= 0) & (place > 0)
    which[at[known]] = place[known]
    return Trait.of([None, *names], which)


@lru_cache(maxsize=1 << 10)
def _instant(nanoseconds: int) -> str:
    try:
        return datetime.fromtimestamp(nanoseconds / 1e9, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return f"{nanoseconds} ns"
