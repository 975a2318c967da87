"""Dividing: a remedy as several, each for part of its artifacts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memorepair.governance import Item
from memorepair.health.remedies import Wanted
from memorepair.memory.artifact import Json, Key
from memorepair.repair.ports import Remedy


def singly(wanted: Wanted) -> list[Wanted]:
    """The remedy for each group, pair or artifact by itself; none where it is one already."""
    groups = places(wanted)
    if len(groups) < 2:
        return []
    return [_part(wanted, [group]) for group in groups]


def set_apart(wanted: Wanted, stuck: frozenset[Key]) -> tuple[Wanted | None, Wanted | None]:
    """What may go on, and what a person has to look at."""
    groups = places(wanted)
    held = [group for group in groups if any(wanted.keys[place] in stuck for place in group)]
    free = [group for group in groups if group not in held]
    return (_part(wanted, free) if free else None), (_part(wanted, held) if held else None)


def places(wanted: Wanted | Item) -> list[list[int]]:
    """The places of its keys, by group, pair or artifact."""
    groups = wanted.params.get("groups")
    if wanted.remedy is Remedy.MERGE and isinstance(groups, list):
        lists = [group for group in groups if isinstance(group, list)]
        return [[place for place in group if isinstance(place, int)] for group in lists]
    size = 2 if wanted.remedy in (Remedy.SETTLE, Remedy.REVIEW) else 1
    return [list(range(start, start + size)) for start in range(0, len(wanted.keys), size)]


def _part(wanted: Wanted, groups: Sequence[Sequence[int]]) -> Wanted:
    chosen = [place for group in groups for place in group]
    params: dict[str, Json] = {}
    if wanted.remedy is Remedy.MERGE:
        joined: list[Json] = []
        start = 0
        for group in groups:
            joined.append(list[Json](range(start, start + len(group))))
            start += len(group)
        params["groups"] = joined
    weights = wanted.params.get("weights")
    if isinstance(weights, list):
        params["weights"] = [weights[place] for place in chosen]
    return replace(wanted, keys=tuple(wanted.keys[place] for place in chosen), params=params)
