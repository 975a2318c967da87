"""Solution trees: what a pruned branch holds never reaches an answer, what an answer's path holds does."""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from memorepair.adapters.recording import Recording
from memorepair.adapters.toolbench import ANSWERS, READS, REPEATS, read
from memorepair.errors import InvalidFile
from memorepair.memory.artifact import Json

Node = dict[str, Json]


@pytest.fixture(scope="module")
def real(real_input: Callable[[str], Path]) -> tuple[Recording, list[dict[str, Json]]]:
    path = real_input("traces-toolbench") / "answers.jsonl.xz"
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        return read(path), [json.loads(line) for line in lines]


def node(what: str, said: str, *children: Node, pruned: bool = False, **more: Json) -> Node:
    return {"node_type": what, "description": said, "pruned": pruned, "children": [*children], **more}


def call(tool: str, arguments: str, result: str, *children: Node, pruned: bool = False) -> Node:
    return node("Action", tool, node("Action Input", arguments, *children, pruned=pruned, observation=result))


def finish(answer: str) -> Node:
    given = json.dumps({"return_type": "give_answer", "final_answer": answer})
    return node("Action", "Finish", node("Action Input", given, observation="ok"))


def entry(*children: Node) -> dict[str, Json]:
    return {
        "answer_generation": {"query": "Where is parcel ABC-456?", "function": [{"name": "track"}]},
        "tree": {"tree": node("Action Input", "", *children)},
    }


def written(tmp_path: Path, *entries: dict[str, Json]) -> Path:
    path = tmp_path / "trees.jsonl"
    path.write_text("\n".join(map(json.dumps, entries)))
    return path


def test_nothing_of_a_pruned_branch_is_an_ancestor_of_an_answer(
    real: tuple[Recording, list[dict[str, Json]]],
) -> None:
    recording, entries = real
    graph = recording.graph()
    answers = [item.id for item in recording.items if item.what == "answers"]
    pruned = {item.id for item in recording.items if item.metadata.get("pruned")}
    both = 0
    for given in entries:
        name = str(given["_file"]).removesuffix(".json")
        of = [answer for answer in answers if answer.startswith(f"{name}/")]
        branches = {id for id in pruned if id.startswith(f"{name}/")}
        both += bool(of) and bool(branches)
        assert not branches & set(graph.sources(of))
        # What stands on a pruned branch is of a pruned branch itself.
        assert set(graph.descendants(branches)) <= branches
    assert both == 3
    assert len(pruned) > 90


def test_what_is_won_has_its_answer_and_the_answer_its_query(
    real: tuple[Recording, list[dict[str, Json]]],
) -> None:
    recording, entries = real
    graph = recording.graph()
    texts = {item.id: item.content for item in recording.items}
    for given in entries:
        name = str(given["_file"]).removesuffix(".json")
        answers = [id for id in graph.cascade([f"{name}/query"]) if texts[id] in _final(given)]
        assert bool(answers) is bool(given["win"])


def _final(given: dict[str, Json]) -> list[str]:
    generation = given["answer_generation"]
    assert isinstance(generation, dict)
    try:
        told = json.loads(str(generation["final_answer"]), strict=False)
    except json.JSONDecodeError:
        return []
    return [str(told["final_answer"])] if "final_answer" in told else []


def test_links_run_down_the_path_by_named_rules(tmp_path: Path) -> None:
    tree = entry(
        call(
            "track",
            '{"id": "ABC-456"}',
            "depot QX-9",
            call("track", '{"id": "nothing"}', "gone", pruned=True),
        ),
        call(
            "track",
            '{"id": "ABC-456"}',
            "depot QX-7",
            call("route", '{"to": "QX-7"}', "42 km", finish("QX-7")),
        ),
    )
    recording = read(written(tmp_path, tree))
    links = {
        (link.tail.split("/", 1)[-1], link.head.split("/", 1)[-1], link.rule) for link in recording.links
    }
    assert links == {
        ("query", "0.0.0", None),
        ("query", "0.0.0.0.0", None),
        ("query", "0.1.0", None),
        ("query", "0.1.0.0.0", None),
        ("query", "0.1.0.0.0.0.0", None),
        ("track", "0.0.0", None),
        ("track", "0.0.0.0.0", None),
        ("track", "0.1.0", None),
        ("0.1.0", "0.1.0.0.0", REPEATS),
        ("0.1.0", "0.1.0.0.0.0.0", ANSWERS),
        ("0.1.0.0.0", "0.1.0.0.0.0.0", ANSWERS),
    }
    assert [one.what for one in recording.missing] == ["calls of a tool whose interface is not recorded"]
    assert recording.inferred == {REPEATS: 1, ANSWERS: 2}


def test_a_thought_reads_what_is_right_above(tmp_path: Path) -> None:
    recording = read(written(tmp_path, entry(call("track", "{}", "lost", node("Thought", "It is lost.")))))
    assert recording.inferred == {READS: 1}


def test_one_contract_is_one_interface_and_two_are_two(tmp_path: Path) -> None:
    first, second, third = (entry(call("track", "{}", "x")) for _ in range(3))
    generation = third["answer_generation"]
    assert isinstance(generation, dict)
    generation["function"] = [{"name": "track", "version": 2}]
    recording = read(written(tmp_path, first, second, third))
    tools = [item.id for item in recording.items if item.what == "interfaces"]
    assert tools == ["tool/track", "trees-3/tool/track"]


def test_an_answer_below_a_pruned_node_is_none(tmp_path: Path) -> None:
    recording = read(written(tmp_path, entry(call("track", "{}", "x", finish("done"), pruned=True))))
    assert not [item for item in recording.items if item.what == "answers"]
    assert "answers on a pruned branch, left out" in [one.what for one in recording.missing]


def test_a_deep_tree_is_no_matter_of_recursion(tmp_path: Path) -> None:
    below = finish("done")
    for _ in range(100):
        below = call("track", "{}", "x", below)
    recording = read(written(tmp_path, entry(below)))
    answer = next(item.id for item in recording.items if item.what == "answers")
    assert len(recording.graph().sources([answer])) == 103


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        ('{"tree": {}}', "answer_generation"),
        ('{"answer_generation": {"query": 7}}', "query"),
        ('{"answer_generation": {"query": "q"}, "tree": {"tree": {"children": [{}]}}}', "node_type"),
        (
            '{"answer_generation": {"query": "q"}, "tree": {"tree": {"children": '
            '[{"node_type": "Dream", "description": ""}]}}}',
            "node_type",
        ),
        ("[]", "entry"),
        ("{", "trees.jsonl:1"),
    ],
)
def test_what_is_malformed_is_told_with_its_place(tmp_path: Path, wrong: str, place: str) -> None:
    path = tmp_path / "trees.jsonl"
    path.write_text(wrong)
    with pytest.raises(InvalidFile) as error:
        read(path)
    assert "trees" in error.value.message
    assert place in str(error.value.witness)
