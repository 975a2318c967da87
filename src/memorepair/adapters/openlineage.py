"""OpenLineage events as a recording: datasets, and the jobs that read and wrote them.

Source: https://openlineage.io/spec, run and job events.
"""

from __future__ import annotations

from pathlib import Path

from memorepair.adapters.files import files_in, inside, parsed, read_text
from memorepair.adapters.recording import Item, Recorder, Recording
from memorepair.adapters.shapes import Row, as_list, as_object, as_text, object_of, text_of
from memorepair.errors import InvalidFile
from memorepair.graphs.terms import Relation
from memorepair.memory.artifact import Recipe, Source
from memorepair.repair.jsontext import canonical

_ENDED = ("COMPLETE", "FAIL", "ABORT")
_TOLD = ("schema", "sql", "dataSource", "documentation")


def read(path: Path) -> Recording:
    """Events of a file (a list, one object, or one object a line), or of all such files of a folder.

    Raises
    ------
    InvalidFile
        The witness names file, event and field.

    Notes
    -----
    A job is one artifact however often it ran, for events name datasets, not their versions. What a failed
    job would have written is linked all the same: it may have written a part.
    """
    jobs: dict[str, Row] = {}
    datasets: dict[str, Row] = {}
    ends: dict[str, set[str]] = {}
    links: dict[tuple[str, str], None] = {}
    nested: dict[str, None] = {}
    for file in files_in(path, (".json", ".jsonl", ".ndjson")):
        for place, event in _events(file):
            with inside(f"{file.name}: {place}"):
                _take(event, jobs, datasets, ends, links, nested)
    recorder = Recorder("openlineage")
    for what, found in (("datasets", datasets), ("jobs", jobs)):
        for id, facets in found.items():
            recorder.add(_item(id, what, facets))
    for tail, head in links:
        recorder.link(tail, head, Relation.PRODUCE)
    for job, seen in ends.items():
        if not seen:
            recorder.miss("jobs whose end is not recorded", job)
        elif "COMPLETE" not in seen:
            recorder.miss("jobs that failed in every run", job)
    for job in nested:
        recorder.miss("jobs started by another job, which is no data and not followed", job)
    return recorder.finish()


def _events(file: Path) -> list[tuple[str, Row]]:
    text = read_text(file)
    if text.lstrip().startswith("["):
        listed = parsed(text, file.name, lambda value: as_list(value, "events"))
        with inside(file.name):
            return [
                (f"event {number}", as_object(one, f"event {number}")) for number, one in enumerate(listed)
            ]
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    try:
        return [
            (f"line {number}", parsed(line, f"{file.name}:{number}", lambda value: as_object(value, "event")))
            for number, line in lines
        ]
    except InvalidFile:
        if not text.lstrip().startswith("{\n"):
            raise
        return [("event 0", parsed(text, file.name, lambda value: as_object(value, "event")))]


def _take(
    event: Row,
    jobs: dict[str, Row],
    datasets: dict[str, Row],
    ends: dict[str, set[str]],
    links: dict[tuple[str, str], None],
    nested: dict[str, None],
) -> None:
    described = object_of(event, "job", "event")
    job = "job " + _named(described, "event.job")
    jobs.setdefault(job, {}).update(_facets(described, "event.job"))
    ended = ends.setdefault(job, set())
    kind = event.get("eventType")
    if isinstance(kind, str) and kind.upper() in _ENDED:
        ended.add(kind.upper())
    for name in ("inputs", "outputs"):
        for place, raw in enumerate(as_list(event.get(name) or [], f"event.{name}")):
            where = f"event.{name}[{place}]"
            one = as_object(raw, where)
            dataset = "dataset " + _named(one, where)
            datasets.setdefault(dataset, {}).update(_facets(one, where))
            links[(dataset, job) if name == "inputs" else (job, dataset)] = None
    run = as_object(event.get("run") or {}, "event.run")
    if "parent" in as_object(run.get("facets") or {}, "event.run.facets"):
        nested[job] = None


def _named(row: Row, where: str) -> str:
    return f"{text_of(row, 'namespace', where)} {text_of(row, 'name', where)}"


def _facets(row: Row, where: str) -> Row:
    facets = as_object(row.get("facets") or {}, f"{where}.facets")
    return {name: facets[name] for name in _TOLD if name in facets}


def _item(id: str, what: str, facets: Row) -> Item:
    return Item(
        id=id,
        what=what,
        content=canonical({"name": as_text(id, "name"), **facets}),
        source=Source.SYSTEM,
        recipe=Recipe(observed=True),
    )
