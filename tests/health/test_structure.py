"""Level 1: each damage of structure is found where it is, and a sound store has none."""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from memorepair.errors import InvalidInput, MemoRepairError, StepFailed
from memorepair.graphs.terms import Kind, Relation
from memorepair.health import CheckUp, Damage, Expected, Finding, Level, check_up
from memorepair.health.detector import Asked, Found
from memorepair.health.rows import Rows
from memorepair.memory.artifact import Draft, Embedding, Key, Read, Recipe, Slot, Type
from memorepair.memory.sqlite import SqliteStore
from memorepair.memory.vectors import HashedNgrams, Space

SCOPE = ("user", "1")
STRUCTURE = ("required", "metadata", "embeddings", "provenance", "barriers", "scopes")

Examine = Callable[..., CheckUp]
Tamper = Callable[..., None]


def write(store: SqliteStore, *texts: str) -> list[Key]:
    """Records t0, t1, ... of the texts."""
    keys = [Key(SCOPE, f"t{number}") for number in range(len(texts))]
    store.write([Draft(key=key, content=text) for key, text in zip(keys, texts, strict=True)])
    return keys


def found(checked: CheckUp, code: str) -> list[Finding]:
    return [finding for finding in checked.findings if finding.code == code]


def ids(checked: CheckUp, code: str) -> list[tuple[str, ...]]:
    return [tuple(key.id for key in finding.keys) for finding in found(checked, code)]


def meta(store: SqliteStore, tamper: Tamper, key: Key, **said: object) -> None:
    tamper(
        "UPDATE content SET meta = ? WHERE vid = (SELECT cur FROM artifact WHERE id = ?)",
        json.dumps(said),
        key.id,
    )


@dataclass(frozen=True)
class Raising:
    """A detector of somebody's own, with a mistake in it."""

    raised: Exception
    name: str = "own"
    level: Level = Level.STRUCTURE
    damages: frozenset[Damage] = frozenset()

    def find(self, rows: Rows, asked: Asked) -> Found:
        raise self.raised


@pytest.mark.parametrize(
    "raised", [KeyError("Lives in Paris"), InvalidInput("no such colour", witness="red")]
)
def test_a_detector_that_raises_is_told_by_name_without_content(
    store: SqliteStore, raised: Exception
) -> None:
    write(store, "Lives in Paris")
    with pytest.raises(MemoRepairError) as caught:
        check_up(store, detectors=[Raising(raised)])
    if raised is not caught.value:
        assert isinstance(caught.value, StepFailed)
        assert (str(caught.value), caught.value.witness) == ("the detector own has raised KeyError", "own")
    else:
        assert isinstance(raised, InvalidInput)


def test_a_sound_store_has_no_finding(store: SqliteStore, examine: Examine) -> None:
    home, *_ = write(store, "Lives in Paris", "Works at the town hall", "Plays the cello on Sundays")
    store.write(
        [
            Draft(
                key=Key(SCOPE, "profile"),
                content="A cellist from Paris",
                kind=Kind.SUMMARY,
                recipe=Recipe(operator="summarise"),
                reads=(Read(key=home),),
            )
        ]
    )
    assert examine().findings == ()


def test_a_check_up_of_an_empty_store_finds_nothing(examine: Examine) -> None:
    checked = examine()
    assert (checked.findings, checked.artifacts) == ((), 0)


@pytest.mark.parametrize("since", [None, 0, 2])
def test_a_check_up_writes_nothing(store: SqliteStore, examine: Examine, since: int | None) -> None:
    write(store, "Lives in Paris", "Lives in Paris", "Lives in Lyon", "")
    before = (store.path.read_bytes(), store.journal(None), store.counts())
    assert examine(since=since).findings
    assert (store.path.read_bytes(), store.journal(None), store.counts()) == before


