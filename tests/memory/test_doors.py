"""Search finds what the words say, in one scope, among what is served."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorepair.errors import InvalidInput, UnknownId, Withdrawn
from memorepair.memory import doors
from memorepair.memory.artifact import Draft, Key, State
from memorepair.memory.folding import fold
from memorepair.memory.sqlite import SqliteStore

Put = Callable[..., Key]
SCOPE = ("s",)
TEXTS = (
    "I live in Paris",
    "NEAR the AND of NOT",
    '他说 "你好" 北京烤鸭',
    "emoji 😀👍🏽 done",
    "it's 100% (sure): {a} [b] ^c *d -e +f",
    "ab",
    "日本",
    "semi;colon -- comment /* x */ ' OR 1=1",
    "text:column s:thing fts rank",
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> SqliteStore:
    store = SqliteStore.open(tmp_path_factory.mktemp("library") / "agent.db")
    store.write([Draft(key=Key(SCOPE, str(n)), content=text) for n, text in enumerate(TEXTS)])
    store.write([Draft(key=Key(("other",), "x"), content=" ".join(TEXTS))])
    return store


def found(store: SqliteStore, query: str) -> set[str]:
    """By the index, and the same in the same order by a scan."""
    hits = [hit.artifact.key.id for hit in store.search(query, scope=SCOPE, limit=100)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(doors, "SCANNED", 100)
        assert [hit.artifact.key.id for hit in store.search(query, scope=SCOPE, limit=100)] == hits
    return set(hits)


def expected(query: str) -> set[str]:
    words = query.casefold().split()
    return {
        str(n) for n, text in enumerate(TEXTS) if words and all(word in text.casefold() for word in words)
    }


@pytest.mark.parametrize(
    "query",
    [
        *TEXTS,
        "paris",
        "PARIS live",
        "北京",
        "北",
        "烤鸭 他",
        "😀",
        "👍🏽",
        '"',
        '""',
        "'",
        "AND",
        "NOT near",
        "a OR b",
        "s:thing",
        "^c",
        "*",
        "(",
        "-e",
        "fts MATCH 'x'",
        "paris\0live",
        "\0",
        "",
        "   ",
        "\ud800",
        "i",
        "NEAR(the AND, 2)",
        "col\tumn",
        "x" * doors.QUERY_LIMIT,
        "a " * 2_000,
    ],
)
def test_a_hit_contains_every_word(library: SqliteStore, query: str) -> None:
    assert found(library, query) == expected(query)


@pytest.mark.parametrize("scanned", [0, 100])
def test_odd_letters_and_a_nul_are_found_alike_whatever_the_size_of_the_scope(
    store: SqliteStore, put: Put, monkeypatch: pytest.MonkeyPatch, scanned: int
) -> None:
    monkeypatch.setattr(doors, "SCANNED", scanned)
    for id, text in {
        "sharp": "Große Straße",
        "double": "GROSSE STRASSE",
        "ligature": "ﬁnance",
        "plain": "Finance",
        "dotted": "İstanbul",
        "cherokee": "ꭰꭱꭲ",
        "nul": "before\0behind it",
        "elsewhere": "behind a thing",
    }.items():
        put(id, text)
    put("x", "before\0behind it", scope=("other",))
    for query, ids in {
        "straße": {"sharp"},
        "strasse": {"double"},
        "FINANCE": {"plain"},
        "ﬁnance": {"ligature"},
        "İstanbul": {"dotted"},
        "ꭰꭱꭲ": {"cherokee"},
        "BEHIND": {"nul", "elsewhere"},
        "before it": {"nul"},
        "before behind": {"nul"},
        "before missing": set(),
    }.items():
        assert {hit.artifact.key.id for hit in store.search(query, scope=())} == ids, query
    assert store.check() == []


def test_letters_are_folded_as_the_index_folds_them() -> None:
    letters = [chr(code) for code in range(1, 0x1F000, 5) if not 0xD800 <= code < 0xE000]
    letters += [*"\ufffe\uffffßẞİΣςſ\u212aǅꭰ𐒰𞤀"]
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE VIRTUAL TABLE t USING fts5(text, tokenize='trigram')")
        db.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, instance)")
        db.executemany("INSERT INTO t(rowid, text) VALUES(?, ?)", enumerate(f"xx{one}" for one in letters))
        made = {letters[doc]: term[2:] for doc, term in db.execute("SELECT doc, term FROM v")}
    assert {one: fold(one) for one in letters} == made


PIECES = st.sampled_from([*"abIPs:\"'()*-^+{}\\%_;,.北京😀\0 ", "par", "the", "NEAR", "AND", "OR", '""'])


@given(st.lists(PIECES, max_size=6).map("".join))
def test_no_query_is_an_operator(library: SqliteStore, query: str) -> None:
    assert found(library, query) == expected(query)


def test_hits_come_best_first_and_no_more_than_asked(library: SqliteStore) -> None:
    hits = library.search("the", scope=SCOPE, limit=100)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert len(library.search("e", scope=SCOPE, limit=2)) == 2


@pytest.mark.parametrize("limit", [0, -1, True, 2**31])
def test_limits_are_checked(library: SqliteStore, limit: int) -> None:
    for ask in (library.listing, library.journal, partial(library.search, "paris", scope=SCOPE)):
        with pytest.raises(InvalidInput):
            ask(limit=limit)


def test_a_query_has_a_limit(library: SqliteStore) -> None:
    with pytest.raises(InvalidInput):
        library.search("x" * (doors.QUERY_LIMIT + 1), scope=SCOPE)


def test_an_unknown_scope_is_empty(library: SqliteStore) -> None:
    assert library.search("paris", scope=("nobody",)) == []


def test_unknown_ids_are_named(library: SqliteStore) -> None:
    nobody = Key(SCOPE, "nobody")
    for door in (library.get, library.history, library.describe, library.parents, library.children):
        with pytest.raises(UnknownId) as caught:
            door(nobody)
        assert caught.value.witness == nobody
    with pytest.raises(UnknownId):
        library.case(7)
    with pytest.raises(InvalidInput):
        library.case(2**70)
    with pytest.raises(UnknownId):
        library.members(7)


def test_every_door_closes_with_the_withdrawal(store: SqliteStore, put: Put) -> None:
    a = put("a", "secret harbour")
    b = put("b", "harbour summary", a)
    case = store.open_case(event="delete", roots=[a], actor="x", reason="r")
    for key in (a, b):
        with pytest.raises(Withdrawn) as caught:
            store.get(key)
        assert (caught.value.case, caught.value.state) == (case.id, "withdrawn")
        assert [past.content for past in store.history(key)] == [None]
        assert store.describe(key).state is State.WITHDRAWN
    for query in ("harbour", "ha"):
        assert store.search(query, scope=()) == []
    assert store.served([a, b]) == {}
    assert store.inspect(b, actor="reviewer", reason="look").content == "harbour summary"
    assert store.journal()[0].act == "inspect"


@pytest.mark.parametrize(("actor", "reason"), [("", "r"), ("a", " "), ("\ud800", "r")])
def test_nobody_inspects_for_no_reason(store: SqliteStore, put: Put, actor: str, reason: str) -> None:
    a = put("a")
    with pytest.raises(InvalidInput):
        store.inspect(a, actor=actor, reason=reason)


def test_inspect_shows_any_version(store: SqliteStore, put: Put) -> None:
    a = put("a", "one")
    put("a", "two")
    assert store.inspect(a, actor="x", reason="r", version=1).content == "one"
    assert store.inspect(a, actor="x", reason="r").content == "two"
    with pytest.raises(UnknownId):
        store.inspect(a, actor="x", reason="r", version=3)
