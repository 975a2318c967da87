"""Required: content, source, scope, status and kind are there, and are ones the store knows."""

from __future__ import annotations

import numpy as np

from memorepair.graphs.terms import Arch, Kind
from memorepair.health.detector import Asked, Found, about
from memorepair.health.finding import Damage, Level
from memorepair.health.rows import Rows
from memorepair.memory.artifact import State

_KINDS = [int(kind) for kind in Kind]
_ARCHS = [int(arch) for arch in Arch]
_STATES = [int(state) for state in State]

ROOT_SHARE = 0.05
"""A memory that uses scopes may keep so much in the root scope; above it, the root is a scope in use."""


class Required:
    """Fields that every artifact has."""

    name = "required"
    level = Level.STRUCTURE
    damages = frozenset({Damage.STRUCTURE, Damage.SCOPE})

    def find(self, rows: Rows, asked: Asked) -> Found:
        """O(n)."""
        survey = rows.survey
        tests = [
            ("illegal_status", ~np.isin(survey.state, _STATES), "its status is none the store knows"),
            ("illegal_kind", ~np.isin(survey.kind, _KINDS), "its kind is none the store knows"),
            ("illegal_arch", ~np.isin(survey.arch, _ARCHS), "its architecture is none the store knows"),
            ("illegal_version", survey.version < 1, "its version is no number from 1"),
            ("illegal_time", (survey.born < 0) | (survey.updated < 0), "a time of it is no number"),
            (
                "content_empty",
                rows.served & np.array([not (text or "").strip() for text in survey.texts], np.bool_),
                "it is served and says nothing",
            ),
            (
                "missing_source",
                np.array([source is None for source in rows.sources], np.bool_),
                "nobody is named who said it",
            ),
        ]
        findings = [
            about(self, rows, [row], code, why, damage=Damage.STRUCTURE)
            for code, where, why in tests
            for row in np.flatnonzero(where).tolist()
            if asked.wants(row)
        ]
        root = np.array([not name for name in survey.scopes], np.bool_)[survey.scope] & rows.served
        if 0 < root.sum() <= ROOT_SHARE * rows.n:
            findings += [
                about(
                    self,
                    rows,
                    [row],
                    "missing_scope",
                    "it has no scope in a memory that uses scopes",
                    damage=Damage.SCOPE,
                    confidence=0.9,
                    measured={"root_share": float(root.mean())},
                )
                for row in np.flatnonzero(root).tolist()
                if asked.wants(row)
            ]
        return Found(findings=tuple(findings))
