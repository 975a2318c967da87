"""Metadata: descriptions are valid, and say what others of their sort say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

from memorepair.graphs.terms import Kind
from memorepair.health.detector import Asked, Found, about
from memorepair.health.finding import Damage, Finding, Level
from memorepair.health.rows import Rows
from memorepair.memory.artifact import Json
from memorepair.repair.checks.schema import violation

USUAL = 0.95
"""A member that so many of a sort have is missing where it is not there."""

ENOUGH = 30
"""Artifacts of one sort below which nothing is usual."""

_Sort = tuple[int, str | None, str | None]


class Metadata:
    """The JSON that describes an artifact, against its schema and against its like."""

    name = "metadata"
    level = Level.STRUCTURE
    damages = frozenset({Damage.STRUCTURE})

    def find(self, rows: Rows, asked: Asked) -> Found:
        """O(characters of metadata)."""
        findings = [
            about(
                self,
                rows,
                [row],
                "metadata_invalid",
                f"its {member} is not what the store writes",
                measured={"member": member},
            )
            for row, member in rows.broken
            if asked.wants(row)
        ]
        members: dict[_Sort, list[int]] = {}
        said: dict[_Sort, Counter[str]] = {}
        whole = {row for row, member in rows.broken if member in ("meta", "metadata")}
        # Only of sorts that have metadata at all: most artifacts of most stores have none.
        rich = {self._sort(rows, row) for row, meta in enumerate(rows.survey.metas) if meta is not None}
        for row in range(rows.n):
            sort = self._sort(rows, row)
            if not rows.served[row] or row in whole or sort not in rich:
                continue
            metadata = rows.metadata(row)
            members.setdefault(sort, []).append(row)
            said.setdefault(sort, Counter()).update(metadata.keys())
            if asked.wants(row):
                findings += self._against_schema(rows, row, metadata, asked)
        for sort, group in members.items():
            usual = {name for name, n in said[sort].items() if n >= USUAL * len(group) and n < len(group)}
            if len(group) < ENOUGH or not usual:
                continue
            for row in group:
                missing = usual - set(rows.metadata(row))
                if missing and asked.wants(row):
                    name = min(missing)
                    findings.append(
                        about(
                            self,
                            rows,
                            [row],
                            "metadata_missing",
                            "it lacks what others of its sort state: " + ", ".join(sorted(missing)),
                            confidence=said[sort][name] / len(group),
                            measured={
                                "missing": name,
                                "share": said[sort][name] / len(group),
                                "of": len(group),
                            },
                        )
                    )
        return Found(findings=tuple(findings))

    @staticmethod
    def _sort(rows: Rows, row: int) -> _Sort:
        return int(rows.survey.kind[row]), rows.types[row], rows.sources[row]

    def _against_schema(
        self, rows: Rows, row: int, metadata: Mapping[str, Json], asked: Asked
    ) -> list[Finding]:
        kind = int(rows.survey.kind[row])
        names = [rows.types[row], Kind(kind).name.lower() if kind in set(Kind) else None]
        findings: list[Finding] = []
        for name in names:
            schema = asked.expected.schemas.get(name or "", MappingProxyType({}))
            broken = violation(schema, dict(metadata)) if schema else None
            if broken is not None:
                findings.append(
                    about(
                        self,
                        rows,
                        [row],
                        "metadata_schema",
                        f"its metadata break the schema of {name}: {broken}",
                        measured={"schema": name, "broken": broken},
                    )
                )
        return findings
