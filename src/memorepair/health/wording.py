"""Wording: what of a text counts when two are compared, in Chinese and English."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from memorepair.memory.normalform import normal_form

CJK = "\u3040-\u30ff\u3400-\u9fff"
"""Written without spaces: a character is a word."""

_TOKEN = re.compile(rf"[{CJK}]|[^\W_{CJK}]+")
_ASCII_WORDS = "".join(chr(code) if chr(code).isalnum() else " " for code in range(128))
_PART = re.compile(r"[,;]")
_NAME = re.compile(r"\w[\w ]{0,30}")
_IS_CJK = re.compile(f"[{CJK}]")

_FIELDS = 5
"""Parts from which on a text is a record, not a sentence."""

_FIELD_WORDS = 6
"""Words that a field of a record has at most, on average twice over: sentences have longer clauses."""

UNNAMED = "-"
"""Schema of a record whose fields have no names."""

# Equal in meaning when all else is equal; the empty word says nothing. Order and repetition always count.
_SYNONYMS: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(
        ("likes", "loves", "love", "enjoys", "prefers", "prefer", "fond", "favourite", "favorite"), "like"
    )
    | dict.fromkeys(("is", "the", "a", "an", "of", "to", "s", "what", "really", "very"), "")
    | dict.fromkeys(("i", "my", "me"), "user")
    | {"drinking": "drink"}
)
_SYNONYMS_ZH = (
    ("爱喝", "喜欢喝"),
    ("爱吃", "喜欢吃"),
    ("喜爱", "喜欢"),
    ("偏爱", "喜欢"),
    ("非常", ""),
    ("我", "用户"),
    ("最", ""),
    ("很", ""),
    ("的", ""),
    ("是", ""),
)

GUARDS = frozenset(
    (
        *("not", "no", "never", "n't", "t", "without", "little", "only", "except", "unless", "but"),
        *"不没无未别勿非仅少除",
    )
)
"""Words whose coming or going changes what a sentence says."""


IDLE = frozenset(
    (
        *(word for word, meant in _SYNONYMS.items() if not meant),
        *("and", "also", "already", "are", "at", "by", "currently", "for", "has", "have", "in", "it", "just"),
        *("now", "on", "please", "quite", "still", "that", "this", "usually", "was", "were", "with"),
        *"的了是在也就都很最把被着过已",
    )
)
"""Words that may come and go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """A text as it is compared.

    Attributes
    ----------
    tokens
        Words, and single Chinese characters; of a record those of its values, for names are equal everywhere.
    exact
        Equal exactly for texts that say the same up to width, case, white space, synonyms, function words.
    names
        Names of a record's fields, `UNNAMED` where they have none; empty for a sentence.
    """

    tokens: tuple[str, ...]
    exact: str
    names: tuple[str, ...]


def normal(text: str) -> str:
    """Width, case and white space in one spelling."""
    return " ".join(normal_form("NFKC", text).casefold().split())


def wording(text: str) -> Wording:
    """What of a text counts; O(characters)."""
    plain = normal(text)
    words = _words(plain)
    values, names = _record(plain, len(words))
    return Wording(
        tokens=tuple(words if values is None else _words(values)),
        exact=_exact(plain, words),
        names=names,
    )


@lru_cache(maxsize=1 << 10)
def is_record(text: str) -> bool:
    """Whether a text is fields, not a sentence."""
    plain = normal(text)
    return bool(_record(plain, len(_words(plain)))[1])


def is_cjk(text: str) -> bool:
    """Whether a Chinese or Japanese character is in it."""
    return not text.isascii() and _IS_CJK.search(text) is not None


def _exact(plain: str, words: list[str]) -> str:
    meant = plain
    if not plain.isascii():
        for said, instead in _SYNONYMS_ZH:
            meant = meant.replace(said, instead)
    if meant is not plain:
        words = _words(meant)
    # A text of function words alone, or of none, is its own.
    return " ".join(filter(None, map(_SYNONYMS.get, words, words))) or plain


def _words(plain: str) -> list[str]:
    """What `_TOKEN` finds; of ASCII in a third of the time."""
    return plain.translate(_ASCII_WORDS).split() if plain.isascii() else _TOKEN.findall(plain)


def _record(plain: str, words: int) -> tuple[str | None, tuple[str, ...]]:
    """The values of a record in one text, None where they are all of it, and the names of its fields.

    A sentence has no names.
    """
    if plain.startswith("{"):
        members = _members(plain)
        if members is not None and len(members) >= _FIELDS:
            return " ".join(map(str, members.values())), tuple(members)
    parts = _PART.split(plain)
    if len(parts) < _FIELDS or words > _FIELD_WORDS * len(parts):
        return None, ()
    values: list[str] = []
    names: list[str] = []
    for part in parts:
        before, colon, value = part.partition(":")
        name = _name(before) if colon else None
        if name is None:
            values.append(part)
        else:
            names.append(name)
            values.append(value)
    return " ".join(values), tuple(names) or (UNNAMED,)


@lru_cache(maxsize=1 << 12)
def _name(before: str) -> str | None:
    """The name of a field, by what stands before the colon; there are few, and many records."""
    name = before.strip()
    return name if _NAME.fullmatch(name) else None


def _members(plain: str) -> dict[str, object] | None:
    try:
        read = json.loads(plain)
    except (ValueError, RecursionError):
        return None
    if not isinstance(read, dict) or any(isinstance(value, dict | list) for value in read.values()):
        return None
    return read
