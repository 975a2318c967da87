"""Codec: rows of the database from values, values from rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from memorepair.errors import InvalidInput
from memorepair.graphs.terms import Arch, Kind
from memorepair.memory.artifact import (
    SCOPES_KEPT,
    Artifact,
    Draft,
    Embedding,
    Json,
    Key,
    Listing,
    Recipe,
    Scope,
    Slot,
    Source,
    State,
    TaskCase,
    Type,
)
from memorepair.memory.connection import Row
from memorepair.memory.values import check_type, named, to_json
from memorepair.memory.vectors import STORED, Embedder, Space, embedded, space_of

_NO_RECIPE = Recipe()


class StoredVector(NamedTuple):
    """A vector for the database: `given` by the draft, or made by the store's embedder."""

    given: bool
    space: Space
    blob: bytes


class Prepared(NamedTuple):
    """A draft that has been checked, with its texts for the database."""

    draft: Draft
    meta: str | None
    recipe: str | None
    vectors: tuple[StoredVector, ...]


def scope_name(scope: Scope) -> str:
    """A scope as stored: no part contains a slash, so it reads back."""
    return "/".join(scope)


def key_of(name: str, id: str) -> Key:
    """The key of a stored scope and id."""
    return Key(scope_of(name), id)


@lru_cache(maxsize=SCOPES_KEPT)
def scope_of(name: str) -> Scope:
    """A stored scope."""
    return tuple(name.split("/")) if name else ()


UNREAD = 3 * "\uf000"
"""Follows the scope of a text that the index does not read to its end."""


def token(sid: int, text: str = "") -> str:
    """A scope as exactly one trigram of private-use characters: the index then intersects scope and words.

    Where the text has a NUL, at which the index ends it, `UNREAD` follows.
    """
    scope = "".join(chr(0xE000 + (sid >> shift & 0xFFF)) for shift in (24, 12, 0))
    return scope + UNREAD if "\0" in text else scope


def prepare(drafts: Iterable[Draft]) -> list[Prepared]:
    """Encode drafts, which have checked themselves."""
    if not isinstance(drafts, Iterable):
        raise InvalidInput(f"drafts are a sequence of Draft, not {named(drafts)}", witness=drafts)
    return [_prepare(draft) for draft in drafts]


def _prepare(draft: Draft) -> Prepared:
    check_type(draft, Draft, "what is written is a Draft")
    return Prepared(
        draft=draft,
        meta=_meta(draft),
        recipe=None if draft.recipe == _NO_RECIPE else _recipe(draft.recipe, draft.key),
        vectors=() if draft.embedding is None else (_given(draft.embedding),),
    )


def _given(embedding: Embedding) -> StoredVector:
    space = Space(embedding.model, embedding.revision, len(embedding.vector), embedding.normalised)
    return StoredVector(True, space, np.asarray(embedding.vector, STORED).tobytes())


def embed(prepared: list[Prepared], embedder: Embedder | None) -> list[Prepared]:
    """The drafts with the vectors an embedder makes of them; none where a draft brings one of its space.

    Raises
    ------
    InvalidInput
        What the embedder gives is not what it promises.
    """
    if embedder is None:
        return prepared
    space = space_of(embedder)
    wanted = [place for place, p in enumerate(prepared) if all(one.space != space for one in p.vectors)]
    if not wanted:
        return prepared
    made = embedded(embedder, [prepared[place].draft.content for place in wanted]).astype(STORED)
    found = list(prepared)
    for place, vector, says in zip(wanted, made, np.any(made, axis=1).tolist(), strict=True):
        if says:
            fresh = StoredVector(False, space, vector.tobytes())
            found[place] = found[place]._replace(vectors=(*found[place].vectors, fresh))
    return found


def check_limit(limit: int | None) -> int:
    """The limit as SQLite takes it: -1 for none."""
    if limit is None:
        return -1
    if isinstance(limit, bool) or not isinstance(limit, int) or not 0 < limit < 2**31:
        raise InvalidInput("a limit is a positive number", witness=limit)
    return limit


def _meta(draft: Draft) -> str | None:
    said: dict[str, object] = {}
    if draft.source is not Source.USER:
        said["source"] = str(draft.source)
    if draft.type is not None:
        said["type"] = str(draft.type)
    if draft.slot is not None:
        said["slot"] = [getattr(draft.slot, field.name) for field in fields(Slot)]
    if draft.confidence is not None:
        said["confidence"] = draft.confidence
    if draft.metadata:
        said["metadata"] = dict(draft.metadata)
    return to_json(said, f"the metadata of {draft.key}", draft.key) if said else None


