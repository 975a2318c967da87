"""The sandbox: a dry run touches nothing, ends, and names the first violation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorepair.errors import InvalidInput
from memorepair.memory.artifact import Json
from memorepair.repair.jsontext import canonical
from memorepair.repair.operators.contracts import read_contracts
from memorepair.repair.operators.procedures import read_procedure
from memorepair.repair.sandbox import DryRun, SandboxLimits, dry_run

CONTRACTS = read_contracts(
    [
        canonical(
            {
                "tools": {
                    "get": {
                        "arguments": {"id": {"required": True}, "format": {}},
                        "outputs": {"name": {}, "city": {}},
                    },
                    "free": {"arguments": {"text": {}}},
                }
            }
        )
    ]
)


def run(*steps: Json, result: Json = None, limits: SandboxLimits | None = None) -> DryRun:
    return dry_run(
        read_procedure({"inputs": ["who"], "steps": list(steps), "result": result}), CONTRACTS, limits
    )


GET: Json = {"name": "a", "tool": "get", "arguments": {"id": "{who}"}, "outputs": ["city"]}


@pytest.mark.parametrize(
    ("step", "violation"),
    [
        ({"name": "b", "tool": "gone"}, "step 2: no interface has its tool"),
        ({"name": "b", "tool": "get"}, "step 2: get requires the argument id"),
        (
            {"name": "b", "tool": "get", "arguments": {"id": 1, "nr": 2}},
            "step 2: get does not take its argument 2",
        ),
        (
            {"name": "b", "tool": "get", "arguments": {"id": "{a.name}"}},
            "step 2, argument 1: a reference to no input and no output of an earlier step",
        ),
        (
            {"name": "b", "tool": "free", "arguments": {"text": ["{b.x}"]}, "outputs": ["x"]},
            "step 2, argument 1: a reference to no input and no output of an earlier step",
        ),
        (
            {"name": "b", "tool": "get", "arguments": {"id": 1}, "outputs": ["age"]},
            "step 2: get does not give its output 1",
        ),
        ({"name": "b", "tool": "free", "arguments": {"text": "{a.city}"}, "outputs": ["any"]}, None),
    ],
)
def test_the_first_violation_is_named(step: Json, violation: str | None) -> None:
    found = run(GET, step)
    assert found == DryRun(passed=1 if violation else 2, violation=violation)


def test_the_result_is_checked_too() -> None:
    assert run(GET, result="In {a.city}").violation is None
    assert run(GET, result={"x": "{a.zip}"}) == DryRun(
        passed=1, violation="the result: a reference to no input and no output of an earlier step"
    )


@pytest.mark.parametrize(
    ("limits", "violation"),
    [
        (SandboxLimits(steps=1), "step 2: more than 1 steps"),
        (SandboxLimits(budget=2), "step 2: more than 2 units of work"),
        (SandboxLimits(budget=3), "step 2, argument 1: more than 3 units of work"),
        (SandboxLimits(output=30), "step 2: more than 30 characters of arguments and results"),
        (SandboxLimits(), None),
    ],
)
def test_limits_end_a_run(limits: SandboxLimits, violation: str | None) -> None:
    long: Json = {"name": "b", "tool": "free", "arguments": {"text": "{who}" * 20}}
    assert run(GET, long, limits=limits).violation == violation


def test_limits_are_positive() -> None:
    with pytest.raises(InvalidInput):
        SandboxLimits(steps=0)


@given(st.integers(1, 60))
def test_results_do_not_grow_with_what_was_put_in(length: int) -> None:
    """A chain that doubles its text at every step stays linear: a stub never echoes its arguments."""
    steps: list[Json] = [
        {
            "name": f"s{place}",
            "tool": "free",
            "arguments": {"text": f"{{s{place - 1}.x}}{{s{place - 1}.x}}" if place else "{who}"},
            "outputs": ["x"],
        }
        for place in range(length)
    ]
    assert run(*steps) == DryRun(passed=length, violation=None)
