"""Node-link files: an instance as networkx writes a directed graph to JSON.

The document is what ``networkx.node_link_data`` returns: candidates are nodes with the attributes ``value``,
``cost``, ``executable``, ``required``; an edge from `source` to `target` reads "source requires target".

Source: networkx, `networkx.readwrite.json_graph.node_link_data`, whose key of edges was "links" before 3.4.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import ClassVar

from memorepair.errors import InvalidFile
from memorepair.formats import documents
from memorepair.formats.format import Content
from memorepair.formats.instance_json import instance_of, instance_only
from memorepair.formats.text import read_text, write_text
from memorepair.problems import SelectionInstance

_HEAD = {"directed", "multigraph", "graph", "nodes", "edges", "links"}
_GRAPH = {"tradeoff", "budget"}
_NODE = {"id", "value", "cost", "executable", "required"}
_EDGE = {"source", "target", "key"}


class NodeLink:
    """networkx's JSON."""

    name: ClassVar[str] = "node-link"
    suffixes: ClassVar[tuple[str, ...]] = (".node-link.json",)

    def read(self, path: Path, /) -> SelectionInstance:
        """Attributes that are none of ours are refused: a misspelt one would drop a constraint."""
        head = documents.mapping(documents.parse(read_text(path)), "the document", _HEAD)
        if head.get("directed") is not True:
            raise InvalidFile("the graph must be directed: an edge reads 'requires'", witness="directed")
        documents.flag(head, "multigraph", "")
        if "edges" in head and "links" in head:
            raise InvalidFile("edges are given as edges and as links", witness="links")
        graph = documents.mapping(head.get("graph", {}), "graph", _GRAPH)
        records = [
            _node(entry, f"nodes[{place}]") for place, entry in enumerate(documents.entries(head, "nodes"))
        ]
        requires: dict[object, list[object]] = {record["id"]: [] for record in records}
        name = "links" if "links" in head else "edges"
        for place, entry in enumerate(documents.entries(head, name)):
            where = f"{name}[{place}]"
            edge = documents.mapping(entry, where, _EDGE)
            ends = [documents.identity(edge.get(end), f"{where}.{end}") for end in ("source", "target")]
            for end in ends:
                if end not in requires:
                    raise InvalidFile(f"{where} names {end!r}, which is no node", witness=where)
            requires[ends[0]].append(ends[1])
        return instance_of([{**record, "requires": requires[record["id"]]} for record in records], graph)

    def write(self, content: Content, path: Path, /) -> None:
        """A multigraph where two arcs are parallel; ids must be text or integers."""
        write_text(path, _format(instance_only(content, self.name)))


def _node(entry: object, where: str) -> dict[str, object]:
    record = documents.mapping(entry, where, _NODE)
    for name in ("id", "value"):
        if name not in record:
            raise InvalidFile(f"{where} has no {name}", witness=f"{where}.{name}")
    documents.identity(record["id"], f"{where}.id")
    for name in ("executable", "required"):
        documents.flag(record, name, where)
    return {
        **record,
        "value": documents.number(record, "value", where, 0),
        "cost": documents.amounts(record, "cost", where),
    }


def _format(instance: SelectionInstance) -> str:
    ids = [documents.identity_text(instance.id_of(place)) for place in range(instance.k)]
    value, cost = instance.value.tolist(), instance.cost.tolist()
    nodes = [
        f'    {{"id": {id}, "value": {documents.amounts_text(value[place], id)}, '
        f'"cost": {documents.amounts_text(cost[place], id)}, '
        f'"executable": {json.dumps(bool(instance.executable[place]))}, '
        f'"required": {json.dumps(bool(instance.required[place]))}}}'
        for place, id in enumerate(ids)
    ]
    arcs = list(zip(instance.requires.tails().tolist(), instance.requires.heads.tolist(), strict=True))
    keys = _parallel(arcs)
    multigraph = any(keys)
    edges = [
        f'    {{"source": {ids[tail]}, "target": {ids[head]}' + (f', "key": {key}}}' if multigraph else "}")
        for (tail, head), key in zip(arcs, keys, strict=True)
    ]
    graph = f'"tradeoff": {documents.amounts_text(instance.tradeoff, "tradeoff")}'
    if instance.budget is not None:
        graph += f', "budget": {documents.amounts_text(instance.budget, "budget")}'
    between = ",\n"
    return (
        f'{{\n  "directed": true,\n  "multigraph": {json.dumps(multigraph)},\n  "graph": {{{graph}}},\n'
        f'  "nodes": [\n{between.join(nodes)}\n  ],\n  "edges": [\n{between.join(edges)}\n  ]\n}}\n'
    )


def _parallel(arcs: list[tuple[int, int]]) -> list[int]:
    """How many arcs between the same ends stand before each."""
    seen: dict[tuple[int, int], int] = {}
    keys = []
    for arc in arcs:
        keys.append(seen.get(arc, 0))
        seen[arc] = keys[-1] + 1
    return keys
