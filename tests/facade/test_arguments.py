"""Every argument of every verb: a value of a wrong type is an InvalidInput, and nothing has changed."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import memorepair as mr
from memorepair.errors import InvalidInput
from memorepair.facade import Memory
from memorepair.memory.artifact import Draft
from memorepair.memory.vectors import Space
from memorepair.recovery.run import Run
from memorepair.repair.events import Interface
from memorepair.repair.operators.recompute import operator

SIGNED: dict[str, Any] = {"actor": "a", "reason": "r"}
NEW = mr.Key((), "new")


@operator(name="nothing")
def nothing(call: object) -> str:
    return ""


def shout(text: str) -> str:
    return text.upper()


def agent(recorder: object) -> None:
    """It never gets to act."""


LAWFUL: dict[str, dict[str, Any]] = {
    "record": {"content": "x"},
    "deriving": {"kind": "summary"},
    "derived": {"kind": "summary"},
    "tool": {"function": shout},
    "generator": {"function": shout},
    "ingest": {"drafts": [Draft(key=NEW, content="x")]},
    "merge": {"drafts": [Draft(key=NEW, content="y")]},
    "register": {"operator": nothing},
    "get": {"key": "plain"},
    "search": {"query": "plain"},
    "list": {},
    "history": {"key": "plain"},
    "explain": {"key": "plain"},
    "inspect": {"key": "plain", **SIGNED},
    "delete": {"keys": "plain", **SIGNED},
    "correct": {"key": "plain", "content": "x", **SIGNED},
    "migrate": {"key": "plain", "interface": Interface(key=mr.Key((), "plain"), content="x"), **SIGNED},
    "audit_provenance": {},
    "probe": {"proposals": (), "budget": 1},
    "accept": {"proposals": (), **SIGNED},
    "reject": {"proposals": (), **SIGNED},
    "plan": {"case": 1},
    "repair": {"case": 1},
    "housekeeper": {},
    "checkup": {},
    "patrol": {},
    "retrieval": {},
    "feedback": {"accepted": True},
    "leave": {"scene": "x", **SIGNED},
    "run": {"task": "t"},
    "runs": {},
    "trace": {"run": "r1"},
    "recover": {"run": "r1", "faulty": "plain", **SIGNED},
    "replay": {"case": 1, "run": "r1", "agent": agent},
    "undo": {"case": 1, **SIGNED},
    "erase": {"case": 2, **SIGNED},
    "receipt": {"case": 2},
    "prune": {},
    "status": {},
    "statistics": {},
    "vectors": {},
    "reembed": SIGNED,
    "check_vectors": {},
    "index_vectors": {},
    "drop_vectors": {"space": Space("other", "1", 3, normalised=False), **SIGNED},
}
"""A call of each verb that is refused for no type of its arguments."""

OPENS = "open"
BEYOND = {"close"}
"""Takes nothing."""


class Odd:
    """A value that nothing takes."""

    def __repr__(self) -> str:
        return "odd"


def wrong(declared: str) -> Iterator[object]:
    """Values that a parameter of this declared type does not take."""
    yield Odd()
    yield 1j
    numbers = "float" in declared or declared.startswith("int")
    if declared == "bool":
        yield from ("no", "True", 0, 1, 1.0)
    if numbers:
        yield from ("1", True, math.nan, 1 + 0j, [1])
    if "None" not in declared:
        yield None
    if "str" in declared and "Callable" not in declared and "Iterable" not in declared:
        yield b"x"
    if declared == "str":
        yield from (3, ["x"])
    if any(name in declared for name in ("Kind", "Arch", "Source", "Type |", "SearchBy", "State", "OnStale")):
        yield from ("nonsense", 3, True)
    if declared in ("Policy", "Ties"):
        yield from ("nonsense", 3, True)


def verbs() -> dict[str, Callable[..., object]]:
    return {
        name: verb
        for name, verb in inspect.getmembers(Memory, inspect.isfunction)
        if not name.startswith("_") and name not in BEYOND
    }


PARAMETERS = [
    pytest.param(verb, name, id=f"{verb}-{name}")
    for verb, function in verbs().items()
    for name in list(inspect.signature(function).parameters)[1:]
]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory.open(tmp_path_factory.mktemp("arguments") / "agent.db") as opened:
        opened.record("plain", id="plain")
        opened.correct(opened.record("wrong", id="wrong"), "right", **SIGNED)
        opened.delete(opened.record("gone", id="gone"), **SIGNED)
        with Run(opened.store, task="t", id="r1") as run:
            run.answer("a", uses=[run.claim("c", uses=[])])
        yield opened


def test_every_verb_is_called_lawfully() -> None:
    assert verbs().keys() == LAWFUL.keys()


@pytest.mark.parametrize(("verb", "name"), PARAMETERS)
def test_a_value_of_a_wrong_type_is_refused_and_changes_nothing(shared: Memory, verb: str, name: str) -> None:
    declared = str(inspect.signature(verbs()[verb]).parameters[name].annotation)
    before = shared.store.epoch(), shared.store.snapshot()
    for value in wrong(declared):
        with pytest.raises(InvalidInput):
            verbs()[verb](shared, **(LAWFUL[verb] | {name: value}))
    assert (shared.store.epoch(), shared.store.snapshot()) == before


@pytest.mark.parametrize(
    "verb", [name for name in LAWFUL if name not in ("replay", "index_vectors", "drop_vectors")]
)
def test_the_lawful_call_is_none_of_these(memory: Memory, verb: str) -> None:
    """So that each refusal above is for the one value that is wrong."""
    memory.delete(memory.record("gone", id="gone"), **SIGNED)
    with Run(memory.store, task="t", id="r1") as run:
        run.answer("a", uses=[run.claim("c", uses=[])])
    verbs()[verb](memory, **LAWFUL[verb])


OPEN: Callable[..., object] = getattr(Memory, OPENS)
OPENING = list(inspect.signature(Memory.open).parameters)


@pytest.mark.parametrize("name", OPENING)
def test_opening_refuses_a_value_of_a_wrong_type_and_makes_no_file(tmp_path: Path, name: str) -> None:
    declared = str(inspect.signature(Memory.open).parameters[name].annotation)
    lawful: dict[str, object] = {"path": tmp_path / "agent.db"}
    for value in wrong(declared):
        with pytest.raises(InvalidInput):
            OPEN(**(lawful | {name: value}))
    assert list(tmp_path.iterdir()) == []
