"""Evidence: what a case spares is what the definition spares, served as it was; all else is withdrawn."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memorepair.errors import InvalidEvent, InvalidInput, UnknownId, Withdrawn
from memorepair.facade import Memory
from memorepair.graphs import POLICIES, Kind, Policy, ProvenanceBuilder
from memorepair.memory.artifact import Draft, Key, Read, Recipe, State
from memorepair.memory.snapshot import Snapshot
from memorepair.repair.cascade import read_cascade
from memorepair.repair.evidence import spared_in
from memorepair.repair.soundness import soundness_violations
from memorepair.repair.withdrawal import event_of


class Who(TypedDict):
    reason: str
    actor: str


WHO = Who(reason="it was wrong", actor="tester")


class World(NamedTuple):
    groups: list[list[set[int]]]  # of artifact k: alternatives among artifacts before it
    roots: set[int]
    origins: list[set[int]]
    updated: set[int]  # written again after all was derived


@st.composite
def worlds(draw: st.DrawFn) -> World:
    n = draw(st.integers(2, 8))
    groups: list[list[set[int]]] = [[]]
    for k in range(1, n):
        before = st.integers(0, k - 1)
        groups.append(draw(st.lists(st.sets(before, min_size=1, max_size=3), max_size=3)))
    nodes = st.integers(0, n - 1)
    return World(
        groups,
        draw(st.sets(nodes, min_size=1, max_size=2)),
        draw(st.lists(st.sets(nodes, min_size=2, max_size=3), max_size=1)),
        draw(st.sets(nodes, max_size=1)),
    )


def key(k: int | str) -> Key:
    return Key((), f"a{k}" if isinstance(k, int) else k)


def fill(memory: Memory, world: World) -> None:
    memory.ingest(
        [
            Draft(
                key=key(k),
                content=f"text {k}",
                kind=Kind.SUMMARY if groups else Kind.RECORD,
                recipe=Recipe(operator="summarise"),
                reads=tuple(
                    Read(key=key(source), group=number)
                    for number, group in enumerate(groups)
                    for source in sorted(group)
                ),
            )
            for k, groups in enumerate(world.groups)
        ]
    )
    for k in sorted(world.updated):
        with memory.deriving(kind="summary") as d:
            d.write(f"text {k} again", id=f"a{k}")


FILES = count()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("evidence")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "agent.db") as opened:
        yield opened


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(world=worlds(), policy=st.sampled_from(POLICIES))
def test_a_case_spares_what_the_definition_spares(world: World, policy: Policy, folder: Path) -> None:
    with Memory.open(folder / f"{next(FILES)}.db") as memory:
        fill(memory, world)
        before = memory.store.snapshot()
        origins = [[key(k) for k in one] for one in world.origins]
        case = memory.delete(map(key, world.roots), evidence=policy, same_origin=origins, **WHO)
        cascade = read_cascade(memory.store, case.id)
        event = event_of(memory.store, case)
        assert (event.evidence, len(event.same_origin)) == (policy, len(origins) * (policy != "none"))

        # The arrays of the graphs room, the barrier's transaction and the checker's definition agree.
        members = {member.key for member in cascade.members}
        assert set(cascade.spared) == set(cascade.evidence) == spared_in(before, event, members)
        if not world.updated:
            builder = ProvenanceBuilder[int]()
            for k, groups in enumerate(world.groups):
                builder.add(k, kind=Kind.RECORD)
                for number, group in enumerate(groups):
                    for source in group:
                        builder.influence(source, k, group=number)
            expected = builder.build().withdrawn(world.roots, policy=policy, same_origin=world.origins)
            assert {member.key for member in cascade.withdrawn} == {key(k) for k in expected}
        assert case.spared == len(cascade.spared)
        assert case.withdrawn == len(cascade.withdrawn)

        for member in cascade.withdrawn:
            with pytest.raises(Withdrawn):
                memory.get(member.key)
        for spared, by in cascade.evidence.items():
            assert memory.get(spared).version == before.current[spared].version
            assert by
            assert all(memory.get(source) for source in by)
        assert soundness_violations(before, event, memory.store.snapshot()) == ()
        memory.repair(case, tradeoff=0.0)
        after = memory.store.snapshot()
        assert soundness_violations(before, event, after) == ()
        assert memory.store.check() == []
        if cascade.spared:  # a checker that knows of no evidence must object
            bare = event_of(memory.store, memory.store.case(case.id))
            blind = type(bare)(kind=bare.kind, roots=bare.roots, delta=bare.delta)
            assert {one.key for one in soundness_violations(before, blind, after)} & set(cascade.spared)
        memory.undo(case, **WHO)
        again = memory.store.snapshot()
        assert {k: v.state for k, v in again.current.items()} == {
            k: v.state for k, v in before.current.items()
        }


def _states(picture: Snapshot) -> dict[Key, State]:
    return {one: view.state for one, view in picture.current.items()}


def claim(memory: Memory, *alternatives: list[str], id: str = "claim") -> None:
    for source in sorted({one for group in alternatives for one in group}):
        if source not in {listing.key.id for listing in memory.list()}:
            memory.record(f"{source} says so", id=source)
    with memory.deriving(kind="summary", operator="summarise") as d:
        for group in alternatives:
            for source in group:
                d.read(source)
        d.write("It is so.", id=id, uses=alternatives)


def test_a_later_event_takes_the_other_support(memory: Memory) -> None:
    claim(memory, ["page"], ["book"])
    first = memory.delete("page", evidence="grounded", **WHO)
    assert first.spared == 1
    assert memory.explain("claim").why == "served: active; case 1 spared it, for it stands on book"
    second = memory.delete("book", evidence="grounded", **WHO)
    assert second.spared == 0
    with pytest.raises(Withdrawn):
        memory.get("claim")
    memory.undo(second, **WHO)
    assert memory.get("claim").content == "It is so."
    memory.undo(first, **WHO)
    assert memory.explain("claim").why == "served: active"


def test_by_default_any_affected_supporter_withdraws(memory: Memory) -> None:
    claim(memory, ["page"], ["book"])
    assert memory.delete("page", **WHO).withdrawn == 2
    with pytest.raises(Withdrawn):
        memory.get("claim")


def test_a_copy_is_no_second_source(memory: Memory) -> None:
    claim(memory, ["page"], ["mirror"])
    shown = memory.correct("page", "no", evidence="grounded", dry_run=True, **WHO)
    assert (shown.withdrawn, shown.spared, shown.id) == (1, 1, 0)
    case = memory.correct("page", "no", evidence="grounded", same_origin=[["page", "mirror"]], **WHO)
    assert (case.withdrawn, case.spared) == (2, 0)


def test_a_copy_that_an_earlier_case_took_is_gone_too(memory: Memory) -> None:
    claim(memory, ["page"], ["book"])
    memory.record("mirror says so", id="mirror")
    memory.delete("mirror", **WHO)
    assert memory.delete("page", evidence="grounded", dry_run=True, **WHO).spared == 1
    told = [["book", "mirror"]]
    assert memory.delete("page", evidence="grounded", same_origin=told, **WHO).spared == 0


def test_support_that_has_changed_since_is_none(memory: Memory) -> None:
    claim(memory, ["page"], ["book"])
    memory.record("book says otherwise now", id="book")
    assert memory.delete("page", evidence="grounded", **WHO).spared == 0


def test_direct_stops_at_the_cascade_and_grounded_goes_on(memory: Memory) -> None:
    claim(memory, ["page"], ["book"])
    claim(memory, ["claim"], id="later")
    case = memory.delete("page", evidence="direct", **WHO)
    assert memory.get("claim")
    with pytest.raises(Withdrawn):
        memory.get("later")
    report = memory.repair(case)  # what it read is as it was: nothing to make again
    assert report.released == (key("later"),)
    assert report.to_json()["spared"] == [{"key": "claim", "stands_on": ["book"]}]
    memory.undo(case, **WHO)
    assert memory.delete("page", evidence="grounded", **WHO).spared == 2


def test_what_is_made_again_stands_on_all_it_was_made_from(memory: Memory) -> None:
    claim(memory, ["page"], ["book"])
    case = memory.correct("page", "page says more", **WHO)
    assert memory.repair(case).republished == (key("claim"),)
    assert {arc.group for arc in memory.store.support([key("claim")])} == {0}
    assert memory.delete("page", evidence="grounded", **WHO).spared == 0


def test_an_erasure_spares_nothing(memory: Memory) -> None:
    claim(memory, ["page"], ["book"])
    before = memory.store.snapshot()
    with pytest.raises(InvalidEvent, match="erasure"):
        memory.delete("page", erase=True, evidence="grounded", **WHO)
    with pytest.raises(InvalidEvent, match="policy") as error:
        memory.delete("page", evidence="some", **WHO)  # type: ignore[arg-type]
    assert error.value.witness == "some"
    with pytest.raises(UnknownId):
        memory.delete("page", evidence="direct", same_origin=[["page", "nobody"]], **WHO)
    assert memory.store.snapshot() == before
    case = memory.delete("page", evidence="grounded", **WHO)
    with pytest.raises(InvalidInput, match="spared") as spared:
        memory.erase(case, **WHO)
    assert spared.value.witness == key("claim")
    memory.repair(memory.delete("claim", **WHO))
    memory.erase(2, **WHO)
    assert memory.erase(case, **WHO).versions


def test_uses_says_what_is_needed_together_and_what_is_enough(memory: Memory) -> None:
    for id in ("a", "b", "c"):
        memory.record(id, id=id)
    with memory.deriving(kind="summary") as d:
        for id in ("a", "b", "c"):
            d.read(id)
        d.write("all", id="all")
        d.write("both", id="both", uses=["a", "b"])
        d.write("either", id="either", uses=[["a"], ["b"]])
        for wrong in (["a", "nobody"], ["a", ["b"]], [[], ["a"]], "a"):
            with pytest.raises(InvalidInput):
                d.write("wrong", uses=wrong)
    groups = {
        child: sorted((arc.group, arc.parent.id) for arc in memory.store.support([key(child)]))
        for child in ("all", "both", "either")
    }
    assert groups["all"] == groups["both"] == [(0, "a"), (0, "b"), (0, "c")]
    # What was read and is not named is needed by each alternative.
    assert groups["either"] == [(0, "a"), (0, "c"), (1, "b"), (1, "c")]


def test_an_update_that_reads_more_has_no_alternatives_left(memory: Memory) -> None:
    claim(memory, ["page"], ["book"])
    memory.record("c", id="c")
    with memory.deriving(kind="summary") as d:
        d.read("claim")
        d.write("It is still so.", id="claim")
    assert {arc.group for arc in memory.store.support([key("claim")])} == {0, 1}
    with memory.deriving(kind="summary") as d:
        d.read("claim")
        d.read("c")
        d.write("It is so with c.", id="claim")
    assert {arc.group for arc in memory.store.support([key("claim")])} == {0}


def test_what_is_out_of_service_already_is_not_spared(memory: Memory) -> None:
    claim(memory, ["page"], ["book"])
    memory.delete("page", **WHO)
    other = memory.delete("book", evidence="grounded", **WHO)
    assert other.spared == 0
    assert memory.list(state=State.WITHDRAWN)[0].case == 2


@pytest.mark.parametrize("sets", ["page mirror", ["page", "mirror"], [["page"]], [["page", "page"]], 3, None])
def test_what_names_no_common_source_is_refused(memory: Memory, sets: Any) -> None:
    """Letters of a text, or keys that stand alone, would pass for a statement and say nothing."""
    memory.record("The shop closes at six", id="page")
    memory.record("The shop closes at six.", id="mirror")
    with pytest.raises(InvalidInput):
        memory.delete("page", evidence="direct", same_origin=sets, **WHO)
    assert memory.status().open_cases == ()
