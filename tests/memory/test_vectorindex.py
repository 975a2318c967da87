"""The index of vectors is a cache: it may be slow to know, never wrong about what is served."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from memorepair.errors import MissingDependency, StoreError, Withdrawn
from memorepair.memory import vectorindex
from memorepair.memory.artifact import Draft, Key
from memorepair.memory.sqlite import SqliteStore
from memorepair.memory.vectors import HashedNgrams

pytest.importorskip("usearch", reason="the extra usearch is not installed")

SCOPE, OTHER = ("user", "42"), ("user", "43")
N = 400
WORDS = (
    "paris",
    "lyon",
    "tea",
    "coffee",
    "morning",
    "late",
    "cello",
    "rain",
    "北京",
    "上海",
    "invoice",
    "cat",
)


def text(n: int) -> str:
    return " ".join(WORDS[(n * step + n // 7) % len(WORDS)] for step in (1, 3, 5)) + f" {n}"


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectorindex.VectorIndex.__init__, "__kwdefaults__", {"least": 50})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with SqliteStore.open(tmp_path / "agent.db", embedder=HashedNgrams()) as store:
        store.write([Draft(key=Key(SCOPE, f"k{n:03}"), content=text(n)) for n in range(N)])
        store.write([Draft(key=Key(OTHER, f"k{n:03}"), content=text(n)) for n in range(60)])
    return tmp_path / "agent.db"


@pytest.fixture
def exact(path: Path) -> Iterator[SqliteStore]:
    with SqliteStore.open(path, embedder=HashedNgrams()) as store:
        yield store


@pytest.fixture
def indexed(path: Path) -> Iterator[SqliteStore]:
    with SqliteStore.open(path, embedder=HashedNgrams(), vector_index=True) as store:
        yield store


def near(
    store: SqliteStore, query: str, limit: int = 5, scope: tuple[str, ...] = SCOPE
) -> list[tuple[Key, float]]:
    hits = store.search(query, scope=scope, by="vector", limit=limit)
    return [(hit.artifact.key, round(hit.score, 6)) for hit in hits]


def files(path: Path) -> list[Path]:
    return sorted(path.parent.glob("agent.db.vectors-*"))


def test_it_finds_what_the_exact_search_finds(exact: SqliteStore, indexed: SqliteStore, path: Path) -> None:
    queries = [text(n * 11) for n in range(30)] + ["tea in paris", "上海 late", "no such words at all"]
    same = [near(exact, query) == near(indexed, query) for query in queries]
    assert np.mean(same) >= 0.95
    assert near(indexed, "tea", limit=1_000) == near(exact, "tea", limit=1_000)
    assert near(indexed, "tea paris", scope=OTHER) == near(exact, "tea paris", scope=OTHER)
    assert {file.stat().st_mode & 0o777 for file in files(path)} == {0o600}


def test_it_is_built_once_and_read_by_the_next(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[int] = []
    build = vectorindex.VectorIndex.build

    def counted(self: vectorindex.VectorIndex, sid: int, *more: object) -> object:
        built.append(sid)
        return build(self, sid, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(vectorindex.VectorIndex, "build", counted)
    for _ in range(3):
        with SqliteStore.open(path, embedder=HashedNgrams(), vector_index=True) as store:
            near(store, "tea")
            near(store, "paris")
    assert len(built) == 1


def test_nothing_withdrawn_or_superseded_comes_out_of_it(indexed: SqliteStore, exact: SqliteStore) -> None:
    keys = [key for key, _ in near(indexed, "coffee in the morning", 10)]
    case = indexed.open_case(event="delete", roots=keys[:4], actor="a", reason="r")
    exact.write([Draft(key=keys[4], content="something else entirely")])
    left = near(indexed, "coffee in the morning", 10)
    assert not {key for key, _ in left} & set(keys[:5])
    assert left == near(exact, "coffee in the morning", 10)
    indexed.undo(case.id, actor="a", reason="r")
    assert {key for key, _ in near(indexed, "coffee in the morning", 10)} >= set(keys[:4])


def test_what_is_newer_than_the_index_is_compared(indexed: SqliteStore, exact: SqliteStore) -> None:
    near(indexed, "tea")
    exact.write([Draft(key=Key(SCOPE, "new"), content="a rhinoceros in the hall")])
    exact.write([Draft(key=Key(OTHER, "new"), content="a rhinoceros in the hall")])
    assert near(indexed, "rhinoceros hall", 1)[0][0] == Key(SCOPE, "new")
    assert near(indexed, "rhinoceros hall", 1, OTHER)[0][0] == Key(OTHER, "new")


def test_weights_that_cases_give_count(indexed: SqliteStore, exact: SqliteStore) -> None:
    first = near(indexed, text(0), 1)[0][0]
    indexed.maintain([], marks={first: 0.05}, actor="a", reason="r")
    assert near(indexed, text(0)) == near(exact, text(0))
    assert near(indexed, text(0), 1)[0][0] != first


@pytest.mark.parametrize("part", [slice(0, 5), slice(30, 40), slice(-200, -150), slice(None, -1)])
def test_a_damaged_file_is_built_again(path: Path, part: slice) -> None:
    with SqliteStore.open(path, embedder=HashedNgrams(), vector_index=True) as store:
        wanted = near(store, "tea in paris")
    (file,) = files(path)
    sound = file.read_bytes()
    broken = bytearray(sound)
    broken[part] = b"" if part.stop == -1 else b"x" * len(broken[part])
    file.write_bytes(sound[:-1] if part.stop == -1 else bytes(broken))
    with SqliteStore.open(path, embedder=HashedNgrams(), vector_index=True) as store:
        assert near(store, "tea in paris") == wanted
    assert len(file.read_bytes()) == len(sound)


def test_a_file_of_another_state_or_store_is_built_again(path: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    backup.mkdir()
    for name in ("agent.db", "agent.db.key"):
        shutil.copy(tmp_path / name, backup / name)
    with SqliteStore.open(path, embedder=HashedNgrams(), vector_index=True) as store:
        store.write([Draft(key=Key(SCOPE, f"later{n}"), content=f"later {n}") for n in range(30)])
        near(store, "tea")
    for name in ("agent.db", "agent.db.key"):  # an older state comes back, and goes on otherwise
        shutil.copy(backup / name, tmp_path / name)
    for name in ("agent.db-wal", "agent.db-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    with SqliteStore.open(path, embedder=HashedNgrams(), vector_index=True) as store:
        store.write([Draft(key=Key(SCOPE, f"other{n}"), content=f"other words {n}") for n in range(30)])
        assert near(store, "other words 7", 1)[0][0] == Key(SCOPE, "other7")
    (file,) = files(path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with SqliteStore.open(elsewhere / "agent.db", embedder=HashedNgrams(), vector_index=True) as store:
        store.write([Draft(key=Key(SCOPE, f"e{n}"), content=text(n + 1_000)) for n in range(60)])
        shutil.copy(file, elsewhere / file.name)
        assert near(store, text(1_000), 1)[0][0] == Key(SCOPE, "e0")


def test_many_new_rows_build_it_again(
    indexed: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectorindex, "STALE_LEAST", 10)
    near(indexed, "tea")
    before = files(path)[0].read_bytes()
    indexed.write([Draft(key=Key(SCOPE, f"more{n}"), content=f"more {n}") for n in range(N // 4)])
    near(indexed, "tea")
    assert files(path)[0].read_bytes() != before


def removals() -> dict[str, Callable[[SqliteStore, int], object]]:
    return {
        "erase": lambda store, case: store.erase(case, actor="a", reason="r"),
        "close": lambda store, case: store.close_case(case),
    }


@pytest.mark.parametrize("how", removals())
def test_an_erasure_takes_the_files_with_it(indexed: SqliteStore, path: Path, how: str) -> None:
    near(indexed, "tea")
    near(indexed, "tea", scope=OTHER)
    assert len(files(path)) == 2
    doomed = Key(SCOPE, "k000")
    vector = HashedNgrams().embed([text(0)]).astype("<f2").tobytes()
    assert any(vector in file.read_bytes() for file in files(path))
    case = indexed.open_case(event="delete", roots=[doomed], actor="a", reason="r", erase=True)
    removals()[how](indexed, case.id)
    assert files(path) == []
    assert near(indexed, text(0), 1)[0][0] != doomed
    assert not any(vector in file.read_bytes() for file in files(path))


@pytest.mark.parametrize("how", removals())
def test_an_erasure_that_cannot_remove_the_files_is_none(
    indexed: SqliteStore, path: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second back end that fails after the first: the case is open, the barrier up, nothing half done."""
    near(indexed, "tea")
    doomed = Key(SCOPE, "k000")
    case = indexed.open_case(event="delete", roots=[doomed], actor="a", reason="r", erase=True)
    before = indexed.snapshot()

    def refuse(self: Path, missing_ok: bool = False) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", refuse)
        with pytest.raises(StoreError, match="cannot be removed"):
            removals()[how](indexed, case.id)
    assert indexed.case(case.id) == case
    assert indexed.snapshot() == before
    with pytest.raises(Withdrawn):
        indexed.get(doomed)
    assert indexed.receipt(case.id) is None
    removals()[how](indexed, case.id)
    assert indexed.receipt(case.id) is not None
    assert indexed.check() == []


def test_small_scopes_have_none(path: Path) -> None:
    with SqliteStore.open(path, embedder=HashedNgrams(), vector_index=True) as store:
        store.write([Draft(key=Key(("few",), f"f{n}"), content=text(n)) for n in range(10)])
        assert len(near(store, "tea", scope=("few",))) <= 5
        assert files(path) == []
        assert set(store.index_vectors()) == {SCOPE, OTHER}
        assert len(files(path)) == 2


def test_one_that_may_not_write_searches_without(path: Path, exact: SqliteStore) -> None:
    with SqliteStore.open(path, embedder=HashedNgrams(), vector_index=True, readonly=True) as store:
        assert near(store, "tea in paris") == near(exact, "tea in paris")
        assert files(path) == []


def test_without_the_package_the_error_says_what_to_install(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectorindex, "find_spec", lambda name: None)
    with pytest.raises(MissingDependency, match=r"memorepair\[usearch\]"):
        SqliteStore.open(path, vector_index=True)
