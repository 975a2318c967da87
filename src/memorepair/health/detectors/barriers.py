"""Barriers: every barrier belongs to an event, every successor to a repair that is under way."""

from __future__ import annotations

import numpy as np

from memorepair.graphs.terms import Relation
from memorepair.health.detector import Asked, Found, about
from memorepair.health.finding import Damage, Finding, Level
from memorepair.health.rows import Rows
from memorepair.memory.artifact import CaseStatus, State
from memorepair.memory.survey import BROKEN

_DECLARED = (int(State.WITHDRAWN), int(State.ARCHIVED))


class Barriers:
    """Barrier rows without an event, successors without a repair, old sides that are still served."""

    name = "barriers"
    level = Level.STRUCTURE
    damages = frozenset({Damage.STRUCTURE})

    def find(self, rows: Rows, asked: Asked) -> Found:
        """O(barriers + arcs)."""
        return Found(findings=(*self._undeclared(rows), *self._orphans(rows), *self._superseded(rows, asked)))

    def _undeclared(self, rows: Rows) -> list[Finding]:
        vid, state, case = rows.survey.barrier.T
        cases = np.array(sorted(rows.survey.cases), np.int64)
        lost = np.where(case == BROKEN, np.isin(state, _DECLARED), ~np.isin(case, cases))
        return [
            about(
                self,
                rows,
                row,
                "barrier_without_event",
                "it is out of service, and no event says why",
                measured={"version": int(vid[at]), "state": int(state[at])},
            )
            for at in np.flatnonzero(lost).tolist()
            for row in [np.flatnonzero(rows.survey.vid == vid[at]).tolist()]
        ]

    def _orphans(self, rows: Rows) -> list[Finding]:
        running = {number for number, status in rows.survey.cases.items() if status == CaseStatus.RUNNING}
        return [
            about(
                self,
                rows,
                np.flatnonzero(rows.survey.vid == vid).tolist(),
                "orphaned_successor",
                "a successor is staged, and no repair is under way that would publish it",
                measured={"version": vid, "case": case},
            )
            for vid, case in rows.survey.staged.tolist()
            if case not in running
        ]

    def _superseded(self, rows: Rows, asked: Asked) -> list[Finding]:
        src, dst, relation = rows.arcs
        still = (relation == Relation.SUPERSEDE) & rows.served[src] & rows.served[dst]
        return [
            about(
                self,
                rows,
                [old, new],
                "superseded_still_served",
                "the second has superseded the first, and both are served",
            )
            for old, new in zip(src[still].tolist(), dst[still].tolist(), strict=True)
            if asked.wants(old) or asked.wants(new)
        ]
