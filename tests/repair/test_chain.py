"""Chain procedures: data that is read strictly, rewritten exactly, and never run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorepair.errors import InvalidInput, StepFailed
from memorepair.graphs.terms import Kind, Relation
from memorepair.memory.artifact import Json, Key
from memorepair.repair.jsontext import canonical, parse
from memorepair.repair.operators.chain import ChainRewrite, adapt
from memorepair.repair.operators.contracts import read_contracts
from memorepair.repair.operators.operator import Call, Input
from memorepair.repair.operators.procedures import map_texts, read_procedure, written
from memorepair.repair.sandbox import dry_run

CHAIN: dict[str, Json] = {
    "inputs": ["user_id"],
    "steps": [
        {
            "name": "user",
            "tool": "get_user",
            "arguments": {"user_id": "{user_id}"},
            "outputs": ["province", "zip"],
        },
        {
            "name": "tax",
            "tool": "tax_rate",
            "arguments": {"region": ["{user.province}", "{user.zip}"], "year": 2024},
            "outputs": ["rate"],
        },
    ],
    "result": {"said": "In {user.province} the rate is {tax.rate}."},
}
NEW: dict[str, Json] = {
    "tools": {
        "fetch_user": {
            "renamed_from": "get_user",
            "arguments": {
                "id": {"renamed_from": "user_id", "required": True},
                "format": {"default": "short"},
            },
            "outputs": {"state": {"renamed_from": "province"}, "zip": {}},
        }
    }
}
TAX = canonical({"tools": {"tax_rate": {"arguments": {"region": {"required": True}, "year": {}}}}})
AFTER = {
    "inputs": ["user_id"],
    "steps": [
        {
            "name": "user",
            "tool": "fetch_user",
            "arguments": {"id": "{user_id}", "format": "short"},
            "outputs": ["state", "zip"],
        },
        {
            "name": "tax",
            "tool": "tax_rate",
            "arguments": {"region": ["{user.state}", "{user.zip}"], "year": 2024},
            "outputs": ["rate"],
        },
    ],
    "result": {"said": "In {user.state} the rate is {tax.rate}."},
}
KEY = Key((), "chain")


def call(
    *inputs: str,
    own: str | None = None,
    interfaces: Mapping[str, str] | None = None,
    params: Mapping[str, Json] | None = None,
) -> Call:
    return Call(
        key=KEY,
        inputs=tuple(
            Input(
                key=Key((), f"i{place}"), version=1, kind=Kind.RECORD, relation=Relation.DERIVE, content=text
            )
            for place, text in enumerate(inputs)
        ),
        params=params or {},
        interfaces={Key((), root): text for root, text in (interfaces or {}).items()},
        own=own,
    )


def test_a_migration_renames_redirects_and_fills_in_and_changes_nothing_else() -> None:
    new = canonical(NEW)
    made = ChainRewrite().make(call(TAX, new, own=canonical(CHAIN), interfaces={"users@1": new}))
    assert parse(made.content) == AFTER
    assert dry_run(read_procedure(parse(made.content)), read_contracts([TAX, new])).violation is None


@pytest.mark.parametrize("default", [None, False, 0, "", []])
def test_a_default_is_filled_in_whatever_it_is(default: Json) -> None:
    old = canonical({"steps": [{"name": "a", "tool": "t"}]})
    new = canonical({"tools": {"t": {"arguments": {"x": {"required": True, "default": default}}}}})
    made = ChainRewrite().make(call(new, own=old, interfaces={"t@1": new})).content
    assert read_procedure(parse(made)).steps[0].arguments == {"x": default}


def test_what_needs_no_change_keeps_its_bytes() -> None:
    spaced = f" {canonical(CHAIN)}\n"
    assert ChainRewrite().make(call(TAX, own=spaced, interfaces={"tax@1": TAX})).content == spaced


def test_after_another_event_the_chain_comes_from_its_recipe_adapted_where_it_is_behind() -> None:
    params: dict[str, Json] = {"procedure": CHAIN}
    assert parse(ChainRewrite().make(call(TAX, params=params)).content) == CHAIN
    behind = ChainRewrite().make(call(TAX, canonical(NEW), params=params))
    assert parse(behind.content) == AFTER
    with pytest.raises(StepFailed):
        ChainRewrite().make(call(TAX))


def test_swapped_names_are_translated_in_a_migration_and_left_alone_after_it() -> None:
    swapped = canonical({"tools": {"a": {"renamed_from": "b"}, "b": {"renamed_from": "a"}}})
    chain = canonical({"steps": [{"name": "x", "tool": "a"}, {"name": "y", "tool": "b"}]})
    made = ChainRewrite().make(call(swapped, own=chain, interfaces={"old": swapped}))
    assert [step.tool for step in read_procedure(parse(made.content)).steps] == ["b", "a"]
    again = ChainRewrite().make(call(swapped, params={"procedure": parse(made.content)}))
    assert again.content == made.content


NAMES = st.sampled_from(["a", "b", "c", "d"])


@given(st.lists(NAMES, max_size=4), st.dictionaries(NAMES, st.none() | NAMES))
def test_adapting_twice_is_adapting_once(tools: list[str], renames: dict[str, str | None]) -> None:
    steps: list[Json] = [{"name": f"s{place}", "tool": tool} for place, tool in enumerate(tools)]
    procedure = read_procedure({"steps": steps})
    interface: dict[str, Json] = {name: {"renamed_from": old} for name, old in renames.items()}
    contracts = read_contracts([canonical({"tools": interface})])
    translated = [old for old in renames.values() if old is not None and old not in renames]
    if len(set(translated)) < len(translated):
        with pytest.raises(InvalidInput):
            adapt(procedure, contracts, old_words=False)
        return
    once = adapt(procedure, contracts, old_words=False)
    assert adapt(once, contracts, old_words=False) == once
    gone = {old for old in renames.values() if old is not None} - renames.keys()
    assert gone.isdisjoint(step.tool for step in once.steps)


@pytest.mark.parametrize(
    ("value", "witness"),
    [
        ([], "a procedure"),
        ({"steps": {}}, "steps"),
        ({"steps": [], "code": "import os"}, "code"),
        ({"steps": [{"name": "a", "tool": "t", "exec": "x"}]}, "exec"),
        ({"steps": [{"name": "a.b", "tool": "t"}]}, "the name of step 1"),
        ({"steps": [{"name": "a"}]}, "the tool of step 1"),
        ({"steps": [{"name": "a", "tool": "t", "arguments": []}]}, "arguments of step 1"),
        ({"inputs": ["a"], "steps": [{"name": "a", "tool": "t"}]}, "step 1"),
        ({"inputs": ["a", "a"], "steps": []}, "inputs"),
    ],
)
def test_what_is_no_procedure_is_refused(value: Json, witness: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_procedure(value)
    assert refused.value.witness == witness


def test_interfaces_that_contradict_are_refused() -> None:
    one, other = canonical({"tools": {"a": {}}}), canonical({"tools": {"a": {"renamed_from": "b"}}})
    with pytest.raises(InvalidInput):
        read_contracts([one, other])
    assert read_contracts(["prose", "[1]", one, one]).keys() == {"a"}


def test_a_procedure_reads_back_as_it_is_written() -> None:
    procedure = read_procedure(CHAIN)
    assert read_procedure(parse(written(procedure))) == procedure


def test_texts_are_mapped_at_any_depth() -> None:
    deep: Json = "x"
    for _ in range(50_000):
        deep = [deep]
    mapped = map_texts(deep, str.upper)
    for _ in range(50_000):
        assert isinstance(mapped, list)
        mapped = mapped[0]
    assert mapped == "X"


def test_the_documented_example_is_what_is_described() -> None:
    page = (Path(__file__).parents[2] / "docs" / "procedures.md").read_text(encoding="utf-8")
    chain, interface, split = (part.split("```")[0] for part in page.split("```json")[1:])
    made = ChainRewrite().make(call(TAX, interface, own=chain, interfaces={"users@1": interface}))
    assert read_procedure(parse(made.content)).steps[0].arguments == {"id": "{user_id}", "format": "short"}
    assert "{user.state}" in made.content
    trip = canonical({"steps": [{"name": "trip", "tool": "search", "outputs": ["price"]}]})
    made = ChainRewrite().make(call(split, own=trip, interfaces={"search@1": split}))
    assert [step.name for step in read_procedure(parse(made.content)).steps] == ["trip", "trip-find_fare"]


def test_two_names_of_a_step_never_become_one() -> None:
    before: Json = {
        "steps": [{"name": "s", "tool": "get", "arguments": {"id": 1, "user": 2}, "outputs": ["a", "b"]}]
    }
    for field, old, new in (("arguments", "user", "id"), ("outputs", "b", "a")):
        contracts = read_contracts(
            [
                canonical(
                    {
                        "tools": {
                            "get": {"arguments": {"id": {}, "user": {}}, field: {new: {"renamed_from": old}}}
                        }
                    }
                )
            ]
        )
        with pytest.raises(StepFailed, match=new):
            adapt(read_procedure(before), contracts, old_words=True)


def test_parts_of_a_split_may_each_drop_what_another_part_has() -> None:
    contracts = read_contracts(
        [
            canonical(
                {
                    "tools": {
                        "A": {
                            "split_from": "get",
                            "arguments": {"x": {}},
                            "outputs": {"o": {}},
                            "dropped": {"arguments": ["y", "z"], "outputs": ["p"]},
                        },
                        "B": {
                            "split_from": "get",
                            "arguments": {"y": {}},
                            "outputs": {"p": {}},
                            "dropped": {"arguments": ["x"], "outputs": ["o"]},
                        },
                    }
                }
            )
        ]
    )
    before: Json = {
        "steps": [{"name": "s", "tool": "get", "arguments": {"x": 1, "y": 2, "z": 3}, "outputs": ["o", "p"]}],
        "result": "{s.o} {s.p}",
    }
    after = adapt(read_procedure(before), contracts, old_words=True)
    assert [(step.tool, step.arguments) for step in after.steps] == [("A", {"x": 1}), ("B", {"y": 2})]
    assert after.result == "{s.o} {s-B.p}"
    assert dry_run(after, contracts).violation is None


def test_a_step_of_one_part_alone_has_no_supplier() -> None:
    contracts = read_contracts(
        [
            canonical(
                {
                    "tools": {
                        "route": {"split_from": "search", "outputs": {"way": {}}},
                        "fare": {"split_from": "search", "arguments": {"way": {"supplied_by": "route.way"}}},
                    }
                }
            )
        ]
    )
    before: Json = {"steps": [{"name": "s", "tool": "fare"}]}
    assert adapt(read_procedure(before), contracts, old_words=True) == read_procedure(before)


def test_a_reference_in_a_dropped_argument_is_not_followed() -> None:
    contracts = read_contracts(
        [
            canonical(
                {
                    "tools": {
                        "a": {"outputs": {}, "dropped": {"outputs": ["o"]}},
                        "b": {"arguments": {}, "dropped": {"arguments": ["x"]}},
                    }
                }
            )
        ]
    )
    before: Json = {
        "steps": [
            {"name": "s", "tool": "a", "outputs": ["o"]},
            {"name": "t", "tool": "b", "arguments": {"x": "{s.o}"}},
        ]
    }
    after = adapt(read_procedure(before), contracts, old_words=True)
    assert [step.arguments for step in after.steps] == [{}, {}]


def test_a_default_means_itself() -> None:
    contracts = read_contracts([canonical({"tools": {"t": {"arguments": {"x": {"default": ["{a}"]}}}}})])
    with pytest.raises(StepFailed, match="reference"):
        adapt(
            read_procedure({"inputs": ["a"], "steps": [{"name": "s", "tool": "t"}]}),
            contracts,
            old_words=True,
        )


@pytest.mark.parametrize(
    "contract",
    [
        {"arguments": {"x": {"required": "yes"}}},
        {"arguments": {"x": {"renamed_from": "y"}}, "dropped": {"arguments": ["y"]}},
        {"outputs": {"x": {"renamed_from": "y"}}, "dropped": {"outputs": ["y"]}},
    ],
)
def test_a_contract_that_contradicts_itself_is_refused(contract: Json) -> None:
    with pytest.raises(InvalidInput):
        read_contracts([canonical({"tools": {"t": contract}})])
