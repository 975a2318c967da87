"""Recording: what searches gave, added up by hour and partition, so that no log is needed to judge them.

Sums are kept in memory and written when nobody waits for it; they hold numbers, never a query or a content.
"""

from __future__ import annotations

import math
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memorepair.errors import StaleRead, StoreError
from memorepair.health.retrieval import HOUR, Hour, Recall
from memorepair.memory.artifact import CaseStatus, Hit, Json, Scope
from memorepair.memory.codec import scope_name, scope_of
from memorepair.memory.store import Store

BOOK, SCENES = "retrieval", "scenes"
"""The books of the sums, a note an hour, and of the scenes that are over."""

EVERY, FIRST = 10, 50
"""Of a partition's searches in an hour the first ones are measured, then one of so many."""

KEPT, PARTITIONS = 336, 500
"""Hours kept, and partitions of one hour; what is beyond goes unmeasured."""

FLUSH = 900 * 10**9
"""Nanoseconds after which a search tries to write the sums, unless somebody else writes just then."""

_LEAST, _STEP, _BUCKETS = 1e-4, 1.2, 96
_TRIES = 8


@dataclass(slots=True)
class Sums:
    """What was measured of one partition in one hour; `seconds` counts by classes a fifth apart."""

    searches: int = 0
    similar: float = 0.0
    measured: int = 0
    hits: int = 0
    repeated: int = 0
    foreign: int = 0
    accepted: int = 0
    rejected: int = 0
    seconds: defaultdict[int, int] = field(default_factory=lambda: defaultdict(int))

    def add(self, recall: Recall) -> None:
        """One more search."""
        self.searches += 1
        if recall.similarity is not None:
            self.similar += recall.similarity
            self.measured += 1
        self.hits += recall.hits
        self.repeated += recall.repeated
        self.foreign += recall.foreign
        self.seconds[_bucket(recall.seconds)] += 1

    def join(self, other: Sums) -> None:
        """What another process has measured."""
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for bucket, n in other.seconds.items():
            self.seconds[bucket] += n

    def hour(self, scope: Scope, hour: int) -> Hour:
        """As figures."""
        said = self.accepted + self.rejected
        return Hour(
            scope=scope,
            hour=hour,
            searches=self.searches,
            similarity=self.similar / self.measured if self.measured else None,
            p95=self._p95(),
            repeated=self.repeated / self.hits if self.hits else None,
            foreign=self.foreign / self.hits if self.hits else None,
            rejected=self.rejected / said if said else None,
        )

    def _p95(self) -> float | None:
        total, seen = sum(self.seconds.values()), 0
        for bucket in sorted(self.seconds):
            seen += self.seconds[bucket]
            if seen >= 0.95 * total:
                return float(_LEAST * _STEP**bucket)
        return None

    def to_json(self) -> list[Json]:
        """As a JSON list that `from_json` reads."""
        counts: list[Json] = [getattr(self, name) for name in _COUNTS]
        return [*counts, [list[Json](one) for one in sorted(self.seconds.items())]]

    @classmethod
    def from_json(cls, read: Json) -> Sums:
        """From what `to_json` gave; nothing of what is something else."""
        found = cls()
        if isinstance(read, list) and len(read) == len(_COUNTS) + 1:
            for name, value in zip(_COUNTS, read, strict=False):
                if isinstance(value, int | float):
                    setattr(found, name, value)
            classes = read[-1]
            for one in classes if isinstance(classes, list) else []:
                match one:
                    case [int(bucket), int(n)]:
                        found.seconds[bucket] += n
                    case _:
                        continue
        return found


_COUNTS = ("searches", "similar", "measured", "hits", "repeated", "foreign", "accepted", "rejected")


def _bucket(seconds: float) -> int:
    if seconds <= _LEAST:
        return 0
    return min(_BUCKETS, math.ceil(math.log(seconds / _LEAST, _STEP)))


