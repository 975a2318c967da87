"""plan says what repair does; repair ends clean or with what stays withdrawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

PROFILE, GREETING = "user/42::profile", "user/42::greeting"


def test_plan_names_every_candidate_and_changes_nothing(corrected: Shell) -> None:
    with corrected.unchanged():
        told = corrected.told("plan", "1")
        assert {one["key"]: one["reason"] for one in told["candidates"]} == {
            PROFILE: "chosen",
            GREETING: "chosen",
        }
        assert (told["status"], told["verified"], told["waves"]) == ("optimal", True, 2)
        assert PROFILE in corrected.shown("plan", "1")
        assert corrected.told("repair", "1", "--dry-run") == told


def test_repair_brings_back_what_is_validated(corrected: Shell) -> None:
    told = corrected.told("repair", "1")
    assert (told["status"], told["republished"], told["left"]) == ("closed", 2, 0)
    assert "Lyon" in corrected.told("get", PROFILE)["content"]
    corrected.told("status")


def test_repair_shows_a_summary(corrected: Shell) -> None:
    assert "nothing but the roots" in corrected.shown("repair", "1", "--ties", "most", "--wait", "1")


def test_what_is_not_worth_its_price_stays_out_until_it_is(corrected: Shell) -> None:
    told = corrected.told("repair", "1", "--tradeoff", "1000000", code=1)
    assert (told["status"], told["left"], told["cost"]) == ("closed_partial", 2, 0.0)
    assert corrected.told("explain", PROFILE)["listing"]["state"] == "withdrawn"
    assert "price" in corrected.shown("repair", "1", "--tradeoff", "1000000", code=1)
    assert corrected.told("repair", "1", "--solver", "exhaustive")["status"] == "closed"


def test_a_plan_at_no_price_takes_all(corrected: Shell) -> None:
    told = corrected.told("plan", "1", "--tradeoff", "0", "--ties", "most", "--solver", "pseudoflow")
    assert told["cost"] == told["cost_all"]


def test_a_budget_is_kept_and_told(corrected: Shell) -> None:
    free = corrected.told("plan", "1", "--tradeoff", "0", "--ties", "most")
    costs = {one["key"]: one["cost"] for one in free["candidates"]}
    budget = str(costs[PROFILE])
    with corrected.unchanged():
        told = corrected.told("plan", "1", "--budget", budget)
        assert {one["key"]: one["reason"] for one in told["candidates"]} == {
            PROFILE: "chosen",
            GREETING: "budget",
        }
        assert (told["budget"], told["cost"], told["tradeoff"]) == (float(budget), float(budget), 0)
        assert told["status"] in ("optimal", "feasible")
        assert told["objective"] <= told["bound"]
        assert told["verified"] is True
        assert corrected.told("repair", "1", "--dry-run", "--budget", budget) == told
        shown = corrected.shown("plan", "1", "--budget", budget)
        assert "beyond the budget" in shown
        assert "tokens" in shown
    report = corrected.told("repair", "1", "--budget", budget, code=1)
    assert (report["budget"], report["plan"]["cost"]) == (float(budget), float(budget))
    assert (report["republished"], report["left"]) == (1, 1)
    assert report["over_budget"] == max(0, report["cost"] - report["budget"])
    assert "foreseen" in corrected.shown("repair", "1", "--budget", "0", code=1)
    assert corrected.told("repair", "1", "--budget", "1e9", "--tradeoff", "0.1")["status"] == "closed"


@pytest.mark.parametrize("budget", ["-1", "nan", "inf", "many", "1e400", ""])
def test_a_bad_budget_is_refused_and_changes_nothing(corrected: Shell, budget: str) -> None:
    with corrected.unchanged():
        for verb in ("plan", "repair"):
            assert corrected.told(verb, "1", f"--budget={budget}", code=2)["error"]["type"] == "InvalidInput"
        for more in (("--solver", "greedy"), ("--ties", "most"), ("--solver", "repair-all")):
            told = corrected.told("repair", "1", "--budget", "5", *more, code=2)
            assert told["error"]["type"] == "InvalidInput"
