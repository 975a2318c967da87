"""The lines of a JSONL file: versions as JSON objects, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace

from memorepair.errors import InvalidInput
from memorepair.graphs.terms import Arch, Kind, Relation
from memorepair.memory.arguments import as_member
from memorepair.memory.artifact import (
    Draft,
    Embedding,
    Json,
    Key,
    Read,
    Recipe,
    Slot,
    Source,
    State,
    TaskCase,
    Type,
)
from memorepair.memory.exchange import Carried
from memorepair.memory.values import is_whole

FORMAT = "memorepair.memory"
VERSION = 1

_PLACE = frozenset({"scope", "id"})
_BARE = frozenset(
    {
        "scope",
        "id",
        "version",
        "current",
        "barred",
        "state",
        "kind",
        "arch",
        "created_at",
        "reads",
        "semantic",
    }
)
_SAID = frozenset({"content", "source", "type", "slot", "confidence", "metadata", "embedding", "recipe"})
_READ = frozenset({"scope", "id", "version", "relation", "group"})
_CASE = frozenset({"name", "contains", "excludes"})


def header(content: str, artifacts: int, versions: int) -> Json:
    """The first line; `content` is ``served``, or ``all`` in a full backup."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "content": content,
        "artifacts": artifacts,
        "versions": versions,
    }


def line_of(item: Carried) -> Json:
    """A version as its line; what is as it usually is is left out."""
    line: dict[str, Json] = {
        **_place(item.key),
        "version": item.version,
        "state": item.state.name.lower(),
        "kind": item.kind.name.lower(),
        "created_at": item.created_at,
    }
    if item.current:
        line["current"] = True
    if item.barred:
        line["barred"] = True
    if item.arch is not Arch.NONE:
        line["arch"] = item.arch.name.lower()
    if item.reads:
        line["reads"] = [
            {
                **_place(read.key),
                "version": read.version,
                "relation": read.relation.name.lower(),
                "group": read.group,
            }
            for read in item.reads
        ]
    if item.semantic:
        line["semantic"] = [_place(key) for key in item.semantic]
    return line if item.draft is None else line | _said(item.draft)


def _place(key: Key) -> dict[str, Json]:
    return {"scope": list(key.scope), "id": key.id}


def _said(draft: Draft) -> dict[str, Json]:
    said: dict[str, Json] = {"content": draft.content, "source": draft.source.value}
    if draft.type is not None:
        said["type"] = draft.type.value
    if draft.slot is not None:
        said["slot"] = {field.name: getattr(draft.slot, field.name) for field in fields(Slot)}
    if draft.confidence is not None:
        said["confidence"] = draft.confidence
    if draft.metadata:
        said["metadata"] = dict(draft.metadata)
    if draft.embedding is not None:
        said["embedding"] = {
            "vector": list(draft.embedding.vector),
            "model": draft.embedding.model,
            "revision": draft.embedding.revision,
            "normalised": draft.embedding.normalised,
        }
    if draft.recipe != Recipe():
        said["recipe"] = _recipe(draft.recipe)
    return said


def _recipe(recipe: Recipe) -> Json:
    return {
        "operator": recipe.operator,
        "version": recipe.version,
        "params": dict(recipe.params),
        "observed": recipe.observed,
        "schema": None if recipe.schema is None else dict(recipe.schema),
        "cases": [
            {"name": case.name, "contains": list(case.contains), "excludes": list(case.excludes)}
            for case in recipe.cases
        ],
        "value": recipe.value,
        "cost": recipe.cost,
    }


def read_header(line: Json) -> tuple[int, int]:
    """How many artifacts and versions the first line announces."""
    given = _object(line, frozenset({"format", "version", "content", "artifacts", "versions"}), "the header")
    if given.get("format") != FORMAT:
        raise InvalidInput(f"the first line must say format {FORMAT!r}", witness="format")
    if given.get("version") != VERSION:
        raise InvalidInput(f"version {VERSION} is read", witness="version")
    if given.get("content") not in ("served", "all"):
        raise InvalidInput("content is served or all", witness="content")
    return _whole(given, "artifacts", 0), _whole(given, "versions", 0)


def item_of(line: Json) -> Carried:
    """The version of a line; every value is checked as if a caller had given it.

    Raises
    ------
    InvalidInput
        A field that is missing, unknown, of another type or out of its range; a state that contradicts
        ``current``, ``barred`` or the content.
    """
    given = _object(line, _BARE | _SAID, "a version")
    key = _key(given)
    current, barred = _flag(given, "current"), _flag(given, "barred")
    item = Carried(
        key=key,
        version=_whole(given, "version", 1),
        current=current,
        barred=barred,
        state=as_member(State, _text(given, "state")),
        kind=as_member(Kind, _text(given, "kind")),
        arch=as_member(Arch, _text(given, "arch")) if "arch" in given else Arch.NONE,
        created_at=_whole(given, "created_at", 0),
        reads=tuple(_read(one) for one in _list(given, "reads")),
        semantic=tuple(_key(_object(one, _PLACE, "a similar artifact")) for one in _list(given, "semantic")),
        draft=None,
    )
    open_state = State.ACTIVE if current else State.SUPERSEDED
    if (item.state is State.ACTIVE) if barred else (item.state is not open_state):
        raise InvalidInput("the state contradicts current and barred", witness="state")
    if "content" not in given:
        if not barred:
            raise InvalidInput("what no barrier bars has its content", witness="content")
        if given.keys() & _SAID:
            raise InvalidInput("a description without content", witness=min(given.keys() & _SAID))
        return item
    if item.state is State.ERASED:
        raise InvalidInput("what is erased has no content", witness="content")
    return replace(item, draft=_draft(item, given))


