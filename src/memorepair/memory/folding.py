"""Folding: texts as the full-text index compares them, whatever their case."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from functools import lru_cache

_CASED = 0x20000
"""Beyond lie ideographs and marks, which have no case."""

_BLOCK = 0x80

_STRANGE = "\ufffe\uffff"
"""Read by the index as what stands for the unreadable."""


def fold(text: str) -> str:
    """The text with each character as the index has it.

    As `str.casefold`, but where that makes several characters of one (ß, ﬁ) or knows letters that SQLite does
    not: those stay what the index makes of them. So a search by the index and one by reading find the same.
    O(text).
    """
    if text.isascii():
        return text.lower()
    suspicious, odd = _odd()
    if suspicious.search(text) is None:
        return text.casefold()
    return "".join(odd.get(one) or one.casefold() for one in text)


@lru_cache(maxsize=1)
def _odd() -> tuple[re.Pattern[str], Mapping[str, str]]:
    """Characters that the index folds otherwise than `str.casefold`, with what it makes of them.

    The pattern finds them all, and a few more beyond the basic plane, as one range: a set of single ones is
    slow there. The index of this SQLite is asked, for releases differ: once, in some 20 ms.
    """
    blocks = ("".join(map(chr, range(first, first + _BLOCK))) for first in range(_BLOCK, _CASED, _BLOCK))
    asked = [one for block in blocks if block.casefold() != block for one in block if one.casefold() != one]
    asked += _STRANGE
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE VIRTUAL TABLE t USING fts5(text, tokenize='trigram')")
        db.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, instance)")
        db.executemany("INSERT INTO t(rowid, text) VALUES(?, ?)", enumerate(f"xx{one}" for one in asked))
        rows = db.execute("SELECT doc, term FROM v").fetchall()
    odd = {asked[doc]: term[2:] for doc, term in rows if term[2:] != asked[doc].casefold()}
    near = re.escape("".join(one for one in odd if one <= "\uffff"))
    beyond = [one for one in odd if one > "\uffff"]
    span = f"{min(beyond)}-{max(beyond)}" if beyond else ""
    return re.compile(f"[{near}{span}]"), odd
