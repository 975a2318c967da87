"""Neural skills: trained for real, and what they forget they never knew."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorepair import Memory, Withdrawn
from memorepair.errors import InvalidInput
from memorepair.graphs.terms import Arch, Kind, Relation
from memorepair.memory.artifact import Json, Key, Recipe
from memorepair.repair.jsontext import canonical, parse
from memorepair.repair.modes import Mode
from memorepair.repair.operators.arrays import packed, unpacked
from memorepair.repair.operators.closedform import NaiveBayes, NearestCentroid, Ridge
from memorepair.repair.operators.examples import read_examples
from memorepair.repair.operators.learner import Learner
from memorepair.repair.operators.operator import Call, Input, Made
from memorepair.repair.operators.registry import Operators
from memorepair.repair.operators.shards import ShardedSoftmax
from memorepair.repair.report import Fate

LEARNERS: tuple[Learner, ...] = (Ridge(), NaiveBayes(), NearestCentroid(), ShardedSoftmax())
CLOSED = LEARNERS[:3]


def source(name: str, content: Json) -> Input:
    text = content if isinstance(content, str) else json.dumps(content)
    return Input(key=Key((), name), version=1, kind=Kind.RECORD, relation=Relation.DERIVE, content=text)


def example(label: str, *features: float) -> Json:
    return {"label": label, "features": list(features)}


def call(inputs: Sequence[Input], own: str | None, params: Mapping[str, Json] | None = None) -> Call:
    return Call(key=Key((), "model"), inputs=tuple(inputs), params=params or {}, interfaces={}, own=own)


def clusters(n: int, *, whole: bool, seed: int = 0) -> list[Input]:
    """Three labels around three corners, one example a source."""
    draw = np.random.default_rng(seed)
    found = []
    for place in range(n):
        label = place % 3
        point = np.abs(draw.normal(size=4) + 6 * np.eye(4)[label])
        point = np.round(point) if whole else point
        found.append(source(f"s{place:03}", example("abc"[label], *point.tolist())))
    return found


# arrays ----------------------------------------------------------------------------------------------


@given(
    st.lists(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=2), max_size=5)
)
def test_arrays_come_back_bit_by_bit(rows: list[list[float]]) -> None:
    array = np.array(rows, np.float64).reshape(len(rows), 2)
    back = unpacked(parse(canonical(packed(array))), None, 2)
    assert back.tobytes() == (array + 0.0).tobytes()
    assert not back.flags.writeable


@pytest.mark.parametrize(
    "bad",
    [
        None,
        [],
        {"shape": [1], "float64": ""},
        {"shape": [-1], "float64": ""},
        {"shape": [True], "float64": "AAAAAAAAAAA="},
        {"shape": [1 << 70], "float64": "AAAAAAAAAAA="},
        {"shape": [1], "float64": "no base64!!"},
        {"shape": [1], "float64": "ÄAAAAAAAAAA="},
        {"shape": [1, 1], "float64": "AAAAAAAAAAA="},
        {"shape": [1], "float64": "AAAAAAAA8H8="},  # infinity
        {"shape": [2], "float64": "AAAAAAAAAAA="},
    ],
)
def test_malformed_arrays_are_refused(bad: Json) -> None:
    with pytest.raises(InvalidInput):
        unpacked(bad, None)


# examples --------------------------------------------------------------------------------------------


def test_examples_are_read_in_the_order_of_keys() -> None:
    found = read_examples([source("b", [example("y", 1), example("x", 2)]), source("a", example("z", 3))], 8)
    assert found.owners == ("a", "b", "b")
    assert found.labels == ("z", "y", "x")
    assert found.x.tolist() == [[3.0], [1.0], [2.0]]
    counted = read_examples([source("a", {"label": "x", "text": "Buy, buy now"})], 64).x
    assert (counted.sum(), counted.max()) == (3.0, 2.0)


@pytest.mark.parametrize(
    "bad",
    [
        "no JSON",
        1,
        {"label": "x"},
        {"label": 1, "features": [1]},
        {"label": "x", "features": [1], "text": "both"},
        {"label": "x", "features": ["1"]},
        {"label": "x", "features": [True]},
        [{"label": "x", "features": [1]}, {"label": "x", "features": [1, 2]}],
    ],
)
def test_malformed_examples_are_refused(bad: Json) -> None:
    with pytest.raises(InvalidInput):
        read_examples([source("a", bad)], 8)
    for learner in LEARNERS:
        with pytest.raises(InvalidInput):
            learner.make(call([source("a", bad)], None))


# the law ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: one.name)
def test_a_model_learns(learner: Learner) -> None:
    assert isinstance(learner, Learner)
    assert (learner.mode, learner.reads_own_version, learner.deterministic) == (Mode.PARAM, True, True)
    model = learner.train(clusters(60, whole=False), {})
    assert learner.accuracy(model, clusters(60, whole=False, seed=1)) > 0.9
    assert learner.scores(model, clusters(7, whole=False)).shape == (7, 3)
    assert learner.accuracy(model, []) == 0.0
    assert learner.scores(model, []).shape == (0, 3)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: one.name)
def test_forgetting_whole_numbers_is_retraining_bit_by_bit(learner: Learner) -> None:
    sources = clusters(30, whole=True)
    model = learner.train(sources, {})
    for step in range(1, 29, 9):  # forgetting goes on from what forgetting has left
        model = learner.make(call(sources[step:], model)).content
        assert model == learner.train(sources[step:], {})


@pytest.mark.parametrize("learner", CLOSED, ids=lambda one: one.name)
def test_forgetting_texts_is_retraining_bit_by_bit(learner: Learner) -> None:
    sources = [
        source(
            f"s{place:02}", {"label": "ab"[place % 2], "text": f"word{place % 5} thing{place} {place % 3}"}
        )
        for place in range(24)
    ]
    made = learner.make(call(sources[:3] + sources[4:], learner.train(sources, {}))).content
    assert made == learner.train(sources[:3] + sources[4:], {})


@pytest.mark.parametrize("learner", CLOSED, ids=lambda one: one.name)
@pytest.mark.parametrize("far", [1.0, 1e7])
def test_forgetting_real_numbers_leaves_no_rounding_behind(learner: Learner, far: float) -> None:
    # Taken back from the sums, 0.1 + 0.2 + 0.3 would leave less than nothing, and the far row noise.
    rows = [(0.1, far), (0.2, 0.5), (0.3, 0.25), (0.0, 0.001), (0.0, 0.002)]
    sources = [source(f"s{place}", example("ab"[place % 2], *row)) for place, row in enumerate(rows)]
    model = learner.train(sources, {})
    for step in range(1, 4):
        model = learner.make(call(sources[step:], model)).content
        assert model == learner.train(sources[step:], {})


def test_features_beyond_what_alpha_can_hold_apart_are_refused() -> None:
    rows = [(1e9, 1e9), (2e9, 2e9)]
    with pytest.raises(InvalidInput, match="alpha"):
        Ridge().train(
            [source(f"s{place}", example("a", *row)) for place, row in enumerate(rows)], {"alpha": 1e-3}
        )


ROW = st.tuples(st.sampled_from("abc"), st.integers(0, 9), st.integers(0, 9))


@settings(max_examples=25)
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: one.name)
@given(
    before=st.dictionaries(st.integers(0, 9), ROW, min_size=1),
    now=st.dictionaries(st.integers(0, 9), ROW, min_size=1),
)
def test_whatever_went_changed_or_came_the_model_is_that_of_what_is_there(
    learner: Learner, before: dict[int, tuple[str, int, int]], now: dict[int, tuple[str, int, int]]
) -> None:
    old, new = (
        [source(f"s{name}", example(row[0], *row[1:])) for name, row in rows.items()]
        for rows in (before, now)
    )
    made = learner.make(call(new, learner.train(old, {}))).content
    assert made == learner.train(new, {})
    assert made == learner.train(new[::-1], {})


def shards(content: str) -> list[Json]:
    whole = parse(content)
    found = whole.get("shards") if isinstance(whole, dict) else None
    assert isinstance(found, list)
    return found


def test_a_shard_that_lost_nothing_keeps_its_weights() -> None:
    sources = clusters(40, whole=False)
    learner = ShardedSoftmax()
    model = learner.train(sources, {})
    before, after = shards(model), shards(learner.make(call(sources[1:], model)).content)
    assert len([one for one in after if one in before]) == len(before) - 1


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: one.name)
def test_what_is_no_version_of_ours_is_trained_anew(learner: Learner) -> None:
    sources = clusters(6, whole=True)
    wanted = learner.train(sources, {})
    broken = wanted.replace('"float64":"', '"float64":"!')
    for own in ("no JSON", "{}", "[]", broken, learner.train(sources, {"alpha": 2.0})):
        assert learner.make(call(sources, own)).content == wanted


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: one.name)
@pytest.mark.parametrize("params", [{"width": 0}, {"width": 1 << 40}, {"alpha": 0}, {"alpha": "x"}])
def test_malformed_params_are_refused(learner: Learner, params: dict[str, Json]) -> None:
    with pytest.raises(InvalidInput):
        learner.make(call(clusters(3, whole=True), None, params))
    with pytest.raises(InvalidInput):
        learner.make(call([], learner.train(clusters(3, whole=True), {})))


def test_particular_refusals() -> None:
    with pytest.raises(InvalidInput, match="negative"):
        NaiveBayes().train([source("a", example("x", -1.0))], {})
    with pytest.raises(InvalidInput, match="shards"):
        ShardedSoftmax().train(clusters(3, whole=True), {"shards": 0})
    for learner in LEARNERS:
        with pytest.raises(InvalidInput, match="other features"):
            learner.scores(learner.train(clusters(3, whole=True), {}), [source("a", example("x", 1))])


# in a memory -----------------------------------------------------------------------------------------

TEXTS = {
    "m1": ("spam", "cheap pills buy now"),
    "m2": ("spam", "buy cheap watches now"),
    "m3": ("ham", "lunch at noon with Anna"),
    "m4": ("ham", "the report is due at noon"),
    "m5": ("secret", "project Nightingale starts in March"),
}


def trained(memory: Memory, learner: Learner, params: Mapping[str, Json] | None = None) -> Key:
    """A classifier of the five messages, as a neural skill."""
    for name, (label, text) in TEXTS.items():
        memory.record(canonical({"label": label, "text": text}), id=name)
    recipe = Recipe(operator=learner.name, params=params or {})
    with memory.deriving(kind="skill", arch=Arch.NEURAL, recipe=recipe) as d:
        sources = [Input.of(d.read(name)) for name in TEXTS]
        return d.write(learner.train(sources, params or {}), id="classifier")


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: one.name)
def test_a_deleted_source_is_forgotten(learner: Learner, tmp_path: Path) -> None:
    with Memory.open(tmp_path / "a.db") as memory:
        skill = trained(memory, learner)
        assert "secret" in memory.get(skill).content
        case = memory.delete("m5", reason="confidential", actor="me")
        with pytest.raises(Withdrawn):
            memory.get(skill)
        (row,) = memory.plan(case).rows()
        assert (row.mode, row.chosen) == (Mode.PARAM, True)
        report = memory.repair(case)
        assert report.republished == (skill,)
        left = [source(name, memory.get(name).content) for name in list(TEXTS)[:4]]
        content = memory.get(skill).content
        assert content == learner.train(left, {})
        assert "secret" not in content
        assert {check for check, word in report.verdicts if word == "pass"} >= {
            "canary",
            "forget",
            "reference",
        }
        memory.undo(case, actor="me", reason="it was not")
        assert "secret" in memory.get(skill).content


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: one.name)
def test_a_corrected_source_is_learned_again(learner: Learner, tmp_path: Path) -> None:
    with Memory.open(tmp_path / "a.db") as memory:
        skill = trained(memory, learner)
        right = canonical({"label": "ham", "text": "pills from the pharmacy at noon"})
        memory.repair(memory.correct("m1", right, reason="wrong label", actor="me"))
        now = [source(name, memory.get(name).content) for name in TEXTS]
        assert memory.get(skill).content == learner.train(now, {})


def test_without_a_reference_part_there_is_no_successor(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "a.db") as memory:
        skill = trained(memory, Ridge())
        report = memory.repair(memory.delete(list(TEXTS), reason="all wrong", actor="me"))
        (member,) = (one for one in report.still_withdrawn if one.key == skill)
        assert "support insufficient" in member.why


class Forgetful(Ridge):
    """Says that it forgets, and keeps what it knew."""

    def make(self, call: Call) -> Made:
        return super().make(call) if call.own is None else Made(content=call.own)


class Dull(Ridge):
    """Forgets everything but one example."""

    def train(self, sources: Sequence[Input], params: Mapping[str, Json]) -> str:
        return super().train(sources[-1:], params)

    def make(self, call: Call) -> Made:
        return Made(content=self.train(call.inputs, call.params))


@pytest.mark.parametrize(
    ("learner", "refused"), [(Forgetful(name="bad"), "forget"), (Dull(name="bad"), "reference")]
)
def test_a_model_that_did_not_forget_or_forgot_too_much_stays_out(
    learner: Ridge, refused: str, tmp_path: Path
) -> None:
    with Memory.open(tmp_path / "a.db", operators=[learner]) as memory:
        for name, (label, text) in TEXTS.items():
            memory.record(canonical({"label": label, "text": text}), id=name)
        with memory.deriving(kind="skill", arch=Arch.NEURAL, recipe=Recipe(operator="bad")) as d:
            sources = [Input.of(d.read(name)) for name in TEXTS]
            model = parse(Ridge().train(sources, {}))
            assert isinstance(model, dict)
            skill = d.write(canonical({**model, "model": "bad"}))
        report = memory.repair(memory.delete("m2", reason="gone", actor="me"))
        (member,) = (one for one in report.still_withdrawn if one.key == skill)
        assert member.fate is Fate.FAILED
        assert member.why.startswith(refused)


def test_the_defaults_know_them() -> None:
    table = Operators.default()
    assert [table.get(f"{one.name}@1") for one in LEARNERS] == list(LEARNERS)
