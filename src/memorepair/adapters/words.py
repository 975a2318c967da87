"""Words that tell texts apart: names, numbers, paths, whose return elsewhere is no accident."""

from __future__ import annotations

import re

_WORD = re.compile(r"[\w@][\w@.:/+-]*[\w]", re.UNICODE)
_SHORT = 5


def telling(text: str) -> frozenset[str]:
    """The words of `text` in lower case that have a digit, an inner mark, or more than five letters."""
    found = (word.lower() for word in _WORD.findall(text))
    return frozenset(word for word in found if len(word) > _SHORT or any(not one.isalpha() for one in word))
