"""PROV-JSON: names spelled out, relations with their roles.

Source: T. D. Huynh et al., The PROV-JSON serialization, W3C member submission, 2013.
"""

from __future__ import annotations

from collections.abc import Mapping

from memorepair.adapters.prov_terms import FOLLOWED, UNFOLLOWED, Document, Node
from memorepair.adapters.shapes import Row, as_list, as_object, as_text, text_of
from memorepair.errors import InvalidInput

_SORTS = {"entity": "entities", "activity": "activities"}
_PROV = {"prov": "http://www.w3.org/ns/prov#", "xsd": "http://www.w3.org/2001/XMLSchema#"}


def read_document(row: Row) -> Document:
    """The document with its bundles, whose names may have prefixes of their own.

    Raises
    ------
    InvalidInput
        The witness names the field.
    """
    document = Document()
    if not row.keys() & {"prefix", "entity", "activity", "agent", "bundle", *FOLLOWED, *UNFOLLOWED}:
        raise InvalidInput(
            "this is no PROV document: it has nothing that PROV-JSON names", witness="document"
        )
    _read_bundle(row, "", _PROV, document)
    return document


def _read_bundle(row: Row, where: str, around: Mapping[str, str], document: Document) -> None:
    prefixes = {
        **around,
        **{
            name: as_text(uri, f"{where}prefix.{name}")
            for name, uri in as_object(row.get("prefix") or {}, f"{where}prefix").items()
        },
    }
    for field, what in _SORTS.items():
        for name, about in as_object(row.get(field) or {}, f"{where}{field}").items():
            if not name.startswith("_:"):
                told = about if isinstance(about, dict) else {"told": about}
                known = document.nodes.get(full_name(name, prefixes))
                document.nodes[full_name(name, prefixes)] = Node(
                    what=what, told={**(known.told if known else {}), **told}
                )
    for relation, (cause, effect) in FOLLOWED.items():
        for id, raw in as_object(row.get(relation) or {}, f"{where}{relation}").items():
            place = f"{where}{relation}.{id}"
            for stated in as_list(raw if isinstance(raw, list) else [raw], place):
                ends = as_object(stated, place)
                names = [text_of(ends, role, place) for role in (cause, effect) if role in ends]
                if len(names) < 2 or any(name.startswith("_:") for name in names):
                    document.unnamed.append(place)
                    continue
                document.link(full_name(names[0], prefixes), full_name(names[1], prefixes), relation)
    for relation in UNFOLLOWED:
        document.others[relation] += len(as_object(row.get(relation) or {}, f"{where}{relation}"))
    if not where:
        for name, bundle in as_object(row.get("bundle") or {}, "bundle").items():
            _read_bundle(as_object(bundle, f"bundle.{name}"), f"bundle.{name}.", prefixes, document)


def full_name(name: str, prefixes: Mapping[str, str]) -> str:
    """The URI that a qualified name stands for; a name whose prefix is not declared is a URI already."""
    prefix, mark, rest = name.partition(":")
    if not mark:
        return prefixes.get("default", "") + name
    return prefixes[prefix] + rest if prefix in prefixes else name
