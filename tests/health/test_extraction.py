"""Slots through a port: what no wording gives away is found, and what cannot be a slot is none."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from memorepair.adapters.extraction import SCHEMA, GeneratedSlots
from memorepair.errors import InvalidInput, StepFailed
from memorepair.facade import Memory
from memorepair.health import Expected
from memorepair.housekeeping import Keeping
from memorepair.memory.artifact import Draft, Key, Slot
from memorepair.memory.extraction import Extractor
from memorepair.repair.operators.regen import Generated, Request

SCOPE = ("user", "42")
SEINE, ALPS = "The Seine flows past my window.", "Snow on every side since I came up to Chamonix."
HOMES = {SEINE: "Paris", ALPS: "Chamonix"}


def homes(texts: Sequence[str]) -> list[Slot | None]:
    return [
        Slot(entity="user 42", attribute="home", value=HOMES[text]) if text in HOMES else None
        for text in texts
    ]


@pytest.fixture
def opened(tmp_path: Path) -> Callable[..., Memory]:
    return lambda **more: Memory.open(tmp_path / "agent.db", **more)


def found(memory: Memory) -> tuple[list[tuple[str, tuple[str, ...]]], tuple[str, ...]]:
    checked = memory.checkup(
        keeping=Keeping(expected=Expected(single=frozenset({"home"}))), dry_run=True
    ).checkup
    conflicts = [one for one in checked.findings if one.damage == "conflicts"]
    return [(one.code, tuple(key.id for key in one.keys)) for one in conflicts], checked.left_out


def tell(memory: Memory) -> None:
    memory.record(SEINE, id="seine", scope=SCOPE)
    memory.record(ALPS, id="alps", scope=SCOPE)
    memory.record("Nothing in particular.", id="other", scope=SCOPE)


def test_a_contradiction_without_a_common_word_is_found_through_the_port(
    opened: Callable[..., Memory],
) -> None:
    with opened(extractor=homes) as memory:
        tell(memory)
        conflicts, left_out = found(memory)
        assert conflicts == [("conflict", ("seine", "alps"))]
        assert left_out == ("1 statement in which rules see no fact: a slot would tell it",)
        slot = memory.get("user/42::seine").slot
        assert slot == Slot(entity="user 42", attribute="home", value="Paris")


def test_without_the_port_it_is_told_that_rules_cannot_see_it(opened: Callable[..., Memory]) -> None:
    with opened() as memory:
        tell(memory)
        conflicts, left_out = found(memory)
        assert conflicts == []
        assert left_out == (
            "1 statement ruling something out: a judge sees what it is",  # "Nothing in particular."
            "3 statements in which rules see no fact: a slot would tell it",
        )


def test_paraphrases_with_one_slot_are_one_cluster(opened: Callable[..., Memory]) -> None:
    said = (
        "Oat milk, please!",
        "Never without oats in the cup.",
        "燕麦奶就好",
        "Skip the cow, take the grain",
    )

    def drinks(texts: Sequence[str]) -> list[Slot | None]:
        return [Slot(entity="user", attribute="milk", value="oat") for _ in texts]

    with opened(extractor=drinks) as memory:
        memory.ingest([Draft(key=Key(SCOPE, f"p{n}"), content=text) for n, text in enumerate(said)])
        (finding,) = [
            one for one in memory.checkup(dry_run=True).checkup.findings if one.damage == "duplicates"
        ]
        assert (finding.code, len(finding.keys)) == ("duplicate_slot", 4)


def test_what_the_writer_says_goes_before_the_port(opened: Callable[..., Memory]) -> None:
    given = Slot(entity="user 42", attribute="view", value="river")
    asked: list[str] = []

    def listening(texts: Sequence[str]) -> list[Slot | None]:
        asked.extend(texts)
        return homes(texts)

    with opened(extractor=listening) as memory:
        memory.record(SEINE, id="seine", scope=SCOPE, slot=given)
        memory.record("  ", id="blank", scope=SCOPE)
        memory.record("42", id="cache", scope=SCOPE, kind="cache")
        assert memory.get("user/42::seine").slot == given
        assert asked == []
        with memory.deriving(kind="summary", operator="s", scope=SCOPE) as d:
            derived = d.write("About " + d.read("user/42::seine").content)
        assert asked == ["About " + SEINE]
        assert memory.get(derived).slot is None


def test_merging_the_same_again_asks_nobody_and_changes_nothing(opened: Callable[..., Memory]) -> None:
    drafts = [Draft(key=Key(SCOPE, "seine"), content=SEINE)]
    with opened() as memory:
        memory.merge(drafts)
    with opened(extractor=homes) as memory:
        assert memory.merge(drafts).same == 1


def few(texts: Sequence[str]) -> list[Slot | None]:
    return []


def words(texts: Sequence[str]) -> Any:
    return ["home"] * len(texts)


def nothing(texts: Sequence[str]) -> Any:
    return None


def broken(texts: Sequence[str]) -> list[Slot | None]:
    raise ConnectionError("gone")


@pytest.mark.parametrize(
    ("extractor", "error"),
    [(few, InvalidInput), (words, InvalidInput), (nothing, InvalidInput), (broken, ConnectionError)],
)
def test_a_port_that_breaks_its_contract_writes_nothing(
    opened: Callable[..., Memory], extractor: Extractor, error: type[Exception]
) -> None:
    with opened(extractor=extractor) as memory:
        with pytest.raises(error):
            memory.record(SEINE, scope=SCOPE)
        assert memory.list() == []


def test_what_cannot_be_called_is_refused(opened: Callable[..., Memory]) -> None:
    with pytest.raises(InvalidInput):
        opened(extractor="rules")


# a generator ------------------------------------------------------------------------------------------------


class Says:
    """A generator that answers what it is told to, and remembers what it was asked."""

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.asked: list[Request] = []

    def generate(self, request: Request) -> Generated:
        self.asked.append(request)
        text = self.answer if isinstance(self.answer, str) else json.dumps(self.answer)
        return Generated(text=text, cites=())


GOOD: Mapping[str, object] = {
    "found": True,
    "entity": " User  42",
    "attribute": "Home",
    "value": "Chamonix",
    "polarity": True,
    "scene": None,
}


def test_a_generator_is_held_to_the_schema(opened: Callable[..., Memory]) -> None:
    says = Says(GOOD)
    with opened(extractor=GeneratedSlots(generator=says)) as memory:
        memory.record(ALPS, id="alps", scope=SCOPE)
        assert memory.get("user/42::alps").slot == Slot(entity="user 42", attribute="home", value="Chamonix")
    (request,) = says.asked
    assert request.schema == SCHEMA
    assert [source.content for source in request.sources] == [ALPS]


def cases() -> Iterator[tuple[object, object]]:
    yield {"found": False}, None
    yield {"found": True}, None
    yield {**GOOD, "entity": ""}, None
    yield {**GOOD, "attribute": "x" * 500}, None
    yield {**GOOD, "entity": 5}, None
    yield (
        {**GOOD, "value": 7, "scene": "In  Winter"},
        Slot(entity="user 42", attribute="home", scene="In Winter"),
    )
    yield (
        {**GOOD, "polarity": "no", "valid_from": 5, "valid_to": True},
        Slot(entity="user 42", attribute="home", value="Chamonix", valid_from=5),
    )


@pytest.mark.parametrize(("answer", "slot"), list(cases()))
def test_what_is_beyond_the_schema_is_no_slot(answer: object, slot: object) -> None:
    assert GeneratedSlots(generator=Says(answer))([ALPS]) == [slot]


@pytest.mark.parametrize("answer", ["no JSON", "[]", "{}", '{"found": "yes"}'])
def test_an_answer_that_is_none_is_told(answer: str) -> None:
    with pytest.raises(StepFailed):
        GeneratedSlots(generator=Says(answer))([ALPS])


def test_a_story_is_not_sent_anywhere() -> None:
    says = Says(GOOD)
    assert GeneratedSlots(generator=says, longest=50)(["long " * 20, SEINE]) == [
        None,
        Slot(entity="user 42", attribute="home", value="Chamonix"),
    ]
    assert len(says.asked) == 1