def _recipe(recipe: Recipe, key: Key) -> str:
    body = {field.name: getattr(recipe, field.name) for field in fields(Recipe)}
    body["cases"] = [[case.name, list(case.contains), list(case.excludes)] for case in recipe.cases]
    return to_json(body, f"the recipe of {key}", key)


def recipe_of(body: str | None) -> Recipe:
    """The recipe a version was stored with."""
    if body is None:
        return _NO_RECIPE
    stored = json.loads(body)
    stored["cases"] = tuple(
        TaskCase(name=name, contains=tuple(contains), excludes=tuple(excludes))
        for name, contains, excludes in stored["cases"]
    )
    for name in ("params", "schema"):
        if stored[name] is not None:
            stored[name] = MappingProxyType(stored[name])
    return Recipe(**stored)


def slot_of(meta: str | None) -> Slot | None:
    """The slot in what describes a content, as stored."""
    slot = None if meta is None else json.loads(meta).get("slot")
    return (
        None if slot is None else Slot(**dict(zip((field.name for field in fields(Slot)), slot, strict=True)))
    )


def stated(slot: Slot | None) -> str | None:
    """What a slot states, as a text that no content is; None where it has no value."""
    if slot is None or slot.value is None:
        return None
    parts = (slot.entity, slot.attribute, slot.value, str(slot.polarity), slot.scene or "")
    return "\0".join(("slot", *parts))


PENDING = "EXISTS(SELECT 1 FROM mark m WHERE m.vid = v.vid AND m.weight ISNULL)"
"""Whether a person is to review the version v, which is served meanwhile."""

ARTIFACT = f"""s.name, a.id, v.no, c.text, v.kind, v.arch, c.meta, x.v, p.model, p.revision, p.normalised,
    {PENDING}, a.born, v.born, u.last"""
"""Columns of `artifact_of`: scope s, artifact a, version v, content c, vector x, space p, usage u."""


def artifact_of(row: Row, state: State) -> Artifact:
    """An artifact from the columns `ARTIFACT`."""
    name, id, no, text, kind, arch, meta, vector, model, revision, normalised, pending, *times = row
    created, updated, last = times
    said: dict[str, Any] = {} if meta is None else json.loads(meta)
    return Artifact(
        key=key_of(name, id),
        version=no,
        content=text,
        kind=Kind(kind),
        arch=Arch(arch),
        state=State.PENDING_REVIEW if pending and state is State.ACTIVE else state,
        source=Source(said.get("source", Source.USER)),
        type=Type(said["type"]) if "type" in said else None,
        slot=slot_of(meta),
        confidence=said.get("confidence"),
        metadata=MappingProxyType(said.get("metadata", {})),
        embedding=None
        if vector is None
        else Embedding(
            vector=tuple(np.frombuffer(vector, STORED).tolist()),
            model=model,
            revision=revision,
            normalised=bool(normalised),
        ),
        created_at=created,
        updated_at=updated,
        last_accessed_at=last,
    )


SPACE = "SELECT space FROM space WHERE model = ? AND revision = ? AND dimension = ? AND normalised = ?"
"""The number of a `Space`."""


STATE = f"coalesce(b.state, iif({PENDING}, {State.PENDING_REVIEW}, 0))"
"""State of a current version v with its barrier b."""

LISTING = f"""s.name, a.id, v.no, v.kind, v.arch, {STATE}, b.cause, k.reason, a.born, v.born,
    v.digest"""
"""Columns of `listing_of`: scope s, artifact a, version v, barrier b, case k."""


def listing_of(row: Row) -> Listing:
    """A listing from the columns `LISTING`."""
    name, id, no, kind, arch, state, cause, reason, created, updated, digest = row
    return Listing(
        key=key_of(name, id),
        version=no,
        kind=Kind(kind),
        arch=Arch(arch),
        state=State(state),
        case=cause,
        reason=reason,
        created_at=created,
        updated_at=updated,
        digest=digest.hex(),
    )


def delta_of(text: str) -> Mapping[str, Json]:
    """What an event brought."""
    return MappingProxyType(json.loads(text))
