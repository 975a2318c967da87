"""PROV documents: descendants as other programs compute them, one graph from each serialisation."""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from memorepair.adapters.prov import read
from memorepair.adapters.recording import Recording
from memorepair.errors import InvalidFile

pytest.importorskip("rdflib", reason="PROV-O needs the extra provenance")

ELSEWHERE = "file:///work/steering/"
"""What names relative to the document began with where the answers were computed."""


def arcs(recording: Recording) -> set[tuple[str, str]]:
    return {(link.tail, link.head) for link in recording.links}


def agrees(recording: Recording, answer: dict[str, object], base: str = ELSEWHERE) -> bool:
    graph, links = recording.graph(), arcs(recording)
    descendants = answer["descendants"]
    assert isinstance(descendants, dict)
    assert len(links) == answer["n_edges"]
    assert len({end for link in links for end in link}) == answer["n_nodes"]
    return all(
        set(graph.descendants([root.replace(ELSEWHERE, base)]))
        == {id.replace(ELSEWHERE, base) for id in below}
        for root, below in descendants.items()
    )


def test_descendants_of_cwl_runs_from_both_serialisations(real_input: Callable[[str], Path]) -> None:
    folder = real_input("dag-prov-cwlprov")
    answers = json.loads((folder / "answers.json").read_text())
    assert len(answers) == 4
    for answer in answers:
        as_json = read(folder / f"{answer['file']}.xz")
        as_turtle = read(folder / f"{answer['file'].removesuffix('.json')}.ttl.xz")
        assert arcs(as_json) == arcs(as_turtle)
        assert {item.id: item.what for item in as_json.items} == {
            item.id: item.what for item in as_turtle.items
        }
        assert agrees(as_json, answer)


def test_descendants_of_taverna_and_wings_runs(real_input: Callable[[str], Path]) -> None:
    folder = real_input("dag-prov-wf4ever")
    with lzma.open(folder / "answers.json.xz") as file:
        answers = json.load(file)
    assert len(answers) == 11
    for answer in answers:
        assert agrees(read(folder / f"{answer['file']}.xz"), answer, base=f"file:///{answer['file']}")


def test_bundles_prefixes_and_lists_of_prov_json(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(
        json.dumps(
            {
                "prefix": {"a": "http://a/", "default": "http://d/"},
                "entity": {"a:in": {"prov:value": 7}, "out": {}},
                "activity": {"a:run": {}},
                "used": {"_:u": [{"prov:activity": "a:run", "prov:entity": "a:in"}]},
                "wasGeneratedBy": {
                    "_:g": {"prov:entity": "out", "prov:activity": "a:run"},
                    "_:h": {"prov:entity": "out"},
                },
                "bundle": {
                    "a:b": {
                        "prefix": {"a": "http://b/"},
                        "wasDerivedFrom": {
                            "_:d": {"prov:usedEntity": "out", "prov:generatedEntity": "a:late"}
                        },
                    }
                },
                "hadMember": {"_:m": {}},
            }
        )
    )
    recording = read(path)
    assert recording.graph().cascade(["http://a/in"]) == (
        "http://a/in",
        "http://d/out",
        "http://a/run",
        "http://b/late",
    )
    assert [(one.what, one.count) for one in recording.missing] == [
        ("relations of nodes without a name, left out", 1),
        ("hadMember, which is not followed", 1),
    ]


def test_json_ld_reads_like_turtle_and_never_looks_elsewhere(tmp_path: Path) -> None:
    turtle = tmp_path / "run.ttl"
    turtle.write_text(
        "@prefix p: <http://www.w3.org/ns/prov#> . @prefix e: <http://e/> .\n"
        "e:run a p:Activity; p:used e:in . e:out p:wasRevisionOf e:in; p:wasGeneratedBy e:run ."
    )
    linked = tmp_path / "run.jsonld"
    context = {"p": "http://www.w3.org/ns/prov#", "e": "http://e/"}
    graph = [
        {"@id": "e:run", "@type": "p:Activity", "p:used": {"@id": "e:in"}},
        {"@id": "e:out", "p:wasRevisionOf": {"@id": "e:in"}, "p:wasGeneratedBy": {"@id": "e:run"}},
    ]
    linked.write_text(json.dumps({"@context": context, "@graph": graph}))
    assert (
        arcs(read(linked))
        == arcs(read(turtle))
        == {
            ("http://e/in", "http://e/run"),
            ("http://e/in", "http://e/out"),
            ("http://e/run", "http://e/out"),
        }
    )
    for remote in ("http://elsewhere/context", {"@import": "http://elsewhere/context"}):
        linked.write_text(json.dumps({"@context": remote, "@graph": graph}))
        with pytest.raises(InvalidFile, match="lies elsewhere") as error:
            read(linked)
        assert error.value.witness == "http://elsewhere/context"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.ttl", "@prefix broken\n"),
        ("run.jsonld", "{"),
        ("run.jsonld", "7"),
        ("run.json", "[7"),
        ("run.json", '{"some": "thing"}'),
        ("run.json", '{"used": {"_:u": {"prov:activity": 7, "prov:entity": "e"}}}'),
        ("run.xml", "<prov/>"),
    ],
)
def test_what_is_malformed_is_told_with_its_place(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InvalidFile, match="run"):
        read(path)


def test_a_date_that_is_none_is_no_reason_to_say_anything(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "run.ttl").write_text(
        "@prefix prov: <http://www.w3.org/ns/prov#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"
        '<urn:b> a prov:Entity ; prov:wasDerivedFrom <urn:a> ; prov:generatedAtTime "noon"^^xsd:dateTime .\n'
        "<urn:a> a prov:Entity .\n"
    )
    assert arcs(read(tmp_path / "run.ttl")) == {("urn:a", "urn:b")}
    assert not caplog.records
