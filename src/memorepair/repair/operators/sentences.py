"""Sentences of English or Chinese text, and which of them say most of it."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from memorepair.errors import InvalidInput
from memorepair.memory.artifact import Json
from memorepair.repair.jsontext import parse

_CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
# A sentence ends behind closing quotes after a Chinese full stop, or after a Latin one before white space.
_END = re.compile(
    r"(?<=[。！？；])(?![。！？；”’」』）])|(?<=[。！？；][”’」』）])"
    r"|(?<=[.!?])\s+|(?<=[.!?][\"')\]])\s+"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|jr|sr|vs|etc|inc|ltd|co|approx|e\.g|i\.e|cf|fig)|\b[a-z]|\b(?:[a-z]\.)+[a-z])"
    r"\.$",
    re.IGNORECASE,
)
_WORD = re.compile(rf"[{_CJK}]+|[^\W{_CJK}]+(?:['’.@-][^\W{_CJK}]+)*")
_CHINESE = re.compile(f"[{_CJK}]")


def sentences(content: str) -> list[str]:
    """The sentences of a text in order, each with its full stop; JSON reads as ``key: value.`` sentences."""
    try:
        value = parse(content)
    except InvalidInput:
        return _split(content)
    return _render(value) if isinstance(value, dict | list) else _split(content)


def _split(text: str) -> list[str]:
    found: list[str] = []
    for line in text.splitlines():
        whole = ""
        for piece in _END.split(line):
            whole = f"{whole} {piece}".strip() if whole else piece.strip()
            if not _ABBREVIATION.search(whole):
                found.append(" ".join(whole.split()))
                whole = ""
        found.append(" ".join(whole.split()))
    return [_ended(sentence) for sentence in found if _WORD.search(sentence)]


def _ended(sentence: str) -> str:
    """With a full stop where a line broke off without one, so that sentences can stand in one line."""
    if sentence.rstrip("\"')]”’」』）").endswith((".", "!", "?", "。", "！", "？", "；", "…")):
        return sentence
    return f"{sentence}{'。' if _is_chinese(sentence[-1]) else '.'}"


def _render(value: Json) -> list[str]:
    """One sentence a leaf, lists of leaves as one; iterative, since content nests as deep as it likes."""
    found: list[str] = []
    open_values: list[tuple[str, Json]] = [("", value)]
    while open_values:
        path, here = open_values.pop()
        if isinstance(here, dict):
            inner = [(f"{path} {key}".strip().replace("_", " "), below) for key, below in here.items()]
            open_values += reversed(inner)
        elif isinstance(here, list) and any(isinstance(below, dict | list) for below in here):
            numbered = [(f"{path} {place}".strip(), below) for place, below in enumerate(here, start=1)]
            open_values += reversed(numbered)
        else:
            leaves = here if isinstance(here, list) else [here]
            shown = ", ".join(_leaf(leaf) for leaf in leaves if leaf is not None)
            if shown:
                found.append(f"{path}: {shown}." if path else f"{shown}.")
    return found


def _leaf(value: Json) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " ".join(str(value).split())


def tokens(text: str) -> list[str]:
    """Words as written; of a run of Chinese characters, each one."""
    found: list[str] = []
    for word in _WORD.findall(text):
        found += word if _is_chinese(word) else [word]
    return found


def _is_chinese(word: str) -> bool:
    return not word.isascii() and _CHINESE.match(word) is not None


def words(text: str) -> list[str]:
    """Lower-case words; a run of Chinese characters as its overlapping pairs, which need no dictionary."""
    found: list[str] = []
    for word in _WORD.findall(text.casefold()):
        if _is_chinese(word):
            found += [word[at : at + 2] for at in range(max(1, len(word) - 1))]
        else:
            found.append(word)
    return found


def centrality(bags: list[list[str]]) -> npt.NDArray[np.float64]:
    """How much of all sentences each one says.

    Sentence s is the unit vector u_s of its tf-idf weights; its centrality is the sum of its cosines with all
    sentences, which is one product with their sum: u_s . (u_1 + ... + u_k). Linear in the number of words.

    Source: G. Erkan and D. R. Radev, LexRank, 2004, degree centrality without a threshold.
    """
    k = len(bags)
    codes: dict[str, int] = {}
    code = np.array([codes.setdefault(word, len(codes)) for bag in bags for word in bag], np.int64)
    owner = np.repeat(np.arange(k), [len(bag) for bag in bags])
    cells, times = np.unique(owner * max(1, len(codes)) + code, return_counts=True)
    row, column = np.divmod(cells, max(1, len(codes)))
    frequency = np.bincount(column, minlength=len(codes))
    weight = times * np.log1p(k / frequency[column])
    norm = np.sqrt(np.bincount(row, weights=weight**2, minlength=k))
    unit = weight / norm[row]
    total = np.bincount(column, weights=unit, minlength=len(codes))
    scores = np.bincount(row, weights=unit * total[column], minlength=k)
    return np.asarray(scores, np.float64)


def choose(texts: list[str], characters: int, count: int | None) -> list[int]:
    """Places of the most central sentences that fit, ascending; of equal sentences the first only.

    Scores are compared to nine digits, so that the last bits of a sum never decide; ties go to the earlier
    one.
    """
    bags = [words(text) for text in texts]
    first: dict[tuple[str, ...], int] = {}
    for place, bag in enumerate(bags):
        first.setdefault(tuple(bag), place)
    places = list(first.values())
    scores = np.round(centrality([bags[place] for place in places]), 9)
    chosen: list[int] = []
    room = characters
    for rank in np.argsort(-scores, kind="stable").tolist():
        place = places[rank]
        needed = len(texts[place]) + bool(chosen)
        if needed <= room and (count is None or len(chosen) < count):
            chosen.append(place)
            room -= needed
    return sorted(chosen)
