"""Marks of a text: what gives it away when it turns up in another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import TypeAlias

from memorepair.memory.artifact import Json, Key
from memorepair.memory.normalform import normal_form
from memorepair.repair.jsontext import canonical
from memorepair.repair.operators.sentences import sentences, tokens

LONGEST = 8
"""A run of this many words (Chinese: characters) gives a text away; longer sentences count by their runs."""

SHORTEST = 3
"""A whole sentence of at least this many words gives a text away."""

_LEAST_CHARACTERS = 4
_NAME = ""
"""Before a word alone: it has a capital, and in one of the two texts no sentence begins with it."""

Run: TypeAlias = tuple[str, ...]


def runs(text: str) -> Iterator[Run]:
    """Every run of 3 to 8 words inside a sentence, and every word alone, cased; linear in the text."""
    for words in _words(text):
        folded = [word.casefold() for word in words]
        for length in range(SHORTEST, LONGEST + 1):
            for start in range(len(words) - length + 1):
                yield tuple(folded[start : start + length])
        for place, word in enumerate(words):
            yield (word,)
            if place and _capital(word):
                yield (_NAME, word)


def field_runs(fields: Mapping[str, Json]) -> Iterator[Run]:
    """The runs of a JSON object read as ``name: value.`` sentences.

    A value is no prose: there a small letter does not tell a word from a name.
    """
    for run in runs(canonical(dict(fields))):
        yield run
        if len(run) == 1:
            yield (run[0].capitalize(),)


def marks(text: str) -> Iterator[Run]:
    """What gives a text away: its sentences, as whole or as runs of 8 words, and its distinctive words.

    A capital that begins a sentence says little; such a word counts where the other text has it inside one.
    """
    for words in _words(text):
        folded = [word.casefold() for word in words]
        if len(words) > LONGEST:
            for start in range(len(words) - LONGEST + 1):
                yield tuple(folded[start : start + LONGEST])
        elif len(words) >= SHORTEST and sum(map(len, words)) >= _LEAST_CHARACTERS:
            yield tuple(folded)
        for place, word in enumerate(words):
            if _identifier(word) or (place and _capital(word)):
                yield (word,)
            elif _capital(word):
                yield (_NAME, word)


def marked(texts: Mapping[Key, str]) -> dict[Run, Key]:
    """Mark -> an artifact whose text bears it."""
    return {mark: key for key, text in texts.items() for mark in marks(text)}


def recognised(
    said: Iterable[Run], withdrawn: Iterable[Mapping[Run, Key]], allowed: Iterable[str]
) -> list[Key]:
    """The withdrawn artifacts whose marks are among what is said and in none of the allowed texts.

    Notes
    -----
    Linear in what is said and in the texts, whatever number of marks there are.
    """
    heard = set(said)
    suspects: dict[Run, Key] = {}
    for marks_of in withdrawn:
        suspects.update((run, marks_of[run]) for run in heard if run in marks_of)
    return sorted(set(unsaid(suspects, allowed).values()))


def unsaid(marks_of: Mapping[Run, Key], texts: Iterable[str]) -> dict[Run, Key]:
    """The marks without those that the texts bear as well; linear in both."""
    left = dict(marks_of)
    if left:
        for run in chain.from_iterable(map(runs, texts)):
            left.pop(run, None)
            if len(run) == 1:
                left.pop((_NAME, *run), None)
    return left


def _words(text: str) -> Iterator[list[str]]:
    # Composed before words are told apart, the width of letters word by word: it would move full stops.
    for sentence in sentences(normal_form("NFC", text)):
        yield [normal_form("NFKC", word) for word in tokens(sentence)]


def _identifier(word: str) -> bool:
    """With a digit among four characters or more, or with an inner mark."""
    if len(word) >= _LEAST_CHARACTERS and any(letter.isdigit() for letter in word):
        return True
    return any(mark in word for mark in "_@")


def _capital(word: str) -> bool:
    return len(word) >= SHORTEST and word[0].isupper()
