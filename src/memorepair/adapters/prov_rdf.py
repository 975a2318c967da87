"""PROV-O: the same relations as triples, plain or qualified; rdflib reads the syntax.

Source: PROV-O, W3C recommendation, 2013.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import quote

from memorepair.adapters.prov_terms import FOLLOWED, UNFOLLOWED, Document, Node
from memorepair.errors import InvalidFile, MissingDependency
from memorepair.memory.artifact import Json
from memorepair.repair.jsontext import parse

if TYPE_CHECKING:
    from rdflib import Graph
    from rdflib.term import Node as Term

FORMATS: Mapping[str, str] = MappingProxyType({".ttl": "turtle", ".jsonld": "json-ld"})

_PROV = "http://www.w3.org/ns/prov#"
_PLAIN = MappingProxyType(
    {
        **{name: name for name in FOLLOWED},
        **dict.fromkeys(("wasRevisionOf", "wasQuotedFrom", "hadPrimarySource"), "wasDerivedFrom"),
    }
)
_QUALIFIED = MappingProxyType(
    {
        "qualifiedUsage": ("used", "entity"),
        "qualifiedGeneration": ("wasGeneratedBy", "activity"),
        "qualifiedDerivation": ("wasDerivedFrom", "entity"),
        "qualifiedRevision": ("wasDerivedFrom", "entity"),
        "qualifiedQuotation": ("wasDerivedFrom", "entity"),
        "qualifiedPrimarySource": ("wasDerivedFrom", "entity"),
        "qualifiedCommunication": ("wasInformedBy", "activity"),
    }
)
_TOLD = ("http://www.w3.org/2000/01/rdf-schema#label", f"{_PROV}value")


_FAULTS = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, NameError, OSError),
    *(RuntimeError, SyntaxError, TypeError, ValueError),
)
"""What rdflib's parsers run into on what is not in their syntax."""


def read_triples(text: str, format: str, where: str) -> Document:
    """The document in a text; names relative to it begin with ``file:///`` and `where`.

    Raises
    ------
    InvalidFile
        The syntax is wrong; message and witness name the place.
    MissingDependency
        rdflib is not installed.
    """
    try:
        from rdflib import BNode, Graph, Literal, URIRef
        from rdflib.namespace import RDF
    except ImportError as error:
        raise MissingDependency(
            "PROV-O needs rdflib: pip install 'memorepair[provenance]'", witness="rdflib"
        ) from error
    graph = _parsed(Graph(), text, format, where)
    document = Document()
    for name, what in (("Entity", "entities"), ("Activity", "activities")):
        for node in sorted(graph.subjects(RDF.type, URIRef(_PROV + name)), key=str):
            if isinstance(node, URIRef):
                document.nodes[str(node)] = Node(what=what, told=_told(graph, node))

    def link(effect: Term, cause: Term, relation: str) -> None:
        if isinstance(effect, URIRef) and isinstance(cause, URIRef):
            document.link(str(cause), str(effect), relation)
        elif isinstance(effect, BNode) or isinstance(cause, BNode):
            document.unnamed.append(f"{where}: {relation} of {effect if isinstance(cause, BNode) else cause}")
        elif isinstance(cause, Literal):
            document.unnamed.append(f"{where}: {relation} of {effect} names a text")

    for name, relation in _PLAIN.items():
        for effect, cause in sorted(graph.subject_objects(URIRef(_PROV + name)), key=str):
            link(effect, cause, relation)
    for name, (relation, role) in _QUALIFIED.items():
        for effect, qualified in sorted(graph.subject_objects(URIRef(_PROV + name)), key=str):
            for cause in sorted(graph.objects(qualified, URIRef(_PROV + role)), key=str):
                link(effect, cause, relation)
    for name in UNFOLLOWED:
        document.others[name] += sum(1 for _ in graph.subject_objects(URIRef(_PROV + name)))
    return document


def _parsed(graph: Graph, text: str, format: str, where: str) -> Graph:
    if format == "json-ld":
        _refuse_remote(text, where)
    try:
        with warnings.catch_warnings(), _unlogged("rdflib.term"):
            warnings.simplefilter("ignore")  # of dates it cannot read, which nothing here asks for
            return graph.parse(data=text, format=format, publicID=f"file:///{quote(where)}")
    except _FAULTS as error:
        line = getattr(error, "lines", None)
        place = where if line is None else f"{where}:{line + 1}"
        raise InvalidFile(f"{place}: this is no {format}: {type(error).__name__}", witness=place) from error


@contextmanager
def _unlogged(name: str) -> Iterator[None]:
    """What would be logged inside, tracebacks among it, is not."""
    logger = logging.getLogger(name)
    before = logger.disabled
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = before


def _refuse_remote(text: str, where: str) -> None:
    """A document must not make the reader fetch another one: contexts by address are refused."""
    waiting: list[Json] = [parse(text)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            context = value.get("@context")
            listed = context if isinstance(context, list) else [context]
            for one in listed:
                remote = (
                    one if isinstance(one, str) else one.get("@import") if isinstance(one, dict) else None
                )
                if remote is not None:
                    raise InvalidFile(
                        f"{where}: the context {remote} lies elsewhere; put it into the file",
                        witness=str(remote),
                    )
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def _told(graph: Graph, node: Term) -> dict[str, Json]:
    from rdflib import URIRef

    found: dict[str, Json] = {}
    for name in _TOLD:
        values: list[Json] = [*sorted(str(value) for value in graph.objects(node, URIRef(name)))]
        if values:
            found[name.rpartition("#")[2]] = values
    return found