@pytest.mark.parametrize("blank", ["", "  \n\t"])
def test_empty_content(store: SqliteStore, examine: Examine, blank: str) -> None:
    write(store, "Lives in Paris", blank)
    (finding,) = examine(*STRUCTURE).findings
    assert (finding.code, finding.damage, finding.level) == (
        "content_empty",
        Damage.STRUCTURE,
        Level.STRUCTURE,
    )
    assert [key.id for key in finding.keys] == ["t1"]
    assert finding.versions == (1,)


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({"source": None}, "missing_source"),
        ({"source": "a stranger"}, "missing_source"),
        ({"type": "rumour"}, "metadata_invalid"),
        ({"slot": ["only", "three", "parts"]}, "metadata_invalid"),
        ({"slot": ["", 3, None, True, None, None, None]}, "metadata_invalid"),
        ({"confidence": 7}, "metadata_invalid"),
        ({"metadata": [1, 2]}, "metadata_invalid"),
    ],
)
def test_descriptions_that_no_write_makes(
    store: SqliteStore, tamper: Tamper, examine: Examine, said: dict[str, object], code: str
) -> None:
    _, key = write(store, "Lives in Paris", "Plays the cello")
    meta(store, tamper, key, **said)
    assert [(finding.code, finding.keys) for finding in examine(*STRUCTURE).findings] == [(code, (key,))]


@pytest.mark.parametrize("text", ["not json", "[1]", "{", "null", '{"a": ' + "[" * 100_000])
def test_a_description_that_is_no_object(
    store: SqliteStore, tamper: Tamper, examine: Examine, text: str
) -> None:
    (key,) = write(store, "Lives in Paris")
    tamper("UPDATE content SET meta = ?", text)
    assert {finding.code for finding in examine(*STRUCTURE).findings} == {
        "metadata_invalid",
        "missing_source",
    }
    assert {finding.keys for finding in examine(*STRUCTURE).findings} == {(key,)}


@pytest.mark.parametrize("state", [9, 77, "open"])
def test_an_illegal_status(store: SqliteStore, tamper: Tamper, examine: Examine, state: object) -> None:
    write(store, "Lives in Paris", "Plays the cello")
    tamper("INSERT INTO barrier(vid, state, cause) VALUES(1, ?, NULL)", state)
    assert ids(examine(*STRUCTURE), "illegal_status") == [("t0",)]


def test_an_illegal_kind_and_time(store: SqliteStore, tamper: Tamper, examine: Examine) -> None:
    write(store, "Lives in Paris", "Plays the cello", "Owns a boat")
    tamper("UPDATE version SET kind = 9 WHERE vid = 1")
    tamper("UPDATE version SET born = 'yesterday' WHERE vid = 2")
    tamper("UPDATE version SET arch = 'brick' WHERE vid = 3")
    checked = examine(*STRUCTURE)
    assert ids(checked, "illegal_kind") == [("t0",)]
    assert ids(checked, "illegal_time") == [("t1",)]
    assert ids(checked, "illegal_arch") == [("t2",)]


def test_a_missing_scope_is_one_only_where_scopes_are_in_use(store: SqliteStore, examine: Examine) -> None:
    write(store, *(f"fact number {n} about ships" for n in range(40)))
    store.write([Draft(key=Key((), "lost"), content="Plays the cello")])
    (finding,) = found(examine(*STRUCTURE), "missing_scope")
    assert (finding.keys, finding.damage) == ((Key((), "lost"),), Damage.SCOPE)
    for n in range(5):
        store.write([Draft(key=Key((), f"shared {n}"), content=f"shared fact {n}")])
    assert found(examine(*STRUCTURE), "missing_scope") == []


def test_metadata_that_others_of_its_sort_have(store: SqliteStore, examine: Examine) -> None:
    drafts = [
        Draft(
            key=Key(SCOPE, f"p{n}"),
            content=f"prefers seat {n}",
            type=Type.PREFERENCE,
            metadata={"batch": n} if n == 7 else {"scene": "travel", "batch": n},
        )
        for n in range(60)
    ]
    store.write(drafts)
    (finding,) = found(examine(*STRUCTURE), "metadata_missing")
    assert [key.id for key in finding.keys] == ["p7"]
    assert finding.measured["missing"] == "scene"
    assert finding.confidence == pytest.approx(59 / 60)


