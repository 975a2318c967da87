"""Populations: stores of a chosen size with cascades of a known size, drawn from a seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from memorepair.graphs.digraph import Int64
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import Draft, Key, Read

ARCS_AN_ARTIFACT = 3
SCOPE_SIZE = 1_000
TEXT_BYTES = 134
COMMON = "agent"
"""A word of every text."""

_RECORDS = 0.3
_WORDS = 20_000
_CHINESE = "用户喜欢在周末去山里徒步旅行并且讨厌下雨天所以我们把会议改到下周三上午十点开始请提前准备材料"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Population:
    """Who reads whom.

    Attributes
    ----------
    n
        Artifacts; number i is written as the i-th.
    families : tuple of (size,) int64
        Each is the cascade of its first member, ascending and scattered over the whole store.
    starts : (n + 1,) int64
        Artifact i reads ``sources[starts[i] : starts[i + 1]]``.
    sources : (ARCS_AN_ARTIFACT n,) int64
        All earlier than their reader; inside a family, of the family.
    """

    n: int
    families: tuple[Int64, ...]
    starts: Int64
    sources: Int64

    def key(self, number: int) -> Key:
        """Its key; scopes are interleaved, so a cascade crosses them."""
        return key(self.n, number)

    def drafts(self, first: int, last: int) -> Iterator[Draft]:
        """Artifacts `first` to `last`, exclusive."""
        words = np.random.default_rng(first).integers(_WORDS, size=(last - first, 12)).tolist()
        for number, drawn in zip(range(first, last), words, strict=True):
            sources = self.sources[self.starts[number] : self.starts[number + 1]].tolist()
            yield Draft(
                key=self.key(number),
                content=text(number, drawn),
                kind=Kind.SUMMARY if sources else Kind.RECORD,
                reads=tuple(Read(key=self.key(source)) for source in sources),
            )


def key(n: int, number: int) -> Key:
    """The key of an artifact among n."""
    scopes = max(1, n // SCOPE_SIZE)
    return Key(("user", str(number % scopes)), f"a{number}")


def rare(number: int) -> str:
    """A word of artifact `number` alone."""
    return f"no{number:07d}x"


def text(number: int, words: list[int]) -> str:
    """About `TEXT_BYTES` bytes, every fifth in Chinese."""
    head = f"{rare(number)} {COMMON} "
    if number % 5 == 0:
        turn = number % len(_CHINESE)
        return head + (_CHINESE[turn:] + _CHINESE[:turn])[: (TEXT_BYTES - len(head)) // 3]
    return (head + " ".join(f"word{word}" for word in words))[:TEXT_BYTES]


def draw(n: int, sizes: list[int], *, seed: int = 0) -> Population:
    """Families of the given sizes among n artifacts; of the others, 3 in 10 read nothing."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    bounds = np.cumsum([0, *sizes])
    families = tuple(np.sort(order[a:b]).astype(np.int64) for a, b in pairwise(bounds.tolist()))
    rest = np.sort(order[bounds[-1] :]).astype(np.int64)
    reading = rest[int(_RECORDS * len(rest)) :]  # the earliest read nothing: records come first
    counts = np.zeros(n, np.int64)
    for family in families:
        counts[family] = np.minimum(np.arange(len(family)), ARCS_AN_ARTIFACT)
    left = ARCS_AN_ARTIFACT * n - int(counts.sum())
    counts[reading] = left // len(reading)
    counts[reading[: left % len(reading)]] += 1
    starts = np.concatenate(([0], np.cumsum(counts)))
    sources = np.empty(starts[-1], np.int64)
    for pool, readers in [*((family, family) for family in families), (rest, reading)]:
        reads = counts[readers]
        reader = np.repeat(np.searchsorted(pool, readers), reads)
        nth = np.arange(len(reader)) - np.repeat(np.cumsum(reads) - reads, reads)
        # The nth read falls into the nth of as many equal parts of what is earlier: all distinct.
        parts = np.repeat(reads, reads)
        low, high = reader * nth // parts, reader * (nth + 1) // parts
        chosen = low + (rng.random(len(reader)) * (high - low)).astype(np.int64)
        sources[np.repeat(starts[readers], reads) + nth] = pool[chosen]
    return Population(n=n, families=families, starts=starts, sources=sources)
