"""The store against a model of plain dictionaries, through every verb, reopened, dead, and read beside."""

from __future__ import annotations

import copy
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from memorepair.drills import Stop, Struck, fail, striking
from memorepair.errors import (
    CycleFound,
    InvalidInput,
    MemoRepairError,
    StaleRead,
    Tombstoned,
    UndoRefused,
    UnknownId,
    Withdrawn,
)
from memorepair.graphs.terms import Relation
from memorepair.memory.artifact import CaseStatus, Draft, Erasure, Key, Read, State
from memorepair.memory.points import BEGIN, COMMIT, STATEMENT
from memorepair.memory.sqlite import SqliteStore
from memorepair.memory.store import Release, Successor
from memorepair.memory.vectors import HashedNgrams

KEYS = [Key(("s",), name) for name in "abcdef"]
Versioned = tuple[Key, int]


@dataclass
class Version:
    """The model's version; `barred` is the state behind the barrier, None where there is none."""

    content: str
    reads: set[tuple[Key, int, Relation]]
    barred: State | None = None
    case: int | None = None
    published: bool = True
    staged: bool = False
    in_flight: bool = False


@dataclass
class ModelCase:
    """`horizon` counts the versions there were, `prior` says what was current before the case changed it."""

    event: str
    roots: dict[Key, int]
    members: dict[Key, int]
    horizon: dict[Key, int] = field(default_factory=dict)
    prior: dict[Key, int] = field(default_factory=dict)
    released: dict[Versioned, set[tuple[Key, int, Relation]]] = field(default_factory=dict)
    undone: bool = False
    erased: bool = False


Standing = tuple[State, int | None, bool]
"""State, case, whether a barrier stands."""


@dataclass
class Row:
    """What one journal entry did to one version."""

    at: int
    case: int | None
    act: str
    place: Versioned
    before: Standing | None
    after: Standing


