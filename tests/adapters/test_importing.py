"""An import is stored once; what a repair event has changed since is refused, whatever the kind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memorepair.adapters.importing import bring
from memorepair.adapters.recording import Item, Recorder, Recording
from memorepair.adapters.registry import KINDS, import_kind
from memorepair.errors import InvalidFile, InvalidInput, UnknownId
from memorepair.facade import Memory
from memorepair.graphs.terms import Relation
from memorepair.memory.artifact import Key

SCOPE = ("here",)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "agent.db") as opened:
        yield opened


def recording(**texts: str) -> Recording:
    """a -> b -> c, and d; what is given."""
    recorder = Recorder("test")
    for id, text in texts.items():
        recorder.add(Item(id=id, what="texts", content=text))
    recorder.link("a", "b", Relation.DERIVE)
    recorder.link("b", "c", Relation.DERIVE, rule="b is quoted")
    return recorder.finish()


OLD = {"a": "one", "b": "two", "c": "three", "d": "four"}


def test_what_is_there_word_for_word_is_left_alone(memory: Memory) -> None:
    told = bring(memory, recording(**OLD), scope=SCOPE).to_json()
    assert (told["new"], told["recorded"]) == (4, {"texts": 4, "links": 1})
    assert told["inferred"] == {"b is quoted": 1}
    before = memory.store.snapshot()
    again = bring(memory, recording(**OLD), scope=SCOPE).to_json()
    assert (again["new"], again["same"], again["refused"]) == (0, 4, [])
    assert memory.store.snapshot() == before


def test_a_dry_run_tells_and_stores_nothing(memory: Memory) -> None:
    told = bring(memory, recording(**OLD), scope=SCOPE, dry_run=True).to_json()
    assert (told["new"], told["dry_run"]) == (4, True)
    assert memory.list() == []
    assert bring(None, recording(**OLD), scope=SCOPE).to_json() == told


def test_new_words_are_refused_or_the_next_version(memory: Memory) -> None:
    bring(memory, recording(**OLD), scope=SCOPE)
    newer = recording(**{**OLD, "d": "five"})
    told = bring(memory, newer, scope=SCOPE).to_json()
    assert told["refused"] == [{"key": "here::d", "why": "differs", "witness": None}]
    assert bring(memory, newer, scope=SCOPE, update=True).to_json()["updated"] == 1
    assert memory.get(Key(SCOPE, "d")).content == "five"


def test_what_a_repair_event_has_changed_is_refused_with_what_stands_on_it(memory: Memory) -> None:
    bring(memory, recording(**{id: OLD[id] for id in ("a", "b", "d")}), scope=SCOPE)
    case = memory.correct(Key(SCOPE, "a"), "won", reason="misheard", actor="me")
    for update in (False, True):
        merged = bring(memory, recording(**OLD), scope=SCOPE, update=update).merged
        assert (merged.written, merged.updated, merged.same) == ((), (), 1)
        assert {one.key.id: (one.why, one.witness) for one in merged.refused} == {
            "a": ("removed", case.id),
            "b": ("out of service", case.id),
            "c": ("out of service", Key(SCOPE, "b")),
        }
    with pytest.raises(UnknownId):
        memory.get(Key(SCOPE, "c"))
    memory.undo(case, actor="me", reason="heard right")
    assert bring(memory, recording(**OLD), scope=SCOPE).to_json()["refused"] == []


def test_what_was_deleted_is_not_learned_again_under_another_key(memory: Memory) -> None:
    bring(memory, recording(**OLD), scope=SCOPE)
    memory.delete(Key(SCOPE, "d"), reason="asked to", actor="me")
    told = bring(memory, recording(**{**OLD, "e": "four"}), scope=SCOPE).merged
    assert {one.key.id: one.why for one in told.refused} == {"d": "out of service", "e": "forbidden"}


def test_requirements_with_choices_have_no_place_in_a_memory() -> None:
    recorder = Recorder("test", form="requirements")
    for id in ("a", "b", "c"):
        recorder.add(Item(id=id, what="packages", content=id))
    recorder.link("a", "c", Relation.SUPPORT)
    recorder.link("b", "c", Relation.SUPPORT)
    with pytest.raises(InvalidInput, match="choices"):
        recorder.finish().drafts(SCOPE)
    with pytest.raises(InvalidInput, match="twice"):
        recorder.add(Item(id="a", what="packages", content="again"))


def test_kinds_are_found_by_name() -> None:
    assert import_kind("dbt").name == "dbt"
    with pytest.raises(UnknownId, match="toolbench"):
        import_kind("nothing")


@pytest.mark.parametrize("kind", sorted(KINDS))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    junk=st.one_of(
        st.binary(max_size=30),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=3),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(
                        [
                            "nodes",
                            "package",
                            "packages",
                            "trajectory",
                            "job",
                            "used",
                            "entity",
                            "tree",
                            "version",
                        ]
                    ),
                    inner,
                    max_size=3,
                )
            ),
            max_leaves=6,
        ).map(lambda value: json.dumps(value).encode()),
    )
)
def test_no_kind_meets_junk_with_another_error(kind: str, junk: bytes, tmp_path: Path) -> None:
    path = tmp_path / "junk.json"
    path.write_bytes(junk)
    with suppress(InvalidFile):
        KINDS[kind].read(path)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_file_that_is_not_there_is_told(kind: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="absent"):
        KINDS[kind].read(tmp_path / "absent.json")