def test_metadata_against_a_schema(store: SqliteStore, examine: Examine) -> None:
    store.write(
        [
            Draft(key=Key(SCOPE, "a"), content="x y", type=Type.FACT, metadata={"batch": 3}),
            Draft(key=Key(SCOPE, "b"), content="y z", type=Type.FACT, metadata={"batch": "three"}),
            Draft(key=Key(SCOPE, "c"), content="z x", metadata={"batch": "three"}),
        ]
    )
    wanted = Expected(schemas={"fact": {"properties": {"batch": {"type": "integer"}}}})
    assert ids(examine("metadata", expected=wanted), "metadata_schema") == [("b",)]
    everything = Expected(schemas={"record": {"required": ["batch", "writer"]}})
    assert ids(examine("metadata", expected=everything), "metadata_schema") == [("a",), ("b",), ("c",)]


# vectors --------------------------------------------------------------------------------------------------


def vector(*numbers: float, model: str = "m", normalised: bool = True) -> Embedding:
    return Embedding(vector=numbers, model=model, revision="1", normalised=normalised)


def put(store: SqliteStore, *embeddings: Embedding | None) -> None:
    store.write(
        [
            Draft(key=Key(SCOPE, f"v{n}"), content=f"text {n}", embedding=one)
            for n, one in enumerate(embeddings)
        ]
    )


def test_a_vector_of_another_length_than_its_space(
    store: SqliteStore, tamper: Tamper, examine: Examine
) -> None:
    put(store, *[vector(0.6, 0.8)] * 4)
    tamper("UPDATE vector SET v = zeroblob(12) WHERE row = 2")
    tamper("UPDATE vector SET v = zeroblob(7) WHERE row = 3")
    checked = examine(*STRUCTURE)
    assert ids(checked, "embedding_dim_mismatch") == [("v1",), ("v2",)]
    assert ids(checked, "embedding_not_finite") == [("v2",)]


def test_a_vector_whose_space_is_gone(store: SqliteStore, tamper: Tamper, examine: Examine) -> None:
    put(store, *[vector(0.6, 0.8)] * 3)
    tamper("UPDATE vector SET space = 99 WHERE row = 3")
    assert ids(examine(*STRUCTURE), "embedding_space_unknown") == [("v2",)]


def test_a_vector_that_is_not_normalised_among_those_that_are(store: SqliteStore, examine: Examine) -> None:
    put(store, vector(0.6, 0.8), vector(3.0, 4.0), vector(0.0, 1.0), vector(0.6, 0.81))
    assert ids(examine(*STRUCTURE), "embedding_norm") == [("v1",)]


def test_two_normalisations_in_a_space_that_promises_none(store: SqliteStore, examine: Examine) -> None:
    unit = [vector(0.6, 0.8, normalised=False)] * 30
    put(store, *unit, vector(3.0, 4.0, normalised=False))
    assert ids(examine(*STRUCTURE), "embedding_norm") == [("v30",)]


def test_lengths_that_vary_are_no_finding(store: SqliteStore, examine: Examine) -> None:
    put(store, *[vector(float(n), 1.0, normalised=False) for n in range(30)])
    assert examine(*STRUCTURE).findings == ()


def test_two_models_and_two_dimensions_in_one_store(store: SqliteStore, examine: Examine) -> None:
    put(store, *[vector(0.6, 0.8)] * 4, vector(1.0, 0.0, 0.0), vector(0.6, 0.8, model="other"))
    checked = examine(*STRUCTURE)
    assert ids(checked, "embedding_other_dimension") == [("v4",)]
    assert ids(checked, "embedding_other_model") == [("v5",)]
    assert {finding.damage for finding in checked.findings} == {Damage.DRIFT}


def test_a_store_of_384_dimensions_meets_a_model_of_256(store: SqliteStore, examine: Examine) -> None:
    put(store, *[vector(*[1.0] + [0.0] * 383)] * 3)
    wanted = Space("m", "2", 256, normalised=True)
    checked = examine("embeddings", expected=Expected(space=wanted))
    assert ids(checked, "embedding_other_dimension") == [("v0",), ("v1",), ("v2",)]


