"""The checker passes every honest repair, and catches every way in which one can go wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorepair.graphs.terms import Arch, Kind, Relation
from memorepair.memory.artifact import Key, State
from memorepair.memory.snapshot import ArcView, Snapshot, VersionView
from memorepair.repair.events import (
    Correction,
    Deletion,
    EventKind,
    Interface,
    Migration,
    RepairEvent,
    Rollback,
)
from memorepair.repair.soundness import exposed, is_sound_publication, soundness_violations


def key(name: object) -> Key:
    return Key(("t",), str(name))


@dataclass
class Sketch:
    """A store reduced to what its picture shows."""

    rows: dict[tuple[Key, int], VersionView] = field(default_factory=dict)
    current: dict[Key, int] = field(default_factory=dict)
    reads: dict[Key, dict[Key, int]] = field(default_factory=dict)
    former: dict[tuple[Key, int], dict[Key, int]] = field(default_factory=dict)

    def copy(self) -> Sketch:
        reads = {child: dict(parents) for child, parents in self.reads.items()}
        return Sketch(dict(self.rows), dict(self.current), reads, dict(self.former))

    def put(self, name: Key, digest: str, parents: tuple[Key, ...] = (), *, validated: bool = False) -> None:
        """The next version of a key; the one before is superseded, by its case if it was withdrawn."""
        if name in self.current:
            self.set(name, State.SUPERSEDED)
            self.former[name, self.current[name]] = self.reads[name]
        version = 1 + max((no for known, no in self.rows if known == name), default=0)
        self.add(name, version, digest, validated=validated)
        reads = {parent: self.current[parent] for parent in parents}
        self.current[name], self.reads[name] = version, reads

    def add(
        self,
        name: Key,
        version: int,
        digest: str,
        *,
        validated: bool = False,
        state: State = State.ACTIVE,
    ) -> None:
        self.rows[name, version] = VersionView(
            key=name,
            version=version,
            kind=Kind.RECORD,
            arch=Arch.NONE,
            state=state,
            case=None,
            digest=digest,
            words=digest.casefold(),
            validated=validated,
            created_at=0,
        )

    def set(self, name: Key, state: State, version: int | None = None) -> None:
        """Another state: what is withdrawn belongs to case 1 until it is active again."""
        place = name, version or self.current[name]
        served = state in (State.ACTIVE, State.PENDING_REVIEW)
        case = None if served else self.rows[place].case if state is State.SUPERSEDED else 1
        self.rows[place] = replace(self.rows[place], state=state, case=case)

    def release(self, name: Key) -> None:
        self.set(name, State.ACTIVE)
        self.reads[name] = {parent: self.current[parent] for parent in self.reads[name]}

    def state(self, name: Key) -> State:
        return self.rows[name, self.current[name]].state

    def digest(self, name: Key) -> str:
        return self.rows[name, self.current[name]].digest

    def picture(self) -> Snapshot:
        return Snapshot(
            epoch=0,
            current={name: self.rows[name, no] for name, no in self.current.items()},
            versions=dict(self.rows),
            arcs=tuple(
                arc for child, reads in self.reads.items() for arc in _arcs(child, self.current[child], reads)
            ),
            former_arcs=tuple(arc for place, reads in self.former.items() for arc in _arcs(*place, reads)),
            semantic=(),
        )


def _arcs(child: Key, version: int, reads: dict[Key, int]) -> list[ArcView]:
    return [
        ArcView(
            child=child,
            child_version=version,
            parent=parent,
            read_version=no,
            relation=Relation.DERIVE,
            group=0,
        )
        for parent, no in reads.items()
    ]


ROOT, OTHER, CACHE, SUMMARY, SKILL, ALOOF = map(key, ("root", "other", "cache", "summary", "skill", "aloof"))


def store() -> Sketch:
    """root -> cache -> summary -> skill; the summary reads `other` too; `aloof` stands on `other` only."""
    sketch = Sketch()
    sketch.put(ROOT, "root 1")
    sketch.put(OTHER, "other 1")
    sketch.put(CACHE, "cache 1", (ROOT,))
    sketch.put(SUMMARY, "summary 1", (CACHE, OTHER))
    sketch.put(SKILL, "skill 1", (SUMMARY,))
    sketch.put(ALOOF, "aloof 1", (OTHER,))
    return sketch


def deletion() -> RepairEvent:
    return RepairEvent(kind=EventKind.DELETE, roots=(ROOT,), delta=Deletion())


def correction() -> RepairEvent:
    delta = Correction(replacements={ROOT: "new"})
    return RepairEvent(kind=EventKind.CORRECT, roots=(ROOT,), delta=delta)


def migration(to: Key = ROOT) -> RepairEvent:
    delta = Migration(interfaces={ROOT: Interface(key=to, content="new")})
    return RepairEvent(kind=EventKind.MIGRATE, roots=(ROOT,), delta=delta)


def withdrawn(sketch: Sketch) -> Sketch:
    sketch = sketch.copy()
    for name in (ROOT, CACHE, SUMMARY, SKILL):
        sketch.set(name, State.WITHDRAWN)
    return sketch


def corrected(sketch: Sketch, digest: str = "root 2") -> Sketch:
    sketch = withdrawn(sketch)
    sketch.put(ROOT, digest)
    return sketch


def repaired(sketch: Sketch) -> Sketch:
    sketch = corrected(sketch)
    sketch.put(CACHE, "cache 2", (ROOT,), validated=True)
    sketch.put(SUMMARY, "summary 2", (CACHE, OTHER), validated=True)
    sketch.put(SKILL, "skill 2", (SUMMARY,), validated=True)
    return sketch


def released(sketch: Sketch) -> Sketch:
    """The cache came out the same, so what stands on it is released."""
    sketch = corrected(sketch)
    sketch.put(CACHE, "cache 1", (ROOT,), validated=True)
    sketch.release(SUMMARY)
    sketch.release(SKILL)
    return sketch


def found(before: Sketch, event: RepairEvent, after: Sketch) -> set[tuple[int, Key, str]]:
    return {
        (one.law, one.key, one.what) for one in soundness_violations(before.picture(), event, after.picture())
    }


@pytest.mark.parametrize("step", [withdrawn, corrected, repaired, released])
def test_an_honest_repair_is_sound_at_every_step(step: Callable[[Sketch], Sketch]) -> None:
    before = store()
    assert found(before, correction(), step(before)) == set()
    assert is_sound_publication(before.picture(), correction(), step(before).picture())


def test_an_honest_deletion_publishes_what_stands_on_the_rest() -> None:
    after = withdrawn(store())
    after.put(SUMMARY, "summary 2", (OTHER,), validated=True)
    after.set(ROOT, State.ARCHIVED)
    assert found(store(), deletion(), after) == set()


def test_an_erased_root_is_no_loss() -> None:
    after = withdrawn(store())
    after.set(ROOT, State.ERASED)
    after.rows[ROOT, 1] = replace(after.rows[ROOT, 1], digest="receipt")
    assert found(store(), deletion(), after) == set()


def test_a_rejected_successor_stays_behind() -> None:
    after = corrected(store())
    after.add(CACHE, 2, "cache 2", state=State.QUARANTINED)
    assert found(store(), correction(), after) == set()


def test_a_migration_may_read_the_version_it_carries_over() -> None:
    after = corrected(store())
    after.put(CACHE, "cache 2", (ROOT,), validated=True)
    after.reads[CACHE][CACHE] = 1
    assert found(store(), migration(), after) == set()
    what = "a successor stands on its own withdrawn version"
    assert found(store(), correction(), after) == {(2, CACHE, what)}


def test_an_interface_of_another_key_supersedes_the_root() -> None:
    after = withdrawn(store())
    after.put(key("v2"), "v2")
    after.put(CACHE, "cache 2", (key("v2"),), validated=True)
    assert found(store(), migration(key("v2")), after) == set()
    after.put(ROOT, "root 2")
    assert found(store(), migration(key("v2")), after) == {(1, ROOT, "a superseded interface is served")}


def test_an_interface_that_was_there_before_may_get_a_version() -> None:
    before = store()
    before.put(key("v2"), "a draft of v2")
    after = withdrawn(before)
    after.put(key("v2"), "v2")
    event = migration(key("v2"))
    assert found(before, event, after) == set()
    assert exposed(before.picture(), event, after.picture(), [key("v2")]) == ()
    what = "a version changed outside the cascade"
    assert found(before, correction(), after) >= {(5, key("v2"), what)}
    assert exposed(before.picture(), correction(), after.picture(), [key("v2")]) == (key("v2"),)


def test_what_was_stale_under_a_released_parent_may_be_released_with_it() -> None:
    before = store()
    before.put(SUMMARY, "summary 2", (CACHE, OTHER))
    after = released(before)
    after.set(SUMMARY, State.ARCHIVED, version=1)
    assert found(before, correction(), after) == set()


def test_what_was_stale_under_anything_else_may_not() -> None:
    before = store()
    before.put(OTHER, "other 2")
    what = "a release although a parent changed"
    assert found(before, correction(), released(before)) == {(2, SUMMARY, what)}


def test_a_release_keeps_what_it_had_read_of_itself() -> None:
    before = store()
    before.put(CACHE, "cache 2", (ROOT,))
    before.reads[CACHE][CACHE] = 1
    after = corrected(before, digest="root 1")
    after.set(CACHE, State.ACTIVE)
    after.reads[CACHE][ROOT] = 2
    after.set(CACHE, State.ARCHIVED, version=1)
    assert found(before, correction(), after) == set()


Damage = Callable[[Sketch], None]


def _serve(name: Key) -> Damage:
    return lambda sketch: sketch.set(name, State.ACTIVE)


def _successor(name: Key, *parents: Key, validated: bool = True) -> Damage:
    return lambda sketch: sketch.put(name, "another", parents, validated=validated)


def _lose(name: Key) -> Damage:
    def damage(sketch: Sketch) -> None:
        del sketch.rows[name, 1]
        if sketch.current[name] == 1:
            del sketch.current[name], sketch.reads[name]

    return damage


def _rewrite(name: Key) -> Damage:
    def damage(sketch: Sketch) -> None:
        sketch.rows[name, 1] = replace(sketch.rows[name, 1], digest="forged")

    return damage


def _open_old(name: Key) -> Damage:
    return lambda sketch: sketch.set(name, State.ACTIVE, version=1)


def _read_old(name: Key, parent: Key) -> Damage:
    def damage(sketch: Sketch) -> None:
        sketch.reads[name][parent] = 1

    return damage


def _both(*damages: Damage) -> Damage:
    def damage(sketch: Sketch) -> None:
        for one in damages:
            one(sketch)

    return damage


def _drop_read(name: Key, parent: Key) -> Damage:
    def damage(sketch: Sketch) -> None:
        del sketch.reads[name][parent]

    return damage


NOT_SERVED = "it stands on what is not served"


@pytest.mark.parametrize(
    ("event", "start", "damage", "fault"),
    [
        (deletion, withdrawn, _serve(ROOT), (1, ROOT, "a removed root is served")),
        (deletion, withdrawn, _successor(ROOT), (1, ROOT, "a removed root is served")),
        (correction, withdrawn, _serve(ROOT), (1, ROOT, "a root is served in its old version")),
        (migration, withdrawn, _serve(ROOT), (1, ROOT, "a root is served in its old version")),
        (deletion, withdrawn, _serve(CACHE), (2, CACHE, NOT_SERVED)),
        (deletion, withdrawn, _serve(SKILL), (2, SKILL, NOT_SERVED)),
        (correction, corrected, _serve(CACHE), (2, CACHE, "it stands on a version that is not current")),
        (
            correction,
            corrected,
            lambda sketch: sketch.release(CACHE),
            (2, CACHE, "a release although a parent changed"),
        ),
        (correction, repaired, _open_old(CACHE), (1, CACHE, "a version that is not current is open")),
        (
            correction,
            corrected,
            _successor(CACHE, ROOT, validated=False),
            (2, CACHE, "a successor was published without validation"),
        ),
        (correction, corrected, _successor(CACHE), (2, CACHE, "a successor stands on nothing")),
        (correction, corrected, _successor(SUMMARY, CACHE, OTHER), (2, SUMMARY, NOT_SERVED)),
        (
            correction,
            repaired,
            _read_old(CACHE, ROOT),
            (2, CACHE, "it stands on a version that is not current"),
        ),
        (
            correction,
            released,
            _drop_read(SUMMARY, OTHER),
            (2, SUMMARY, "a release changed what it stands on"),
        ),
        (
            correction,
            corrected,
            _both(_successor(CACHE, SUMMARY), _successor(SUMMARY, CACHE), _successor(CACHE, SUMMARY)),
            (2, SUMMARY, "it stands on a version that is not current"),
        ),
        (deletion, withdrawn, _successor(key("in flight"), CACHE), (1, key("in flight"), NOT_SERVED)),
        (correction, repaired, _lose(CACHE), (5, CACHE, "a version is lost")),
        (correction, repaired, _lose(ALOOF), (5, ALOOF, "a version is lost")),
        (correction, repaired, _rewrite(SUMMARY), (5, SUMMARY, "a kept version was changed")),
        (
            correction,
            repaired,
            lambda sketch: sketch.set(ALOOF, State.WITHDRAWN),
            (5, ALOOF, "a state changed outside the cascade"),
        ),
        (
            correction,
            repaired,
            _successor(ALOOF, OTHER),
            (5, ALOOF, "a version changed outside the cascade"),
        ),
    ],
)
def test_every_way_to_go_wrong_is_caught(
    event: Callable[[], RepairEvent],
    start: Callable[[Sketch], Sketch],
    damage: Damage,
    fault: tuple[int, Key, str],
) -> None:
    after = start(store())
    damage(after)
    assert fault in found(store(), event(), after)


def test_successors_that_stand_on_each_other_stand_on_nothing() -> None:
    after = corrected(store())
    after.put(CACHE, "cache 2", (ROOT,), validated=True)
    after.put(SUMMARY, "summary 2", (CACHE, OTHER), validated=True)
    after.put(SKILL, "skill 2", (SUMMARY,), validated=True)
    after.reads[CACHE] = {SKILL: 2}
    (violation,) = soundness_violations(store().picture(), correction(), after.picture())
    assert violation.what == "successors stand on each other"
    assert isinstance(violation.witness, tuple)
    assert set(violation.witness) == {CACHE, SUMMARY, SKILL}


def test_a_former_version_made_from_a_withdrawn_one_is_taken_too() -> None:
    before = store()
    before.put(ALOOF, "aloof 2", (SUMMARY,))
    before.put(ALOOF, "aloof 3", (OTHER,))
    after = withdrawn(before)
    what = "a version that left service is readable in its history"
    assert found(before, correction(), after) == {(1, ALOOF, what)}
    after.set(ALOOF, State.ARCHIVED, version=2)
    assert found(before, correction(), after) == set()
    after.set(ALOOF, State.ARCHIVED, version=1)
    assert found(before, correction(), after) == {(5, ALOOF, "a state changed outside the cascade")}


def test_what_still_rests_on_a_former_version_is_taken_too() -> None:
    before = store()
    before.put(ALOOF, "aloof 2", (SUMMARY,))
    before.put(key("heir"), "heir", (ALOOF,))
    before.put(ALOOF, "aloof 3", (OTHER,))
    after = withdrawn(before)
    after.set(ALOOF, State.ARCHIVED, version=2)
    assert exposed(before.picture(), correction(), after.picture()) == (key("heir"),)
    after.set(key("heir"), State.WITHDRAWN)
    assert found(before, correction(), after) == set()


def test_a_deletion_takes_the_former_versions_of_its_root() -> None:
    before = store()
    before.put(ALOOF, "aloof 2", (ROOT,))
    before.put(ALOOF, "aloof 3", (OTHER,))
    before.put(ROOT, "root 2")
    after = withdrawn(before)
    what = "a version that left service is readable in its history"
    assert found(before, correction(), after) == set()
    assert found(before, deletion(), after) == {(1, ALOOF, what), (1, ROOT, what)}
    after.set(ROOT, State.ARCHIVED, version=1)
    after.set(ALOOF, State.ARCHIVED, version=2)
    assert found(before, deletion(), after) == set()


def test_a_withdrawn_version_is_not_readable_once_it_is_superseded() -> None:
    after = repaired(store())
    after.rows[CACHE, 1] = replace(after.rows[CACHE, 1], case=None)
    what = "a version that left service is readable in its history"
    assert found(store(), correction(), after) == {(1, CACHE, what)}


def test_what_was_derived_since_may_be_overtaken_but_not_stand_on_what_was_withdrawn() -> None:
    after = repaired(store())
    late = key("late")
    after.put(late, "late", (SKILL,))
    after.put(SKILL, "skill 3", (SUMMARY,), validated=True)
    assert found(store(), correction(), after) == set()
    after.reads[late] = {SKILL: 1}
    assert found(store(), correction(), after) == {(1, late, "it stands on a version that is not current")}


def test_what_was_derived_since_is_asked_for_its_affected_parents_only() -> None:
    after = repaired(store())
    after.put(key("late"), "late", (SKILL, OTHER))
    after.put(OTHER, "other 2")
    outside = {
        (5, OTHER, "a version changed outside the cascade"),
        (5, OTHER, "a state changed outside the cascade"),
    }
    faults = found(store(), correction(), after)
    assert outside <= faults
    assert key("late") not in {one for _, one, _ in faults}


def test_what_was_out_of_service_before_is_not_brought_back() -> None:
    before = store()
    before.set(SKILL, State.ARCHIVED)
    after = released(before)
    what = "what was out of service before the event is served"
    assert found(before, correction(), after) == {(1, SKILL, what)}


def test_an_older_version_is_not_brought_back() -> None:
    before = store()
    before.put(SKILL, "skill 2", (SUMMARY,))
    after = released(before)
    after.current[SKILL] = 1
    after.set(SKILL, State.ACTIVE)
    assert (1, SKILL, "a version older than the withdrawn one is served") in found(
        before, correction(), after
    )


def test_exposure_counts_what_nothing_validated() -> None:
    before, event = store(), deletion()
    keys = (ROOT, CACHE, SUMMARY, SKILL)

    def count(after: Sketch, among: tuple[Key, ...] | None = None) -> tuple[Key, ...]:
        return exposed(before.picture(), event, after.picture(), among)

    assert set(count(before)) == set(keys)
    assert count(withdrawn(before)) == ()
    after = withdrawn(before)
    after.put(SUMMARY, "summary 2", (OTHER,), validated=True)
    assert count(after) == ()
    after.set(SKILL, State.ACTIVE)  # released on a parent that came out different
    assert count(after) == (SKILL,)
    assert count(after, (*keys, ALOOF)) == (ALOOF, SKILL)
    # A validation before the event does not count.
    old = replace(before.rows[ALOOF, 1], validated=True)
    before.rows[ALOOF, 1] = after.rows[ALOOF, 1] = old
    assert count(after, (*keys, ALOOF)) == (ALOOF, SKILL)
    after.put(ALOOF, "aloof 2", (OTHER,), validated=True)
    assert count(after, (*keys, ALOOF)) == (SKILL,)


@st.composite
def histories(draw: st.DrawFn) -> tuple[Sketch, RepairEvent, Sketch, list[Key]]:
    """A random memory, an event, an honest partial repair of it, and the members that are still withdrawn."""
    n = draw(st.integers(1, 9))
    names = [key(place) for place in range(n)]
    before = Sketch()
    for place, name in enumerate(names):
        above = sorted(draw(st.sets(st.sampled_from(names[:place])))) if place else []
        before.put(name, f"{place} of old", tuple(above))
    roots = tuple(sorted(draw(st.sets(st.sampled_from(names), min_size=1))))
    kind = draw(st.sampled_from(sorted(set(EventKind) - {EventKind.MAINTAIN})))
    if kind is EventKind.DELETE:
        event = RepairEvent(kind=kind, roots=roots, delta=Deletion())
    elif kind is EventKind.CORRECT:
        event = RepairEvent(kind=kind, roots=roots, delta=Correction(replacements=dict.fromkeys(roots, "x")))
    elif kind is EventKind.MIGRATE:
        interfaces = {root: Interface(key=root, content="x") for root in roots}
        event = RepairEvent(kind=kind, roots=roots, delta=Migration(interfaces=interfaces))
    else:
        some = draw(st.sets(st.sampled_from(roots)))
        event = RepairEvent(kind=kind, roots=roots, delta=Rollback(reinstated=dict.fromkeys(some, 1)))
    back = set(roots) if kind in (EventKind.CORRECT, EventKind.MIGRATE) else set()
    if isinstance(event.delta, Rollback):
        back = set(event.delta.restored)
    members = set(roots)
    for name in names:
        if members & before.reads[name].keys():
            members.add(name)
    after = before.copy()
    for name in members:
        after.set(name, State.WITHDRAWN)
    for root in roots:
        if root in back:
            after.put(root, before.digest(root) if draw(st.booleans()) else f"{root} anew")
    left = []
    for name in names:
        if name not in members or name in roots:
            continue
        parents = list(before.reads[name])
        served = [parent for parent in parents if after.state(parent) is State.ACTIVE]
        same = len(served) == len(parents) and all(
            after.digest(parent) == before.digest(parent) for parent in parents
        )
        choice = draw(st.sampled_from(("leave", "publish", "release")))
        if choice == "release" and same:
            after.release(name)
        elif choice == "publish" and served:
            digest = before.digest(name) if draw(st.booleans()) else f"{name} anew"
            after.put(name, digest, tuple(served), validated=True)
        else:
            left.append(name)
    return before, event, after, left


@given(histories())
def test_honest_histories_are_sound(history: tuple[Sketch, RepairEvent, Sketch, list[Key]]) -> None:
    before, event, after, _ = history
    assert soundness_violations(before.picture(), event, after.picture()) == ()
    assert exposed(before.picture(), event, after.picture()) == ()


@given(histories(), st.data())
def test_serving_what_was_left_withdrawn_is_never_sound(
    history: tuple[Sketch, RepairEvent, Sketch, list[Key]], data: st.DataObject
) -> None:
    before, event, after, left = history
    stale = [
        name
        for name in left
        if any(
            after.state(parent) is not State.ACTIVE or after.digest(parent) != before.digest(parent)
            for parent in before.reads[name]
        )
    ]
    if not stale:
        return
    name = data.draw(st.sampled_from(stale))
    after.set(name, State.ACTIVE)
    violations = soundness_violations(before.picture(), event, after.picture())
    assert name in {one.key for one in violations}
    assert name in exposed(before.picture(), event, after.picture())


@pytest.mark.parametrize("again", ["summary 1", "SUMMARY 1"])
def test_a_former_version_that_says_what_a_withdrawn_one_says_is_taken_too(again: str) -> None:
    before = store()
    before.put(SUMMARY, "something else", (OTHER,))
    before.put(SUMMARY, again, (CACHE, OTHER))
    before.put(ROOT, "ROOT 1")
    after = withdrawn(before)
    what = "a version that left service is readable in its history"
    for event in (correction(), migration(), deletion()):
        assert found(before, event, after) == {(1, ROOT, what), (1, SUMMARY, what)}
    after.set(SUMMARY, State.ARCHIVED, version=1)
    after.set(ROOT, State.ARCHIVED, version=1)
    assert found(before, correction(), after) == set()
