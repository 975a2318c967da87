"""Operators: who makes successors, from what alone, and always the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorepair.errors import InvalidInput, StepFailed
from memorepair.graphs.terms import Kind, Relation
from memorepair.memory.artifact import Json, Key
from memorepair.repair.jsontext import canonical, parse
from memorepair.repair.modes import Mode
from memorepair.repair.operators import registry
from memorepair.repair.operators.attempt import Failure, attempt
from memorepair.repair.operators.operator import Call, Input, Made, Operator
from memorepair.repair.operators.recompute import FunctionOperator, ToolOperator, operator
from memorepair.repair.operators.regen import ExtractiveSummariser, Generated, Limits, RegenOperator, Request
from memorepair.repair.operators.registry import Operators
from memorepair.repair.operators.sentences import choose, sentences, words

HERE = Key((), "here")


def call(*texts: str, params: Mapping[str, Json] | None = None) -> Call:
    inputs = tuple(
        Input(
            key=Key((), f"s{place}"), version=1, kind=Kind.RECORD, relation=Relation.DERIVE, content=content
        )
        for place, content in enumerate(texts)
    )
    return Call(key=HERE, inputs=inputs, params=params or {}, interfaces={}, own=None)


def constant(name: str, version: str = "1") -> FunctionOperator:
    return FunctionOperator(name=name, version=version, function=lambda call: f"{name} {version}")


# registry --------------------------------------------------------------------------------------------


def test_a_reference_names_one_version_and_a_bare_name_the_one_registered_last() -> None:
    first, second = constant("a", "2"), constant("a", "1")
    table = Operators([first, second])
    assert table.get("a@2") is first
    assert table.get("a@1") is second
    assert table.get("a") is second
    assert table.get("a@3") is None
    assert table.get("b") is None


def test_duplicates_and_what_is_no_operator_are_refused() -> None:
    table = Operators([constant("a")])
    with pytest.raises(InvalidInput) as refused:
        table.register(constant("a"))
    assert refused.value.witness == "a@1"
    with pytest.raises(InvalidInput):
        table.register(cast(Operator, lambda call: "text"))
    for name in ("", "a@b"):
        with pytest.raises(InvalidInput):
            table.register(constant(name))


def test_the_defaults_are_operators() -> None:
    table = Operators.default()
    for name, mode in (
        ("summarise", Mode.REGEN),
        ("prompt-skill", Mode.REGEN),
        ("rewrite-chain", Mode.REGEN),
    ):
        found = table.get(f"{name}@1")
        assert isinstance(found, Operator)
        assert found.mode is mode
        assert found.deterministic


@dataclass
class Entry:
    name: str
    serves: Iterable[Operator]
    loads: int = 0

    def load(self) -> Iterable[Operator]:
        self.loads += 1
        return self.serves


def test_what_cannot_be_loaded_is_told_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        name = value = "bench"

        def load(self) -> list[Operator]:
            raise RuntimeError

    monkeypatch.setattr(registry, "entry_points", lambda *, group: [Broken()])
    table = Operators()
    for _ in range(2):
        with pytest.raises(InvalidInput, match="bench"):
            table.get("bench.read@1")


def test_entry_points_are_loaded_once_when_their_prefix_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Entry("bench", [constant("bench.read"), constant("bench.write")])
    other = Entry("other", [constant("other.read")])
    monkeypatch.setattr(registry, "entry_points", lambda *, group: [bench, other])
    table = Operators()
    assert table.get("benchmark.read") is None
    assert (bench.loads, other.loads) == (0, 0)
    found = table.get("bench.write@1")
    assert found is not None
    assert table.get("bench.gone") is None
    assert table.get("bench.read") is not None
    assert (bench.loads, other.loads) == (1, 0)


# recompute -------------------------------------------------------------------------------------------


def test_a_function_becomes_an_operator() -> None:
    @operator(name="join", version="3", reads_own_version=True)
    def join(call: Call) -> str:
        return "+".join(source.content for source in call.inputs)

    assert isinstance(join, Operator)
    assert (join.name, join.version, join.mode, join.deterministic) == ("join", "3", Mode.RECOMPUTE, True)
    assert join.reads_own_version
    assert join.make(call("a", "b")).content == "a+b"


def test_a_tool_reads_its_inputs_and_nothing_else() -> None:
    seen: list[tuple[Mapping[Key, Json], Mapping[str, Json]]] = []

    def tool(rows: Mapping[Key, Json], params: Mapping[str, Json]) -> Json:
        seen.append((rows, params))
        return {"b": 1, "a": [None]}

    made = ToolOperator(name="tool", tool=tool).make(call('{"x": 1}', "prose", params={"id": 7}))
    assert seen == [({Key((), "s0"): {"x": 1}, Key((), "s1"): "prose"}, {"id": 7})]
    assert made.content == '{"a":[null],"b":1}'
    assert ToolOperator(name="t", tool=lambda rows, params: "as is").make(call()).content == "as is"


def _raises(call: Call) -> str:
    raise ZeroDivisionError("by nothing")


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (constant("fine"), None),
        (FunctionOperator(name="bad", function=_raises), "ZeroDivisionError: by nothing"),
        (
            FunctionOperator(name="bad", function=lambda call: cast(str, 3)),
            "bad returned int, not text or Made",
        ),
        (
            FunctionOperator(name="bad", function=lambda call: Made(content="x", cost=float("nan"))),
            "the operator's cost is no number that is finite and >= 0",
        ),
    ],
)
def test_whatever_an_operator_raises_becomes_a_reason(made: Operator, why: str | None) -> None:
    result = attempt(made, call())
    assert (result.reason if isinstance(result, Failure) else None) == why


def test_an_interrupt_is_not_a_failed_step() -> None:
    def interrupted(call: Call) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attempt(FunctionOperator(name="slow", function=interrupted), call())


# JSON ------------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(JSON)
def test_canonical_json_reads_back_and_is_one_text(value: Json) -> None:
    text = canonical(value)
    assert parse(text) == value
    assert canonical(parse(text)) == text


@pytest.mark.parametrize("text", ["{", "NaN", "[1e999, Infinity]", "", "[" * 100_000])
def test_what_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse(text)


# regeneration ----------------------------------------------------------------------------------------

TEXTS = st.lists(
    st.text(alphabet='abcdé XY0123456789.!?。！？；住在巴黎“”"\n,:', max_size=200), min_size=1, max_size=5
)


@given(TEXTS, st.integers(1, 200), st.none() | st.integers(1, 3))
def test_the_summary_is_whole_sentences_of_its_sources_in_their_order(
    texts: list[str], characters: int, count: int | None
) -> None:
    params: dict[str, Json] = {"characters": characters, "sentences": count}
    asked = call(*texts, params=params)
    summarise = RegenOperator(name="summarise", generator=ExtractiveSummariser())
    result = attempt(summarise, asked)
    pool = [sentence for text in texts for sentence in sentences(text)]
    if isinstance(result, Failure):
        assert all(len(sentence) > characters for sentence in pool)
        return
    assert result == summarise.make(asked)
    assert 0 < len(result.content) <= characters
    chosen = choose(pool, characters, count)
    assert result.content == " ".join(pool[place] for place in chosen)
    assert chosen == sorted(set(chosen))
    assert count is None or len(chosen) <= count
    bags = [tuple(words(pool[place])) for place in chosen]
    assert len(set(bags)) == len(bags)
    assert result.cites is not None
    assert set(result.cites) <= {source.key for source in asked.inputs}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Li came at 3.30 p.m. today. She left!", ["Dr. Li came at 3.30 p.m. today.", "She left!"]),
        ('He said "no." Then he went.', ['He said "no."', "Then he went."]),
        ("用户住在巴黎。他说：“你好！”然后走了", ["用户住在巴黎。", "他说：“你好！”", "然后走了。"]),
        ("one line\nanother line", ["one line.", "another line."]),
        ("  \n ... \n", []),
        (
            '{"name": {"first_name": "Mei"}, "vip": true, "tags": ["a", "b"], "n": null}',
            ["name first name: Mei.", "vip: yes.", "tags: a, b."],
        ),
        ('[{"no": 1}, {"no": 2}]', ["1 no: 1.", "2 no: 2."]),
        ('"just a text"', ['"just a text".']),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_deep_json_is_rendered_without_recursion() -> None:
    assert sentences('{"a":' * 400 + "1" + "}" * 400) == [" ".join("a" * 400) + ": 1."]


def test_what_most_sources_say_outranks_what_one_says() -> None:
    said = call("The user likes green tea.", "Green tea is what the user likes most.", "It rained.")
    made = ExtractiveSummariser().generate(
        Request(instruction="", sources=said.inputs, limits=Limits(sentences=1))
    )
    assert "green tea" in made.text.casefold()


def test_a_prompt_skill_keeps_its_frame() -> None:
    skill = RegenOperator(name="prompt-skill", generator=ExtractiveSummariser())
    made = skill.make(call("Answer in French.", params={"template": "You assist Mei.\n{sources}\n{other}"}))
    assert made.content == "You assist Mei.\nAnswer in French.\n{other}"
    with pytest.raises(StepFailed):
        skill.make(call("Answer in French.", params={"template": "no slot"}))
    with pytest.raises(StepFailed):
        skill.make(call())


def test_a_generator_is_asked_for_sources_within_limits_and_reports_its_tokens() -> None:
    asked: list[Request] = []

    class Model:
        def generate(self, request: Request) -> Generated:
            asked.append(request)
            return Generated(text="short", cites=(Key((), "s1"),), tokens=12)

    summarise = RegenOperator(name="summarise", generator=Model())
    made = summarise.make(call("a", "b", params={"instruction": "Be brief.", "characters": 40}))
    assert made == Made(content="short", cost=12.0, cites=(Key((), "s1"),))
    assert not summarise.deterministic
    assert (asked[0].instruction, asked[0].limits.characters) == ("Be brief.", 40)
    assert [source.content for source in asked[0].sources] == ["a", "b"]
