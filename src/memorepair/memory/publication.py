"""Publication: staged successors, and the one transaction that serves those that were validated."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from memorepair.errors import InvalidInput, StaleRead, UnknownId
from memorepair.memory import index
from memorepair.memory.artifact import CaseStatus, Draft, Key, Read, State
from memorepair.memory.barrier import Barrier
from memorepair.memory.cases import REMOVING
from memorepair.memory.codec import Prepared
from memorepair.memory.connection import Connection
from memorepair.memory.exchange import Release, Successor
from memorepair.memory.journal import Journal
from memorepair.memory.keys import Place, find, known, named_twice, place
from memorepair.memory.writer import Arc, Writer, add_arcs, retire_arcs

Versioned = tuple[Key, int]

# Engine read: the text becomes a digest at once.
_TEXT = "SELECT text FROM content WHERE vid = ?"

_SHOWN = """SELECT v.vid FROM version v LEFT JOIN barrier b ON b.vid = v.vid
    WHERE v.aid = ? AND v.no = ? AND b.vid IS NULL"""


class Publication:
    """Stage, reject, publish, discard; every method runs inside the caller's transaction."""

    def __init__(self, db: Connection, journal: Journal, barrier: Barrier, writer: Writer) -> None:
        self._db = db
        self._journal = journal
        self._barrier = barrier
        self._writer = writer

    def stage(self, case: int, prepared: Prepared) -> int:
        """Store a successor behind the barrier; its number."""
        there = place(self._db, prepared.draft.key)
        self._require_members(case, {prepared.draft.key: there})
        self._writer.refuse_tombstoned([prepared], successors=True)
        vid, no = self._writer.stage(prepared, there)
        with self._journal.entry("stage", case=case) as seq:
            self._journal.add(seq, [(vid, None, State.QUARANTINED)])
        self._barrier.bar(vid, State.QUARANTINED, case)
        self._db.run("INSERT INTO staged(vid, cause) VALUES(?,?)", (vid, case))
        return no

    def reject(self, case: int, versions: Sequence[Versioned], reason: str | None) -> None:
        """Leave staged successors in quarantine for good."""
        vids = self._staged(case, versions)
        with self._journal.entry("reject", case=case, reason=reason) as seq:
            self._journal.add(seq, ((vid, State.QUARANTINED, State.QUARANTINED) for vid in vids))
        self._unstage(vids)

    def discard(self, case: int) -> int:
        """Remove the content of successors neither published nor rejected; their numbers stay given out."""
        vids = [
            vid for (vid,) in self._db.rows("SELECT vid FROM staged WHERE cause = ? ORDER BY vid", (case,))
        ]
        if not vids:
            return 0
        with self._journal.entry("discard", case=case) as seq:
            self._journal.add(seq, ((vid, State.QUARANTINED, State.ERASED) for vid in vids))
        for table in ("content", "vector", "recipe"):
            self._db.many(f"DELETE FROM {table} WHERE vid = ?", ((vid,) for vid in vids))  # noqa: S608  literals
        self._barrier.move(vids, State.ERASED, case)
        self._unstage(vids)
        return len(vids)

    def publish(
        self,
        case: int,
        successors: Sequence[Successor],
        releases: Sequence[Release],
        brought: Sequence[Prepared],
        verdicts: tuple[tuple[str, str], ...],
        past: Collection[Versioned],
        expect: Callable[[], None] | None,
    ) -> None:
        """Serve successors in place of their former versions, released versions as they are, what is brought.

        What is brought is written first, on what is served already, so that successors may read it; what it
        reads of the successors, and of the past, is added when they are there.
        """
        if expect is not None:
            expect()
        everything: list[Successor | Release] = [*successors, *releases]
        keys = [one.key for one in everything]
        earlier = self._earlier(past)
        later = _Later(frozenset(keys), earlier)
        overtaken = self._bring(case, brought, later)
        if (twice := named_twice(keys)) is not None:
            raise InvalidInput(f"{twice} is published twice", witness=twice)
        places = find(self._db, [*keys, *(read.key for one in everything for read in one.reads)])
        olds = {key: known(places, key) for key in keys}
        self._require_members(case, olds)
        new = dict(
            zip(
                (one.key for one in successors),
                self._staged(case, [(one.key, one.version) for one in successors]),
                strict=True,
            )
        )
        # What an execution came out with is learned again; what is released without one never was forgotten.
        self._require_learnable(
            {new.get(one.key, olds[one.key].vid): one.key for one in everything if one.verdicts}
            | {vid: key for key, vid in new.items()}
        )
        coming = {(one.key, one.version): new[one.key] for one in successors}
        coming |= {(one.key, olds[one.key].no): olds[one.key].vid for one in releases}
        coming |= overtaken | earlier
        arcs: dict[Arc, int] = {}
        for one in everything:
            for arc in _arcs(olds[one.key].aid, one.key, one.reads, places, coming):
                arcs.setdefault(arc, len(arcs))
        former = [olds[one.key] for one in successors]
        released = [olds[one.key] for one in releases]
        with self._journal.entry("publish", case=case) as seq:
            self._journal.add(seq, ((old.vid, State.WITHDRAWN, State.SUPERSEDED) for old in former))
            self._journal.add(seq, ((vid, State.QUARANTINED, State.ACTIVE) for vid in new.values()))
            self._journal.add(seq, ((old.vid, State.WITHDRAWN, State.ACTIVE) for old in released))
            self._db.many(
                "INSERT INTO verdict(seq, vid, name, word) VALUES(?,?,?,?)",
                (
                    (seq, new.get(one.key, olds[one.key].vid), name, word)
                    for one in everything
                    for name, word in one.verdicts
                ),
            )
            index.remove(self._db, (old.vid for old in former))
            retire_arcs(self._db, ((old.aid, old.vid) for old in former))
            # A release keeps its version: its arcs are re-pointed, and no former version keeps the old ones.
            self._db.many(
                """INSERT INTO arc_image(seq, dst_vid, src_vid, rel, grp, pos)
                SELECT ?, ?, src_vid, rel, grp, pos FROM arc WHERE dst = ?""",
                ((seq, old.vid, old.aid) for old in released),
            )
            self._db.many("DELETE FROM arc WHERE dst = ?", ((old.aid,) for old in released))
            add_arcs(self._db, arcs)
            self._db.many(
                "UPDATE artifact SET cur = ? WHERE aid = ?",
                ((vid, olds[key].aid) for key, vid in new.items()),
            )
            index.add(self._db, new.values())
            self._barrier.move((old.vid for old in former), State.SUPERSEDED, case)
            self._barrier.lift([*new.values(), *(old.vid for old in released)])
            self._unstage(new.values())
            joined = self._join(brought, later)
            there = find(self._db, [one.draft.key for one in brought]) if verdicts else {}
            self._db.many(
                "INSERT INTO verdict(seq, vid, name, word) VALUES(?,?,?,?)",
                ((seq, one.vid, name, word) for one in there.values() for name, word in verdicts),
            )
            self._journal.add(seq, ((vid, State.ACTIVE, State.ACTIVE) for vid in joined))
            self._journal.stand(seq, [*new.values(), *(old.vid for old in released), *joined])

    def _earlier(self, past: Collection[Versioned]) -> dict[Versioned, int]:
        """The former versions that something has read; each must still be one that `history` shows."""
        places = find(self._db, (key for key, _ in past))
        found: dict[Versioned, int] = {}
        for key, no in past:
            row = self._db.row(_SHOWN, (known(places, key).aid, no))
            if row is None:
                raise StaleRead(f"version {no} of {key} is not shown any more", witness=(key, no))
            found[key, no] = row[0]
        return found

    def _bring(self, case: int, brought: Sequence[Prepared], later: _Later) -> dict[Versioned, int]:
        """Write what is brought; the versions that it overtakes, which successors may have read before."""
        for prepared in brought:
            if prepared.draft.key in later.keys:
                raise InvalidInput(f"{prepared.draft.key} is published twice", witness=prepared.draft.key)
        if not brought:
            return {}
        olds = find(self._db, [one.draft.key for one in brought])
        standing = [
            one._replace(draft=replace(one.draft, reads=later.of(one.draft, late=False))) for one in brought
        ]
        self._writer.write(standing, act="bring", case=case, allow_cycles=True)
        return {(key, old.no): old.vid for key, old in olds.items() if old.state is State.ACTIVE}

    def _join(self, brought: Sequence[Prepared], later: _Later) -> list[int]:
        """Let what was brought stand on what has come as well; the versions that do."""
        reads = {one.draft.key: later.of(one.draft, late=True) for one in brought}
        places = find(self._db, [*reads, *(read.key for some in reads.values() for read in some)])
        arcs: dict[Arc, int] = {}
        for key, some in reads.items():
            for arc in _arcs(known(places, key).aid, key, some, places, later.earlier):
                arcs.setdefault(arc, len(arcs))
        add_arcs(self._db, arcs)
        vids = {there.aid: there.vid for there in places.values()}
        return sorted({vids[dst] for _, _, dst, _, _ in arcs})

    # checks ----------------------------------------------------------------------------------------

    def _require_members(self, case: int, places: dict[Key, Place]) -> None:
        """Every artifact must still be withdrawn as a member of the case, and not the root of a deletion."""
        if self._db.row("SELECT 1 FROM cases WHERE cause = ? AND status = ?", (case, CaseStatus.UNDONE)):
            raise InvalidInput(f"case {case} has been undone", witness=case)
        for key, there in places.items():
            if there.state is not State.WITHDRAWN:
                raise StaleRead(f"{key} is {there.state.name.lower()}, not withdrawn any more", witness=key)
        by_vid = {there.vid: key for key, there in places.items()}
        vids = json.dumps(list(by_vid))
        members = self._db.rows(
            """SELECT r.vid FROM journal j CROSS JOIN json_each(?) e CROSS JOIN journal_row r
            ON r.seq = j.seq AND r.vid = e.value WHERE j.cause = ? AND j.act = 'withdraw'""",
            (vids, case),
        )
        for vid in by_vid.keys() - {vid for (vid,) in members}:
            raise UnknownId(f"{by_vid[vid]} is no member of case {case}", witness=by_vid[vid])
        for (vid,) in self._db.rows(
            """SELECT b.vid FROM json_each(?) e CROSS JOIN barrier b ON b.vid = e.value
            JOIN case_root r ON r.cause = b.cause AND r.vid = b.vid JOIN cases k ON k.cause = b.cause
            WHERE k.tau IN (?, ?)""",
            (vids, *REMOVING),
        ):
            raise StaleRead(f"{by_vid[vid]} is a root of a deletion", witness=by_vid[vid])

    def _require_learnable(self, versions: Mapping[int, Key]) -> None:
        """A deletion may have come after the stage: what it forbids is not published."""
        if self._db.row("SELECT 1 FROM tombstone LIMIT 1") is None:
            return
        for vid, key in versions.items():
            for (text,) in self._db.rows(_TEXT, (vid,)):
                if self._writer.is_tombstoned(key, text, successor=True):
                    raise StaleRead(f"what {key} says has been removed meanwhile", witness=key)

    def _staged(self, case: int, versions: Sequence[Versioned]) -> list[int]:
        numbers = find(self._db, (key for key, _ in versions))
        vids: list[int] = []
        for key, no in versions:
            row = self._db.row(
                """SELECT v.vid FROM version v JOIN staged t ON t.vid = v.vid
                WHERE v.aid = ? AND v.no = ? AND t.cause = ?""",
                (known(numbers, key).aid, no, case),
            )
            if row is None:
                raise UnknownId(f"case {case} has no staged version {no} of {key}", witness=(key, no))
            vids.append(row[0])
        return vids

    def _unstage(self, vids: Iterable[int]) -> None:
        self._db.many("DELETE FROM staged WHERE vid = ?", ((vid,) for vid in vids))


class _Later(NamedTuple):
    """What a draft cannot read by an ordinary write: what is published with it, and former versions."""

    keys: frozenset[Key]
    earlier: Mapping[Versioned, int]

    def of(self, draft: Draft, *, late: bool) -> tuple[Read, ...]:
        """The reads of such, or all others."""
        return tuple(read for read in draft.reads if self._is_late(read) is late)

    def _is_late(self, read: Read) -> bool:
        return read.key in self.keys or (read.key, read.version) in self.earlier


def _arcs(
    aid: int, key: Key, reads: Iterable[Read], places: dict[Key, Place], coming: Mapping[Versioned, int]
) -> Iterable[Arc]:
    for read in reads:
        if read.version is None:
            raise InvalidInput(f"a publication names the versions it read; {key} does not", witness=read.key)
        there = known(places, read.key)
        vid = coming.get((read.key, read.version))
        if vid is None:
            if there.state is not State.ACTIVE or there.no != read.version:
                raise StaleRead(
                    f"{key} stands on version {read.version} of {read.key}, which is not served",
                    witness=(read.key, read.version),
                )
            vid = there.vid
        yield there.aid, vid, aid, int(read.relation), read.group
