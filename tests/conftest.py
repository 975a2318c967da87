"""What every room's tests share: where the real inputs are, and a clock that is moved by hand."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("repo", deadline=None, derandomize=True)
settings.register_profile("nightly", deadline=None, max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repo"))


class Clock:
    """Nanoseconds since the epoch: a tick later at each reading, any time later or earlier when told."""

    def __init__(self) -> None:
        self.now = 1_700_000_000 * 10**9
        self.tick = 1

    def __call__(self) -> int:
        self.now += self.tick
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def real_input() -> Callable[[str], Path]:
    """Folder of a real input by name; skips with the reason where it is absent."""
    root = Path(os.environ.get("MEMOREPAIR_DATA", Path(__file__).parents[2] / "shared" / "data"))

    def find(name: str) -> Path:
        folder = root / name
        if not folder.is_dir():
            pytest.skip(f"real input {name!r} is not under {root}; set MEMOREPAIR_DATA to its parent folder")
        return folder

    return find
