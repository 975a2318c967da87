"""Inheritance: how the next version of an artifact is described."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from memorepair.memory.artifact import Artifact, Draft, Json, Key, Slot
from memorepair.repair.checks.marks import Run, field_runs, recognised


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """What a description must not give away: marks of withdrawn texts, but for what the allowed texts say."""

    marks: tuple[Mapping[Run, Key], ...]
    allowed: tuple[str, ...] = ()

    def told_by(self, name: str, value: Json) -> bool:
        """Whether a field gives something away."""
        return bool(recognised(field_runs({name: value}), self.marks, self.allowed))


def inheriting(draft: Draft, old: Artifact | None, gone: Gone) -> Draft:
    """The draft described as the version before, without what said something of that version's content.

    Type goes on, and place (slot) and metadata field by field, where they give nothing away that is gone.
    Confidence, embedding, and the slot's value, polarity and times were said of the old text and do not.
    """
    if old is None:
        return draft
    metadata = {name: value for name, value in old.metadata.items() if not gone.told_by(name, value)}
    return replace(draft, type=old.type, slot=_place(old.slot, gone), metadata=metadata)


def _place(slot: Slot | None, gone: Gone) -> Slot | None:
    if slot is None or gone.told_by("entity", slot.entity) or gone.told_by("attribute", slot.attribute):
        return None
    scene = None if gone.told_by("scene", slot.scene) else slot.scene
    return Slot(entity=slot.entity, attribute=slot.attribute, scene=scene)


def tells(old: Artifact, gone: Gone) -> bool:
    """Whether the description of a version gives away what is gone, so that it must not be served again."""
    fields: list[tuple[str, Json]] = list(old.metadata.items())
    if old.slot is not None:
        slot = old.slot
        fields += [("entity", slot.entity), ("attribute", slot.attribute)]
        fields += [("value", slot.value), ("scene", slot.scene)]
    return any(gone.told_by(name, value) for name, value in fields)
