"""Instance files: what is written is read, what is malformed is refused with its place."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from memorepair import SelectionInstance, select
from memorepair.errors import InvalidFile, InvalidInstance
from memorepair.formats import format_instance, parse_instance, read_instance, write_instance
from memorepair.graphs import Digraph
from memorepair.problems.integers import fraction


def document(**fields: object) -> str:
    base = {"format": "memorepair.selection", "version": 1, "candidates": [{"id": "a", "value": 1}]}
    return json.dumps({**base, **fields})


def test_the_documented_example_is_an_instance() -> None:
    text = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    instance = parse_instance(text.split("```json")[1].split("```")[0])
    selection = select(instance)
    assert selection.chosen == ("orders", "refund skill")
    assert selection.objective == 6


def test_ids_of_any_text_survive(tmp_path: Path) -> None:
    ids = ('"0" \\ é\n', "\u2028", "\ud800", "\0", 1, "1", -(2**70))
    instance = replace(parse_instance(document()), **arrays(len(ids)), ids=ids)
    path = tmp_path / "instance.json"
    write_instance(instance, path)
    assert read_instance(path).ids == ids


def arrays(k: int) -> dict[str, Any]:
    return {
        "value": np.zeros(k, np.int64),
        "cost": np.zeros(k, np.int64),
        "requires": Digraph.from_arcs(k, (), ()),
        "executable": np.ones(k, np.bool_),
        "required": np.zeros(k, np.bool_),
    }


def test_decimals_are_exact() -> None:
    text = document(
        tradeoff=0.3,
        candidates=[{"id": 1, "value": 3, "cost": 10}, {"id": 2, "value": 0.3, "cost": 0.1}],
    ).replace("0.1}", "0.10000000000000000000000001}")
    instance = parse_instance(text)
    assert fraction(instance.tradeoff) == Fraction(3, 10)
    assert instance.cost[1] == Fraction(Decimal("0.10000000000000000000000001"))


@pytest.mark.parametrize(
    "number", [Fraction(-5, 4), Fraction(1, 1000), Decimal("-0.05"), 10**30, -2.5e-7, Fraction(7)]
)
def test_numbers_survive(number: object) -> None:
    instance = SelectionInstance(
        value=np.array([number], np.object_),
        cost=np.zeros(1, np.int64),
        requires=Digraph.from_arcs(1, (), ()),
        executable=np.ones(1, np.bool_),
        required=np.zeros(1, np.bool_),
    )
    assert fraction(parse_instance(format_instance(instance)).value[0]) == fraction(number)


def test_what_has_no_text_is_refused() -> None:
    instance = parse_instance(document())
    with pytest.raises(InvalidFile):
        format_instance(replace(instance, value=np.array([Fraction(1, 3)], np.object_)))
    with pytest.raises(InvalidFile):
        format_instance(replace(instance, ids=(("a", 1),)))


@pytest.mark.parametrize(
    ("text", "witness"),
    [
        pytest.param("{\n oops", 2, id="no JSON"),
        pytest.param("[]", "the document", id="no object"),
        pytest.param("{}", "format", id="no format"),
        pytest.param(document(format="other"), "format", id="another format"),
        pytest.param(document(version=2), "version", id="a newer version"),
        pytest.param(document(version=True), "version", id="a boolean version"),
        pytest.param(document(price=1), "the document.price", id="unknown field"),
        pytest.param(document(tradeoff="1"), "tradeoff", id="text for a number"),
        pytest.param(document(candidates={}), "candidates", id="no list"),
        pytest.param(document(candidates=[3]), "candidates[0]", id="no candidate"),
        pytest.param(document(candidates=[{"id": "a"}]), "candidates[0].value", id="no value"),
        pytest.param(document(candidates=[{"value": 1}]), "candidates[0].id", id="no id"),
        pytest.param(document(candidates=[{"id": 1.5, "value": 1}]), "candidates[0].id", id="id a decimal"),
        pytest.param(document(candidates=[{"id": None, "value": 1}]), "candidates[0].id", id="id null"),
        pytest.param(
            document(candidates=[{"id": 1, "value": True}]), "candidates[0].value", id="value a boolean"
        ),
        pytest.param(
            document(candidates=[{"id": 1, "value": 1, "require": []}]),
            "candidates[0].require",
            id="misspelt",
        ),
        pytest.param(
            document(candidates=[{"id": 1, "value": 1, "requires": "a"}]),
            "candidates[0].requires",
            id="requires text",
        ),
        pytest.param(
            document(candidates=[{"id": 1, "value": 1, "requires": [[]]}]),
            "candidates[0].requires",
            id="requires a list",
        ),
        pytest.param(
            document(candidates=[{"id": 1, "value": 1, "executable": 1}]),
            "candidates[0].executable",
            id="executable 1",
        ),
        pytest.param(
            document(candidates=[{"id": 1, "value": float("nan")}]), "candidates[0].value", id="NaN"
        ),
        pytest.param(document(tradeoff=float("-inf")), "tradeoff", id="Infinity"),
        pytest.param(
            document(candidates=[{"id": 1, "requires": [float("nan")]}]),
            "candidates[0].requires[0]",
            id="NaN for an id",
        ),
        pytest.param(document(version=1.0), "version", id="a decimal version"),
        pytest.param('{"format": 1, "format": 2}', "format", id="a field twice"),
        pytest.param(
            '{"candidates": [{"id": "a"}, {"id": "b", "value": 1, "value": {"a": NaN}}]}',
            "candidates[1].value",
            id="a field of a candidate twice",
        ),
        pytest.param('{"a": {"b": NaN}, "a": 1}', "a", id="NaN in what is given twice"),
        pytest.param('{"candidates": [\n' + "[" * 100_000, 2, id="too deep"),
        pytest.param("9" * 100_000, "the document", id="too long a number"),
        pytest.param(
            '{"candidates": [{"value": -' + "9" * 5000 + "}]}", "candidates[0].value", id="5000 digits"
        ),
        pytest.param('{"tradeoff": 1e99999999999999999999}', "tradeoff", id="too large an exponent"),
    ],
)
def test_malformed_files_name_their_place(text: str, witness: object) -> None:
    with pytest.raises(InvalidFile) as caught:
        parse_instance(text)
    assert witness is None or caught.value.witness == witness


def test_numbers_beyond_floats_are_numbers() -> None:
    text = document(candidates=[{"id": "a", "value": 7}, {"id": "b", "value": -8}]).replace("7", "7e400")
    assert select(parse_instance(text.replace("-8", "-8e400"))).objective == 7 * 10**400
    with pytest.raises(InvalidInstance, match="5000") as caught:
        parse_instance(text.replace("-8", "8e5001"))
    assert caught.value.witness == "b"


def test_numbers_of_numpy_are_written_as_numbers() -> None:
    numbers: dict[str, Any] = {"tradeoff": np.float64(0.3), "budget": np.int64(7)}
    instance = replace(parse_instance(document()), **numbers)
    again = parse_instance(format_instance(instance))
    assert (float(again.tradeoff), again.budget) == (0.3, 7)
    assert (type(instance.tradeoff), type(instance.budget)) == (float, int)
    narrow = replace(instance, tradeoff=cast(float, np.float32(0.3)))
    assert (narrow.tradeoff, type(narrow.tradeoff)) == (0.3, float)
    assert type(select(narrow).objective) is float


def test_an_id_too_long_to_write_is_refused() -> None:
    with pytest.raises(InvalidFile):
        format_instance(replace(parse_instance(document()), ids=(10**5000,)))


@pytest.mark.parametrize(
    ("candidates", "witness"),
    [
        ([{"id": "a", "value": 1}, {"id": "a", "value": 1}], "a"),
        ([{"id": "a", "value": 1, "requires": ["b"]}], ("a", "b")),
        ([{"id": "a", "value": 1, "requires": ["a", 0]}], ("a", 0)),
        ([{"id": "a", "value": 1, "cost": -1}], "a"),
    ],
)
def test_impossible_instances_name_their_witness(candidates: list[object], witness: object) -> None:
    with pytest.raises(InvalidInstance) as caught:
        parse_instance(document(candidates=candidates))
    assert caught.value.witness == witness


def test_a_number_of_a_dozen_bytes_does_not_fill_the_memory() -> None:
    with pytest.raises(InvalidInstance):
        parse_instance(document().replace('"value": 1', '"value": 1e999999999'))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.json", tmp_path):
        with pytest.raises(InvalidFile) as caught:
            read_instance(path)
        assert caught.value.witness == str(path)


def test_a_file_that_is_no_text_is_named_with_its_line(tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidFile, match=f"line 1: {binary} is no UTF-8") as caught:
        read_instance(binary)
    assert caught.value.witness == 1
