"""A memory in a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memorepair.facade import Memory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "agent.db") as opened:
        yield opened
