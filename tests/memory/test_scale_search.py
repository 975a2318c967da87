"""Ranks come from the texts that are found, not from the store around them."""

from __future__ import annotations

import pytest

from memorepair.memory import doors
from memorepair.memory.artifact import Draft, Key
from memorepair.memory.doors import relevance
from memorepair.memory.sqlite import SqliteStore

SCOPE = ("user", "1")
TEXTS = {
    "twice": "the harbour, the old harbour, and a lantern",
    "once": "a harbour with a lantern",
    "long": "a harbour with a lantern " + "and much else besides " * 20,
    "other": "a lantern, a lantern, a lantern, no more than one harbour",
}


def order(store: SqliteStore, query: str) -> list[str]:
    return [hit.artifact.key.id for hit in store.search(query, scope=SCOPE)]


@pytest.mark.parametrize("scanned", [0, 1_000])
@pytest.mark.parametrize("query", ["harbour", "lantern", "harbour lantern", "la", "a lantern"])
def test_no_other_scope_and_nothing_barred_moves_a_rank(
    store: SqliteStore, query: str, scanned: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doors, "SCANNED", scanned)
    store.write([Draft(key=Key(SCOPE, id), content=text) for id, text in TEXTS.items()])
    before = order(store, query)
    assert sorted(before) == sorted(TEXTS)
    store.write([Draft(key=Key(("user", "2"), f"x{i}"), content="lantern " * (i % 7)) for i in range(200)])
    store.write([Draft(key=Key(SCOPE, f"y{i}"), content="harbour " * (1 + i % 7)) for i in range(50)])
    roots = [Key(SCOPE, f"y{i}") for i in range(50)]
    store.open_case(event="delete", roots=roots, actor="x", reason="r")
    assert order(store, query) == before


def test_more_of_a_word_ranks_higher_and_more_besides_lower(store: SqliteStore) -> None:
    store.write([Draft(key=Key(SCOPE, id), content=text) for id, text in TEXTS.items()])
    ranked = order(store, "harbour")
    assert ranked[0] == "twice"
    assert ranked[-1] == "long"


def test_relevance_grows_with_each_occurrence_and_stays_bounded() -> None:
    scores = [relevance("tide " * n + "." * (5 * (50 - n)), '["tide"]') for n in range(51)]
    assert scores[0] == 0
    assert scores == sorted(set(scores))
    assert scores[-1] < 2.2
    assert relevance("TIDE", '["tide"]') == relevance("tide", '["tide"]')


def test_of_more_hits_than_are_ranked_the_newest_are(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doors, "RANKED", 3)
    for n in range(6):
        store.write([Draft(key=Key(SCOPE, f"n{n}"), content="a lantern " * (1 + n % 3))])
    hits = [hit.artifact.key.id for hit in store.search("lantern", scope=SCOPE, limit=2)]
    assert hits == ["n5", "n4"]
    assert len(store.search("lantern", scope=SCOPE, limit=6)) == 6  # as many as are asked for


def test_the_cost_of_a_common_word_in_a_small_scope_is_that_of_its_texts(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No statement of it looks at the index, which has the postings of all scopes."""
    store.write([Draft(key=Key(SCOPE, "one"), content="a lantern")])
    asked: list[str] = []
    for scanned, by_index in ((0, True), (10, False)):
        monkeypatch.setattr(doors, "SCANNED", scanned)
        asked.clear()
        store._db.raw.set_trace_callback(asked.append)
        assert len(store.search("lantern", scope=SCOPE)) == 1
        store._db.raw.set_trace_callback(None)
        assert any("MATCH" in statement for statement in asked) is by_index


def test_a_scope_of_few_long_texts_is_searched_by_the_index(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doors, "SCANNED", 3)
    monkeypatch.setattr(doors, "SCANNED_CHARACTERS", 30)
    read: list[str] = []
    store.write([Draft(key=Key(SCOPE, f"{n}"), content="0123456789") for n in range(3)])
    store._db.raw.set_trace_callback(read.append)
    assert len(store.search("456", scope=SCOPE)) == 3
    assert not any("MATCH" in statement for statement in read)
    store.write([Draft(key=Key(SCOPE, "0"), content="0123456789a")])
    assert len(store.search("456", scope=SCOPE)) == 3
    assert any("MATCH" in statement for statement in read)
