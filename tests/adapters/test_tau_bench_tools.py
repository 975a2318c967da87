"""The replayed tools return what the recorded tools returned."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorepair.adapters.shapes import Row
from memorepair.adapters.tau_bench import tools
from memorepair.adapters.tau_bench.arithmetic import evaluate
from memorepair.adapters.tau_bench.database import Database, dumps
from memorepair.adapters.tau_bench.operators import OPERATORS, PROVINCE_TO_STATE
from memorepair.adapters.tau_bench.traces import Run, ToolCall
from memorepair.errors import InvalidInput, StepFailed
from memorepair.graphs.terms import Kind, Relation
from memorepair.memory.artifact import Key
from memorepair.repair.modes import Mode
from memorepair.repair.operators.operator import Call, Input

ROUTE = {"origin": "JFK", "destination": "SEA", "date": "2024-05-20"}
BY_NAME = {f"{operator.name}@{operator.version}": operator for operator in OPERATORS}


def _call(inputs: dict[str, str], params: dict[str, str], own: str | None = None) -> Call:
    return Call(
        key=Key((), "successor"),
        inputs=tuple(
            Input(key=Key((), id), version=1, kind=Kind.RECORD, relation=Relation.PRODUCE, content=content)
            for id, content in inputs.items()
        ),
        params=params,
        interfaces={},
        own=own,
    )


def test_searches_and_sums_over_the_whole_database_agree_to_the_byte(
    database: Database, runs: tuple[Run, ...]
) -> None:
    flights = [*database.flights.values()]
    agreed: Counter[str] = Counter()
    for run in runs:
        for call in run.steps:
            if not isinstance(call, ToolCall):
                continue
            arguments = {name: str(value) for name, value in call.arguments.items()}
            match call.tool:
                case "search_direct_flight":
                    result = tools.direct_flights(flights, **arguments)
                case "search_onestop_flight":
                    result = tools.onestop_flights(flights, **arguments)
                case "calculate":
                    result = tools.calculate(**arguments)
                case _:
                    continue
            assert result == call.result, (run.name, call.message)
            agreed[call.tool] += 1
    assert agreed == {"search_direct_flight": 91, "search_onestop_flight": 31, "calculate": 44}


def test_the_order_of_inputs_does_not_matter(database: Database, runs: tuple[Run, ...]) -> None:
    search = BY_NAME["tau-bench.airline.search_onestop_flight@1"]
    call = next(
        step for run in runs for step in run.steps
        if isinstance(step, ToolCall) and step.tool == "search_onestop_flight" and len(step.result) > 2
    )  # fmt: skip
    rows = {f"flights/{id}": dumps(row) for id, row in database.flights.items()}
    params = {name: str(value) for name, value in call.arguments.items()}
    backwards = dict(reversed(rows.items()))
    assert search.make(_call(backwards, params)).content == call.result


def test_a_row_that_is_not_there_is_told_as_upstream_tells_it() -> None:
    details = BY_NAME["tau-bench.airline.get_user_details@1"]
    assert details.make(_call({"airline.users@1": "{}"}, {"user_id": "x"})).content == "Error: user not found"


def test_operators_are_deterministic_recomputations() -> None:
    for operator in OPERATORS:
        assert operator.mode is Mode.RECOMPUTE
        assert operator.deterministic
        assert operator.reads_own_version == (f"{operator.name}@{operator.version}" == PROVINCE_TO_STATE)


@pytest.mark.parametrize(
    ("operator", "inputs", "params", "own"),
    [
        ("tau-bench.airline.get_user_details@1", {"users/a": "no JSON"}, {}, None),
        ("tau-bench.airline.get_user_details@1", {"users/a": "[]"}, {}, None),
        ("tau-bench.airline.get_user_details@1", {"users/a": "{}", "users/b": "{}"}, {}, None),
        ("tau-bench.airline.search_direct_flight@1", {"flights/HAT1": "{}"}, {}, None),
        ("tau-bench.airline.search_direct_flight@1", {"flights/HAT1": "{}"}, ROUTE, None),
        ("tau-bench.airline.calculate@1", {}, {}, None),
        (PROVINCE_TO_STATE, {"airline.users@2": "{}"}, {}, None),
        (PROVINCE_TO_STATE, {"airline.users@2": "{}"}, {}, "{}"),
    ],
)  # fmt: skip
def test_what_an_operator_cannot_work_on_fails_the_step_with_a_witness(
    operator: str, inputs: dict[str, str], params: dict[str, str], own: str | None
) -> None:
    with pytest.raises(StepFailed) as failed:
        BY_NAME[operator].make(_call(inputs, params, own))
    assert failed.value.witness is not None or "JSON" in failed.value.message


def test_the_row_migration_gives_the_database_after_it(database: Database, migrated: dict[str, Row]) -> None:
    rename = BY_NAME[PROVINCE_TO_STATE]
    assert database.users.keys() == migrated.keys()
    for id, row in database.users.items():
        assert rename.make(_call({}, {}, own=dumps(row))).content == json.dumps(migrated[id])


expressions = st.recursive(
    st.one_of(st.integers(0, 999).map(str), st.decimals(0, 99, places=2, allow_nan=False).map(str)),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/"]), inner).map(" ".join),
        inner.map(lambda text: f"({text})"),
        inner.map(lambda text: f"-({text})"),
    ),
    max_leaves=8,
)


@given(expressions)
def test_arithmetic_is_python_s_on_floats(expression: str) -> None:
    whole = json.dumps(expression)
    try:
        expected: float | None = float(eval(expression, {"__builtins__": {}}, {}))  # noqa: S307 (the oracle)
    except ZeroDivisionError:
        expected = None
    if expected is None:
        assert tools.calculate(expression).startswith("Error"), whole
    else:
        assert evaluate(expression) == pytest.approx(expected), whole


@pytest.mark.parametrize(
    "expression",
    ["__import__('os')", "2 ** 9", "a", "1, 2", "(1", "'1'", "1 if 1 else 2", "f(1)", "1" * 1001, ""],
)
def test_anything_but_arithmetic_is_refused(expression: str) -> None:
    with pytest.raises(InvalidInput):
        evaluate(expression)
    assert tools.calculate(expression).startswith("Error")


def test_deep_nesting_is_refused_not_a_crash() -> None:
    with pytest.raises(InvalidInput):
        evaluate("(" * 499 + "1" + ")" * 499 + "+" + "-" * 1)
    assert tools.calculate("-" * 900 + "1").startswith(("1.0", "Error"))
