"""Level 3 and staleness: figures by partition and hour raise the alarms they should, and age costs weight."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorepair.errors import InvalidInput
from memorepair.health import CheckUp, Damage, Level, Rows, check_up
from memorepair.health.detectors.staleness import DAY, weights
from memorepair.health.registry import detectors
from memorepair.health.retrieval import HOUR, NEXT, Feedback, Limits, Recall, alarms, by_hour
from memorepair.memory.artifact import Draft, Key, Slot, Type
from memorepair.memory.sqlite import SqliteStore
from memorepair.memory.vectors import HashedNgrams

SCOPE = ("user", "1")


def searches(hour: int, n: int = 10, **said: Any) -> list[Recall]:
    told = {"seconds": 0.08, "similarity": 0.8, "hits": 10} | said
    return [Recall(at=hour * HOUR + k, scope=SCOPE, **told) for k in range(n)]


def usual() -> list[Recall]:
    return [recall for hour in range(5) for recall in searches(hour)]


def codes(recalls: list[Recall], feedback: list[Feedback] | None = None) -> list[str]:
    return [finding.code for finding in alarms(by_hour(recalls, feedback or []))]


def test_usual_hours_raise_no_alarm() -> None:
    assert codes(usual()) == []
    assert codes([]) == []


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({"similarity": 0.6}, "similarity_dropped"),
        ({"seconds": 0.4}, "latency_jumped"),
        ({"repeated": 6}, "top_repeats_itself"),
        ({"foreign": 6}, "old_scene_leads"),
    ],
)
def test_each_figure_has_its_alarm(said: dict[str, Any], code: str) -> None:
    (finding,) = alarms(by_hour(usual() + searches(9, **said)))
    assert finding.code == code
    assert (finding.level, finding.keys) == (Level.RETRIEVAL, ())
    assert finding.measured["scope"] == "user/1"
    assert codes(usual() + searches(9, n=2, **said)) == []


def test_rejections_that_rise_are_an_alarm() -> None:
    calm = [Feedback(at=hour * HOUR, scope=SCOPE, accepted=n > 0) for hour in range(5) for n in range(10)]
    angry = [Feedback(at=5 * HOUR, scope=SCOPE, accepted=n > 5) for n in range(10)]
    assert codes([], calm) == []
    assert codes([], calm + angry) == ["rejections_rose"]


def test_partitions_are_apart() -> None:
    other = [Recall(at=recall.at, scope=("user", "2"), seconds=9.0) for recall in searches(9)]
    assert codes(usual() + other) == []


def test_every_alarm_names_detectors_that_exist() -> None:
    for damage, _, following in NEXT.values():
        assert isinstance(damage, Damage)
        assert set(following) <= {*detectors(), "drift"}


@given(
    st.lists(
        st.tuples(
            st.integers(0, 5 * HOUR), st.sampled_from([SCOPE, ()]), st.integers(0, 5), st.integers(0, 5)
        )
    )
)
def test_hours_add_up(told: list[tuple[int, tuple[str, ...], int, int]]) -> None:
    recalls = [
        Recall(at=at, scope=scope, seconds=1.0, hits=hits + repeated, repeated=repeated)
        for at, scope, hits, repeated in told
    ]
    hours = by_hour(recalls)
    assert sum(hour.searches for hour in hours) == len(recalls)
    assert len({(hour.scope, hour.hour) for hour in hours}) == len(hours)
    assert all(hour.repeated is None or 0 <= hour.repeated <= 1 for hour in hours)


def test_a_search_becomes_figures(store: SqliteStore) -> None:
    texts = ["Likes green tea", "likes green tea!", "I love green tea", "The green tea of the old project"]
    store.write(
        [
            Draft(
                key=Key(SCOPE, f"t{n}"),
                content=text,
                slot=Slot(entity="user", attribute="drink", scene="old project" if n == 3 else None),
            )
            for n, text in enumerate(texts)
        ]
    )
    hits = store.search("green tea", scope=SCOPE)
    recall = Recall.of(
        hits, at=HOUR, scope=SCOPE, seconds=0.1, by_vector=False, over=frozenset({"old project"})
    )
    assert (recall.hits, recall.repeated, recall.foreign, recall.similarity) == (4, 1, 1, None)
    assert Recall.of([], at=0, scope=SCOPE, seconds=0.1, by_vector=True).similarity is None


def test_a_search_by_vector_has_a_similarity(store: SqliteStore) -> None:
    with SqliteStore.open(store.path.with_name("embedded.db"), embedder=HashedNgrams()) as embedded:
        embedded.write([Draft(key=Key(SCOPE, "a"), content="Likes green tea")])
        hits = embedded.search("green tea", scope=SCOPE, by="vector")
    recall = Recall.of(hits, at=0, scope=SCOPE, seconds=0.1, by_vector=True)
    assert recall.similarity == pytest.approx(hits[0].score)


@pytest.mark.parametrize(
    "said", [{"seconds": -1.0}, {"similarity": 2.0}, {"hits": 1, "repeated": 2}, {"hits": 1, "foreign": 2}]
)
def test_impossible_figures_are_refused(said: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        Recall(**{"at": 0, "scope": SCOPE, "seconds": 1.0, **said})


@pytest.mark.parametrize("limits", [{"repeated": -1.0}, {"hours": 0}, {"searches": 0}])
def test_impossible_limits_are_refused(limits: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        Limits(**limits)


# staleness ------------------------------------------------------------------------------------------------


def aged(store: SqliteStore) -> int:
    """One memory of each type, just written; the time."""
    store.write(
        [
            Draft(key=Key(SCOPE, str(type)), content=f"remembers a {type}", type=type)
            for type in (Type.TEMPORARY, Type.PREFERENCE, Type.FACT)
        ]
    )
    store.write([Draft(key=Key(SCOPE, "untyped"), content="remembers something")])
    return store.describe(Key(SCOPE, "untyped")).updated_at


def test_weight_halves_with_each_rest(store: SqliteStore) -> None:
    now = aged(store)
    rows = Rows.of(store.survey())
    assert weights(rows, now) == pytest.approx(1, abs=1e-3)
    assert weights(rows, now - 10 * DAY).max() == 1.0
    assert weights(rows, now + 180 * DAY)[1] == pytest.approx(0.5, abs=1e-3)
    later = [weights(rows, now + days * DAY) for days in range(0, 1_000, 50)]
    assert all((b < a).all() for a, b in pairwise(later))


def stale(store: SqliteStore, now: int, days: float) -> list[str]:
    checked: CheckUp = check_up(store, detectors=["staleness"], now=now + int(days * DAY))
    assert {finding.damage for finding in checked.findings} <= {Damage.STALE}
    return [key.id for finding in checked.findings for key in finding.keys]


def test_types_go_stale_in_turn_and_the_untyped_never(store: SqliteStore) -> None:
    now = aged(store)
    assert stale(store, now, 2.9) == []
    assert stale(store, now, 3.1) == ["temporary"]
    assert stale(store, now, 365) == ["temporary", "preference"]
    assert stale(store, now, 9_999) == ["temporary", "preference", "fact"]


def test_what_is_read_stays_fresh(store: SqliteStore, tamper: Callable[..., None]) -> None:
    now = aged(store)
    tamper("INSERT INTO usage(aid, reads, last) VALUES(1, 1, ?)", now + 5 * DAY)
    assert stale(store, now, 6) == []
    assert stale(store, now, 9) == ["temporary"]
