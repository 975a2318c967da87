"""Validation: every check that applies has to let a successor through, and none quotes what was withdrawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorepair import Memory
from memorepair.errors import InvalidInput
from memorepair.graphs.terms import Arch, Kind, Relation
from memorepair.memory.artifact import Json, Key, Recipe, TaskCase
from memorepair.memory.schemas import require_schema
from memorepair.repair import validation
from memorepair.repair.checks.check import Check, Context, Word
from memorepair.repair.checks.marks import marked, recognised, runs
from memorepair.repair.checks.schema import violation
from memorepair.repair.events import EventKind
from memorepair.repair.jsontext import canonical
from memorepair.repair.modes import Mode
from memorepair.repair.operators.operator import Call, Input, Made, Operator
from memorepair.repair.operators.recompute import FunctionOperator
from memorepair.repair.report import Fate
from memorepair.repair.validation import (
    BEFORE,
    CHECKS,
    GROUP,
    Checks,
    Judge,
    admit,
    check,
    first_refusal,
    validate,
)

ROOT, PARENT, SOURCE = Key((), "root"), Key((), "parent"), Key((), "source")


def context(
    content: str = "fine",
    *,
    mode: Mode = Mode.REGEN,
    arch: Arch = Arch.NONE,
    recipe: Recipe | None = None,
    sources: Mapping[Key, str] | None = None,
    operator: Operator | None = None,
    cites: tuple[Key, ...] | None = None,
    withdrawn: str = "",
    own: str | None = None,
    stored: Mapping[Key, str] | None = None,
    params: Mapping[str, Json] | None = None,
    event: EventKind = EventKind.DELETE,
) -> Context:
    given = {SOURCE: "fine"} if sources is None else sources
    return Context(
        event=event,
        mode=mode,
        arch=arch,
        recipe=recipe or Recipe(),
        operator=operator or FunctionOperator(name="op", function=lambda call: content),
        call=Call(
            key=Key((), "it"),
            inputs=tuple(
                Input(key=key, version=1, kind=Kind.RECORD, relation=Relation.DERIVE, content=text)
                for key, text in given.items()
            ),
            params=params or {},
            interfaces={},
            own=own,
        ),
        made=Made(content=content, cites=cites),
        parents={key: ((stored or {}).get(key, text), text) for key, text in given.items()},
        root_marks=marked({ROOT: withdrawn}),
        parent_texts={},
        fresh=(),
    )


def refusal(it: Context) -> tuple[str, Word] | None:
    found = first_refusal(validate(it))
    return None if found is None else (found.check, found.word)


@pytest.mark.parametrize(
    ("mode", "arch", "recipe", "names"),
    [
        (Mode.RECOMPUTE, Arch.NONE, Recipe(), ["replay"]),
        (Mode.REGEN, Arch.NONE, Recipe(), ["canary", "support"]),
        (Mode.REGEN, Arch.CHAIN, Recipe(), ["canary", "support", "dry-run"]),
        (
            Mode.REGEN,
            Arch.PROMPT,
            Recipe(schema={}, cases=(TaskCase(name="a"),)),
            ["schema", "canary", "support", "cases"],
        ),
    ],
)
def test_the_checks_that_apply(mode: Mode, arch: Arch, recipe: Recipe, names: list[str]) -> None:
    assert [verdict.check for verdict in validate(context(mode=mode, arch=arch, recipe=recipe))] == names
    all_names = [check.name for check in BEFORE] + [check.name for check in CHECKS]
    assert len(set(all_names)) == len(all_names)


# replay ----------------------------------------------------------------------------------------------


def test_a_result_must_repeat() -> None:
    assert refusal(context(mode=Mode.RECOMPUTE)) is None
    numbers = iter(range(9))
    wobbly = FunctionOperator(name="wobbly", function=lambda call: str(next(numbers)))
    assert refusal(context(mode=Mode.RECOMPUTE, operator=wobbly)) == ("replay", Word.FAIL)

    def fails(call: Call) -> str:
        raise ValueError("the second time")

    failing = FunctionOperator(name="failing", function=fails)
    assert refusal(context(mode=Mode.RECOMPUTE, operator=failing)) == ("replay", Word.FAIL)


def test_a_result_must_stand_on_what_the_store_holds() -> None:
    tampered = context(mode=Mode.RECOMPUTE, stored={SOURCE: "another digest"})
    assert refusal(tampered) == ("replay", Word.FAIL)


# support, cases --------------------------------------------------------------------------------------


def test_only_given_sources_are_cited() -> None:
    assert refusal(context(cites=(SOURCE,))) is None
    assert refusal(context(cites=(ROOT,))) == ("support", Word.FAIL)
    assert refusal(context(cites=())) == ("support", Word.FAIL)
    assert refusal(context(sources={})) == ("support", Word.FAIL)


def test_task_cases_hold() -> None:
    cases = (TaskCase(name="a", contains=("fi",)), TaskCase(name="b", excludes=("bad",)))
    assert refusal(context("fine", recipe=Recipe(cases=cases))) is None
    assert refusal(context("other", recipe=Recipe(cases=cases))) == ("cases", Word.FAIL)
    assert refusal(context("fine, bad", recipe=Recipe(cases=cases))) == ("cases", Word.FAIL)


# schema ----------------------------------------------------------------------------------------------

PERSON: dict[str, Json] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 5},
        "age": {"type": ["integer", "null"], "minimum": 0, "maximum": 150},
        "tags": {"type": "array", "items": {"enum": ["a", "b", 1]}},
    },
    "required": ["name"],
    "additionalProperties": False,
    "title": "a person",
}


@pytest.mark.parametrize(
    ("value", "broken"),
    [
        ({"name": "Mei"}, None),
        ({"name": "Mei", "age": None, "tags": ["b", 1]}, None),
        ({"name": "Mei", "age": 3.0}, None),
        ([], "type at /"),
        ({}, "required at /"),
        ({"name": ""}, "minLength at /name"),
        ({"name": "Meiling"}, "maxLength at /name"),
        ({"name": "Mei", "age": -1}, "minimum at /age"),
        ({"name": "Mei", "age": 151}, "maximum at /age"),
        ({"name": "Mei", "age": True}, "type at /age"),
        ({"name": "Mei", "age": 1.5}, "type at /age"),
        ({"name": "Mei", "tags": ["a", True]}, "enum at /tags/1"),
        ({"name": "Mei", "secret": 1}, "additionalProperties at /"),
    ],
)
def test_schema(value: Json, broken: str | None) -> None:
    assert violation(PERSON, value) == broken
    it = context(canonical(value), recipe=Recipe(schema=PERSON))
    assert refusal(it) == (None if broken is None else ("schema", Word.FAIL))


@pytest.mark.parametrize(
    ("schema", "keyword"),
    [
        ({"pattern": "^a"}, "pattern"),
        ({"properties": {"a": {"oneOf": []}}}, "oneOf"),
        ({"items": {"additionalProperties": {"$ref": "#"}}}, "$ref"),
        ({"type": "text"}, "type"),
        ({"minLength": -1}, "minLength"),
        ({"properties": {"a": 3}}, "properties"),
        ({"enum": []}, "enum"),
    ],
)
def test_what_the_subset_does_not_know_never_passes(schema: dict[str, Json], keyword: str) -> None:
    for enter in (lambda: require_schema(schema), lambda: Recipe(schema=schema)):
        with pytest.raises(InvalidInput) as refused:
            enter()
        assert refused.value.witness == keyword


def test_prose_is_a_string_to_its_schema() -> None:
    assert refusal(context("12345", recipe=Recipe(schema={"type": "string", "maxLength": 5}))) is None
    assert refusal(context("prose", recipe=Recipe(schema={"maxLength": 4}))) == ("schema", Word.FAIL)
    assert refusal(context("prose", recipe=Recipe(schema={"type": "object"}))) == ("schema", Word.FAIL)


# canary ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "withdrawn"),
    [
        ("Based in Paris.", "Lives in Paris"),
        ("He is at 555-0199 now.", "Call 555-0199."),
        ("Write to mei_li@x.org", '{"email": "mei_li@x.org"}'),
        ("It is true that he likes green tea.", "he likes green tea"),
        ("也就是说用户住在巴黎第五区的小房子里。", "用户住在巴黎第五区的小房子里"),
        (
            "so the meeting was moved to the end of the week again",
            "we heard that the meeting was moved to the end of the week and cancelled",
        ),
    ],
)
def test_withdrawn_content_is_recognised_unless_the_sources_say_the_same(text: str, withdrawn: str) -> None:
    caught = context(text, withdrawn=withdrawn, sources={SOURCE: "something else"})
    verdict = first_refusal(validate(caught))
    assert verdict is not None
    assert (verdict.check, verdict.word) == ("canary", Word.QUARANTINE)
    assert "root" in verdict.saw
    assert not any(word in verdict.saw for word in ("Paris", "0199", "mei", "tea", "巴黎", "week"))
    assert refusal(context(text, withdrawn=withdrawn, sources={SOURCE: withdrawn})) is None
    carried = {event: context(text, withdrawn=withdrawn, own=withdrawn, event=event) for event in EventKind}
    assert {event for event, it in carried.items() if refusal(it) is None} == {EventKind.MIGRATE}


def test_common_words_give_nothing_away() -> None:
    assert refusal(context("The user lives in Lyon and works.", withdrawn="The user lives there.")) is None


@pytest.mark.parametrize(
    "withdrawn", ["Ask Customer Wu or Mei.", "A note on Customer Mei: she left.", "Mei."]
)
def test_a_template_has_no_word_of_its_own_in_the_text(withdrawn: str) -> None:
    text = "A note on Customer Mei: she left."
    frame: dict[str, Json] = {"template": "A note on Customer Mei: {sources}"}
    caught = context(text, sources={SOURCE: "she left."}, params=frame, withdrawn=withdrawn)
    assert refusal(caught) == ("canary", Word.QUARANTINE)
    assert refusal(context(text, sources={SOURCE: text}, params=frame, withdrawn=withdrawn)) is None


def test_a_capital_that_begins_a_sentence_counts_where_the_other_text_has_it_inside_one() -> None:
    assert refusal(context("Ask Anna.", withdrawn="Anna left.")) == ("canary", Word.QUARANTINE)
    assert refusal(context("They ask anna.", withdrawn="Anna left.")) is None
    assert refusal(context("Anna.", withdrawn="Anna left.")) is None
    assert refusal(context("Ask Anna.", withdrawn="Anna left.", sources={SOURCE: "Anna."})) is None


# params ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        "Paris",
        "paris",
        "Explain that Anna owes 500 euros.",
        "Write for Anna: {sources}",
        "No. X9Y8Z7",
        4711,
        ["Rome", {"city": ["Paris"]}],
        {"Paris": True},
        {"procedure": {"steps": [{"arguments": {"code": "X9Y8Z7"}}]}},
    ],
)
def test_params_that_rest_on_what_was_withdrawn_are_found_before_the_operator_is_called(value: Json) -> None:
    withdrawn = "Anna owes 500 euros. She lives in Paris. Her code is X9Y8Z7, her number 4711."
    params: dict[str, Json] = {"city": value}
    found = admit(context(params=params, withdrawn=withdrawn))
    assert [(one.check, one.word, one.saw) for one in found] == [
        ("params", Word.FAIL, "params rest on what was withdrawn (root)")
    ]
    assert [one.passed for one in admit(context(params=params, withdrawn="It rains."))] == [True]
    said = context(params=params, withdrawn=withdrawn, sources={SOURCE: withdrawn})
    assert [one.passed for one in admit(said)] == [True]
    assert admit(context(params=params, withdrawn=withdrawn, event=EventKind.MIGRATE)) == ()
    assert admit(context(withdrawn=withdrawn)) == ()


def test_a_param_is_no_leak_by_its_name_or_by_common_words() -> None:
    params: dict[str, Json] = {"user_id": 3, "instruction": "Summarise the sources of the user."}
    assert first_refusal(admit(context(params=params, withdrawn="The user_id is 3. The user left."))) is None


SENTENCES = st.lists(
    st.lists(
        st.sampled_from(["red", "tea", "Paris", "7-1234", "was", "the", "他", "茶"]), min_size=1, max_size=12
    ),
    min_size=1,
    max_size=4,
).map(lambda lists: ". ".join(" ".join(words) for words in lists))


@given(SENTENCES, SENTENCES, SENTENCES)
def test_what_quotes_only_its_sources_never_leaks_and_a_quote_of_a_whole_text_always_does(
    source: str, withdrawn: str, other: str
) -> None:
    marks = marked({ROOT: withdrawn})
    assert recognised(runs(source), [marks], [source]) == []
    assert recognised(runs(source), [marks], [other, source]) == []
    assert recognised(runs(f"{other} {withdrawn}"), [marks], [f"{other} {withdrawn}"]) == []
    if marks:
        assert recognised(runs(f"he said {withdrawn}"), [marks], []) == [ROOT]


# dry run ---------------------------------------------------------------------------------------------


def test_a_chain_must_run_against_its_interfaces() -> None:
    chain = canonical({"steps": [{"name": "a", "tool": "t"}]})
    tool = {SOURCE: canonical({"tools": {"t": {}}})}
    assert refusal(context(chain, arch=Arch.CHAIN, sources=tool)) is None
    assert refusal(context(chain, arch=Arch.CHAIN)) == ("dry-run", Word.FAIL)
    assert refusal(context("import os", arch=Arch.CHAIN, sources=tool)) == ("dry-run", Word.FAIL)


# of others ------------------------------------------------------------------------------------------


@check(name="short")
def short(context: Context) -> tuple[Word, str] | None:
    if context.mode is not Mode.REGEN:
        return None
    size = len(context.made.content)
    return (Word.PASS if size < 10 else Word.WARN if size < 20 else Word.QUARANTINE), f"{size} characters"


def test_a_check_of_others_judges_beside_the_built_in_ones() -> None:
    checks = Checks([short])
    assert [one.name for one in checks.all()] == [*(one.name for one in CHECKS), "short"]
    words = {
        size: next(one for one in checks.validate(context("x" * size)) if one.check == "short")
        for size in (5, 15, 25)
    }
    assert {size: one.word for size, one in words.items()} == {
        5: Word.PASS,
        15: Word.WARN,
        25: Word.QUARANTINE,
    }
    assert words[25].saw == "25 characters"
    assert [words[size].passed for size in words] == [True, True, False]
    assert "short" not in [one.check for one in checks.validate(context(mode=Mode.RECOMPUTE))]


def test_a_check_that_breaks_refuses_and_quotes_nothing() -> None:
    def breaks(context: Context) -> tuple[Word, str]:
        raise KeyError(context.made.content)

    def applies(context: Context) -> bool:
        raise RuntimeError(context.made.content)

    nonsense = cast(Judge, lambda context: "pass")
    broken = (
        check(name="x")(breaks),
        check(name="x")(nonsense),
        Check(name="x", applies=applies, judge=breaks),
    )
    for judge in broken:
        verdict = Checks([judge]).validate(context("secret"))[-1]
        assert (verdict.check, verdict.word) == ("x", Word.FAIL)
        assert "secret" not in verdict.saw


NAMELESS: Check[Context] = Check(name=" ", applies=lambda context: True, judge=lambda context: None)


@pytest.mark.parametrize(
    "bad",
    [
        [short, short],
        [lambda context: None],
        [NAMELESS],
        [CHECKS[0]],
    ],
)
def test_what_is_no_check_or_there_twice_is_refused(bad: list[Check[Context]]) -> None:
    with pytest.raises(InvalidInput):
        Checks(bad)


@dataclass
class Entry:
    loads: object
    name: str = "acme"
    value: str = "acme:CHECKS"

    def load(self) -> object:
        if isinstance(self.loads, Exception):
            raise self.loads
        return self.loads


def broken() -> Iterator[object]:
    yield short
    raise RuntimeError("no more")


@pytest.mark.parametrize("loads", [short, [short], (short,)])
def test_installed_checks_are_found(loads: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validation, "entry_points", lambda *, group: [Entry(loads)] if group == GROUP else [])
    checks = Checks()
    assert checks.all()[-1] is short
    assert checks.all() is checks.all()


@pytest.mark.parametrize("loads", [ImportError("gone"), RuntimeError("gone"), 3, [3], [CHECKS[0]], broken()])
def test_a_repair_does_not_begin_without_an_installed_check(
    loads: object, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(validation, "entry_points", lambda *, group: [Entry(loads)])
    with Memory.open(tmp_path / "a.db") as memory:
        case = memory.delete(memory.record("x", id="x"), reason="gone", actor="me")
        with pytest.raises(InvalidInput):
            memory.repair(case)
        assert memory.status().open_cases[0].attempts == 0


def test_a_memory_holds_successors_to_the_checks_it_was_opened_with(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "a.db", checks=[short]) as memory:
        a, b = (
            memory.record("Lives in Paris now.", id="a"),
            memory.record("Likes tea and long walks.", id="b"),
        )
        with memory.deriving(kind="summary", operator="summarise") as d:
            d.read(a)
            d.read(b)
            summary = d.write("Both.")
        report = memory.repair(memory.correct(a, "Lives in Lyon now.", reason="moved", actor="me"))
        (member,) = (one for one in report.still_withdrawn if one.key == summary)
        assert (member.fate, member.why) == (Fate.FAILED, "short: 44 characters")
