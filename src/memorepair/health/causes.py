"""Causes: what the rows of findings have in common that others have not."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from sys import intern

from memorepair.health.finding import Finding
from memorepair.health.rows import Rows
from memorepair.memory.artifact import Json, Key

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

_ORDER = ("import batch", "model version", "writer", "window")


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


class Traits:
    """Of every row: its import batch, model version, writer and hour of writing. O(n)."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        updated = rows.survey.updated.tolist()
        size = Counter(updated)
        model = _models(rows)
        self._of: dict[str, list[str | None]] = {what: [] for what in _ORDER}
        self._place: dict[Key, int] = {}
        for row in range(rows.n):
            metadata = rows.metadata(row)
            batch = next((metadata[name] for name in BATCH_NAMES if name in metadata), None)
            if isinstance(batch, str | int) and not isinstance(batch, bool):
                batch = str(batch)
            elif size[updated[row]] >= BATCH:
                batch = f"of {size[updated[row]]} at {_instant(updated[row])}"
            else:
                batch = None
            writer = next((metadata[name] for name in WRITER_NAMES if name in metadata), None)
            found = {
                "import batch": batch,
                "model version": model.get(row),
                "writer": writer if isinstance(writer, str) else f"source {rows.sources[row]}",
                "window": f"hour of {_instant(updated[row] // HOUR * HOUR)}",
            }
            for what, which in found.items():
                self._of[what].append(None if which is None else intern(which))
        self._count = {what: Counter(filter(None, which)) for what, which in self._of.items()}

    def place(self, key: Key) -> int | None:
        """The row of a key."""
        if not self._place:
            self._place = {self._rows.key(row): row for row in range(self._rows.n)}
        return self._place.get(key)

    def cause(self, findings: Iterable[Finding]) -> Cause | None:
        """What most of their rows have in common and the rest of the store has not; the best covering one."""
        members = {row for one in findings for key in one.keys if (row := self.place(key)) is not None}
        if not members:
            return None
        best: tuple[float, int, Cause] | None = None
        for rank, what in enumerate(_ORDER):
            shared = Counter(which for row in members if (which := self._of[what][row]) is not None)
            for which, n in shared.most_common(1):
                whole = self._count[what][which]
                lift = n * self._rows.n / (len(members) * whole)
                if n < COVERS * len(members) or lift < LIFT:
                    continue
                # Of causes that cover the same rows, the one that concerns the fewest others.
                score = 2 * n / (len(members) + whole)
                found = Cause(what=what, which=which, damaged=n, of=len(members), rows=whole)
                if best is None or (score, -rank) > best[:2]:
                    best = (score, -rank, found)
        return None if best is None else best[2]


def causes(rows: Rows, findings: Sequence[Finding]) -> dict[str, Cause]:
    """Of each finding's code the cause that joins its findings, where there is one."""
    if not findings:
        return {}
    traits = Traits(rows)
    grouped: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        grouped[finding.code].append(finding)
    found = {code: traits.cause(group) for code, group in grouped.items()}
    return {code: cause for code, cause in found.items() if cause is not None}


def _models(rows: Rows) -> Mapping[int, str]:
    found: dict[int, str] = {}
    at = rows.find(rows.survey.vectors[:, 0])
    for row, number in zip(at.tolist(), rows.survey.vectors[:, 2].tolist(), strict=True):
        space = rows.survey.spaces.get(number)
        if row >= 0 and space is not None:
            found[row] = f"{space.model}@{space.revision}/{space.dimension}"
    return found


@lru_cache(maxsize=1 << 10)
def _instant(nanoseconds: int) -> str:
    try:
        return datetime.fromtimestamp(nanoseconds / 1e9, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return f"{nanoseconds} ns"