def _draft(item: Carried, given: Mapping[str, Json]) -> Draft:
    confidence = given.get("confidence")
    return Draft(
        key=item.key,
        content=_text(given, "content"),
        kind=item.kind,
        arch=item.arch,
        source=as_member(Source, _text(given, "source")),
        type=as_member(Type, _text(given, "type")) if "type" in given else None,
        slot=_slot(given["slot"]) if "slot" in given else None,
        confidence=None if confidence is None else _number(confidence, "confidence"),
        metadata=_mapping(given, "metadata") or {},
        embedding=_embedding(given["embedding"]) if "embedding" in given else None,
        recipe=_recipe_of(given["recipe"]) if "recipe" in given else Recipe(),
    )


def _slot(value: Json) -> Slot:
    given = _object(value, frozenset(field.name for field in fields(Slot)), "slot")
    bounds = {
        name: None if given.get(name) is None else _number(given[name], name)
        for name in ("valid_from", "valid_to")
    }
    return Slot(
        entity=_text(given, "entity"),
        attribute=_text(given, "attribute"),
        value=_optional(given, "value"),
        polarity=_flag(given, "polarity", default=True),
        scene=_optional(given, "scene"),
        **bounds,
    )


def _embedding(value: Json) -> Embedding:
    given = _object(value, frozenset({"vector", "model", "revision", "normalised"}), "embedding")
    return Embedding(
        vector=tuple(_number(one, "vector") for one in _list(given, "vector")),
        model=_text(given, "model"),
        revision=_text(given, "revision"),
        normalised=_flag(given, "normalised"),
    )


def _recipe_of(value: Json) -> Recipe:
    given = _object(value, frozenset(field.name for field in fields(Recipe)), "recipe")
    numbers = {
        name: None if given.get(name) is None else _number(given[name], name) for name in ("value", "cost")
    }
    return Recipe(
        operator=_optional(given, "operator"),
        version=_text(given, "version"),
        params=_mapping(given, "params") or {},
        observed=_flag(given, "observed"),
        schema=_mapping(given, "schema"),
        cases=tuple(_case(one) for one in _list(given, "cases")),
        **numbers,
    )


def _case(value: Json) -> TaskCase:
    given = _object(value, _CASE, "a case")
    return TaskCase(
        name=_text(given, "name"), contains=_texts(given, "contains"), excludes=_texts(given, "excludes")
    )


def _read(value: Json) -> Read:
    given = _object(value, _READ, "a read")
    return Read(
        key=_key(given),
        version=_whole(given, "version", 1),
        relation=as_member(Relation, _text(given, "relation")),
        group=_whole(given, "group", 0),
    )


# values ------------------------------------------------------------------------------------------------


def _object(value: Json, known: frozenset[str], what: str) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise InvalidInput(f"{what} must be an object", witness=what)
    if unknown := value.keys() - known:
        raise InvalidInput(f"{what} has an unknown field {min(unknown)!r}", witness=min(unknown))
    return value


def _key(given: Mapping[str, Json]) -> Key:
    return Key(_texts(given, "scope"), _text(given, "id"))


def _text(given: Mapping[str, Json], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be text", witness=name)
    return value


def _optional(given: Mapping[str, Json], name: str) -> str | None:
    return None if given.get(name) is None else _text(given, name)


def _texts(given: Mapping[str, Json], name: str) -> tuple[str, ...]:
    return tuple(_text({name: one}, name) for one in _list(given, name))


def _list(given: Mapping[str, Json], name: str) -> list[Json]:
    value = given.get(name, [])
    if not isinstance(value, list):
        raise InvalidInput(f"{name} must be a list", witness=name)
    return value


def _mapping(given: Mapping[str, Json], name: str) -> dict[str, Json] | None:
    value = given.get(name)
    if value is not None and not isinstance(value, dict):
        raise InvalidInput(f"{name} must be an object", witness=name)
    return value


def _flag(given: Mapping[str, Json], name: str, *, default: bool = False) -> bool:
    value = given.get(name, default)
    if not isinstance(value, bool):
        raise InvalidInput(f"{name} must be true or false", witness=name)
    return value


def _whole(given: Mapping[str, Json], name: str, low: int) -> int:
    value = given.get(name)
    if not isinstance(value, int) or not is_whole(value, low):
        raise InvalidInput(f"{name} must be a whole number from {low} on", witness=name)
    return value


def _number(value: Json, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(f"{name} must be a number", witness=name)
    return value
