"""init and import make a memory; what is there already is left alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from memorepair import __version__
from memorepair.adapters.registry import KINDS

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


LOCK = """
version = 1
[[package]]
name = "app"
version = "1.0"
dependencies = [{ name = "web" }, { name = "gone" }]
[[package]]
name = "web"
version = "2.0"
"""


def test_a_kind_of_the_registry_tells_stores_once_and_refuses(empty: Shell, tmp_path: Path) -> None:
    file = tmp_path / "uv.lock"
    file.write_text(LOCK)
    told = empty.told("import", "uv-lock", str(file), "--dry-run")
    assert not empty.db.exists()
    assert (told["new"], told["dry_run"], told["recorded"]) == (2, True, {"packages": 2, "links": 1})
    assert told["missing"][0]["examples"] == ["app==1.0 -> gone"]
    assert empty.told("import", "uv-lock", str(file))["new"] == 2
    with empty.unchanged():
        assert empty.told("import", "uv-lock", str(file))["same"] == 2
        assert "nothing was changed" in empty.shown("import", "uv-lock", str(file), "--dry-run")
    empty.run("delete", "uv-lock::web==2.0", "--reason", "yanked")
    refused = empty.told("import", "uv-lock", str(file), code=1)["refused"]
    assert {one["key"]: one["witness"] for one in refused} == {"uv-lock::app==1.0": 1, "uv-lock::web==2.0": 1}
    assert "refused" in empty.shown("import", "uv-lock", str(file), code=1)
    file.write_text("[")
    with empty.unchanged():
        error = empty.told("import", "uv-lock", str(file), code=2)["error"]
    assert (error["type"], error["witness"]) == ("InvalidFile", "uv.lock")


def test_every_kind_says_what_it_reads(empty: Shell) -> None:
    for kind in KINDS.values():
        assert "--dry-run" in empty.shown("import", kind.name, "--help")
