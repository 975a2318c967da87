"""One bad value of somebody else's code costs one step, or is a typed error that names the artifact."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import numpy as np
import pytest

from memorepair.errors import InvalidInput
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import CaseStatus, Draft, Key, Read, Recipe
from memorepair.memory.exchange import OperatorRun
from memorepair.memory.sqlite import SqliteStore
from memorepair.repair import engine
from memorepair.repair.events import Correction, EventKind, RepairEvent
from memorepair.repair.operators.attempt import attempt
from memorepair.repair.operators.operator import Call, Made
from memorepair.repair.operators.recompute import Function, FunctionOperator, operator
from memorepair.repair.operators.regen import Generated, RegenOperator, Request
from memorepair.repair.operators.registry import Operators
from memorepair.repair.pricing import Pricing, Quote
from memorepair.repair.report import Fate

ROOT, BAD, GOOD, BEHIND = (Key((), name) for name in ("root", "bad", "good", "behind"))


@contextmanager
def declared() -> Iterator[tuple[SqliteStore, int]]:
    """A case with a member that stands on nothing bad, and one behind the bad one."""
    made = [(BAD, "bad", ROOT), (GOOD, "join", ROOT), (BEHIND, "join", BAD)]
    with TemporaryDirectory() as folder, SqliteStore.open(Path(folder) / "memory.db") as store:
        store.write([Draft(key=ROOT, content="old")])
        store.write(
            [
                Draft(
                    key=key,
                    content="old",
                    kind=Kind.CACHE if key != BAD else Kind.SUMMARY,
                    recipe=Recipe(operator=by),
                    reads=(Read(key=parent),),
                )
                for key, by, parent in made
            ]
        )
        delta = Correction(replacements={ROOT: "new"})
        event = RepairEvent(kind=EventKind.CORRECT, roots=(ROOT,), delta=delta)
        yield store, engine.withdraw(store, event).id


@operator(name="join")
def join(call: Call) -> str:
    return " ".join(source.content for source in call.inputs)


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class Surrogate(Exception):
    def __str__(self) -> str:
        return "\ud800"


def raising(error: Exception) -> Callable[[Call], Made]:
    def make(call: Call) -> Made:
        raise error

    return make


def returning(**fields: object) -> Callable[[Call], Made]:
    make = cast(Callable[..., Made], Made)
    return lambda call: make(**{"content": "text", **fields})


RESULTS: dict[str, Callable[[Call], Made]] = {
    "nothing": lambda call: cast(Made, None),
    "number": lambda call: cast(Made, 5),
    "bytes": returning(content=b"x"),
    "surrogate": returning(content="\ud800"),
    "too long": returning(content="x" * (2**24 + 1)),
    "cost text": returning(cost="5"),
    "cost bool": returning(cost=True),
    "cost huge": returning(cost=10**400),
    "cost nan": returning(cost=float("nan")),
    "cost infinite": returning(cost=float("inf")),
    "cost negative": returning(cost=-1.0),
    "cost complex": returning(cost=1j),
    "cites text": returning(cites="root"),
    "cites texts": returning(cites=("root",)),
    "cites mixed": returning(cites=(ROOT, 5)),
    "cites number": returning(cites=5),
    "cites unknown": returning(cites=(Key((), "elsewhere"),)),
    "error without words": raising(Unspeakable()),
    "error no text": raising(Surrogate()),
    "error without end": raising(RecursionError()),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_bad_result_of_an_operator_costs_one_step(name: str) -> None:
    with declared() as (store, case):
        operators = Operators([join, FunctionOperator(name="bad", function=cast(Function, RESULTS[name]))])
        report = engine.repair(store, case, operators=operators, solver="repair-all")
        assert {one.key: one.fate for one in report.members} == {
            BAD: Fate.FAILED,
            GOOD: Fate.REPUBLISHED,
            BEHIND: Fate.SKIPPED,
        }
        assert report.case.status is CaseStatus.CLOSED_PARTIAL
        json.dumps(report.to_json()).encode()
        again = engine.repair(store, case, operators=operators, solver="repair-all")
        assert {one.key: one.fate for one in again.members}[BAD] is Fate.FAILED


class Writer:
    def __init__(self, made: object) -> None:
        self.made = made

    def generate(self, request: Request) -> Generated:
        return cast(Generated, self.made)


@pytest.mark.parametrize(
    "made",
    [
        None,
        "text",
        Generated(text=cast(str, None), cites=(ROOT,)),
        Generated(text="\udfff", cites=(ROOT,)),
        Generated(text="text", cites=cast("tuple[Key, ...]", None), tokens=-5),
        Generated(text="text", cites=(ROOT,), tokens=10**400),
        Generated(text="text", cites=(ROOT,), tokens=cast(int, "many")),
        Generated(text="text", cites=cast("tuple[Key, ...]", ({},))),
        Generated(text="text", cites=(Key((), "elsewhere"),)),
    ],
)
def test_a_bad_result_of_a_generator_costs_one_step(made: object) -> None:
    with declared() as (store, case):
        operators = Operators([join, RegenOperator(name="bad", generator=Writer(made))])
        report = engine.repair(store, case, operators=operators, solver="repair-all")
        assert report.failed == (BAD,)
        assert report.republished == (GOOD,)


def test_numbers_of_any_make_are_costs() -> None:
    call = Call(key=BAD, inputs=(), params={}, interfaces={}, own=None)
    for cost in (3, np.float32(3), np.int64(3)):
        made = attempt(FunctionOperator(name="op", function=returning(cost=cost)), call)
        assert isinstance(made, Made)
        assert (type(made.cost), made.cost) == (float, 3.0)


def test_costs_that_have_grown_beyond_a_float_say_nothing() -> None:
    with declared() as (store, case):
        costly = FunctionOperator(name="bad", function=returning(cost=1.7e308))
        operators = Operators([join, costly])
        run = OperatorRun(operator="bad@1", unit="tokens", size=1.0, cost=1.7e308, seconds=0.0)
        store.note_operator_runs([run, replace(run, cost=0.0), run])
        assert store.operator_costs()[0].spread is None
        cost = {row.key: row.cost for row in engine.plan(store, case, operators=operators).rows()}[BAD]
        assert 0 < cost < 100


# pricing ---------------------------------------------------------------------------------------------


def price(given: object) -> Callable[[Quote], float]:
    def callable_(quote: Quote) -> float:
        if quote.member.key != BAD:
            return quote.price
        if isinstance(given, Exception):
            raise given
        return cast(float, given)

    return callable_


@pytest.mark.parametrize("which", ["value", "cost"])
@pytest.mark.parametrize(
    "given",
    [
        "x",
        None,
        1j,
        [1.0],
        True,
        10**400,
        float("nan"),
        float("inf"),
        -1.0,
        ValueError("no price"),
        Unspeakable(),
    ],
)
def test_a_bad_price_is_an_error_that_names_the_artifact(which: str, given: object) -> None:
    with declared() as (store, case):
        operators = Operators([join, FunctionOperator(name="bad", function=returning())])
        pricing = Pricing(value=price(given)) if which == "value" else Pricing(cost=price(given))
        for verb in (engine.plan, engine.repair):
            with pytest.raises(InvalidInput) as refused:
                verb(store, case, operators=operators, pricing=pricing)
            assert refused.value.witness == BAD
            assert which in str(refused.value)
        assert store.case(case).status is CaseStatus.OPEN


@pytest.mark.parametrize("bad", ["x", None, float("nan"), -1.0, 10**400], ids=str)
def test_a_bad_price_list_is_refused(bad: object) -> None:
    with pytest.raises(InvalidInput):
        Pricing(per_operator={"op": cast(float, bad)})
    with pytest.raises(InvalidInput):
        Pricing(half_life_days=cast(float, bad))
