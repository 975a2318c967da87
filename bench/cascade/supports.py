"""Second supports: reads that can stand for each other, told from the facts that what was read has in common.

A text, or the arguments of a call, states facts (values, telling words). A fact that several of its sources
brought needs one of them; sources that bring nothing of it, and those that position alone links, are needed.
So what the artifact stands on are the smallest sets of sources that bring all its facts: alternatives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from memorepair.memory.artifact import Draft, Key, Read

Facts = frozenset[str]

MOST = 8
"""Smallest sets that are listed of one artifact; with more, all its sources are needed."""


def with_supports(
    drafts: Iterable[Draft],
    *,
    states: Callable[[Draft], Facts],
    brings: Callable[[Draft], Facts],
    replaceable: Callable[[Draft, Key], bool],
) -> tuple[Draft, ...]:
    """The same drafts with a group of reads for each alternative; group 0 still has all.

    Parameters
    ----------
    states, brings
        Facts that an artifact repeats, and those that one can have from it.
    replaceable
        Whether an artifact read a source for its facts alone.
    """
    drafts = tuple(drafts)
    known = {draft.key: draft for draft in drafts}
    brought: dict[Key, Facts] = {}

    def of(key: Key) -> Facts:
        if key not in brought:
            brought[key] = brings(known[key])
        return brought[key]

    found = []
    for draft in drafts:
        keys = list(dict.fromkeys(read.key for read in draft.reads))
        soft = [key for key in keys if replaceable(draft, key)]
        if len(soft) < 2:
            found.append(draft)
            continue
        told = frozenset[str]().union(*(of(key) for key in keys if key not in soft))
        holders = {frozenset(key for key in soft if fact in of(key)) for fact in states(draft) - told}
        holders.discard(frozenset())
        groups = smallest(holders)
        needed = [key for key in keys if not any(key in one for one in holders)]
        if len(groups) < 2:
            found.append(draft)
            continue
        found.append(replace(draft, reads=(*draft.reads, *_reads(draft.reads, needed, groups))))
    return tuple(found)


def _reads(reads: Sequence[Read], needed: Sequence[Key], groups: Sequence[frozenset[Key]]) -> list[Read]:
    by_key = {read.key: read for read in reads}
    return [
        replace(by_key[key], group=number)
        for number, group in enumerate(groups, start=1)
        for key in (*needed, *sorted(group))
    ]


def smallest(edges: Iterable[frozenset[Key]]) -> list[frozenset[Key]]:
    """The minimal sets that meet every edge, in order; none where there are more than `MOST` on the way."""
    # Berge: the minimal transversals of e_1 .. e_i from those of e_1 .. e_(i-1).
    covers: set[frozenset[Key]] = {frozenset()}
    for edge in sorted(edges, key=lambda one: (len(one), sorted(one))):
        grown = {cover if cover & edge else cover | {key} for cover in covers for key in edge}
        covers = {one for one in grown if not any(other < one for other in grown)}
        if len(covers) > MOST:
            return []
    return sorted(covers, key=lambda one: (len(one), sorted(one)))


def each_by_itself(drafts: Iterable[Draft]) -> tuple[Draft, ...]:
    """Every source enough by itself: an artifact goes with the last of them."""
    return tuple(
        replace(
            draft,
            reads=tuple(
                replace(read, group=number)
                for number, read in enumerate({read.key: read for read in reversed(draft.reads)}.values())
            ),
        )
        for draft in drafts
    )
