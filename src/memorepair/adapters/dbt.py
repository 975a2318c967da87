"""A dbt manifest as a recording: what each node says it depends on, held against the two maps beside it.

Source: https://schemas.getdbt.com/dbt/manifest, versions 1 to 12.
"""

from __future__ import annotations

from pathlib import Path

from memorepair.adapters.files import read_json
from memorepair.adapters.folders import each_of
from memorepair.adapters.recording import Item, Recorder, Recording
from memorepair.adapters.shapes import Row, as_list, as_object, as_text
from memorepair.errors import InvalidInput
from memorepair.graphs.terms import Kind, Relation
from memorepair.memory.artifact import Json, Recipe, Source
from memorepair.repair.jsontext import canonical

SECTIONS = ("sources", "nodes", "exposures", "metrics", "semantic_models", "saved_queries", "unit_tests")
"""Where a manifest declares what can depend or be depended on."""

_CODE = ("raw_code", "raw_sql", "path", "identifier", "description", "checksum", "columns", "expression")
_SOURCES = frozenset(("source", "seed"))
_STORED = frozenset(("model", "snapshot"))


def read(path: Path) -> Recording:
    """The nodes of a ``manifest.json``, plain or with ``.xz``, or of all such files of a folder (`each_of`).

    Raises
    ------
    InvalidFile
        The witness names file and field.

    Notes
    -----
    Links are those of ``depends_on.nodes``. Where ``parent_map`` or ``child_map`` says otherwise the
    difference is reported. Macros are code, and not followed.
    """
    return each_of(path, ("manifest.json",), _read)


def _read(path: Path) -> Recording:
    return read_json(path, lambda value: _recording(as_object(value, "manifest")))


def edges_of(manifest: Row) -> dict[str, frozenset[tuple[str, str]]]:
    """The three statements of the edges (parent, child), by the field that makes each.

    A map that is not there is not in the result.
    """
    declared = _declared(manifest)
    stated = {"depends_on": frozenset(_depends(declared))}
    for name in ("parent_map", "child_map"):
        if manifest.get(name) is not None:
            lists = as_object(manifest[name], name)
            pairs = (
                (as_text(other, f"{name}.{node}"), node)
                for node, others in lists.items()
                for other in as_list(others, f"{name}.{node}")
            )
            stated[name] = frozenset(pairs if name == "parent_map" else ((b, a) for a, b in pairs))
    return stated


def _declared(manifest: Row) -> dict[str, Row]:
    found: dict[str, Row] = {}
    for section in SECTIONS:
        declared = manifest.get(section)
        for id, node in as_object({} if declared is None else declared, section).items():
            if id in found:
                raise InvalidInput(f"{id} is declared twice", witness=f"{section}.{id}")
            found[id] = as_object(node, f"{section}.{id}")
    if not found and "nodes" not in manifest:
        raise InvalidInput("this is no manifest: it has no nodes", witness="nodes")
    return found


def _depends(declared: dict[str, Row]) -> list[tuple[str, str]]:
    return [
        (as_text(other, f"{id}.depends_on.nodes"), id)
        for id, node in declared.items()
        for other in as_list(
            as_object(node.get("depends_on") or {}, f"{id}.depends_on").get("nodes") or [],
            f"{id}.depends_on.nodes",
        )
    ]


def _recording(manifest: Row) -> Recording:
    recorder = Recorder("dbt")
    declared = _declared(manifest)
    for id, node in declared.items():
        recorder.add(_item(id, node))
    for parent, child in _depends(declared):
        recorder.link(parent, child, Relation.DERIVE)
    stated = edges_of(manifest)
    for name in ("parent_map", "child_map"):
        if name not in stated:
            recorder.miss(f"manifests without {name}", name)
            continue
        for parent, child in sorted(stated[name] - stated["depends_on"]):
            recorder.miss(f"edges that only {name} states, left out", f"{parent} -> {child}")
        for parent, child in sorted(stated["depends_on"] - stated[name]):
            recorder.miss(f"edges that {name} lacks", f"{parent} -> {child}")
    return recorder.finish()


def _item(id: str, node: Row) -> Item:
    sort = str(node.get("resource_type") or id.partition(".")[0])
    about: dict[str, Json] = {name: node[name] for name in _CODE if node.get(name) not in (None, "", {})}
    return Item(
        id=id,
        what=f"{sort}s",
        content=canonical({"type": sort, "name": str(node.get("name") or id), **about}),
        kind=Kind.RECORD if sort in _SOURCES else Kind.CACHE if sort in _STORED else Kind.SUMMARY,
        source=Source.SYSTEM,
        recipe=Recipe(observed=sort in _STORED),
    )
