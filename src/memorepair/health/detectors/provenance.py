"""Provenance: references resolve, derivations are recorded, and nothing was made from itself."""

from __future__ import annotations

import numpy as np

from memorepair.graphs.order import strong_components
from memorepair.graphs.terms import Kind, Relation
from memorepair.health.detector import Asked, Found, about
from memorepair.health.finding import Damage, Finding, Level
from memorepair.health.rows import Rows

_DERIVED = (int(Kind.SUMMARY), int(Kind.SKILL))
_RELATIONS = [int(relation) for relation in Relation]
_KNOWN, _HERE = 3, 4


class Provenance:
    """Arcs that lead nowhere or round, and derived artifacts that stand on nothing."""

    name = "provenance"
    level = Level.STRUCTURE
    damages = frozenset({Damage.STRUCTURE})

    def find(self, rows: Rows, asked: Asked) -> Found:
        """O(n + arcs)."""
        findings = [*self._dangling(rows, asked), *self._cycles(rows, asked), *self._underived(rows, asked)]
        return Found(findings=tuple(findings))

    def _dangling(self, rows: Rows, asked: Asked) -> list[Finding]:
        arcs = rows.survey.arcs
        child = rows.find(arcs[:, 1])
        lost = (arcs[:, _KNOWN] != 1) | ~np.isin(arcs[:, 2], _RELATIONS)
        findings = [
            about(
                self,
                rows,
                [row],
                "dangling_reference",
                "it was made from something that is not there",
                measured={"arcs": int(n)},
            )
            for row, n in zip(*np.unique(child[lost & (child >= 0)], return_counts=True), strict=True)
            if asked.wants(row)
        ]
        if nowhere := int((arcs[:, _HERE] != 1).sum()):
            findings.append(
                about(
                    self,
                    rows,
                    [],
                    "dangling_arc",
                    "arcs lead into artifacts that are not there",
                    measured={"arcs": nowhere},
                )
            )
        return findings + self._semantic(rows, asked)

    def _semantic(self, rows: Rows, asked: Asked) -> list[Finding]:
        if asked.fresh is not None or not len(rows.survey.semantic):
            return []  # a part of the store does not know what the rest holds
        vid, like = rows.survey.semantic.T
        order = np.argsort(rows.survey.vid)
        at = np.minimum(np.searchsorted(rows.survey.vid[order], vid), max(rows.n - 1, 0))
        current = rows.survey.vid[order][at] == vid if rows.n else np.zeros(len(vid), np.bool_)
        lost = current & (rows.find(like) < 0)
        return [
            about(self, rows, [row], "dangling_likeness", "it is said to be like something that is not there")
            for row in np.unique(order[at[lost]]).tolist()
        ]

    def _cycles(self, rows: Rows, asked: Asked) -> list[Finding]:
        src, dst, relation = rows.arcs
        label = strong_components(rows.influence)
        loop = src == dst
        inside = (label[src] == label[dst]) & (relation != Relation.SUPERSEDE)
        findings: list[Finding] = []
        for component in np.unique(label[src[inside]]).tolist():
            members = np.flatnonzero(label == component).tolist()
            if (len(members) > 1 or loop[inside & (label[src] == component)].any()) and any(
                map(asked.wants, members)
            ):
                findings.append(
                    about(
                        self,
                        rows,
                        members,
                        "provenance_cycle",
                        "they were made from each other",
                        measured={"members": len(members)},
                    )
                )
        return findings

    def _underived(self, rows: Rows, asked: Asked) -> list[Finding]:
        has_parent = np.zeros(rows.n, np.bool_)
        child = rows.find(rows.survey.arcs[:, 1])
        has_parent[child[child >= 0]] = True
        derived = np.isin(rows.survey.kind, _DERIVED)
        suspects = [row for row in np.flatnonzero(rows.served & ~has_parent).tolist() if asked.wants(row)]
        made = asked.recipes(suspects)
        findings: list[Finding] = []
        for row in suspects:
            operator, observed = made.get(row, (None, False))
            if (derived[row] or operator is not None) and not observed:
                findings.append(
                    about(
                        self,
                        rows,
                        [row],
                        "derived_without_provenance",
                        "it was derived, and nothing is recorded that it was derived from",
                        confidence=1.0 if operator is not None else 0.9,
                        measured={"operator": operator},
                    )
                )
        return findings
