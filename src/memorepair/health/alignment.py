"""Alignment: in which places two texts differ, and whether a difference is a misspelling."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from memorepair.health.wording import GUARDS, IDLE, is_cjk

Span: TypeAlias = tuple[int, int]

_EDITS = 2
_EDITED_SHARE = 0.25
_SHORT, _LONG = 5, 8
_SPARE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A place where two token lists differ: the span in each, half open, and what stands there."""

    here: Span
    there: Span
    said: str
    instead: str

    def turned(self) -> Difference:
        """Seen from the other text."""
        return Difference(here=self.there, there=self.here, said=self.instead, instead=self.said)


def differences(one: Sequence[str], other: Sequence[str], *, record: bool) -> list[Difference]:
    """Places that tell two texts apart, by a longest common subsequence of their tokens.

    Of a record a missing value is none, and so are two values that have changed places. Of a sentence words
    that only one of them has are none, unless they are a guard, hold a digit, or have moved, or are more than
    one in `_SPARE`, idle words not counted.
    """
    found: list[Difference] = []
    spare: list[Difference] = []
    moved: set[str] = set()
    for here, there in _unequal(one, other):
        mine, yours = one[here[0] : here[1]], other[there[0] : there[1]]
        difference = Difference(here=here, there=there, said=" ".join(mine), instead=" ".join(yours))
        if mine and yours:
            found.append(difference)
        elif not record:
            words = {*mine, *yours}
            if words & (GUARDS | moved) or any(any(map(str.isdigit, word)) for word in words):
                found.append(difference)
            else:
                spare.append(difference)
            moved |= words
    if not record:
        more = sum(word not in IDLE for one_more in spare for word in _words(one_more))
        return found + spare if more * _SPARE > max(len(one), len(other)) else found
    said = Counter(difference.said for difference in found)
    return [difference for difference in found if not said[difference.instead]]


def _words(difference: Difference) -> list[str]:
    return f"{difference.said} {difference.instead}".split()


def _unequal(one: Sequence[str], other: Sequence[str]) -> list[tuple[Span, Span]]:
    from rapidfuzz.distance import Indel

    spans: list[tuple[Span, Span]] = []
    i = j = 0
    for block in Indel.opcodes(one, other).as_matching_blocks():
        if i < block.a or j < block.b:
            spans.append(((i, block.a), (j, block.b)))
        i, j = block.a + block.size, block.b + block.size
    return spans


def is_typo(difference: Difference, frequency: Callable[[str], int], *, record: bool) -> bool:
    """Whether one of the two spellings is a mistake for the other.

    In a record other values vouch for the pair, so two edits, or a quarter of the letters, are forgiven. In a
    sentence nothing does: one edit of five letters, two of eight, behind the first letter, which is seldom
    mistyped (Anna and Hanna are two people); no digit (10231 and 10232 are two orders); and one of the
    spellings is known nowhere else. A Chinese character is never a misspelling of another.
    """
    from rapidfuzz.distance import OSA

    said, instead = difference.said, difference.instead
    if is_cjk(said) or is_cjk(instead):
        return False
    plain, other = said.replace(" ", ""), instead.replace(" ", "")
    if record:
        most = max(_EDITS, int(_EDITED_SHARE * len(plain)))
        return OSA.distance(plain, other, score_cutoff=most) <= most
    length = min(len(said), len(instead))
    if length < _SHORT or said[0] != instead[0] or any(map(str.isdigit, said + instead)):
        return False
    most = _EDITS if length >= _LONG else 1
    if OSA.distance(plain, other, score_cutoff=most) > most:
        return False
    unshared = set(said.split()) ^ set(instead.split())
    return min(map(frequency, unshared), default=1) <= 1
