"""A derivation that read what has left service since commits nowhere, or behind the barrier by choice."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memorepair.errors import StaleRead, Tombstoned, UnknownId, Withdrawn
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import Draft, Key, Read, State
from memorepair.memory.capture import Derivation
from memorepair.memory.sqlite import SqliteStore

Put = Callable[..., Key]
A, B, C = (Key((), name) for name in "abc")


def withdrawn(store: SqliteStore) -> int | None:
    return store.open_case(event="correct", roots=[A], actor="x", reason="r").id


def updated(store: SqliteStore) -> int | None:
    store.write([Draft(key=A, content="newer a")])
    return None


@pytest.mark.parametrize("meanwhile", [withdrawn, updated])
@pytest.mark.parametrize("exists", [False, True])
def test_by_choice_it_is_kept_behind_the_barrier(
    store: SqliteStore, put: Put, meanwhile: Callable[[SqliteStore], int | None], exists: bool
) -> None:
    put("a", "canary a")
    if exists:
        put("b", "present b")
    with Derivation(store, kind=Kind.SUMMARY, on_stale="quarantine") as d:
        d.write("canary of " + d.read(A).content, id="b")
        case = meanwhile(store)
    assert d.quarantined == (B,)
    newest = store.history(B)[-1]
    assert (newest.state, newest.case, newest.content) == (State.QUARANTINED, case, None)
    assert store.journal(1)[0].act == "quarantine"
    assert "canary of" not in [hit.artifact.content for hit in store.search("canary", scope=())]
    if exists:
        assert store.get(B).content == "present b"
    else:
        with pytest.raises(Withdrawn, match="quarantined"):
            store.get(B)
    assert store.inspect(B, actor="x", reason="r", version=newest.version).content == "canary of canary a"
    assert store.check() == []


@pytest.mark.parametrize(("meanwhile", "error"), [(withdrawn, Withdrawn), (updated, StaleRead)])
def test_otherwise_nothing_is_written(
    store: SqliteStore, put: Put, meanwhile: Callable[[SqliteStore], int | None], error: type[Exception]
) -> None:
    put("a")
    d = Derivation(store, kind=Kind.SUMMARY).__enter__()
    d.write(d.read(A).content, id="b")
    d.write("and more", id="c")
    meanwhile(store)
    with pytest.raises(error):
        d.__exit__(None, None, None)
    assert [listing.key for listing in store.listing()] == [A]


def test_what_is_still_true_is_served_though_quarantine_was_allowed(store: SqliteStore, put: Put) -> None:
    put("a")
    with Derivation(store, kind=Kind.SUMMARY, on_stale="quarantine") as d:
        d.write(d.read(A).content, id="b")
    assert d.quarantined == ()
    assert store.get(B).version == 1


def test_a_second_try_under_the_same_id_is_served(store: SqliteStore, put: Put) -> None:
    put("a", "old a")
    with Derivation(store, kind=Kind.SUMMARY, on_stale="quarantine") as d:
        d.write(d.read(A).content, id="b")
        updated(store)
    with pytest.raises(Withdrawn):  # it does not stand on the refused one
        store.write([Draft(key=B, content="x", reads=(Read(key=B),))])
    with Derivation(store, kind=Kind.SUMMARY) as d:
        d.write(d.read(A).content, id="b")
    assert store.get(B).content == "newer a"
    assert [past.state for past in store.history(B)] == [State.QUARANTINED, State.ACTIVE]
    assert {(arc.parent, arc.read_version) for arc in store.snapshot().arcs} == {(A, 2)}
    assert store.check() == []


def test_all_of_one_derivation_shares_its_fate(store: SqliteStore, put: Put) -> None:
    put("a")
    with Derivation(store, kind=Kind.SUMMARY, on_stale="quarantine") as d:
        d.write("apart", id="b")
        d.write(d.read(A).content, id="c")
        withdrawn(store)
    assert d.quarantined == (B, C)
    assert {listing.key: listing.state for listing in store.listing(state=State.QUARANTINED)} == {
        B: State.QUARANTINED,
        C: State.QUARANTINED,
    }


def test_unknown_support_and_removed_content_are_refused_all_the_same(store: SqliteStore, put: Put) -> None:
    put("a", "gone")
    store.open_case(event="delete", roots=[A], actor="x", reason="r")
    stale = Read(key=A, version=1)
    for draft, error in (
        (Draft(key=B, content="x", reads=(stale, Read(key=Key((), "nobody")))), UnknownId),
        (Draft(key=B, content="x", reads=(Read(key=A, version=7),)), UnknownId),
        (Draft(key=B, content="gone", reads=(stale,)), Tombstoned),
    ):
        with pytest.raises(error):
            store.write([draft], quarantine=True)
