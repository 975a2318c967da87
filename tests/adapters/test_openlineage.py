"""Events: datasets and jobs are joined over all runs; a fault flows from what was read to what was made."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from memorepair.adapters.openlineage import read
from memorepair.errors import InvalidFile
from memorepair.memory.artifact import Json


def event(
    job: str, kind: str, inputs: tuple[str, ...] = (), outputs: tuple[str, ...] = ()
) -> dict[str, Json]:
    return {
        "eventType": kind,
        "job": {"namespace": "n", "name": job},
        "inputs": [{"namespace": "d", "name": name} for name in inputs],
        "outputs": [{"namespace": "d", "name": name} for name in outputs],
    }


EVENTS = [
    event("load", "START"),
    event("load", "COMPLETE", outputs=("raw",)),
    event("clean", "START", inputs=("raw",), outputs=("tidy",)),
    event("clean", "FAIL"),
    event("watch", "RUNNING", inputs=("tidy",)),
]


@pytest.mark.parametrize("lines", [True, False])
def test_events_in_a_list_or_one_a_line(tmp_path: Path, lines: bool) -> None:
    path = tmp_path / "events.json"
    path.write_text("\n".join(map(json.dumps, EVENTS)) if lines else json.dumps(EVENTS))
    recording = read(path)
    assert recording.graph().cascade(["dataset d raw"]) == (
        "dataset d raw",
        "dataset d tidy",
        "job n clean",
        "job n watch",
    )
    assert {one.what: one.examples for one in recording.missing} == {
        "jobs that failed in every run": ("job n clean",),
        "jobs whose end is not recorded": ("job n watch",),
    }


def test_one_event_over_several_lines(tmp_path: Path) -> None:
    path = tmp_path / "event.json"
    path.write_text(json.dumps(EVENTS[2], indent=1))
    assert read(path).recorded == {"datasets": 2, "jobs": 1, "links": 2}


def test_real_events_reach_every_dataset_that_a_job_wrote_from_another(
    real_input: Callable[[str], Path],
) -> None:
    for path in sorted((real_input("dag-dbt-openlineage") / "events").iterdir()):
        recording = read(path)
        graph = recording.graph()
        read_by = {(link.tail, link.head) for link in recording.links if link.head.startswith("job ")}
        written = {(link.tail, link.head) for link in recording.links if link.tail.startswith("job ")}
        for source, job in read_by:
            assert {made for by, made in written if by == job} <= set(graph.cascade([source]))


@pytest.mark.parametrize(
    "wrong",
    [
        "[1]",
        "[{}]",
        '[{"job": {"name": "x"}}]',
        '{"job": 1}',
        '{"job": {"namespace": "n", "name": "x"}, "inputs": 3}',
        "nothing",
        '{"job":',
    ],
)
def test_what_is_malformed_is_told_with_its_place(tmp_path: Path, wrong: str) -> None:
    path = tmp_path / "events.json"
    path.write_text(wrong)
    with pytest.raises(InvalidFile, match=r"events\.json"):
        read(path)
