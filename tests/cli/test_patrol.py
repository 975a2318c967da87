"""A patrol that stays: the first round at once, with what has happened, then the scheduler's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memorepair.facade import Memory

if TYPE_CHECKING:
    from tests.cli.conftest import Shell


def test_a_patrol_that_stays_makes_a_round_at_once(empty: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    blocking = pytest.importorskip("apscheduler.schedulers.blocking")
    monkeypatch.setattr(blocking.BlockingScheduler, "start", lambda self: None)
    with Memory.open(empty.db) as memory:
        memory.patrol()
    told = empty.told("patrol", "--every", "5", "--after", "import")
    assert set(told["checks"]) == {"structure whole", "duplicates whole", "conflicts daily"}
    assert empty.told("patrol", "--every", "5", "--after", "flood", code=2)["error"]["type"] == "InvalidInput"
    assert empty.told("patrol", "--every", "0", code=2)["error"]["type"] == "InvalidInput"
