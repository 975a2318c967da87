"""Where the real inputs are, for every room's tests."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("repo", deadline=None, derandomize=True)
settings.register_profile("nightly", deadline=None, max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repo"))


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
