"""Rows: a survey of the store as detectors read it, every description parsed once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from memorepair.errors import InvalidInput
from memorepair.graphs.digraph import Digraph
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import Json, Key, Slot, Source, State, Type
from memorepair.memory.codec import key_of
from memorepair.memory.survey import BROKEN, Survey

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_SLOT = tuple(field.name for field in fields(Slot))
_USER = str(Source.USER)
_SOURCES = frozenset(str(source) for source in Source)
_TYPES = frozenset(str(type) for type in Type)


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """n artifacts with their current versions; row i is entry i of each column of `survey`.

    Attributes
    ----------
    survey
        The columns.
    sources, types
        (n,) names; None where a source is missing or a type is not given.
    slots
        Row -> slot, of those that have a valid one.
    confidences
        Row -> confidence, of those that state one.
    broken
        (row, member) of descriptions that are not what the store writes: ``meta`` where it is no JSON object.
    """

    survey: Survey
    sources: tuple[str | None, ...]
    types: tuple[str | None, ...]
    slots: Mapping[int, Slot]
    confidences: Mapping[int, float]
    broken: tuple[tuple[int, str], ...]

    @classmethod
    def of(cls, survey: Survey) -> Rows:
        """Parse the descriptions; O(characters)."""
        sources: list[str | None] = [_USER] * len(survey.metas)
        types: list[str | None] = [None] * len(survey.metas)
        slots: dict[int, Slot] = {}
        confidences: dict[int, float] = {}
        broken: list[tuple[int, str]] = []
        for row, meta in enumerate(survey.metas):
            if meta is None:
                continue
            said = _object(meta)
            if said is None:
                sources[row] = None
                broken.append((row, "meta"))
                continue
            source, type = said.get("source", _USER), said.get("type")
            sources[row] = source if isinstance(source, str) and source in _SOURCES else None
            if isinstance(type, str) and type in _TYPES:
                types[row] = type
            elif type is not None:
                broken.append((row, "type"))
            slot = _slot(said.get("slot"))
            if slot is not None:
                slots[row] = slot
            elif said.get("slot") is not None:
                broken.append((row, "slot"))
            confidence = said.get("confidence")
            if isinstance(confidence, int | float) and 0 <= confidence <= 1:
                confidences[row] = confidence
            elif confidence is not None:
                broken.append((row, "confidence"))
            if not isinstance(said.get("metadata", {}), dict):
                broken.append((row, "metadata"))
        return cls(
            survey=survey,
            sources=tuple(sources),
            types=tuple(types),
            slots=slots,
            confidences=confidences,
            broken=tuple(broken),
        )

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.survey.aid)

    @cached_property
    def served(self) -> Mask:
        """(n,) whether no barrier stands."""
        return np.asarray(self.survey.state == State.ACTIVE, np.bool_)

    @cached_property
    def remembered(self) -> Mask:
        """(n,) whether it is served as memory; what a step of a run said, it said then."""
        return self.served & (self.survey.kind < Kind.USER_INPUT)

    @cached_property
    def place(self) -> Mapping[int, int]:
        """aid -> row."""
        return dict(zip(self.survey.aid.tolist(), range(self.n), strict=True))

    def key(self, row: int) -> Key:
        """The key of a row."""
        return key_of(self.survey.scopes[self.survey.scope[row]], self.survey.ids[row])

    def text(self, row: int) -> str:
        """Content of a served row; empty of any other."""
        return self.survey.texts[row] or ""

    def metadata(self, row: int) -> Mapping[str, Json]:
        """The metadata of a served row; empty where it is none or invalid."""
        meta = self.survey.metas[row]
        said = None if meta is None else _object(meta)
        inner = None if said is None else said.get("metadata")
        return inner if isinstance(inner, dict) else {}

    def find(self, aids: Ints) -> Ints:
        """Rows of artifacts; -1 of those that are not here. O(k log n)."""
        if not self.n:
            return np.full(len(aids), BROKEN, np.int64)
        ascending = self.survey.aid
        at = np.minimum(np.searchsorted(ascending, aids), self.n - 1)
        return np.where(ascending[at] == aids, at, BROKEN)

    @cached_property
    def arcs(self) -> tuple[Ints, Ints, Ints]:
        """(source row, target row, relation) of the arcs whose two ends are here."""
        src, dst = self.find(self.survey.arcs[:, 0]), self.find(self.survey.arcs[:, 1])
        here = (src >= 0) & (dst >= 0)
        return src[here], dst[here], self.survey.arcs[here, 2]

    @cached_property
    def influence(self) -> Digraph:
        """Parent to child, over the rows."""
        src, dst, _ = self.arcs
        return Digraph.from_arcs(self.n, src, dst)

    def together(self, one: int, other: int) -> bool:
        """Whether the validity intervals of two rows meet; half open, unbounded where none is given."""
        a, b = self.slots.get(one), self.slots.get(other)
        if a is None or b is None:
            return True
        return _before(a.valid_from, b.valid_to) and _before(b.valid_from, a.valid_to)


def _before(start: float | None, end: float | None) -> bool:
    return start is None or end is None or start < end


def _object(text: str) -> dict[str, Json] | None:
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


def _slot(said: Json) -> Slot | None:
    if not isinstance(said, list) or len(said) != len(_SLOT):
        return None
    try:
        return Slot(**dict[str, Any](zip(_SLOT, said, strict=True)))
    except InvalidInput:
        return None
