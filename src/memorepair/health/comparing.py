"""Comparing: whether two texts say the same, by their likeness and by where they differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from memorepair.health.alignment import Difference, Span, differences, is_typo
from memorepair.health.reading import Reading

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

MEASURE = "token_sort_ratio"
"""The similarity of two token lists, each sorted: 1 - insertions and deletions / length (rapidfuzz)."""

NEAR = 0.6
"""Likeness from which on a pair tells what varies."""

_BATCH = 1 << 15
_VALUES = 2
_RARE_COUNT, _RARE_SHARE = 8, 0.01
_VOUCHERS = 3


def similarity(reading: Reading, one: Ints, other: Ints, floor: float = 0.0) -> Floats:
    """Likeness of rows (p,) with rows (p,), each within 0 and 1; 0 where it is below `floor`."""
    from rapidfuzz import fuzz, process

    words = reading.said
    parts = [
        process.cpdist(
            [words[row] for row in one[start : start + _BATCH].tolist()],
            [words[row] for row in other[start : start + _BATCH].tolist()],
            scorer=fuzz.token_sort_ratio,
            score_cutoff=100 * floor,
            dtype=np.float32,
        )
        for start in range(0, len(one), _BATCH)
    ]
    joined = np.concatenate(parts) if parts else np.zeros(0, np.float32)
    return joined.astype(np.float64) / 100


class Comparer:
    """Decides pairs of rows; remembers what neighbours of a row vary.

    Parameters
    ----------
    reading
        The texts.
    cut : (k,) float64
        The threshold of each row's group; a pair needs the greater.
    """

    def __init__(self, reading: Reading, cut: Floats) -> None:
        self._reading = reading
        self._cut = cut
        self._tokens = reading.tokenised()
        self._frequency = reading.frequency()
        self._rare = max(_RARE_COUNT, _RARE_SHARE * reading.population)
        self._fills: defaultdict[tuple[int, Span], set[str]] = defaultdict(set)
        self._known: dict[tuple[int, int], float] = {}
        self.compared = 0

    def learn(self, one: Ints, other: Ints, likeness: Floats) -> None:
        """Take note of near pairs: a span that several neighbours fill differently is a variable.

        Of a family of templated rows every two differ in one place, and it is always the same place.
        """
        for i, j, s in zip(one.tolist(), other.tolist(), likeness.tolist(), strict=True):
            self._known[i, j] = s
            found = self._differences(i, j)
            if len(found) == 1 and not is_typo(found[0], self._frequency, record=False):
                self._fills[i, found[0].here].add(found[0].instead)
                self._fills[j, found[0].there].add(found[0].said)

    def near(self) -> Iterator[tuple[float, int, int]]:
        """Learned pairs over their threshold, as (likeness, row, row)."""
        for (i, j), s in self._known.items():
            if s >= max(self._cut[i], self._cut[j]):
                yield s, i, j

    def likeness(self, i: int, j: int) -> float:
        """Of one pair, computed where the blocks had missed it."""
        pair = (i, j) if i < j else (j, i)
        found = self._known.get(pair)
        if found is None:
            found = float(similarity(self._reading, np.array([i]), np.array([j]))[0])
            self._known[pair] = found
        return found

    def same(self, i: int, j: int) -> bool:
        """Whether two rows say the same thing."""
        self.compared += 1
        if self.likeness(i, j) < max(self._cut[i], self._cut[j]):
            return False
        record = self._both_records(i, j)
        found = self._differences(i, j)
        clashes = [one for one in found if not is_typo(one, self._frequency, record=record)]
        if len(found) == 1 and self._open(i, j, found[0]):
            return False
        shared = set(self._tokens(i)) & set(self._tokens(j))
        if not record:
            return not clashes and bool(shared)
        # Values that identify, and misspelt ones: they vouch for the pair against those that differ.
        vouchers = sum(self._frequency(word) <= self._rare for word in shared) + len(found) - len(clashes)
        return vouchers >= _VOUCHERS and len(clashes) <= vouchers // 2

    def _both_records(self, i: int, j: int) -> bool:
        return bool(self._reading.record[i] and self._reading.record[j])

    def _differences(self, i: int, j: int) -> list[Difference]:
        return differences(self._tokens(i), self._tokens(j), record=self._both_records(i, j))

    def _open(self, i: int, j: int, found: Difference) -> bool:
        return any(len(self._fills.get(place, ())) > _VALUES for place in ((i, found.here), (j, found.there)))

    def rare(self, rows: Sequence[int]) -> set[str]:
        """Identifying words of rows together."""
        return {word for row in rows for word in self._tokens(row) if self._frequency(word) <= self._rare}
