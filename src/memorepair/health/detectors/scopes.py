"""Scopes: nobody's memory is made from another's, and nothing about one owner lies with another."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np

from memorepair.health.detector import Asked, Found, about
from memorepair.health.finding import Damage, Finding, Level
from memorepair.health.rows import Rows

AGREE = 0.95
"""Share of the artifacts that must lie where their owner's lie, for the owner to tell the scope."""

ENOUGH = 3
"""Artifacts of one owner below which it has no home."""

_LONGEST = 128
"""Characters of a value that can name an owner."""


class Scopes:
    """Influence across scopes, and owners who are found in two places."""

    name = "scopes"
    level = Level.MEANING
    damages = frozenset({Damage.SCOPE})

    def find(self, rows: Rows, asked: Asked) -> Found:
        """O(arcs + characters of metadata)."""
        findings = [*self._across(rows, asked), *self._strays(rows, asked)]
        return Found(findings=tuple(findings))

    def _across(self, rows: Rows, asked: Asked) -> list[Finding]:
        """A child in a scope that is neither inside its parent's nor around it."""
        src, dst, _ = rows.arcs
        scope = rows.survey.scope
        crossing = np.flatnonzero((scope[src] != scope[dst]) & rows.served[dst])
        names = [tuple(name.split("/")) if name else () for name in rows.survey.scopes]
        findings: list[Finding] = []
        told: set[int] = set()
        for arc in crossing.tolist():
            parent, child = int(src[arc]), int(dst[arc])
            home, other = names[scope[child]], names[scope[parent]]
            shared = min(len(home), len(other))
            if home[:shared] == other[:shared] or child in told or not asked.wants(child):
                continue
            told.add(child)
            findings.append(
                about(
                    self,
                    rows,
                    [parent, child],
                    "scope_crossed",
                    "the second was made from the first, which lies in a scope apart from its own",
                    confidence=0.9,
                )
            )
        return findings

    def _strays(self, rows: Rows, asked: Asked) -> list[Finding]:
        """Rows whose slot's entity, or a member of whose metadata, names an owner who lives elsewhere.

        A member tells the scope where nearly all its values have one home each, and there are several homes:
        ``user_id`` does, ``colour`` does not.
        """
        scope = rows.survey.scope
        where: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        for row, slot in rows.slots.items():
            if rows.served[row]:
                where["entity"][slot.entity].append(row)
        for row, meta in enumerate(rows.survey.metas):
            if meta is None or not rows.served[row] or '"metadata"' not in meta:
                continue
            for name, value in rows.metadata(row).items():
                if (
                    isinstance(value, str | int)
                    and not isinstance(value, bool)
                    and len(str(value)) <= _LONGEST
                ):
                    where[f"metadata {name}"][str(value)].append(row)
        strays: dict[int, Finding] = {}
        for member, owners in where.items():
            settled = {value: found for value, found in owners.items() if len(found) >= ENOUGH}
            homes = {
                value: Counter(scope[found].tolist()).most_common(1)[0] for value, found in settled.items()
            }
            total = sum(map(len, settled.values()))
            if not homes or len({home for home, _ in homes.values()}) < 2:
                continue
            if sum(n for _, n in homes.values()) < AGREE * total:
                continue
            for value, found in settled.items():
                home, n = homes[value]
                if n <= len(found) / 2:
                    continue
                for row in found:
                    if scope[row] != home and row not in strays and asked.wants(row):
                        strays[row] = about(
                            self,
                            rows,
                            [row],
                            "scope_stray",
                            f"others with its {member} lie in another scope",
                            confidence=n / len(found),
                            measured={"member": member, "at_home": n, "of": len(found)},
                        )
        return [strays[row] for row in sorted(strays)]
