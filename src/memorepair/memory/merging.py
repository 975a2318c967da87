"""Merging: what another store or source holds is taken over, and nothing that is here is changed unasked.

No state that comes from outside lifts a barrier here, and nothing is served that stands on what is out of
service, here or there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memorepair.errors import InvalidInput, UnknownId
from memorepair.graphs.terms import PROPAGATING, Relation
from memorepair.memory import index
from memorepair.memory.artifact import Key, Read, State
from memorepair.memory.barrier import CARRIED
from memorepair.memory.codec import Prepared
from memorepair.memory.connection import Connection
from memorepair.memory.exchange import Carried, MergeReport, Refusal
from memorepair.memory.journal import Journal
from memorepair.memory.keys import Place, find
from memorepair.memory.secret import UNKNOWN, Secret
from memorepair.memory.writer import Arc, NewVersion, Writer, add_arcs

Drafts = Mapping[tuple[Key, int], Prepared]

_HERE = f"""SELECT v.digest, v.kind, v.arch, c.meta, q.body FROM {CARRIED}
    WHERE a.aid = ? AND v.vid = a.cur"""  # noqa: S608  literals
_TAKEN_OUT = """SELECT b.cause FROM version v JOIN barrier b ON b.vid = v.vid
    WHERE v.aid = ? AND v.digest = ? AND b.state <> ? ORDER BY v.vid DESC LIMIT 1"""
_OPEN_VERSION = """SELECT v.vid FROM version v LEFT JOIN barrier b ON b.vid = v.vid
    WHERE v.aid = ?1 AND (v.no = ?2 OR v.digest = ?3) AND b.vid IS NULL ORDER BY v.no DESC LIMIT 1"""


@dataclass(slots=True)
class _Merge:
    """A merge worked out, before its first row."""

    groups: dict[Key, list[Carried]]
    places: dict[Key, Place]
    same: set[Key] = field(default_factory=set)
    changed: set[Key] = field(default_factory=set)
    refused: dict[Key, Refusal] = field(default_factory=dict)

    def refuse(self, key: Key, why: str, witness: int | Key | None = None) -> None:
        self.refused.setdefault(key, Refusal(key=key, why=why, witness=witness))

    def comes(self, key: Key) -> bool:
        """Whether its versions are taken over as they are."""
        return key in self.groups and key not in self.places


class Merging:
    """Takes versions over; runs inside the caller's transaction."""

    def __init__(
        self, db: Connection, journal: Journal, secret: Secret, writer: Writer, clock: Callable[[], int]
    ) -> None:
        self._db = db
        self._journal = journal
        self._secret = secret
        self._writer = writer
        self._clock = clock

    def merge(
        self, items: Sequence[Carried], drafts: Drafts, *, update: bool, actor: str | None, reason: str | None
    ) -> MergeReport:
        """Take over what is new here; with `update` also what differs, as its next version.

        Raises
        ------
        InvalidInput
            A version twice, or a key without exactly one current version.
        UnknownId
            Something read, or similar, is neither among the items nor here.
        """
        groups = _grouped(items)
        mentioned = [near for item in items for near in (*item.semantic, *(read.key for read in item.reads))]
        merge = _Merge(groups, find(self._db, [*groups, *mentioned]))
        for near in mentioned:
            if near not in groups and near not in merge.places:
                raise UnknownId(f"there is no artifact {near}, here or in what is merged", witness=near)
        for key, group in groups.items():
            self._judge(merge, key, group, drafts, update)
        self._follow(merge)
        fresh = [key for key in groups if merge.comes(key) and key not in merge.refused]
        versions, arcs = self._insert(merge, fresh, drafts, actor, reason) if fresh else (0, 0)
        changed = [key for key in groups if key in merge.changed and key not in merge.refused]
        if changed:
            report = self._writer.write(
                [_moved(_current(groups[key]), drafts) for key in changed],
                act="import",
                allow_cycles=True,
                actor=actor,
                reason=reason,
            )
            versions, arcs = versions + report.artifacts, arcs + report.arcs
        return MergeReport(
            written=tuple(fresh),
            updated=tuple(changed),
            same=len(merge.same),
            refused=tuple(merge.refused.values()),
            versions=versions,
            arcs=arcs,
        )

    # verdicts --------------------------------------------------------------------------------------

    def _judge(self, merge: _Merge, key: Key, group: Sequence[Carried], drafts: Drafts, update: bool) -> None:
        there = merge.places.get(key)
        item = _current(group)
        texts = [one.draft.content for one in group if one.draft is not None]
        if there is None:
            if any(self._writer.is_tombstoned(key, text) for text in texts):
                merge.refuse(key, "forbidden")
            return
        if there.state is not State.ACTIVE or item.barred or item.draft is None:
            if there.state is not State.ACTIVE and item.barred:
                merge.same.add(key)  # out of service on both sides: nothing to take over
            else:
                merge.refuse(key, "out of service", there.cause)
            return
        if self._is_same(merge, item, there, drafts):
            merge.same.add(key)
            return
        digest = self._secret.digest(item.draft.content)
        taken_out = self._db.row(_TAKEN_OUT, (there.aid, digest, State.QUARANTINED))
        if taken_out is not None:
            merge.refuse(key, "removed", taken_out[0])
        elif self._writer.is_tombstoned(key, item.draft.content):
            merge.refuse(key, "forbidden")
        elif update:
            merge.changed.add(key)
        else:
            merge.refuse(key, "differs")

    def _is_same(self, merge: _Merge, item: Carried, there: Place, drafts: Drafts) -> bool:
        prepared = drafts[item.key, item.version]
        draft = prepared.draft
        digest, kind, arch, meta, recipe = self._db.rows(_HERE, (there.aid,))[0]
        if (digest, kind, arch) != (self._secret.digest(draft.content), int(draft.kind), int(draft.arch)):
            return False
        if not _alike(meta, prepared.meta) or not _alike(recipe, prepared.recipe):
            return False
        known = self._db.rows("SELECT DISTINCT src, rel, grp FROM arc WHERE dst = ?", (there.aid,))
        read = {
            (merge.places[one.key].aid if one.key in merge.places else 0, int(one.relation), one.group)
            for one in item.reads
        }
        return set(known) == read

    def _follow(self, merge: _Merge) -> None:
        """Refuse what stands on what is refused, not here, or out of service, as far as that reaches."""
        children: dict[Key, list[Key]] = {}
        for key, group in merge.groups.items():
            if not (merge.comes(key) or key in merge.changed):
                continue
            for item in group:
                for read in item.reads:
                    children.setdefault(read.key, []).append(key)
                    if key not in merge.refused and (why := self._objection(merge, item, read)) is not None:
                        merge.refuse(key, why, read.key)
        todo = list(merge.refused)
        while todo:
            parent = todo.pop()
            for child in children.get(parent, ()):
                if child not in merge.refused:
                    merge.refuse(child, "stands on", parent)
                    todo.append(child)

    def _objection(self, merge: _Merge, item: Carried, read: Read) -> str | None:
        follows = read.relation in PROPAGATING and not item.barred
        if merge.comes(read.key):
            source = _version(merge.groups[read.key], read.version)
            # A former version outlives the content that it was made from: `prune` takes that first.
            gone = source.state is State.ERASED and not item.current
            # A duplicate in the archive is where it belongs; who was served on it before may have a past.
            twin = source.state is State.ARCHIVED and (
                read.relation is Relation.CONSOLIDATE or not item.current
            )
            return "out of service" if follows and source.barred and not (gone or twin) else None
        if follows and merge.places[read.key].state is not State.ACTIVE:
            return "out of service"
        return None if self._vid(merge, read) is not None else "stands on"

    def _vid(self, merge: _Merge, read: Read) -> int | None:
        """The version here that a read of something that is here means."""
        there = merge.places[read.key]
        if read.version is None:
            return there.vid
        group = merge.groups.get(read.key)
        if group is None:
            digest, number = b"", read.version
        else:
            source = _version(group, read.version)
            if source.current:
                return there.vid
            digest, number = (b"" if source.draft is None else self._secret.digest(source.draft.content)), 0
        row = self._db.row(_OPEN_VERSION, (there.aid, number, digest))
        return None if row is None else int(row[0])

    # rows ------------------------------------------------------------------------------------------

    def _insert(
        self, merge: _Merge, fresh: Sequence[Key], drafts: Drafts, actor: str | None, reason: str | None
    ) -> tuple[int, int]:
        now = self._clock()
        arrived = [item for key in fresh for item in merge.groups[key]]
        items: list[tuple[int, int, Carried]] = []
        newest: dict[Key, int] = {}
        for item in arrived:
            at = now if item.created_at is None else item.created_at
            newest[item.key] = max(at, newest.get(item.key, at))
            items.append((newest[item.key], at, item))
        # By time, but the versions of a key in their order: a clock may have been put back between them.
        items.sort(key=lambda one: one[0])
        first, aids = self._writer.next("version", "vid"), self._writer.next("artifact", "aid")
        numbers = {key: aids + place for place, key in enumerate(fresh)}
        vids = {(item.key, item.version): first + place for place, (_, _, item) in enumerate(items)}
        currents = {key: vids[key, _current(merge.groups[key]).version] for key in fresh}
        born: dict[Key, int] = {}
        for _, at, item in items:
            born.setdefault(item.key, at)
        rows = [(vids[item.key, item.version], at, item) for _, at, item in items]
        with self._journal.entry("import", actor=actor, reason=reason) as seq:
            self._journal.add(
                seq, ((vid, None, item.state if item.barred else State.ACTIVE) for vid, _, item in rows)
            )
            sids = self._writer.scopes({key.scope for key in fresh})
            self._db.many(
                "INSERT INTO artifact(aid, sid, id, cur, born) VALUES(?,?,?,?,?)",
                ((numbers[key], sids[key.scope], key.id, currents[key], born[key]) for key in fresh),
            )
            self._insert_versions(rows, numbers, drafts)
            arcs = self._insert_arcs(merge, rows, numbers, vids)
            self._journal.stand(seq, (vid for vid, _, item in rows if item.reads))
            index.add(self._db, sorted(vid for vid in currents.values()))
            self._db.many(
                "INSERT INTO barrier(vid, state, cause) VALUES(?,?,NULL)",
                ((vid, item.state) for vid, _, item in rows if item.barred),
            )
        former = [vid for vid, _, item in rows if not item.barred and not item.current]
        if former:
            with self._journal.entry("import", actor=actor, reason=reason) as seq:
                self._journal.add(seq, ((vid, State.ACTIVE, State.SUPERSEDED) for vid in former))
        return len(rows), arcs

    def _insert_versions(
        self, rows: Sequence[tuple[int, int, Carried]], numbers: Mapping[Key, int], drafts: Drafts
    ) -> None:
        self._db.many(
            """INSERT INTO version(vid, aid, no, born, kind, arch, size, digest, words, made)
            VALUES(?,?,?,?,?,?,0,?,x'',x'')""",
            (
                (vid, numbers[item.key], item.version, at, int(item.kind), int(item.arch), UNKNOWN)
                for vid, at, item in rows
                if item.draft is None
            ),
        )
        self._writer.insert(
            [
                NewVersion(vid, numbers[item.key], item.version, at, drafts[item.key, item.version])
                for vid, at, item in rows
                if item.draft is not None
            ]
        )

    def _insert_arcs(
        self,
        merge: _Merge,
        rows: Sequence[tuple[int, int, Carried]],
        numbers: Mapping[Key, int],
        vids: Mapping[tuple[Key, int], int],
    ) -> int:
        live: dict[Arc, int] = {}
        former: dict[tuple[int, int, int, int], int] = {}
        semantic: set[tuple[int, int]] = set()
        for vid, _, item in rows:
            for read in item.reads:
                if merge.comes(read.key):
                    source = _version(merge.groups[read.key], read.version)
                    src, src_vid = numbers[read.key], vids[read.key, source.version]
                else:
                    src, src_vid = merge.places[read.key].aid, self._vid(merge, read) or 0
                kind = (int(read.relation), read.group)
                if item.current:
                    live.setdefault((src, src_vid, numbers[item.key], *kind), len(live))
                else:
                    former.setdefault((vid, src_vid, *kind), len(former))
            for near in item.semantic:
                semantic.add((vid, numbers[near] if near in numbers else self._near(merge, near)))
        add_arcs(self._db, live)
        self._db.many(
            "INSERT INTO arc_old(dst_vid, src_vid, rel, grp, pos) VALUES(?,?,?,?,?)",
            ((*arc, pos) for arc, pos in former.items()),
        )
        self._db.many(
            "INSERT INTO semantic(dst_vid, src) VALUES(?,?)", sorted(pair for pair in semantic if pair[1])
        )
        return len(live) + len(former)

    def _near(self, merge: _Merge, near: Key) -> int:
        """What is only similar may be missing: 0 where it was refused."""
        there = merge.places.get(near)
        return 0 if there is None else there.aid


