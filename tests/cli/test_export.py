"""export, import jsonl, stats, picture: out and in again; nothing withdrawn without a signature."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from typer.testing import CliRunner

if TYPE_CHECKING:
    from tests.cli.conftest import Shell


def other(shell: Shell) -> Shell:
    return type(shell)(shell.db.with_name("other.db"), CliRunner())


def test_out_and_in_again(shell: Shell, tmp_path: Path) -> None:
    file, second = tmp_path / "out.jsonl", tmp_path / "again.jsonl"
    told = shell.told("export", "jsonl", str(file))
    assert told == {"artifacts": 4, "versions": 4, "content": 4, "entry": None}
    copy = other(shell)
    assert copy.told("import", "jsonl", str(file), "--dry-run", code=2)["error"]["type"] == "InvalidInput"
    assert len(copy.told("import", "jsonl", str(file))["written"]) == 4
    with copy.unchanged():
        assert copy.told("import", "jsonl", str(file))["same"] == 4
        assert "here already" in copy.shown("import", "jsonl", "--dry-run", str(file))
    assert "4 of them with content" in copy.shown("export", "jsonl", str(second)).replace("\n", " ")
    assert second.read_bytes() == file.read_bytes()
    out, _ = copy.run("export", "jsonl", "-")
    assert out.encode() == file.read_bytes()


def test_withdrawn_content_leaves_only_with_a_signature(corrected: Shell, tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    corrected.run("export", "jsonl", str(file))
    assert "Paris" not in file.read_text()
    corrected.told("export", "jsonl", str(file), "--with-withdrawn", code=2)
    assert "Paris" not in file.read_text()
    told = corrected.told("export", "jsonl", str(file), "--with-withdrawn", "--reason", "backup")
    assert told["entry"] is not None
    assert "Paris" in file.read_text()
    assert corrected.told("export", "jsonl", "-", code=2)["error"]["witness"] == "--json"


def test_what_is_refused_is_a_problem(corrected: Shell, shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "old.jsonl"
    line = {
        "scope": ["user", "42"], "id": "home", "version": 1, "current": True, "state": "active",
        "kind": "record", "created_at": 1, "content": "She lives in Paris.", "source": "user",
    }  # fmt: skip
    head = {"format": "memorepair.memory", "version": 1, "content": "served", "artifacts": 1, "versions": 1}
    file.write_text(f"{json.dumps(head)}\n{json.dumps(line)}\n")
    with corrected.unchanged():
        told = corrected.told("import", "jsonl", str(file), "--update", code=1)
        assert told["refused"] == [{"key": "user/42::home", "why": "removed", "witness": 1}]
        assert "removed" in corrected.shown("import", "jsonl", str(file), code=1)
        file.write_text("{")
        assert corrected.told("import", "jsonl", str(file), code=2)["error"]["witness"] == 1


def test_statistics(corrected: Shell) -> None:
    told = corrected.told("stats")
    assert told["scopes"] == [{"scope": ["user", "42"], "count": 4}]
    assert (told["versions"], told["cases"], told["arcs"]) == (5, {"open": 1}, 3)
    assert {one["model"]: one["count"] for one in told["spaces"]} == {"hashed-ngrams": 5}
    assert told["vector_bytes"] == 5 * 4 * 384
    assert min(told["file_bytes"], told["index_bytes"], told["text_characters"]) > 0
    assert "user/42" in corrected.shown("stats")


def test_the_picture_of_a_case(corrected: Shell, tmp_path: Path) -> None:
    file = tmp_path / "case.html"
    corrected.run("repair", "1", code=0)
    assert corrected.told("picture", "1", str(file)) == {"case": 1, "file": str(file)}
    page = file.read_text()
    words = " ".join(ElementTree.fromstring(page).itertext())  # noqa: S314  our own output
    assert "Paris" not in page
    assert all(word in words for word in ("home", "profile", "repaired", "root", "moved"))
    assert corrected.told("picture", "7", str(file), code=2)["error"]["type"] == "UnknownId"
