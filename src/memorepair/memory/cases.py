"""Cases: declared events, from the withdrawal to the close."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from memorepair.errors import InvalidEvent, InvalidInput, UnknownId, Withdrawn
from memorepair.graphs.support import Policy
from memorepair.memory.artifact import Case, CaseStatus, Erasure, Json, Key, State
from memorepair.memory.barrier import Barrier
from memorepair.memory.codec import Prepared, delta_of, key_of, slot_of, stated
from memorepair.memory.connection import Connection
from memorepair.memory.exchange import SuspectedArc
from memorepair.memory.journal import Journal
from memorepair.memory.keys import find, known, named_twice
from memorepair.memory.secret import Secret
from memorepair.memory.suspects import Suspects
from memorepair.memory.values import to_json
from memorepair.memory.writer import Writer

DELETE = "delete"
"""The event that removes its roots in every version."""

REMOVING = (DELETE, "recover")
"""Events that may leave a root without a replacement; what they removed must not be learned again."""

# n is what the declaration withdrew, under its seal; a case widened by suspicions has withdrawn more since.
_CASES = f"""SELECT cause, tau, status, at, n + iif(suspected IS NULL, 0, (
        SELECT count(*) FROM journal j JOIN journal_row r ON r.seq = j.seq AND r.before = {State.ACTIVE}
        WHERE j.cause = cases.cause AND j.act = 'withdraw' AND j.seq > (
            SELECT min(f.seq) FROM journal f WHERE f.cause = cases.cause AND f.act = 'withdraw'))),
    actor, reason, delta, unit_value, unit_cost, attempts, erasure, suspected FROM cases"""  # noqa: S608  enum


# A member is still the case's to repair, unless another event removes it: that one archives it at its close.
_LEFT = f"""SELECT 1 FROM journal j JOIN journal_row r ON r.seq = j.seq AND r.after = ?1
    JOIN barrier b ON b.vid = r.vid AND b.state = ?1
    WHERE j.cause = ?2 AND j.act = 'withdraw' AND NOT EXISTS(
        SELECT 1 FROM case_root t JOIN cases k ON k.cause = t.cause AND k.tau IN {REMOVING}
        WHERE t.cause = b.cause AND t.vid = b.vid) LIMIT 1"""  # noqa: S608  constants


def declared(db: Connection, case: int) -> list[object]:
    """What the books say of a case's event, for the seal of its withdrawal."""
    rows = db.rows("SELECT tau, at, horizon, n, actor, reason, delta FROM cases WHERE cause = ?", (case,))
    rows += db.rows("SELECT pos, aid, vid FROM case_root WHERE cause = ? ORDER BY pos", (case,))
    rows += db.rows("SELECT vid, grp FROM spared WHERE cause = ? ORDER BY vid", (case,))
    rows += db.rows("SELECT vid, weight, at FROM mark WHERE cause = ? ORDER BY vid", (case,))
    return [*rows, buried(db, case, root=True)]


def buried(db: Connection, case: int, *, root: bool) -> list[str]:
    """The tombstones a case has set: of its roots at the withdrawal, of what was derived at the erasure."""
    found = db.rows(
        "SELECT digest, aid FROM tombstone WHERE cause = ? AND root = ? ORDER BY digest, aid", (case, root)
    )
    return [f"{digest.hex()} {aid}" for digest, aid in found]