class Recorder:
    """Measures the searches of one open memory; threads may share it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._sums: dict[int, dict[str, Sums]] = {}
        self._asked: defaultdict[tuple[int, str], int] = defaultdict(int)
        self._flushed: int | None = None
        self._over: frozenset[str] | None = None

    def search(self, hits: Sequence[Hit], *, scope: Scope, seconds: float, by_vector: bool) -> None:
        """One search has been served; O(characters of the hits) where it is measured."""
        at, name = self._store.now(), scope_name(scope)
        place = at // HOUR, name
        with self._lock:
            self._asked[place] += 1
            if self._asked[place] > FIRST and self._asked[place] % EVERY:
                return
            sums = self._partition(*place)
        if sums is not None:
            over = self._scenes(hits, name)
            recall = Recall.of(hits, at=at, scope=scope, seconds=seconds, by_vector=by_vector, over=over)
            with self._lock:
                sums.add(recall)
        if self._flushed is None:
            self._flushed = at
        elif at - self._flushed >= FLUSH:
            self._flushed = at
            self.flush(wait=False)

    def feedback(self, *, scope: Scope, accepted: bool) -> None:
        """A user has taken up or turned down what was recalled."""
        with self._lock:
            sums = self._partition(self._store.now() // HOUR, scope_name(scope))
            if sums is not None:
                sums.accepted += accepted
                sums.rejected += not accepted

    def _partition(self, hour: int, name: str) -> Sums | None:
        known = self._sums.setdefault(hour, {})
        if name not in known and len(known) >= PARTITIONS:
            return None
        return known.setdefault(name, Sums())

    def forget_scenes(self) -> None:
        """Read anew which scenes are over."""
        self._over = None

    def _scenes(self, hits: Sequence[Hit], name: str) -> frozenset[str]:
        if self._over is None:
            self._over = over(self._store)
        if not self._over:
            return frozenset()
        scenes = {hit.artifact.slot.scene for hit in hits if hit.artifact.slot is not None}
        return frozenset(one for one in scenes if one and scene_digest(self._store, name, one) in self._over)

    def flush(self, *, wait: bool = True) -> None:
        """Add the sums to those of the store; without `wait` later, where somebody else writes now."""
        with self._lock:
            mine, self._sums = self._sums, {}
            newest = max(mine, default=0)
            for place in [place for place in self._asked if place[0] < newest]:
                del self._asked[place]
        if not mine or self._store.readonly:
            return
        for _ in range(_TRIES):
            kept = self._store.notes(BOOK)
            notes = _joined(kept, mine)

            def unchanged(kept: Mapping[str, Json] = kept) -> None:
                if self._store.notes(BOOK) != kept:
                    raise StaleRead("another process has added to the sums", witness=BOOK)

            try:
                self._store.note(BOOK, notes, expect=unchanged, wait=wait)
            except StaleRead:
                continue
            except StoreError:
                if wait:
                    raise
                break
            return
        with self._lock:
            for hour, partitions in mine.items():
                for name, sums in partitions.items():
                    here = self._partition(hour, name)
                    if here is not None:
                        here.join(sums)


def _joined(kept: Mapping[str, Json], mine: Mapping[int, Mapping[str, Sums]]) -> dict[str, Json]:
    """The notes that change: the hours measured, and those that are too old."""
    notes: dict[str, Json] = {}
    for hour, partitions in mine.items():
        read = kept.get(str(hour))
        sums = {name: Sums.from_json(one) for name, one in read.items()} if isinstance(read, dict) else {}
        for name, one in partitions.items():
            if name in sums or len(sums) < PARTITIONS:
                sums.setdefault(name, Sums()).join(one)
        notes[str(hour)] = {name: one.to_json() for name, one in sums.items()}
    old = sorted({*(int(hour) for hour in kept), *mine})[:-KEPT]
    return notes | {str(hour): None for hour in old}


def recorded(store: Store) -> list[Hour]:
    """The figures of each partition and hour, in this order."""
    found: list[Hour] = []
    for hour, partitions in store.notes(BOOK).items():
        for name, sums in partitions.items() if isinstance(partitions, dict) else ():
            found.append(Sums.from_json(sums).hour(scope_of(name), int(hour)))
    return sorted(found, key=lambda one: (one.scope, one.hour))


# scenes that are over ------------------------------------------------------------------------------------


def scene_digest(store: Store, scope: str, scene: str) -> str:
    """What is kept of a scene: a keyed digest, whatever its case and white space."""
    return store.digest(f"scene\0{scope}\0{folded(scene)}")[:32]


def folded(scene: str) -> str:
    """A scene as it is compared."""
    return " ".join(scene.casefold().split())


def over(store: Store) -> frozenset[str]:
    """Digests of the scenes that were left by a case that is not undone."""
    undone = {case.id for case in store.cases(CaseStatus.UNDONE)}
    return frozenset(
        name for name, case in store.notes(SCENES).items() if case is not None and case not in undone
    )
