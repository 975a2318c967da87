"""A verb that fails at any statement has changed nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import pytest

from memorepair.memory.artifact import Draft, Embedding, Key, Read, Recipe
from memorepair.memory.connection import Connection, Value
from memorepair.memory.sqlite import SqliteStore
from memorepair.memory.store import Release, Successor

A, B, C = (Key((), name) for name in "abc")
Verb = Callable[[SqliteStore], object]


class Killed(BaseException):
    """Stands for the end of the process."""


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
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, before: list[Verb], verb: Verb
) -> None:
    store.write([Draft(key=A, content="a"), Draft(key=B, content="b", reads=(Read(key=A),))])
    store.write([Draft(key=C, content="c", reads=(Read(key=B),))])
    store.get(C)  # a use to be flushed
    for one in before:
        one(store)
    picture, entries, cases = store.snapshot(), store.journal(None), store.cases()
    left = 0
    run, many = Connection.run, Connection.many

    def tick() -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise Killed

    def killing_run(self: Connection, sql: str, values: Sequence[Value] = ()) -> int:
        tick()
        return run(self, sql, values)

    def killing_many(self: Connection, sql: str, rows: Iterable[Sequence[Value]]) -> None:
        tick()
        many(self, sql, rows)

    allowed = 0
    while True:
        left = allowed
        with monkeypatch.context() as patch:
            patch.setattr(Connection, "run", killing_run)
            patch.setattr(Connection, "many", killing_many)
            try:
                verb(store)
            except Killed:
                killed = True
            else:
                killed = False
        if not killed:
            break
        allowed += 1
        assert (store.snapshot(), store.journal(None), store.cases()) == (picture, entries, cases)
    assert allowed > 2
    assert store.journal(None) != entries
    assert store.check() == []
