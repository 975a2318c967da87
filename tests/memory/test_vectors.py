"""Vectors: the same for the same text anywhere; ranked in one scope, among what is served."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorepair.errors import InvalidInput
from memorepair.memory.artifact import Draft, Embedding, Key, State
from memorepair.memory.exchange import Successor
from memorepair.memory.sqlite import SqliteStore
from memorepair.memory.vectors import HashedNgrams, Vectors

SCOPE = ("user", "42")
TEXTS = ("Lives in Paris", "我住在北京的朝阳区", "", "!?", "x" * 9, "ÄRGER im Büro 😀 2024", "a\0b\u2028c")


@pytest.fixture
def seeing(path: Path) -> Iterator[SqliteStore]:
    """A store with the built-in embedder."""
    with SqliteStore.open(path, embedder=HashedNgrams()) as opened:
        yield opened


def write(store: SqliteStore, id: str, content: str, scope: tuple[str, ...] = SCOPE, **more: Any) -> Key:
    key = Key(scope, id)
    store.write([Draft(key=key, content=content, **more)])
    return key


def near(store: SqliteStore, query: str | Embedding, *also: tuple[str, ...], limit: int = 10) -> list[str]:
    return [
        hit.artifact.key.id for hit in store.search(query, scope=SCOPE, also=also, by="vector", limit=limit)
    ]


# the embedder ------------------------------------------------------------------------------------------


def test_a_text_has_the_same_vector_in_every_process() -> None:
    code = (
        "import hashlib, sys; from memorepair.memory.vectors import HashedNgrams;"
        f"print(hashlib.sha256(HashedNgrams().embed({TEXTS!r}).astype('<f4').tobytes()).hexdigest())"
    )
    told = {
        subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    # Written down: another value is another revision.
    assert told == {"ce417f2a9683c7ace33081cb71aae9ddf859308f9fa381d8b7234b09017a2cd4"}
    assert hashlib.sha256(HashedNgrams().embed(TEXTS).astype("<f4").tobytes()).hexdigest() in told


@given(st.lists(st.text(max_size=40), max_size=6))
def test_a_vector_depends_on_its_own_text_only(texts: list[str]) -> None:
    embedder = HashedNgrams()
    vectors = embedder.embed(texts)
    assert vectors.shape == (len(texts), 384)
    assert vectors.dtype == np.float32
    for text, vector in zip(texts, vectors, strict=True):
        assert (embedder.embed([text])[0] == vector).all()
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5) or not vector.any()


def test_long_batches_are_cut_without_a_trace() -> None:
    texts = [f"{n} " + "word " * (n * 7 % 9_000) for n in range(60)]
    vectors = HashedNgrams().embed(texts)
    assert all(
        (HashedNgrams().embed([text])[0] == one).all() for text, one in zip(texts, vectors, strict=True)
    )


@pytest.mark.parametrize(
    ("near", "far"),
    [
        (("Lives in Paris", "she LIVES in Paris now"), "Prefers window seats"),
        (("我住在北京的朝阳区", "北京 朝阳区"), "我喜欢喝咖啡"),
        (("the aubergine was delicious", "aubergines are delicious"), "invoice 4711 is overdue"),
        (("ｆｕｌｌ　ｗｉｄｔｈ", "Full Width"), "half"),
    ],
)
def test_what_shares_words_or_spelling_is_nearer(near: tuple[str, str], far: str) -> None:
    one, other, third = HashedNgrams().embed([*near, far])
    assert one @ other > 0.4 > abs(one @ third)


@given(st.text(min_size=3, max_size=30), st.text(min_size=3, max_size=30))
def test_order_of_characters_counts(one: str, other: str) -> None:
    vectors = HashedNgrams().embed([one, other, one])
    assert vectors[0] @ vectors[1] <= vectors[0] @ vectors[2] + 1e-6


# search ------------------------------------------------------------------------------------------------


def test_search_is_exact_and_nearest_first(seeing: SqliteStore) -> None:
    words = ("paris", "lyon", "tea", "coffee", "morning", "late", "北京", "上海")
    texts = {f"t{n:03}": " ".join(words[(n * step) % len(words)] for step in (1, 3, 5)) for n in range(200)}
    seeing.write([Draft(key=Key(SCOPE, id), content=text) for id, text in texts.items()])
    matrix = HashedNgrams().embed(list(texts.values())).astype(float)
    wanted = HashedNgrams().embed(["coffee in paris"])[0].astype(float)
    scores = dict(zip(texts, matrix @ wanted, strict=True))
    hits = seeing.search("coffee in paris", scope=SCOPE, by="vector", limit=20)
    assert [hit.score for hit in hits] == pytest.approx(sorted(scores.values(), reverse=True)[:20])
    assert [hit.score for hit in hits] == pytest.approx([scores[hit.artifact.key.id] for hit in hits])


def test_batches_of_a_large_scope_are_one_ranking(seeing: SqliteStore) -> None:
    drafts = [Draft(key=Key(SCOPE, f"n{n}"), content=f"number {n} of many") for n in range(5_000)]
    seeing.write([*drafts, Draft(key=Key(SCOPE, "z"), content="a rhinoceros in the hall")])
    assert near(seeing, "rhinoceros hall", limit=1) == ["z"]


def test_scopes_do_not_mix_unless_asked(seeing: SqliteStore) -> None:
    other = ("user", "43")
    write(seeing, "mine", "Lives in Paris")
    write(seeing, "theirs", "Lives in Paris, France", other)
    assert near(seeing, "lives in Paris") == ["mine"]
    assert near(seeing, "lives in Paris, France", other) == ["theirs", "mine"]
    assert near(seeing, "lives in Paris", other, other, SCOPE) == ["mine", "theirs"]
    found = seeing.search("lives paris", scope=SCOPE, also=[other])
    assert {hit.artifact.key.id for hit in found} == {"mine", "theirs"}


def test_an_update_replaces_the_vector_and_keeps_what_was_not_updated(seeing: SqliteStore) -> None:
    write(seeing, "a", "email ada@example.org", metadata={"pinned": True})
    write(seeing, "b", "the other one")
    write(seeing, "a", "phone 555-0199", metadata={"pinned": True})
    assert all(hit.score < 0.5 for hit in seeing.search("ada@example.org", scope=SCOPE, by="vector"))
    (hit,) = seeing.search("phone 555-0199", scope=SCOPE, by="vector", limit=1)
    assert (hit.artifact.version, dict(hit.artifact.metadata)) == (2, {"pinned": True})
    assert hit.score == pytest.approx(1)


def test_a_field_taken_out_of_a_value_is_found_by_vector_no_more(seeing: SqliteStore) -> None:
    write(seeing, "a", '{"home":"Paris","pet":"rhinoceros"}')
    before = seeing.search("rhinoceros", scope=SCOPE, by="vector")[0].score
    write(seeing, "a", '{"home":"Paris"}')
    after = [hit.score for hit in seeing.search("rhinoceros", scope=SCOPE, by="vector")]
    assert before > 0.3 > max(after, default=0)


def test_withdrawn_staged_and_superseded_versions_are_never_ranked(seeing: SqliteStore) -> None:
    home = write(seeing, "home", "Lives in Paris")
    others = [write(seeing, f"o{n}", f"Lives in a house {n}") for n in range(3)]
    scores = {hit.artifact.key: hit.score for hit in seeing.search("lives in", scope=SCOPE, by="vector")}
    case = seeing.open_case(event="correct", roots=[home], actor="x", reason="r")
    staged = seeing.stage(case.id, Draft(key=home, content="Lives in Lyon"))
    left = {hit.artifact.key: hit.score for hit in seeing.search("lives in", scope=SCOPE, by="vector")}
    # The scores of what is left are as they were: they say nothing of what has gone.
    assert left == {key: scores[key] for key in others}
    seeing.publish(case.id, [Successor(key=home, version=staged, reads=())])
    assert near(seeing, "lives in Lyon", limit=1) == ["home"]
    seeing.undo(case.id, actor="x", reason="r")
    (hit,) = seeing.search("Lives in Paris", scope=SCOPE, by="vector", limit=1)
    assert hit.artifact.content == "Lives in Paris"
    assert hit.score == pytest.approx(1)


@dataclass(frozen=True, slots=True)
class Fixed:
    """Gives every text one vector."""

    vector: tuple[float, ...]
    model: str = "fixed"
    revision: str = "1"
    dimension: int = 2
    normalised: bool = False

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.array([self.vector] * len(texts), np.float32)


def test_spaces_of_equal_dimension_never_mix(path: Path) -> None:
    for model, id in (("fixed", "a"), ("other", "b")):
        with SqliteStore.open(path, embedder=Fixed((1.0, 2.0), model=model)) as store:
            write(store, id, "same text")
    for changed, expected in (
        (Fixed((1.0, 2.0)), ["a"]),
        (Fixed((1.0, 2.0), model="other"), ["b"]),
        (Fixed((1.0, 2.0), revision="2"), []),
        (Fixed((1.0, 2.0), normalised=True), []),
        (Fixed((1.0, 2.0, 3.0), dimension=3), []),
    ):
        with SqliteStore.open(path, embedder=changed) as store:
            assert near(store, "same text") == expected


def test_a_draft_may_bring_a_vector_of_its_own(seeing: SqliteStore) -> None:
    given = Embedding(vector=(3.0, 4.0), model="theirs", revision="7", normalised=False)
    key = write(seeing, "a", "Lives in Paris", embedding=given)
    assert seeing.get(key).embedding == given
    assert near(seeing, given) == near(seeing, "paris") == ["a"]
    away = Embedding(vector=(-3.0, -4.0), model="theirs", revision="7", normalised=False)
    assert near(seeing, away) == []
    assert near(seeing, Embedding(vector=(3.0, 4.0), model="others", revision="7", normalised=False)) == []


def test_what_the_store_computes_is_no_part_of_an_artifact(seeing: SqliteStore) -> None:
    assert seeing.get(write(seeing, "a", "Lives in Paris")).embedding is None


@pytest.mark.parametrize(
    "embedder",
    [
        Fixed((1.0,)),
        Fixed((float("nan"), 1.0)),
        Fixed((1.0, 2.0), dimension=3),
    ],
)
def test_a_broken_embedder_writes_nothing(path: Path, embedder: Fixed) -> None:
    with SqliteStore.open(path, embedder=embedder) as store:
        with pytest.raises(InvalidInput) as caught:
            write(store, "a", "x")
        assert caught.value.witness == "fixed"
        assert store.listing() == []


def test_asking_for_what_cannot_be_is_refused(store: SqliteStore) -> None:
    given = Embedding(vector=(1.0,), model="m", revision="1", normalised=True)
    smell: Any = "smell"
    asks: list[Callable[[], object]] = [
        lambda: store.search("x", scope=SCOPE, by="vector"),  # no embedder
        lambda: store.search(given, scope=SCOPE),  # by text
        lambda: store.search("x", scope=SCOPE, by=smell),
        lambda: store.search("x", scope=SCOPE, also=[smell]),
    ]
    for ask in asks:
        with pytest.raises(InvalidInput):
            ask()
    assert store.search(given, scope=SCOPE, by="vector") == []


@pytest.mark.parametrize("dimension", [0, -1, True, 2.0])
def test_a_dimension_is_a_positive_number(dimension: int) -> None:
    with pytest.raises(InvalidInput):
        HashedNgrams(dimension=dimension)


# erasure -----------------------------------------------------------------------------------------------


class Scattered:
    """Gives every text a vector no other has, not even in two neighbouring numbers."""

    model, revision, dimension, normalised = "scattered", "1", 384, False

    def embed(self, texts: Sequence[str]) -> Vectors:
        seeds = [int.from_bytes(hashlib.sha256(text.encode()).digest()) for text in texts]
        return np.stack([np.random.default_rng(seed).standard_normal(384, np.float32) for seed in seeds])


def fragments(raw: bytes, step: int) -> set[int]:
    """All runs of 8 bytes, at every `step`."""
    runs = np.lib.stride_tricks.sliding_window_view(np.frombuffer(raw, np.uint8), 8)[::step]
    return set(np.ascontiguousarray(runs).view(np.uint64).ravel().tolist())


def test_no_vector_of_what_was_erased_is_left_in_any_file(path: Path) -> None:
    texts = {f"k{n * 7919 % 1_000:04}": f"canary {n}" for n in range(1_000)}
    with SqliteStore.open(path, embedder=Scattered()) as store:
        for id, text in texts.items():
            write(store, id, text)
            if int(id[1:]) % 3 == 0:
                write(store, id, f"{text} again")
        doomed = [Key(SCOPE, id) for id in texts]
        write(store, "stays", "the one that stays")
        before = b"".join(file.read_bytes() for file in path.parent.iterdir())
        case = store.open_case(event="delete", roots=doomed, actor="x", reason="r", erase=True)
        for id in list(texts)[:50]:
            write(store, f"later-{id}", f"written while the case was open {id}")
        store.erase(case.id, actor="x", reason="r")
        assert near(store, "the one that stays", limit=1) == ["stays"]
    vectors = Scattered().embed([*texts.values(), *(f"{text} again" for text in texts.values())])
    needles = fragments(vectors.tobytes(), 8)
    assert len(needles & fragments(before, 1)) > 1_300 * 180
    assert not needles & fragments(b"".join(file.read_bytes() for file in path.parent.iterdir()), 1)
    with SqliteStore.open(path) as store:
        assert {one.state for one in store.listing() if one.key in set(doomed)} == {State.ERASED}
