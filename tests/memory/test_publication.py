"""A publication serves what was validated, all of it or nothing, and only on what is served."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorepair.errors import InvalidInput, StaleRead, Tombstoned, UnknownId
from memorepair.memory.artifact import Case, Draft, Key, Read, State
from memorepair.memory.exchange import OperatorRun
from memorepair.memory.sqlite import SqliteStore
from memorepair.memory.store import Release, Successor

Put = Callable[..., Key]
A, B, C, D = (Key((), name) for name in "abcd")


@pytest.fixture
def case(store: SqliteStore, put: Put) -> Case:
    """a -> b -> c -> d, with a corrected."""
    for id, reads in (("a", ()), ("b", (A,)), ("c", (B,)), ("d", (C,))):
        put(id, f"old {id}", *reads)
    return store.open_case(
        event="correct", roots=[A], actor="x", reason="r", replacements=[Draft(key=A, content="new a")]
    )


def successor(key: Key, version: int, read: Key, read_version: int) -> Successor:
    return Successor(
        key=key,
        version=version,
        reads=(Read(key=read, version=read_version),),
        verdicts=(("schema", "pass"), ("support", "warn")),
    )


def test_successors_and_releases_come_in_together(store: SqliteStore, case: Case) -> None:
    b, c = (store.stage(case.id, Draft(key=key, content=f"new {key}")) for key in (B, C))
    store.publish(
        case.id,
        [successor(C, c, B, b), successor(B, b, A, 2)],
        [Release(key=D, reads=(Read(key=C, version=c),))],
    )
    assert [store.get(key).content for key in (A, B, C, D)] == ["new a", "new b", "new c", "old d"]
    assert [store.get(key).version for key in (A, B, C, D)] == [2, 2, 2, 1]
    assert [hit.artifact.key for hit in store.search("new b", scope=())] == [B]
    assert {hit.artifact.key for hit in store.search("old", scope=())} == {D}
    assert [past.content for past in store.history(B)] == [None, "new b"]
    picture = store.snapshot()
    assert {(arc.child, arc.parent, arc.read_version) for arc in picture.arcs} == {
        (B, A, 2),
        (C, B, 2),
        (D, C, 2),
    }
    assert [picture.current[key].validated for key in (B, C, D)] == [True, True, False]
    assert store.close_case(case.id).status == "closed"
    assert store.check() == []


def test_a_failed_verdict_is_no_validation(store: SqliteStore, case: Case) -> None:
    b = store.stage(case.id, Draft(key=B, content="new b"))
    reads = (Read(key=A, version=2),)
    store.publish(
        case.id, [Successor(key=B, version=b, reads=reads, verdicts=(("x", "pass"), ("y", "fail")))]
    )
    assert not store.snapshot().current[B].validated


def test_what_is_staged_is_in_quarantine(store: SqliteStore, case: Case) -> None:
    no = store.stage(case.id, Draft(key=B, content="staged words"))
    assert no == 2
    assert store.staged_content(B, no) == "staged words"
    assert store.search("staged", scope=()) == []
    assert [(past.state, past.content) for past in store.history(B)] == [
        (State.WITHDRAWN, None),
        (State.QUARANTINED, None),
    ]
    assert store.describe(B).version == 1
    with pytest.raises(UnknownId):
        store.staged_content(B, 1)


@pytest.mark.parametrize("version", [1, 3])
def test_a_read_that_is_not_current_stops_all_of_it(store: SqliteStore, case: Case, version: int) -> None:
    b, c = (store.stage(case.id, Draft(key=key, content=f"new {key}")) for key in (B, C))
    before = store.snapshot()
    with pytest.raises(StaleRead) as caught:
        store.publish(case.id, [successor(B, b, A, version), successor(C, c, B, b)])
    assert caught.value.witness == (A, version)
    assert store.snapshot() == before


def test_nothing_stands_on_what_stays_withdrawn(store: SqliteStore, case: Case) -> None:
    c = store.stage(case.id, Draft(key=C, content="new c"))
    with pytest.raises(StaleRead):
        store.publish(case.id, [successor(C, c, B, 1)])
    with pytest.raises(StaleRead):
        store.publish(case.id, [], [Release(key=C, reads=(Read(key=B, version=1),))])


def test_a_source_changed_meanwhile_is_found_at_publication(store: SqliteStore, case: Case) -> None:
    b = store.stage(case.id, Draft(key=B, content="new b"))
    store.write([Draft(key=A, content="newer a")])
    with pytest.raises(StaleRead):
        store.publish(case.id, [successor(B, b, A, 2)])
    store.open_case(event="delete", roots=[A], actor="x", reason="r")
    with pytest.raises(StaleRead):
        store.publish(case.id, [successor(B, b, A, 3)])


def test_a_version_is_published_once_and_only_by_its_case(store: SqliteStore, put: Put, case: Case) -> None:
    b = store.stage(case.id, Draft(key=B, content="new b"))
    other = store.open_case(event="correct", roots=[put("z")], actor="x", reason="r")
    with pytest.raises(UnknownId):
        store.publish(other.id, [successor(B, b, A, 2)])
    with pytest.raises(UnknownId):
        store.publish(case.id, [successor(B, b + 1, A, 2)])
    with pytest.raises(InvalidInput, match="twice"):
        store.publish(case.id, [successor(B, b, A, 2)], [Release(key=B, reads=())])
    with pytest.raises(InvalidInput, match="versions"):
        store.publish(case.id, [Successor(key=B, version=b, reads=(Read(key=A),))])
    store.publish(case.id, [successor(B, b, A, 2)])
    with pytest.raises(StaleRead):
        store.publish(case.id, [successor(B, b, A, 2)])
    with pytest.raises(StaleRead):
        store.stage(case.id, Draft(key=B, content="once more"))


def test_the_rejected_stay_in_quarantine_and_numbers_are_not_given_twice(
    store: SqliteStore, case: Case
) -> None:
    first = store.stage(case.id, Draft(key=B, content="wrong"))
    store.reject(case.id, [(B, first)], ["it still says Paris"])
    assert store.journal()[0].reason == "it still says Paris"
    second = store.stage(case.id, Draft(key=B, content="left over"))
    assert second == first + 1
    assert store.discard_staged(case.id) == 1
    assert store.discard_staged(case.id) == 0
    third = store.stage(case.id, Draft(key=B, content="right"))
    store.publish(case.id, [successor(B, third, A, 2)])
    assert [past.state for past in store.history(B)] == [
        State.SUPERSEDED,
        State.QUARANTINED,
        State.ERASED,
        State.ACTIVE,
    ]
    assert store.inspect(B, actor="x", reason="r", version=first).content == "wrong"
    with pytest.raises(LookupError):
        store.inspect(B, actor="x", reason="r", version=second)


def test_only_members_are_staged(store: SqliteStore, put: Put, case: Case) -> None:
    with pytest.raises(StaleRead):
        store.stage(case.id, Draft(key=put("z"), content="x"))
    with pytest.raises(UnknownId):
        store.stage(case.id, Draft(key=Key((), "nobody"), content="x"))


def test_expect_is_asked_under_the_write_lock_and_may_read(store: SqliteStore, case: Case) -> None:
    b = store.stage(case.id, Draft(key=B, content="new b"))
    seen: list[State] = []

    def expect() -> None:
        seen.append(store.describe(B).state)
        store.snapshot()
        raise InterruptedError

    with pytest.raises(InterruptedError):
        store.publish(case.id, [successor(B, b, A, 2)], expect=expect)
    assert seen == [State.WITHDRAWN]
    assert store.describe(B).state is State.WITHDRAWN


def test_an_operator_may_read_its_own_version_and_the_journal_says_so(store: SqliteStore, case: Case) -> None:
    assert store.before_image(B) == "old b"
    assert store.journal()[0].act == "own_version"
    assert store.former([(B, 1), (A, 1)])[A].content == "old a"


COSTS = st.none() | st.floats(0, 1e6)
RUNS = st.builds(
    OperatorRun,
    operator=st.sampled_from(["f@1", "g@1"]),
    unit=st.sampled_from(["tokens", "usd"]),
    size=st.floats(0, 1e4),
    cost=COSTS,
    seconds=st.floats(0, 10),
    succeeded=st.booleans(),
)


@settings(max_examples=25)
@given(st.lists(RUNS, max_size=12), st.integers(0, 12))
def test_operator_costs_are_means_and_spreads_by_operator_unit_and_size(
    tmp_path_factory: pytest.TempPathFactory, runs: list[OperatorRun], cut: int
) -> None:
    with SqliteStore.open(tmp_path_factory.mktemp("costs") / "a.db") as store:
        store.note_operator_runs(runs[:cut])
        store.note_operator_runs(runs[cut:])
        found = store.operator_costs()
    groups: dict[tuple[str, str, int], list[OperatorRun]] = {}
    for run in runs:
        octave = int(math.log2(max(run.size, 1.0)))
        groups.setdefault((run.operator, run.unit, octave), []).append(run)
    assert [(one.operator, one.unit, one.octave) for one in found] == sorted(groups)
    for one in found:
        group = groups[one.operator, one.unit, one.octave]
        assert (one.runs, one.succeeded) == (len(group), sum(run.succeeded for run in group))
        assert one.seconds == pytest.approx(statistics.mean(run.seconds for run in group))
        costs = [run.cost for run in group if run.cost is not None]
        assert one.measured == len(costs)
        assert one.cost == (pytest.approx(statistics.mean(costs)) if costs else None)
        wanted = pytest.approx(statistics.stdev(costs), abs=1e-6) if len(costs) > 1 else None
        assert one.spread == wanted


@pytest.mark.parametrize("bad", [{"cost": math.nan}, {"cost": -1.0}, {"size": math.inf}, {"seconds": -1.0}])
def test_malformed_runs_are_refused_whole(store: SqliteStore, bad: dict[str, Any]) -> None:
    good = OperatorRun(operator="f@1", unit="tokens", size=1.0, cost=1.0, seconds=1.0)
    with pytest.raises(InvalidInput):
        store.note_operator_runs([good, replace(good, **bad)])
    assert store.operator_costs() == []


def test_what_was_removed_is_not_published_again(store: SqliteStore, put: Put, case: Case) -> None:
    gone = put("gone", "She is ill.")
    late = put("late", "She is well.")
    store.open_case(event="delete", roots=[gone], actor="x", reason="r")
    entries = len(store.journal())
    assert store.tombstoned(B, "she  is ILL.")
    assert not store.tombstoned(Key(("elsewhere",), "b"), "She is ill.")
    with pytest.raises(Tombstoned) as caught:
        store.stage(case.id, Draft(key=B, content="she  is ILL."))
    assert caught.value.witness == B
    assert len(store.journal()) == entries
    b = store.stage(case.id, Draft(key=B, content="She is well."))
    store.open_case(event="delete", roots=[late], actor="x", reason="r")  # between the stage and the end
    with pytest.raises(StaleRead) as stale:
        store.publish(case.id, [successor(B, b, A, 2)])
    assert stale.value.witness == B
    assert store.describe(B).state is State.WITHDRAWN


def test_a_release_is_no_new_learning_unless_it_was_executed(
    store: SqliteStore, put: Put, case: Case
) -> None:
    # what d says is what another artifact says, which is deleted; d itself never was
    other = put("other", "old d")
    store.open_case(event="delete", roots=[other], actor="x", reason="r")
    b, c = (store.stage(case.id, Draft(key=key, content=f"new {key}")) for key in (B, C))
    brought = [successor(B, b, A, 2), successor(C, c, B, b)]
    reads = (Read(key=C, version=c),)
    with pytest.raises(StaleRead):
        store.publish(case.id, brought, [Release(key=D, reads=reads, verdicts=(("support", "pass"),))])
    store.publish(case.id, brought, [Release(key=D, reads=reads)])
    assert store.get(D).content == "old d"