@dataclass
class Model:
    versions: dict[Key, list[Version]] = field(default_factory=dict)
    current: dict[Key, int] = field(default_factory=dict)
    cases: dict[int, ModelCase] = field(default_factory=dict)
    buried: dict[str, set[int]] = field(default_factory=dict)
    log: list[Row] = field(default_factory=list)
    entries: int = 0

    def bury(self, text: str, case: int) -> None:
        self.buried.setdefault(text.casefold(), set()).add(case)

    def standing(self, place: Versioned) -> Standing:
        key, no = place
        version = self.at(key, no)
        plain = State.ACTIVE if self.current.get(key) == no else State.SUPERSEDED
        return version.barred or plain, version.case, version.barred is not None

    @contextmanager
    def entry(self, case: int | None, act: str, places: Iterable[Versioned]) -> Iterator[None]:
        """Log what is done inside to the places, those that do not exist yet included."""
        there = list(places)
        before = [
            self.standing((key, no)) if no <= len(self.versions.get(key, ())) else None for key, no in there
        ]
        yield
        self.entries += 1
        for place, then in zip(there, before, strict=True):
            self.log.append(Row(self.entries, case, act, place, then, self.standing(place)))

    def steps_aside(self, key: Key) -> bool:
        version = self.at(key)
        if version.barred is State.ARCHIVED:
            return self.cases[version.case or 0].undone
        return version.barred is State.QUARANTINED and version.in_flight

    def undo(self, number: int) -> Model | None:
        """The model after the case is taken back; None where later work stands on it."""
        if self.cases[number].undone:
            return None
        after = copy.deepcopy(self)
        case = after.cases[number]
        first: dict[Versioned, Row] = {}
        for row in after.log:
            if row.case == number:
                first.setdefault(row.place, row)
        for version in (after.at(*place) for place in first):
            if version.staged:
                version.staged, version.barred = False, State.ERASED
        moved = {row.place for row in after.log if row.case == number and row.before != row.after}
        touched = {
            place: row
            for place, row in first.items()
            if place in case.released
            or (
                place in moved
                and (
                    after.at(*place).barred is not State.ERASED
                    if row.before is None
                    else row.before != after.standing(place)
                )
            )
        }
        for place, row in touched.items():
            if row.before is not None and after.at(*place).barred is State.ERASED:
                return None
        for row in after.log:
            foreign = row.case is None or (row.case != number and not after.cases[row.case].undone)
            changed = row.before is None or row.before[0] is not row.after[0]
            later = row.place in touched and row.at > touched[row.place].at
            if later and foreign and (changed or row.act == "withdraw"):
                return None
        goes = {place for place, row in touched.items() if row.before is None}
        for place, version in after.everything():
            in_service = version.barred is None
            if after.current[place[0]] == place[1]:
                in_service |= version.barred is State.WITHDRAWN
            if place not in touched and in_service and after.sources(place) & goes:
                return None
        for place, row in touched.items():
            version = after.at(*place)
            if row.before is None:
                version.barred, version.case = State.ARCHIVED, number
            else:
                state, owner, barred = row.before
                version.barred, version.case = (state, owner) if barred else (None, None)
        after.current |= case.prior
        for place, reads in case.released.items():
            after.at(*place).reads = reads
        for place in touched:
            opened = after.at(*place).barred is None
            if opened and any(after.at(*source).barred for source in after.sources(place)):
                return None
        for cases in after.buried.values():
            cases.discard(number)
        case.undone = True
        return after

    def doomed(self, number: int) -> set[Versioned]:
        """What an erasure of the case removes, by plain iteration."""
        case = self.cases[number]
        mine = [row for row in self.log if row.case == number and row.act == "withdraw"]
        freed = {
            (row.place, row.at)
            for row in self.log
            if row.act == "publish"
            and row.before is not None
            and (row.before[0], row.after[0]) == (State.WITHDRAWN, State.ACTIVE)
        }
        tainted = {
            row.place
            for row in mine
            if self.at(*row.place).barred
            and not any(place == row.place and at > row.at for place, at in freed)
        }
        tainted |= {(root, no) for root in case.roots for no in range(1, case.horizon[root] + 1)}
        while True:
            more = tainted | {
                place
                for place, version in self.everything()
                if version.barred and self.sources(place) & tainted
            }
            if more == tainted:
                break
            tainted = more
        older = {(key, no) for key in case.members for no in range(1, case.horizon[key] + 1)}
        keys = {key for key, _ in tainted | older}
        rejected = {
            place
            for place, version in self.everything()
            if place[0] in keys and version.barred is State.QUARANTINED
        }
        return {
            place
            for place in tainted | older | rejected
            if self.standing(place)[0] not in (State.ACTIVE, State.ERASED)
        }

    def everything(self) -> Iterator[tuple[Versioned, Version]]:
        for key, versions in self.versions.items():
            for no, version in enumerate(versions, 1):
                yield (key, no), version

    def sources(self, place: Versioned) -> set[Versioned]:
        return {
            (key, no) for key, no, relation in self.at(*place).reads if relation is not Relation.SUPERSEDE
        }

    def at(self, key: Key, no: int | None = None) -> Version:
        return self.versions[key][(self.current[key] if no is None else no) - 1]

    def served(self) -> list[Key]:
        return [key for key in self.current if self.at(key).barred is None]

    def withdrawn(self) -> list[Key]:
        return [key for key in self.current if self.at(key).barred is State.WITHDRAWN]

    def is_deleted_root(self, key: Key) -> bool:
        case = self.cases.get(self.at(key).case or 0)
        return case is not None and case.event == "delete" and key in case.roots

    def cascade(self, roots: list[Key], every_version: bool) -> set[Versioned]:
        """The least set of versions with the roots that is closed under reading, by plain iteration.

        A current version that read any version of an artifact whose current version is in, is in; and so are
        former versions that say what one that is in says, also in other letters.
        """
        reached = {(root, self.current[root]) for root in roots}
        if every_version:
            reached |= {
                (root, no)
                for root in roots
                for no, version in enumerate(self.versions[root], 1)
                if version.published and version.barred is None
            }
        while True:
            more = set(reached)
            for key, no in reached:
                said = self.at(key, no).content.casefold()
                more |= {
                    (key, past) for past, one in self.readable_past(key) if one.content.casefold() == said
                }
            for key, versions in self.versions.items():
                for no, version in enumerate(versions, 1):
                    if not version.published:
                        continue
                    for parent, read, relation in version.reads:
                        if relation is Relation.SUPERSEDE:
                            continue
                        is_current = self.current[key] == no
                        parent_reached = (parent, self.current[parent]) in reached
                        if (parent, read) in reached or (is_current and parent_reached):
                            more.add((key, no))
            if more == reached:
                return reached
            reached = more

    def readable_past(self, key: Key) -> Iterator[tuple[int, Version]]:
        for no, version in enumerate(self.versions[key], 1):
            if version.barred is None and no != self.current[key]:
                yield no, version

    def reaches(self, start: Key, goals: set[Key]) -> bool:
        seen, stack = {start}, [start]
        while stack:
            here = stack.pop()
            for key in self.current:
                if key not in seen and any(parent == here for parent, _, _ in self.at(key).reads):
                    seen.add(key)
                    stack.append(key)
        return bool(seen & goals)


