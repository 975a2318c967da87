"""Ranks come from the texts that are found, not from the store around them."""

from __future__ import annotations

import pytest

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


@pytest.mark.parametrize("query", ["harbour", "lantern", "harbour lantern"])
def test_no_other_scope_and_nothing_barred_moves_a_rank(store: SqliteStore, query: str) -> None:
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
