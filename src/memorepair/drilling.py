"""Drill: known damage is put into a copy of a memory, and what a check-up makes of it is counted."""

from __future__ import annotations

import random
import sqlite3
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copyfile
from types import MappingProxyType

import numpy as np

from memorepair.errors import InvalidInput, StoreError
from memorepair.facade import Memory
from memorepair.governance import Limits, Policy
from memorepair.graphs.terms import Kind
from memorepair.health.checkup import CheckUp
from memorepair.health.detectors.embeddings import COVERED, says
from memorepair.health.finding import Damage
from memorepair.health.rows import Rows
from memorepair.health.wording import wording
from memorepair.housekeeping import Keeping
from memorepair.memory.artifact import Artifact, Draft, Json, Key, Read, Recipe, Slot, State, Type
from memorepair.memory.codec import key_of
from memorepair.memory.exchange import Progress
from memorepair.memory.secret import key_file
from memorepair.memory.values import is_number, is_whole
from memorepair.memory.vectors import Embedder
from memorepair.repair.ports import Remedy

LEAST = 10
"""Records in service that a drill needs."""

_DAY = 86_400 * 10**9
_OLD = 60 * _DAY
_BULK = 10**9
_PART = 1_000

EVERYTHING = Keeping(
    policy=Policy(confirmed=frozenset(Remedy)),
    limits=Limits(
        items=_BULK,
        repairs_a_day=_BULK,
        share_a_day=1.0,
        least_a_day=_BULK,
        repairs_a_minute=_BULK,
    ),
)
"""In a drill nothing waits but for a person: the copy is thrown away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """What a drill counted of one damage.

    Attributes
    ----------
    injected, named
        Items damaged on purpose, and those of them that a finding of this kind names.
    alarms, healthy
        Items named that nobody damaged and that are no partner of one, and all that nobody damaged.
    repaired, rightly
        Injected items that a remedy of grade I or II took up, and those that are as they should be after it.
    harmed
        Items that nobody damaged and that are worse after the repair than before.
    """

    injected: int
    named: int
    alarms: int
    healthy: int
    repaired: int
    rightly: int
    harmed: int

    def to_json(self) -> dict[str, Json]:
        """The shares that a drill is judged by; None where there is nothing to divide by."""
        return {
            "coverage": self.named / self.injected if self.injected else None,
            "false_alarms": self.alarms / self.healthy if self.healthy else 0.0,
            "repaired_rightly": self.rightly / self.repaired if self.repaired else None,
            "harmed": self.harmed,
        }


_NOT_MADE: Mapping[str, Json] = MappingProxyType(
    dict.fromkeys(("coverage", "false_alarms", "repaired_rightly", "harmed"))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrillReport:
    """What a drill found; the thresholds it used, and the seed that makes it again.

    Attributes
    ----------
    counts
        By damage, of what could be damaged so.
    not_made
        Of the other damages why not: nothing is known of how they would be found.
    artifacts
        Records in service that were to choose from.
    """

    counts: Mapping[Damage, Count]
    artifacts: int
    rate: float
    seed: int
    thresholds: Mapping[str, float]
    left_out: tuple[str, ...] = ()
    not_made: Mapping[Damage, str] = field(default_factory=lambda: MappingProxyType({}))

    def to_json(self) -> dict[str, Json]:
        """As a JSON object; the figures of a damage that could not be made are null."""
        figures = {damage: count.to_json() for damage, count in self.counts.items()}
        return {
            "drill": {str(damage): figures.get(damage, dict(_NOT_MADE)) for damage in Damage},
            "not_made": {str(damage): why for damage, why in self.not_made.items()},
            "artifacts": self.artifacts,
            "rate": self.rate,
            "seed": self.seed,
            "thresholds": dict(self.thresholds),
            "left_out": list(self.left_out),
        }


@dataclass(slots=True)
class _Injected:
    """Of one damage: the damaged keys, those they are compared with, and what is right after a repair."""

    keys: list[Key] = field(default_factory=list)
    partners: set[Key] = field(default_factory=set)
    right: dict[Key, Callable[[Memory], bool]] = field(default_factory=dict)


def drill(
    path: str | Path,
    *,
    rate: float = 0.01,
    seed: int = 0,
    embedder: Embedder | None,
    progress: Progress | None = None,
) -> DrillReport:
    """Damage a copy of the memory at `path`, let it be looked at and repaired, and count; the memory stays.

    Parameters
    ----------
    rate
        Share of the artifacts to damage in each of the six ways, at least one.
    seed
        Which ones.

    Raises
    ------
    InvalidInput
        A rate that is no share, or a memory that serves fewer than `LEAST` records.
    StoreError
        There is no memory at `path`, or it cannot be copied.
    """
    if not is_number(rate, 0, 0.1) or not is_whole(seed, 0):
        raise InvalidInput(
            "a drill damages a share of up to a tenth; its seed is a whole number", witness=rate
        )
    with tempfile.TemporaryDirectory(prefix="memorepair-drill-") as folder:
        copy = Path(folder) / "copy.db"
        _copy(Path(path), copy)
        return _drilled(copy, rate, seed, embedder, progress)


def recommend(reports: Sequence[DrillReport], *, most_alarms: float = 0.01) -> dict[str, float]:
    """The thresholds of the drill that found most among those whose false alarms stay within bounds.

    What a drill could not make has no say. Empty where none did: then slots, a judge or other words are
    wanted, not another threshold.
    """
    within = [one for one in reports if one.counts and _alarms(one) <= most_alarms]
    return dict(max(within, key=_coverage).thresholds) if within else {}


def _alarms(report: DrillReport) -> float:
    return max((one.alarms / max(1, one.healthy) for one in report.counts.values()), default=0.0)


def _coverage(report: DrillReport) -> float:
    return sum(one.named for one in report.counts.values()) / max(
        1, sum(one.injected for one in report.counts.values())
    )


def _copy(source: Path, target: Path) -> None:
    """A consistent copy, whoever writes meanwhile; the key goes with it."""
    with Memory.open(source, create=False, readonly=True):
        pass  # it is a memory, or says itself what it is instead
    try:
        with (
            closing(sqlite3.connect(f"{source.resolve().as_uri()}?mode=ro", uri=True)) as old,
            closing(sqlite3.connect(target)) as new,
        ):
            old.backup(new)
    except sqlite3.Error as error:
        raise StoreError(f"{source} cannot be copied: {error}", witness=str(source)) from error
    copyfile(key_file(source.resolve()), key_file(target.resolve()))
    key_file(target.resolve()).chmod(0o600)


def _drilled(
    copy: Path, rate: float, seed: int, embedder: Embedder | None, progress: Progress | None
) -> DrillReport:
    clock = _Clock()
    with Memory.open(copy, clock=clock, embedder=embedder) as memory:
        memory.checkup(repair=True, keeping=EVERYTHING, progress=progress)
        base = [one.key for one in memory.list(kind=Kind.RECORD, state=State.ACTIVE)]
        if len(base) < LEAST:
            raise InvalidInput("a drill needs ten records in service", witness=len(base))
        n = max(1, round(rate * len(base)))
        picked = random.Random(seed)  # noqa: S311 - a drill is to be made again, not to be secret
        vectors = _with_vectors(copy)
        covered = len(vectors.intersection(base)) > COVERED * len(base)
        dealt = _dealt(memory, picked.sample(base, len(base)), n, vectors)
        injected = _write(memory, clock, dealt)
    _tamper(copy, injected[Damage.STRUCTURE].keys, injected[Damage.DRIFT].keys, vectors if covered else set())
    with Memory.open(copy, clock=clock, embedder=embedder) as memory:
        keeper = memory.housekeeper(EVERYTHING)
        seen = keeper.look(progress=progress)
        before = _healthy(memory, injected.values())
        report = keeper.run(progress=progress)
        taken = {
            key
            for one in report.outcomes
            if one.done and one.proposal.remedy not in (Remedy.SCOPE, Remedy.REVIEW, Remedy.PERSON)
            for key in one.proposal.keys
        }
        harmed = _harmed(memory, before)
        counts = {
            damage: _count(memory, damage, one, seen, before, taken, harmed)
            for damage, one in injected.items()
            if one.keys
        }
    return DrillReport(
        counts=counts,
        not_made={damage: _WHY_NOT[damage] for damage in Damage if damage not in counts},
        artifacts=len(base),
        rate=rate,
        seed=seed,
        thresholds={"/".join(one.group): one.value for one in seen.thresholds},
        left_out=seen.left_out,
    )


class _Clock:
    """The time of the copy; what is to be stale is written in its past."""

    def __init__(self) -> None:
        self.back = 0
        self._now = time.time_ns

    def __call__(self) -> int:
        return self._now() - self.back


# injections ------------------------------------------------------------------------------------------


_SPARE = "no record that says something is left to be damaged so"
_WHY_NOT: Mapping[Damage, str] = MappingProxyType(
    dict.fromkeys(Damage, _SPARE) | {Damage.DRIFT: "no record has a vector that could be damaged"}
)


def _with_vectors(copy: Path) -> set[Key]:
    """Whose current version has a vector with a direction."""
    with closing(sqlite3.connect(copy)) as db:
        rows = db.execute(
            """SELECT DISTINCT s.name, a.id FROM vector v JOIN artifact a ON a.cur = v.vid
            JOIN scope s ON s.sid = a.sid WHERE trim(hex(v.v), '0') <> ''"""
        ).fetchall()
    return {key_of(name, id) for name, id in rows}


def _dealt(
    memory: Memory, order: Sequence[Key], n: int, vectors: Collection[Key]
) -> dict[Damage, list[Artifact]]:
    """Up to n records for each damage, none for two; only what has a vector can drift."""
    dealt: dict[Damage, list[Artifact]] = {damage: [] for damage in Damage}
    rarest = sorted(Damage, key=lambda damage: damage is not Damage.DRIFT)
    for start in range(0, len(order), _PART):
        served = memory.store.served(order[start : start + _PART])
        for key in order[start : start + _PART]:
            wanting = [
                damage
                for damage in rarest
                if len(dealt[damage]) < n and (damage is not Damage.DRIFT or key in vectors)
            ]
            if wanting and says(served[key].content):
                dealt[wanting[0]].append(served[key])
        if all(len(part) == n for damage, part in dealt.items() if damage is not Damage.DRIFT or vectors):
            break
    return dealt


def _write(
    memory: Memory, clock: _Clock, dealt: Mapping[Damage, Sequence[Artifact]]
) -> dict[Damage, _Injected]:
    """What can be damaged by writing; the rest is named here and damaged in the file."""
    found = {damage: _Injected() for damage in Damage}
    for number, one in enumerate(dealt[Damage.DUPLICATES]):
        origin = one.key
        twin = Key(origin.scope, f"drill-duplicate-{number}")
        text = f"  {one.content.swapcase()} "
        memory.store.write([Draft(key=twin, content=text, kind=one.kind, type=one.type, slot=one.slot)])
        found[Damage.DUPLICATES].keys.append(twin)
        found[Damage.DUPLICATES].partners.add(origin)
        found[Damage.DUPLICATES].right[twin] = _one_of(twin, origin)
    for number, one in enumerate(dealt[Damage.CONFLICTS]):
        old, new = (Key(one.key.scope, f"drill-conflict-{number}-{side}") for side in ("old", "new"))
        for key, city in ((old, "Paris"), (new, "Lyon")):
            who = f"drill person {number}"
            slot = Slot(entity=who, attribute="home", value=city)
            memory.store.write([Draft(key=key, content=f"{who} lives in {city}", slot=slot)])
        found[Damage.CONFLICTS].keys += [old, new]
        found[Damage.CONFLICTS].right |= {old: _is(old, State.ARCHIVED), new: _is(new, State.ACTIVE)}
    clock.back = _OLD
    for number, one in enumerate(dealt[Damage.STALE]):
        key = Key(one.key.scope, f"drill-stale-{number}")
        text = f"waiting for parcel {number * 7919 + 104729}"
        memory.store.write([Draft(key=key, content=text, type=Type.TEMPORARY)])
        found[Damage.STALE].keys.append(key)
        found[Damage.STALE].right[key] = _sunk(key)
    clock.back = 0
    for damage in (Damage.STRUCTURE, Damage.DRIFT):
        for one in dealt[damage]:
            found[damage].keys.append(one.key)
            found[damage].right[one.key] = _says(one.key, one.content)
    for number, one in enumerate(dealt[Damage.SCOPE]):
        origin = one.key
        stranger = Key(("drill", f"stranger-{number}"), f"drill-scope-{number}")
        recipe = Recipe(operator="drill")
        memory.store.write(
            [
                Draft(
                    key=stranger,
                    content=f"seen elsewhere: {one.content}",
                    kind=Kind.SUMMARY,
                    recipe=recipe,
                    reads=(Read(key=origin),),
                )
            ]
        )
        found[Damage.SCOPE].keys.append(stranger)
        found[Damage.SCOPE].partners.add(origin)
    return found


def _tamper(copy: Path, structure: Iterable[Key], drift: Iterable[Key], vectors: Collection[Key]) -> None:
    """What no write would make: statuses that are none, vectors lost, cut short or stretched.

    Of what has none of `vectors` the status is damaged.
    """
    with closing(sqlite3.connect(copy)) as db, db:

        def version(key: Key) -> int:
            row = db.execute(
                """SELECT a.cur FROM artifact a JOIN scope s ON s.sid = a.sid
                WHERE s.name = ? AND a.id = ?""",
                ("/".join(key.scope), key.id),
            ).fetchone()
            return int(row[0])

        for number, key in enumerate(structure):
            vid = version(key)
            if number % 3 == 0 or key not in vectors:
                db.execute("INSERT INTO barrier(vid, state, cause) VALUES(?, 99, NULL)", (vid,))
            elif number % 3 == 1:
                db.execute("DELETE FROM vector WHERE vid = ?", (vid,))
            else:
                db.execute("UPDATE vector SET v = substr(v, 1, length(v) - 4) WHERE vid = ?", (vid,))
        for key in drift:
            for row, blob in db.execute(
                "SELECT row, v FROM vector WHERE vid = ?", (version(key),)
            ).fetchall():
                stretched = (np.frombuffer(blob, "<f4") * 3).astype("<f4").tobytes()
                db.execute("UPDATE vector SET v = ? WHERE row = ?", (stretched, row))


# what is right ---------------------------------------------------------------------------------------


def _one_of(twin: Key, origin: Key) -> Callable[[Memory], bool]:
    def right(memory: Memory) -> bool:
        return len(memory.store.served([twin, origin])) == 1

    return right


def _is(key: Key, state: State) -> Callable[[Memory], bool]:
    return lambda memory: memory.store.describe(key).state is state


def _sunk(key: Key) -> Callable[[Memory], bool]:
    return lambda memory: bool(memory.store.served([key])) and key in memory.store.marks([key])


def _says(key: Key, content: str) -> Callable[[Memory], bool]:
    def right(memory: Memory) -> bool:
        there = memory.store.served([key]).get(key)
        space = memory.store.home()
        vectors = {} if space is None else memory.store.vectors(space, [key])
        whole = space is None or (key in vectors and abs(float(vectors[key] @ vectors[key]) - 1) < 0.01)
        return there is not None and there.content == content and whole

    return right


# counting --------------------------------------------------------------------------------------------


def _healthy(memory: Memory, injected: Iterable[_Injected]) -> dict[Key, str]:
    """Content of what nobody damaged, by key."""
    damaged = {key for one in injected for key in one.keys}
    healthy = [key for key in _keys(memory) if key not in damaged]
    return {key: one.content for key, one in memory.store.served(healthy).items()}


def _keys(memory: Memory) -> list[Key]:
    rows = Rows.of(memory.store.survey())
    return [rows.key(row) for row in range(rows.n) if rows.served[row]]


def _harmed(memory: Memory, before: Mapping[Key, str]) -> set[Key]:
    """What is not served with its words any more, and whose words nothing in its scope says instead."""
    after = memory.store.served(list(before))
    worse = [key for key, text in before.items() if key not in after or after[key].content != text]
    if not worse:
        return set()
    said = {
        (key.scope, wording(one.content).exact) for key, one in memory.store.served(_keys(memory)).items()
    }
    return {key for key in worse if (key.scope, wording(before[key]).exact) not in said}


def _count(
    memory: Memory,
    damage: Damage,
    injected: _Injected,
    seen: CheckUp,
    before: Mapping[Key, str],
    taken: set[Key],
    harmed: set[Key],
) -> Count:
    named = {key for one in seen.findings if one.damage is damage for key in one.keys}
    repaired = [key for key in injected.keys if key in taken and key in injected.right]
    return Count(
        injected=len(injected.keys),
        named=sum(key in named for key in injected.keys),
        alarms=sum(key in before and key not in injected.partners for key in named),
        healthy=len(before),
        repaired=len(repaired),
        rightly=sum(injected.right[key](memory) for key in repaired),
        harmed=len(harmed & (named | injected.partners)),
    )
