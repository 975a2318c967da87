"""Marks of a text: what gives it away when it turns up in another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from memorepair.memory.artifact import Key
from memorepair.repair.operators.sentences import sentences, tokens

LONGEST = 8
"""A run of this many words (Chinese: characters) gives a text away; longer sentences count by their runs."""

SHORTEST = 3
"""A whole sentence of at least this many words gives a text away."""

_LEAST_CHARACTERS = 4

Run: TypeAlias = tuple[str, ...]


def runs(text: str) -> Iterator[Run]:
    """Every run of 3 to 8 words inside a sentence, and every word alone, cased; linear in the text."""
    for words in _words(text):
        folded = [word.casefold() for word in words]
        for length in range(SHORTEST, LONGEST + 1):
            for start in range(len(words) - length + 1):
                yield tuple(folded[start : start + length])
        for word in words:
            yield (word,)


def marks(text: str) -> Iterator[Run]:
    """What gives a text away: its sentences, as whole or as runs of 8 words, and its distinctive words."""
    for words in _words(text):
        folded = [word.casefold() for word in words]
        if len(words) > LONGEST:
            for start in range(len(words) - LONGEST + 1):
                yield tuple(folded[start : start + LONGEST])
        elif len(words) >= SHORTEST and sum(map(len, words)) >= _LEAST_CHARACTERS:
            yield tuple(folded)
        for place, word in enumerate(words):
            if _distinctive(word, first=place == 0):
                yield (word,)


def _words(text: str) -> Iterator[list[str]]:
    return (tokens(sentence) for sentence in sentences(text))


def _distinctive(word: str, *, first: bool) -> bool:
    """Names and identifiers: a digit and four characters, an inner mark, or a capital inside a sentence."""
    if len(word) >= _LEAST_CHARACTERS and any(letter.isdigit() for letter in word):
        return True
    if any(mark in word for mark in "_@"):
        return True
    return not first and len(word) >= SHORTEST and word[0].isupper()


def marked(texts: Mapping[Key, str]) -> dict[Run, Key]:
    """Mark -> an artifact whose text bears it."""
    return {mark: key for key, text in texts.items() for mark in marks(text)}
