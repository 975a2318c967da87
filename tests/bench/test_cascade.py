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
def measured(request: pytest.FixtureRequest) -> dict[str, Any]:
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
    assert set(result) == {request.param}
    figures: dict[str, Any] = result[request.param]
    return figures


def test_what_withdraws_the_cascade_leaves_nothing_stale(measured: dict[str, Any]) -> None:
    assert len(measured) == 14
    for system, row in measured.items():
        if system in NAIVE:
            assert row["exposure"] > 0.2
            assert row["stale_use"] > 0
        else:
            assert (row["exposure"], row["stale_use"], row["wrongly_withdrawn"]) == (0, 0, 0), system


def test_a_price_is_kept_and_greedy_never_beats_the_cut(measured: dict[str, Any]) -> None:
    figures = measured
    assert figures["repair_all"]["recovered_value"] == 1
    assert figures["mincut"]["cost_ratio"] <= 0.57
    assert figures["mincut"]["recovered_value"] <= figures["mincut"]["optimum_bound"] + 1e-4
    assert figures["mincut_budget"]["cost_ratio"] <= 0.57
    assert 0 < figures["mincut_cutoff"]["cost_saved"] < 1
    for name in ("greedy_ratio", "greedy_cone", "greedy_marginal"):
        assert all(
            0 <= share <= figures[name]["missed"]["worst"] + 1e-6 for _, share in figures[name]["missed_at"]
        )
    costs = [cost for _, cost, _ in figures["mincut"]["frontier"]]
    assert costs == sorted(costs, reverse=True)


def test_each_meaning_of_support_spares_what_its_label_grants(measured: dict[str, Any]) -> None:
    told = measured["mincut_evidence"]["semantics"]
    assert [one["exposure"] for one in told.values()] == [0, 0, 0]
    assert told["any"]["spared_share"] == 0
    assert told["any"]["spared_share"] <= told["alternatives"]["spared_share"] <= told["last"]["spared_share"]
    assert told["last"]["spared_share"] > 0
