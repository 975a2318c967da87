"""W3C PROV documents as a recording: entities and activities along what was used, generated, derived.

Source: PROV-DM, PROV-JSON and PROV-O, World Wide Web Consortium, 2013.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from memorepair.adapters.files import files_in, parsed, read_text
from memorepair.adapters.prov_json import read_document
from memorepair.adapters.prov_rdf import FORMATS, read_triples
from memorepair.adapters.prov_terms import Document
from memorepair.adapters.recording import Item, Recorder, Recording
from memorepair.adapters.shapes import Row, as_object
from memorepair.errors import InvalidFile
from memorepair.graphs.terms import Kind, Relation
from memorepair.memory.artifact import Json, Recipe
from memorepair.repair.jsontext import canonical

ENDINGS = (".json", ".jsonld", ".ttl")

_RELATION = {
    "used": Relation.SUPPORT,
    "wasGeneratedBy": Relation.PRODUCE,
    "wasDerivedFrom": Relation.DERIVE,
    "wasInformedBy": Relation.INITIATE,
}


def read(path: Path) -> Recording:
    """A PROV document, or all of a folder; the same graph from each of its serialisations.

    Parameters
    ----------
    path
        ``.json`` is PROV-JSON, or JSON-LD where it has a ``@context``; ``.jsonld``; ``.ttl`` is Turtle. Plain
        or with ``.xz``. Turtle and JSON-LD need the extra ``provenance``.

    Raises
    ------
    InvalidFile
        The witness names the file and the place.
    MissingDependency
        rdflib is needed and not installed.

    Notes
    -----
    Followed are ``used``, ``wasGeneratedBy``, ``wasDerivedFrom`` with its kinds, and ``wasInformedBy``, plain
    or qualified. Who is responsible (agents), what is a part or a view of what, and what began or ended an
    activity is counted and not followed. Nodes without a name cannot be kept apart between files and are
    left out.
    """
    recorder = Recorder("prov")
    others = Counter[str]()
    for file in files_in(path, ENDINGS):
        document = _document(file)
        for id, about in document.nodes.items():
            if id not in recorder:
                recorder.add(
                    Item(
                        id=id,
                        what=about.what,
                        content=canonical({"id": id, **about.told}),
                        kind=Kind.RECORD,
                        recipe=Recipe(observed=True),
                    )
                )
        for cause, effect, relation in document.links:
            recorder.link(cause, effect, _RELATION[relation])
        for place in document.unnamed:
            recorder.miss("relations of nodes without a name, left out", place)
        others.update(document.others)
    for name, count in sorted(others.items()):
        for _ in range(count):
            recorder.miss(f"{name}, which is not followed", name)
    return recorder.finish()


def _document(file: Path) -> Document:
    text = read_text(file)
    name = file.name.removesuffix(".xz")
    ending = name[name.rfind(".") :]
    if ending == ".json":
        linked = text.lstrip().startswith("[") or '"@context"' in text
        if not linked:
            return parsed(text, file.name, lambda value: read_document(as_object(value, "document")))
        ending = ".jsonld"
    if ending == ".jsonld":  # rdflib would take any JSON for a graph without triples
        parsed(text, file.name, _triples)
    if ending not in FORMATS:
        raise InvalidFile(f"{file.name} ends in none of {', '.join(ENDINGS)}", witness=file.name)
    return read_triples(text, FORMATS[ending], name)


def _triples(value: Json) -> list[Row]:
    listed = value if isinstance(value, list) else [value]
    return [as_object(one, f"node {number}") for number, one in enumerate(listed)]
