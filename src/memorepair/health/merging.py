"""Merging: of artifacts that say the same the richest stays, with what the others say beyond it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from memorepair.health.wording import wording
from memorepair.memory.artifact import Artifact, Draft, Json, Source

TRUST = {
    Source.HUMAN: 3,
    Source.SYSTEM: 3,
    Source.USER: 3,
    Source.TOOL: 2,
    Source.EXTRACTION: 1,
    Source.LOG: 0,
}
"""How far a source is trusted."""

RELATED = "related"
"""Member of the metadata that holds what duplicates said in other words."""

_Rank: TypeAlias = tuple[int, int, int, float, int, str]


def richness(one: Artifact) -> _Rank:
    """Greatest of the artifact that should stay: words, description, trust in the source, certainty, time.

    Never the id, but to tell equals apart.
    """
    said = len(one.metadata) + (one.slot is not None) + (one.type is not None)
    return (
        len("".join(one.content.split())),
        said,
        TRUST[one.source],
        0.5 if one.confidence is None else one.confidence,
        one.updated_at,
        str(one.key),
    )


def merged(members: Sequence[Artifact]) -> tuple[Artifact, Draft]:
    """The one that stays, and its next version: it stands on the others, also where they add nothing."""
    primary = max(members, key=richness)
    others = sorted((one for one in members if one is not primary), key=richness, reverse=True)
    metadata: dict[str, Json] = dict(primary.metadata)
    known = {wording(primary.content).exact}
    related = [note for note in _listed(metadata.get(RELATED)) if isinstance(note, str)]
    known |= {wording(note).exact for note in related}
    for one in others:
        for name, value in one.metadata.items():
            if name != RELATED and metadata.setdefault(name, value) != value:
                differs = f"{name}: {value}"
                if differs not in related:
                    related.append(differs)
        for note in [one.content, *_listed(one.metadata.get(RELATED))]:
            if isinstance(note, str) and (exact := wording(note).exact) not in known:
                known.add(exact)
                related.append(note)
    if related:
        metadata[RELATED] = list[Json](related)
    draft = Draft(
        key=primary.key,
        content=primary.content,
        kind=primary.kind,
        arch=primary.arch,
        source=primary.source,
        type=next((one.type for one in [primary, *others] if one.type is not None), None),
        slot=next((one.slot for one in [primary, *others] if one.slot is not None), None),
        confidence=max((one.confidence for one in members if one.confidence is not None), default=None),
        metadata=metadata,
    )
    return primary, draft


def _listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