def _grouped(items: Iterable[Carried]) -> dict[Key, list[Carried]]:
    groups: dict[Key, list[Carried]] = {}
    for item in items:
        groups.setdefault(item.key, []).append(item)
    for key, group in groups.items():
        group.sort(key=lambda item: item.version)
        if len({item.version for item in group}) < len(group) or sum(item.current for item in group) != 1:
            raise InvalidInput(f"{key} has a version twice, or not one current version", witness=key)
    return groups


def _current(group: Sequence[Carried]) -> Carried:
    return next(item for item in group if item.current)


def _version(group: Sequence[Carried], version: int | None) -> Carried:
    if version is None:
        return _current(group)
    found = next((item for item in group if item.version == version), None)
    if found is None:
        raise UnknownId(f"there is no version {version} of {group[0].key}", witness=group[0].key)
    return found


def _moved(item: Carried, drafts: Drafts) -> Prepared:
    """An update, which stands on what its sources are here."""
    prepared = drafts[item.key, item.version]
    reads = tuple(replace(read, version=None) for read in item.reads if read.key != item.key)
    return prepared._replace(draft=replace(prepared.draft, reads=reads, semantic=item.semantic))


def _alike(one: str | None, other: str | None) -> bool:
    return one == other or (one is not None and other is not None and json.loads(one) == json.loads(other))
