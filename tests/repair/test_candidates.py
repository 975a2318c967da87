"""Candidates hold every open descendant, its prerequisites, and a true witness for every bar."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorepair.errors import InvalidInput
from memorepair.graphs.terms import Arch, Kind
from memorepair.memory.artifact import Key, Recipe, State
from memorepair.memory.exchange import OperatorCost
from memorepair.memory.store import Store
from memorepair.repair.build import build_candidates
from memorepair.repair.candidates import Bar, Candidates
from memorepair.repair.cascade import Cascade
from memorepair.repair.events import Deletion, EventKind, Interface, Migration, RepairEvent
from memorepair.repair.modes import Mode
from memorepair.repair.operators.operator import Call, Made
from memorepair.repair.plan import make_plan
from memorepair.repair.pricing import Pricing

MakeCascade = Callable[..., Cascade]
MakeShelf = Callable[..., Store]

RECORD, SUMMARY, NEURAL = (Kind.RECORD, Arch.NONE), (Kind.SUMMARY, Arch.NONE), (Kind.SKILL, Arch.NEURAL)


@dataclass(frozen=True)
class Fixed:
    """An operator that is never run here."""

    name: str
    mode: Mode
    version: str = "1"
    deterministic: bool = True
    reads_own_version: bool = False

    def make(self, call: Call) -> Made:
        raise NotImplementedError


OPERATORS = {"copy@1": Fixed("copy", Mode.RECOMPUTE), "summarise": Fixed("summarise", Mode.REGEN)}


def key(name: str) -> Key:
    return Key(("t",), name)


def deletion(*roots: str) -> RepairEvent:
    return RepairEvent(kind=EventKind.DELETE, roots=tuple(map(key, roots)), delta=Deletion())


def build(
    shelf: Store, cascade: Cascade, event: RepairEvent | None = None, pricing: Pricing | None = None
) -> Candidates:
    declared = event or deletion(*(root.id for root in cascade.roots))
    return build_candidates(shelf, cascade, declared, OPERATORS, pricing or Pricing())


def recipes(cascade: Cascade, missing: frozenset[str] = frozenset()) -> dict[Key, Recipe]:
    """Records are copied, summaries have the default writer, those named `missing` an operator nobody has."""
    return {
        member.key: Recipe(
            operator="lost" if member.key.id in missing else "copy" if member.kind is Kind.RECORD else None
        )
        for member in cascade.members
    }


def bars(candidates: Candidates) -> dict[str, Bar | None]:
    return {one.id: bar for one, bar in zip(candidates.keys, candidates.bars, strict=True)}


def test_a_chain_waits_for_what_it_reads(make_cascade: MakeCascade, make_shelf: MakeShelf) -> None:
    parents = {"root": (), "a": ("root",), "b": ("a", "free"), "free": ()}
    cascade = make_cascade(parents, ["root"], replaced=True)
    candidates = build(make_shelf(cascade, recipes(cascade)), cascade)
    assert [one.id for one in candidates.keys] == ["a", "b"]
    assert candidates.modes == (Mode.RECOMPUTE, Mode.RECOMPUTE)
    assert candidates.operators == ("copy@1", "copy@1")
    assert candidates.executable.all()
    assert candidates.bars == (None, None)
    assert candidates.prerequisites.successors(1).tolist() == [0]
    assert candidates.unit == "tokens"


def test_a_cycle_bars_itself_and_what_requires_it(make_cascade: MakeCascade, make_shelf: MakeShelf) -> None:
    parents = {
        "root": (),
        "a": ("root", "c"),
        "b": ("a",),
        "c": ("b",),
        "d": ("b",),
        "e": ("d",),
        "f": ("root",),
    }
    cascade = make_cascade(parents, ["root"], replaced=True)
    candidates = build(make_shelf(cascade, recipes(cascade)), cascade)
    found = bars(candidates)
    cycle = found["a"]
    assert cycle is not None
    assert cycle.reason == "cycle"
    assert set(cycle.witness) == {key("a"), key("b"), key("c")}
    assert found["b"] == found["c"] == cycle
    assert found["d"] == Bar(reason="requires barred", witness=(key("b"),))
    assert found["e"] == Bar(reason="requires barred", witness=(key("d"), key("b")))
    assert found["f"] is None
    assert candidates.executable.tolist() == [False, False, False, False, False, True]
    assert set(candidates.modes) == {Mode.RECOMPUTE}


def test_a_missing_writer_bars_what_requires_it(make_cascade: MakeCascade, make_shelf: MakeShelf) -> None:
    parents = {"root": (), "s": ("root",), "t": ("s",), "u": ("t",)}
    kinds = dict.fromkeys("stu", SUMMARY)
    cascade = make_cascade(parents, ["root"], replaced=True, kinds=kinds)
    found = bars(build(make_shelf(cascade, recipes(cascade, frozenset("s"))), cascade))
    assert found["s"] == Bar(reason="no operator", witness=("lost@1",))
    assert found["t"] == Bar(reason="requires barred", witness=(key("s"),))
    assert found["u"] == Bar(reason="requires barred", witness=(key("t"), key("s")))


def test_an_interface_of_another_key_counts_while_it_is_served(
    make_cascade: MakeCascade, make_shelf: MakeShelf
) -> None:
    delta = Migration(interfaces={key("root"): Interface(key=key("v2"), content="")})
    event = RepairEvent(kind=EventKind.MIGRATE, roots=(key("root"),), delta=delta)
    cascade = make_cascade({"root": (), "a": ("root",)}, ["root"])
    assert build(make_shelf(cascade, recipes(cascade)), cascade, event).executable.all()
    shelf = make_shelf(cascade, recipes(cascade), states={key("v2"): State.WITHDRAWN})
    assert bars(build(shelf, cascade, event))["a"] == Bar(reason="input unavailable", witness=(key("root"),))


def test_costs_come_from_sizes_or_from_what_the_operator_has_cost(
    make_cascade: MakeCascade, make_shelf: MakeShelf
) -> None:
    parents = {"root": (), "s": ("root", "free"), "t": ("s", "root"), "free": ()}
    cascade = make_cascade(
        parents,
        ["root"],
        replaced=True,
        kinds={"s": SUMMARY, "t": SUMMARY},
        sizes={"root": 100, "s": 300, "t": 200, "free": 200},
    )
    plain = build(make_shelf(cascade), cascade)
    assert plain.cost.tolist() == [(100 + 200 + 300) / 4, (300 + 100 + 200) / 4]
    known = [
        OperatorCost(
            operator="summarise@1",
            unit="tokens",
            octave=5,
            runs=2,
            succeeded=2,
            seconds=0.0,
            measured=2,
            size=40.0,
            cost=80.0,
            spread=0.0,
        )
    ]
    measured = build(make_shelf(cascade, costs=known), cascade)
    assert measured.cost.tolist() == [600, 800]


def test_a_bad_price_names_the_artifact(make_cascade: MakeCascade, make_shelf: MakeShelf) -> None:
    cascade = make_cascade({"root": (), "a": ("root",)}, ["root"], replaced=True)
    with pytest.raises(InvalidInput) as refused:
        build(make_shelf(cascade, recipes(cascade)), cascade, pricing=Pricing(cost=lambda quote: -1.0))
    assert refused.value.witness == key("a")


def test_a_deep_chain_is_no_deeper_than_any_other(make_cascade: MakeCascade, make_shelf: MakeShelf) -> None:
    n = 20_000
    names = [f"{place:05}" for place in range(n)]
    parents: dict[str, tuple[str, ...]] = {names[0]: ()}
    parents |= {child: (parent,) for parent, child in pairwise(names)}
    cascade = make_cascade(parents, [names[0]], replaced=True, kinds={names[1]: SUMMARY})
    candidates = build(make_shelf(cascade, recipes(cascade, frozenset(names[1:2]))), cascade)
    assert not candidates.executable.any()
    assert candidates.bars[-1] == Bar(reason="requires barred", witness=(key(names[-2]), key(names[1])))
    lost = build(make_shelf(cascade, {}), cascade)
    assert set(lost.modes) == {Mode.REGEN, Mode.REMOVE}


@st.composite
def worlds(
    draw: st.DrawFn,
) -> tuple[dict[str, tuple[str, ...]], list[str], dict[str, object], frozenset[str]]:
    """A provenance graph with cycles, its roots, its options, the artifacts whose operator is missing."""
    names = [f"n{place}" for place in range(draw(st.integers(1, 9)))]
    parents = {name: tuple(sorted(draw(st.sets(st.sampled_from(names), max_size=3)))) for name in names}
    roots = sorted(draw(st.sets(st.sampled_from(names), min_size=1, max_size=2)))
    options: dict[str, object] = {
        "replaced": draw(st.booleans()),
        "kinds": {name: draw(st.sampled_from((RECORD, SUMMARY, SUMMARY, NEURAL))) for name in names},
        "settled": draw(st.sets(st.sampled_from(names), max_size=1)),
    }
    return parents, roots, options, frozenset(draw(st.sets(st.sampled_from(names), max_size=2)))


World = tuple[Mapping[str, tuple[str, ...]], list[str], dict[str, object], frozenset[str]]


@given(worlds())
def test_prerequisites_and_bars_are_what_they_say(
    make_cascade: MakeCascade, make_shelf: MakeShelf, world: World
) -> None:
    parents, roots, options, missing = world
    cascade = make_cascade(parents, roots, **options)
    candidates = build(make_shelf(cascade, recipes(cascade, missing)), cascade)
    found = bars(candidates)
    mode = {one.id: it for one, it in zip(candidates.keys, candidates.modes, strict=True)}
    kept = {name for name, it in mode.items() if it is not Mode.REMOVE}
    names = [one.id for one in candidates.keys]
    requires = {
        name: {names[place] for place in candidates.prerequisites.successors(row).tolist()}
        for row, name in enumerate(names)
    }
    for name in names:
        expected = {parent for parent in parents[name] if parent in kept and parent != name}
        assert requires[name] == (expected if name in kept else set())

    def ahead(name: str) -> set[str]:
        reached: set[str] = set()
        frontier = [name]
        while frontier:
            for other in requires[frontier.pop()] - reached:
                reached.add(other)
                frontier.append(other)
        return reached

    for row, name in enumerate(names):
        bar = found[name]
        faulty = {other for other in ahead(name) | {name} if other in ahead(other) or other in missing}
        runs = name in kept and not faulty
        assert bool(candidates.executable[row]) == runs
        assert (bar is None) == runs
        if bar is None or name not in kept:
            continue
        witness = [one.id for one in bar.witness if isinstance(one, Key)]
        if bar.reason == "cycle":
            assert name in ahead(name)
            around = [*witness, witness[0]]
            assert all(after in requires[before] for before, after in pairwise(around))
            assert witness[0] in ahead(name)
        elif bar.reason == "requires barred":
            assert witness[0] in requires[name]
            assert found[witness[0]] is not None
            origin = found[witness[-1]]
            assert origin is not None
            assert origin.reason in ("cycle", "no operator")
        else:
            assert bar.reason == "no operator"
            assert name in missing


@given(worlds())
def test_the_order_in_which_the_store_answers_does_not_matter(
    make_cascade: MakeCascade, make_shelf: MakeShelf, world: World
) -> None:
    parents, roots, options, missing = world
    cascade = make_cascade(parents, roots, **options)
    renamed = dict(reversed(list(parents.items())))
    again = make_cascade(renamed, roots[::-1], **options)
    one = build(make_shelf(cascade, recipes(cascade, missing)), cascade)
    other = build(make_shelf(again, recipes(again, missing)), again)
    assert (one.keys, one.modes, one.operators, one.bars) == (
        other.keys,
        other.modes,
        other.operators,
        other.bars,
    )
    for name in ("executable", "value", "cost"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
    assert one.prerequisites.heads.tolist() == other.prerequisites.heads.tolist()


def test_the_default_price_leaves_what_is_dear_and_unused(
    make_cascade: MakeCascade, make_shelf: MakeShelf
) -> None:
    names = ("cache", "digest", "note", "report", "tome")
    cascade = make_cascade(
        {"root": ()} | dict.fromkeys(names, ("root",)),
        ["root"],
        replaced=True,
        kinds=dict.fromkeys(names[1:], SUMMARY),
        sizes={"digest": 300, "report": 4_000, "tome": 4_000},
        uses={"cache": 3, "digest": 3, "note": 3, "report": 1_000},
    )
    candidates = build(make_shelf(cascade, recipes(cascade)), cascade)
    assert candidates.executable.all()
    plan = make_plan(cascade, candidates)
    assert plan.left == (key("tome"),)
    assert make_plan(cascade, candidates, tradeoff=0).left == ()


def test_a_settled_member_is_no_candidate(make_cascade: MakeCascade, make_shelf: MakeShelf) -> None:
    parents = {"root": (), "a": ("root",), "b": ("a",)}
    cascade = make_cascade(parents, ["root"], replaced=True, settled=["a"])
    candidates = build(make_shelf(cascade, recipes(cascade)), cascade)
    assert [one.id for one in candidates.keys] == ["b"]
    assert candidates.prerequisites.m == 0
    spared = replace(make_cascade(parents, ["root"], replaced=True), spared=(key("a"),))
    assert [member.key.id for member in spared.open] == ["b"]
