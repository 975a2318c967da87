"""Conflicts: within one slot only, by rules that say when they do not know."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorepair.health import CheckUp, Expected
from memorepair.health.conflict.compare import Cardinality, compare, verdict
from memorepair.health.conflict.facts import LIMITED, LONGEST_TEXT, TOPIC, Fact, cleaned, facts
from memorepair.health.conflict.judge import Answer
from memorepair.memory.artifact import Draft, Key, Slot
from memorepair.memory.sqlite import SqliteStore

SCOPE = ("user", "1")
ZH_LIMIT = ("用户不吃香菜", "用户可以吃少量香菜")
Examine = Callable[..., CheckUp]


def write(store: SqliteStore, *texts: str, scope: tuple[str, ...] = SCOPE) -> None:
    store.write([Draft(key=Key(scope, f"t{n}"), content=text) for n, text in enumerate(texts)])


def slotted(store: SqliteStore, id: str, text: str, **slot: Any) -> None:
    told: dict[str, Any] = {"entity": "user 1", "attribute": "home"} | slot
    store.write([Draft(key=Key(SCOPE, id), content=text, slot=Slot(**told))])


def conflicts(checked: CheckUp, code: str = "conflict") -> list[tuple[str, ...]]:
    return sorted(tuple(key.id for key in one.keys) for one in checked.findings if one.code == code)


def answer(one: str, other: str) -> Answer:
    return verdict(one, other, facts(one), facts(other))[0]


# the rules ------------------------------------------------------------------------------------------------


def test_labelled_pairs(store: SqliteStore, examine: Examine, real_input: Callable[[str], Path]) -> None:
    pairs = json.loads((real_input("conflict-pairs") / "pairs.json").read_text(encoding="utf-8"))
    said = [
        Answer.BOTH
        if "interval_a" in pair and not _meet(pair["interval_a"], pair["interval_b"])
        else answer(pair["a"], pair["b"])
        for pair in pairs
    ]
    truth = [bool(pair["conflict"]) for pair in pairs]
    named = [one is Answer.CONFLICT for one in said]
    right = sum(a and b for a, b in zip(named, truth, strict=True))
    missed = sum(t and one not in (Answer.CONFLICT, Answer.JUDGE) for t, one in zip(truth, said, strict=True))
    assert right >= 0.95 * sum(named)
    assert right >= 0.9 * sum(truth)
    assert missed <= 0.03 * len(pairs)


def _meet(a: list[float], b: list[float]) -> bool:
    return a[0] < b[1] and b[0] < a[1]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("User loves cilantro.", ("user", TOPIC, "cilantro", 1.0, "")),
        ("I do not like cilantro", ("user", TOPIC, "cilantro", -1.0, "")),
        ("User accepts a little coriander.", ("user", TOPIC, "coriander", LIMITED, "")),
        ("At work, user drinks coffee.", ("user", TOPIC, "coffee", 1.0, "at work")),
        ("用户不吃香菜。", ("用户", TOPIC, "香菜", -1.0, "")),
        ("出差时，用户吃肉。", ("用户", TOPIC, "肉", 1.0, "出差时")),
        ("I moved to Lyon.", ("user", "residence", "lyon", 1.0, "")),
        ("用户今年34岁。", ("用户", "age", "34", 1.0, "")),
        ("The timeout is 1 minute.", ("timeout", "is", "60 second", 1.0, "")),
        ("会议在下午两点开始。", ("会议", "time", "14:00", 1.0, "")),
        ("Ravi is the owner of the capital project.", ("capital project's owner", "is", "ravi", 1.0, "")),
    ],
)
def test_what_a_sentence_states(text: str, fact: tuple[str, str, str, float, str]) -> None:
    (found,) = facts(text)
    assert (found.subject, found.attribute, found.value, found.polarity, found.scene) == fact
    assert found.whole


FACTS = st.builds(
    Fact,
    subject=st.sampled_from(["user", "capital project", "用户"]),
    attribute=st.sampled_from(["residence", "speaks", TOPIC, "is", "moods"]),
    value=st.sampled_from([None, "on", "off", "5 mb of ram", "9 mb of ram", "tea", "green tea"]),
    polarity=st.sampled_from([1.0, LIMITED, -1.0]),
    scene=st.sampled_from(["", "at work", "at home"]),
)


@given(FACTS, FACTS)
def test_a_comparison_has_no_direction(one: Fact, other: Fact) -> None:
    assert compare(one, other)[0] is compare(other, one)[0]


@given(FACTS)
def test_nothing_conflicts_with_itself(fact: Fact) -> None:
    assert compare(fact, fact)[0] in (Answer.SAME, Answer.JUDGE)


@given(FACTS, FACTS)
def test_only_facts_of_one_slot_are_compared(one: Fact, other: Fact) -> None:
    if one.subject != other.subject or one.attribute != other.attribute:
        assert compare(one, other)[0] is Answer.BOTH


@given(st.text(max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    facts(text)
    cleaned(text)
    assert answer(text, text) is not Answer.CONFLICT


@pytest.mark.parametrize(
    "text", ["a " * 5_000, "is " * 600, "user's " * 290 + "is", "在" * 1_900, "的" * 299]
)
def test_long_texts_are_read_in_no_time(text: str) -> None:
    assert len(facts(text)) <= 1
    assert facts("x" * (LONGEST_TEXT + 1)) == ()


def test_cardinality_is_the_keepers_to_say() -> None:
    lyon = Fact(subject="user", attribute="moods", value="glad", polarity=1.0, given=True)
    nice = Fact(subject="user", attribute="moods", value="sad", polarity=1.0, given=True)
    assert compare(lyon, nice)[0] is Answer.JUDGE
    assert compare(lyon, nice, Cardinality(many=frozenset({"moods"})))[0] is Answer.BOTH
    assert compare(lyon, nice, Cardinality(single=frozenset({"moods"})))[0] is Answer.CONFLICT


# in a store -----------------------------------------------------------------------------------------------


def test_loves_then_hates(store: SqliteStore, examine: Examine) -> None:
    write(store, "User loves cilantro", "User likes tea", "User hates cilantro")
    (finding,) = examine("conflicts").findings
    assert [key.id for key in finding.keys] == ["t0", "t2"]
    assert finding.measured["reason"] == "polarity or limit"


def test_refuses_against_a_little(store: SqliteStore, examine: Examine) -> None:
    write(
        store,
        "User refuses coriander",
        "User accepts a little coriander",
        "用户不吃香菜",
        "用户可以吃少量香菜",
    )
    assert conflicts(examine("conflicts")) == [("t0", "t1"), ("t2", "t3")]


def test_a_b_a_conflicts_with_the_one_between(store: SqliteStore, examine: Examine) -> None:
    write(store, "User lives in Paris", "User lives in Lyon", "User lives in Paris")
    assert conflicts(examine("conflicts")) == [("t0", "t1"), ("t1", "t2")]


def test_scopes_do_not_contradict_each_other(store: SqliteStore, examine: Examine) -> None:
    write(store, "User lives in Paris", scope=("user", "1"))
    write(store, "User lives in Lyon", scope=("user", "2"))
    assert examine("conflicts").findings == ()


def test_slots_given_at_the_write_decide_whatever_the_words(store: SqliteStore, examine: Examine) -> None:
    slotted(store, "a", "The Seine flows past the window", value="Paris")
    slotted(store, "b", "Croix-Rousse suits them fine", value="Lyon")
    slotted(store, "same", "Paris, as ever", value="paris")
    slotted(store, "other", "Hammers by day", attribute="employer", value="Siemens")
    slotted(store, "summer", "Nice in summer", value="Nice", scene="summer")
    slotted(store, "past", "Once in Rome", value="Rome", valid_to=5.0)
    slotted(store, "early", "Born in Bonn", value="Bonn", valid_from=5.0, valid_to=9.0)
    found = conflicts(examine("conflicts"))
    assert ("a", "b") in found
    assert ("b", "same") in found
    assert ("a", "same") not in found
    assert ("past", "early") not in found
    assert ("a", "summer") in found
    assert not any("other" in pair for pair in found)


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        ("My friend is Anna", "My friend is Bert", Answer.BOTH),
        ("Tom's sister is called Anna", "Tom's sister is called Berta", Answer.BOTH),
        ("User's hobby is chess", "User's hobby is tennis", Answer.BOTH),
        ("我的朋友是张三", "我的朋友是李四", Answer.BOTH),
        ("One of my friends is Anna", "One of my friends is Bert", Answer.BOTH),
        ("A friend of mine is Anna", "A friend of mine is Bert", Answer.JUDGE),
        ("My boss is Anna", "My boss is Bert", Answer.CONFLICT),
    ],
)
def test_what_somebody_may_have_several_of_is_no_conflict(one: str, other: str, told: Answer) -> None:
    assert answer(one, other) is told


def test_a_slot_that_holds_many_values(store: SqliteStore, examine: Examine) -> None:
    slotted(store, "a", "tested with 7b", attribute="tested with", value="7b")
    slotted(store, "b", "tested with 3b", attribute="tested with", value="3b")
    slotted(store, "c", "not with 7b", attribute="tested with", value="7b", polarity=False)
    assert conflicts(examine("conflicts")) == [("a", "c")]


def test_an_attribute_that_nobody_has_described_is_for_a_person(store: SqliteStore, examine: Examine) -> None:
    slotted(store, "a", "in the mood", attribute="mood", value="glad")
    slotted(store, "b", "not so much", attribute="mood", value="sad")
    (finding,) = examine("conflicts").findings
    assert (finding.code, finding.measured["proposal"]) == ("conflict_undecided", "pending_review")
    assert conflicts(examine("conflicts", expected=Expected(single=frozenset({"mood"})))) == [("a", "b")]


def test_a_denial_in_words_no_rule_knows(store: SqliteStore, examine: Examine) -> None:
    write(store, "The night watch trusts the new lock", "The night watch does not trust the new lock")
    assert conflicts(examine("conflicts")) == [("t0", "t1")]


@pytest.mark.parametrize(
    "family",
    [
        [f"User plans to be in Shanghai for work in month {n}" for n in range(1, 13)],
        [f"The server db-{n:02d} is backed up every night" for n in range(12)],
        [f"User's friend {name} plays chess" for name in ("Anna", "Bob", "Carla", "Dirk", "Elsa")],
        [f"用户计划{n}月份去上海出差" for n in range(1, 13)],
        [f"订单{n}已经发往汉堡" for n in range(10_231, 10_243)],
    ],
)
def test_templates_do_not_contradict_each_other(
    store: SqliteStore, examine: Examine, family: list[str]
) -> None:
    write(store, *family)
    assert conflicts(examine("conflicts")) == []


STORIES = (
    "Armageddon in Retrospect was written by Kurt Vonnegut, who is best known for his 1969 satire novel",
    "Armageddon in Retrospect was written by the author who was best known for what 1969 satire novel?",
    "I set up my first server in 2011. It was an old box. I spent a weekend on it. It was slow. I loved it.",
    "I wrote my first program in BASIC. It was a number game. I was twelve. It was loud. I was proud of it.",
    "There is no mention of Robert Croft in the context",
    "There is no information about the genus Greyia",
    "Computer Science",
    "computer science",
)


def test_stories_state_nothing_that_could_conflict(store: SqliteStore, examine: Examine) -> None:
    write(store, *STORIES)
    assert examine("conflicts").findings == ()


class Counting:
    """A judge that counts what it is asked."""

    def __init__(self, answer: Answer | Exception) -> None:
        self.answer, self.asked = answer, 0

    def decide(self, one: str, other: str) -> Answer:
        self.asked += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (Answer.CONFLICT, "conflict"),
        (Answer.BOTH, None),
        (Answer.SAME, None),
        (Answer.JUDGE, "conflict_undecided"),
        (RuntimeError("no network"), "conflict_undecided"),
    ],
)
def test_the_judge_decides_within_its_bound(
    store: SqliteStore, examine: Examine, said: Answer | Exception, code: str | None
) -> None:
    for n in range(8):
        slotted(store, f"m{n}", f"mood {n}", attribute="mood", value=f"shade {n}")
    judge = Counting(said)
    checked = examine("conflicts", expected=Expected(judge=judge, judgements=5))
    assert judge.asked == 5
    assert len(checked.findings) == (0 if code is None else 5)
    assert {finding.code for finding in checked.findings} <= {code}
    assert any("cannot decide" in left for left in checked.left_out)


def test_partners_of_a_slot_are_bounded(store: SqliteStore, examine: Examine) -> None:
    for n in range(60):
        slotted(store, f"h{n:02d}", f"home {n}", value=f"town {n}")
    found = conflicts(examine("conflicts"))
    assert len(found) <= 60 * 12
    assert {id for pair in found for id in pair} == {f"h{n:02d}" for n in range(60)}


def test_only_what_is_new_is_reported(store: SqliteStore, examine: Examine) -> None:
    write(store, "User lives in Paris", "User lives in Lyon")
    first = examine("conflicts")
    assert examine("conflicts", since=first.newest).findings == ()
    store.write([Draft(key=Key(SCOPE, "new"), content="User lives in Rome")])
    assert conflicts(examine("conflicts", since=first.newest)) == [("t0", "new"), ("t1", "new")]


def test_a_judge_is_asked_about_what_a_statement_rules_out_within_a_bound(
    store: SqliteStore, examine: Examine
) -> None:
    """About the newest few of each statement; without a judge nobody is asked, and their number is told."""
    write(store, *(f"My note number {n} is about gardens" for n in range(40)))
    for n in range(5):
        store.write([Draft(key=Key(SCOPE, f"x{n}"), content=f"I never travel by air in month {n}")])
    store.write([Draft(key=Key(SCOPE, "late"), content="Last week I flew to Oslo")])
    judge = Counting(Answer.JUDGE)
    found = examine("conflicts", expected=Expected(judge=judge))
    of = {newer: sorted(older for older, last in conflicts(found, "conflict_undecided") if last == newer)
          for newer in ("x0", "x4", "late")}  # fmt: skip
    assert of == {"x0": ["t37", "t38", "t39"], "x4": ["x1", "x2", "x3"], "late": ["x2", "x3", "x4"]}
    assert judge.asked <= 3 * 6
    told = examine("conflicts")
    assert told.findings == ()
    assert "5 statements ruling something out: a judge sees what it is" in told.left_out
