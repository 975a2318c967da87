"""Migrations of chain procedures: what an interface says of its tools is what becomes of the steps."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorepair import Interface, Memory, Recipe
from memorepair.errors import InvalidInput, StepFailed
from memorepair.graphs.terms import Arch, Kind
from memorepair.memory.artifact import Json, Key
from memorepair.repair.jsontext import parse
from memorepair.repair.operators.chain import adapt
from memorepair.repair.operators.contracts import Contract, read_contracts
from memorepair.repair.operators.procedures import Procedure, read_procedure, written
from memorepair.repair.sandbox import dry_run


def interface(**tools: Json) -> str:
    """In the order given, which is that of the parts of a tool."""
    return json.dumps({"tools": dict(tools)})


def contracts(**tools: Json) -> dict[str, Contract]:
    return read_contracts([interface(**tools)])


def procedure(*steps: Mapping[str, Json], result: Json = None) -> Procedure:
    return read_procedure({"inputs": ["who"], "steps": [dict(step) for step in steps], "result": result})


def migrated(before: Procedure, after: Mapping[str, Contract]) -> dict[str, Json]:
    """The procedure for the new interface, which must pass the sandbox and be stable."""
    once = adapt(before, after, old_words=True)
    assert dry_run(once, after).violation is None
    assert adapt(once, after, old_words=False) == once
    found = parse(written(once))
    assert isinstance(found, dict)
    return found


# dropped ---------------------------------------------------------------------------------------------


def test_a_dropped_argument_and_an_unused_dropped_output_go() -> None:
    new = contracts(
        get={
            "arguments": {"id": {}},
            "outputs": {"name": {}},
            "dropped": {"arguments": ["verbose"], "outputs": ["fax"]},
        }
    )
    step: dict[str, Json] = {
        "name": "a",
        "tool": "get",
        "arguments": {"id": "{who}", "verbose": True},
        "outputs": ["fax", "name"],
    }
    assert migrated(procedure(step, result="{a.name}"), new)["steps"] == [
        {"name": "a", "tool": "get", "arguments": {"id": "{who}"}, "outputs": ["name"]}
    ]


@pytest.mark.parametrize("where", ["step", "result"])
def test_a_dropped_output_that_is_used_ends_the_procedure(where: str) -> None:
    # The name is taken by another output now: the reference must not fall on it.
    new = contracts(
        get={"outputs": {"fax": {"renamed_from": "phone"}}, "dropped": {"outputs": ["fax"]}},
        use={"arguments": {"text": {}}},
    )
    first: dict[str, Json] = {"name": "a", "tool": "get", "outputs": ["fax", "phone"]}
    second: dict[str, Json] = {"name": "b", "tool": "use", "arguments": {"text": ["{a.fax}"]}}
    given = procedure(first, second) if where == "step" else procedure(first, result="{a.fax}")
    with pytest.raises(StepFailed, match="output of step 1 that was dropped"):
        adapt(given, new, old_words=True)
    kept = migrated(procedure(first, result="{a.phone}"), new)
    assert kept["result"] == "{a.fax}"


# split -----------------------------------------------------------------------------------------------

SPLIT = contracts(
    get_person={
        "split_from": "get",
        "arguments": {"id": {"required": True}},
        "outputs": {"name": {}, "born": {"renamed_from": "age"}},
    },
    get_address={
        "split_from": "get",
        "arguments": {"person": {"renamed_from": "id", "required": True}, "format": {"default": "short"}},
        "outputs": {"city": {}},
    },
)


def get(*outputs: str, **more: Json) -> dict[str, Json]:
    return {"name": "a", "tool": "get", "arguments": {"id": "{who}", **more}, "outputs": list(outputs)}


def test_a_step_becomes_one_step_a_part_that_it_needs() -> None:
    found = migrated(procedure(get("name", "age", "city"), result="{a.name}, {a.age}, {a.city}"), SPLIT)
    assert found == {
        "inputs": ["who"],
        "steps": [
            {"name": "a", "tool": "get_person", "arguments": {"id": "{who}"}, "outputs": ["name", "born"]},
            {
                "name": "a-get_address",
                "tool": "get_address",
                "arguments": {"person": "{who}", "format": "short"},
                "outputs": ["city"],
            },
        ],
        "result": "{a.name}, {a.born}, {a-get_address.city}",
    }


@pytest.mark.parametrize(
    ("step", "tools"),
    [
        (get("city"), ["get_address"]),
        (get("name"), ["get_person"]),
        (get(format="long"), ["get_address"]),
        (get("name", format="long"), ["get_person", "get_address"]),
        (get(), ["get_person", "get_address"]),
    ],
)
def test_only_the_parts_that_are_needed_are_called(step: dict[str, Json], tools: list[str]) -> None:
    steps = migrated(procedure(step), SPLIT)["steps"]
    assert isinstance(steps, list)
    assert [one["tool"] for one in steps if isinstance(one, dict)] == tools
    assert isinstance(steps[0], dict)
    assert steps[0]["name"] == "a"


def test_a_part_that_another_supplies_brings_it_along() -> None:
    new = contracts(
        find_fare={
            "split_from": "search",
            "arguments": {"route": {"required": True, "supplied_by": "find_route.route"}},
            "outputs": {"price": {}},
        },
        find_route={
            "split_from": "search",
            "arguments": {"to": {"required": True}},
            "outputs": {"route": {}, "hours": {}},
        },
    )
    step: dict[str, Json] = {
        "name": "trip",
        "tool": "search",
        "arguments": {"to": "{who}"},
        "outputs": ["price"],
    }
    assert migrated(procedure(step, result="{trip.price}"), new) == {
        "inputs": ["who"],
        "steps": [
            {"name": "trip", "tool": "find_route", "arguments": {"to": "{who}"}, "outputs": ["route"]},
            {
                "name": "trip-find_fare",
                "tool": "find_fare",
                "arguments": {"route": "{trip.route}"},
                "outputs": ["price"],
            },
        ],
        "result": "{trip-find_fare.price}",
    }


def test_a_name_that_is_taken_is_not_given_again() -> None:
    other: dict[str, Json] = {
        "name": "a-get_address",
        "tool": "get",
        "arguments": {"id": 1},
        "outputs": ["name"],
    }
    steps = migrated(procedure(get("name", "city"), other), SPLIT)["steps"]
    assert isinstance(steps, list)
    assert [one["name"] for one in steps if isinstance(one, dict)] == [
        "a",
        "a-get_address-2",
        "a-get_address",
    ]


@pytest.mark.parametrize(
    "tools",
    [
        {"x": {"renamed_from": "get"}, "y": {"split_from": "get"}},
        {"x": {"renamed_from": "get", "split_from": "get"}},
        {
            "x": {"split_from": "get", "arguments": {"a": {"supplied_by": "z.out"}}},
            "y": {"split_from": "get"},
        },
        {
            "x": {"split_from": "get", "arguments": {"a": {"supplied_by": "y.out"}}},
            "y": {"split_from": "get", "arguments": {"b": {"supplied_by": "x.out"}}},
        },
        {"x": {"arguments": {"a": {"supplied_by": "nobody"}}}},
        {"x": {"dropped": ["a"]}},
        {"x": {"dropped": {"tools": []}}},
        {"x": {"arguments": {"a": {"schema": {"pattern": "x"}}}}},
    ],
)
def test_a_contradictory_interface_is_refused(tools: dict[str, Json]) -> None:
    with pytest.raises(InvalidInput):
        adapt(procedure({"name": "s", "tool": "get"}), contracts(**tools), old_words=True)


ARGUMENTS = st.sets(st.sampled_from(["p", "q", "r"]))


@given(ARGUMENTS, ARGUMENTS, ARGUMENTS, ARGUMENTS, ARGUMENTS, ARGUMENTS)
def test_nothing_a_part_takes_or_gives_is_lost(
    given_: set[str], used: set[str], takes: set[str], also: set[str], gives: set[str], more: set[str]
) -> None:
    new = contracts(
        x={
            "split_from": "get",
            "arguments": {one: {} for one in takes},
            "outputs": {one: {} for one in gives},
        },
        y={"split_from": "get", "arguments": {one: {} for one in also}, "outputs": {one: {} for one in more}},
    )
    step: dict[str, Json] = {
        "name": "s",
        "tool": "get",
        "arguments": {one: f"the {one}" for one in sorted(given_)},
        "outputs": list[Json](sorted(used)),
    }
    after = adapt(procedure(step, result=[f"{{s.{one}}}" for one in sorted(used)]), new, old_words=True)
    assert adapt(after, new, old_words=False) == after
    passes = dry_run(after, new).violation is None
    assert passes == (given_ <= takes | also and used <= gives | more)
    for name in given_:
        called = {one.tool: one for one in after.steps}
        if name in takes ^ also:  # only one part takes it, so that one is called
            assert called["x" if name in takes else "y"].arguments[name] == f"the {name}"
    assert sorted(name for one in after.steps for name in one.outputs) == sorted(used)


# schemas ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "violation"),
    [
        (7, None),
        ("{who}", None),
        ("seven", "step 1, argument 1: it breaks its schema: type at /"),
        (11, "step 1, argument 1: it breaks its schema: maximum at /"),
        ("nr {who}", "step 1, argument 1: it breaks its schema: type at /"),
        (["{who}"], "step 1, argument 1: it breaks its schema: type at /"),
    ],
)
def test_what_is_known_of_an_argument_satisfies_its_schema(value: Json, violation: str | None) -> None:
    new = contracts(get={"arguments": {"id": {"schema": {"type": "integer", "maximum": 10}}}})
    assert (
        dry_run(procedure({"name": "a", "tool": "get", "arguments": {"id": value}}), new).violation
        == violation
    )


# the whole way ---------------------------------------------------------------------------------------


def test_a_split_in_a_memory(tmp_path: Path) -> None:
    old = interface(get={"arguments": {"id": {}}, "outputs": {"name": {}, "city": {}}})
    new = interface(
        person={"split_from": "get", "arguments": {"id": {}}, "outputs": {"name": {}}},
        address={"split_from": "get", "arguments": {"id": {}}, "outputs": {"city": {}}},
    )
    chain = written(procedure(get("name", "city"), result="{a.name} of {a.city}"))
    lost = written(procedure(get("name", "fax"), result="{a.fax}"))
    with Memory.open(tmp_path / "a.db") as memory:
        tools = memory.record(old, id="tools@1")
        with memory.deriving(kind=Kind.SKILL, arch=Arch.CHAIN, recipe=Recipe(operator="rewrite-chain")) as d:
            d.read(tools)
            good, bad = d.write(chain, id="good"), d.write(lost, id="bad")
        case = memory.migrate(
            tools, Interface(key=Key((), "tools@1"), content=new), reason="split", actor="me"
        )
        report = memory.repair(case)
        assert [one.key for one in report.still_withdrawn] == [bad]
        assert parse(memory.get(good).content) == {
            "inputs": ["who"],
            "steps": [
                {"name": "a", "tool": "person", "arguments": {"id": "{who}"}, "outputs": ["name"]},
                {"name": "a-address", "tool": "address", "arguments": {"id": "{who}"}, "outputs": ["city"]},
            ],
            "result": "{a.name} of {a-address.city}",
        }


def test_why_a_chain_was_not_carried_over_is_told_and_nothing_of_the_chain(tmp_path: Path) -> None:
    account = "account-4711"
    step: dict[str, Json] = {"name": account, "tool": "get", "arguments": {"id": account, "user": 2}}
    chains: dict[str, tuple[Json, str]] = {
        "dropped": ({"steps": [{**step, "outputs": ["fax"]}], "result": f"{{{account}.fax}}"}, "was dropped"),
        "twice": ({"steps": [{**step, "arguments": {"id": account, "key": 1}}]}, "both be id"),
        "no-chain": ({"steps": [{"name": account}], account: 1}, "InvalidInput"),
    }
    new = interface(
        get={
            "arguments": {"id": {"renamed_from": "key"}, "user": {}},
            "outputs": {"name": {}},
            "dropped": {"outputs": ["fax"]},
        }
    )
    with Memory.open(tmp_path / "a.db") as memory:
        tools = memory.record(interface(get={}), id="tools@1")
        with memory.deriving(kind=Kind.SKILL, arch=Arch.CHAIN, recipe=Recipe(operator="rewrite-chain")) as d:
            d.read(tools)
            for id, (chain, _) in chains.items():
                d.write(json.dumps(chain), id=id)
        case = memory.migrate(tools, Interface(key=tools, content=new), reason="renamed", actor="me")
        reasons = {one.key.id: one.why for one in memory.repair(case).still_withdrawn}
        for id, (_, why) in chains.items():
            assert why in reasons[id]
            assert account not in reasons[id]
            assert account not in memory.explain(id).why


def test_a_chain_follows_the_interfaces_it_stands_on_and_no_other_of_the_event(tmp_path: Path) -> None:
    """Two users have tools of the same name; one of their chains is read off another."""
    fetched: Json = {"renamed_from": "get", "arguments": {"id": {}, "key": {"default": "account-4711"}}}
    new = {
        "4": interface(fetch=fetched),
        "42": interface(get={"arguments": {"id": {}, "lang": {"default": "en"}}}),
    }
    chain = json.dumps({"steps": [{"name": "s", "tool": "get", "arguments": {"id": 1}}]})
    with Memory.open(tmp_path / "a.db") as memory:
        tools, chains = {}, {}
        for user in new:
            scope = ("user", user)
            tools[user] = memory.record(interface(get={"arguments": {"id": {}}}), id="tools", scope=scope)
            chains[user] = tools[user]
            for id in ("first", "chain"):
                recipe = Recipe(operator="rewrite-chain")
                with memory.deriving(kind=Kind.SKILL, arch=Arch.CHAIN, recipe=recipe, scope=scope) as d:
                    d.read(chains[user])
                    chains[user] = d.write(chain, id=id)
        delta = {tools[user]: Interface(key=tools[user], content=text) for user, text in new.items()}
        memory.repair(memory.migrate(delta, reason="new tools", actor="me"))
        arguments = {}
        for user, key in chains.items():
            (step,) = read_procedure(parse(memory.get(key).content)).steps
            arguments[user] = (step.tool, dict(step.arguments))
        assert arguments == {
            "4": ("fetch", {"id": 1, "key": "account-4711"}),
            "42": ("get", {"id": 1, "lang": "en"}),
        }
