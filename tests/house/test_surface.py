"""The public surface: what a door lists is there, in order, documented."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import types
import typing
from pathlib import Path

import pytest

import memorepair

CORE = ["memorepair", "memorepair.graphs", "memorepair.reductions", "memorepair.solvers"]
PACKAGES = ["memorepair"] + [
    found.name
    for found in pkgutil.walk_packages(memorepair.__path__, "memorepair.")
    if found.ispkg and found.name != "memorepair.cli"  # its surface is the command line
]
DOORS = [name for name in PACKAGES if hasattr(importlib.import_module(name), "__all__")]
SOURCE = Path(memorepair.__file__).parent


def kind_then_name(name: str) -> tuple[int, str]:
    """Constants, then classes, then the rest: the order ruff keeps."""
    return (0 if name.isupper() else 1 if name[:1].isupper() else 2), name


def is_documented(name: str, value: object, room: types.ModuleType) -> bool:
    if inspect.isclass(value) or inspect.isfunction(value):
        return bool(value.__doc__)
    if inspect.ismodule(value):
        return bool(value.__doc__)
    if typing.get_args(value):  # an alias means its members
        return all(is_documented(name, member, room) for member in typing.get_args(value))
    return f"`{name}`" in (room.__doc__ or "")


def test_the_core_has_doors() -> None:
    assert set(CORE) <= set(DOORS)


@pytest.mark.parametrize("name", DOORS)
def test_a_door_lists_names_that_exist_in_order(name: str) -> None:
    room = importlib.import_module(name)
    listed: list[str] = room.__all__
    assert listed == sorted(set(listed), key=kind_then_name)
    assert [entry for entry in listed if not hasattr(room, entry)] == []


@pytest.mark.parametrize("name", DOORS)
def test_all_that_a_door_lists_is_documented(name: str) -> None:
    room = importlib.import_module(name)
    undocumented = [
        entry
        for entry in room.__all__
        if not entry.startswith("__") and not is_documented(entry, getattr(room, entry), room)
    ]
    assert undocumented == []


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_says_in_one_line_what_it_is(path: Path) -> None:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert text, "no docstring"
    first, *rest = text.splitlines()
    assert first.endswith((".", ":", "?"))
    assert not rest or not rest[0], "a blank line follows the first"
