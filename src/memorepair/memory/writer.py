"""Writer: drafts become versions, all of them or none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from memorepair.errors import CycleFound, InvalidInput, StaleRead, Tombstoned, UnknownId, Withdrawn
from memorepair.memory import index
from memorepair.memory.artifact import CaseStatus, Key, Read, State
from memorepair.memory.codec import SPACE, Prepared, scope_name, stated, token
from memorepair.memory.connection import Connection
from memorepair.memory.cycles import closed_cycles
from memorepair.memory.exchange import Progress, WriteReport
from memorepair.memory.journal import Journal
from memorepair.memory.keys import Place, find, known
from memorepair.memory.secret import Secret
from memorepair.memory.vectors import Space

Arc = tuple[int, int, int, int, int]
"""src, src_vid, dst, rel, grp."""


class NewVersion(NamedTuple):
    """A version about to be stored."""

    vid: int
    aid: int
    no: int
    born: int
    prepared: Prepared


class _Target(NamedTuple):
    """Where a draft goes."""

    prepared: Prepared
    aid: int
    vid: int
    no: int
    old: Place | None


@dataclass(slots=True)
class _Plan:
    """A write worked out, before its first row."""

    targets: dict[Key, _Target] = field(default_factory=dict)
    arcs: dict[Arc, int] = field(default_factory=dict)
    semantic: set[tuple[int, int]] = field(default_factory=set)


class Writer:
    """Stores drafts; every method runs inside the caller's transaction."""

    def __init__(self, db: Connection, journal: Journal, secret: Secret, clock: Callable[[], int]) -> None:
        self._db = db
        self._journal = journal
        self._secret = secret
        self._clock = clock

    def write(
        self,
        drafts: Sequence[Prepared],
        *,
        act: str,
        allow_cycles: bool = False,
        allow_tombstoned: bool = False,
        actor: str | None = None,
        reason: str | None = None,
        quarantine: bool = False,
        case: int | None = None,
        replacing: AbstractSet[Key] = frozenset(),
        as_of: Mapping[Key, int] = MappingProxyType({}),
        progress: Progress | None = None,
    ) -> WriteReport:
        """Store the drafts as one journal entry.

        `replacing`: keys that stand behind the barrier and whose next version `case` brings. `quarantine`:
        drafts that cannot be served any more are kept behind the barrier instead of refused. `as_of`: times
        of versions that say again what was said then.
        """
        if not allow_tombstoned:
            self.refuse_tombstoned(drafts)
        try:
            plan = self._plan(drafts, replacing)
        except (StaleRead, Withdrawn) as stale:
            if not quarantine:
                raise
            return self._quarantine(drafts, stale)
        cycles = closed_cycles(
            self._db,
            {target.aid: key for key, target in plan.targets.items()},
            [target.aid for target in plan.targets.values() if target.old],
            ((arc[0], arc[2]) for arc in plan.arcs),
        )
        if cycles and not allow_cycles:
            loop = " -> ".join(map(str, (*cycles[0], cycles[0][0])))
            raise CycleFound(f"the derivation would close a cycle: {loop}", witness=cycles[0])
        with self._journal.entry(act, case=case, actor=actor, reason=reason) as seq:
            targets = plan.targets.values()
            self._journal.add(seq, _formers(plan.targets, replacing))
            self._journal.add(
                seq, ((t.vid, None, State.ACTIVE) for t in targets), self._digests(targets, plan.arcs)
            )
            self._insert(plan, progress or _nobody, as_of)
        return WriteReport(
            keys=tuple(plan.targets), artifacts=len(plan.targets), arcs=len(plan.arcs), cycles=cycles
        )

    def stage(self, prepared: Prepared, there: Place) -> tuple[int, int]:
        """Store a version that is not current and in no index; its vid and number. The caller bars it."""
        vid, no = self.next("version", "vid"), there.last + 1
        self._insert_versions([_Target(prepared, there.aid, vid, no, there)], self._clock())
        return vid, no

    # checks ----------------------------------------------------------------------------------------

    def refuse_tombstoned(self, drafts: Iterable[Prepared], *, successors: bool = False) -> None:
        """Refuse content that an event has removed from its scope."""
        if self._db.row("SELECT 1 FROM tombstone LIMIT 1") is None:
            return
        for prepared in drafts:
            key = prepared.draft.key
            says = (prepared.draft.content, stated(prepared.draft.slot))
            if any(one is not None and self.is_tombstoned(key, one, successor=successors) for one in says):
                raise Tombstoned(f"what {key} says was removed and must not be learned again", witness=key)

    def is_tombstoned(self, key: Key, text: str, *, successor: bool = False) -> bool:
        """Whether an event has removed the text from the key's scope.

        A `successor` stands on what is served, and may say again what an erased version of its own key said,
        unless a root of a deletion said it as well: that was removed in its own right.
        """
        scope = scope_name(key.scope)
        said = self._db.rows(
            """SELECT t.root, s.name, a.id FROM tombstone t JOIN artifact a ON a.aid = t.aid
            JOIN scope s ON s.sid = a.sid WHERE t.digest = ?""",
            (self._secret.tombstone(scope, text),),
        )
        if not said or not successor:
            return bool(said)
        return any(root for root, _, _ in said) or (scope, key.id) not in {(name, id) for _, name, id in said}

    def _plan(self, drafts: Sequence[Prepared], replacing: AbstractSet[Key]) -> _Plan:
        plan = _Plan()
        mentioned = [p.draft.key for p in drafts]
        mentioned += [read.key for p in drafts for read in p.draft.reads]
        mentioned += [key for p in drafts for key in p.draft.semantic]
        places = find(self._db, mentioned)
        aid, vid = self.next("artifact", "aid"), self.next("version", "vid")
        for prepared in drafts:
            key = prepared.draft.key
            if key in plan.targets:
                raise InvalidInput(f"{key} is written twice", witness=key)
            old = places.get(key)
            if not (old is None or old.state is State.ACTIVE or key in replacing or self._steps_aside(old)):
                raise Withdrawn(key, old.cause, old.state.name.lower())
            plan.targets[key] = _Target(
                prepared, old.aid if old else aid, vid, old.last + 1 if old else 1, old
            )
            aid, vid = aid + (old is None), vid + 1
        for key, target in plan.targets.items():
            for read in target.prepared.draft.reads:
                for arc in self._arcs(key, target, read, plan, places):
                    plan.arcs.setdefault(arc, len(plan.arcs))
            for other in target.prepared.draft.semantic:
                near = plan.targets.get(other)
                plan.semantic.add((target.vid, near.aid if near else known(places, other).aid))
        return plan

    def _steps_aside(self, old: Place) -> bool:
        """Whether a barred version keeps nobody out: it never served, or an undone case has brought it.

        It stays as it is when a new version becomes current.
        """
        if old.state is State.ARCHIVED:
            undone = "SELECT 1 FROM cases WHERE cause = ? AND status = ?"
            return self._db.row(undone, (old.cause, CaseStatus.UNDONE)) is not None
        in_flight = """SELECT 1 FROM journal j CROSS JOIN journal_row r ON r.seq = j.seq AND r.vid = ?
            WHERE j.act = 'quarantine'"""
        return old.state is State.QUARANTINED and self._db.row(in_flight, (old.vid,)) is not None

    # quarantine ------------------------------------------------------------------------------------

    def _quarantine(self, drafts: Sequence[Prepared], stale: StaleRead | Withdrawn) -> WriteReport:
        """Keep the drafts behind the barrier; their arcs let later events and erasures reach them."""
        places = find(
            self._db, [*(p.draft.key for p in drafts), *(r.key for p in drafts for r in p.draft.reads)]
        )
        aid, vid = self.next("artifact", "aid"), self.next("version", "vid")
        targets: dict[Key, _Target] = {}
        for prepared in drafts:
            key = prepared.draft.key
            if key in targets:
                raise InvalidInput(f"{key} is written twice", witness=key)
            old = places.get(key)
            targets[key] = _Target(prepared, old.aid if old else aid, vid, old.last + 1 if old else 1, old)
            aid, vid = aid + (old is None), vid + 1
        placed: dict[Arc, int] = {}
        for target in targets.values():
            for read in target.prepared.draft.reads:
                src, src_vid = self._was_read(read, targets, places, stale)
                placed.setdefault((src, src_vid, target.aid, int(read.relation), read.group), len(placed))
        case = stale.case if isinstance(stale, Withdrawn) else None
        with self._journal.entry("quarantine", case=case) as seq:
            barred = ((target.vid, None, State.QUARANTINED) for target in targets.values())
            self._journal.add(seq, barred, self._digests(targets.values(), placed))
            self._insert_artifacts(targets.values(), now := self._clock())
            self._insert_versions(list(targets.values()), now)
            self._db.many(
                "INSERT INTO barrier(vid, state, cause) VALUES(?,?,?)",
                ((target.vid, State.QUARANTINED, case) for target in targets.values()),
            )
            # Arcs into current versions are live; one beside a current version has them as former ones do.
            fresh = {target.aid: target for target in targets.values() if target.old is None}
            index.add(self._db, (target.vid for target in fresh.values()))
            add_arcs(self._db, {arc: pos for arc, pos in placed.items() if arc[2] in fresh})
            beside = {target.aid: target.vid for target in targets.values() if target.old is not None}
            self._db.many(
                "INSERT INTO arc_old(dst_vid, src_vid, rel, grp, pos) VALUES(?,?,?,?,?)",
                (
                    (beside[dst], src_vid, rel, grp, pos)
                    for (_, src_vid, dst, rel, grp), pos in placed.items()
                    if dst in beside
                ),
            )
        return WriteReport(
            keys=tuple(targets),
            artifacts=len(targets),
            arcs=len(placed),
            cycles=(),
            quarantined=tuple(targets),
        )

    def _was_read(
        self,
        read: Read,
        targets: Mapping[Key, _Target],
        places: dict[Key, Place],
        stale: StaleRead | Withdrawn,
    ) -> tuple[int, int]:
        """The version that was read, (aid, vid), whatever has become of it, unless it has been erased."""
        written = targets.get(read.key)
        if written is not None and read.version in (None, written.no):
            return written.aid, written.vid
        there = known(places, read.key)
        row = self._db.row(
            """SELECT v.vid, b.state FROM version v LEFT JOIN barrier b ON b.vid = v.vid
            WHERE v.aid = ? AND v.no = ?""",
            (there.aid, there.no if read.version is None else read.version),
        )
        if row is None:
            raise UnknownId(f"there is no version {read.version} of {read.key}", witness=read.key)
        if State.ERASED in (row[1], there.state):
            raise stale
        return there.aid, row[0]

    def _arcs(
        self, key: Key, target: _Target, read: Read, plan: _Plan, places: dict[Key, Place]
    ) -> Iterable[Arc]:
        own = target.old if read.key == key else None
        if own is not None and read.version in (None, own.no):
            if own.state is not State.ACTIVE:
                raise Withdrawn(key, own.cause, own.state.name.lower())
            # An update that reads the version before stands on all that one stood on, not on itself. Beside
            # other reads the alternatives of then are no alternatives any more: all of it is needed.
            alone = all(one.key == key for one in target.prepared.draft.reads)
            return [
                (src, src_vid, target.aid, rel, grp if alone else read.group)
                for src, src_vid, rel, grp in self._db.rows(
                    "SELECT src, src_vid, rel, grp FROM arc WHERE dst = ? ORDER BY pos", (target.aid,)
                )
            ]
        src, src_vid = _source(key, read, plan.targets.get(read.key), places)
        return [(src, src_vid, target.aid, int(read.relation), read.group)]

    # rows ------------------------------------------------------------------------------------------

    def _digests(self, targets: Iterable[_Target], arcs: Mapping[Arc, int]) -> dict[int, bytes]:
        """By version that is to be written, the digest of the arcs into it, where there are any."""
        vids = {target.aid: target.vid for target in targets}
        into: dict[int, list[tuple[int, int, int, int]]] = {}
        for (_, src_vid, dst, rel, grp), pos in arcs.items():
            into.setdefault(vids[dst], []).append((src_vid, rel, grp, pos))
        return {vid: self._secret.arcs(found) for vid, found in into.items()}

    def next(self, table: str, column: str) -> int:
        """The next free number."""
        return 1 + self._db.number(f"SELECT coalesce(max({column}), 0) FROM {table}")  # noqa: S608  literals

    def _insert(self, plan: _Plan, progress: Progress, as_of: Mapping[Key, int]) -> None:
        many = self._db.many
        targets = list(plan.targets.values())
        if not targets:
            return
        now = self._clock()  # one instant for all of it
        former = [target.old for target in targets if target.old]
        index.remove(self._db, (old.vid for old in former))
        retire_arcs(self._db, ((old.aid, old.vid) for old in former))
        self._insert_artifacts(targets, now)
        many("UPDATE artifact SET cur = ? WHERE aid = ?", ((t.vid, t.aid) for t in targets if t.old))
        self._insert_versions(targets, now, as_of)
        add_arcs(self._db, plan.arcs)
        many("INSERT INTO semantic(dst_vid, src) VALUES(?,?)", sorted(plan.semantic))
        progress("rows", len(targets), len(targets))
        index.add_from(self._db, targets[0].vid, len(targets), progress)

    def _insert_artifacts(self, targets: Iterable[_Target], now: int) -> None:
        fresh = [(target, target.prepared.draft.key) for target in targets if not target.old]
        sids = self.scopes({key.scope for _, key in fresh})
        self._db.many(
            "INSERT INTO artifact(aid, sid, id, cur, born) VALUES(?,?,?,?,?)",
            ((target.aid, sids[key.scope], key.id, target.vid, now) for target, key in fresh),
        )

    def _insert_versions(
        self, targets: Sequence[_Target], now: int, as_of: Mapping[Key, int] = MappingProxyType({})
    ) -> None:
        self.insert(
            [
                NewVersion(t.vid, t.aid, t.no, as_of.get(t.prepared.draft.key, now), t.prepared)
                for t in targets
            ]
        )

    def insert(self, versions: Sequence[NewVersion]) -> None:
        """The rows of versions with their content, in ascending order of vid."""
        many = self._db.many
        sids = self.scopes({version.prepared.draft.key.scope for version in versions})
        drafts = [(version.vid, version.prepared, version.prepared.draft) for version in versions]
        spaces = self._spaces({one.space for _, p, _ in drafts for one in p.vectors})
        many(
            """INSERT INTO version(vid, aid, no, born, kind, arch, size, digest, words, made)
            VALUES(?,?,?,?,?,?,?,?,?,?)""",
            (
                (
                    version.vid,
                    *row,
                    self._secret.digest(draft.content),
                    self._secret.words(draft.content),
                    self._secret.made((*_named(p), *row), p.meta, p.recipe),
                )
                for version, (_, p, draft) in zip(versions, drafts, strict=True)
                for row in [
                    (
                        version.aid,
                        version.no,
                        version.born,
                        int(draft.kind),
                        int(draft.arch),
                        len(draft.content),
                    )
                ]
            ),
        )
        many(
            "INSERT INTO content(vid, s, text, meta) VALUES(?,?,?,?)",
            (
                (vid, token(sids[draft.key.scope], draft.content), draft.content, p.meta)
                for vid, p, draft in drafts
            ),
        )
        many(
            "INSERT INTO recipe(vid, body) VALUES(?,?)",
            ((vid, p.recipe) for vid, p, _ in drafts if p.recipe is not None),
        )
        many(
            "INSERT INTO vector(vid, given, space, v) VALUES(?,?,?,?)",
            ((vid, one.given, spaces[one.space], one.blob) for vid, p, _ in drafts for one in p.vectors),
        )

    def scopes(self, scopes: Iterable[tuple[str, ...]]) -> dict[tuple[str, ...], int]:
        """Numbers of scopes, which are made where they are not there."""
        sids: dict[tuple[str, ...], int] = {}
        for scope in scopes:
            name = scope_name(scope)
            self._db.run("INSERT OR IGNORE INTO scope(name) VALUES(?)", (name,))
            sids[scope] = self._db.number("SELECT sid FROM scope WHERE name = ?", (name,))
        return sids

    def _spaces(self, spaces: Iterable[Space]) -> dict[Space, int]:
        numbers: dict[Space, int] = {}
        for space in spaces:
            self._db.run(
                "INSERT OR IGNORE INTO space(model, revision, dimension, normalised) VALUES(?,?,?,?)", space
            )
            numbers[space] = self._db.number(SPACE, space)
        return numbers


