"""Trajectories: a patch stands on every edit, a step on what it repeats; order alone links nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from memorepair.adapters.swe_agent import EDITS, READS, REPEATS, SUBMITS, read
from memorepair.errors import InvalidFile
from memorepair.memory.artifact import Json


def step(action: str, observation: str, open_file: str = "n/a") -> dict[str, Json]:
    state = json.dumps({"open_file": open_file, "working_dir": "/repo"})
    return {"action": action, "observation": observation, "thought": "", "state": state}


def written(tmp_path: Path, *steps: dict[str, Json], **more: Json) -> Path:
    path = tmp_path / "fix.traj"
    history: Json = [{"role": "user", "content": "It fails."}]
    path.write_text(json.dumps({"trajectory": [*steps], "history": history, "info": {}, **more}))
    return path


def test_links_of_a_small_trajectory(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        step("find_file sums.py", "/repo/sums.py"),
        step("ls", "README"),
        step("open /repo/sums.py", "1: a+b", "/repo/sums.py"),
        step("edit 1:1", "1: a-b", "/repo/sums.py"),
        step("cat /repo/sums.py", "a-b"),
        step("submit", "diff"),
        info={"submission": "- a+b\n+ a-b"},
    )
    recording = read(path)
    links = {(link.tail[4:], link.head[4:]) for link in recording.links if link.rule == REPEATS}
    assert links == {("0/observation", "2/action"), ("0/observation", "4/action")}
    assert recording.inferred == {READS: 5, REPEATS: 2, EDITS: 1, SUBMITS: 2}
    graph = recording.graph()
    assert "fix/1/observation" not in graph.sources(["fix/4/action"]) or READS in recording.inferred
    assert "fix/3/observation" in graph.sources(["fix/patch"])
    assert "fix/4/observation" not in graph.sources(["fix/patch"])


def test_real_trajectories_have_issue_steps_and_patch(real_input: Callable[[str], Path]) -> None:
    folder = real_input("traces-swe-agent")
    recording = read(folder)
    files = len(list(folder.glob("*.traj.xz")))
    assert recording.recorded["issues"] == recording.recorded["patches"] == files
    assert recording.recorded["steps"] == recording.recorded["observations"]
    graph = recording.graph()
    for item in recording.items:
        if item.what == "patches":
            trajectory = item.id.removesuffix("patch")
            assert f"{trajectory}issue" in graph.sources([item.id])
            assert all(id.startswith(trajectory) for id in graph.sources([item.id]))


@pytest.mark.parametrize("wrong", ["{}", '{"trajectory": [{"action": 1}]}', '{"trajectory": {}}', "no"])
def test_what_is_malformed_is_told_with_its_place(tmp_path: Path, wrong: str) -> None:
    path = tmp_path / "bad.traj"
    path.write_text(wrong)
    with pytest.raises(InvalidFile, match=r"bad\.traj"):
        read(path)


def test_an_empty_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="holds no file"):
        read(tmp_path)
