"""Errors: one line of bounded length, whatever they quote."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import memorepair as mr
from memorepair.errors import MemoRepairError

HOSTILE = ["a\nb", "\x1b[31mred", "\0", "\ud800", "\u202eback", "long" * 9_000]


@pytest.mark.parametrize("word", HOSTILE, ids=range(len(HOSTILE)))
def test_a_message_is_one_printable_line_whatever_it_quotes(tmp_path: Path, word: str) -> None:
    with mr.Memory.open(tmp_path / "agent.db") as memory:
        doors: list[Callable[[], object]] = [
            lambda: memory.trace(word),
            lambda: memory.list(kind=word),
            lambda: memory.search("a", by=word),
        ]
        for door in doors:
            with pytest.raises(MemoRepairError) as caught:
                door()
            assert str(caught.value).isprintable()
            assert len(str(caught.value)) < 2_000
            assert caught.value.message == str(caught.value)
