"""Imports run one way; the contracts stand in pyproject.toml."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINT = Path(sys.executable).with_name("lint-imports")


def lint(where: Path) -> subprocess.CompletedProcess[str]:
    """Check the package `memorepair` in the folder `where`, which import-linter puts first on the path."""
    return subprocess.run(
        [LINT, "--config", ROOT / "pyproject.toml", "--no-cache"],
        cwd=where,
        capture_output=True,
        text=True,
        check=False,
    )


def test_imports_run_one_way() -> None:
    done = lint(ROOT / "src")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("room", "wrong"),
    [
        ("graphs/digraph.py", "import memorepair.problems"),
        ("solvers/greedy.py", "import memorepair.reductions.mincut"),
        ("memory/store.py", "import memorepair.repair.events"),
        ("selection.py", "def late() -> None:\n    import memorepair.cli"),
        ("newcomer.py", "import memorepair.errors"),
    ],
)
def test_a_wrong_turn_is_caught(room: str, wrong: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src" / "memorepair", tmp_path / "memorepair")
    with (tmp_path / "memorepair" / room).open("a", encoding="utf-8") as module:
        module.write(f"\n{wrong}\n")
    done = lint(tmp_path)
    assert done.returncode == 1
    assert "Imports run one way BROKEN" in done.stdout or "newcomer" in done.stdout
