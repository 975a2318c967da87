"""The audit's kernel: what it proposes, against a plain reference; what it claims, on known losses."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorepair.errors import InvalidInput
from memorepair.repair.audit import tokens
from memorepair.repair.audit.arcs import Parents
from memorepair.repair.audit.corpus import SHARED, Corpus, Item, make_corpus
from memorepair.repair.audit.cover import LEAST, PICKS, cover
from memorepair.repair.audit.habits import learn
from memorepair.repair.audit.proposals import Rule, audit
from memorepair.repair.audit.wanted import CUT, find_hits

Arcs = list[tuple[int, int]]


def said(text: str) -> set[str]:
    held = tokens.tokenise([text])
    return {held.name(int(token)) for token in held.tokens}


def chains(scopes: int, depth: int, seed: int) -> tuple[list[Item], Arcs]:
    """Chains of extractive summaries, two a scope, each step joined by a record of the scope."""
    draw = random.Random(seed)
    items: list[Item] = []
    arcs: Arcs = []

    def fact() -> str:
        return f"office {draw.choice('abcdefgh')}{draw.randrange(40)} reported {draw.randrange(10**5)} units"

    for scope in range(scopes):
        tips = []
        for _ in range(8):
            text = ". ".join(fact() for _ in range(8))
            tips.append(len(items))
            items.append(Item(scope=f"s{scope}", kind="record", text=text, original=True))
        pool, tips = tips[2:], tips[:2]
        for _ in range(depth):
            for chain in range(2):
                parents = [tips[chain], draw.choice(pool)]
                taken = [
                    sentence
                    for parent, most in zip(parents, (6, 2), strict=True)
                    for sentence in draw.sample(items[parent].text.split(". "), most)
                ]
                tips[chain] = len(items)
                arcs += [(parent, len(items)) for parent in parents]
                text = ". ".join(taken)
                items.append(Item(scope=f"s{scope}", kind="summary", text=text, derived=True))
    return items, arcs


# tokens ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "token"),
    [
        ("at 07:00 PM", "at 19:00:00", "t1900"),
        ("12:05 am", "00:05", "t0005"),
        ("May 20th, 2024", "2024-05-20", "d0520"),
        ("3rd March", "March 3", "d0303"),
        ("1,204.0 units", "1204 units", "1204"),
        ("user Mia_Li_36680", "mia_li_36680!", "mia_li_36680"),
        ("她的护照是X99812345。", "护照X99812345", "x99812345"),
        ("她住在建国路八十八号", "建国路", "建国"),
        ("于2024-05-20到达", "May 20", "d0520"),
        ("注文番号９９８１２３４５", "99812345", "99812345"),
    ],
)
def test_one_thing_has_one_spelling(one: str, other: str, token: str) -> None:
    assert token in said(one) & said(other)


def test_small_numbers_count_in_pairs_only_and_long_parts_of_ids_by_themselves() -> None:
    held = said("seat 14 of order_12345_x")
    assert "14" not in held
    assert "seat 14" in held
    assert "12345" in held


@given(st.lists(st.text(max_size=40), max_size=6))
def test_any_text_gives_each_token_once(texts: list[str]) -> None:
    held = tokens.tokenise(texts)
    assert len(held.offsets) == len(texts) + 1
    for i in range(len(texts)):
        mine = held.tokens[held.offsets[i] : held.offsets[i + 1]]
        assert (np.diff(mine) > 0).all()


def test_what_a_call_was_given_has_no_pairs_but_those_of_characters() -> None:
    held = tokens.tokenise(['{"city": "北京", "street": "rue oberkampf"}'], pairs_until=0)
    said = {held.name(int(token)) for token in held.tokens}
    assert "北京" in said
    assert "rue oberkampf" not in said


# against a plain reference --------------------------------------------------------------------------------


def names_of(corpus: Corpus, text: int) -> set[int]:
    return set(corpus.tokens.tokens[corpus.tokens.offsets[text] : corpus.tokens.offsets[text + 1]].tolist())


def around(scope: str) -> set[str]:
    parts = scope.split("/")
    return {"/".join(parts[:end]) for end in range(len(parts) + 1)}


def plain_cover(items: Sequence[Item], arcs: Arcs) -> list[tuple[int, int, int, float]]:
    """(child, turn, holder, weight) by the words of the design, one item at a time."""
    corpus = make_corpus(items)
    n = corpus.n
    parents = Parents.of(n, np.array([u for u, _ in arcs], int), np.array([v for _, v in arcs], int))
    habits = learn(corpus, parents)
    weight = corpus.weight
    picks = []
    for v, item in enumerate(items):
        above = [u for u, w in set(arcs) if w == v]
        known: dict[bool, set[int]] = {True: set(), False: set()}
        for u in above:
            known[items[u].original] |= names_of(corpus, u) | names_of(corpus, u + n)
        body = names_of(corpus, v) | names_of(corpus, v + n)
        if item.given:
            want = {False: names_of(corpus, v + n) - known[False], True: body - known[True]}
        else:
            want = dict.fromkeys((False, True), body - known[True] - known[False])
        seen, frontier = set(above), list(above)
        while frontier:
            top = frontier.pop()
            fresh = {u for u, w in arcs if w == top} - seen
            seen |= fresh
            frontier += fresh
        hits: dict[int, set[int]] = defaultdict(set)
        holders = Counter(t for text in range(2 * n) for t in names_of(corpus, text))
        for token in want[True] | want[False]:
            if weight[token] <= 0 or holders[token] < 2:
                continue
            for scope in around(item.scope):
                born = [u for u in range(v) if items[u].scope == scope and token in names_of(corpus, u)]
                for u in born[-CUT:]:
                    pair = 2 * corpus.kind[u] + (items[u].scope == item.scope)
                    fed = habits.rate[pair, corpus.kind[v]] > 0
                    if token in want[items[u].original] and fed and u not in seen:
                        hits[u].add(token)
        done: set[int] = set()
        for turn in range(PICKS):
            score = {u: sum(weight[t] for t in held - done) for u, held in hits.items()}
            if not score:
                break
            best = max(score, key=lambda u: (round(score[u], 3), u))
            if score[best] < LEAST:
                break
            picks.append((v, turn, best, round(float(score[best]), 6)))
            done |= hits.pop(best)
    return picks


words = st.sampled_from([f"word{i}" for i in range(12)] + ["fleet", "x1", "7", "the"])
items_of = st.builds(
    Item,
    scope=st.sampled_from(["a", "a/x", "a/x/y", "b", SHARED]),
    kind=st.sampled_from(["record", "summary"]),
    text=st.lists(words, max_size=6).map(" ".join),
    given=st.one_of(st.just(""), st.lists(words, max_size=2).map(" ".join)),
    original=st.booleans(),
)


@st.composite
def records(draw: st.DrawFn) -> tuple[list[Item], Arcs]:
    items = draw(st.lists(items_of, min_size=4, max_size=14))
    ends = st.tuples(st.integers(0, len(items) - 1), st.integers(0, len(items) - 1))
    arcs = draw(st.lists(ends.filter(lambda arc: arc[0] < arc[1]), max_size=20))
    return items, arcs


@settings(max_examples=50)
@given(records())
def test_the_cover_of_all_items_at_once_is_the_cover_of_each(record: tuple[list[Item], Arcs]) -> None:
    items, arcs = record
    corpus = make_corpus(items)
    parents = Parents.of(corpus.n, np.array([u for u, _ in arcs], int), np.array([v for _, v in arcs], int))
    habits = learn(corpus, parents)
    everyone = habits.fed(corpus, parents, np.arange(corpus.n))
    found = cover(corpus, find_hits(corpus, parents, habits, everyone))
    picks = sorted(
        (int(everyone[row]), int(turn), int(holder), round(float(weight), 6))
        for row, turn, holder, weight in zip(found.row, found.turn, found.holder, found.weight, strict=True)
    )
    assert picks == plain_cover(items, arcs)


@settings(max_examples=25)
@given(records())
def test_what_is_proposed_is_older_and_no_recorded_ancestor(record: tuple[list[Item], Arcs]) -> None:
    items, arcs = record
    found = audit(items, arcs)
    above: dict[int, set[int]] = defaultdict(set)
    for v in range(len(items)):
        for u, w in arcs:
            if w == v:
                above[v] |= {u} | above[u]
    for one in found.proposals:
        assert one.parent < one.child
        assert one.parent not in above[one.child]
        assert (one.rule is Rule.CONTENT) == bool(one.shared)
    assert audit(items, arcs) == found


# calibration ----------------------------------------------------------------------------------------------


def reached(root: int, arcs: Arcs) -> set[int]:
    children = defaultdict(list)
    for u, v in arcs:
        children[u].append(v)
    seen, frontier = {root}, [root]
    while frontier:
        for child in children[frontier.pop()]:
            if child not in seen:
                seen.add(child)
                frontier.append(child)
    return seen


@pytest.mark.parametrize("regularity", [False, True])
def test_lost_arcs_are_found_again_with_probabilities_that_can_be_acted_on(regularity: bool) -> None:
    items, arcs = chains(8, 12, seed=1)
    draw = random.Random(2)
    kept = [arc for arc in arcs if draw.random() >= 0.05]
    found = audit(items, kept, regularity=regularity)
    assert found.calibrated
    added = [(one.parent, one.child) for one in found.proposals if (one.probability or 0) >= 0.3]
    exposed, plain, wrong, healthy = 0, 0, 0, 0
    for root in (v for v, item in enumerate(items) if item.original):
        true = reached(root, arcs)
        seen = reached(root, kept + added)
        exposed += len(true - seen)
        plain += len(true - reached(root, kept))
        wrong += len(seen - true)
        healthy += len(items) - len(true)
    assert exposed < plain / 3
    assert wrong < 0.01 * healthy
    assert found.missing is not None
    assert 0.02 < found.missing < 0.1


def test_a_complete_record_is_left_alone() -> None:
    items, arcs = chains(8, 12, seed=3)
    found = audit(items, arcs)
    true = set(arcs)
    sure = [one for one in found.proposals if (one.probability or 0) >= 0.5]
    assert len(sure) <= 0.01 * len(true)
    assert found.missing is not None
    assert found.missing < 0.02


def test_too_few_hidden_arcs_found_mean_no_probability() -> None:
    items, arcs = chains(1, 4, seed=4)
    found = audit(items, arcs[:-2])
    assert not found.calibrated
    assert found.missing is None
    assert found.proposals
    assert all(one.probability is None for one in found.proposals)


def test_the_parent_is_told_from_the_grandparent_and_the_original() -> None:
    items, arcs = chains(6, 10, seed=5)
    lone = [v for v in sorted({v for _, v in arcs}) if v % 11 == 0]
    found = audit(items, [arc for arc in arcs if arc[1] not in lone])
    assert found.lone == tuple(lone)
    first: dict[int, int] = {}
    for one in found.proposals:
        first.setdefault(one.child, one.parent)
    assert all((first[v], v) in arcs for v in lone)


def test_a_scope_never_recorded_is_found_by_what_other_scopes_look_like() -> None:
    items, arcs = chains(10, 10, seed=6)
    kept = [(u, v) for u, v in arcs if items[v].scope != "s3"]
    found = audit(items, kept)
    lost = set(arcs) - set(kept)
    listed = {(one.parent, one.child): one.probability or 0 for one in found.proposals}
    assert sum(listed.get(arc, 0) >= 0.3 for arc in lost) > 0.8 * len(lost)
    assert set(found.lone) == {v for _, v in lost}


def test_a_derived_kind_without_any_arc_is_a_finding_and_gets_proposals() -> None:
    items, arcs = chains(6, 8, seed=7)
    answers = []
    for v in range(len(items) - 1, 0, -40):
        answers.append((v, len(items)))
        text = ". ".join(items[v].text.split(". ")[:4])
        items.append(Item(scope=items[v].scope, kind="answer", text=text, derived=True))
    found = audit(items, arcs)
    assert found.silent == ("answer",)
    first: dict[int, int] = {}
    for one in found.proposals:
        first.setdefault(one.child, one.parent)
    assert all(first[child] == parent for parent, child in answers)


def quoting(recorded: int, *, kind: str = "summary", source: str = "record") -> tuple[list[Item], Arcs]:
    """Records, summaries of some of them as recorded, and last an item that repeats what one source says."""
    draw = random.Random(8)
    items = [
        Item(scope="s", kind="record", text=f"client {i} pays to de{draw.randrange(10**15)}", original=True)
        for i in range(200)
    ]
    iban = f"de{draw.randrange(10**15)}"
    items.append(Item(scope="s", kind=source, text=f"it goes to {iban}", original=source == "record"))
    arcs = []
    for i in range(recorded):
        arcs.append((i, len(items)))
        text = items[i].text.replace("pays", "paid")
        items.append(Item(scope="s", kind="summary", text=text, derived=True))
    items.append(Item(scope="s", kind=kind, text=f"wire {iban} today", derived=True))
    return items, arcs


@pytest.mark.parametrize("recorded", [0, 1, 2, 3])
def test_what_stands_on_nothing_has_proposals_however_few_arcs_its_kind_has(recorded: int) -> None:
    items, arcs = quoting(recorded)
    found = audit(items, arcs)
    assert found.lone == (len(items) - 1,)
    assert [one.parent for one in found.proposals if one.child == len(items) - 1] == [200]


def test_what_stands_on_nothing_may_stand_on_a_kind_that_never_supported_its_own() -> None:
    items, arcs = quoting(20, source="cache")
    found = audit(items, arcs)
    assert [(one.parent, one.child) for one in found.proposals] == [(200, len(items) - 1)]
    recorded = audit(items, [*arcs, (0, len(items) - 1)])  # the same, standing on something
    assert recorded.proposals == ()


@pytest.mark.parametrize("recorded", [0, 1])
def test_a_kind_of_few_arcs_may_stand_on_any_kind_although_it_stands_on_something(recorded: int) -> None:
    items, arcs = quoting(recorded, source="cache", kind="summary" if recorded else "answer")
    last = len(items) - 1
    found = audit(items, [*arcs, (0, last)])
    assert (200, last) in {(one.parent, one.child) for one in found.proposals}
    assert found.lone == ()


def test_where_a_usual_kind_explains_it_no_other_is_proposed() -> None:
    items, arcs = quoting(20, source="cache")
    twin = Item(scope="s", kind="record", text=f"we pay into {items[200].text.split()[-1]}", original=True)
    found = audit([twin, *items], [(u + 1, v + 1) for u, v in arcs])
    assert [(one.parent, one.child) for one in found.proposals] == [(0, len(items))]


def test_what_a_kind_is_declared_to_stand_on_is_all_it_may_stand_on() -> None:
    items, arcs = quoting(3, kind="answer")
    last = len(items) - 1
    for below, proposed in (((), []), (("summary",), []), (("record",), [(200, last)])):
        found = audit(items, arcs, declared={"answer": below})
        assert [(one.parent, one.child) for one in found.proposals] == proposed
        assert found.lone == (last,)


def test_what_lies_in_a_scope_around_may_have_been_read_and_what_lies_beside_or_inside_never() -> None:
    text = "passport x99812345 and contract kalomi 48213"
    scopes = ("user/42/run:7", "user/4", "user/43", "user/42", "user", SHARED)
    for place, scope in enumerate(scopes):
        items = [
            Item(scope=scope, kind="record", text=text, original=True),
            *(Item(scope="else", kind="record", text=f"other {i}", original=True) for i in range(40)),
            Item(scope="user/42/run:9", kind="answer", text=f"so {text}", derived=True),
        ]
        assert [one.parent for one in audit(items, []).proposals] == [0] * (place >= 3)


def test_an_argument_that_only_one_text_says_is_matched_with_it() -> None:
    others = [Item(scope="s", kind="record", text=f"thing number {i * 7919}") for i in range(40)]
    asked = Item(scope="s", kind="message", text="please look at order w771234567 for me")
    found = Item(scope="s", kind="cache", text="shipped", given='{"id": "w771234567"}', derived=True)
    (one,) = audit([*others, asked, found], []).proposals
    assert (one.parent, one.child, one.shared) == (40, 41, ("w771234567",))


def test_what_repeats_much_is_matched_by_what_others_say() -> None:
    """Its own pairs are rarer than the words that it repeats; nobody else says them."""
    words = [f"w{i}q" for i in range(3_000)]
    items = [
        Item(scope="s", kind="record", text=" ".join(words), original=True),
        Item(scope="s", kind="summary", text=" ".join(words[::2]), derived=True),
    ]
    assert [(one.parent, one.child) for one in audit(items, []).proposals] == [(0, 1)]


def test_an_identifier_tells_in_the_smallest_store_and_a_word_does_not() -> None:
    for said, proposed in (("de89370400440532013000", [(0, 1)]), ("oberkampf", [])):
        items = [
            Item(scope="s", kind="record", text=f"hers is {said}", original=True),
            Item(scope="s", kind="summary", text=f"wire to {said}", derived=True),
        ]
        assert [(one.parent, one.child) for one in audit(items, []).proposals] == proposed


def test_an_arc_out_of_the_items_is_refused() -> None:
    with pytest.raises(InvalidInput) as error:
        audit([Item(scope="a", kind="record", text="x")], [(0, 3)])
    assert error.value.witness == (0, 3)


def test_nothing_is_said_of_nothing() -> None:
    found = audit([], [])
    assert found.proposals == ()
    assert not found.calibrated
