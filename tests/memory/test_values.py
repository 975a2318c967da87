"""A value that could not be stored and read back as it is cannot be made."""

from __future__ import annotations

import math
from inspect import signature
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorepair.errors import InvalidInput, MemoRepairError
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import Draft, Embedding, Key, Read, Recipe, Slot, Source, TaskCase
from memorepair.memory.codec import prepare, recipe_of
from memorepair.memory.values import TEXT_LIMIT

A = Key((), "a")
GOOD: dict[type, dict[str, Any]] = {
    Draft: {"key": A, "content": "x"},
    Recipe: {},
    TaskCase: {"name": "t"},
    Slot: {"entity": "e", "attribute": "a"},
    Embedding: {"vector": (1.0,), "model": "m", "revision": "", "normalised": True},
    Read: {"key": A},
}
CYCLE: list[Any] = []
CYCLE.append(CYCLE)
DEEP: list[Any] = []
for _ in range(100_000):
    DEEP = [DEEP]
NO_JSON = [[1], "ab", 5, {1: "x"}, {"a": {1: "x"}}, {"a": math.nan}, {"a": {1}}, {"a": CYCLE}, {"a": DEEP}]
NO_JSON += [{"a": "\ud800"}, {"a": 10**5_000}]
NO_NUMBER = ["x", True, math.nan, math.inf, -1.0, 10**400, [1]]
BAD: list[tuple[type, str, list[Any]]] = [
    (Draft, "key", ["a", None, 5]),
    (Draft, "content", [None, 5, b"x", "\ud800", "x" * (TEXT_LIMIT + 1), "é" * (TEXT_LIMIT // 2 + 1)]),
    (Draft, "kind", ["record", 1, "gossip"]),
    (Draft, "arch", ["none", 0]),
    (Draft, "source", ["user", "gossip", None]),
    (Draft, "type", ["fact", 5]),
    (Draft, "slot", [("a", "b"), "a"]),
    (Draft, "confidence", [*NO_NUMBER, 1.5]),
    (Draft, "metadata", [None, *NO_JSON]),
    (Draft, "embedding", [(1.0,), "x"]),
    (Draft, "recipe", [None, {}, "summarise"]),
    (Draft, "reads", [[], [A], (A,), "a", None]),
    (Draft, "semantic", [[], ("a",), "a", None]),
    (Recipe, "operator", ["", 5, "f@1", "a\n", "\ud800", b"f"]),
    (Recipe, "version", [None, "", 1, "1@2"]),
    (Recipe, "params", [None, *NO_JSON]),
    (Recipe, "observed", [None, 1, "yes"]),
    (Recipe, "schema", [*NO_JSON, {"type": "zz"}, {"pattern": "^a"}, {"minLength": -1}]),
    (Recipe, "cases", [None, ("x",), [TaskCase(name="t")], TaskCase(name="t")]),
    (Recipe, "value", NO_NUMBER),
    (Recipe, "cost", NO_NUMBER),
    (TaskCase, "name", [None, 5, "\ud800"]),
    (TaskCase, "contains", ["x", ["x"], (5,), None]),
    (TaskCase, "excludes", ["x", ["x"], (5,), ("\ud800",)]),
    (Slot, "entity", [None, 5, "\ud800"]),
    (Slot, "attribute", [None, 5]),
    (Slot, "value", [5, ("a",)]),
    (Slot, "polarity", [None, 1]),
    (Slot, "scene", [5]),
    (Slot, "valid_from", ["x", math.nan, math.inf, 10**400]),
    (Slot, "valid_to", ["x", math.nan]),
    (Embedding, "vector", [None, [1.0], (), ("x",), (math.nan,), (1e300,), (10**400,), "x"]),
    (Embedding, "model", [None, 5]),
    (Embedding, "revision", [None, 5]),
    (Embedding, "normalised", [None, "zz", 1]),
    (Read, "key", ["a", None]),
    (Read, "version", [0, -1, 1.5, "1", True, 2**63]),
    (Read, "relation", ["derive", 1]),
    (Read, "group", ["x", 1.5, -1, True, None, 2**63]),
]
EACH = [(kind, field, place, value) for kind, field, values in BAD for place, value in enumerate(values)]


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        pytest.param(kind, field, value, id=f"{kind.__name__}-{field}-{place}")
        for kind, field, place, value in EACH
    ],
)
def test_a_bad_value_is_refused_where_it_is_made(kind: type, field: str, value: object) -> None:
    kind(**GOOD[kind])
    with pytest.raises(InvalidInput) as caught:
        kind(**GOOD[kind] | {field: value})
    assert str(caught.value)


@pytest.mark.parametrize("kind", GOOD, ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_no_value_at_all_is_refused_untyped(kind: type, data: st.DataObject) -> None:
    odd = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=3),
        st.binary(max_size=2),
        st.lists(st.integers(), max_size=2),
        st.tuples(st.text(max_size=2)),
        st.dictionaries(st.one_of(st.text(max_size=2), st.integers()), st.floats(), max_size=2),
        st.sampled_from([A, Kind.CACHE, Source.TOOL, Recipe(), object()]),
    )
    field = data.draw(st.sampled_from(sorted(signature(kind).parameters)))
    try:
        made = kind(**GOOD[kind] | {field: data.draw(odd)})
    except MemoRepairError:
        return
    if isinstance(made, Draft):
        prepare([made])
    if isinstance(made, Recipe) and made != Recipe():
        (prepared,) = prepare([Draft(key=A, content="x", recipe=made)])
        assert recipe_of(prepared.recipe) == made


PART = st.text(st.sampled_from("a:/é "), min_size=1, max_size=4)


@given(scope=st.lists(PART, max_size=3), id=PART)
def test_a_key_that_can_be_made_is_read_back_from_its_written_form(scope: list[str], id: str) -> None:
    try:
        key = Key(tuple(scope), id)
    except InvalidInput:
        assert any("/" in part or "::" in part or part.endswith(":") for part in scope)
        return
    assert Key.parse(str(key)) == key


@pytest.mark.parametrize("scope", ["user", b"user", ["user"], None, 5, (1, 2), ("",), ("a:",), ("a\n",)])
def test_a_scope_is_a_tuple_of_texts(scope: Any) -> None:
    with pytest.raises(InvalidInput):
        Key(scope, "a")


@pytest.mark.parametrize("id", ["", None, 5, b"a", "a\n", "\ud800"])
def test_an_id_is_printable_text(id: Any) -> None:
    with pytest.raises(InvalidInput):
        Key((), id)
