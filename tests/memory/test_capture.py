"""What a derivation reads is what its writes stand on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memorepair.errors import InvalidInput, StaleRead, Withdrawn
from memorepair.graphs.terms import Kind, Relation
from memorepair.memory.artifact import Draft, Key, Recipe
from memorepair.memory.capture import Derivation
from memorepair.memory.sqlite import SqliteStore

Put = Callable[..., Key]


def test_every_read_so_far_is_an_arc_of_a_write(store: SqliteStore, put: Put) -> None:
    a, b = put("a"), put("b")
    recipe = Recipe(operator="f")
    with Derivation(store, kind=Kind.SUMMARY, recipe=recipe, scope=("s",)) as d:
        d.read(a, relation=Relation.CITE, group=2)
        early = d.write("from a")
        d.read(b)
        late = d.write("from a and b", id="late")
        with pytest.raises(LookupError):
            store.get(early)
    assert late == Key(("s",), "late")
    assert [(arc.parent, arc.relation, arc.group) for arc in store.support([early])] == [
        (a, Relation.CITE, 2)
    ]
    assert {arc.parent for arc in store.support([late])} == {a, b}
    assert store.get(early).kind is Kind.SUMMARY
    assert store.recipes([late]) == {late: recipe}
    assert store.journal()[0].act == "derive"


def derive(store: SqliteStore, key: Key, meanwhile: Callable[[], object]) -> None:
    with Derivation(store, kind=Kind.SUMMARY) as d:
        d.read(key)
        d.write("half")
        meanwhile()
        d.write("whole")


def interrupt() -> None:
    raise InterruptedError


def test_nothing_is_written_when_the_body_raises(store: SqliteStore, put: Put) -> None:
    a = put("a")
    with pytest.raises(InterruptedError):
        derive(store, a, interrupt)
    assert len(store.listing()) == 1


def test_what_was_read_must_not_change_meanwhile(store: SqliteStore, put: Put) -> None:
    a = put("a")
    with pytest.raises(StaleRead):
        derive(store, a, lambda: put("a", "changed"))
    with pytest.raises(Withdrawn):
        derive(store, a, lambda: store.open_case(event="delete", roots=[a], actor="x", reason="r"))
    assert [listing.key for listing in store.listing()] == [a]


def test_a_derivation_is_used_once_and_inside_its_block(store: SqliteStore, put: Put) -> None:
    a = put("a")
    d = Derivation(store, kind=Kind.SUMMARY)
    with pytest.raises(InvalidInput):
        d.read(a)
    with d:
        d.write("x", id="x")
        with pytest.raises(InvalidInput, match="twice"):
            d.write("y", id="x")
    with pytest.raises(InvalidInput):
        d.write("late")
    with pytest.raises(InvalidInput), d:
        pass


def test_an_update_of_what_was_not_read_is_an_ordinary_update(store: SqliteStore, put: Put) -> None:
    a, x = put("a"), put("x")
    with Derivation(store, kind=Kind.SUMMARY) as d:
        d.read(a)
        d.write("new x", id="x")
    assert store.get(x).version == 2
    store.write([Draft(key=a, content="later")])
    assert store.get(x).content == "new x"
