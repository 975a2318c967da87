"""Modes are the largest assignment in which every input is available or under repair."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorepair.errors import InvalidInput
from memorepair.graphs.terms import Arch, Kind
from memorepair.memory.artifact import Key, Recipe
from memorepair.repair import assignment
from memorepair.repair.assignment import Assignment, assign
from memorepair.repair.candidates import Bar
from memorepair.repair.cascade import Cascade
from memorepair.repair.events import Deletion, EventKind, Interface, Migration, RepairEvent
from memorepair.repair.inputs import inputs_of
from memorepair.repair.modes import Mode, mode_of
from memorepair.repair.operators.operator import Call, Made, Operator
from memorepair.repair.operators.registry import Operators

MakeCascade = Callable[..., Cascade]

RECORD, CACHE = (Kind.RECORD, Arch.NONE), (Kind.CACHE, Arch.NONE)
SUMMARY, PROMPT = (Kind.SUMMARY, Arch.NONE), (Kind.SKILL, Arch.PROMPT)
CHAIN, NEURAL = (Kind.SKILL, Arch.CHAIN), (Kind.SKILL, Arch.NEURAL)


@dataclass(frozen=True)
class Fixed:
    """An operator that is never run here."""

    name: str
    version: str = "1"
    mode: Mode = Mode.RECOMPUTE
    deterministic: bool = True
    reads_own_version: bool = False

    def make(self, call: Call) -> Made:
        raise NotImplementedError


def key(name: str) -> Key:
    return Key(("t",), name)


def deletion(*roots: str) -> RepairEvent:
    return RepairEvent(kind=EventKind.DELETE, roots=tuple(map(key, roots)), delta=Deletion())


def migration(root: str, rows: str | None) -> RepairEvent:
    delta = Migration(interfaces={key(root): Interface(key=key(root), content="")}, rows=rows)
    return RepairEvent(kind=EventKind.MIGRATE, roots=(key(root),), delta=delta)


def known() -> dict[str, Operator]:
    return {
        "copy@1": Fixed("copy"),
        "dice@1": Fixed("dice", deterministic=False),
        "rows@2": Fixed("rows", version="2", reads_own_version=True),
        "summarise": Fixed("summarise", mode=Mode.REGEN),
        "prompt-skill": Fixed("prompt-skill", mode=Mode.REGEN),
        "rewrite-chain": Fixed("rewrite-chain", mode=Mode.REGEN),
    }


def recipes(cascade: Cascade, operator: str | None = "copy", **others: Recipe) -> dict[Key, Recipe]:
    """`operator` for records and caches, unless said otherwise."""
    plain = {
        member.key: Recipe(operator=operator if member.kind in (Kind.RECORD, Kind.CACHE) else None)
        for member in cascade.members
    }
    return plain | {key(name): recipe for name, recipe in others.items()}


def settle(
    cascade: Cascade,
    event: RepairEvent,
    known_recipes: Mapping[Key, Recipe] | None = None,
    *,
    share: float = assignment.SUFFICIENT_SUPPORT,
) -> dict[str, Assignment]:
    settled = assign(
        cascade,
        event,
        inputs_of(cascade, event),
        recipes(cascade) if known_recipes is None else known_recipes,
        known(),
        share=share,
    )
    return {member.key.id: one for member, one in zip(cascade.open, settled, strict=True)}


@pytest.mark.parametrize(
    ("what", "observed", "replayable", "mode"),
    [
        (RECORD, False, True, Mode.RECOMPUTE),
        (CACHE, False, True, Mode.RECOMPUTE),
        (RECORD, False, False, Mode.REMOVE),
        (CACHE, True, True, Mode.REMOVE),
        (SUMMARY, False, False, Mode.REGEN),
        (SUMMARY, True, False, Mode.REMOVE),
        (PROMPT, False, False, Mode.REGEN),
        (CHAIN, False, True, Mode.REGEN),
        (NEURAL, False, True, Mode.REMOVE),
        ((Kind.SKILL, Arch.NONE), False, True, Mode.REMOVE),
        ((Kind.CLAIM, Arch.NONE), False, True, Mode.REMOVE),
    ],
)
def test_the_table_of_modes(what: tuple[Kind, Arch], observed: bool, replayable: bool, mode: Mode) -> None:
    assert mode_of(*what, observed=observed, replayable=replayable) is mode


def test_every_artifact_written_anew_has_an_operator_in_the_package() -> None:
    default = Operators.default()
    for kind, arch in (SUMMARY, PROMPT, CHAIN):
        operator = default.get(assignment.writer_of(kind, arch) or "")
        assert operator is not None
        assert operator.mode is Mode.REGEN
    assert assignment.writer_of(*RECORD) is None


@pytest.mark.parametrize(
    ("what", "recipe", "bar"),
    [
        (CACHE, Recipe(operator="copy", observed=True), Bar(reason="observed", witness=(key("it"),))),
        (CACHE, Recipe(), Bar(reason="no operator", witness=())),
        (CACHE, Recipe(operator="lost"), Bar(reason="no operator", witness=("lost@1",))),
        (CACHE, Recipe(operator="copy", version="2"), Bar(reason="no operator", witness=("copy@2",))),
        (RECORD, Recipe(operator="dice"), Bar(reason="not deterministic", witness=("dice@1",))),
        (NEURAL, Recipe(operator="copy"), Bar(reason="neural skill", witness=(key("it"),))),
    ],
)
def test_what_has_no_successor_says_why(
    make_cascade: MakeCascade, what: tuple[Kind, Arch], recipe: Recipe, bar: Bar
) -> None:
    cascade = make_cascade({"root": (), "it": ("root",)}, ["root"], replaced=True, kinds={"it": what})
    assert settle(cascade, deletion("root"), {key("it"): recipe})["it"] == Assignment(
        mode=Mode.REMOVE, operator=None, bar=bar
    )


def test_a_missing_writer_leaves_the_mode(make_cascade: MakeCascade) -> None:
    cascade = make_cascade({"root": (), "it": ("root",)}, ["root"], replaced=True, kinds={"it": SUMMARY})
    one = settle(cascade, deletion("root"), {key("it"): Recipe(operator="lost")})["it"]
    assert one == Assignment(
        mode=Mode.REGEN, operator=None, bar=Bar(reason="no operator", witness=("lost@1",))
    )


def test_a_lost_input_is_passed_on_with_its_origin(make_cascade: MakeCascade) -> None:
    chain = {"root": (), "a": ("root",), "b": ("a",), "c": ("b",)}
    settled = settle(make_cascade(chain, ["root"]), deletion("root"))
    assert {one.mode for one in settled.values()} == {Mode.REMOVE}
    bars = {name: one.bar for name, one in settled.items()}
    assert bars["a"] == Bar(reason="input unavailable", witness=(key("root"),))
    assert bars["b"] == Bar(reason="input unavailable", witness=(key("a"), key("root")))
    assert bars["c"] == Bar(reason="input unavailable", witness=(key("b"), key("root")))
    replaced = settle(make_cascade(chain, ["root"], replaced=True), deletion("root"))
    assert {one.mode for one in replaced.values()} == {Mode.RECOMPUTE}
    assert all(one.bar is None for one in replaced.values())


def test_what_another_case_withdrew_is_unavailable(make_cascade: MakeCascade) -> None:
    cascade = make_cascade({"root": (), "x": (), "a": ("root", "x")}, ["root"], replaced=True, gone=["x"])
    assert settle(cascade, deletion("root"))["a"].bar == Bar(reason="input unavailable", witness=(key("x"),))


def test_a_summary_stands_on_enough_of_its_sources(make_cascade: MakeCascade) -> None:
    def it(*sources: str, share: float = 0.5) -> Assignment:
        parents = {"root": (), "other": (), "x": (), "y": (), "it": sources}
        cascade = make_cascade(parents, ["root", "other"], kinds={"it": SUMMARY})
        return settle(cascade, deletion("root", "other"), share=share)["it"]

    assert it("root", "x").mode is Mode.REGEN
    assert it("root", "other", "x", "y").mode is Mode.REGEN
    assert it("root", "other", "x").bar == Bar(
        reason="support insufficient", witness=(key("other"), key("root"))
    )
    assert it("root").bar == Bar(reason="support insufficient", witness=(key("root"),))
    assert it("root", share=0).mode is Mode.REMOVE
    assert it("root", "other", "x", share=1 / 3).mode is Mode.REGEN
    assert it("root", "x", share=1).mode is Mode.REMOVE


@pytest.mark.parametrize("share", [-0.1, 1.5, float("nan")])
def test_a_share_is_a_share(make_cascade: MakeCascade, share: float) -> None:
    with pytest.raises(InvalidInput):
        settle(make_cascade({"root": ()}, ["root"]), deletion("root"), share=share)


def test_rows_follow_a_migrated_interface(make_cascade: MakeCascade) -> None:
    parents = {"schema": (), "row": ("schema",), "made": ("schema",), "copy": ("row",), "note": ("row",)}
    cascade = make_cascade(parents, ["schema"], replaced=True, kinds={"copy": CACHE})
    known_recipes = {key("made"): Recipe(operator="copy"), key("copy"): Recipe(operator="copy")}
    settled = settle(cascade, migration("schema", "rows@2"), known_recipes)
    operators = {name: None if one.operator is None else one.operator.name for name, one in settled.items()}
    assert operators == {"row": "rows", "made": "copy", "copy": "copy", "note": None}
    assert settled["row"].mode is Mode.RECOMPUTE
    without = settle(cascade, migration("schema", None), known_recipes)
    assert without["row"].bar == Bar(reason="no operator", witness=())
    assert without["copy"].bar == Bar(reason="input unavailable", witness=(key("row"),))
    lost = settle(cascade, migration("schema", "lost@1"), known_recipes)
    assert lost["row"].bar == Bar(reason="no operator", witness=("lost@1",))
    observed = settle(cascade, migration("schema", "rows@2"), {key("row"): Recipe(observed=True)})
    assert observed["row"].bar == Bar(reason="observed", witness=(key("row"),))


def test_an_own_version_is_read_in_a_migration_only(make_cascade: MakeCascade) -> None:
    cascade = make_cascade({"root": (), "row": ("root", "row")}, ["root"], replaced=True)
    assert settle(cascade, migration("root", "rows@2"), {})["row"].mode is Mode.RECOMPUTE
    by_rows = {key("row"): Recipe(operator="rows", version="2")}
    lost = Bar(reason="input unavailable", witness=(key("row"),))
    assert settle(cascade, deletion("root"), by_rows)["row"].bar == lost
    assert settle(cascade, migration("root", None), {key("row"): Recipe(operator="copy")})["row"].bar == lost


KINDS = (RECORD, CACHE, SUMMARY, PROMPT, NEURAL)


@st.composite
def worlds(draw: st.DrawFn) -> tuple[dict[str, tuple[str, ...]], list[str], dict[str, object]]:
    """A provenance graph, cycles included, with roots, kinds, and what is gone for other reasons."""
    names = [f"n{place}" for place in range(draw(st.integers(1, 8)))]
    parents = {name: tuple(sorted(draw(st.sets(st.sampled_from(names), max_size=4)))) for name in names}
    roots = sorted(draw(st.sets(st.sampled_from(names), min_size=1, max_size=3)))
    options: dict[str, object] = {
        "replaced": draw(st.booleans()),
        "gone": draw(st.sets(st.sampled_from(names), max_size=2)),
        "kinds": {name: draw(st.sampled_from(KINDS)) for name in names},
    }
    return parents, roots, options


@given(worlds(), st.sampled_from((0.0, 1 / 3, 0.5, 1.0)))
def test_the_assignment_is_the_largest_consistent_one(
    make_cascade: MakeCascade,
    world: tuple[dict[str, tuple[str, ...]], list[str], dict[str, object]],
    share: float,
) -> None:
    parents, roots, options = world
    cascade = make_cascade(parents, roots, **options)
    settled = settle(cascade, deletion(*roots), share=share)
    served = {arc.parent.id for arc in cascade.support if arc.parent_served}
    admissible = [member for member in cascade.open if member.arch is not Arch.NEURAL]

    def keeps(name: str, kind: Kind, chosen: set[str]) -> bool:
        good = [source for source in parents[name] if source != name and source in served | chosen]
        if kind in (Kind.RECORD, Kind.CACHE):
            return len(good) == len(parents[name])
        return bool(good) and len(good) / len(parents[name]) >= share

    largest: set[str] = set()
    for size in range(len(admissible) + 1):
        for some in combinations(admissible, size):
            chosen = {member.key.id for member in some}
            if all(keeps(member.key.id, member.kind, chosen) for member in some):
                largest |= chosen
    assert {name for name, one in settled.items() if one.mode is not Mode.REMOVE} == largest
    assert all((one.bar is not None) == (one.mode is Mode.REMOVE) for one in settled.values())


@given(worlds())
def test_a_lost_input_names_a_parent_and_an_origin_that_are_lost(
    make_cascade: MakeCascade, world: tuple[dict[str, tuple[str, ...]], list[str], dict[str, object]]
) -> None:
    parents, roots, options = world
    cascade = make_cascade(parents, roots, **options)
    settled = settle(cascade, deletion(*roots))
    served = {arc.parent.id for arc in cascade.support if arc.parent_served}
    for name, one in settled.items():
        if one.bar is None or one.bar.reason not in ("input unavailable", "support insufficient"):
            continue
        lost = [witness.id for witness in one.bar.witness if isinstance(witness, Key)]
        assert lost[0] in parents[name]
        for origin in lost:
            assert origin not in served or origin == name
            assert origin not in settled or settled[origin].mode is Mode.REMOVE
