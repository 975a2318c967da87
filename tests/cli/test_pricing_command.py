"""`memorepair pricing show`: what goes into prices, and what operators have cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memorepair import Memory
from memorepair.memory.exchange import OperatorRun

if TYPE_CHECKING:
    from tests.cli.conftest import Shell


def test_prices_and_costs_are_shown_and_nothing_is_changed(corrected: Shell) -> None:
    run = OperatorRun(operator="summarise@1", unit="usd", size=300.0, cost=40.0, seconds=1.0)
    with Memory.open(corrected.db) as memory:
        memory.store.note_operator_runs([run, run])
    with corrected.unchanged():
        told = corrected.told("pricing", "show")
        shown = corrected.shown("pricing", "show")
    assert told["pricing"]["unit"] == "tokens"
    assert told["operators"] == [
        {
            "operator": "summarise@1",
            "unit": "usd",
            "from_size": 256,
            "below_size": 512,
            "runs": 2,
            "succeeded": 2,
            "success": 0.75,
            "measured": 2,
            "cost": 40.0,
            "spread": 0.0,
            "seconds": 1.0,
        }
    ]
    assert "256 to 511" in shown
    assert "40" in shown


def test_a_memory_that_has_repaired_nothing_has_no_costs(corrected: Shell) -> None:
    assert corrected.told("pricing", "show")["operators"] == []
    assert "half_life_days" in corrected.shown("pricing", "show")
