"""Extraction: the port through which statements get their slots when they are written.

Slots are what contradictions and repetitions are found by, whatever the wording. They come from the writer,
else from this port; what has neither is read by the check-up's rules, which see little of free wording.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from memorepair.errors import InvalidInput
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import Draft, Slot

Extractor: TypeAlias = Callable[[Sequence[str]], Sequence[Slot | None]]
"""Gives each text the slot that it fills, None where it states no one thing; as many as there are texts.

Called before a write begins, outside of any transaction; what it raises reaches the caller, and nothing is
written.
"""

STATED = frozenset({Kind.RECORD, Kind.SUMMARY})
"""Kinds of artifacts that state something."""


def extracted(drafts: Sequence[Draft], extractor: Extractor | None) -> list[Draft]:
    """The drafts, with the slots that an extractor gives to those that state something and have none.

    Raises
    ------
    InvalidInput
        It gives something else than a slot or None for each text.
    """
    found = list(drafts)
    if extractor is None:
        return found
    wanted = [
        place
        for place, draft in enumerate(found)
        if isinstance(draft, Draft) and draft.slot is None and draft.kind in STATED and draft.content.strip()
    ]
    if not wanted:
        return found
    slots = extractor([found[place].content for place in wanted])
    if not isinstance(slots, Sequence) or len(slots) != len(wanted):
        raise InvalidInput(f"an extractor gives a slot or None for each of {len(wanted)} texts", witness=None)
    for place, slot in zip(wanted, slots, strict=True):
        if slot is not None and not isinstance(slot, Slot):
            raise InvalidInput("what an extractor gives is a Slot or None", witness=found[place].key)
        found[place] = replace(found[place], slot=slot)
    return found
