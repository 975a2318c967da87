"""A room's table names its files, all of them and no other."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "memorepair"
HEAD = re.compile(r"^module +what it holds$", re.MULTILINE)


def table(room: Path) -> str:
    return ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8"))) or ""


ROOMS = sorted(place.parent for place in PACKAGE.rglob("__init__.py") if HEAD.search(table(place.parent)))


def test_rooms_have_tables() -> None:
    assert {"memory", "repair", "health", "housekeeping"} <= {room.name for room in ROOMS}


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: str(room.relative_to(PACKAGE)))
def test_the_table_names_each_file_of_the_room(room: Path) -> None:
    rows = re.split(r"^=+ =+\n?", table(room), flags=re.MULTILINE)[2]
    named = [row.split()[0] for row in rows.splitlines() if not row.startswith(" ")]
    files = {file.stem for file in room.glob("*.py") if not file.stem.startswith("__")}
    folders = {inner.parent.name for inner in room.glob("*/__init__.py")}
    assert sorted(named) == sorted(files | folders)
