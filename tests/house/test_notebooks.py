"""Every notebook runs from top to bottom, asserts what it says, and is kept without its output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = [
    "cascade_experiment",
    "closure_by_cut",
    "comparing_solvers",
    "price_and_budget",
    "recovering_a_run",
    "where_greedy_goes_wrong",
]


def cells(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    return found


def test_these_are_all() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.ipynb")) == NOTEBOOKS


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs(name: str, tmp_path: Path) -> None:
    # The code of all cells as one program: what a kernel would do in order, without needing one.
    program = tmp_path / "notebook.py"
    code = ["".join(cell["source"]) for cell in cells(name) if cell["cell_type"] == "code"]
    program.write_text("\n\n".join(code) + "\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", str(program)],
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_asserts_and_keeps_no_output(name: str) -> None:
    found = cells(name)
    assert found[0]["cell_type"] == "markdown"
    assert len({cell["id"] for cell in found}) == len(found)
    code = [cell for cell in found if cell["cell_type"] == "code"]
    assert any("assert " in line for cell in code for line in cell["source"])
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
