"""Folders of recordings: each file keeps to itself, whatever the others call the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from memorepair.adapters import dbt, lockfiles, toolbench
from memorepair.adapters.recording import Recording
from memorepair.errors import InvalidFile

NPM = {
    "packages": {
        "": {"name": "app", "dependencies": {"left-pad": "1"}},
        "node_modules/left-pad": {"version": "1.0.0"},
    }
}
UV = """version = 1
[[package]]
name = "a"
version = "1"
dependencies = [{ name = "b" }]
[[package]]
name = "b"
version = "2"
"""
MANIFEST = {
    "sources": {"source.shop.raw": {"resource_type": "source", "name": "raw"}},
    "nodes": {
        "model.shop.clean": {
            "resource_type": "model",
            "name": "clean",
            "depends_on": {"nodes": ["source.shop.raw"]},
        }
    },
}
KINDS: dict[str, tuple[Callable[[Path], Recording], str, str]] = {
    "npm": (lockfiles.read_npm, "package-lock.json", json.dumps(NPM)),
    "uv": (lockfiles.read_uv, "uv.lock", UV),
    "dbt": (dbt.read, "manifest.json", json.dumps(MANIFEST)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_two_files_of_a_folder_stay_apart(kind: str, tmp_path: Path) -> None:
    read, name, text = KINDS[kind]
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
        (tmp_path / place / name).write_text(text, encoding="utf-8")
    (tmp_path / "answers.json").write_text("[]", encoding="utf-8")
    alone = read(tmp_path / "one" / name)
    assert alone.links
    both = read(tmp_path)
    assert [item.id for item in both.items] == [
        f"{place}/{name}/{item.id}" for place in ("one", "two") for item in alone.items
    ]
    assert len(both.links) == 2 * len(alone.links)
    assert all(link.tail.partition("/")[0] == link.head.partition("/")[0] for link in both.links)
    told = {one.what: one.count for one in alone.missing}
    assert {one.what: one.count for one in both.missing} == {what: 2 * count for what, count in told.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_without_such_files_is_refused(kind: str, tmp_path: Path) -> None:
    read, name, _ = KINDS[kind]
    (tmp_path / "answers.json").write_text("[]", encoding="utf-8")
    with pytest.raises(InvalidFile, match=name):
        read(tmp_path)


def test_lists_of_queries_beside_the_trees_are_told_and_left_out(tmp_path: Path) -> None:
    tree = {"answer_generation": {"query": "a table for two?", "function": []}, "tree": {"tree": {}}}
    (tmp_path / "tree.json").write_text(json.dumps(tree), encoding="utf-8")
    (tmp_path / "queries.json").write_text(json.dumps([{"query": "a table?"}]), encoding="utf-8")
    found = toolbench.read(tmp_path)
    assert [item.content for item in found.items] == ["a table for two?"]
    assert any(one.examples == ("queries.json",) for one in found.missing)
    with pytest.raises(InvalidFile):
        toolbench.read(tmp_path / "queries.json")
