"""Tokens: what a text says, as words, numbers, dates and times in one spelling each."""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from memorepair.graphs.digraph import read_only
from memorepair.memory.normalform import normal_form
from memorepair.repair.audit.ragged import Ints, distinct, expand, numbered, offsets_of

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}
_MONTH = "(" + "|".join(_MONTHS) + ")"
_TIME = re.compile(r"\b(\d{1,2}):(\d\d)(?::\d\d)?(?:\+\d)?\s*([ap]m)?")
_ISO_DATE = re.compile(r"\b\d{4}-(\d\d)-(\d\d)")
_MONTH_DAY = re.compile(rf"\b{_MONTH}\.? (\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? \d{{4}})?")
_DAY_MONTH = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)? {_MONTH}\b(?:,? \d{{4}})?")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_POINT_ZERO = re.compile(r"(\d)\.0\b")
# Han, kana: written without spaces, so a character is a word, and two neighbours are what tells.
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_WORD = re.compile(r"[^\W_](?:[\w@.\-]*[\w@])?")

_COMMON = frozenset(
    re.findall(
        r"\w+",
        "the a an of to and or in on at is are was were for with be it this that as by from has have had you"
        " your i we our will would can not no yes if please",
    )
)
_SHORT_NUMBER = 2
_SHORT_WORD = 2
_SHORT_PART = 4


def normal(text: str) -> str:
    """Lower case, with times, dates and numbers in one spelling, and Chinese and Japanese by the character.

    07:00 PM and 19:00:00 become t1900, May 20th and 2024-05-20 become d0520, 1,204.0 becomes 1204.
    """
    if not text.isascii():
        text = _UNSPACED.sub(r" \g<0> ", normal_form("NFKC", text))
    text = text.lower()
    text = _ISO_DATE.sub(r" d\1\2 ", text)
    if ":" in text:
        text = _TIME.sub(_time, text)
    text = _MONTH_DAY.sub(lambda m: f" d{_MONTHS[m[1]]:02d}{int(m[2]):02d} ", text)
    text = _DAY_MONTH.sub(lambda m: f" d{_MONTHS[m[2]]:02d}{int(m[1]):02d} ", text)
    return _POINT_ZERO.sub(r"\1", _THOUSANDS.sub("", text))


def _time(found: re.Match[str]) -> str:
    hour = int(found[1])
    if found[3]:
        hour = hour % 12 + 12 * (found[3] == "pm")
    return f" t{hour:02d}{found[2]} "


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tokens:
    """Which tokens each of the n texts holds: words, and pairs of neighbouring content words.

    Attributes
    ----------
    offsets : (n + 1,) int64
        The tokens of text i are ``tokens[offsets[i]:offsets[i + 1]]``, ascending, each once.
    tokens : (m,) int64
        From 0.
    codes : (t,) int64
        What a token is: below the number of words a word, else a pair (see `name`).
    words : tuple of str
        The vocabulary.
    """

    offsets: Ints
    tokens: Ints
    codes: Ints
    words: tuple[str, ...]

    def __post_init__(self) -> None:
        for one in (self.offsets, self.tokens, self.codes):
            read_only(one)

    def name(self, token: int) -> str:
        """The token as a person reads it."""
        code, size = int(self.codes[token]), len(self.words)
        if code < size:
            return self.words[code]
        first, second = (self.words[place] for place in divmod(code - size, size))
        unspaced = _UNSPACED.match(first) and _UNSPACED.match(second)
        return first + second if unspaced else f"{first} {second}"


def tokenise(texts: Iterable[str], *, pairs_until: int | None = None) -> Tokens:
    """The tokens of every text; O(characters) and one sort of the words.

    Parameters
    ----------
    pairs_until
        Texts from this number on give words only, and pairs of characters; None: all give pairs too.

    Notes
    -----
    Common words are left out first. Numbers of one or two digits and words of one or two letters count inside
    pairs only. An id written with underscores gives its longer parts with digits too.
    """
    vocabulary: defaultdict[str, int] = defaultdict()
    vocabulary.default_factory = vocabulary.__len__
    number = vocabulary.__getitem__
    flat, lengths = array("q"), array("q")
    find = _WORD.findall
    for text in texts:
        found = find(normal(text))
        flat.extend(map(number, found))
        lengths.append(len(found))
    whole, part = _parts(vocabulary)
    words = tuple(vocabulary)
    size = len(words)
    content = np.array([word not in _COMMON for word in words], np.bool_)
    alone = np.array([_stands_alone(word) for word in words], np.bool_)

    ids = np.frombuffer(flat, np.int64) if flat else np.zeros(0, np.int64)
    owner = np.repeat(np.arange(len(lengths)), np.array(lengths, np.int64))
    if size:
        kept = content[ids]
        ids, owner = ids[kept], owner[kept]
    codes, owners = [ids[alone[ids]]] if size else [ids], [owner[alone[ids]]] if size else [owner]
    near = owner[1:] == owner[:-1]
    if pairs_until is not None:
        unspaced = np.array([_UNSPACED.match(word) is not None for word in words], np.bool_)
        written = unspaced[ids] if size else np.zeros(0, np.bool_)
        near &= (owner[1:] < pairs_until) | (written[1:] & written[:-1])
    codes.append(size + ids[:-1][near] * size + ids[1:][near])
    owners.append(owner[1:][near])
    first = np.searchsorted(whole, ids)
    occurrence, place = expand(first, np.searchsorted(whole, ids, side="right") - first)
    codes.append(part[place])
    owners.append(owner[occurrence])
    return _gathered(np.concatenate(codes), np.concatenate(owners), len(lengths), words)


def _parts(vocabulary: defaultdict[str, int]) -> tuple[Ints, Ints]:
    """Ids that are made of parts, ascending, each with a part that tells; the parts join the vocabulary."""
    pairs = [
        (whole, vocabulary[part])
        for word, whole in list(vocabulary.items())
        if "_" in word
        for part in word.split("_")
        if len(part) > _SHORT_PART and any(letter.isdigit() for letter in part)
    ]
    both = np.array(pairs, np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _stands_alone(word: str) -> bool:
    if word in _COMMON or len(word) <= _SHORT_WORD:
        return False
    return not (word.isdigit() and len(word) <= _SHORT_NUMBER)


def _gathered(codes: Ints, owners: Ints, n: int, words: tuple[str, ...]) -> Tokens:
    known, tokens = numbered(codes)
    width = max(1, len(known))
    held = distinct(owners * width + tokens)
    return Tokens(offsets=offsets_of(held // width, n), tokens=held % width, codes=known, words=words)
