"""Retrieval on the command line: figures, alarms, and a scene that is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memorepair.facade import Memory
from memorepair.memory.artifact import Slot

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

WHO = ("--actor", "ops", "--reason", "moved on")
SCOPE = ("--scope", "user/42")


@pytest.fixture
def shell(empty: Shell) -> Shell:
    with Memory.open(empty.db) as memory:
        for n in range(6):
            slot = Slot(entity=f"item {n}", attribute="step", value=str(n), scene="Atlas")
            memory.record(f"deploy step {n}", id=f"a{n}", scope=("user", "42"), slot=slot)
    return empty


def test_figures_of_searches_and_a_scene_that_still_leads(shell: Shell) -> None:
    assert shell.told("retrieval")["hours"] == []
    shell.told("search", "deploy", *SCOPE)
    (hour,) = shell.told("retrieval")["hours"]
    assert (hour["scope"], hour["searches"]) == (["user", "42"], 1)
    assert shell.told("leave", "atlas", *SCOPE, *WHO, "--dry-run")["case"] is None
    assert len(shell.told("leave", "atlas", *SCOPE, *WHO)["keys"]) == 6
    for _ in range(8):
        shell.told("search", "deploy", *SCOPE)
    (alarm,) = shell.told("retrieval", code=1)["alarms"]
    assert alarm["code"] == "old_scene_leads"
    assert "old_scene_leads in user/42" in shell.shown("retrieval", code=1)
    shell.told("undo", "1", *WHO)
    assert "0 rank lower" in shell.shown("leave", "borealis", *SCOPE, *WHO)
    assert shell.told("leave", " ", *SCOPE, *WHO, code=2)["error"]["type"] == "InvalidInput"