def interrupt() -> None:
    raise InterruptedError


class StoreMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.ticks = count(1)
        self.texts = count(1)
        self.model = Model()
        self.open()

    def open(self) -> None:
        path = self.folder / "agent.db"
        self.store = SqliteStore.open(path, clock=lambda: next(self.ticks), embedder=HashedNgrams())
        # Somebody who reads the file all the time, through a connection of their own.
        self.reader = SqliteStore.open(path, readonly=True, embedder=HashedNgrams())

    def close_both(self) -> None:
        self.reader.close()
        self.store.close()

    def teardown(self) -> None:
        faults = self.store.check()
        self.close_both()
        shutil.rmtree(self.folder)
        assert faults == []

    def text(self) -> str:
        return f"text{next(self.texts):05d}"

    def add(self, key: Key, version: Version) -> int:
        self.model.versions.setdefault(key, []).append(version)
        return len(self.model.versions[key])

    # ordinary writes

    @initialize()
    def first(self) -> None:
        self.write(KEYS[0], [], Relation.DERIVE, None)

    @rule(
        key=st.sampled_from(KEYS),
        parents=st.lists(st.sampled_from(KEYS), max_size=2, unique=True),
        relation=st.sampled_from([Relation.DERIVE, Relation.CITE, Relation.SUPERSEDE]),
        again=st.sampled_from([None, str, str.swapcase]),
    )
    def write(
        self, key: Key, parents: list[Key], relation: Relation, again: Callable[[str], str] | None
    ) -> None:
        model, text = self.model, self.text()
        if again is not None and key in model.current:
            said = again(model.at(key).content)
            text = text if model.buried.get(said.casefold()) else said
        draft = Draft(
            key=key, content=text, reads=tuple(Read(key=parent, relation=relation) for parent in parents)
        )
        unknown = [parent for parent in parents if parent not in model.current and parent != key]
        barred = [
            one
            for one in [key, *parents]
            if one in model.current
            and model.at(one).barred
            and not (one == key and key not in parents and model.steps_aside(key))
        ]
        if unknown or barred:
            with pytest.raises((UnknownId, Withdrawn)):
                self.store.write([draft])
            return
        others = [parent for parent in parents if parent != key]
        if (key in parents and key not in model.current) or (
            key in model.current and model.reaches(key, set(others))
        ):
            with pytest.raises(CycleFound):
                self.store.write([draft])
            return
        self.store.write([draft])
        reads = {(parent, model.current[parent], relation) for parent in others}
        if key in parents:  # it read its version before: it stands on what that one stood on
            reads |= model.at(key).reads
        with model.entry(None, "record", self.places(key)):
            model.current[key] = self.add(key, Version(text, reads))

    def places(self, key: Key) -> list[Versioned]:
        """The current version, where there is one, and the next."""
        new = (key, len(self.model.versions.get(key, ())) + 1)
        return [(key, self.model.current[key]), new] if key in self.model.current else [new]

    @rule(data=st.data(), key=st.sampled_from(KEYS))
    def commit_late(self, data: st.DataObject, key: Key) -> None:
        """A derivation commits that read something withdrawn or changed since."""
        model, text = self.model, self.text()
        parent, no = data.draw(st.sampled_from([place for place, one in model.everything() if one.published]))
        current = model.at(parent)
        if parent == key or (current.barred is None and model.current[parent] == no):
            return
        draft = Draft(key=key, content=text, reads=(Read(key=parent, version=no),))
        if State.ERASED in (current.barred, model.at(parent, no).barred):
            with pytest.raises((StaleRead, Withdrawn)):
                self.store.write([draft], quarantine=True)
            return
        assert self.store.write([draft], quarantine=True).quarantined == (key,)
        cases = [one.case for one in [*self.keeps_out(key), current] if one.barred]
        with model.entry(cases[0] if cases else None, "quarantine", self.places(key)[-1:]):
            late = Version(text, {(parent, no, Relation.DERIVE)}, State.QUARANTINED, in_flight=True)
            late.case = cases[0] if cases else None
            new = self.add(key, late)
            model.current.setdefault(key, new)

    def keeps_out(self, key: Key) -> list[Version]:
        """The version that keeps a write of the key out, if one does."""
        model = self.model
        keeps = key in model.current and model.at(key).barred and not model.steps_aside(key)
        return [model.at(key)] if keeps else []

    @precondition(lambda self: self.model.buried)
    @rule(data=st.data())
    def relearn(self, data: st.DataObject) -> None:
        text = data.draw(st.sampled_from(sorted(self.model.buried)))
        unknown = Read(key=Key(("s",), "nobody"))
        draft = Draft(key=Key(("s",), "new"), content=text.upper(), reads=(unknown,))
        with pytest.raises(Tombstoned if self.model.buried[text] else UnknownId):
            self.store.write([draft])

    @rule(data=st.data())
    def read_of_a_former_version_is_stale(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.model.current)))
        former = self.model.current[key] - 1
        if former and self.model.at(key).barred is None:
            with pytest.raises(StaleRead):
                self.store.write(
                    [Draft(key=Key(("s",), "new"), content="x", reads=(Read(key=key, version=former),))]
                )

    # events

    @rule(data=st.data(), event=st.sampled_from(["delete", "correct", "migrate"]), dry_run=st.booleans())
    def declare(self, data: st.DataObject, event: str, dry_run: bool) -> None:
        model = self.model
        roots = data.draw(
            st.lists(st.sampled_from(sorted(model.current)), min_size=1, max_size=2, unique=True)
        )
        if any(model.at(root).barred is State.ERASED for root in roots):
            with pytest.raises(Withdrawn):
                self.store.open_case(event=event, roots=roots, actor="someone", reason="because")
            return
        reached = model.cascade(roots, every_version=event == "delete")
        replaced = {root: self.text() for root in roots} if event == "correct" else {}
        successors: dict[Key, Key] = {}
        if event == "migrate":
            outside = [
                key for key in model.served() if (key, model.current[key]) not in reached and key not in roots
            ]
            successors = dict.fromkeys(roots, outside[0]) if outside else {}
        case = self.store.open_case(
            event=event,
            roots=roots,
            actor="someone",
            reason="because",
            replacements=[Draft(key=root, content=text) for root, text in replaced.items()],
            successors=successors,
            dry_run=dry_run,
        )
        fresh = [key for key in model.served() if (key, model.current[key]) in reached]
        assert case.withdrawn == len(fresh)
        assert case.roots == tuple(roots)
        if dry_run:
            assert case.id == 0
            return
        members = {
            key: model.current[key]
            for key in model.current
            if (key, model.current[key]) in reached
            and (key in roots or model.at(key).barred in (None, State.WITHDRAWN))
        }
        horizon = {key: len(versions) for key, versions in model.versions.items()}
        model.cases[case.id] = ModelCase(
            event, {root: model.current[root] for root in roots}, members, horizon
        )
        if event == "delete":
            for root in roots:
                for version in model.versions[root]:
                    if version.barred not in (State.QUARANTINED, State.ERASED):
                        model.bury(version.content, case.id)
        former = [
            (key, no) for key, no in reached if no != model.current[key] and not model.at(key, no).barred
        ]
        with model.entry(case.id, "withdraw", [*members.items(), *former]):
            for key, no in sorted(reached):
                version = model.at(key, no)
                if version.barred is None:
                    version.barred = State.WITHDRAWN if no == model.current[key] else State.ARCHIVED
                    version.case = case.id
            for root in roots:
                if model.at(root).barred is State.WITHDRAWN:
                    model.at(root).case = case.id
        for root in roots:
            if root in successors:
                with model.entry(case.id, "supersede", [(root, model.current[root])]):
                    model.at(root).barred, model.at(root).case = State.SUPERSEDED, case.id
            if root in replaced:
                with model.entry(case.id, "replace", self.places(root)):
                    model.at(root).barred, model.at(root).case = State.SUPERSEDED, case.id
                    model.cases[case.id].prior[root] = model.current[root]
                    model.current[root] = self.add(root, Version(replaced[root], set()))

    # repair

    @precondition(lambda self: self.model.withdrawn())
    @rule(data=st.data())
    def stage(self, data: st.DataObject) -> None:
        model = self.model
        key = data.draw(st.sampled_from(model.withdrawn()))
        number = data.draw(st.sampled_from(self.homes(key)))
        text = self.text()
        draft = Draft(key=key, content=text)
        if model.is_deleted_root(key):
            with pytest.raises(StaleRead):
                self.store.stage(number, draft)
            return
        no = self.store.stage(number, draft)
        version = Version(text, set(), State.QUARANTINED, number, published=False, staged=True)
        with model.entry(number, "stage", self.places(key)[-1:]):
            assert no == self.add(key, version)
        assert self.store.staged_content(key, no) == text

    def homes(self, key: Key) -> list[int]:
        """The cases that have the current version as a member."""
        return [
            number
            for number, case in self.model.cases.items()
            if case.members.get(key) == self.model.current[key] and not case.undone
        ]

    def staged(self) -> list[tuple[int, Key, int]]:
        return [
            (version.case or 0, key, no)
            for key, versions in self.model.versions.items()
            for no, version in enumerate(versions, 1)
            if version.staged
        ]

    @precondition(lambda self: self.staged())
    @rule(data=st.data(), verdict=st.sampled_from(["pass", "warn", "fail"]), fails=st.booleans())
    def publish(self, data: st.DataObject, verdict: str, fails: bool) -> None:
        model = self.model
        number, key, no = data.draw(st.sampled_from(self.staged()))
        parent = data.draw(st.sampled_from([one for one in sorted(model.current) if one != key] or [key]))
        read = Read(key=parent, version=model.current[parent])
        successor = Successor(key=key, version=no, reads=(read,), verdicts=(("check", verdict),))
        lawful = (
            parent != key
            and model.at(parent).barred is None
            and model.at(key).barred is State.WITHDRAWN
            and not model.is_deleted_root(key)
            and number in self.homes(key)
        )
        if not lawful or fails:
            with pytest.raises(InterruptedError if fails else (StaleRead, UnknownId)):
                self.store.publish(number, [successor], expect=interrupt if fails else None)
            return
        self.store.publish(number, [successor])
        old, new = model.at(key), model.at(key, no)
        with model.entry(number, "publish", [(key, model.current[key]), (key, no)]):
            old.barred, old.case = State.SUPERSEDED, number
            new.barred, new.case, new.staged, new.published = None, None, False, True
            new.reads = {(parent, model.current[parent], Relation.DERIVE)}
            model.cases[number].prior[key] = model.current[key]
            model.current[key] = no
        assert self.store.snapshot().current[key].validated == (verdict != "fail")

    @precondition(lambda self: self.model.withdrawn())
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        model = self.model
        key = data.draw(st.sampled_from(model.withdrawn()))
        number = data.draw(st.sampled_from(self.homes(key)))
        reads = {(parent, relation) for parent, _, relation in model.at(key).reads}
        release = Release(
            key=key,
            reads=tuple(
                Read(key=parent, version=model.current[parent], relation=relation)
                for parent, relation in sorted(reads)
            ),
        )
        lawful = all(parent == key or model.at(parent).barred is None for parent, _ in reads)
        if not lawful or model.is_deleted_root(key):
            with pytest.raises(StaleRead):
                self.store.publish(number, [], [release])
            return
        self.store.publish(number, [], [release])
        version = model.at(key)
        model.cases[number].released[key, model.current[key]] = version.reads
        with model.entry(number, "publish", [(key, model.current[key])]):
            version.barred, version.case = None, None
        version.reads = {(parent, model.current[parent], relation) for parent, relation in reads}

    @precondition(lambda self: self.staged())
    @rule(data=st.data())
    def reject(self, data: st.DataObject) -> None:
        number, key, no = data.draw(st.sampled_from(self.staged()))
        self.store.reject(number, [(key, no)], ["it says something else"])
        self.model.at(key, no).staged = False
        with pytest.raises((UnknownId, StaleRead)):
            self.store.publish(number, [Successor(key=key, version=no, reads=())])

    @precondition(lambda self: self.model.cases)
    @rule(data=st.data())
    def discard(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.model.cases)))
        mine = [(key, no) for case, key, no in self.staged() if case == number]
        assert self.store.discard_staged(number) == len(mine)
        with self.model.entry(number, "discard", mine):
            for key, no in mine:
                version = self.model.at(key, no)
                version.staged, version.barred = False, State.ERASED

    @precondition(lambda self: self.model.cases)
    @rule(data=st.data())
    def close(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.model.cases)))
        case = self.model.cases[number]
        if case.undone:
            with pytest.raises(InvalidInput):
                self.store.close_case(number)
            return
        closed = self.store.close_case(number)
        if case.event == "delete":
            due: list[Versioned] = [
                (root, no)
                for root, no in case.roots.items()
                if self.model.at(root, no).barred is State.WITHDRAWN
                and self.model.at(root, no).case == number  # what a later one names is for that one
            ]
            with self.model.entry(number, "close", due):
                for root, no in due:
                    self.model.at(root, no).barred, self.model.at(root, no).case = State.ARCHIVED, number
        left = [
            key
            for key, no in case.members.items()
            if self.model.at(key, no).barred is State.WITHDRAWN
            and not (no == self.model.current[key] and self.model.is_deleted_root(key))
        ]
        assert closed.status is (CaseStatus.CLOSED_PARTIAL if left else CaseStatus.CLOSED)

    # taking back, removing

    @precondition(lambda self: self.model.cases)
    @rule(data=st.data(), dry_run=st.booleans())
    def undo(self, data: st.DataObject, dry_run: bool) -> None:
        number = data.draw(st.sampled_from(sorted(self.model.cases)))
        after, before = self.model.undo(number), self.store.snapshot()
        if after is None:
            with pytest.raises(UndoRefused):
                self.store.undo(number, actor="someone", reason="mistaken", dry_run=dry_run)
            assert self.store.snapshot() == before
            return
        report = self.store.undo(number, actor="someone", reason="mistaken", dry_run=dry_run)
        served, then = set(after.served()), set(self.model.served())
        assert report.case.status is CaseStatus.UNDONE
        assert set(report.restored) - then == served - then
        assert served <= (then | set(report.restored))
        if dry_run:
            assert self.store.snapshot() == before
        else:
            self.model = after

    @precondition(lambda self: self.model.cases)
    @rule(data=st.data())
    def erase(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.model.cases)))
        case = self.model.cases[number]
        if case.event != "delete" or case.undone:
            with pytest.raises(InvalidInput):
                self.store.erase(number, actor="someone", reason="asked to")
            return
        doomed: set[Versioned] = set() if case.erased else self.model.doomed(number)
        receipt = self.store.erase(number, actor="someone", reason="asked to")
        assert receipt.status is Erasure.DONE
        if not case.erased:
            assert {(one.key, one.version) for one in receipt.versions} == doomed
        with self.model.entry(number, "erase", doomed):
            for place in doomed:
                version = self.model.at(*place)
                now = self.model.at(place[0])
                said_still = now.barred is None and now.content == version.content
                if version.barred is not State.QUARANTINED and not said_still:
                    self.model.bury(version.content, number)
                version.barred, version.case, version.staged = State.ERASED, number, False
        case.erased = True

    @rule()
    def reopen(self) -> None:
        self.close_both()
        self.open()

    @rule(
        data=st.data(),
        verb=st.sampled_from(["write", "declare", "stage", "release", "close", "undo", "erase"]),
        stop=st.sampled_from([Stop(point=BEGIN, nth=1), Stop(point=COMMIT, nth=1)])
        | st.builds(Stop, point=st.just(STATEMENT), nth=st.integers(1, 3)),
    )
    def die(self, data: st.DataObject, verb: str, stop: Stop) -> None:
        """The process dies inside a verb: what its files are at that instant is opened instead."""
        attempt = self.attempt(data, verb)
        if attempt is None:
            return
        left = Path(tempfile.mkdtemp())

        def blow() -> NoReturn:
            for file in self.folder.iterdir():
                if not file.name.endswith("-shm"):  # shared memory ends with the process
                    shutil.copy2(file, left)
            fail()

        with striking(stop, blow) as strike, pytest.raises((Struck, MemoRepairError)):
            attempt()
        if strike.fallen:
            self.close_both()
            self.folder, left = left, self.folder
            self.open()
        shutil.rmtree(left)

    def attempt(self, data: st.DataObject, verb: str) -> Callable[[], object] | None:
        """A call of the verb, which changes something or is refused; None where there is nothing to call."""
        model, store = self.model, self.store
        key = data.draw(st.sampled_from(sorted(model.current)))
        text = self.text()
        if verb == "write":
            return lambda: store.write([Draft(key=key, content=text)])
        if verb == "declare":
            event = data.draw(st.sampled_from(["delete", "migrate"]))
            return lambda: store.open_case(event=event, roots=[key], actor="x", reason="r")
        homes = self.homes(key)
        if verb in ("stage", "release"):
            if not homes:
                return None
            if verb == "stage":
                return lambda: store.stage(homes[-1], Draft(key=key, content=text))
            reads = tuple(
                Read(key=parent, version=model.current[parent], relation=relation)
                for parent, relation in sorted({(one, relation) for one, _, relation in model.at(key).reads})
            )
            return lambda: store.publish(homes[-1], [], [Release(key=key, reads=reads)])
        numbers = [number for number, case in model.cases.items() if not case.erased and not case.undone]
        if not numbers:
            return None
        number = data.draw(st.sampled_from(numbers))
        if verb == "close":
            return lambda: store.close_case(number)
        if verb == "undo":
            return lambda: store.undo(number, actor="x", reason="r")
        return lambda: store.erase(number, actor="x", reason="r")

    # what must hold at all times

    @invariant()
    def what_is_served_is_the_model_and_nothing_else_is_readable(self) -> None:
        model, store = self.model, self.store
        listed = {listing.key: listing for listing in store.listing()}
        assert set(listed) == set(model.current)
        for key, current in model.current.items():
            version = model.at(key)
            assert (listed[key].state, listed[key].version) == (version.barred or State.ACTIVE, current)
            assert listed[key].case == version.case
            if version.barred is None:
                assert store.get(key).content == version.content
            else:
                with pytest.raises(Withdrawn) as caught:
                    store.get(key)
                assert caught.value.case == version.case
            past = store.history(key)
            assert len(past) == len(model.versions[key])
            for entry, then in zip(past, model.versions[key], strict=True):
                plain = State.ACTIVE if entry.version == current else State.SUPERSEDED
                assert entry.content == (then.content if then.barred is None else None)
                assert (entry.state, entry.case) == (then.barred or plain, then.case)
        for query in ("text", "t"):  # by the index, by a scan
            hits = store.search(query, scope=("s",), limit=99)
            assert {hit.artifact.key: hit.artifact.content for hit in hits} == {
                key: model.at(key).content for key in model.served()
            }
        near = store.search("text", scope=("s",), limit=99, by="vector")
        assert {hit.artifact.key for hit in near} == set(model.served())

    @invariant()
    def who_reads_beside_sees_the_same(self) -> None:
        model, reader = self.model, self.reader
        served = {key: model.at(key).content for key in model.served()}
        for by in ("text", "vector"):
            hits = reader.search("text", scope=("s",), limit=99, by=by)
            assert {hit.artifact.key: hit.artifact.content for hit in hits} == served
        for key in model.current:
            if key not in served:
                with pytest.raises(Withdrawn):
                    reader.get(key)
            else:
                assert reader.get(key).content == served[key]

    @invariant()
    def the_picture_is_the_model(self) -> None:
        snapshot = self.store.snapshot()
        assert {key: view.version for key, view in snapshot.current.items()} == self.model.current
        assert {(arc.child, arc.parent, arc.read_version, arc.relation) for arc in snapshot.arcs} == {
            (key, *read)
            for key in self.model.current
            for read in self.model.at(key).reads
            if read[2] is not Relation.SUPERSEDE
        }
        for number, case in self.model.cases.items():
            members = self.store.members(number)
            assert {member.key: member.version for member in members} == case.members
            assert {member.key for member in members if member.root} == set(case.roots)


NIGHTLY = settings().max_examples >= 2_000
StoreMachine.TestCase.settings = settings(
    max_examples=40, stateful_step_count=25, suppress_health_check=[HealthCheck.too_slow]
)
TestStore = StoreMachine.TestCase


@pytest.mark.skipif(not NIGHTLY, reason="2,000 lives of 50 steps: HYPOTHESIS_PROFILE=nightly")
@pytest.mark.parametrize("share", range(8))
def test_the_store_is_the_model_over_long_lives(share: int) -> None:
    """Eight times 250 lives, each share with draws of its own, so that as many processes can run them."""
    long = settings(max_examples=250, stateful_step_count=50, suppress_health_check=[HealthCheck.too_slow])
    run_state_machine_as_test(StoreMachine, settings=long)
