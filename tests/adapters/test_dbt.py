"""A manifest states its edges three times; what one says that another does not is told."""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from memorepair.adapters.dbt import edges_of, read
from memorepair.errors import InvalidFile


def test_the_three_statements_agree_where_the_answers_say_so(real_input: Callable[[str], Path]) -> None:
    folder = real_input("dag-dbt-openlineage")
    answers = json.loads((folder / "answers.json").read_text())
    agreeing = 0
    for answer in answers:
        path = folder / "manifests" / f"{answer['file']}.xz"
        with lzma.open(path) as file:
            stated = edges_of(json.load(file))
        assert set(stated) == {"depends_on", "parent_map", "child_map"}
        assert len(stated["child_map"]) == answer["n_edges_child_map"]
        agree = len(set(stated.values())) == 1
        assert agree is answer["depends_on_equals_child_and_parent_map"]
        recording = read(path)
        assert bool(recording.missing) is not agree
        if agree:
            agreeing += 1
            graph = recording.graph()
            assert {(link.tail, link.head) for link in recording.links} == stated["child_map"]
            counts = {id: len(graph.descendants([id])) for id in answer["downstream_counts"]}
            assert counts == answer["downstream_counts"]
    assert agreeing == len(answers) - 4 == 10


def test_dangling_and_disagreeing_edges_are_named(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    manifest = {
        "nodes": {"model.b": {"resource_type": "model", "depends_on": {"nodes": ["seed.a", "source.gone"]}}},
        "sources": {"seed.a": {"resource_type": "seed"}},
        "parent_map": {"model.b": ["seed.a", "source.gone", "seed.other"]},
    }
    path.write_text(json.dumps(manifest))
    told = {one.what: one.examples for one in read(path).missing}
    assert told == {
        "edges that only parent_map states, left out": ("seed.other -> model.b",),
        "manifests without child_map": ("child_map",),
        "links to what is not in the files, left out": ("source.gone -> model.b",),
    }


@pytest.mark.parametrize(
    "wrong", ["{}", "[]", '{"nodes": []}', '{"nodes": {"a": {"depends_on": {"nodes": [1]}}}}']
)
def test_what_is_malformed_is_told_with_its_place(tmp_path: Path, wrong: str) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(wrong)
    with pytest.raises(InvalidFile, match=r"manifest\.json"):
        read(path)
