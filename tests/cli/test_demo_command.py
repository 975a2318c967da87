"""The demo as a command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.cli.conftest import Shell


def test_demo_tells_and_shows(empty: Shell, tmp_path: Path) -> None:
    told = empty.told("demo", "--out", str(tmp_path / "told"))
    assert told["sound"] is True
    assert all(Path(event["picture"]).exists() for event in told["events"])
    assert "Every publication is sound" in empty.shown("demo", "--out", str(tmp_path / "shown"))
    (tmp_path / "file").write_text("")
    assert (
        empty.told("demo", "--out", str(tmp_path / "file" / "out"), code=2)["error"]["type"] == "InvalidFile"
    )
