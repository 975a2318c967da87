"""`import memorepair` loads numpy and scipy, nothing else that was installed."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

LOADED = """
import json, sys
before = set(sys.modules)
import {module}
new = {{name: sys.modules[name] for name in set(sys.modules) - before}}
print(json.dumps({{name: getattr(module, "__file__", None) for name, module in new.items()}}))
"""
HEAVY = {"matplotlib", "networkx", "numba", "ortools", "pandas", "pulp", "rich", "sqlalchemy", "typer"}


def loaded_by(module: str) -> dict[str, str | None]:
    """What an interpreter loads for ``import module``: each name with its file."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", LOADED.format(module=module)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    loaded: dict[str, str | None] = json.loads(done.stdout)
    return loaded


@pytest.mark.parametrize(
    "module",
    ["memorepair", "memorepair.graphs", "memorepair.reductions", "memorepair.solvers", "memorepair.facade"],
)
def test_importing_loads_nothing_heavy(module: str) -> None:
    assert loaded_by(module).keys() & HEAVY == set()


def test_importing_loads_numpy_and_scipy_only() -> None:
    installed = Path(sysconfig.get_path("platlib"))
    files = [Path(file) for file in loaded_by("memorepair").values() if file]
    folders = {file.relative_to(installed).parts[0] for file in files if file.is_relative_to(installed)}
    assert folders - {"memorepair"} == {"numpy", "scipy"}
