"""select solves an instance file and checks the proof of what it prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from memorepair import SelectionInstance
from memorepair.formats import write
from memorepair.graphs import generate

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

CANDIDATES: list[dict[str, Any]] = [
    {"id": "orders", "value": 2, "cost": 1},
    {"id": "refund", "value": 5.5, "cost": 4, "requires": ["orders"]},
    {"id": "free", "value": 0},
    {"id": "barred", "value": 9, "executable": False},
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path, CANDIDATES)


def written(folder: Path, candidates: list[dict[str, Any]], **more: Any) -> Path:
    path = folder / "instance.json"
    about = {"format": "memorepair.selection", "version": 1, "tradeoff": 0.3, "candidates": candidates} | more
    path.write_text(json.dumps(about), encoding="utf-8")
    return path


def test_select_prints_choice_and_proof(empty: Shell, file: Path) -> None:
    told = empty.told("select", str(file))
    assert told["chosen"] == ["orders", "refund"]
    assert (told["value"], told["cost"], told["objective"], told["bound"], told["gap"]) == (7.5, 5, 6, 6, 0)
    assert (told["status"], told["verified"], told["barred"]) == ("optimal", True, {"barred": "barred"})
    shown = empty.shown("select", str(file))
    assert "proof verified" in shown
    assert "refund" in shown


def test_what_rounding_could_hide_is_told(empty: Shell, tmp_path: Path) -> None:
    path = written(tmp_path, [{"id": "big", "value": 1e30}, {"id": "tiny", "value": 1e-9}], tradeoff=0)
    told = empty.told("select", str(path))
    assert (told["chosen"], told["status"], told["loss"]) == (["big", "tiny"], "optimal", 0)
    rounded = empty.told("select", str(path), "--solver", "ortools")
    assert (rounded["status"], rounded["chosen"]) == ("feasible", ["big"])
    assert float(rounded["loss"]) > 0
    shown = empty.shown("select", str(path), "--solver", "ortools")
    assert "feasible, bound verified" in shown
    assert {"bound", "gap", "loss"} <= {line.split()[0] for line in shown.splitlines() if line.strip()}


def test_long_answers_are_cut_and_small_numbers_shown(empty: Shell, tmp_path: Path) -> None:
    shown = empty.shown("select", str(written(tmp_path, [{"id": n, "value": 0.001} for n in range(51)])))
    assert "0.001" in shown
    assert "and 1 more" in shown
    assert "\n50 " not in shown


@pytest.mark.parametrize("value", ["1e4999", "-1e-4999", "1e400"])
def test_numbers_of_thousands_of_digits(empty: Shell, tmp_path: Path, value: str) -> None:
    path = tmp_path / "instance.json"
    path.write_text(
        '{"format": "memorepair.selection", "version": 1, '
        f'"candidates": [{{"id": 1, "value": {value}, "required": true}}]}}'
    )
    told = empty.told("select", str(path), "--explain", "1")
    assert (told["chosen"], told["explanations"][0]["chosen"]) == ([1], True)
    assert "optimal" in empty.shown("select", str(path), "--explain", "1")


def test_options_reach_the_solver(empty: Shell, file: Path) -> None:
    assert empty.told("select", str(file), "--ties", "most")["chosen"] == ["orders", "refund", "free"]
    assert empty.told("select", str(file), "--tradeoff", "10")["chosen"] == []
    assert empty.told("select", str(file), "--tradeoff", "10", "--required", "refund")["chosen"] == [
        "orders",
        "refund",
    ]
    assert empty.told("select", str(file), "--solver", "exhaustive")["solver"] == "exhaustive"


def test_no_feasible_selection_is_a_problem_not_an_error(empty: Shell, file: Path) -> None:
    told = empty.told("select", str(file), "--required", "barred", code=1)
    assert (told["status"], told["infeasible"]) == ("infeasible", ["barred"])
    assert "infeasible" in empty.shown("select", str(file), "--required", "barred", code=1)


def test_a_cycle_is_all_or_nothing(empty: Shell, tmp_path: Path) -> None:
    cycle = [{"id": 1, "value": 5, "requires": [2]}, {"id": 2, "value": -1, "requires": [1]}]
    assert empty.told("select", str(written(tmp_path, cycle)))["chosen"] == [1, 2]


@pytest.mark.parametrize(
    ("candidates", "more", "type", "witness"),
    [
        ([{"id": "a", "value": 1, "requires": ["b"]}], {}, "InvalidInstance", None),
        ([{"id": "a", "value": 1}, {"id": "a", "value": 2}], {}, "InvalidInstance", "a"),
        ([{"id": "a", "value": 1, "cost": -1}], {}, "InvalidInstance", "a"),
        ([{"id": "a", "value": float("nan")}], {}, "InvalidFile", "candidates[0].value"),
        ([{"id": "a", "value": float("inf")}], {}, "InvalidFile", "candidates[0].value"),
        ([{"id": "a"}], {}, "InvalidFile", "candidates[0].value"),
        ([{"id": "a", "value": 1, "cots": 1}], {}, "InvalidFile", "candidates[0].cots"),
        ([{"id": "a", "value": 1}], {"tradeoff": -1}, "InvalidInstance", None),
        ([{"id": "a", "value": 1}], {"version": 2}, "InvalidFile", "version"),
        ([{"id": "a", "value": 1}], {"format": "other"}, "InvalidFile", "format"),
    ],
    ids=str,
)
def test_bad_instances_name_their_witness(
    empty: Shell,
    tmp_path: Path,
    candidates: list[dict[str, Any]],
    more: dict[str, Any],
    type: str,
    witness: str | None,
) -> None:
    path = written(tmp_path, candidates, **more)
    error = empty.told("select", str(path), code=2)["error"]
    assert error["type"] == type
    assert error["witness"] == witness or witness is None
    assert error["witness"] is not None
    out, told = empty.run("select", str(path), code=2)
    assert out == ""
    assert "witness: " in told


@pytest.mark.parametrize(
    ("options", "type"),
    [
        (("--tradeoff", "-1"), "InvalidInstance"),
        (("--tradeoff", "nan"), "InvalidInstance"),
        (("--ties", "some"), "InvalidInput"),
        (("--solver", "oracle"), "UnknownId"),
        (("--required", "nobody"), "UnknownId"),
    ],
    ids=str,
)
def test_bad_options(empty: Shell, file: Path, options: tuple[str, ...], type: str) -> None:
    assert empty.told("select", str(file), *options, code=2)["error"]["type"] == type


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff\xfe", b"[" * 100_000], ids=repr)
def test_a_file_that_is_no_instance(empty: Shell, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(content)
    assert empty.told("select", str(path), code=2)["error"]["type"] == "InvalidFile"
    assert empty.told("select", str(tmp_path / "missing.json"), code=2)["error"]["type"] == "InvalidFile"


BUDGETED: list[dict[str, Any]] = [
    {"id": "base", "value": 0, "cost": 2},
    {"id": "skill", "value": 9, "cost": 2, "requires": ["base"]},
    {"id": "small", "value": 3, "cost": 3},
    {"id": "junk", "value": 0, "cost": 1},
    {"id": "gone", "value": 9, "cost": 1, "executable": False},
    {"id": "lost", "value": 9, "cost": 1, "requires": ["gone"]},
]


def test_a_budget_is_kept_proved_and_told(empty: Shell, tmp_path: Path) -> None:
    path = str(written(tmp_path, BUDGETED, tradeoff=0))
    told = empty.told("select", path, "--budget", "4")
    assert (told["chosen"], told["cost"], told["budget"]) == (["base", "skill"], 4, 4)
    assert (told["status"], told["verified"], told["ties"]) == ("optimal", True, None)
    assert told["leaves"] >= 1
    shown = empty.shown("select", path, "--budget", "4")
    assert {"budget", "leaves"} <= {line.split()[0] for line in shown.splitlines() if line.strip()}
    assert empty.told("select", path, "--budget", "0")["chosen"] == []
    held = str(written(tmp_path, BUDGETED, tradeoff=0, budget=3))
    assert empty.told("select", held)["chosen"] == ["small"]
    assert empty.told("select", held, "--budget", "1e9")["cost"] == 7
    over = empty.told("select", held, "--required", "skill", code=1)
    assert (over["status"], over["overrun"]) == ("infeasible", [4])
    assert "more than the budget" in empty.shown("select", held, "--required", "skill", code=1)


def test_a_budgeted_answer_is_explained(empty: Shell, tmp_path: Path) -> None:
    path = str(written(tmp_path, BUDGETED, tradeoff=0.1))
    asked = [part for one in BUDGETED for part in ("--explain", one["id"])]
    told = empty.told("select", path, "--budget", "4", *asked)
    why = {one["id"]: one for one in told["explanations"]}
    assert {id: one["reason"] for id, one in why.items()} == {
        "base": "paid for by dependents",
        "skill": "pays for itself",
        "small": "beyond the budget",
        "junk": "not worth its price",
        "gone": "barred",
        "lost": "barred",
    }
    assert why["base"]["payers"] == [["skill", 0.2]]
    assert why["lost"]["path"] == ["lost", "gone"]
    assert why["small"]["price"] == 1
    for id in ("skill", "small"):
        assert "without a budget" in why[id]["sentence"].lower()
    assert "without a budget" not in why["lost"]["sentence"].lower()


def test_an_unknown_program_is_refused(empty: Shell, file: Path) -> None:
    error = empty.told("select", str(file), "--budget=1", "--ilp=hihgs", code=2)["error"]
    assert error["type"] == "UnknownId"
    assert "highs" in error["message"]


@pytest.mark.parametrize("ilp", ["highs", "highspy", "cp-sat", "cbc", "none"])
def test_any_program_may_look_for_answers(empty: Shell, tmp_path: Path, ilp: str) -> None:
    drawn = generate("prov-1e2")
    instance = SelectionInstance(
        value=drawn.profits(1000),
        cost=np.rint(drawn.cost * 1000).astype(np.int64),
        requires=drawn.requires,
        executable=drawn.executable,
        required=np.zeros(drawn.requires.n, np.bool_),
    )
    path = tmp_path / "file.npz"
    write(instance, path)
    budget = int(instance.cost.sum()) // 5
    told = empty.told("select", str(path), f"--budget={budget}", f"--ilp={ilp}", "--gap=0", "--node-limit=3")
    assert told["verified"]
    assert told["cost"] <= budget
    assert told["objective"] <= told["bound"]
    if ilp in ("cbc", "none"):
        assert told["ilp_bound"] is None


def test_several_budgets(empty: Shell, tmp_path: Path) -> None:
    two = [
        {"id": n, "value": v, "cost": c} for n, v, c in (("a", 4, [1, 5]), ("b", 4, [5, 1]), ("c", 5, [3, 3]))
    ]
    path = str(written(tmp_path, two, tradeoff=0))
    told = empty.told("select", path, "--budget", "6", "--budget", "6", "--explain", "a")
    assert (told["chosen"], told["cost"], told["budget"]) == (["a", "b"], [6, 6], [6, 6])
    assert told["explanations"][0]["price"] is None
    assert empty.told("select", path, "--budget", "5", "--budget", "5")["chosen"] == ["c"]
    assert empty.told("select", path, "--budget", "5", code=2)["error"]["type"] == "InvalidInstance"


@pytest.mark.parametrize(
    "options",
    [
        ("--budget=-1",),
        ("--budget=nan",),
        ("--budget=much",),
        ("--budget=1", "--budget=2"),
        ("--budget=1", "--solver=greedy"),
        ("--budget=1", "--ties=most"),
        ("--budget=1", "--gap=1"),
        ("--budget=1", "--time-limit=-1"),
        ("--gap=0.1",),
        ("--time-limit=1",),
        ("--node-limit=1",),
        ("--ilp=highs",),
    ],
    ids=str,
)
def test_bad_budgets(empty: Shell, file: Path, options: tuple[str, ...]) -> None:
    assert empty.told("select", str(file), *options, code=2)["error"]["type"].startswith("Invalid")
