"""The cascade experiment on its generated workloads: what withdraws first leaves nothing stale, others do."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NAIVE = ("root_only", "one_hop", "timestamp")


@pytest.fixture(scope="module", params=["tasks", "deep"])
def measured(request: pytest.FixtureRequest) -> tuple[dict[str, Any], dict[str, Any]]:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "bench.cascade",
            "--quick",
            "--json",
            "--each",
            "1",
            "--workload",
            request.param,
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    return result[request.param], {name: part.get(request.param) for name, part in result["more"].items()}


Measured = tuple[dict[str, Any], dict[str, Any]]


def test_what_withdraws_the_cascade_leaves_nothing_stale(measured: Measured) -> None:
    figures, more = measured
    assert len(figures) == 14
    for system, row in figures.items():
        if system in NAIVE:
            assert row["exposure"] > 0.2
            assert row["stale_use"] > 0
        else:
            assert (row["exposure"], row["stale_use"], row["wrongly_withdrawn"]) == (0, 0, 0), system
    assert more["unsound"] == 0


def test_a_price_is_kept_and_greedy_never_beats_the_cut(measured: Measured) -> None:
    figures, more = measured
    assert figures["repair_all"]["recovered_value"] == 1
    assert figures["mincut"]["cost_ratio"] <= 0.57
    assert figures["mincut"]["recovered_value"] <= figures["mincut"]["optimum_bound"] + 1e-4
    assert figures["mincut_budget"]["cost_ratio"] <= 0.57
    assert 0 < figures["mincut_cutoff"]["cost_saved"] < 1
    assert set(more["margins"]) == {"greedy_ratio", "greedy_cone", "greedy_marginal"}
    assert all(0 <= one["mean"] <= one["worst"] for one in more["margins"].values())
    costs = [cost for _, cost, _ in more["frontier"]]
    assert costs == sorted(costs, reverse=True)
