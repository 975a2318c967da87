"""why(): one artifact's word is the one the whole plan says of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorepair.errors import InvalidInput, UnknownId
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import Draft, Key, Read, Recipe
from memorepair.memory.exchange import SupportArc
from memorepair.memory.sqlite import SqliteStore
from memorepair.problems.proof import Ties
from memorepair.repair import engine
from memorepair.repair.events import Correction, Deletion, EventKind, RepairEvent
from memorepair.repair.operators.operator import Call
from memorepair.repair.operators.recompute import operator
from memorepair.repair.operators.registry import Operators


def key(place: int) -> Key:
    return Key((), f"n{place}")


@operator(name="join")
def join(call: Call) -> str:
    return " ".join(source.content for source in call.inputs)


@st.composite
def drafts(draw: st.DrawFn) -> list[Draft]:
    """Artifacts that read each other any way, cycles included; the first stands on its own."""
    count = draw(st.integers(2, 9))
    made = [Draft(key=key(0), content="Root.")]
    for place in range(1, count):
        how = draw(st.sampled_from(["join", "join", "summarise", "gone", "observed"]))
        parents = draw(st.sets(st.integers(0, count - 1), max_size=3)) - {place}
        made.append(
            Draft(
                key=key(place),
                content=f"Content of {place}.",
                kind=Kind.SUMMARY if how == "summarise" else Kind.CACHE,
                recipe=Recipe(operator=how, observed=how == "observed"),
                reads=tuple(Read(key=key(parent)) for parent in sorted(parents)),
            )
        )
    return made


@settings(max_examples=60)
@given(
    drafts(),
    st.booleans(),
    st.booleans(),
    st.sampled_from([0.3, 3.0]),
    st.sampled_from(get_args(Ties)),
    st.sampled_from([0, 1, 1000]),
)
def test_the_word_on_one_artifact_is_that_of_the_whole_plan(
    made: list[Draft], deletes: bool, twice: bool, tradeoff: float, ties: Ties, near: int
) -> None:
    operators = Operators.default()
    operators.register(join)
    delta = Deletion() if deletes else Correction(replacements={key(0): "New."})
    kind = EventKind.DELETE if deletes else EventKind.CORRECT
    with (
        TemporaryDirectory() as folder,
        SqliteStore.open(Path(folder) / "memory.db") as store,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(engine, "_NEAR", near)
        store.write(made, allow_cycles=True)
        if twice:
            engine.withdraw(store, RepairEvent(kind=EventKind.DELETE, roots=(key(1),)))
        case = engine.withdraw(store, RepairEvent(kind=kind, roots=(key(0),), delta=delta)).id
        plan = engine.plan(store, case, operators=operators, tradeoff=tradeoff, ties=ties)
        words: Mapping[Key, str] = {row.key: row.why for row in plan.rows()}
        for draft in made:
            found = engine.why(store, case, draft.key, operators=operators, tradeoff=tradeoff, ties=ties)
            assert found == words.get(draft.key)


def test_what_is_barred_is_told_without_reading_what_does_not_bear_on_it() -> None:
    with TemporaryDirectory() as folder, SqliteStore.open(Path(folder) / "memory.db") as store:
        store.write([Draft(key=key(0), content="Root.")])
        store.write(
            [
                Draft(
                    key=key(place),
                    content="x",
                    kind=Kind.CACHE,
                    recipe=Recipe(operator="gone"),
                    reads=(Read(key=key(0)),),
                )
                for place in range(1, 50)
            ]
        )
        case = engine.withdraw(store, RepairEvent(kind=EventKind.DELETE, roots=(key(0),))).id
        asked: list[Key] = []
        support = store.support

        def spied(keys: Sequence[Key]) -> list[SupportArc]:
            asked.extend(keys)
            return support(keys)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(store, "support", spied)
            assert engine.why(store, case, key(7), operators=Operators()) == "no operator (gone@1)"
        assert set(asked) == {key(0), key(7)}
        with pytest.raises(UnknownId):
            engine.why(store, 9, key(7), operators=Operators())
        store.undo(case, actor="a", reason="r")
        with pytest.raises(InvalidInput):
            engine.why(store, case, key(7), operators=Operators())
