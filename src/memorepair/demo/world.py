"""The authored content of the demo: people, their preferences, days, menus, receipts."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TypeAlias, cast

from memorepair.memory.artifact import Json
from memorepair.repair.jsontext import parse

Table: TypeAlias = dict[str, Json]


@cache
def world() -> Table:
    """The whole of ``world.json``."""
    return cast(Table, parse((files("memorepair.demo") / "world.json").read_text(encoding="utf-8")))


def table(*path: str) -> Table:
    """The object at `path`, such as ``table("ada", "records")``."""
    here = world()
    for name in path:
        here = cast(Table, here[name])
    return here


def texts(*path: str) -> dict[str, str]:
    """The object of texts at `path`."""
    return cast("dict[str, str]", table(*path))


def lists(*path: str) -> dict[str, list[str]]:
    """The object of lists of texts at `path`."""
    return cast("dict[str, list[str]]", table(*path))
