"""A write stores all its drafts with what they stand on, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memorepair.errors import CycleFound, InvalidInput, StaleRead, Tombstoned, UnknownId, Withdrawn
from memorepair.graphs.terms import Arch, Kind, Relation
from memorepair.memory.artifact import (
    Draft,
    Embedding,
    Key,
    Read,
    Recipe,
    Slot,
    Source,
    State,
    TaskCase,
    Type,
)
from memorepair.memory.sqlite import SqliteStore

A, B, C, D = (Key(("user", "42"), name) for name in "abcd")
Put = Callable[..., Key]


def nothing_written(store: SqliteStore) -> bool:
    return store.listing() == [] and [entry.act for entry in store.journal()] == ["create"]


def test_every_field_comes_back(store: SqliteStore) -> None:
    recipe = Recipe(
        operator="f",
        version="2",
        params={"n": 1, "deep": {"list": [1, None]}},
        observed=True,
        schema={"type": "object"},
        cases=(TaskCase(name="t", contains=("x",), excludes=("y",)),),
        value=2.5,
        cost=0.0,
    )
    draft = Draft(
        key=A,
        content='émoji 😀 "quoted" \0 nul',
        kind=Kind.SKILL,
        arch=Arch.CHAIN,
        source=Source.TOOL,
        type=Type.PREFERENCE,
        slot=Slot(entity="user 42", attribute="home", value="Paris", scene="work", valid_from=1.5),
        confidence=0.5,
        metadata={"k": [1, {"z": None}], "北": "京"},
        embedding=Embedding(vector=(1.0, -0.5, 0.25), model="m", revision="r1", normalised=True),
        recipe=recipe,
    )
    store.write([draft])
    got = store.get(A)
    for name in ("key", "content", "kind", "arch", "source", "type", "slot", "confidence", "embedding"):
        assert getattr(got, name) == getattr(draft, name)
    assert dict(got.metadata) == draft.metadata
    assert store.recipes([A]) == {A: recipe}
    assert (got.version, got.state) == (1, State.ACTIVE)
    assert got.created_at == got.updated_at


def test_an_existing_key_gets_its_next_version(store: SqliteStore, put: Put) -> None:
    a = put("a", "one")
    first = store.get(a)
    put("a", "two")
    second = store.get(a)
    assert (second.version, second.content) == (2, "two")
    assert second.created_at == first.created_at < second.updated_at
    assert [(past.state, past.content) for past in store.history(a)] == [
        (State.SUPERSEDED, "one"),
        (State.ACTIVE, "two"),
    ]


def test_drafts_may_read_each_other_in_any_order(store: SqliteStore) -> None:
    report = store.write(
        [
            Draft(key=C, content="c", reads=(Read(key=B, relation=Relation.CITE, group=3), Read(key=A))),
            Draft(key=B, content="b", reads=(Read(key=A, version=1),)),
            Draft(key=A, content="a", semantic=(C,)),
        ]
    )
    assert report.keys == (C, B, A)
    assert (report.artifacts, report.arcs, report.cycles) == (3, 3, ())
    assert [(arc.parent, arc.relation, arc.group) for arc in store.support([C])] == [
        (B, Relation.CITE, 3),
        (A, Relation.DERIVE, 0),
    ]
    assert {listing.key for listing in store.children(A)} == {B, C}
    assert {listing.key for listing in store.parents(C)} == {A, B}
    assert store.snapshot().semantic == ((A, C),)


def test_an_update_reads_anew(store: SqliteStore, put: Put) -> None:
    a, b = put("a"), put("b")
    c = put("c", "from a", a)
    put("c", "from b", b)
    assert [arc.parent for arc in store.support([c])] == [b]
    assert [(arc.parent, arc.child_version) for arc in store.snapshot().former_arcs] == [(a, 1)]


@pytest.mark.parametrize(
    ("draft", "error"),
    [
        (Draft(key=A, content="x", reads=(Read(key=D),)), UnknownId),
        (Draft(key=A, content="x", semantic=(D,)), UnknownId),
        (Draft(key=A, content="x", reads=(Read(key=A),)), CycleFound),
    ],
)
def test_a_bad_draft_stores_nothing_of_the_batch(
    store: SqliteStore, draft: Draft, error: type[Exception]
) -> None:
    with pytest.raises(error) as caught:
        store.write([Draft(key=B, content="good"), draft])
    assert getattr(caught.value, "witness", None) is not None
    assert nothing_written(store)


@pytest.mark.parametrize("drafts", [None, 5, ["x"], [None], "x"])
def test_what_is_no_draft_is_refused(store: SqliteStore, drafts: Any) -> None:
    with pytest.raises(InvalidInput):
        store.write(drafts)
    assert nothing_written(store)


def test_a_key_twice_in_a_batch_is_refused(store: SqliteStore) -> None:
    with pytest.raises(InvalidInput, match="twice"):
        store.write([Draft(key=A, content="x"), Draft(key=A, content="y")])
    assert nothing_written(store)


def test_what_was_read_must_still_be_current(store: SqliteStore, put: Put) -> None:
    a = put("a", "one")
    put("a", "two")
    with pytest.raises(StaleRead) as caught:
        store.write([Draft(key=B, content="b", reads=(Read(key=a, version=1),))])
    assert caught.value.witness == (a, 1)
    store.write([Draft(key=B, content="b", reads=(Read(key=a, version=2),))])


def test_nothing_is_written_onto_or_from_the_withdrawn(store: SqliteStore, put: Put) -> None:
    a = put("a")
    b = put("b", None, a)
    case = store.open_case(event="correct", roots=[a], actor="x", reason="r")
    for draft in (Draft(key=b, content="new"), Draft(key=C, content="c", reads=(Read(key=b),))):
        with pytest.raises(Withdrawn) as caught:
            store.write([draft])
        assert (caught.value.key, caught.value.case) == (b, case.id)


def test_a_cycle_is_refused_with_the_cycle_as_witness(store: SqliteStore, put: Put) -> None:
    a = put("a")
    b = put("b", None, a)
    c = put("c", None, b)
    with pytest.raises(CycleFound) as caught:
        put("a", "closes it", c)
    assert isinstance(caught.value.witness, tuple)
    assert set(caught.value.witness) == {a, b, c}
    assert store.get(a).version == 1


def test_an_import_stores_cycles_and_reports_one_each(store: SqliteStore, put: Put) -> None:
    a = put("a")
    b = put("b", None, a)
    report = store.write(
        [
            Draft(key=a, content="now from b", reads=(Read(key=b),)),
            Draft(key=C, content="c", reads=(Read(key=D), Read(key=D, group=1))),
            Draft(key=D, content="d", reads=(Read(key=C),)),
        ],
        allow_cycles=True,
    )
    assert sorted(map(set, report.cycles), key=min) == [{a, b}, {C, D}]
    case = store.open_case(event="correct", roots=[C], actor="x", reason="r")
    assert {member.key for member in store.members(case.id)} == {C, D}


def test_deleted_content_is_not_learned_again_in_its_scope(store: SqliteStore) -> None:
    store.write([Draft(key=A, content="Lives in Paris")])
    store.open_case(event="delete", roots=[A], actor="x", reason="r")
    for content in ("Lives in Paris", "lives in PARIS", "Lives in Ｐaris"):
        with pytest.raises(Tombstoned):
            store.write([Draft(key=B, content=content)])
    other = Key(("user", "43"), "b")
    store.write([Draft(key=other, content="Lives in Paris")])
    again = Draft(key=B, content="Lives in Paris")
    for actor, reason in ((None, None), ("ada", " "), (" ", "mistaken")):
        with pytest.raises(InvalidInput):
            store.write([again], allow_tombstoned=True, actor=actor, reason=reason)
    store.write([again], allow_tombstoned=True, actor="ada", reason="mistaken")
    assert (store.journal()[0].actor, store.journal()[0].reason) == ("ada", "mistaken")
    assert store.get(B).content == store.get(other).content


def test_digests_are_of_the_exact_text(store: SqliteStore, put: Put) -> None:
    upper, lower, again = put("a", "Paris"), put("b", "paris"), put("c", "Paris", scope=("x",))
    assert store.describe(upper).digest == store.describe(again).digest == store.digest("Paris")
    assert store.describe(lower).digest != store.digest("Paris")


def test_a_bulk_write_is_found_by_the_index(store: SqliteStore) -> None:
    scope = ("bulk",)
    drafts = [Draft(key=Key(scope, f"k{n}"), content=f"record number {n:05d}") for n in range(3_000)]
    assert store.write(drafts, act="import").artifacts == 3_000
    assert [hit.artifact.key.id for hit in store.search("02999", scope=scope)] == ["k2999"]
    assert store.check() == []


def test_uses_are_counted_and_outlive_the_process(store: SqliteStore, put: Put) -> None:
    a = put("a")
    assert store.get(a).last_accessed_at is None
    second = store.get(a).last_accessed_at
    assert second is not None
    store.search("content", scope=())
    store.close()
    with SqliteStore.open(store.path) as again:
        assert again.get(a).last_accessed_at is not None
        case = again.open_case(event="correct", roots=[a], actor="x", reason="r")
        (member,) = again.members(case.id)
        assert member.uses == 3
