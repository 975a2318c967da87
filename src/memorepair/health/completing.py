"""Completing: a description that is broken or lacks something, made whole from what can be known."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence

from memorepair.graphs.terms import Arch, Kind
from memorepair.health.detector import Expected
from memorepair.health.detectors.metadata import ENOUGH, USUAL
from memorepair.health.rows import Rows
from memorepair.memory.artifact import Draft, Json, Key, Recipe, Source, Type
from memorepair.memory.store import Store
from memorepair.repair.checks.schema import violation

KEPT = "unreadable"
"""Member of the metadata that keeps what was there and could not be read."""

_LONGEST = 2_000


def completed(store: Store, keys: Sequence[Key], expected: Expected) -> dict[Key, Draft]:
    """Next versions of those of the keys whose description can be made whole; the text stays as it is.

    Without a source, what is derived was extracted, and so was what nobody is named for: the least trusted of
    what it can be. A missing member takes the default of its schema, the scene of the slot, or the value
    that all others of its scope and sort have; where there is none, a person must say.
    """
    rows = Rows.of(store.survey())
    place = {rows.key(row): row for row in range(rows.n) if rows.served[row]}
    wanted = [place[key] for key in keys if key in place]
    recipes = store.recipes([rows.key(row) for row in wanted])
    usual = _usual(rows, wanted)
    broken: dict[int, set[str]] = {}
    for row, member in rows.broken:
        broken.setdefault(row, set()).add(member)
    found: dict[Key, Draft] = {}
    for row in wanted:
        draft = _whole(rows, row, broken.get(row, set()), expected, usual, recipes)
        if draft is not None:
            found[draft.key] = draft
    return found


def _whole(
    rows: Rows,
    row: int,
    broken: set[str],
    expected: Expected,
    usual: Mapping[int, Mapping[str, Json]],
    recipes: Mapping[Key, Recipe],
) -> Draft | None:
    key, kind = rows.key(row), int(rows.survey.kind[row])
    if kind not in set(Kind) or int(rows.survey.arch[row]) not in set(Arch):
        return None
    source, type = rows.sources[row], rows.types[row]
    metadata = dict(rows.metadata(row))
    lost = (rows.survey.metas[row] or "")[:_LONGEST] if broken else ""
    for name, value in usual.get(row, {}).items():
        metadata.setdefault(name, value)
    for sort in (type or "", Kind(kind).name.lower()):
        schema = expected.schemas.get(sort, {})
        properties = schema.get("properties") if schema else None
        if isinstance(properties, dict):
            for member, rule in properties.items():
                if isinstance(rule, dict) and "default" in rule:
                    metadata.setdefault(member, rule["default"])
        if schema and violation(schema, metadata):
            return None
    if source is not None and not broken and metadata == rows.metadata(row):
        return None
    if broken:
        metadata[KEPT] = lost
    return Draft(
        key=key,
        content=rows.text(row),
        kind=Kind(kind),
        arch=Arch(int(rows.survey.arch[row])),
        source=Source.EXTRACTION if source is None else Source(source),
        type=None if type is None else Type(type),
        slot=rows.slots.get(row),
        confidence=rows.confidences.get(row),
        metadata=metadata,
        recipe=recipes.get(key, Recipe()),
    )


def _usual(rows: Rows, wanted: Sequence[int]) -> dict[int, dict[str, Json]]:
    """Row -> members that it lacks and that all others of its scope and sort have with one value."""
    groups: dict[tuple[int, int, str | None], list[int]] = {}
    for row in range(rows.n):
        if rows.served[row]:
            sort = int(rows.survey.scope[row]), int(rows.survey.kind[row]), rows.types[row]
            groups.setdefault(sort, []).append(row)
    sorts = {(int(rows.survey.scope[row]), int(rows.survey.kind[row]), rows.types[row]) for row in wanted}
    values: dict[tuple[int, int, str | None], dict[str, Json]] = {}
    for sort in sorts:
        members = groups.get(sort, [])
        said: dict[str, Counter[str]] = {}
        for row in members:
            for name, value in rows.metadata(row).items():
                said.setdefault(name, Counter())[json.dumps(value, sort_keys=True)] += 1
        values[sort] = {
            name: json.loads(counts.most_common(1)[0][0])
            for name, counts in said.items()
            if len(members) >= ENOUGH and counts.most_common(1)[0][1] >= USUAL * len(members)
        }
    found: dict[int, dict[str, Json]] = {}
    for row in wanted:
        sort = int(rows.survey.scope[row]), int(rows.survey.kind[row]), rows.types[row]
        found[row] = dict(values[sort])
        slot = rows.slots.get(row)
        if slot is not None and slot.scene is not None and "scene" not in rows.metadata(row):
            found[row].setdefault("scene", slot.scene)
    return found
