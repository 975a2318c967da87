"""Inheritance: how the next version of an artifact is described."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from html import unescape
from urllib.parse import unquote

from memorepair.memory.artifact import Artifact, Draft, Json, Key, Recipe, Slot, TaskCase
from memorepair.memory.normalform import normal_form
from memorepair.memory.secret import folded
from memorepair.repair.checks.marks import Run, field_runs, recognised
from memorepair.repair.jsontext import canonical
from memorepair.repair.operators.sentences import tokens

_JOINED = 8
"""Letters of a text that are known again where its words run together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """What a description must not give away: marks of withdrawn texts, but for what the allowed texts say.

    `texts` are those texts themselves.
    """

    marks: tuple[Mapping[Run, Key], ...]
    allowed: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    _kept: list[Mapping[str, str]] = field(default_factory=list, init=False, repr=False, compare=False)

    def told_by(self, name: str, value: Json) -> bool:
        """Whether a field gives something away: a mark, or a withdrawn text as a whole, however short."""
        return self.repeated_by({name: value}) or bool(
            recognised(field_runs({name: value}), self.marks, self.allowed)
        )

    def repeated_by(self, value: Json) -> bool:
        """Whether somewhere in a value a withdrawn text stands as a whole, and no allowed text says it.

        In any case, width, white space and punctuation, beside other words or spread over several members;
        but a text of one word only where it is all that a member, or a name, says. From some length on also
        with its words run together or joined by whatever signs, as in a file's name.
        """
        wholes = self._wholes()
        if not wholes:
            return False
        told = list(_leaves(value))
        leaves, bare = [_said(leaf) for leaf in told], [_bare(leaf) for leaf in told]
        if not wholes.keys().isdisjoint(leaves) or not set(wholes.values()).isdisjoint(filter(None, bare)):
            return True
        together, joined = " " + " ".join(leaf.strip() for leaf in leaves) + " ", "".join(bare)
        return any(
            whole in together or (len(letters) >= _JOINED and letters in joined)
            for whole, letters in wholes.items()
            if " " in whole.strip()
        )

    def _wholes(self) -> Mapping[str, str]:
        """What each text says that no allowed text says, with its letters alone; none where one has them."""
        if not self._kept:
            allowed = [(_said(text), _bare(text)) for text in self.allowed]
            said = {_said(text): _bare(text) for text in self.texts if text.strip()}
            self._kept.append(
                {
                    one: "" if any(bare in letters for _, letters in allowed) else bare
                    for one, bare in said.items()
                    if not any(one in text for text, _ in allowed)
                }
            )
        return self._kept[0]

    def quoted_by(self, phrase: str) -> bool:
        """Whether a phrase, however short, is in a withdrawn text and in none that is allowed."""
        wanted = folded(phrase)
        return any(wanted in folded(text) for text in self.texts) and not any(
            wanted in folded(text) for text in self.allowed
        )


def _said(text: str) -> str:
    """The words of a text between blanks, whatever their case and width; where there are none, its signs."""
    plain = folded(text)
    signs = "".join(sign for sign in plain if not unicodedata.category(sign).startswith("P"))
    return f" {' '.join(tokens(plain)) or signs or plain} "


def _bare(text: str) -> str:
    """The letters and digits of a text, whatever their case, width and accents, and what is between them."""
    plain = normal_form("NFKD", unescape(unquote(text))).casefold()
    return "".join(sign for sign in plain if sign.isalnum())


def _leaves(value: Json) -> Iterator[str]:
    """What a JSON value says in words, names of members included; numbers and truth values as written."""
    unread: list[Json] = [value]
    while unread:
        here = unread.pop()
        if isinstance(here, Mapping):
            for name, below in reversed(here.items()):
                unread += (below, name)
        elif isinstance(here, list | tuple):
            unread += reversed(here)
        elif here is not None:
            yield here if isinstance(here, str) else canonical(here)


def inheriting(draft: Draft, old: Artifact | None, gone: Gone) -> Draft:
    """The draft described as the version before, without what said something of that version's content.

    Type goes on, and place (slot) and metadata field by field, where they give nothing away that is gone.
    Confidence, embedding, and the slot's value, polarity and times were said of the old text and do not.
    """
    if old is None:
        return draft
    metadata = {name: value for name, value in old.metadata.items() if not gone.told_by(name, value)}
    return replace(draft, type=old.type, slot=_place(old.slot, gone), metadata=metadata)


def omitted(old: Artifact, draft: Draft, gone: Gone) -> tuple[str, ...]:
    """What of a version's description the next one does not take over because it tells, by name.

    A name that tells is not repeated. The confidence, and what a slot states, are never taken over.
    """
    left = [name for name in old.metadata if name not in draft.metadata]
    named = [f"metadata {name}" for name in left if not gone.told_by(name, None)]
    if hidden := len(left) - len(named):
        named.append(f"{hidden} of its metadata")
    if old.slot is not None and draft.slot is None:
        named.append("its slot")
    elif old.slot is not None and draft.slot is not None and draft.slot.scene != old.slot.scene:
        named.append("the scene of its slot")
    return tuple(named)


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


def without_quotes(recipe: Recipe, gone: Gone) -> Recipe:
    """The recipe without the task cases that quote what is gone.

    They have done their work on the version that is stored with what is left; kept, they would hold on to the
    words for ever, beyond an erasure.
    """
    kept = tuple(case for case in recipe.cases if not _quotes(case, gone))
    return recipe if len(kept) == len(recipe.cases) else replace(recipe, cases=kept)


def recipe_tells(recipe: Recipe, gone: Gone) -> bool:
    """Whether any part of a recipe quotes what is gone."""
    told: dict[str, Json] = {
        **recipe.params,
        "schema": None if recipe.schema is None else dict(recipe.schema),
    }
    return any(gone.told_by(name, value) for name, value in told.items()) or any(
        _quotes(case, gone) for case in recipe.cases
    )


def _quotes(case: TaskCase, gone: Gone) -> bool:
    return gone.told_by("case", case.name) or any(map(gone.quoted_by, (*case.contains, *case.excludes)))
