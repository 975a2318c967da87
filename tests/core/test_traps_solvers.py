"""Which of several optima is the answer depends on nothing but the question."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from memorepair import select
from memorepair.errors import InvalidInput
from memorepair.graphs import MinCutNetwork
from memorepair.solvers import get_solver, solvers

EXACT = [name for name in solvers() if get_solver(name).exact]

HASHING = ["pseudoflow", "networkx", "cbc", "exhaustive"]
"""Python code that could walk a set; the others see arrays only."""

# Three closures are worth 2: {0, 1}, that with {2, 3}, and that with {2, 3, 4, 5}.
ASK = """
from memorepair import select
problem = {"value": [3, -1, 4, -4, 2, -2], "requires": [(0, 1), (2, 3), (4, 5), (5, 2)]}
for name in NAMES:
    for ties in ("fewest", "most"):
        found = select(**problem, ties=ties, solver=name)
        print(name, ties, found.chosen, found.objective)
"""


def test_equal_optima_are_told_apart_under_every_hash_seed() -> None:
    command = [sys.executable, "-c", ASK.replace("NAMES", str(HASHING))]
    runs = [
        subprocess.Popen(
            command, env={"PYTHONHASHSEED": str(seed), "PATH": ""}, stdout=subprocess.PIPE, text=True
        )
        for seed in range(8)
    ]
    answers = {run.communicate()[0] for run in runs}
    assert len(answers) == 1
    lines = answers.pop().splitlines()
    assert {line.split("(")[1] for line in lines if "fewest" in line} == {"0, 1) 2"}
    assert {line.split("(")[1] for line in lines if "most" in line} == {"0, 1, 2, 3, 4, 5) 2"}


@pytest.mark.parametrize("solver", EXACT)
def test_equal_optima_are_told_apart_in_every_run(solver: str) -> None:
    value, requires = [3, -1, 4, -4, 2, -2], [(0, 1), (2, 3), (4, 5), (5, 2)]
    found = {select(value=value, requires=requires, solver=solver).chosen for _ in range(100)}
    assert found == {(0, 1)}


def test_a_sink_outside_the_graph_is_refused() -> None:
    none = np.zeros(0, np.int32)
    for source, sink in ((0, 3), (-1, 2), (0, 0)):
        with pytest.raises(InvalidInput):
            MinCutNetwork(
                n=3, tails=none, heads=none, capacities=none.astype(np.int64), source=source, sink=sink
            )
