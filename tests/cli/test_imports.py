"""init and import make a memory; what is there already is left alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from memorepair import __version__

if TYPE_CHECKING:
    from tests.cli.conftest import Shell


def test_init_makes_a_memory_once(empty: Shell) -> None:
    assert empty.told("init", str(empty.db)) == {"db": str(empty.db), "made": True}
    with empty.unchanged():
        assert empty.told("init", str(empty.db))["made"] is False
        assert "already" in empty.shown("init", str(empty.db))
    assert empty.told("status")["artifacts"] == []
    assert "is ready" in empty.shown("init", str(empty.db.with_name("other.db")))


def test_version_and_help(empty: Shell) -> None:
    assert empty.shown("--version") == f"{__version__}\n"
    assert "tau-bench" in empty.shown("import", "--help")
    for command in ("status", "repair", "select", "demo"):
        assert command in empty.shown("--help")
        assert "--json" in empty.shown(command, "--help")


def test_import_of_real_runs(empty: Shell, real_input: Callable[[str], Path]) -> None:
    folder = str(real_input("traces-tau-bench"))
    told = empty.told("import", "tau-bench", folder)
    assert told["read_agreement"]["share"] == 1.0
    assert sum(one["count"] for one in empty.told("status")["artifacts"]) == told["artifacts"]
    other = empty.db.with_name("other.db")
    assert str(told["artifacts"]) in empty.shown("import", "tau-bench", folder, "--db", str(other))
