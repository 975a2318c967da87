"""A memory in a file of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import memorepair as mr


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[mr.Memory]:
    """A memory with a record home, a summary profile of it, and a record plain; case 1 corrected likes."""
    with mr.Memory.open(tmp_path / "agent.db") as opened:
        scope = ("user", "42")
        home = opened.record("She lives in Paris.", id="home", scope=scope)
        likes = opened.record("She likes long walks.", id="likes", scope=scope)
        opened.record("plain", id="plain")
        with opened.deriving(kind="summary", operator="summarise", scope=scope) as d:
            d.write(d.read(home).content + " " + d.read(likes).content, id="profile")
        opened.correct(likes, "She likes tea.", reason="wrong", actor="tester")
        yield opened
