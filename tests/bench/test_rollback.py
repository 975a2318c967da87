"""The recovery bench on a small extent: what it counts, and what it prints."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bench.rollback.agent import statements
from bench.rollback.airline import airline
from bench.rollback.cases import draw
from bench.rollback.happened import COUNTS, MULTIPLE, cases
from bench.rollback.measure import measure
from bench.rollback.methods import BESIDE, JUDGED_AT_ONCE, METHODS, model_judge
from bench.rollback.migration import migration
from bench.rollback.navigation import journeys
from bench.rollback.worlds import DOMAINS

from memorepair import Memory
from memorepair.repair.operators.regen import Generated, Request

NAMED = {
    *("memorepair", "no_repair", "full_reset", "delete_retrieved", "audit", "judge", "tracing"),
    *("no_evidence", "no_planner", "no_selective"),
}


def test_the_extent_and_the_names_are_those_that_were_set() -> None:
    assert COUNTS == {"shopping": 48, "travel": 49, "support": 53}
    assert (sum(COUNTS.values()), MULTIPLE) == (150, 22)
    assert set(METHODS) - set(BESIDE) == NAMED
    for domain in DOMAINS:
        assert set(domain.siblings) == set(domain.facts)


def test_a_story_is_drawn_from_its_seed_alone() -> None:
    assert draw(DOMAINS[0], 7, 2) == draw(DOMAINS[0], 7, 2)
    assert statements("2025-01-01; colour: navy; seat: aisle") == [("colour", "navy"), ("seat", "aisle")]
    assert statements("2025-01-01; my seat is aisle") == [("seat", "aisle")]


def test_a_case_is_wrong_before_and_right_after(tmp_path: Path) -> None:
    case = next(cases(tmp_path))
    # Labels come from what was claimed in the clean run, not from arcs: some claims are false, most are not.
    found = measure(tmp_path, case, {name: METHODS[name] for name in ("memorepair", "no_repair", "tracing")})
    ours, nothing, traced = (found[name] for name in ("memorepair", "no_repair", "tracing"))
    assert (ours.recovered, ours.recurred, ours.faults_removed, ours.benign_kept) == (True, False, 1.0, 1.0)
    assert (nothing.recovered, nothing.faults_removed, nothing.calls) == (False, 0.0, 0)
    assert 0 < ours.invalid == nothing.invalid
    assert ours.replay_ratio < traced.replay_ratio
    with Memory.open(case.directory / "case.db", create=False) as memory:
        assert len(memory.runs()) == 2

    # A judge that flags the first claim of each batch it is shown.
    class First:
        def generate(self, request: Request) -> Generated:
            return Generated(text="1", cites=(request.sources[0].key,))

    judged = measure(tmp_path, case, {"judge_model": model_judge(First())})["judge_model"]
    assert judged.predicted == -(-len(case.truth.claims) // JUDGED_AT_ONCE)


def test_a_journey_and_a_real_run_are_recovered(tmp_path: Path, real_input: Callable[[str], Path]) -> None:
    figures = measure(tmp_path, next(journeys(tmp_path)), {"memorepair": METHODS["memorepair"]})
    assert figures["memorepair"].recovered
    told = airline(real_input("traces-tau-bench"), limit=2)
    assert (told["cases"], told["recovery"]) == (2, 1.0)
    assert told["tool_calls_again"] < told["tool_calls"]


def test_after_the_real_migration_exactly_the_marked_calls_run_again(
    real_input: Callable[[str], Path],
) -> None:
    told = migration(real_input("traces-tau-bench"), limit=3)
    assert told["exact"] == told["same_addresses"] == told["same_database"] == told["runs"] == 3
    assert told["tool_calls_again"] == 3
