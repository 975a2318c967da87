"""Letta agent files: every reference resolves, and what is named and not there is told by name."""

from __future__ import annotations

import json
import lzma
import random
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memorepair.adapters import letta
from memorepair.adapters.importing import bring
from memorepair.adapters.registry import import_kind
from memorepair.errors import InvalidFile
from memorepair.facade import Memory
from memorepair.health import check_up
from memorepair.memory.artifact import Json

REFERENCES = ("block_ids", "tool_ids", "in_context_message_ids", "source_ids", "folder_ids", "group_ids")
REMOVED = 50


@pytest.fixture(scope="module")
def folder(real_input: Callable[[str], Path]) -> Path:
    return real_input("memory-letta-agent-files")


@pytest.fixture(scope="module")
def documents(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for path in sorted(folder.glob("*.af.json.xz")):
        read = json.loads(lzma.decompress(path.read_bytes()))
        found[path.name.removesuffix(".af.json.xz")] = json.loads(read) if isinstance(read, str) else read
    return found


def named(documents: dict[str, Any]) -> list[tuple[str, str]]:
    """(file, id) of every reference of an agent."""
    return [
        (name, id)
        for name, document in documents.items()
        for agent in document["agents"]
        for member in REFERENCES
        for id in agent.get(member) or ()
    ]


def targets(documents: dict[str, Any]) -> list[tuple[str, str]]:
    """50 of them, each once; the same every time."""
    return random.Random(1).sample(sorted(set(named(documents))), REMOVED)


def test_every_reference_resolves(folder: Path, documents: dict[str, Any]) -> None:
    recording = import_kind("letta").read(folder)
    assert recording.missing == ()
    links = {(link.tail, link.head) for link in recording.links}
    assert len(documents) == 8
    assert {f"{name}/{id}" for name, id in named(documents)} <= {tail for tail, _ in links}
    assert recording.recorded["agents"] == sum(len(document["agents"]) for document in documents.values())


def test_each_removed_target_is_told_by_name(documents: dict[str, Any], tmp_path: Path) -> None:
    for name, id in targets(documents):
        document = json.loads(json.dumps(documents[name]))
        for part in ("blocks", "tools", "groups"):
            document[part] = [one for one in document[part] if one["id"] != id]
        for agent in document["agents"]:
            agent["messages"] = [one for one in agent["messages"] if one["id"] != id]
        (tmp_path / f"{name}.af").write_text(json.dumps(document), encoding="utf-8")
        missing = letta.read(tmp_path / f"{name}.af").missing
        assert any(f"{name}/{id} -> " in where for one in missing for where in one.examples), (name, id)


def test_each_target_that_a_memory_has_lost_is_found_by_a_check_up(
    folder: Path, documents: dict[str, Any], tmp_path: Path
) -> None:
    recording = letta.read(folder)
    children = Counter(link.tail for link in recording.links)
    with Memory.open(tmp_path / "agent.db", embedder=None) as memory:
        bring(memory, recording, scope=("letta",))

        def dangling() -> int:
            found = check_up(memory.store, detectors=["provenance"]).findings
            return sum(int(str(one.measured["arcs"])) for one in found if one.code == "dangling_reference")

        lost = dangling()
        assert lost == 0
        for name, id in targets(documents):
            with closing(sqlite3.connect(tmp_path / "agent.db")) as db, db:
                db.execute(
                    "DELETE FROM version WHERE aid = (SELECT aid FROM artifact WHERE id = ?)",
                    (f"{name}/{id}",),
                )
            now = dangling()
            assert now == lost + children[f"{name}/{id}"], (name, id)
            lost = now


MESSAGES: list[Json] = [
    {"id": "m0", "role": "user", "content": [{"type": "text", "text": "A table in Lyon?"}]},
    {
        "id": "m1",
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}],
    },
    {"id": "m2", "role": "tool", "content": "Bec-9 is open", "tool_call_id": "c1"},
    {"id": "m3", "role": "tool", "content": "lost", "tool_call_id": "c9"},
]


def agent(**more: Json) -> Json:
    return {"agents": [{"id": "agent-0", "name": "Ada", "messages": MESSAGES, **more}]}


def test_messages_become_typed_steps_and_references_to_nothing_are_told(tmp_path: Path) -> None:
    path = tmp_path / "ada.af"
    # Some files hold their JSON as a text.
    path.write_text(
        json.dumps(json.dumps(agent(block_ids=["b1"], in_context_message_ids=["m0"]))), encoding="utf-8"
    )
    recording = letta.read(path)
    assert {(link.tail, link.head) for link in recording.links} == {
        ("ada/m1", "ada/m2"),
        ("ada/m0", "ada/agent-0"),
    }
    assert {one.what: one.examples for one in recording.missing} == {
        "block_ids that name what is not in the file": ("ada/b1 -> ada/agent-0",),
        "results without a call": ("ada/m3",),
    }


@pytest.mark.parametrize(
    "broken",
    [
        [],
        "text",
        {},
        {"agents": 3},
        {"agents": [{}]},
        agent(block_ids=[4]),
        agent(messages=[{"id": "m", "role": "oracle", "content": ""}]),
        agent(messages=[{"id": "agent-0", "role": "user", "content": ""}]),
    ],
)
def test_what_is_no_agent_file_is_refused(tmp_path: Path, broken: Json) -> None:
    (tmp_path / "x.af").write_text(json.dumps(broken), encoding="utf-8")
    with pytest.raises(InvalidFile):
        letta.read(tmp_path / "x.af")
