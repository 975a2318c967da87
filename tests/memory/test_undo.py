"""An undo restores what there was before the case, or changes nothing and says what stands in its way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from memorepair.errors import InvalidInput, Tombstoned, UndoRefused, UnknownId, Withdrawn
from memorepair.memory.artifact import Case, CaseStatus, Draft, Key, Read, State
from memorepair.memory.snapshot import Snapshot
from memorepair.memory.sqlite import SqliteStore
from memorepair.memory.store import Release, Successor

Put = Callable[..., Key]
A, B, C, D = (Key((), name) for name in "abcd")
SIGNED: Mapping[str, Any] = {"actor": "ada", "reason": "mistaken"}


def same(before: Snapshot, after: Snapshot) -> None:
    """Everything that there was is as it was; there may be more versions, all of them out of service."""
    assert after.current == before.current
    assert set(after.arcs) == set(before.arcs)
    assert {place: after.versions[place] for place in before.versions} == dict(before.versions)
    more = after.versions.keys() - before.versions.keys()
    assert {after.versions[place].state for place in more} <= {State.ARCHIVED, State.ERASED}
    assert {arc for arc in after.former_arcs if (arc.child, arc.child_version) not in more} == set(
        before.former_arcs
    )


@pytest.fixture
def chain(store: SqliteStore, put: Put) -> SqliteStore:
    """a -> b -> c -> d, where b and c have former versions."""
    put("a", "old a")
    put("b", "former b", A)
    put("b", "old b", A)
    put("c", "former c")
    put("c", "old c", B)
    put("d", "old d", C)
    return store


def corrected(store: SqliteStore) -> Case:
    return store.open_case(
        event="correct", roots=[A], replacements=[Draft(key=A, content="new a")], actor="x", reason="r"
    )


def repaired(store: SqliteStore, case: Case, *, upto: int = 3) -> None:
    """b and c get successors, d is released; only so many of them."""
    b = store.stage(case.id, Draft(key=B, content="new b"))
    c = store.stage(case.id, Draft(key=C, content="new c"))
    verdicts = (("x", "pass"),)
    successors = [
        Successor(key=B, version=b, reads=(Read(key=A, version=2),), verdicts=verdicts),
        Successor(key=C, version=c, reads=(Read(key=B, version=b),), verdicts=verdicts),
    ]
    releases = [Release(key=D, reads=(Read(key=C, version=c),), verdicts=verdicts)]
    store.publish(case.id, successors[: min(upto, 2)], releases[: max(0, upto - 2)])
    if upto < 2:
        store.reject(case.id, [(C, c)], ["x"])


@pytest.mark.parametrize("upto", [0, 1, 2, 3])
@pytest.mark.parametrize("close", [False, True])
def test_an_undone_correction_never_was(chain: SqliteStore, upto: int, close: bool) -> None:
    store, before = chain, chain.snapshot()
    case = corrected(store)
    if upto:
        repaired(store, case, upto=upto)
    else:
        store.stage(case.id, Draft(key=B, content="left by a repair that died"))
    if close:
        store.close_case(case.id)
    dry = store.undo(case.id, **SIGNED, dry_run=True)
    assert store.case(case.id).status is not CaseStatus.UNDONE
    report = store.undo(case.id, **SIGNED)
    assert report == dry
    assert report.case.status is CaseStatus.UNDONE
    assert {*report.restored, *report.kept} == {A, B, C, D}
    assert set(report.kept) == ({D} if upto == 3 else set())
    assert {key for key, _ in report.retired} == {A, B, C, D} - {*[B, C, D][upto:], D}
    same(before, store.snapshot())
    assert {hit.artifact.content for hit in store.search("old", scope=())} == {
        "old a",
        "old b",
        "old c",
        "old d",
    }
    assert store.search("new", scope=()) == []
    entry = store.journal(1)[0]
    assert (entry.act, entry.case, entry.actor, entry.reason) == ("undo", case.id, "ada", "mistaken")
    assert store.check() == []


def test_an_undone_deletion_may_be_learned_again_and_its_history_is_open(chain: SqliteStore) -> None:
    store, before = chain, chain.snapshot()
    case = store.open_case(event="delete", roots=[B], actor="x", reason="r")
    store.close_case(case.id)
    again = Draft(key=Key((), "log"), content="old b")
    with pytest.raises(Tombstoned):
        store.write([again])
    assert [past.content for past in store.history(B)] == [None, None]
    store.undo(case.id, **SIGNED)
    same(before, store.snapshot())
    assert [past.content for past in store.history(B)] == ["former b", "old b"]
    store.write([again])
    assert store.check() == []


def test_a_tombstone_stays_while_another_deletion_wants_it(store: SqliteStore, put: Put) -> None:
    first, second = put("x", "the same"), put("y", "the same")
    cases = [store.open_case(event="delete", roots=[key], actor="x", reason="r") for key in (first, second)]
    store.undo(cases[0].id, **SIGNED)
    with pytest.raises(Tombstoned):
        store.write([Draft(key=Key((), "z"), content="the same")])
    store.undo(cases[1].id, **SIGNED)
    store.write([Draft(key=Key((), "z"), content="the same")])


def test_an_undone_migration_takes_the_new_interface_out_and_may_be_declared_again(
    store: SqliteStore, put: Put
) -> None:
    put("a", "v1")
    put("b", "row", A)
    before = store.snapshot()
    for _ in range(2):
        case = store.open_case(
            event="migrate",
            roots=[A],
            actor="x",
            reason="r",
            replacements=[Draft(key=C, content="v2")],
            successors={A: C},
        )
        assert store.get(C).content == "v2"
        store.undo(case.id, **SIGNED)
        after = store.snapshot()
        assert {key: after.current[key] for key in before.current} == dict(before.current)
        with pytest.raises(Withdrawn, match="archived"):
            store.get(C)
    put("c", "something else")
    assert store.get(C).content == "something else"
    assert store.check() == []


def test_the_members_of_an_earlier_case_stay_its_own(store: SqliteStore, put: Put) -> None:
    a, b = put("a"), put("b")
    put("c", None, a, b)
    first = store.open_case(event="correct", roots=[a], actor="x", reason="first")
    second = store.open_case(event="delete", roots=[b, C], actor="x", reason="second")
    with pytest.raises(UndoRefused) as caught:
        store.undo(first.id, **SIGNED)
    assert caught.value.witness == (C, second.id)
    store.close_case(second.id)
    store.close_case(first.id)
    report = store.undo(second.id, **SIGNED)
    assert (report.restored, report.still_withdrawn) == ((B,), (C,))
    assert (store.describe(C).state, store.describe(C).case) == (State.WITHDRAWN, first.id)
    assert store.case(first.id).status is CaseStatus.CLOSED_PARTIAL
    assert store.undo(first.id, **SIGNED).restored == (A, C)
    assert store.check() == []


def test_what_no_case_had_barred_stays_barred(store: SqliteStore, put: Put) -> None:
    put("a", "first")
    put("a", "second")
    late = Draft(key=B, content="of first", reads=(Read(key=A, version=1),))
    assert store.write([late], quarantine=True).quarantined == (B,)
    before = store.snapshot()
    case = store.open_case(
        event="correct", roots=[B], replacements=[Draft(key=B, content="right")], actor="x", reason="r"
    )
    assert store.get(B).content == "right"
    store.undo(case.id, **SIGNED)
    same(before, store.snapshot())
    with pytest.raises(Withdrawn, match="quarantined"):
        store.get(B)
    assert store.check() == []


def later_update(store: SqliteStore) -> object:
    store.write([Draft(key=B, content="newer b")])
    return (B, "record")


def later_update_of_what_was_released(store: SqliteStore) -> object:
    store.write([Draft(key=D, content="newer d")])
    return (D, "record")


def later_derivation(store: SqliteStore) -> object:
    store.write([Draft(key=Key((), "e"), content="e", reads=(Read(key=C),))])
    return (Key((), "e"), C)


def later_derivation_since_updated(store: SqliteStore) -> object:
    later_derivation(store)
    store.write([Draft(key=Key((), "e"), content="other e")])
    return (Key((), "e"), C)


def later_event(store: SqliteStore) -> object:
    return (B, store.open_case(event="delete", roots=[B], actor="x", reason="r").id)


@pytest.mark.parametrize(
    "later",
    [
        later_update,
        later_update_of_what_was_released,
        later_derivation,
        later_derivation_since_updated,
        later_event,
    ],
)
def test_later_work_stands_in_the_way(chain: SqliteStore, later: Callable[[SqliteStore], object]) -> None:
    store = chain
    case = corrected(store)
    repaired(store, case)
    witness = later(store)
    before, entries = store.snapshot(), store.journal()
    with pytest.raises(UndoRefused) as caught:
        store.undo(case.id, **SIGNED)
    assert caught.value.witness == witness
    assert str(case.id) in str(caught.value)
    assert store.snapshot() == before
    assert store.journal() == entries


def test_an_update_stands_in_the_way_though_what_it_wrote_over_has_been_pruned(
    store: SqliteStore, put: Put
) -> None:
    put("a", "old a")
    case = corrected(store)
    put("a", "newer a")
    assert [version for _, version in store.prune(0).versions] == [2]
    with pytest.raises(UndoRefused) as caught:
        store.undo(case.id, **SIGNED)
    assert caught.value.witness == A
    assert store.check() == []


def test_a_second_event_that_is_undone_stands_in_nobodys_way(chain: SqliteStore) -> None:
    store, before = chain, chain.snapshot()
    case = corrected(store)
    repaired(store, case)
    later = store.open_case(event="delete", roots=[B], actor="x", reason="r")
    store.undo(later.id, **SIGNED)
    store.undo(case.id, **SIGNED)
    same(before, store.snapshot())


def test_a_shared_member_repaired_by_the_older_case_is_taken_back_newest_event_first(
    store: SqliteStore, put: Put
) -> None:
    put("a", "old a")
    likes = put("likes", "likes tea")
    put("b", "of both", A, likes)
    put("c", "of b", B)
    before = store.snapshot()
    older = corrected(store)
    newer = store.open_case(event="delete", roots=[likes], actor="x", reason="r")
    b = store.stage(older.id, Draft(key=B, content="of a alone"))
    store.publish(older.id, [Successor(key=B, version=b, reads=(Read(key=A, version=2),))])
    store.close_case(older.id)
    with pytest.raises(UndoRefused, match=f"undo case {newer.id} first") as caught:
        store.undo(older.id, **SIGNED)
    assert caught.value.witness == (B, newer.id)
    report = store.undo(newer.id, **SIGNED)
    assert (report.restored, report.retired, report.still_withdrawn) == ((likes,), (), (C,))
    assert store.get(B).content == "of a alone"  # the older case's work, which the newer only stood beside
    assert store.undo(older.id, **SIGNED).restored == (A, B, C)
    same(before, store.snapshot())
    assert store.check() == []


def test_nothing_comes_back_that_was_made_from_what_has_left_since(store: SqliteStore, put: Put) -> None:
    put("a", "old a")
    likes = put("likes", "likes tea")
    put("b", "of both", A, likes)
    case = corrected(store)
    b = store.stage(case.id, Draft(key=B, content="of a alone"))
    store.publish(case.id, [Successor(key=B, version=b, reads=(Read(key=A, version=2),))])
    store.open_case(event="delete", roots=[likes], actor="x", reason="r")
    with pytest.raises(UndoRefused) as caught:
        store.undo(case.id, **SIGNED)
    assert caught.value.witness == (B, likes)


def test_a_case_is_undone_once_and_takes_nothing_up_any_more(chain: SqliteStore) -> None:
    store = chain
    case = corrected(store)
    with pytest.raises(UnknownId):
        store.undo(99, **SIGNED)
    with pytest.raises(InvalidInput):
        store.undo(case.id, actor="ada", reason="")
    store.undo(case.id, **SIGNED)
    with pytest.raises(UndoRefused):
        store.undo(case.id, **SIGNED)
    store.open_case(event="delete", roots=[B], actor="x", reason="r")
    for verb in (
        lambda: store.stage(case.id, Draft(key=C, content="x")),
        lambda: store.publish(case.id, [], [Release(key=C, reads=())]),
        lambda: store.close_case(case.id),
    ):
        with pytest.raises(InvalidInput, match="undone"):
            verb()


def test_an_inspection_is_no_later_work(chain: SqliteStore) -> None:
    store, before = chain, chain.snapshot()
    case = corrected(store)
    store.inspect(B, actor="x", reason="r", version=1)
    store.before_image(B)
    store.undo(case.id, **SIGNED)
    same(before, store.snapshot())
    assert store.check() == []


def test_a_large_cascade_is_taken_back(store: SqliteStore) -> None:
    keys = [Key((), f"k{n}") for n in range(5_000)]
    store.write([Draft(key=keys[0], content="k0")])
    store.write([Draft(key=key, content=str(key), reads=(Read(key=keys[0]),)) for key in keys[1:]])
    before = store.snapshot()
    case = store.open_case(event="delete", roots=keys[:1], actor="x", reason="r")
    assert len(store.undo(case.id, **SIGNED).restored) == 5_000
    same(before, store.snapshot())


def test_a_case_that_found_everything_archived_is_undone_after_an_erasure(
    store: SqliteStore, put: Put
) -> None:
    put("a", "a word")
    first = store.open_case(event="delete", roots=[A], actor="x", reason="r")
    store.close_case(first.id)
    second = store.open_case(event="delete", roots=[A], actor="x", reason="r")
    store.erase(first.id, **SIGNED)
    report = store.undo(second.id, **SIGNED)
    assert (report.restored, report.retired) == ((), ())
    assert store.describe(A).state is State.ERASED


@pytest.mark.parametrize("replaced", [True, False])
def test_what_two_cases_name_belongs_to_the_first_again(store: SqliteStore, put: Put, replaced: bool) -> None:
    put("a", "a word")
    put("b", "another")
    first = store.open_case(
        event="migrate", roots=[A], successors={A: B} if replaced else {}, actor="x", reason="r"
    )
    state = store.describe(A).state
    second = store.open_case(
        event="migrate", roots=[A], successors={A: B} if replaced else {}, actor="x", reason="r"
    )
    assert store.describe(A).case == second.id
    store.undo(second.id, **SIGNED)
    assert (store.describe(A).state, store.describe(A).case) == (state, first.id)
    assert store.check() == []


@pytest.mark.parametrize("order", [[1, 2], [2, 1], [1], [2], []])
def test_two_deletions_of_one_are_undone_newest_first_in_whatever_order_they_were_closed(
    store: SqliteStore, put: Put, order: list[int]
) -> None:
    put("a", "old a")
    put("b", "old b", A)
    before = store.snapshot()
    for actor in ("x", "y"):
        store.open_case(event="delete", roots=[A], actor=actor, reason="r")
    for case in order:
        store.close_case(case)
    assert store.describe(A).state is (State.ARCHIVED if 2 in order else State.WITHDRAWN)
    store.undo(2, **SIGNED)
    store.undo(1, **SIGNED)
    same(before, store.snapshot())
    assert store.check() == []