def _named(prepared: Prepared) -> tuple[object, ...]:
    """Of a version, for its digest: its key, and the vector that its draft brought with the space of it."""
    key = prepared.draft.key
    brought = next((one for one in prepared.vectors if one.given), None)
    if brought is None:
        return scope_name(key.scope), key.id, *[None] * 4, ""
    model, revision, dimension, normalised = brought.space
    return scope_name(key.scope), key.id, model, revision, dimension, int(normalised), brought.blob.hex()


def _nobody(_step: str, _done: int, _of: int) -> None:
    """Who is told of the progress where nobody asks."""


def _formers(
    targets: Mapping[Key, _Target], replacing: AbstractSet[Key]
) -> Iterable[tuple[int, State, State]]:
    """Journal rows of what ceases to be current; what stepped aside stays in its state."""
    for key, target in targets.items():
        if (old := target.old) is not None:
            superseded = old.state is State.ACTIVE or key in replacing
            yield old.vid, old.state, State.SUPERSEDED if superseded else old.state


def _source(child: Key, read: Read, written: _Target | None, places: dict[Key, Place]) -> tuple[int, int]:
    """What a read leads to: (aid, vid), checked to be served and current when the write commits.

    Of a key that this very write updates, the version it had is still one to have read.
    """
    if written is not None and read.version in (None, written.no):
        return written.aid, written.vid
    there = known(places, read.key)
    if there.state is not State.ACTIVE:
        raise Withdrawn(read.key, there.cause, there.state.name.lower())
    if read.version not in (None, there.no):
        raise StaleRead(
            f"{child} read version {read.version} of {read.key}, which is at {there.no} now",
            witness=(read.key, read.version),
        )
    return there.aid, there.vid


def retire_arcs(db: Connection, artifacts: Iterable[tuple[int, int]]) -> None:
    """Move the arcs into versions (aid, vid) that cease to be current out of the cascade's first sight."""
    pairs = list(artifacts)
    db.many(
        """INSERT OR IGNORE INTO arc_old(dst_vid, src_vid, rel, grp, pos)
        SELECT ?2, src_vid, rel, grp, pos FROM arc WHERE dst = ?1""",
        pairs,
    )
    db.many("DELETE FROM arc WHERE dst = ?", ((aid,) for aid, _ in pairs))


def add_arcs(db: Connection, arcs: Mapping[Arc, int]) -> None:
    """Insert arcs into current versions, each with the place of its read."""
    db.many(
        "INSERT INTO arc(src, src_vid, dst, rel, grp, pos) VALUES(?,?,?,?,?,?)",
        ((*arc, arcs[arc]) for arc in sorted(arcs)),
    )
