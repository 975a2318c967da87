"""A cascade is what the store withdrew; what is open, and on what it stands, follows from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from memorepair.errors import InvalidInput
from memorepair.graphs.terms import Relation
from memorepair.memory.artifact import Key
from memorepair.memory.store import Store
from memorepair.repair.cascade import Cascade, read_cascade
from memorepair.repair.events import Deletion, EventKind, Interface, Migration, RepairEvent
from memorepair.repair.inputs import inputs_of

MakeCascade = Callable[..., Cascade]

DIAMOND = {"root": (), "left": ("root",), "right": ("root", "free"), "end": ("left", "right"), "free": ()}


def key(name: str) -> Key:
    return Key(("t",), name)


def deletion(*roots: str) -> RepairEvent:
    return RepairEvent(kind=EventKind.DELETE, roots=tuple(map(key, roots)), delta=Deletion())


def test_what_is_open_is_withdrawn_and_no_root(make_cascade: MakeCascade) -> None:
    cascade = make_cascade(DIAMOND, ["root"])
    assert [member.key.id for member in cascade.open] == ["end", "left", "right"]
    assert [member.key.id for member in cascade.withdrawn] == ["end", "left", "right", "root"]
    again = make_cascade(DIAMOND, ["root"], settled=["left"])
    assert [member.key.id for member in again.open] == ["end", "right"]
    spared = replace(cascade, spared=(key("right"),))
    assert [member.key.id for member in spared.open] == ["end", "left"]
    assert key("right") not in {member.key for member in spared.withdrawn}


def test_roots_and_spared_are_members(make_cascade: MakeCascade) -> None:
    cascade = make_cascade(DIAMOND, ["root"])
    with pytest.raises(InvalidInput) as refused:
        replace(cascade, roots=(key("free"),))
    assert refused.value.witness == key("free")
    with pytest.raises(InvalidInput):
        replace(cascade, spared=(key("free"),))


def test_reading_sorts_what_the_store_says(
    make_cascade: MakeCascade, make_shelf: Callable[[Cascade], Store]
) -> None:
    cascade = make_cascade(DIAMOND, ["root"])
    assert read_cascade(make_shelf(cascade), 1) == cascade


def test_reading_keeps_one_propagating_arc_a_pair(
    make_cascade: MakeCascade, make_shelf: Callable[[Cascade], Store]
) -> None:
    cascade = make_cascade(DIAMOND, ["root"])
    first, *others = cascade.support
    doubled = replace(cascade, support=(first, first._replace(group=1), *others))
    assert len(read_cascade(make_shelf(doubled), 1).support) == len(cascade.support)
    lineage = replace(cascade, support=(first._replace(relation=Relation.SUPERSEDE), *others))
    assert read_cascade(make_shelf(lineage), 1).support == tuple(others)


def test_parents_are_affected_available_or_missing(make_cascade: MakeCascade) -> None:
    event = deletion("root")
    inputs = inputs_of(make_cascade(DIAMOND, ["root"]), event)  # end, left, right
    assert inputs.affected.successors(0).tolist() == [1, 2]
    assert inputs.available.tolist() == [0, 0, 1]
    assert inputs.missing == ((), (key("root"),), (key("root"),))
    assert inputs.size.tolist() == [0, 0, 100]
    elsewhere = inputs_of(make_cascade(DIAMOND, ["root"], gone=["free"]), event)
    assert elsewhere.missing[2] == (key("free"), key("root"))
    later = inputs_of(make_cascade(DIAMOND, ["root"], settled=["left"]), event)  # end, right
    assert later.affected.successors(0).tolist() == [1]
    assert later.available.tolist() == [1, 1]


def test_a_replaced_root_is_available(make_cascade: MakeCascade) -> None:
    inputs = inputs_of(make_cascade(DIAMOND, ["root"], replaced=True), deletion("root"))
    assert inputs.available.tolist() == [0, 1, 2]
    assert inputs.missing == ((), (), ())


def test_an_interface_of_another_key_stands_for_its_root(make_cascade: MakeCascade) -> None:
    delta = Migration(interfaces={key("root"): Interface(key=key("v2"), content="")})
    event = RepairEvent(kind=EventKind.MIGRATE, roots=(key("root"),), delta=delta)
    cascade = make_cascade(DIAMOND, ["root"])
    inputs = inputs_of(cascade, event, {key("root")})
    assert inputs.available.tolist() == [0, 1, 2]
    assert inputs.follows.tolist() == [False, True, True]
    assert inputs_of(cascade, event).missing[1] == (key("root"),)


def test_reading_an_own_version_is_no_arc(make_cascade: MakeCascade) -> None:
    inputs = inputs_of(make_cascade({"root": (), "log": ("root", "log")}, ["root"]), deletion("root"))
    assert inputs.reads_own.tolist() == [True]
    assert inputs.affected.m == 0


def test_inputs_cannot_be_changed(make_cascade: MakeCascade) -> None:
    inputs = inputs_of(make_cascade(DIAMOND, ["root"]), deletion("root"))
    for array in (inputs.available, inputs.reads_own, inputs.follows, inputs.size):
        assert isinstance(array, np.ndarray)
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
