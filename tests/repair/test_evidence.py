"""What an event reaches and evidence keeps in service."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest

import memorepair as mr
from memorepair.errors import InvalidInput, Withdrawn
from memorepair.graphs.support import Policy
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import Case, Draft, Key, Read
from memorepair.repair.events import Deletion, EventKind, RepairEvent
from memorepair.repair.soundness import is_sound_publication, soundness_violations
from memorepair.repair.withdrawal import withdraw

Groups = Mapping[str, tuple[tuple[str, ...], ...]]

LIKES: Groups = {
    "log": (),
    "other": (),
    "fact": (("log",),),
    "claim": (("fact",), ("other",)),
    "both": (("fact", "other"),),
    "after": (("claim",),),
}


def key(name: str) -> Key:
    return Key(("t",), name)


def build(memory: mr.Memory, groups: Groups) -> None:
    memory.ingest(
        [
            Draft(
                key=key(name),
                content=f"what {name} says",
                kind=Kind.SUMMARY if alternatives else Kind.RECORD,
                reads=tuple(
                    Read(key=key(one), group=group)
                    for group, together in enumerate(alternatives)
                    for one in together
                ),
            )
            for name, alternatives in groups.items()
        ]
    )


def delete(memory: mr.Memory, name: str, policy: Policy, *same: tuple[str, ...]) -> Case:
    event = RepairEvent(
        kind=EventKind.DELETE, roots=(key(name),), delta=Deletion(), reason="wrong", actor="a"
    )
    origin = [[key(one) for one in together] for together in same]
    return withdraw(memory.store, event, evidence=policy, same_origin=origin)


@pytest.fixture
def memory(tmp_path: Path) -> mr.Memory:
    memory = mr.Memory.open(tmp_path / "m.db")
    build(memory, LIKES)
    return memory


def served(memory: mr.Memory) -> set[str]:
    found = set()
    for name in LIKES:
        try:
            memory.get(key(name))
        except Withdrawn:
            continue
        found.add(name)
    return found


@pytest.mark.parametrize(
    ("policy", "stay"),
    [("none", {"other"}), ("direct", {"other", "claim"}), ("grounded", {"other", "claim", "after"})],
)
def test_each_policy_withdraws_what_it_says_and_is_sound(
    memory: mr.Memory, policy: Policy, stay: set[str]
) -> None:
    before = memory.store.snapshot()
    case = delete(memory, "log", policy)
    assert served(memory) == stay
    event = RepairEvent(kind=EventKind.DELETE, roots=(key("log"),), delta=Deletion())
    after = memory.store.snapshot()
    assert set(case.spared) == {key(name) for name in stay - {"other"}}
    assert is_sound_publication(before, event, after, spared=case.spared)
    assert is_sound_publication(before, event, after) == (policy == "none")


def test_a_case_says_what_a_spared_artifact_stands_on(memory: mr.Memory) -> None:
    case = delete(memory, "log", "grounded")
    assert case.spared == {key("claim"): (key("other"),), key("after"): (key("claim"),)}
    assert memory.store.case(case.id).spared == case.spared


def test_sources_of_one_origin_count_once(memory: mr.Memory) -> None:
    assert not delete(memory, "log", "grounded", ("fact", "other")).spared


def test_what_is_out_of_service_already_is_no_evidence(memory: mr.Memory) -> None:
    delete(memory, "other", "none")
    assert not delete(memory, "log", "grounded").spared


def test_the_checker_refuses_false_evidence(memory: mr.Memory) -> None:
    before = memory.store.snapshot()
    case = delete(memory, "log", "direct")
    event = RepairEvent(kind=EventKind.DELETE, roots=(key("log"),), delta=Deletion())
    after = memory.store.snapshot()
    for lie in ((key("fact"),), (key("fact"), key("other")), ()):
        spared = {**case.spared, key("claim"): lie}
        assert {one.key for one in soundness_violations(before, event, after, spared=spared)} == {
            key("claim")
        }


def test_an_unknown_policy_changes_nothing(memory: mr.Memory) -> None:
    with pytest.raises(InvalidInput):
        delete(memory, "log", cast(Policy, "hope"))
    assert served(memory) == set(LIKES)
    assert memory.store.cases() == []
