"""An event takes the whole cascade out of service at once, and a case remembers it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import pytest

from memorepair.errors import InvalidEvent, StaleRead, Tombstoned, UnknownId, Withdrawn
from memorepair.graphs.terms import Kind, Relation
from memorepair.memory.artifact import CaseStatus, Draft, Key, Read, State
from memorepair.memory.sqlite import SqliteStore
from memorepair.memory.store import Release, Successor

Put = Callable[..., Key]
A, B = Key((), "a"), Key((), "b")


def states(store: SqliteStore) -> dict[str, State]:
    return {listing.key.id: listing.state for listing in store.listing()}


def test_the_cascade_follows_every_relation_but_supersede_and_similarity(store: SqliteStore) -> None:
    root = Key((), "root")
    store.write([Draft(key=root, content="root")])
    store.write(
        [
            Draft(key=Key((), relation.name), content="x", reads=(Read(key=root, relation=relation),))
            for relation in Relation
        ]
    )
    store.write([Draft(key=Key((), "similar"), content="y", semantic=(root,))])
    case = store.open_case(event="correct", roots=[root], actor="a", reason="r")
    served = {name for name, state in states(store).items() if state is State.ACTIVE}
    assert served == {"SUPERSEDE", "similar"}
    assert case.withdrawn == len(Relation)


def test_the_cascade_crosses_scopes_and_has_no_depth(store: SqliteStore) -> None:
    chain = [Key((f"user{n % 7}",), f"k{n}") for n in range(5_000)]
    drafts = [Draft(key=chain[0], content="start")]
    drafts += [
        Draft(key=key, content=f"step {n}", reads=(Read(key=parent),))
        for n, (parent, key) in enumerate(pairwise(chain))
    ]
    store.write(drafts, act="import")
    case = store.open_case(event="delete", roots=[chain[1]], actor="a", reason="r")
    assert case.withdrawn == len(chain) - 1
    assert store.counts() == {(State.ACTIVE, Kind.RECORD): 1, (State.WITHDRAWN, Kind.RECORD): 4_999}


def test_what_rests_on_a_former_version_is_reached(store: SqliteStore, put: Put) -> None:
    # skill was made from the profile when that still stood on home; the profile has been rewritten since.
    home = put("home", "harbour street")
    profile = put("profile", "lives in harbour street", home)
    skill = put("skill", "deliver to harbour street", profile)
    put("profile", "likes tea")
    store.open_case(event="delete", roots=[home], actor="a", reason="r")
    assert states(store) == {
        "home": State.WITHDRAWN,
        "profile": State.ACTIVE,
        "skill": State.WITHDRAWN,
    }
    assert [(past.state, past.content) for past in store.history(profile)] == [
        (State.ARCHIVED, None),
        (State.ACTIVE, "likes tea"),
    ]
    with pytest.raises(Withdrawn):
        store.get(skill)


@pytest.mark.parametrize("event", ["correct", "migrate", "recover"])
@pytest.mark.parametrize("write", [str, str.upper, str.title, lambda text: text.replace(" ", "\u3000 ")])
def test_what_leaves_leaves_in_every_version_that_says_it(
    store: SqliteStore, put: Put, event: str, write: Callable[[str], str]
) -> None:
    home = put("home", "at the harbour")
    note = put("note", "near the sea", home)
    skill = put("skill", "bring an umbrella", note)
    put("note", "in the hills")
    put("home", "in the woods")
    again = write("at the harbour")
    put("home", again)
    summary = put("summary", "by the water")
    advice = put("advice", "take a boat", summary)
    put("summary", "by the lake")
    put("summary", write("by the water"), home)
    case = store.open_case(event=event, roots=[home], actor="a", reason="r")
    assert [past.content for past in store.history(home)] == [None, "in the woods", None]
    assert [past.content for past in store.history(note)] == [None, "in the hills"]
    assert [past.content for past in store.history(summary)] == [None, "by the lake", None]
    assert {id for id, state in states(store).items() if state is State.WITHDRAWN} == {
        "home",
        "skill",  # made from a note that was made from what is wrong
        "summary",
        "advice",  # made from a former summary that says what the new one does
    }
    assert store.check() == []
    store.undo(case.id, actor="a", reason="mistaken")
    assert [past.content for past in store.history(home)] == ["at the harbour", "in the woods", again]
    assert [past.content for past in store.history(summary)] == [
        "by the water",
        "by the lake",
        write("by the water"),
    ]
    assert store.get(advice).content == "take a boat"
    assert store.get(skill).content == "bring an umbrella"
    assert store.check() == []


def test_what_a_member_said_before_is_erased_with_it(store: SqliteStore, put: Put) -> None:
    home = put("home", "at the harbour")
    summary = put("summary", "by the water")
    put("summary", "by the lake")
    put("summary", "by the water", home)
    case = store.open_case(event="delete", roots=[home], actor="a", reason="r")
    gone = store.erase(case.id, actor="a", reason="r")
    assert {(one.key, one.version) for one in gone.versions} >= {(home, 1), (summary, 1), (summary, 3)}


def test_a_deletion_hides_the_roots_former_versions_and_a_correction_does_not(
    store: SqliteStore, put: Put
) -> None:
    for event, visible in (("correct", "one"), ("delete", None)):
        key = put(event, "one")
        put(event, f"two {event}")
        store.open_case(event=event, roots=[key], actor="a", reason="r")
        assert store.history(key)[0].content == visible


def test_a_correction_serves_its_replacement_at_once(store: SqliteStore, put: Put) -> None:
    a = put("a", "Paris")
    b = put("b", "in Paris", a)
    case = store.open_case(
        event="correct", roots=[a], actor="me", reason="moved", replacements=[Draft(key=a, content="Lyon")]
    )
    assert (store.get(a).content, store.get(a).version) == ("Lyon", 2)
    assert [(past.state, past.case, past.content) for past in store.history(a)] == [
        (State.SUPERSEDED, case.id, None),
        (State.ACTIVE, None, "Lyon"),
    ]
    members = {member.key: member for member in store.members(case.id)}
    assert (members[a].root, members[a].state, members[a].version) == (True, State.SUPERSEDED, 1)
    assert (members[b].root, members[b].state, members[b].size) == (False, State.WITHDRAWN, 8)
    (arc,) = store.support([b])
    assert (arc.read_version, arc.parent_version, arc.parent_served) == (1, 2, True)
    assert arc.read_digest == store.digest("Paris")
    assert arc.parent_digest == store.digest("Lyon")


def test_a_migration_may_move_to_another_key(store: SqliteStore, put: Put) -> None:
    old = put("users@1", "province")
    row = put("row", "province: Ontario", old)
    new = Key((), "users@2")
    store.open_case(
        event="migrate",
        roots=[old],
        actor="a",
        reason="r",
        replacements=[Draft(key=new, content="state")],
        successors={old: new},
        delta={"rows": "rename@1"},
    )
    assert states(store) == {
        "users@1": State.SUPERSEDED,
        "users@2": State.ACTIVE,
        "row": State.WITHDRAWN,
    }
    assert store.case(1).delta == {"rows": "rename@1"}
    assert store.describe(row).case == 1


def test_a_dry_run_tells_and_changes_nothing(store: SqliteStore, put: Put) -> None:
    a = put("a")
    put("b", None, a)
    before, entries = store.snapshot(), store.journal()
    case = store.open_case(event="delete", roots=[a], actor="x", reason="r", dry_run=True)
    assert (case.id, case.withdrawn, case.status) == (0, 2, CaseStatus.OPEN)
    assert store.snapshot() == before
    assert store.journal() == entries
    assert store.cases() == []
    store.write([Draft(key=Key((), "again"), content="content of a")])


@pytest.mark.parametrize(
    ("roots", "replacements", "successors", "error"),
    [
        ([], [], {}, InvalidEvent),
        ([A, A], [], {}, InvalidEvent),
        ([Key((), "nobody")], [], {}, UnknownId),
        ([A], [Draft(key=B, content="x")], {}, InvalidEvent),
        ([A], [], {B: A}, InvalidEvent),
        ([A], [], {A: Key((), "nobody")}, UnknownId),
        ([A], [], {A: B}, Withdrawn),
        ([A], [Draft(key=A, content="gone")], {}, Tombstoned),
        ([A], [Draft(key=A, content="x", reads=(Read(key=B),))], {}, Withdrawn),
    ],
)
def test_a_bad_event_changes_nothing(
    store: SqliteStore,
    put: Put,
    roots: Sequence[Key],
    replacements: Sequence[Draft],
    successors: Mapping[Key, Key],
    error: type[Exception],
) -> None:
    put("a")
    put("b", None, A)
    gone = put("gone", "gone")
    store.open_case(event="delete", roots=[gone], actor="x", reason="r")
    before, entries = store.snapshot(), store.journal()
    with pytest.raises(error):
        store.open_case(
            event="correct",
            roots=roots,
            actor="x",
            reason="r",
            replacements=replacements,
            successors=successors,
        )
    assert store.snapshot() == before
    assert store.journal() == entries


def test_a_second_event_keeps_the_first_ones_barrier_and_names_its_members(
    store: SqliteStore, put: Put
) -> None:
    a, b = put("a"), put("b")
    c = put("c", None, a, b)
    first = store.open_case(event="correct", roots=[a], actor="x", reason="first")
    second = store.open_case(event="correct", roots=[b], actor="x", reason="second")
    assert (first.withdrawn, second.withdrawn) == (2, 1)
    assert store.describe(c).case == first.id
    assert store.describe(c).reason == "first"
    for case, root in ((first, a), (second, b)):
        assert {member.key for member in store.members(case.id)} == {root, c}


def test_a_deleted_artifact_does_not_come_back_through_an_older_case(store: SqliteStore, put: Put) -> None:
    a = put("a")
    b = put("b", None, a)
    older = store.open_case(
        event="correct", roots=[a], actor="x", reason="r", replacements=[Draft(key=a, content="new")]
    )
    staged = store.stage(older.id, Draft(key=b, content="b again"))
    store.open_case(event="delete", roots=[b], actor="x", reason="r")
    reads = (Read(key=a, version=2),)
    for successors, releases in (
        ([Successor(key=b, version=staged, reads=reads)], []),
        ([], [Release(key=b, reads=reads)]),
    ):
        with pytest.raises(StaleRead, match="root of a deletion"):
            store.publish(older.id, successors, releases)
    with pytest.raises(StaleRead):
        store.stage(older.id, Draft(key=b, content="b again"))


def test_the_close_archives_deleted_roots_and_says_what_is_left(store: SqliteStore, put: Put) -> None:
    a = put("a")
    put("b", None, a)
    case = store.open_case(event="delete", roots=[a], actor="x", reason="r")
    assert store.close_case(case.id).status is CaseStatus.CLOSED_PARTIAL
    assert states(store) == {"a": State.ARCHIVED, "b": State.WITHDRAWN}
    alone = put("alone")
    other = store.open_case(event="delete", roots=[alone], actor="x", reason="r")
    assert store.close_case(other.id).status is CaseStatus.CLOSED
    assert [one.id for one in store.cases(CaseStatus.CLOSED)] == [other.id]
    with pytest.raises(Withdrawn) as caught:
        put("alone", "again")
    assert caught.value.state == "archived"


def test_a_status_is_recorded(store: SqliteStore, put: Put) -> None:
    case = store.open_case(event="correct", roots=[put("a")], actor="x", reason="r")
    store.set_status(case.id, CaseStatus.RUNNING)
    assert store.case(case.id).status is CaseStatus.RUNNING
    with pytest.raises(UnknownId):
        store.set_status(99, CaseStatus.RUNNING)


def test_listings_can_be_narrowed(store: SqliteStore, put: Put) -> None:
    a = put("a", scope=("x",))
    put("b", None, a, scope=("y",))
    put("c", scope=("x",))
    store.open_case(event="correct", roots=[a], actor="x", reason="r")
    assert [listing.key.id for listing in store.listing(scope=("x",))] == ["a", "c"]
    assert [listing.key.id for listing in store.listing(state=State.WITHDRAWN)] == ["a", "b"]
    assert [listing.key.id for listing in store.listing(kind=Kind.RECORD, limit=1)] == ["a"]
    assert store.listing(kind=Kind.SKILL) == []


@pytest.mark.parametrize("again", ["second", "FIRST  words", " second\n", "\uff53econd"])
def test_no_version_of_a_deleted_root_is_learned_again(store: SqliteStore, put: Put, again: str) -> None:
    put("a", "first words")
    a = put("a", "second")
    store.open_case(
        event="correct", roots=[a], actor="x", reason="r", replacements=[Draft(key=a, content="third")]
    )
    store.open_case(event="delete", roots=[a], actor="x", reason="r")
    with pytest.raises(Tombstoned):
        put("b", again)
    put("b", "secondary")


def test_a_case_whose_rest_another_one_removes_is_closed(store: SqliteStore, put: Put) -> None:
    a, b = put("a"), put("b")
    c = put("c", None, a, b)
    first = store.open_case(
        event="correct", roots=[a], replacements=[Draft(key=a, content="new a")], actor="x", reason="r"
    )
    assert store.close_case(first.id).status is CaseStatus.CLOSED_PARTIAL
    second = store.open_case(event="delete", roots=[c], actor="x", reason="r")
    assert store.close_case(first.id).status is CaseStatus.CLOSED  # c is the second one's to archive
    store.undo(second.id, actor="x", reason="r")
    assert store.case(first.id).status is CaseStatus.CLOSED_PARTIAL
    third = store.open_case(event="delete", roots=[b, c], actor="x", reason="r")
    store.close_case(third.id)
    assert store.case(first.id).status is CaseStatus.CLOSED


def test_a_case_whose_rest_another_one_erases_is_closed(store: SqliteStore, put: Put) -> None:
    a, b = put("a"), put("b")
    put("c", None, a, b)
    first = store.open_case(
        event="correct", roots=[a], replacements=[Draft(key=a, content="new a")], actor="x", reason="r"
    )
    second = store.open_case(event="delete", roots=[b], actor="x", reason="r")
    assert store.close_case(first.id).status is CaseStatus.CLOSED_PARTIAL
    store.erase(second.id, actor="x", reason="r")
    assert store.case(first.id).status is CaseStatus.CLOSED
    assert store.close_case(first.id).status is CaseStatus.CLOSED
    assert store.check() == []
