"""Inheritance: how the next version of an artifact is described."""

from __future__ import annotations

from dataclasses import replace

from memorepair.memory.artifact import Artifact, Draft


def inheriting(draft: Draft, old: Artifact | None) -> Draft:
    """The draft described as the version before, without what said something of that version's content.

    Type, place (slot), confidence and metadata go on; the slot's value and the embedding do not.
    """
    if old is None:
        return draft
    slot = None if old.slot is None else replace(old.slot, value=None)
    return replace(draft, type=old.type, slot=slot, confidence=old.confidence, metadata=old.metadata)
