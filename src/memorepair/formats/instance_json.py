"""Instance files: a SelectionInstance as JSON text, numbers as exact decimals (docs/formats.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from memorepair.errors import InvalidFile
from memorepair.formats import documents
from memorepair.formats.format import Content
from memorepair.formats.text import read_text, write_text
from memorepair.problems import SelectionInstance
from memorepair.problems.asking import from_records

FORMAT = "memorepair.selection"
VERSION = 1

_HEAD = {"format", "version", "tradeoff", "budget", "candidates"}
_FIELDS = {"id", "value", "cost", "requires", "executable", "required"}


class InstanceJson:
    """Our own JSON."""

    name: ClassVar[str] = "json"
    suffixes: ClassVar[tuple[str, ...]] = (".json",)

    def read(self, path: Path, /) -> SelectionInstance:
        """As `parse_instance`."""
        return parse_instance(read_text(path))

    def write(self, content: Content, path: Path, /) -> None:
        """As `format_instance`; a network is refused."""
        write_text(path, format_instance(instance_only(content, self.name)))


def read_instance(path: Path | str) -> SelectionInstance:
    """The instance in the JSON file at `path`.

    Raises
    ------
    InvalidFile
        It cannot be read, is not UTF-8 or JSON, or is not in the format (witness: the line, or the field's
        path).
    InvalidInstance
        It is in the format, but no instance: an id twice, a dangling prerequisite, a negative cost (witness:
        the id).
    """
    return parse_instance(read_text(Path(path)))


def parse_instance(text: str) -> SelectionInstance:
    """The instance that `text` spells; raises as `read_instance`."""
    head = documents.mapping(documents.parse(text), "the document", _HEAD)
    check_head(head)
    records = [
        _record(entry, f"candidates[{place}]")
        for place, entry in enumerate(documents.entries(head, "candidates"))
    ]
    return instance_of(records, head)


def write_instance(instance: SelectionInstance, path: Path | str) -> None:
    """Write `instance` to `path` as JSON; reading it gives the same instance, number by number.

    Raises
    ------
    InvalidFile
        An id is neither text nor integer, or a number is no finite decimal, such as 1/3 (witness: the id); or
        the file cannot be written (witness: the path).
    """
    write_text(Path(path), format_instance(instance))


def format_instance(instance: SelectionInstance) -> str:
    """`instance` as text, one candidate a line; raises as `write_instance`."""
    heads, offsets = instance.requires.heads.tolist(), instance.requires.offsets.tolist()
    ids = [documents.identity_text(instance.id_of(place)) for place in range(instance.k)]
    value, cost = instance.value.tolist(), instance.cost.tolist()
    lines = []
    for place, id in enumerate(ids):
        fields = [
            f'"id": {id}',
            f'"value": {documents.amounts_text(value[place], id)}',
            f'"cost": {documents.amounts_text(cost[place], id)}',
        ]
        arcs = heads[offsets[place] : offsets[place + 1]]
        fields.append(f'"requires": [{", ".join(ids[head] for head in arcs)}]')
        fields.append(f'"executable": {json.dumps(bool(instance.executable[place]))}')
        fields.append(f'"required": {json.dumps(bool(instance.required[place]))}')
        lines.append("    {" + ", ".join(fields) + "}")
    body = ",\n".join(lines)
    budget = ""
    if instance.budget is not None:
        budget = f'  "budget": {documents.amounts_text(instance.budget, "budget")},\n'
    return (
        f'{{\n  "format": "{FORMAT}",\n  "version": {VERSION},\n'
        f'  "tradeoff": {documents.amounts_text(instance.tradeoff, "tradeoff")},\n{budget}'
        f'  "candidates": [\n{body}\n  ]\n}}\n'
    )


def check_head(head: Mapping[str, object]) -> None:
    """Refuse a document that says it is something else."""
    if head.get("format") != FORMAT:
        hint = "; this looks like node-link: say so" if "nodes" in head else ""
        raise InvalidFile(f"format is {head.get('format')!r}, not {FORMAT!r}{hint}", witness="format")
    if type(head.get("version")) is not int or head["version"] != VERSION:
        raise InvalidFile(f"version {head.get('version')!r} is not {VERSION}", witness="version")


def instance_of(records: list[dict[str, object]], head: Mapping[str, object]) -> SelectionInstance:
    """The instance of candidate records under the head's tradeoff and budget."""
    costs = [record["cost"] for record in records]
    widths = [len(cost) if isinstance(cost, list) else None for cost in costs]
    odd = next((place for place, width in enumerate(widths) if width != widths[0]), None)
    if odd is not None:
        raise InvalidFile("all candidates must have the same number of costs", witness=records[odd]["id"])
    instance = from_records(records, documents.number(head, "tradeoff", "", 0))
    if "budget" not in head:
        return instance
    budget = documents.amounts(head, "budget", "")
    return replace(instance, budget=tuple(budget) if isinstance(budget, list) else budget)


def instance_only(content: Content, format: str) -> SelectionInstance:
    """`content`, refused where it is a network."""
    if not isinstance(content, SelectionInstance):
        raise InvalidFile(f"a network is no selection instance: {format} cannot hold it", witness=format)
    return content


def _record(entry: object, where: str) -> dict[str, object]:
    record = documents.mapping(entry, where, _FIELDS)
    for name in ("id", "value"):
        if name not in record:
            raise InvalidFile(f"{where} has no {name}", witness=f"{where}.{name}")
    documents.identity(record["id"], f"{where}.id")
    if "requires" in record:
        for id in documents.entries(record, "requires", where):
            documents.identity(id, f"{where}.requires")
    for name in ("executable", "required"):
        documents.flag(record, name, where)
    return {
        **record,
        "value": documents.number(record, "value", where, 0),
        "cost": documents.amounts(record, "cost", where),
    }
