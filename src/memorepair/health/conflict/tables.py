"""Tables: what the rules know of a language, as data; a language registers its own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

Pattern = re.Pattern[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """One language. Texts come to it in lower case, numbers and units in one spelling.

    Attributes
    ----------
    language
        Its name.
    spelling
        (pattern, replacement), applied in order before anything else is read.
    numbers
        Number words in context: what the pattern finds becomes the digits that `number` gives.
    scenes
        What a sentence begins with when it holds in a scene only; group 1 is the scene.
    limits
        Words that weaken a preference: a little, 偶尔.
    preference
        A preference: subject ``s``, negation ``n``, aversion ``m``, topic ``v``.
    habits
        The same without a verb of liking.
    attributes
        (pattern with subject ``s`` and value ``v``, attribute): facts, first match first. ``n`` negates.
    idle
        What may be left out of a sentence without a change of what it states.
    negation
        Tells inside ``n`` that it negates.
    denial
        Whatever denies, and endings it changes: without them, what is denied and what is said look the same.
    denials
        Counts denials in a text.
    antonyms
        Two values that exclude each other.
    units
        Unit -> (base unit, factor), of which `spelling` knows the names.
    many
        Attributes that hold several values at once.
    single, single_begins
        Attributes that hold one, by name or by how the name begins; of others nobody has said.
    change
        Words that announce a change.
    excludes
        Words that rule something out, whatever the words of what they rule out.
    fillers
        Words that tell no subject from another.
    pronouns
        Subjects that say nothing without the sentence before.
    speaker
        Finds the person the memory is about.
    """

    language: str
    spelling: tuple[tuple[Pattern, str], ...]
    scenes: Pattern
    limits: Pattern
    preference: Pattern
    attributes: tuple[tuple[Pattern, str], ...]
    idle: Pattern
    negation: Pattern
    denial: Pattern
    denials: Pattern
    antonyms: frozenset[frozenset[str]]
    many: frozenset[str]
    single: frozenset[str]
    change: Pattern
    excludes: Pattern
    fillers: frozenset[str]
    pronouns: frozenset[str]
    speaker: Pattern
    single_begins: tuple[str, ...] = ()
    habits: Pattern | None = None
    not_preference: Pattern | None = None
    numbers: Pattern | None = None
    units: Mapping[str, tuple[str, float]] = field(default_factory=lambda: MappingProxyType({}))


def words(text: str) -> frozenset[str]:
    """Words between spaces."""
    return frozenset(text.split())


def pairs(text: str) -> frozenset[frozenset[str]]:
    """Antonyms from ``a/b c/d``."""
    return frozenset(frozenset(pair.split("/")) for pair in text.split())