class Cases:
    """The books of the cases; every method runs inside the caller's transaction."""

    def __init__(
        self,
        db: Connection,
        journal: Journal,
        barrier: Barrier,
        writer: Writer,
        suspects: Suspects,
        secret: Secret,
        clock: Callable[[], int],
    ) -> None:
        self._db = db
        self._journal = journal
        self._barrier = barrier
        self._writer = writer
        self._suspects = suspects
        self._secret = secret
        self._clock = clock

    def open(
        self,
        event: str,
        roots: Sequence[Key],
        *,
        actor: str | None,
        reason: str | None,
        replacements: Sequence[Prepared],
        successors: Mapping[Key, Key],
        delta: Mapping[str, Json],
        erase: bool,
        evidence: Policy = "none",
        same_origin: Sequence[Sequence[Key]] = (),
        suspected: float | None = None,
        suspects: Sequence[SuspectedArc] = (),
    ) -> int:
        """Withdraw the cascade of the roots, then serve what replaces them."""
        self._check(roots, replacements, successors)
        if erase and event != DELETE:
            raise InvalidEvent(f"a {event} event erases nothing", witness=event)
        if erase and evidence != "none":
            raise InvalidEvent("an erasure spares nothing: what stays might quote it", witness=evidence)
        places = find(self._db, roots)
        there = [known(places, root) for root in roots]
        for root, one in zip(roots, there, strict=True):
            if one.state is State.ERASED:
                raise Withdrawn(root, one.cause, "erased")
        case = self.declare(
            event, roots, to_json(delta, "the delta of the event", roots[0]), actor, reason, erase=erase
        )
        if suspected is not None:
            self._db.run("UPDATE cases SET suspected = ? WHERE cause = ?", (suspected, case))
            self._suspects.bring(case, suspects)
        with self._journal.entry("withdraw", case=case, actor=actor, reason=reason) as seq:
            newly = self._barrier.withdraw(
                case,
                [one.aid for one in there],
                every_version=event == DELETE,
                entry=seq,
                evidence=evidence,
                same_origin=self._aids(same_origin),
                suspected=suspected,
            )
            if suspected is not None:
                self._suspects.settle(case, suspected, entry=seq)
            self._db.run("UPDATE cases SET n = ? WHERE cause = ?", (newly, case))
            if event in REMOVING:
                self._bury(case, every_version=event == DELETE)
            self._journal.book(seq, declared(self._db, case))
        if replacements:
            self._writer.write(replacements, act="replace", case=case, replacing=frozenset(roots))
        replaced = {prepared.draft.key for prepared in replacements}
        there_instead = [places[root].vid for root in roots if root in replaced]
        self._supersede(case, there_instead, State.SUPERSEDED, journalled=True)
        moved = [root for root in roots if root in successors and root not in replaced]
        for root in moved:
            successor = known(find(self._db, [successors[root]]), successors[root])
            if successor.state is not State.ACTIVE:
                raise Withdrawn(successors[root], successor.cause, successor.state.name.lower())
        # What lost a conflict is archived; an interface is superseded by the new one.
        state = State.ARCHIVED if event == "correct" else State.SUPERSEDED
        self._supersede(case, [places[root].vid for root in moved], state, journalled=False)
        return case

    def _check(
        self, roots: Sequence[Key], replacements: Sequence[Prepared], successors: Mapping[Key, Key]
    ) -> None:
        if not roots:
            raise InvalidEvent("an event needs at least one root", witness=())
        if (twice := named_twice(roots)) is not None:
            raise InvalidEvent(f"root {twice} is named twice", witness=twice)
        named = set(roots)
        allowed = named | set(successors.values())
        for prepared in replacements:
            if prepared.draft.key not in allowed:
                raise InvalidEvent(
                    f"{prepared.draft.key} replaces no root of the event", witness=prepared.draft.key
                )
        for root in successors:
            if root not in named:
                raise InvalidEvent(f"{root} is superseded but is no root of the event", witness=root)

    def _aids(self, sets: Sequence[Sequence[Key]]) -> list[list[int]]:
        places = find(self._db, [key for one in sets for key in one])
        return [[known(places, key).aid for key in one] for one in sets]

    def declare(
        self,
        event: str,
        roots: Sequence[Key],
        delta: str,
        actor: str | None,
        reason: str | None,
        *,
        erase: bool = False,
    ) -> int:
        """Enter an event with its roots and its delta (JSON) in the books; its number."""
        erasure = Erasure.ASKED.value if erase else None
        self._db.run(
            """INSERT INTO cases(tau, status, at, horizon, n, actor, reason, delta, erasure)
            SELECT ?, ?, ?, max(vid), 0, ?, ?, ?, ? FROM version""",
            (event, CaseStatus.OPEN.value, self._clock(), actor, reason, delta, erasure),
        )
        case = self._db.number("SELECT last_insert_rowid()")
        places = find(self._db, roots)
        self._db.many(
            "INSERT INTO case_root(cause, pos, aid, vid) VALUES(?,?,?,?)",
            ((case, pos, places[root].aid, places[root].vid) for pos, root in enumerate(roots)),
        )
        return case

    def _bury(self, case: int, *, every_version: bool) -> None:
        # Engine read: the versions of the roots that were in service, turned into digests at once.
        texts = self._db.rows(
            """SELECT s.name, c.text, c.meta, a.aid FROM case_root r
            JOIN artifact a ON a.aid = r.aid JOIN scope s ON s.sid = a.sid JOIN version v ON v.aid = a.aid
            JOIN content c ON c.vid = v.vid LEFT JOIN barrier b ON b.vid = v.vid
            WHERE r.cause = ? AND b.state IS NOT ? AND (? OR v.vid = r.vid)""",
            (case, State.QUARANTINED, every_version),
        )
        self._db.many(
            "INSERT OR IGNORE INTO tombstone(digest, cause, aid, root) VALUES(?,?,?,1)",
            (
                (self._secret.tombstone(scope, said), case, aid)
                for scope, text, meta, aid in texts
                # What was found false is not learned again in other words either, where its slot tells.
                for said in (text, None if every_version else stated(slot_of(meta)))
                if said is not None
            ),
        )

    def _supersede(self, case: int, vids: Sequence[int], state: State, *, journalled: bool) -> None:
        if not vids:
            return
        if not journalled:
            with self._journal.entry("supersede", case=case) as seq:
                self._journal.add(seq, ((vid, self._state(vid), state) for vid in vids))
        self._barrier.move(vids, state, case)

    def _state(self, vid: int) -> int:
        return self._db.number("SELECT state FROM barrier WHERE vid = ?", (vid,))

    def close(self, case: int) -> None:
        """Archive roots that nothing replaces; closed, or in part while a member can still be repaired.

        A root that a later case has named as well is for that one to archive: each would else stand in the
        way of the other's undo.
        """
        there = self.get(case)
        if there.status is CaseStatus.UNDONE:
            raise InvalidInput(f"case {case} has been undone", witness=case)
        event = there.event
        left = self._db.rows(
            """SELECT r.vid FROM case_root r JOIN barrier b ON b.vid = r.vid AND b.cause = r.cause
            WHERE r.cause = ? AND b.state = ?""",
            (case, State.WITHDRAWN),
        )
        with self._journal.entry("close", case=case) as seq:
            if event in REMOVING:
                self._journal.add(seq, ((vid, State.WITHDRAWN, State.ARCHIVED) for (vid,) in left))
                self._barrier.move((vid for (vid,) in left), State.ARCHIVED, case)
        self.set_status(case, CaseStatus.CLOSED_PARTIAL)
        self._db.run("UPDATE cases SET attempts = 0 WHERE cause = ?", (case,))
        self.settle()

    def settle(self) -> None:
        """Close the cases closed in part that have nothing left: others have removed the rest meanwhile."""
        for (case,) in self._db.rows(
            "SELECT cause FROM cases WHERE status = ?", (CaseStatus.CLOSED_PARTIAL,)
        ):
            if self._db.row(_LEFT, (State.WITHDRAWN, case)) is None:
                self.set_status(case, CaseStatus.CLOSED)

    def widen(self, case: int, suspected: float, *, actor: str | None, reason: str | None) -> int:
        """Withdraw what is suspected to stand on what the case took out; how many artifacts."""
        if self.get(case).status is CaseStatus.UNDONE:
            raise InvalidInput(f"case {case} has been undone", witness=case)
        self._db.run("UPDATE cases SET suspected = ? WHERE cause = ?", (suspected, case))
        beyond = self._suspects.beyond(case, suspected)
        if not beyond:
            return 0
        with self._journal.entry("withdraw", case=case, actor=actor, reason=reason) as seq:
            newly = self._barrier.widen(case, beyond, entry=seq, suspected=suspected)
            self._journal.book(seq, declared(self._db, case))
        self.set_status(case, CaseStatus.OPEN)
        return newly

    def begin(self, case: int, digest: str, *, again: bool) -> None:
        """Journal what a repair is about to do, and count it."""
        with self._journal.entry("repair", case=case, reason=digest):
            pass
        self.set_status(case, CaseStatus.RUNNING)
        self._db.run("UPDATE cases SET attempts = attempts + ? WHERE cause = ?", (not again, case))

    def reopen(self, case: int) -> None:
        """Take a case back from a repair that died."""
        with self._journal.entry("recover", case=case):
            pass
        self.set_status(case, CaseStatus.OPEN)

    def set_status(self, case: int, status: CaseStatus) -> None:
        """Record the status."""
        if not self._db.run("UPDATE cases SET status = ? WHERE cause = ?", (status.value, case)):
            raise UnknownId(f"there is no case {case}", witness=case)

    def set_scale(self, case: int, scale: tuple[float, float]) -> None:
        """Record what counts as 1 in the case's plans; the first scale stays."""
        self._db.run(
            "UPDATE cases SET unit_value = ?, unit_cost = ? WHERE cause = ? AND unit_value IS NULL",
            (*scale, case),
        )

    def get(self, case: int) -> Case:
        """One case."""
        rows = self._db.rows(f"{_CASES} WHERE cause = ?", (case,))
        if not rows:
            raise UnknownId(f"there is no case {case}", witness=case)
        return self._case(*rows[0])

    def withdrawn(self, case: int) -> tuple[Key, ...]:
        """What the case took out of service, by the age of the version."""
        rows = self._db.rows(
            """SELECT s.name, a.id FROM journal j CROSS JOIN journal_row r ON r.seq = j.seq
            JOIN version v ON v.vid = r.vid JOIN artifact a ON a.aid = v.aid JOIN scope s ON s.sid = a.sid
            WHERE j.cause = ? AND j.act = 'withdraw' AND r.before = ? ORDER BY r.vid""",
            (case, State.ACTIVE),
        )
        return tuple(key_of(name, id) for name, id in rows)

    def all(self, status: CaseStatus | None) -> list[Case]:
        """Cases in the order they were opened."""
        rows = self._db.rows(
            f"{_CASES} WHERE ?1 IS NULL OR status = ?1 ORDER BY cause",
            (None if status is None else status.value,),
        )
        return [self._case(*row) for row in rows]

    def _case(
        self,
        cause: int,
        tau: str,
        status: str,
        at: int,
        n: int,
        actor: str | None,
        reason: str | None,
        delta: str,
        unit_value: float | None,
        unit_cost: float | None,
        attempts: int,
        erasure: str | None,
        suspected: float | None,
    ) -> Case:
        roots = self._db.rows(
            """SELECT s.name, a.id FROM case_root r JOIN artifact a ON a.aid = r.aid
            JOIN scope s ON s.sid = a.sid WHERE r.cause = ? ORDER BY r.pos""",
            (cause,),
        )
        return Case(
            id=cause,
            event=tau,
            status=CaseStatus(status),
            roots=tuple(key_of(name, id) for name, id in roots),
            withdrawn=n,
            opened_at=at,
            actor=actor,
            reason=reason,
            delta=delta_of(delta),
            scale=None if unit_value is None or unit_cost is None else (unit_value, unit_cost),
            attempts=attempts,
            erasure=None if erasure is None else Erasure(erasure),
            spared=self._db.number("SELECT count(*) FROM spared WHERE cause = ?", (cause,)),
            suspected=suspected,
        )
