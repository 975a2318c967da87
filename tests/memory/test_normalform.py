"""Normal forms: what the library gives, whatever is in the text, in time that grows with it."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorepair.memory.normalform import Form, normal_form
from memorepair.memory.secret import folded

FORMS: tuple[Form, ...] = ("NFC", "NFKC", "NFKD")

# Marks of several classes, one that composes, one that decomposes to marks and is none itself, half-width
# kana marks, Hangul letters, a ligature, starters of each sort.
SIGNS = "\u0301\u0327\u0344\u0f73\uff9e\uff9f\u1100\u1161\u11a8\ufb01\u00e9\u00a8e\u304b\uac00\u6f22 a"


@pytest.mark.parametrize("form", FORMS)
@given(
    before=st.text(max_size=4),
    signs=st.lists(st.one_of(st.sampled_from(SIGNS), st.characters(codec="utf-8")), min_size=1, max_size=12),
    times=st.sampled_from([1, 11, 40, 130]),
    after=st.text(max_size=4),
)
def test_a_normal_form_is_that_of_the_standard(
    form: Form, before: str, signs: list[str], times: int, after: str
) -> None:
    text = before + "".join(signs) * times + after
    assert normal_form(form, text) == unicodedata.normalize(form, text)


@pytest.mark.parametrize("marks", ["\u0301\u0327", "\u0f73", "\u0301\uff9e"])
def test_a_run_of_marks_takes_no_quadratic_time(marks: str) -> None:
    def seconds(times: int) -> float:
        begun = time.process_time()
        folded("a" + marks * times)
        return time.process_time() - begun

    seconds(100)
    # Sixteen times as many took two hundred and fifty-six times as long: 4 s.
    assert seconds(64_000 // len(marks)) < 64 * max(seconds(4_000 // len(marks)), 1e-3)
