"""Duplicates: what says the same is found, what differs in a value is not, within a bound for every row."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorepair.graphs.terms import Kind
from memorepair.health import CheckUp, Threshold, blocking, check_up
from memorepair.health.clusters import MOST, Clusters
from memorepair.health.comparing import MEASURE, NEAR, Comparer, similarity
from memorepair.health.reading import read
from memorepair.health.thresholds import ENOUGH, HIGHEST, calibrated
from memorepair.health.wording import wording
from memorepair.memory.artifact import Draft, Embedding, Key, Slot
from memorepair.memory.sqlite import SqliteStore

SCOPE = ("user", "1")
MERGED = ("duplicate_exact", "duplicate_slot", "duplicate_near", "duplicate_paraphrase")
Examine = Callable[..., CheckUp]
Febrl = Callable[..., list[tuple[str, dict[str, str]]]]


def write(store: SqliteStore, *texts: str, scope: tuple[str, ...] = SCOPE) -> None:
    store.write([Draft(key=Key(scope, f"t{n}"), content=text) for n, text in enumerate(texts)])


def slotted(store: SqliteStore, id: str, text: str, attribute: str = "home", **slot: Any) -> None:
    store.write(
        [Draft(key=Key(SCOPE, id), content=text, slot=Slot(entity="user", attribute=attribute, **slot))]
    )


def clusters(checked: CheckUp) -> list[tuple[str, ...]]:
    """Ids of merged clusters; not what is only to be compared again."""
    return sorted(
        tuple(key.id for key in finding.keys) for finding in checked.findings if finding.code in MERGED
    )


def pairs(checked: CheckUp, *codes: str) -> set[tuple[str, str]]:
    joined: set[tuple[str, str]] = set()
    for finding in checked.findings:
        if finding.code in codes:
            names = sorted(key.id for key in finding.keys)
            joined |= {(a, b) for place, a in enumerate(names) for b in names[place + 1 :]}
    return joined


# persons --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "keyed"),
    [
        (("dataset1",), False),
        (("dataset1",), True),
        (("dataset2",), False),
        (("dataset4a", "dataset4b"), True),
    ],
)
def test_persons_are_found_with_a_threshold_from_random_pairs_alone(
    store: SqliteStore, febrl: Febrl, names: tuple[str, ...], keyed: bool
) -> None:
    rows = febrl(*names)
    store.write(
        [
            Draft(
                key=Key(("people",), id),
                content="; ".join(f"{name}: {value}" for name, value in fields.items() if value)
                if keyed
                else ", ".join(filter(None, fields.values())),
            )
            for id, fields in rows
        ]
    )
    checked = check_up(store, detectors=["duplicates"])
    people: dict[str, list[str]] = defaultdict(list)
    for id, _ in rows:
        people[id.split("-")[1]].append(id)
    truth = {
        (a, b)
        for ids in map(sorted, people.values())
        for place, a in enumerate(ids)
        for b in ids[place + 1 :]
    }
    found = pairs(checked, *MERGED)
    assert 2 * len(found & truth) / (len(found) + len(truth)) >= 0.97
    assert len(found & truth) >= 0.999 * len(found)
    again = found | pairs(checked, "duplicate_group")
    assert len(again & truth) >= len(found & truth)
    assert len(again & truth) >= 0.99 * len(again)
    (threshold,) = checked.thresholds
    assert threshold.kind == "record"
    assert 0.999 * len(rows) <= threshold.population <= len(rows)
    assert 19_900 <= threshold.sample <= 20_000


# families, traps, small cases -----------------------------------------------------------------------------

NAMES = ["Anna", "Hanna", "Alan", "Bob", "Carla", "Dirk", "Elsa", "Frank", "Gina", "Hugo", "Iris", "Jan"]
ZH_NAMES = ["王芳", "李雷", "张伟", "韩梅", "刘洋", "陈静", "杨光", "赵敏", "黄磊", "周杰", "吴刚", "徐丽"]
MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October"]
FAMILIES = {
    "names": [f"{name} will send the quarterly report to the finance team on Friday" for name in NAMES],
    "orders": [f"Order number {10_231 + n} was shipped to the warehouse in Hamburg" for n in range(15)],
    "hosts": [f"The server db-{n:02d} is backed up every night at 03:00" for n in range(15)],
    "rooms": [
        f"The design meeting takes place in room {one} on the second floor" for one in "ABCDEFGHIJKLMNO"
    ],
    "months": [f"User plans to be in Shanghai for work in {month}" for month in MONTHS],
    "times": [f"The standup of team {n + 1} starts at {n + 7}:00 in the main office" for n in range(15)],
    "zh names": [f"{name}负责本季度的财务报告和客户沟通工作" for name in ZH_NAMES],
    "zh orders": [f"订单{10_231 + n}已经发往汉堡的仓库" for n in range(15)],
    "zh months": [f"用户计划{n + 1}月份去上海出差" for n in range(12)],
    "zh rooms": [f"设计会议在二楼{letter}会议室举行" for letter in "ABCDEFGHIJKLMNO"],
    "records": [
        f"name: {name}; city: Hamburg; plan: gold; language: German; status: active; source: import"
        for name in NAMES
    ],
    "zh records": [
        f"姓名：{name}；城市：汉堡；套餐：黄金；语言：中文；状态：有效；来源：导入" for name in ZH_NAMES
    ],
}


@pytest.mark.parametrize("size", [2, 3, 5, 15])
@pytest.mark.parametrize("family", FAMILIES)
def test_rows_of_one_template_stay_apart(
    store: SqliteStore, examine: Examine, family: str, size: int
) -> None:
    write(store, *FAMILIES[family][:size])
    assert clusters(examine("duplicates")) == []


def test_families_stay_apart_beside_each_other(store: SqliteStore, examine: Examine) -> None:
    write(store, *(text for family in FAMILIES.values() for text in family))
    assert [found for found in examine("duplicates").findings if found.code != "duplicate_group"] == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Alice lives in Berlin", "Bob lives in Berlin"),
        ("User is allergic to peanuts", "User is not allergic to peanuts"),
        ("The meeting starts at 9:00", "The meeting starts at 10:00"),
        ("Tom paid Ann for the tickets", "Ann paid Tom for the tickets"),
        ("db-00 is restarted at 03:00", "db-03 is restarted at 00:00"),
        ("User drinks coffee in the morning", "User drinks little coffee in the morning"),
        ("用户喜欢在早上喝咖啡", "用户不喜欢在早上喝咖啡"),
        ("用户对花生过敏", "用户对花生不过敏"),
        ("Only managers may approve travel", "Managers may approve travel"),
        ("Invoice 10231 is paid", "Invoice 10232 is paid"),
        ("Lord of the Rings", "Reading Lord of the Rings"),
        ("extract the session", "extract the feedback session"),
        ("用户喜欢猫", "用户喜欢小猫"),
    ],
)
def test_a_difference_that_counts_keeps_two_apart(
    store: SqliteStore, examine: Examine, one: str, other: str
) -> None:
    write(store, one, other)
    assert clusters(examine("duplicates")) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("User lives in Berlin", "user  lives in\tBERLIN"),
        ("User likes tea.", "Ｕｓｅｒ ｌｉｋｅｓ ｔｅａ"),
        ("User loves green tea", "I love green tea"),
        (
            "The colleague from marketing prefers short meetings",
            "The colleague from marketng prefers short meetings",
        ),
        ("用户喜欢茶。", "用户喜欢 茶"),
        ("我最喜爱的茶", "用户喜欢的茶"),
    ],
)
def test_a_difference_that_says_nothing_is_none(
    store: SqliteStore, examine: Examine, one: str, other: str
) -> None:
    write(store, one, other, "An unrelated note about sailing boats")
    assert clusters(examine("duplicates")) == [("t0", "t1")]


def test_a_chain_is_not_merged(store: SqliteStore, examine: Examine) -> None:
    # Each neighbour is a misspelling of the next; the ends are two people.
    write(
        store,
        "Met Catherine Johannsen at the harbour festival",
        "Met Katherine Johannsen at the harbour festival",
        "Met Katharina Johannsen at the harbour festival",
        "Met Katharinka Johannson at the harbour festival",
    )
    for cluster in clusters(examine("duplicates")):
        assert not {"t0", "t3"} <= set(cluster)


def test_equal_strings_are_one_whatever_their_vectors(store: SqliteStore, examine: Examine) -> None:
    vectors = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0)]
    store.write(
        [
            Draft(
                key=Key(SCOPE, f"v{n}"),
                content="Lives in Paris",
                embedding=Embedding(vector=vector, model="m", revision="1", normalised=True),
            )
            for n, vector in enumerate(vectors)
        ]
    )
    (finding,) = examine("duplicates").findings
    assert (finding.code, finding.confidence) == ("duplicate_exact", 1.0)
    assert [key.id for key in finding.keys] == ["v0", "v1", "v2"]


def test_scopes_and_kinds_share_no_duplicates(store: SqliteStore, examine: Examine) -> None:
    for scope in (("user", "1"), ("user", "2"), ()):
        write(store, "Lives in Paris near the river", scope=scope)
    store.write([Draft(key=Key(SCOPE, "s"), content="Lives in Paris near the river", kind=Kind.SUMMARY)])
    assert examine("duplicates").findings == ()


@pytest.mark.parametrize("text", ["Lives in Paris", "User moved to Paris"])
def test_disjoint_validity_keeps_two_facts(store: SqliteStore, examine: Examine, text: str) -> None:
    for n, (start, end) in enumerate([(0.0, 5.0), (5.0, 9.0), (6.0, None), (None, 1.0)]):
        slotted(store, f"s{n}", text, value="paris", valid_from=start, valid_to=end)
    assert clusters(examine("duplicates")) == [("s0", "s3"), ("s1", "s2")]


def test_paraphrases_of_one_slot_are_one_cluster(store: SqliteStore, examine: Examine) -> None:
    texts = ["Lives in Paris", "Paris is home", "Has an apartment in Paris", "Resident of Paris since May"]
    for n, text in enumerate(texts):
        slotted(store, f"p{n}", text, value="Paris" if n % 2 else "paris")
    slotted(store, "other", "Lives in Lyon", value="Lyon")
    slotted(store, "denied", "Does not live in Paris", value="Paris", polarity=False)
    slotted(store, "scene", "In summer lives in Paris", value="Paris", scene="summer")
    (finding,) = examine("duplicates").findings
    assert (finding.code, [key.id for key in finding.keys]) == ("duplicate_slot", ["p0", "p1", "p2", "p3"])


def test_what_the_rules_read_alike_is_a_paraphrase(store: SqliteStore, examine: Examine) -> None:
    write(store, "User's manager is Carla.", "The user's manager is called Carla.", "My manager is Tom")
    (finding,) = examine("duplicates").findings
    assert (finding.code, [key.id for key in finding.keys]) == ("duplicate_paraphrase", ["t0", "t1"])
    assert finding.confidence < 0.9


def test_equal_words_of_different_slots_are_different_statements(
    store: SqliteStore, examine: Examine
) -> None:
    slotted(store, "a", "yes", attribute="owns a car", value="yes")
    slotted(store, "b", "yes", attribute="owns a boat", value="yes")
    assert examine("duplicates").findings == ()


def test_500_rows_that_are_nearly_equal_take_few_comparisons() -> None:
    texts = [f"The nightly job finished with {n} warnings on the build server in Hamburg" for n in range(500)]
    reading = read(texts, np.zeros(500, np.uint64), b"key", lambda row: None)
    one, other = blocking.pairs(blocking.rarest(blocking.entries(reading.words)), reading.order)
    partners = np.bincount(np.concatenate([one, other]), minlength=500)
    assert partners.max() <= blocking.KEYS * blocking.CAP
    assert len(one) <= 6_000 < 124_750
    likeness = similarity(reading, one, other, NEAR)
    comparer = Comparer(reading, np.full(500, 0.8))
    comparer.learn(one, other, likeness)
    assert not any(comparer.same(a, b) for _, a, b in comparer.near())


def test_many_equal_rows_are_one_finding(store: SqliteStore, examine: Examine) -> None:
    write(store, *["The nightly job has finished"] * 300, "Something else entirely was said")
    (finding,) = examine("duplicates").findings
    assert len(finding.keys) == 300


def test_long_texts_are_found_by_their_exact_key_alone(store: SqliteStore, examine: Examine) -> None:
    long = " ".join(f"word{n}" for n in range(600))
    write(store, long, long.upper(), long + " more")
    checked = examine("duplicates")
    assert clusters(checked) == [("t0", "t1")]
    assert any("more than 400" in left for left in checked.left_out)


def test_only_what_is_new_is_reported(store: SqliteStore, examine: Examine) -> None:
    write(store, "Lives in Paris", "lives in paris", "Plays the cello on Sundays")
    first = examine("duplicates")
    assert examine("duplicates", since=first.newest).findings == ()
    store.write([Draft(key=Key(SCOPE, "new"), content="Plays the cello on Sundays!")])
    checked = examine("duplicates", since=first.newest)
    assert clusters(checked) == [("t2", "new")]
    assert checked.artifacts == 1


# parts ----------------------------------------------------------------------------------------------------

TEXTS = st.lists(st.text(alphabet="ab c1不", max_size=24), max_size=25)


@given(TEXTS)
def test_blocks_hold_exactly_the_pairs_of_their_definition(texts: list[str]) -> None:
    reading = read(texts, np.zeros(len(texts), np.uint64), b"key", lambda row: None)
    entries = blocking.entries(reading.words)
    chosen = blocking.rarest(entries.copy())  # it overwrites them
    one, other = blocking.pairs(chosen, reading.order)
    holders: dict[int, list[int]] = defaultdict(list)
    keys: dict[int, list[int]] = defaultdict(list)
    for packed in entries.tolist():
        holders[packed >> 32].append(packed & 0xFFFFFFFF)
        keys[packed & 0xFFFFFFFF].append(packed >> 32)
    blocks: dict[int, list[int]] = defaultdict(list)
    for row, mine in keys.items():
        shared = sorted((len(holders[key]), key) for key in mine if len(holders[key]) > 1)
        for _, key in shared[: blocking.KEYS]:
            blocks[key].append(row)
    stands = Counter(row for rows in blocks.values() for row in rows)
    votes: Counter[tuple[int, int]] = Counter()
    for rows in blocks.values():
        ordered = sorted(rows, key=lambda row: int(reading.order[row]))
        reach = blocking.CAP if len(rows) <= blocking.CAP else blocking.WINDOW
        for place, row in enumerate(ordered):
            for near in ordered[place + 1 : place + 1 + reach]:
                strong = len(rows) <= blocking.FEW or min(stands[row], stands[near]) <= blocking.KEYS // 2
                votes[min(row, near), max(row, near)] += 2 if strong else 1
    assert Counter(zip(one.tolist(), other.tolist(), strict=True)) == Counter(
        pair for pair, count in votes.items() if count > 1
    )


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), max_size=40, unique=True), st.integers(1, 9))
def test_parts_cover_the_entries_and_cut_no_run(pairs: list[tuple[int, int]], size: int) -> None:
    found = np.array(sorted(key << 32 | row for key, row in pairs), np.uint64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocking, "_ENTRIES", size)
        parts = list(blocking.parts(found))
        chosen = blocking.rarest(found.copy())
    assert [place for start, end in parts for place in range(start, end)] == list(range(len(found)))
    assert all(found[end - 1] >> np.uint64(32) != found[end] >> np.uint64(32) for _, end in parts[:-1])
    assert chosen.tolist() == blocking.rarest(found.copy()).tolist()


@given(st.text(alphabet="ab1 _-:.\t\x1f'A", max_size=40))
def test_words_of_ascii_are_those_of_any_text(text: str) -> None:
    assert (*wording(text).tokens, "中") == wording(f"{text} 中").tokens


@given(st.lists(st.integers(0, 1 << 40), min_size=1, max_size=50))
def test_rarity_ascends_with_the_count(counts: list[int]) -> None:
    ordered = np.array(sorted(counts), np.int64)
    codes = blocking.rarity(ordered)
    assert (np.diff(codes.astype(np.int64)) >= 0).all()
    assert codes.max() < 256


@given(
    st.sets(st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda pair: pair[0] < pair[1])),
    st.permutations(range(10)),
)
def test_every_two_of_a_cluster_pass(passing: set[tuple[int, int]], order: list[int]) -> None:
    found = Clusters()
    for a in order:
        for b in order:
            if a < b and (a, b) in passing:
                found.merge(a, b, lambda x, y: (x, y) in passing)
    for cluster in found.all():
        assert all((a, b) in passing for place, a in enumerate(cluster) for b in cluster[place + 1 :])


def test_a_cluster_has_a_bound() -> None:
    found = Clusters()
    for other in range(1, 100):
        found.merge(0, other, lambda x, y: True)
    assert max(map(len, found.all())) == MOST


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.floats(4, 30))
def test_a_threshold_lies_beyond_chance(seed: int, rate: float) -> None:
    # Similarities with a known exponential tail: the true quantile of 2 alpha / (k - 1) is the target.
    rng = np.random.default_rng(seed)
    k = 2_000
    found = calibrated(
        ("m", "record", "-"), np.arange(k), lambda a, b: np.minimum(rng.exponential(1 / rate, len(a)), 1.0)
    )
    exact = min(HIGHEST, np.log((k - 1) / 0.02) / rate)
    assert found.value == pytest.approx(exact, rel=0.1)


def test_few_rows_have_no_null_distribution() -> None:
    found = calibrated(("m", "sentence", "spaced"), np.arange(ENOUGH - 1), lambda a, b: np.zeros(len(a)))
    assert found.sample == 0


def test_thresholds_are_kept_and_read_back(store: SqliteStore) -> None:
    write(store, *(f"fact {n} is about ship number {n * n}" for n in range(60)))
    first = check_up(store, detectors=["duplicates"])
    kept = [Threshold.from_json(threshold.to_json()) for threshold in first.thresholds]
    assert tuple(kept) == first.thresholds
    marked = [
        Threshold(measure=MEASURE, kind=t.kind, schema=t.schema, value=0.5, sample=7, population=t.population)
        for t in kept
    ]
    assert check_up(store, detectors=["duplicates"], thresholds=marked).thresholds == tuple(marked)
    write(store, *(f"note {n} is about train number {n * n}" for n in range(200)))
    assert check_up(store, detectors=["duplicates"], thresholds=marked).thresholds != tuple(marked)


@given(TEXTS)
def test_what_is_equal_does_not_depend_on_the_key(texts: list[str]) -> None:
    zeros = np.zeros(len(texts), np.uint64)
    found = []
    for key in (b"one", b"two"):
        reading = read(texts, zeros, key, lambda row: None)
        exact = reading.exact
        found.append({(a, b) for a in range(len(texts)) for b in range(a) if exact[a] == exact[b]})
    assert found[0] == found[1]
