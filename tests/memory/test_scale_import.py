"""A bulk import says how far it has come."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memorepair.errors import InvalidInput
from memorepair.facade import Memory
from memorepair.memory.artifact import Draft, Key

N = 12_000
"""More than the index takes in one step, and enough for its larger hash."""


def drafts(n: int) -> list[Draft]:
    return [Draft(key=Key((), f"a{i}"), content=f"text number{i:05d}") for i in range(n)]


def test_each_step_of_an_import_ends_at_all_of_it(path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    with Memory.open(path) as memory:
        memory.ingest(drafts(N), progress=lambda *step: told.append(step))
        assert [step for step, _, _ in told] == sorted((step for step, _, _ in told), reverse=True)
        for name in ("rows", "index"):
            done = [n for step, n, of in told if step == name and of == N]
            assert done == sorted(set(done))
            assert done[-1] == N
        # The seams of the index's steps lose nobody.
        for i in (0, 9_999, 10_000, N - 1):
            assert [hit.artifact.key.id for hit in memory.search(f"number{i:05d}")] == [f"a{i}"]
        assert memory.store.check() == []


@pytest.mark.parametrize("progress", [1, "rows"])
def test_progress_is_something_to_call(path: Path, progress: Any) -> None:
    with Memory.open(path) as memory:
        with pytest.raises(InvalidInput):
            memory.ingest(drafts(1), progress=progress)
        assert memory.list() == []


def test_progress_that_raises_stores_nothing(path: Path) -> None:
    def refuse(step: str, done: int, of: int) -> None:
        raise RuntimeError(step, done, of)

    with Memory.open(path) as memory:
        with pytest.raises(RuntimeError):
            memory.ingest(drafts(3), progress=refuse)
        assert memory.list() == []
        assert memory.search("text") == []
        assert memory.store.check() == []
