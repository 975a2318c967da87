"""A plan is an exact choice in an order that can be carried out, under a digest that names it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorepair.errors import InvalidInstance, UnknownId
from memorepair.graphs.digraph import Digraph
from memorepair.memory.artifact import Key
from memorepair.problems import Status
from memorepair.repair.candidates import Bar, Candidates
from memorepair.repair.cascade import Cascade
from memorepair.repair.modes import Mode
from memorepair.repair.plan import RepairPlan, make_plan, plan_digest

MakeCascade = Callable[..., Cascade]


def key(name: str) -> Key:
    return Key(("t",), name)


def candidates(
    names: Sequence[str],
    value: Sequence[float],
    cost: Sequence[float],
    requires: Sequence[tuple[int, int]] = (),
    barred: Sequence[int] = (),
) -> Candidates:
    k = len(names)
    runs = np.ones(k, np.bool_)
    runs[list(barred)] = False
    return Candidates(
        keys=tuple(map(key, names)),
        modes=(Mode.REGEN,) * k,
        operators=("op@1",) * k,
        executable=runs,
        value=np.array(value, np.float64),
        cost=np.array(cost, np.float64),
        unit="tokens",
        prerequisites=Digraph.from_arcs(k, [tail for tail, _ in requires], [head for _, head in requires]),
        bars=tuple(None if run else Bar(reason="no operator", witness=("lost@1",)) for run in runs.tolist()),
    )


def chosen(plan: RepairPlan) -> list[str]:
    return [row.key.id for row in plan.rows() if row.chosen]


STAR = {"root": (), "a": ("root",), "b": ("a",), "c": ("a",), "d": ("root",)}


def mixed() -> Candidates:
    """`b` is worth it and needs `a`, `c` is too dear, `d` is barred."""
    return candidates("abcd", [0.1, 5, 1, 9], [1, 1, 40, 1], [(1, 0), (2, 0)], [3])


def test_the_choice_is_closed_affordable_and_proved(make_cascade: MakeCascade) -> None:
    plan = make_plan(make_cascade(STAR, ["root"]), mixed())
    assert plan.selection.status is Status.OPTIMAL
    assert plan.selection.verify()
    assert chosen(plan) == ["a", "b"]
    assert plan.waves == ((0,), (1,))
    assert plan.left == (key("c"), key("d"))
    assert plan.case == 1


def test_rows_say_why(make_cascade: MakeCascade) -> None:
    rows = {row.key.id: row for row in make_plan(make_cascade(STAR, ["root"]), mixed()).rows()}
    assert [(row.reason, row.wave, row.why) for row in rows.values()] == [
        ("chosen", 0, "chosen"),
        ("chosen", 1, "chosen"),
        ("price", None, "price"),
        ("no operator", None, "no operator (lost@1)"),
    ]
    assert rows["c"].cost == 40
    many = replace(mixed(), bars=(None, None, None, Bar(reason="cycle", witness=tuple(map(key, "wxyz")))))
    *_, last = make_plan(make_cascade(STAR, ["root"]), many).rows()
    assert last.witness == ("t::w", "t::x", "t::y", "t::z")
    assert last.why == "cycle (t::w, t::x, t::y and 1 more)"


def test_repair_all_takes_whatever_can_be_executed(make_cascade: MakeCascade) -> None:
    plan = make_plan(make_cascade(STAR, ["root"]), mixed(), solver="repair-all")
    assert chosen(plan) == ["a", "b", "c"]
    assert plan.waves == ((0,), (1, 2))
    assert plan.selection.verify()


def test_a_tradeoff_counts_in_medians_unless_asked_otherwise(make_cascade: MakeCascade) -> None:
    cascade = make_cascade(STAR, ["root"])
    scaled = candidates("ab", [1000, 1000], [0.001, 0.001])
    assert chosen(make_plan(cascade, scaled, tradeoff=0.9)) == ["a", "b"]
    assert chosen(make_plan(cascade, scaled, tradeoff=1.1)) == []
    assert chosen(make_plan(cascade, scaled, tradeoff=1.1, normalise=False)) == ["a", "b"]
    assert make_plan(cascade, scaled).selection.instance.tradeoff == 0.3
    assert make_plan(cascade, scaled).candidates is scaled


def test_ties_are_the_callers_choice(make_cascade: MakeCascade) -> None:
    even = candidates("ab", [1, 0], [1, 0])
    assert chosen(make_plan(make_cascade(STAR, ["root"]), even)) == ["a"]
    assert chosen(make_plan(make_cascade(STAR, ["root"]), even, ties="most")) == ["a", "b"]


def test_nothing_to_repair_is_a_plan(make_cascade: MakeCascade) -> None:
    plan = make_plan(make_cascade({"root": ()}, ["root"]), candidates("", [], []))
    assert (plan.waves, plan.left, plan.rows()) == ((), (), ())
    assert plan.selection.verify()
    barred = make_plan(make_cascade(STAR, ["root"]), candidates("a", [1], [1], barred=[0]))
    assert (barred.waves, barred.left) == ((), (key("a"),))


def test_bad_questions_are_refused(make_cascade: MakeCascade) -> None:
    cascade = make_cascade(STAR, ["root"])
    with pytest.raises(InvalidInstance):
        make_plan(cascade, mixed(), tradeoff=-0.1)
    with pytest.raises(InvalidInstance):
        make_plan(cascade, mixed(), tradeoff=float("nan"))
    with pytest.raises(UnknownId):
        make_plan(cascade, mixed(), solver="oracle")


def test_the_digest_names_members_and_choice(make_cascade: MakeCascade) -> None:
    cascade, what = make_cascade(STAR, ["root"]), mixed()
    digest = make_plan(cascade, what).digest
    assert digest == make_plan(make_cascade(STAR, ["root"]), mixed()).digest
    first, *others = cascade.members
    different = [
        plan_digest(replace(cascade, case=2), what, [0, 1]),
        plan_digest(replace(cascade, members=(replace(first, version=2), *others)), what, [0, 1]),
        plan_digest(replace(cascade, members=(replace(first, digest="x"), *others)), what, [0, 1]),
        plan_digest(cascade, what, [0]),
        plan_digest(cascade, replace(what, operators=("op@2",) * 4), [0, 1]),
    ]
    assert len({digest, *different}) == 6
    assert plan_digest(replace(cascade, members=cascade.members[::-1]), what, [1, 0]) == digest


def test_keys_of_one_written_form_are_two(make_cascade: MakeCascade) -> None:
    cascade = make_cascade(STAR, ["root"])
    first, *others = cascade.members
    digests = {
        plan_digest(replace(cascade, members=(replace(first, key=one), *others)), mixed(), [])
        for one in (Key((), "u::a"), Key(("u",), "a"))
    }
    assert len(digests) == 2


@st.composite
def instances(draw: st.DrawFn) -> Candidates:
    k = draw(st.integers(1, 8))
    prices = st.lists(st.integers(0, 9), min_size=k, max_size=k)
    arcs = st.tuples(st.integers(0, k - 1), st.integers(0, k - 1)).filter(lambda arc: arc[0] > arc[1])
    requires = sorted(draw(st.sets(arcs, max_size=12))) if k > 1 else []
    direct = draw(st.sets(st.integers(0, k - 1), max_size=2))
    barred = set(direct)
    for tail, head in requires:  # by ascending tail: heads are settled before
        if head in barred:
            barred.add(tail)
    names = [f"n{place}" for place in range(k)]
    return candidates(names, draw(prices), draw(prices), requires, sorted(barred))


@given(instances(), st.sampled_from((0.0, 0.3, 2.0)), st.sampled_from(("pseudoflow", "repair-all")))
def test_what_is_chosen_can_be_carried_out(
    make_cascade: MakeCascade, what: Candidates, tradeoff: float, solver: str
) -> None:
    plan = make_plan(make_cascade(STAR, ["root"]), what, tradeoff=tradeoff, solver=solver)
    wave = {place: number for number, places in enumerate(plan.waves) for place in places}
    assert sorted(wave) == np.flatnonzero(plan.selection.mask).tolist()
    assert all(places == tuple(sorted(places)) for places in plan.waves)
    tails, heads = what.prerequisites.tails().tolist(), what.prerequisites.heads.tolist()
    for tail, head in zip(tails, heads, strict=True):
        if tail in wave:
            assert wave[head] < wave[tail]
    assert all(what.executable[place] for place in wave)
    assert {what.keys[place] for place in wave} | set(plan.left) == set(what.keys)
    if solver == "repair-all":
        assert len(wave) == what.executable.sum()


@given(instances(), st.permutations(range(8)))
def test_the_order_of_candidates_does_not_matter(
    make_cascade: MakeCascade, what: Candidates, order: list[int]
) -> None:
    k = len(what.keys)
    places = [place for place in order if place < k]
    at = {place: number for number, place in enumerate(places)}
    tails, heads = what.prerequisites.tails().tolist(), what.prerequisites.heads.tolist()
    moved = candidates(
        [what.keys[place].id for place in places],
        what.value[places].tolist(),
        what.cost[places].tolist(),
        [(at[tail], at[head]) for tail, head in zip(tails, heads, strict=True)],
        [at[place] for place in range(k) if not what.executable[place]],
    )
    cascade = make_cascade(STAR, ["root"])
    one, other = make_plan(cascade, what), make_plan(cascade, moved)
    assert one.digest == other.digest
    assert set(chosen(one)) == set(chosen(other))