def test_real_vectors_of_two_dimensions(
    store: SqliteStore, examine: Examine, real_input: Callable[[str], Path]
) -> None:
    recorded = json.loads(
        lzma.decompress((real_input("embeddings-otel-openai") / "embeddings.json.xz").read_bytes())
    )
    vectors = [
        vector(*one["embedding"], model=answer["model"])
        for answer in recorded
        for one in answer["data"]
        if isinstance(one["embedding"], list)
    ]
    assert {len(one.vector) for one in vectors} == {512, 1536}
    put(store, *vectors)
    small = [(f"v{n}",) for n, one in enumerate(vectors) if len(one.vector) == 512]
    checked = examine(*STRUCTURE)
    assert ids(checked, "embedding_other_dimension") == small
    assert len(checked.findings) == len(small)


def test_a_vector_that_is_missing(store: SqliteStore, examine: Examine) -> None:
    put(store, vector(0.6, 0.8), vector(0.6, 0.8), None)
    assert ids(examine(*STRUCTURE), "embedding_missing") == [("v2",)]


def test_vectors_that_most_lack_are_told_by_their_number(store: SqliteStore, examine: Examine) -> None:
    put(store, vector(0.6, 0.8), None, None, None)
    checked = examine(*STRUCTURE)
    assert ids(checked, "embedding_missing") == []
    assert checked.left_out == ("3 without a vector, where fewer than half have one",)


def test_vectors_that_the_store_made_are_sound(tmp_path: Path) -> None:
    embedded = SqliteStore.open(
        tmp_path / "other.db", embedder=HashedNgrams(), clock=lambda: 1_700_000_000 * 10**9
    )
    with embedded:
        write(embedded, "Lives in Paris", "用户喜欢茶", "Plays the cello")
        assert check_up(embedded, detectors=STRUCTURE).findings == ()


# provenance -----------------------------------------------------------------------------------------------


@pytest.fixture
def derive(store: SqliteStore) -> Callable[..., Key]:
    """Write a summary that reads the keys."""

    def make(id: str, *reads: Key, kind: Kind = Kind.SUMMARY, observed: bool = False) -> Key:
        key = Key(SCOPE, id)
        recipe = Recipe(operator="summarise", observed=observed)
        store.write(
            [
                Draft(
                    key=key,
                    content=f"about {id}",
                    kind=kind,
                    recipe=recipe,
                    reads=tuple(Read(key=read) for read in reads),
                )
            ]
        )
        return key

    return make


def test_a_reference_to_what_is_not_there(
    store: SqliteStore, tamper: Tamper, examine: Examine, derive: Callable[..., Key]
) -> None:
    a, b = write(store, "Lives in Paris", "Plays the cello")
    derive("one", a)
    derive("two", a, b)
    tamper("UPDATE arc SET src_vid = 999 WHERE src = 2")
    tamper("INSERT INTO arc(src, src_vid, dst, rel, grp, pos) VALUES(1, 1, 777, 0, 0, 0)")
    checked = examine("provenance")
    assert ids(checked, "dangling_reference") == [("two",)]
    assert [finding.measured["arcs"] for finding in found(checked, "dangling_arc")] == [1]


def test_a_derivation_that_stands_on_nothing(
    store: SqliteStore, examine: Examine, derive: Callable[..., Key]
) -> None:
    (a,) = write(store, "Lives in Paris")
    derive("grounded", a)
    derive("floating")
    derive("computed", kind=Kind.CACHE)
    derive("seen", kind=Kind.CACHE, observed=True)
    assert ids(examine("provenance"), "derived_without_provenance") == [("floating",), ("computed",)]


def test_a_cycle_and_a_loop(
    store: SqliteStore, tamper: Tamper, examine: Examine, derive: Callable[..., Key]
) -> None:
    (a,) = write(store, "Lives in Paris")
    b = derive("b", a)
    derive("c", b)
    tamper("INSERT INTO arc(src, src_vid, dst, rel, grp, pos) VALUES(3, 3, 2, 0, 0, 9)")
    tamper("INSERT INTO arc(src, src_vid, dst, rel, grp, pos) VALUES(1, 1, 1, 0, 0, 9)")
    assert sorted(ids(examine("provenance"), "provenance_cycle")) == [("b", "c"), ("t0",)]


