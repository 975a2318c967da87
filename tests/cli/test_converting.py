"""convert carries an instance between files, or leaves everything as it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

CANDIDATES: list[dict[str, Any]] = [
    {"id": "orders", "value": 2, "cost": 1},
    {"id": "refund", "value": 5.5, "cost": 4, "requires": ["orders"]},
    {"id": "dear", "value": 1, "cost": 9},
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "instance.json"
    about = {"format": "memorepair.selection", "version": 1, "tradeoff": 0.3, "candidates": CANDIDATES}
    path.write_text(json.dumps(about), encoding="utf-8")
    return path


@pytest.mark.parametrize("suffix", [".node-link.json", ".npz", ".lp", ".mps", ".upit"])
def test_a_converted_file_has_the_same_optimum(empty: Shell, file: Path, suffix: str) -> None:
    target = file.with_name(f"other{suffix}")
    told = empty.told("convert", str(file), str(target))
    assert (told["read"], told["candidates"], told["prerequisites"]) == ("json", 3, 1)
    answer = empty.told("select", str(target))
    assert (answer["objective"], len(answer["chosen"]), answer["verified"]) == (6, 2, True)


def test_formats_can_be_named(empty: Shell, file: Path) -> None:
    bare = file.with_name("bare")
    shown = empty.shown("convert", str(file), str(bare), "--to", "dimacs")
    assert "(json)" in shown
    assert "(dimacs): 3 candidates" in shown
    again = file.with_name("again.max")
    told = empty.told("convert", str(bare), str(again), "--from", "dimacs")
    assert (told["nodes"], told["arcs"]) == (5, 4)
    assert again.read_text().splitlines() == [
        line for line in bare.read_text().splitlines() if not line.startswith("c")
    ]


@pytest.mark.parametrize(
    ("source", "target", "options", "type"),
    [
        ("instance.json", "out.txt", (), "InvalidInput"),
        ("instance.json", "out", ("--to", "xml"), "UnknownId"),
        ("instance.json", "instance.json", (), "InvalidInput"),
        ("instance.json", "out.cpit", (), "InvalidFile"),
        ("instance.json", "no/where.lp", (), "InvalidFile"),
        ("absent.json", "out.lp", (), "InvalidFile"),
        ("instance.json", "out.lp", ("--from", "mps"), "InvalidFile"),
        ("net.max", "out.json", (), "InvalidFile"),
    ],
)
def test_what_cannot_be_converted_leaves_no_file(
    empty: Shell, file: Path, source: str, target: str, options: tuple[str, ...], type: str
) -> None:
    file.with_name("net.max").write_text("p max 2 1\nn 1 s\nn 2 t\na 1 2 3\n", encoding="ascii")
    before = {path: path.read_bytes() for path in file.parent.iterdir()}
    told = empty.told("convert", str(file.with_name(source)), str(file.parent / target), *options, code=2)
    assert told["error"]["type"] == type
    assert told["error"]["witness"] is not None
    assert {path: path.read_bytes() for path in file.parent.iterdir()} == before


def test_a_network_is_not_selected_from(empty: Shell, file: Path) -> None:
    network = file.with_name("net.max")
    empty.run("convert", str(file), str(network))
    assert empty.told("select", str(network), code=2)["error"]["type"] == "InvalidFile"


def test_a_broken_file_names_its_line(empty: Shell, file: Path) -> None:
    network = file.with_name("net.max")
    network.write_text("p max 2 1\nn 1 s\nn 2 t\na 1 2 x\n", encoding="ascii")
    error = empty.told("convert", str(network), str(file.with_name("b.max")), code=2)["error"]
    assert error["witness"] == 4
    assert error["message"].startswith("line 4: ")


def test_explain_says_why(empty: Shell, file: Path) -> None:
    told = empty.told("select", str(file), "--explain", "dear", "--explain", "refund")["explanations"]
    assert [(one["id"], one["reason"]) for one in told] == [
        ("dear", "not worth its price"),
        ("refund", "pays for itself"),
    ]
    assert told[0]["price"] == "1/9"
    shown = empty.shown("select", str(file), "--explain", "dear")
    assert "'dear' is not chosen: with all it needs it brings no more than it costs." in shown
    assert "enters below the tradeoff 1/9" in shown
    error = empty.told("select", str(file), "--explain", "nobody", code=2)["error"]
    assert (error["type"], error["witness"]) == ("UnknownId", "nobody")


def test_explain_works_where_nothing_is_feasible(empty: Shell, file: Path) -> None:
    about = json.loads(file.read_text())
    about["candidates"][0]["executable"] = False
    file.write_text(json.dumps(about))
    told = empty.told("select", str(file), "--required", "refund", "--explain", "dear", code=1)
    assert told["explanations"][0]["path"] == ["refund", "orders"]


def test_a_budget_in_the_file_holds(empty: Shell, file: Path) -> None:
    about = json.loads(file.read_text())
    file.write_text(json.dumps(about | {"budget": 4, "tradeoff": 0}))
    told = empty.told("select", str(file), "--explain", "refund")
    assert (told["chosen"], told["cost"], told["gap"]) == (["orders"], 1, 0)
    assert told["explanations"][0]["reason"] == "beyond the budget"
    about["candidates"][1]["required"] = True
    file.write_text(json.dumps(about | {"budget": 4}))
    assert empty.told("select", str(file), code=1)["status"] == "infeasible"
    assert "more than the budget" in empty.shown("select", str(file), code=1)
