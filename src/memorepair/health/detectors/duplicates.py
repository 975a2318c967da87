"""Duplicates: artifacts of one scope and kind that say the same."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from importlib.util import find_spec

import numpy as np
import numpy.typing as npt

from memorepair.health import blocking
from memorepair.health.clusters import Clusters
from memorepair.health.comparing import MEASURE, NEAR, Comparer, similarity
from memorepair.health.conflict.compare import slot_of
from memorepair.health.conflict.facts import facts_of_row
from memorepair.health.detector import Asked, Found, about, counted
from memorepair.health.finding import Damage, Finding, Level
from memorepair.health.hashing import mixed
from memorepair.health.reading import LONGEST, read
from memorepair.health.rows import Rows
from memorepair.health.salts import salts_of
from memorepair.health.thresholds import Threshold, calibrated

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_KEY = b"memorepair duplicates"
_CODES = {
    "duplicate_exact": ("they say the same but for spelling", 1.0),
    "duplicate_slot": ("they fill one slot with one value", 0.95),
    "duplicate_near": ("they differ by less than chance allows, and in no value", 0.9),
    "duplicate_paraphrase": ("by the rules they state one fact in different words", 0.8),
    "duplicate_group": ("most pairs of two groups say the same: merged, they are to be compared again", 0.6),
}
_ORDER = tuple(_CODES)


class Duplicates:
    """Exact keys first, then the slot, then nearness within blocks; complete link."""

    name = "duplicates"
    level = Level.MEANING
    damages = frozenset({Damage.DUPLICATES})

    def find(self, rows: Rows, asked: Asked) -> Found:
        """O(n) comparisons, at most `blocking.KEYS` x `blocking.CAP` a row, and sorts."""
        search = _Search(rows, asked)
        return search.found(self)


class _Search:
    """One search.

    A position is a place among the k rows compared; a unit, the rows that an exact key joins, is named by its
    first position.
    """

    def __init__(self, rows: Rows, asked: Asked) -> None:
        self._rows = rows
        self._asked = asked
        says = np.array([bool(text and text.strip()) for text in rows.survey.texts], np.bool_)
        self._row = np.flatnonzero(rows.remembered & says)
        self._fresh: Mask | None = None if asked.fresh is None else asked.fresh[self._row]
        texts = [rows.text(row) for row in self._row.tolist()]
        near = asked.near
        self._reading = read(
            texts,
            salts_of(rows, self._row),
            _KEY if near is None else near.key,
            lambda row: asked.progress("words", row, len(texts)),
            known=None if near is None else near.known,
            new=None if near is None else self._fresh,
        )
        k = self._reading.k
        self._first = np.arange(k)
        self._members: dict[int, list[int]] = {}
        self._bounds: dict[int, tuple[float, float]] = {}
        self._fact = np.zeros(k, np.uint64)
        self._given = np.zeros(k, np.bool_)
        self._weakest: dict[int, str] = {}
        self._likeness: dict[int, float] = {}

    def found(self, detector: Duplicates) -> Found:
        """Units, then clusters of units, then what is to be compared again."""
        self._read_facts()
        self._join_equal()
        first = np.flatnonzero(self._first == np.arange(self._reading.k))
        clusters = Clusters()
        for code, groups in self._one_slot(first):
            for group in groups:
                for other in group[1:]:
                    if clusters.merge(group[0], other, self._alike):
                        self._note(other, code, 1.0)
        thresholds: tuple[Threshold, ...] = ()
        proposals: list[tuple[list[int], list[int], float]] = []
        left_out: list[str] = []
        if find_spec("rapidfuzz") is None:
            left_out.append("near duplicates: pip install 'memorepair[health]'")
        elif len(first) > 1:
            thresholds, proposals = self._near(first, clusters)
        if long := int((np.diff(self._reading.words.offsets) == 0).sum()):
            texts = counted(long, "text")
            left_out.append(f"near duplicates of {texts} without a word, or of more than {LONGEST}")
        findings = [*self._clusters(detector, clusters), *self._groups(detector, proposals)]
        return Found(findings=tuple(findings), thresholds=thresholds, left_out=tuple(left_out))

    # exact keys ------------------------------------------------------------------------------------

    def _read_facts(self) -> None:
        """What each row states, as a number; 0 where it is not known, or more than one thing."""
        for position, row in enumerate(self._row.tolist()):
            slot = self._rows.slots.get(row)
            if slot is not None:
                self._given[position] = True
                start, end = slot.valid_from, slot.valid_to
                if start is not None or end is not None:
                    self._bounds[position] = (
                        -math.inf if start is None else start,
                        math.inf if end is None else end,
                    )
                if slot.value is None:
                    continue
            elif self._reading.record[position]:
                continue
            said = facts_of_row(self._rows, row)
            if len(said) == 1 and said[0].whole:
                fact = said[0]
                subject, attribute = slot_of(fact)
                self._fact[position] = _hashed(
                    repr((fact.given, subject, attribute, fact.value, fact.polarity, fact.scene))
                )

    def _interval(self, unit: int) -> tuple[float, float]:
        return self._bounds.get(unit, (-math.inf, math.inf))

    def _join_equal(self) -> None:
        exact = self._reading.exact
        order = np.argsort(exact, kind="stable")
        equal = np.flatnonzero(exact[order][1:] == exact[order][:-1])
        starts = equal[np.r_[True, np.diff(equal) > 1]] if len(equal) else equal
        ends = equal[np.r_[np.diff(equal) > 1, True]] + 2 if len(equal) else equal
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            for group in self._by_slot(order[start:end].tolist()):
                for members, bounds in self._by_interval(group):
                    self._join(members, bounds)

    def _join(self, members: list[int], bounds: tuple[float, float]) -> None:
        if len(members) < 2:
            return
        first = members[0]
        told = next((one for one in members if self._given[one]), first)
        self._first[members] = first
        self._members[first] = members
        self._bounds[first] = bounds
        self._fact[first], self._given[first] = self._fact[told], self._given[told]
        self._note(first, "duplicate_exact", 1.0)

    def _by_slot(self, members: list[int]) -> Iterable[list[int]]:
        """Equal texts that fill different slots are different statements; those without join the only one."""
        groups: defaultdict[tuple[bool, int], list[int]] = defaultdict(list)
        for position in members:
            given = bool(self._given[position])
            groups[given, int(self._fact[position]) if given else 0].append(position)
        bare = groups.pop((False, 0), [])
        if len(groups) == 1:
            return [sorted(bare + next(iter(groups.values())))]
        return [*groups.values(), bare] if bare else groups.values()

    def _by_interval(self, members: list[int]) -> Iterator[tuple[list[int], tuple[float, float]]]:
        """Groups with a common instant. Intervals that meet two by two all hold some instant (Helly)."""
        start, end = -math.inf, math.inf
        group: list[int] = []
        for position in sorted(members, key=lambda one: (self._interval(one)[0], one)):
            low, high = self._interval(position)
            if group and max(start, low) >= min(end, high):
                yield sorted(group), (start, end)
                start, end, group = -math.inf, math.inf, []
            start, end = max(start, low), min(end, high)
            group.append(position)
        yield sorted(group), (start, end)

    # clusters --------------------------------------------------------------------------------------

    def _together(self, one: int, other: int) -> bool:
        (start, end), (start_too, end_too) = self._interval(one), self._interval(other)
        return max(start, start_too) < min(end, end_too)

    def _alike(self, one: int, other: int) -> bool:
        """Whether two units state one fact at a common time."""
        return bool(self._fact[one] and self._fact[one] == self._fact[other]) and self._together(one, other)

    def _apart(self, one: int, other: int) -> bool:
        """Two slots that the writer has given and that differ are two facts, however alike their words."""
        return bool(self._given[one] and self._given[other] and self._fact[one] != self._fact[other])

    def _note(self, unit: int, code: str, likeness: float) -> None:
        """By the weakest of its links is a cluster named."""
        known = self._weakest.get(unit)
        if known is None or _ORDER.index(code) > _ORDER.index(known):
            self._weakest[unit] = code
        self._likeness[unit] = min(likeness, self._likeness.get(unit, 1.0))

    def _one_slot(self, first: Ints) -> Iterator[tuple[str, list[list[int]]]]:
        """Units by the fact they state: in a slot given at the write, then as the rules read them."""
        for code, given in (("duplicate_slot", True), ("duplicate_paraphrase", False)):
            units = first[(self._fact[first] != 0) & (self._given[first] == given)]
            key = mixed(self._fact[units] + self._reading.words.salt[units])
            order = np.argsort(key, kind="stable")
            runs = np.split(units[order], np.flatnonzero(np.diff(key[order]) != 0) + 1)
            yield code, [run.tolist() for run in runs if len(run) > 1]

    def _near(
        self, first: Ints, clusters: Clusters
    ) -> tuple[tuple[Threshold, ...], list[tuple[list[int], list[int], float]]]:
        one, other = self._candidates(first)
        thresholds, cut = self._thresholds(first)
        comparer = Comparer(self._reading, cut)
        likeness = similarity(self._reading, one, other, NEAR)
        near = likeness >= NEAR
        comparer.learn(one[near], other[near], likeness[near])

        def same(a: int, b: int) -> bool:
            if not self._together(a, b) or self._apart(a, b):
                return False
            return self._alike(a, b) or comparer.same(a, b)

        refused: list[tuple[int, int]] = []
        for s, a, b in sorted(comparer.near(), key=lambda pair: (-pair[0], pair[1:])):
            if not same(a, b):
                continue
            if clusters.merge(a, b, same):
                self._note(a, "duplicate_near", s)
                self._note(b, "duplicate_near", s)
            elif clusters.of(a) is not clusters.of(b):
                refused.append((a, b))
        return thresholds, list(_compared_again(clusters, refused, same))

    def _candidates(self, first: Ints) -> tuple[Ints, Ints]:
        """Pairs of units that share a rare key; of an incremental check-up, those with a fresh one."""
        unit = self._first == np.arange(self._reading.k) if len(first) < self._reading.k else None
        chosen = blocking.rarest(blocking.entries(self._reading.words, unit))
        fresh, near = self._fresh, self._asked.near
        if fresh is None:
            return blocking.pairs(chosen, self._reading.order)
        if near is None:
            return blocking.pairs(
                chosen, self._reading.order, lambda small, great: fresh[small] | fresh[great]
            )
        one, other = blocking.pairs(
            chosen, self._reading.order, lambda small, great: fresh[small] & fresh[great]
        )
        old, new = self._named(near.pairs)
        pairs = np.unique(np.column_stack([np.r_[one, old], np.r_[other, new]]), axis=0)
        return pairs[:, 0], pairs[:, 1]

    def _named(self, pairs: Ints) -> tuple[Ints, Ints]:
        """Units of pairs of artifacts, the smaller first; without those that are one already."""
        position = np.full(self._rows.n + 1, -1, np.int64)  # the last stands for what is not here
        position[self._row] = self._first
        ends = position[self._rows.find(pairs.reshape(-1))].reshape(-1, 2)
        ends = ends[(ends >= 0).all(axis=1) & (ends[:, 0] != ends[:, 1])]
        return ends.min(axis=1), ends.max(axis=1)

    def _thresholds(self, first: Ints) -> tuple[tuple[Threshold, ...], npt.NDArray[np.float64]]:
        reading, used = self._reading, []
        cut = np.ones(reading.k)
        for number, (kind, schema) in enumerate(reading.groups):
            rows = first[reading.group[first] == number]
            group = (MEASURE, kind, schema)
            known = self._asked.thresholds.get(group)
            if known is None or (self._asked.near is None and not known.holds_for(len(rows))):
                known = calibrated(group, rows, lambda a, b: similarity(reading, a, b))
            used.append(known)
            cut[reading.group == number] = known.value
        return tuple(used), cut

    # findings --------------------------------------------------------------------------------------

    def _rows_of(self, units: Iterable[int]) -> list[int]:
        positions = [position for unit in units for position in self._members.get(unit, [unit])]
        return [int(row) for row in self._row[sorted(positions)]]

    def _clusters(self, detector: Duplicates, clusters: Clusters) -> list[Finding]:
        joined = list(clusters.all())
        inside = {unit for units in joined for unit in units}
        joined = sorted(joined + [[unit] for unit in self._members if unit not in inside])
        findings: list[Finding] = []
        for units in joined:
            members = self._rows_of(units)
            if not any(map(self._asked.wants, members)):
                continue
            code = max((self._weakest[unit] for unit in units if unit in self._weakest), key=_ORDER.index)
            why, confidence = _CODES[code]
            measured = {
                "members": len(members),
                "likeness": min(self._likeness.get(unit, 1.0) for unit in units),
            }
            findings.append(
                about(detector, self._rows, members, code, why, confidence=confidence, measured=measured)
            )
        return findings

    def _groups(
        self, detector: Duplicates, proposals: list[tuple[list[int], list[int], float]]
    ) -> list[Finding]:
        why, confidence = _CODES["duplicate_group"]
        findings: list[Finding] = []
        for mine, yours, share in proposals:
            members = self._rows_of([*mine, *yours])
            if any(map(self._asked.wants, members)):
                measured = {"members": len(members), "share_of_pairs": share}
                findings.append(
                    about(
                        detector,
                        self._rows,
                        members,
                        "duplicate_group",
                        why,
                        confidence=confidence,
                        measured=measured,
                    )
                )
        return findings


def _hashed(text: str) -> int:
    """Never 0."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8, key=_KEY).digest()
    return int.from_bytes(digest, "little") | 1


def _compared_again(
    clusters: Clusters, refused: list[tuple[int, int]], same: blocking.Test
) -> Iterator[tuple[list[int], list[int], float]]:
    """The second pass: clusters that complete link kept apart although more than half of their pairs agree.

    Merged, their primaries hold the facts of all: a person may find that they are one. A chain of three is
    never among them: of {a, b} and {c} one pair of two agrees, which is not more than half.
    """
    told: set[tuple[int, int]] = set()
    for a, b in refused:
        mine, yours = sorted(clusters.of(a)), sorted(clusters.of(b))
        if mine[0] == yours[0] or (place := (min(mine[0], yours[0]), max(mine[0], yours[0]))) in told:
            continue
        told.add(place)
        agree = [same(min(x, y), max(x, y)) for x in mine for y in yours]
        if 2 * sum(agree) > len(agree):
            yield mine, yours, sum(agree) / len(agree)