def test_likeness_to_what_is_not_there(store: SqliteStore, tamper: Tamper, examine: Examine) -> None:
    a, _ = write(store, "Lives in Paris", "Plays the cello")
    store.write([Draft(key=Key(SCOPE, "like"), content="Paris and so on", semantic=(a,))])
    assert found(examine("provenance"), "dangling_likeness") == []
    tamper("UPDATE semantic SET src = 99")
    assert ids(examine("provenance"), "dangling_likeness") == [("like",)]


def test_barriers_and_successors_without_an_event(
    store: SqliteStore, tamper: Tamper, examine: Examine
) -> None:
    a, b, c, d = write(store, "Lives in Paris", "Plays the cello", "Owns a boat", "Likes tea")
    store.open_case(event="delete", roots=[d], actor="user:1", reason="gone")
    assert examine("barriers").findings == ()
    tamper("INSERT INTO barrier(vid, state, cause) VALUES(1, 1, NULL)")
    tamper("INSERT INTO barrier(vid, state, cause) VALUES(2, 2, 55)")
    tamper("INSERT INTO staged(vid, cause) VALUES(3, 1)")
    checked = examine("barriers")
    assert ids(checked, "barrier_without_event") == [(a.id,), (b.id,)]
    assert ids(checked, "orphaned_successor") == [(c.id,)]


def test_an_old_side_that_is_still_served(store: SqliteStore, examine: Examine) -> None:
    (old,) = write(store, "Likes tea")
    new = Draft(
        key=Key(SCOPE, "new"), content="Likes coffee", reads=(Read(key=old, relation=Relation.SUPERSEDE),)
    )
    store.write([new])
    assert ids(examine("barriers"), "superseded_still_served") == [("t0", "new")]


# scopes ---------------------------------------------------------------------------------------------------


def test_what_was_made_from_anothers_memory(store: SqliteStore, examine: Examine) -> None:
    theirs = Key(("user", "2"), "secret")
    ours, shared = Key(("user", "1", "work"), "plan"), Key((), "house rules")
    store.write([Draft(key=key, content=f"about {key.id}") for key in (theirs, ours, shared)])
    for n, read in enumerate((theirs, ours, shared)):
        store.write([Draft(key=Key(SCOPE, f"d{n}"), content=f"text {n}", reads=(Read(key=read),))])
    (finding,) = found(examine("scopes"), "scope_crossed")
    assert finding.keys == (theirs, Key(SCOPE, "d0"))
    assert finding.damage is Damage.SCOPE


def test_an_owner_in_two_places(store: SqliteStore, examine: Examine) -> None:
    drafts = [
        Draft(
            key=Key(("user", str(user)), f"m{n}"),
            content=f"memory {n} of {user}",
            metadata={"user_id": user, "colour": "blue" if n % 2 else "red"},
            slot=Slot(entity=f"user {user}", attribute=f"a{n}"),
        )
        for user in (1, 2, 3)
        for n in range(12)
    ]
    store.write(drafts)
    assert examine("scopes").findings == ()
    store.write(
        [
            Draft(key=Key(("user", "2"), "stray"), content="moved here", metadata={"user_id": 1}),
            Draft(
                key=Key(("user", "3"), "slotted"),
                content="and here",
                slot=Slot(entity="user 2", attribute="z"),
            ),
        ]
    )
    assert sorted(ids(examine("scopes"), "scope_stray")) == [("slotted",), ("stray",)]


def test_findings_are_json_without_content(store: SqliteStore, tamper: Tamper, examine: Examine) -> None:
    write(store, "The secret word is xyzzy", "The secret word is xyzzy", "")
    checked = examine()
    read = json.loads(json.dumps(checked.to_json(), allow_nan=False))
    assert {finding["code"] for finding in read["findings"]} == {"content_empty", "duplicate_exact"}
    assert "xyzzy" not in json.dumps(read)


def test_what_is_out_of_service_is_not_read(store: SqliteStore, examine: Examine) -> None:
    a, _ = write(store, "The secret word is xyzzy", "The secret word is xyzzy")
    store.open_case(event="delete", roots=[a], actor="user:1", reason="gone")
    assert examine("duplicates", "conflicts", "required").findings == ()
    assert store.survey().texts[0] is None
