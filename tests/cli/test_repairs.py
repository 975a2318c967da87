"""plan says what repair does; repair ends clean or with what stays withdrawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
