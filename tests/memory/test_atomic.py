"""A verb that fails at any statement has changed nothing."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest

from memorepair.drills import Stop, Struck, fail, striking
from memorepair.memory.artifact import Draft, Embedding, Key, Read, Recipe
from memorepair.memory.points import STATEMENT
from memorepair.memory.sqlite import SqliteStore
from memorepair.memory.store import Release, Successor

A, B, C = (Key((), name) for name in "abc")
Verb = Callable[[SqliteStore], object]


def write(store: SqliteStore) -> None:
    embedding = Embedding(vector=(1.0,), model="m", revision="1", normalised=True)
    store.write(
        [
            Draft(key=A, content="second a", embedding=embedding, recipe=Recipe(operator="f")),
            Draft(key=Key(("new",), "x"), content="x", reads=(Read(key=B),), semantic=(A,)),
        ]
    )


def delete(store: SqliteStore) -> None:
    store.open_case(event="delete", roots=[A], actor="x", reason="r")


def correct(store: SqliteStore) -> None:
    store.open_case(
        event="correct", roots=[A], actor="x", reason="r", replacements=[Draft(key=A, content="new a")]
    )


def stage(store: SqliteStore) -> None:
    store.stage(1, Draft(key=B, content="new b"))


def publish(store: SqliteStore) -> None:
    read, staged = Read(key=A, version=2), Read(key=B, version=2)
    store.publish(
        1,
        [Successor(key=B, version=2, reads=(read,), verdicts=(("x", "pass"),))],
        [Release(key=C, reads=(staged,))],
    )


def reject(store: SqliteStore) -> None:
    store.reject(1, [(B, 2)], ["no"])


def discard(store: SqliteStore) -> None:
    store.discard_staged(1)


def close(store: SqliteStore) -> None:
    store.close_case(1)


def inspect(store: SqliteStore) -> None:
    store.inspect(A, actor="x", reason="r")


VERBS: list[tuple[list[Verb], Verb]] = [
    ([], write),
    ([], delete),
    ([], correct),
    ([correct], stage),
    ([correct, stage], publish),
    ([correct, stage], reject),
    ([correct, stage], discard),
    ([delete], close),
    ([], inspect),
]


@pytest.mark.parametrize(("before", "verb"), VERBS, ids=[verb.__name__ for _, verb in VERBS])
def test_killed_at_any_statement_it_is_before_or_after(
    store: SqliteStore, before: list[Verb], verb: Verb
) -> None:
    store.write([Draft(key=A, content="a"), Draft(key=B, content="b", reads=(Read(key=A),))])
    store.write([Draft(key=C, content="c", reads=(Read(key=B),))])
    store.get(C)  # a use to be flushed
    for one in before:
        one(store)
    picture, entries, cases = store.snapshot(), store.journal(None), store.cases()
    tries = 0
    for nth in count(1):
        with striking(Stop(point=STATEMENT, nth=nth), fail) as strike:
            try:
                verb(store)
            except Struck:
                tries += 1
        if not strike.fallen:
            break
        assert (store.snapshot(), store.journal(None), store.cases()) == (picture, entries, cases)
    assert tries > 2
    assert store.journal(None) != entries
    assert store.check() == []
