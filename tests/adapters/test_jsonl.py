"""JSON Lines: out and in again is the same to the byte; an import changes nothing that is here unasked."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memorepair.adapters.jsonl import export_jsonl, import_jsonl, read_jsonl, reading
from memorepair.errors import InvalidFile, InvalidInput, Tombstoned, Withdrawn
from memorepair.facade import Memory
from memorepair.graphs.terms import Arch, Kind, Relation
from memorepair.memory.artifact import (
    Draft,
    Embedding,
    Key,
    Read,
    Recipe,
    Slot,
    Source,
    State,
    TaskCase,
    Type,
)
from memorepair.memory.exchange import MergeReport

SCOPE = ("user", "42")
Opened = Callable[[str], Memory]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    """Memories by name, closed at the end."""
    memories: dict[str, Memory] = {}

    def open(name: str) -> Memory:
        if name not in memories:
            memories[name] = Memory.open(tmp_path / f"{name}.db")
        return memories[name]

    yield open
    for memory in memories.values():
        memory.close()


def text_of(memory: Memory, *, full: bool = False) -> bytes:
    stream = io.BytesIO()
    signature: dict[str, Any] = {"with_withdrawn": True, "actor": "ada", "reason": "backup"} if full else {}
    export_jsonl(memory, stream, **signature)
    return stream.getvalue()


def bring(memory: Memory, text: bytes, **how: Any) -> MergeReport:
    return import_jsonl(memory, io.BytesIO(text), **how)


def why(report: MergeReport) -> dict[str, str]:
    return {one.key.id: one.why for one in report.refused}


def filled(memory: Memory) -> Memory:
    """Every field, every kind of past."""
    a = memory.record(
        "Lives in Paris, 住在巴黎\u2028\0",
        id="home",
        scope=SCOPE,
        source=Source.EXTRACTION,
        type=Type.FACT,
        slot=Slot(entity="u", attribute="home", value="Paris", polarity=False, scene="x", valid_from=1.5),
        confidence=0.1,
        metadata={"z": [1, 2.5, None, {"b": True, "a": "é"}], "a": 10**30},
        embedding=Embedding(vector=(0.1, -2.5e-8), model="m", revision="1", normalised=False),
        recipe=Recipe(
            operator="f",
            version="2",
            params={"b": 1, "a": 2},
            schema={"type": "object"},
            cases=(TaskCase(name="c", contains=("Paris",), excludes=("Rome",)),),
            value=3.5,
            cost=2,
        ),
    )
    memory.record("x1", id="x")
    memory.record("x2", id="x")
    memory.ingest(
        [
            Draft(
                key=Key(SCOPE, "skill"),
                content="steps",
                kind=Kind.SKILL,
                arch=Arch.CHAIN,
                reads=(
                    Read(key=Key((), "x"), relation=Relation.CITE, group=2),
                    Read(key=a, relation=Relation.SUPPORT, group=1),
                    Read(key=Key((), "x"), relation=Relation.SUPERSEDE),
                ),
                semantic=(a,),
            ),
            Draft(key=Key((), "aa"), content="a cycle", reads=(Read(key=Key((), "ab")),)),
            Draft(key=Key((), "ab"), content="a cycle too", reads=(Read(key=Key((), "aa")),)),
        ]
    )
    for id in ("gone", "hidden", "wrong", "erased"):
        memory.record(f"Secret-{id}", id=id, scope=SCOPE)
    memory.delete(Key(SCOPE, "gone"), actor="ada", reason="r")
    memory.correct(Key(SCOPE, "wrong"), "put right", actor="ada", reason="r")
    memory.erase(
        memory.delete(Key(SCOPE, "erased"), actor="ada", reason="r", erase=True), actor="a", reason="r"
    )
    memory.store.close_case(memory.delete(Key(SCOPE, "hidden"), actor="ada", reason="r").id)
    return memory


@pytest.mark.parametrize("full", [False, True])
def test_out_and_in_again_is_the_same_to_the_byte(opened: Opened, full: bool) -> None:
    text = text_of(filled(opened("one")), full=full)
    report = bring(opened("two"), text)
    assert (report.refused, report.same, report.versions) == ((), 0, text.count(b"\n") - 1)
    assert text_of(opened("two"), full=full) == text
    assert opened("two").store.check() == []
    assert bring(opened("two"), text) == MergeReport(
        written=(), updated=(), same=len(report.written), refused=(), versions=0, arcs=0
    )
    assert text_of(opened("two"), full=full) == text
    one, two = opened("one"), opened("two")
    assert [(it.key, it.state, it.version) for it in one.list()] == [
        (it.key, it.state, it.version) for it in two.list()
    ]
    assert [hit.artifact.key for hit in one.search("Paris", scope=SCOPE)] == [
        hit.artifact.key for hit in two.search("Paris", scope=SCOPE)
    ]
    assert one.get("user/42::home").embedding == two.get("user/42::home").embedding


def test_only_a_full_backup_holds_what_has_left_service(opened: Opened) -> None:
    memory = filled(opened("one"))
    served, full = text_of(memory), text_of(memory, full=True)
    assert b"Secret-" not in served
    assert {id for id in ("gone", "hidden", "wrong", "erased") if f"Secret-{id}".encode() in full} == {
        "gone", "hidden", "wrong",
    }  # fmt: skip
    entry = memory.store.journal(1)[0]
    assert (entry.act, entry.actor, entry.reason, entry.rows) == ("export", "ada", "backup", 3)
    for actor, reason in (("", "r"), ("a", "")):
        with pytest.raises(InvalidInput):
            export_jsonl(memory, io.BytesIO(), with_withdrawn=True, actor=actor, reason=reason)
    with pytest.raises(InvalidInput):
        export_jsonl(memory, io.BytesIO(), actor="a", reason="r")


def test_what_came_in_behind_the_barrier_stays_there(opened: Opened) -> None:
    filled(opened("one"))
    for name, full in (("two", False), ("three", True)):
        memory = opened(name)
        bring(memory, text_of(opened("one"), full=full))
        for id in ("gone", "hidden", "erased"):
            with pytest.raises(Withdrawn):
                memory.get(Key(SCOPE, id))
        assert "Secret" not in repr(memory.history(Key(SCOPE, "wrong")))
        assert memory.explain(Key(SCOPE, "gone")).why == "withdrawn: by no case of this memory"


def line(id: str, content: str | None = None, **more: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "scope": list(SCOPE), "id": id, "version": 1, "current": True, "kind": "record", "created_at": 5,
    }  # fmt: skip
    if content is None:
        made |= {"barred": True, "state": "withdrawn"}
    else:
        made |= {"content": content, "state": "active", "source": "user"}
    return made | more


def file(*lines: dict[str, Any], **head: Any) -> bytes:
    keys = {(tuple(one.get("scope", ())), one.get("id")) for one in lines}
    first = {
        "format": "memorepair.memory", "version": 1, "content": "served",
        "artifacts": len(keys), "versions": len(lines),
    }  # fmt: skip
    return "".join(json.dumps(one) + "\n" for one in (first | head, *lines)).encode()


def reads(id: str, version: int = 1, relation: str = "derive") -> list[dict[str, Any]]:
    return [{"scope": list(SCOPE), "id": id, "version": version, "relation": relation, "group": 0}]


def test_no_state_from_outside_lifts_a_barrier(opened: Opened) -> None:
    memory = opened("one")
    a = memory.record("Secret-1", id="a", scope=SCOPE)
    b = memory.record("Secret-2", id="b", scope=SCOPE)
    memory.delete(a, actor="ada", reason="r")
    memory.correct(b, "put right", actor="ada", reason="r")
    forged = file(
        line("a", "Secret-1"),
        line("b", "Secret-2"),
        line("c", "SECRET-1"),
        line("d", "said of a", reads=reads("a")),
        line("e", "said of d", reads=reads("d")),
        line("f", "free"),
    )
    for update in (False, True):
        report = bring(memory, forged, update=update)
        assert why(report) == {
            "a": "out of service", "b": "removed", "c": "forbidden", "d": "out of service", "e": "stands on",
        }  # fmt: skip
        assert memory.get(b).content == "put right"
        with pytest.raises(Withdrawn):
            memory.get(a)
    assert report.same == 1
    assert "Secret" not in repr(memory.search("secret", scope=SCOPE))
    assert memory.store.check() == []


def test_nothing_is_served_that_stands_on_what_the_file_says_is_out(opened: Opened) -> None:
    memory = opened("one")
    report = bring(memory, file(line("out"), line("on", "x", reads=reads("out")), line("off", "y")))
    assert why(report) == {"on": "out of service"}
    assert memory.list(state="active")[0].key.id == "off"
    lineage = file(line("out2"), line("on2", "x", reads=reads("out2", relation="supersede")))
    assert why(bring(memory, lineage)) == {}


def test_what_differs_is_refused_unless_asked(opened: Opened) -> None:
    memory = opened("one")
    a = memory.record("here", id="a", scope=SCOPE, metadata={"k": 1})
    other = file(line("a", "there"), line("b", "made from a", reads=reads("a")))
    assert why(bring(memory, other)) == {"a": "differs", "b": "stands on"}
    assert why(bring(memory, file(line("a", "here", metadata={"k": 2})))) == {"a": "differs"}
    assert bring(memory, file(line("a", "here", metadata={"k": 1}))).same == 1
    dry = bring(memory, other, update=True, dry_run=True)
    assert (len(dry.updated), len(dry.written)) == (1, 1)
    assert memory.get(a).content == "here"
    assert bring(memory, other, update=True, actor="ada", reason="newer") == dry
    assert (memory.get(a).content, memory.get(a).version) == ("there", 2)
    assert [one.key for one in memory.explain("user/42::b").parents] == [a]
    case = memory.delete(a, actor="x", reason="r")
    assert case.withdrawn == 2


def test_a_withdrawal_there_withdraws_nothing_here(opened: Opened) -> None:
    memory = opened("one")
    a = memory.record("here", id="a", scope=SCOPE)
    assert why(bring(memory, file(line("a")), update=True)) == {"a": "out of service"}
    assert memory.get(a).content == "here"


BAD: list[tuple[int, bytes]] = [
    (1, b""),
    (1, b"\n"),
    (1, b"[]\n"),
    (1, file(format="other")),
    (1, file(version=2)),
    (1, file(content="some")),
    (1, file(line("a", "x"), versions=2)),
    (1, file(line("a", "x"), artifacts=2)),
    (1, file(extra=1)),
    (3, file(line("a", "x")) + b"{"),
    (2, file(line("a", "x")).replace(b'"state"', b'"state": "withdrawn", "state"')),
    (2, file(line("a", "x", state="withdrawn"))),
    (2, file(line("a", "x", state="superseded"))),
    (2, file(line("a", "x", barred=True))),
    (2, file(line("a", "x", barred=True, state="erased"))),
    (2, file(line("a", state="active"))),
    (2, file(line("a", metadata={}))),
    (2, file(line("a", "x", barred=1))),
    (2, file(line("a", "x", current=False, state="superseded"))),
    (2, file(line("a", "x", version=0))),
    (2, file(line("a", "x", version=2**63))),
    (3, file(line("a", "x", version=2), line("a", "y", current=False, state="superseded"))),
    (2, file(line("a", "x", version=True))),
    (2, file(line("a", "x", created_at=-1))),
    (2, file(line("a", "x", created_at=2**63))),
    (2, file(line("a", "x", created_at=1.5))),
    (2, file(line("a", "x", confidence=float("nan")))),
    (2, file(line("a", "x", confidence=2))),
    (2, file(line("a", "x", confidence="1"))),
    (2, file(line("a", "x", kind="thing"))),
    (2, file(line("a", "x", kind=3))),
    (2, file(line("a", "x", unknown=1))),
    (2, file(line("a", "x", metadata=[]))),
    (2, file(line("a", "x", recipe={"operator": "f"}))),
    (2, file(line("a", "x", slot={"entity": "e"}))),
    (2, file(line("a", "x", embedding={"vector": [1e300], "model": "m", "revision": "1"}))),
    (2, file(line("a", "x", reads=reads("b")))),
    (2, file(line("a", "x", reads=reads("a", 2)))),
    (2, file(line("a", "x", reads=reads("a", 0)))),
    (2, file(line("a", "x", reads=[{**reads("a")[0], "group": -1}]))),
    (2, file(line("a", "x", semantic=[{"scope": [], "id": "b"}]))),
    (2, file(line("a", "\ud800"))),
    (2, file(line("", "x"))),
    (2, file(line("a", "x", scope=["a/b"]))),
    (2, file(line("a", "x", scope="ab"))),
    (2, file(line("a", "x")).replace(b'"x"', b'"\xff"')),
    (2, file(line("a", "x")).replace(b'"x"', b"[" * 100_000)),
    (3, file(line("a", "x"), line("a", "y"))),
    (3, file(line("a", "x"), line("a", "y", version=2))),
    (4, file(line("a", "x"), line("b", "x"), line("a", "x"))),
]


@pytest.mark.parametrize(("number", "text"), BAD)
def test_a_bad_line_is_named_and_nothing_is_stored(opened: Opened, number: int, text: bytes) -> None:
    memory = opened("one")
    with pytest.raises(InvalidFile) as caught:
        bring(memory, text)
    assert caught.value.witness == number
    assert caught.value.message.startswith(f"line {number}: ")
    assert memory.list() == []


def test_a_line_has_a_limit(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LINE_LIMIT", 200)
    with pytest.raises(InvalidFile) as caught:
        bring(opened("one"), file(line("a", "x" * 300)))
    assert caught.value.witness == 2


def test_files_are_replaced_when_whole(opened: Opened, tmp_path: Path) -> None:
    memory = opened("one")
    memory.record("x", id="a")
    target = tmp_path / "out.jsonl"
    target.write_text("before")
    steps: list[tuple[str, int, int]] = []
    report = export_jsonl(memory, target, progress=lambda *step: steps.append(step))
    assert (report.artifacts, report.versions, report.content, report.entry) == (1, 1, 1, None)
    assert steps == [("versions", 1, 1)]
    assert [item.key.id for item in read_jsonl(target)] == ["a"]
    assert not list(tmp_path.glob("*.part"))

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    before = target.read_bytes()
    with pytest.raises(KeyboardInterrupt):
        export_jsonl(memory, target, progress=fail)
    assert target.read_bytes() == before
    assert not list(tmp_path.glob("*.part"))
    with pytest.raises(InvalidFile):
        read_jsonl(tmp_path / "nothing.jsonl")


def test_an_imported_deletion_forbids_nothing_but_its_key(opened: Opened) -> None:
    memory = opened("one")
    bring(memory, file(line("a", state="erased"), line("b")))
    with pytest.raises(Withdrawn):
        memory.record("x", id="a", scope=SCOPE)
    memory.record("x", id="c", scope=SCOPE)
    case = memory.delete(Key(SCOPE, "c"), actor="x", reason="r")
    with pytest.raises(Tombstoned):
        memory.record("X", id="d", scope=SCOPE)
    assert memory.repair(case).case.status == "closed"
    assert {one.state for one in memory.list()} == {State.ERASED, State.WITHDRAWN, State.ARCHIVED}


def test_a_clock_that_was_put_back_makes_no_backup_that_cannot_be_read(
    tmp_path: Path, opened: Opened
) -> None:
    times = iter([9_000, 5_000, 7_000, 6_000, *range(10_000, 10_100)])
    with Memory.open(tmp_path / "clock.db", clock=lambda: next(times)) as memory:
        for said in ("first", "second", "third"):
            memory.record(said, id="a")
        text = text_of(memory)
    copy = opened("copy")
    assert bring(copy, text).refused == ()
    assert text_of(copy) == text
    assert [past.content for past in copy.history("a")] == ["first", "second", "third"]
    assert copy.store.check() == []


def test_a_stream_of_text_is_no_file(opened: Opened) -> None:
    memory = opened("one")
    stream: Any = io.StringIO("{}")
    with pytest.raises(InvalidInput, match="bytes"):
        export_jsonl(memory, stream)
    with pytest.raises(InvalidInput, match="bytes"):
        import_jsonl(memory, stream)


TEXTS = st.text(max_size=12)
JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(TEXTS, st.dictionaries(TEXTS, JSON, max_size=3)), min_size=1, max_size=5))
def test_whatever_can_be_stored_comes_back(
    tmp_path_factory: pytest.TempPathFactory, made: list[tuple[str, dict[str, Any]]]
) -> None:
    folder = tmp_path_factory.mktemp("round")
    with Memory.open(folder / "one.db") as one, Memory.open(folder / "two.db") as two:
        for n, (content, metadata) in enumerate(made):
            one.record(content, id=str(n % 3), metadata=metadata, recipe=Recipe(params=metadata))
        text = text_of(one)
        bring(two, text)
        assert text_of(two) == text
