"""Normal forms of Unicode, in time that no text can make quadratic."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal, TypeAlias

Form: TypeAlias = Literal["NFC", "NFKC", "NFKD"]

# ASCII, Han and Hangul syllables begin anew: marks are not put in order across them.
_LONG = re.compile("[^\x00-\x7f\u3400-\u9fff\uac00-\ud7a3]{128,}")


def normal_form(form: Form, text: str) -> str:
    """What `unicodedata.normalize` gives; O(n log n) whatever the text.

    Python puts combining marks in order by insertion, which is quadratic in a run of them: a megabyte of
    marks would take minutes. Long runs are decomposed and sorted here first; what is in order costs one pass.
    """
    if text.isascii():
        return text
    return unicodedata.normalize(form, _LONG.sub(lambda run: _ordered(form, run[0]), text))


def _ordered(form: Form, run: str) -> str:
    """The run decomposed in canonical order.

    It begins behind a starter, or at the beginning, and ends before one or at the end, so nothing around it
    moves. Each form of a text is that of its decomposition.
    """
    apart: Literal["NFD", "NFKD"] = "NFD" if form == "NFC" else "NFKD"
    signs = run.translate({ord(sign): unicodedata.normalize(apart, sign) for sign in set(run)})
    marks = "".join(sign for sign in set(signs) if unicodedata.combining(sign))
    if not marks:
        return signs
    disorder = re.compile(f"[{re.escape(marks)}]{{2,}}")
    return disorder.sub(lambda found: "".join(sorted(found[0], key=unicodedata.combining)), signs)
