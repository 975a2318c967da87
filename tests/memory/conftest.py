"""A store on a file of its own, and a clock that only moves when it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from memorepair.memory import doors
from memorepair.memory.artifact import Draft, Key, Read
from memorepair.memory.sqlite import SqliteStore


@pytest.fixture(scope="module", autouse=True)
def by_the_index() -> Iterator[None]:
    """Small as they are, the scopes of this room are searched as large ones are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(doors, "SCANNED", 0)
        yield


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the store's file is or would be."""
    return tmp_path / "agent.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    """An empty store whose clock ticks once a reading."""
    ticks = count(1_000)
    with SqliteStore.open(path, clock=lambda: next(ticks)) as opened:
        yield opened


@pytest.fixture
def put(store: SqliteStore) -> Callable[..., Key]:
    """Write one artifact by id, reading the given keys; its key."""

    def write(id: str, content: str | None = None, *reads: Key, scope: tuple[str, ...] = ()) -> Key:
        key = Key(scope, id)
        text = f"content of {id}" if content is None else content
        store.write([Draft(key=key, content=text, reads=tuple(Read(key=read) for read in reads))])
        return key

    return write
