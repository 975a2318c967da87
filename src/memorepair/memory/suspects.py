"""Suspects: influence arcs that nobody recorded, kept apart from recorded ones, with who accepted them.

No content is kept: the words that made an arc suspect are told by the audit, of what is served, and nowhere
stored.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from memorepair.errors import StaleRead
from memorepair.memory.artifact import State
from memorepair.memory.codec import key_of
from memorepair.memory.connection import Connection, Row
from memorepair.memory.exchange import SuspectedArc
from memorepair.memory.journal import Journal
from memorepair.memory.keys import Place, find, known

_ARCS = """SELECT ps.name, pa.id, pv.no, cs.name, ca.id, cv.no, s.p, s.firm, s.why, s.cause FROM suspected s
    JOIN version pv ON pv.vid = s.src_vid JOIN artifact pa ON pa.aid = s.src
    JOIN scope ps ON ps.sid = pa.sid JOIN version cv ON cv.vid = s.dst_vid
    JOIN artifact ca ON ca.aid = s.dst JOIN scope cs ON cs.sid = ca.sid"""
_ORDER = " ORDER BY cs.name, ca.id, cv.no, s.p DESC, ps.name, pa.id, pv.no"
_TAKEN = """journal j CROSS JOIN journal_row r ON r.seq = j.seq AND j.act = 'withdraw' AND j.cause = ?1"""
_FOLLOWED = f"""s.accepted AND (s.firm OR s.p >= ?2) AND s.dst_vid IN (SELECT r.vid FROM {_TAKEN})
    AND s.src IN (SELECT v.aid FROM {_TAKEN} JOIN version v ON v.vid = r.vid)"""  # noqa: S608  literals


class Suspects:
    """Suspected arcs; every method runs inside the caller's transaction."""

    def __init__(self, db: Connection, journal: Journal) -> None:
        self._db = db
        self._journal = journal

    def judge(self, arcs: Sequence[SuspectedArc], *, accepted: bool, actor: str, reason: str) -> None:
        """Accept or reject, by a person; a judgement replaces the one before.

        Raises
        ------
        UnknownId
            An artifact does not exist.
        StaleRead
            A version is not current any more, or not served.
        """
        if not arcs:
            return
        places = find(self._db, [key for arc in arcs for key in (arc.parent, arc.child)])
        rows = []
        for arc in arcs:
            ends = (known(places, arc.parent), known(places, arc.child))
            for key, version, there in zip(
                (arc.parent, arc.child), (arc.parent_version, arc.child_version), ends, strict=True
            ):
                if there.no != version or there.state is not State.ACTIVE:
                    raise StaleRead(f"version {version} of {key} is not served any more", witness=key)
            rows.append(_row(arc, *ends, accepted=accepted))
        act = "suspect" if accepted else "dismiss"
        with self._journal.entry(act, actor=actor, reason=reason) as seq:
            children = sorted({known(places, arc.child).vid for arc in arcs})
            self._journal.add(seq, ((vid, State.ACTIVE, State.ACTIVE) for vid in children))
            self._insert("REPLACE", rows, None)
            self._journal.suspect(seq, children)

    def bring(self, case: int, arcs: Sequence[SuspectedArc]) -> None:
        """Arcs that a policy follows in one case; what a person has judged, or what has changed, stays."""
        places = find(self._db, [key for arc in arcs for key in (arc.parent, arc.child)])
        rows = []
        for arc in arcs:
            parent, child = places.get(arc.parent), places.get(arc.child)
            if parent is None or child is None:
                continue
            if (parent.no, child.no) == (arc.parent_version, arc.child_version):
                rows.append(_row(arc, parent, child, accepted=True))
        self._insert("IGNORE", rows, case)

    def settle(self, case: int, suspected: float, *, entry: int) -> None:
        """Forget those the case brought and its cascade did not follow; the entry has the rest."""
        self._db.run(
            f"""DELETE FROM suspected WHERE cause = ?1 AND (src, src_vid, dst_vid) NOT IN (
            SELECT s.src, s.src_vid, s.dst_vid FROM suspected s WHERE {_FOLLOWED})""",  # noqa: S608  literals
            (case, suspected),
        )
        self._journal.suspect(entry, self.brought(case))

    def brought(self, case: int) -> list[int]:
        """Versions (vid) into which the case has brought suspected arcs."""
        rows = self._db.rows(
            "SELECT DISTINCT dst_vid FROM suspected WHERE cause = ? ORDER BY dst_vid", (case,)
        )
        return [vid for (vid,) in rows]

    def forget(self, case: int, *, entry: int) -> None:
        """Forget those the case has brought, for it is undone."""
        children = self.brought(case)
        self._db.run("DELETE FROM suspected WHERE cause = ?", (case,))
        self._journal.suspect(entry, children)

    def of_case(self, case: int, suspected: float | None) -> list[SuspectedArc]:
        """The arcs that the case's cascade follows, by child."""
        if suspected is None:
            return []
        return [_arc(row) for row in self._db.rows(f"{_ARCS} WHERE {_FOLLOWED}{_ORDER}", (case, suspected))]

    def all(self, *, accepted: bool) -> list[SuspectedArc]:
        """Every judgement of this sort, of former versions too."""
        return [_arc(row) for row in self._db.rows(f"{_ARCS} WHERE s.accepted = ?{_ORDER}", (accepted,))]

    def beyond(self, case: int, suspected: float) -> list[int]:
        """Artifacts suspected to stand on what the case took out, whose suspected version is served."""
        rows = self._db.rows(
            f"""SELECT DISTINCT s.dst FROM {_TAKEN} CROSS JOIN suspected s ON s.src_vid = r.vid
            AND s.accepted AND (s.firm OR s.p >= ?2)
            JOIN artifact a ON a.aid = s.dst AND a.cur = s.dst_vid
            LEFT JOIN barrier b ON b.vid = a.cur WHERE b.vid IS NULL ORDER BY s.dst""",  # noqa: S608  literals
            (case, suspected),
        )
        return [aid for (aid,) in rows]

    def _insert(self, conflict: str, rows: Sequence[tuple[object, ...]], case: int | None) -> None:
        self._db.run(
            f"""INSERT OR {conflict} INTO suspected(src, src_vid, dst, dst_vid, p, firm, why, accepted, cause)
            SELECT j.value ->> 0, j.value ->> 1, j.value ->> 2, j.value ->> 3, j.value ->> 4, j.value ->> 5,
            j.value ->> 6, j.value ->> 7, ?2 FROM json_each(?1) j""",  # noqa: S608  a literal of two
            (json.dumps(rows), case),
        )


def _row(arc: SuspectedArc, parent: Place, child: Place, *, accepted: bool) -> tuple[object, ...]:
    ends = (parent.aid, parent.vid, child.aid, child.vid)
    return (*ends, arc.probability, int(arc.firm or arc.probability is None), arc.why, int(accepted))


def _arc(row: Row) -> SuspectedArc:
    parent_scope, parent, parent_no, child_scope, child, child_no, p, firm, why, cause = row
    return SuspectedArc(
        parent=key_of(parent_scope, parent),
        parent_version=parent_no,
        child=key_of(child_scope, child),
        child_version=child_no,
        probability=p,
        firm=bool(firm),
        why=why,
        case=cause,
    )
