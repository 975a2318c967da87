"""Each verb of Memory: what it takes, what it refuses, and that a refusal has changed nothing."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memorepair as mr
from memorepair.errors import InvalidInput, StoreError, Tombstoned, UnknownId
from memorepair.graphs.terms import Arch, Relation
from memorepair.memory.artifact import Draft, Embedding, Source, Type
from memorepair.memory.capture import Derivation
from memorepair.memory.vectors import Space

HOME, PROFILE = "user/42::home", "user/42::profile"
SCOPE = ("user", "42")
SPACE = Space("other", "1", 3, normalised=False)
WHY: dict[str, Any] = {"reason": "r", "actor": "a"}
BIG = 10**400
NEW = mr.Key((), "new")

Verb = Callable[[mr.Memory], object]


def derive(**given: Any) -> Verb:
    """Open a derivation with these arguments, and write in it."""

    def run(memory: mr.Memory) -> None:
        arguments: dict[str, Any] = {"kind": "summary"} | given
        with memory.deriving(**arguments) as d:
            d.write("x")

    return run


def write(**given: Any) -> Verb:
    """Write in a derivation with these arguments."""

    def run(memory: mr.Memory) -> None:
        with memory.deriving(kind="summary") as d:
            arguments: dict[str, Any] = {"content": "x"} | given
            d.write(**arguments)

    return run


def read(*key: Any, **given: Any) -> Verb:
    """Read in a derivation with these arguments, then write."""

    def run(memory: mr.Memory) -> None:
        with memory.deriving(kind="summary") as d:
            d.read(*key, **given)
            d.write("x")

    return run


def call(verb: str, *arguments: Any, **given: Any) -> Verb:
    """Call a verb."""
    return lambda memory: getattr(memory, verb)(*arguments, **given)


NO_KEY: list[Any] = [None, 5, b"plain", ["plain"], "", "user//42::home", "user/42::", "a:::b/c\n"]
NO_SCOPE: list[Any] = ["user", "user/42", b"user", 5, (1, 2), ("a/b",), ("a:",), ("",), {"user": 1}, "\ud800"]
NO_TEXT: list[Any] = [None, 5, b"x", ["x"], "\ud800"]
NO_CASE: list[Any] = [None, "1", 1.0, True, [1], 0, -1, 99, 10**30, -(10**30)]
NO_NUMBER: list[Any] = ["x", math.nan, math.inf, -1.0, True, BIG, [1]]
NO_WAIT: list[Any] = [None, *NO_NUMBER]
NO_LIMIT: list[Any] = [0, -1, 1.5, "x", True, 2**63]
NO_NAME: list[Any] = [None, "", "  ", 5, ["x"]]
NO_OBJECT: list[Any] = [[1], "abc", 5, {1: "x"}, {"a": math.nan}, {"a": object()}]
NO_CORRECTION: list[Any] = [{}, {5: "x"}, {HOME: 5}, {HOME: None}, {"nobody": "x"}]
NO_MIGRATION: list[Any] = [{}, {HOME: "iface"}, {HOME: None}]
NO_CONTRACT: list[Any] = [None, 5, "iface", {}]
NO_INTERFACE: list[tuple[Any, Any]] = [("q", "x"), (None, "x"), (NEW, 5), (NEW, "\ud800")]
NO_RECIPE: list[Any] = [5, "summarise", {}, "", False]

DESCRIBED: list[tuple[str, list[Any]]] = [
    ("content", NO_TEXT),
    ("id", [5, b"x", "", "a\n", ["x"]]),
    ("scope", NO_SCOPE),
    ("kind", ["cash", 0, 5, b"record", ["record"]]),
    ("arch", ["gothic", 0, 5]),
    ("source", ["gossip", 5]),
    ("type", ["rumour", 5]),
    ("slot", ["ab", ("a",), ("a", "b", "c", "d"), (1, 2), 5]),
    ("confidence", [*NO_NUMBER, 1.5]),
    ("metadata", NO_OBJECT),
    ("embedding", [(1.0,), "x"]),
    ("semantic", [5, ["nobody"], [5], "nobody", b"x"]),
    ("recipe", NO_RECIPE),
]
NAMED: list[tuple[str, list[Any]]] = [("actor", [5, b"x", ["x"], "\ud800"]), ("reason", [5, ["x"], "\ud800"])]
DERIVED: list[tuple[str, list[Any]]] = [
    *((name, values) for name, values in DESCRIBED if name in ("scope", "kind", "arch", "source", "recipe")),
    ("relation", ["hearsay", 5]),
    ("operator", ["", 5, "summarise@1", b"x", "a\n"]),
    ("operator_version", [None, "", 5, "1@2"]),
    ("params", NO_OBJECT),
    ("on_stale", [None, "ignore", 5]),
    *NAMED,
]
PLANNED: list[tuple[str, list[Any]]] = [
    ("tradeoff", ["x", math.nan, math.inf, -1.0, [1]]),
    ("ties", ["some", None, 5, ["most"]]),
    ("solver", ["oracle", None, 5, ["pseudoflow"]]),
]


def opened(memory: mr.Memory, **given: Any) -> None:
    """Begin a run with these arguments."""
    with memory.run(**given):
        pass


NO_HOUSE: tuple[object, ...] = (5, "x", {})
NO_SORT: tuple[Any, ...] = ("poem", 9, None)
NO_WAY: tuple[dict[str, Any], ...] = ({"id": "x"}, {"isolated": 1})


def table() -> dict[str, list[Verb]]:
    """Verb -> calls that it must refuse."""
    found: dict[str, list[Verb]] = {
        "record": [
            *(
                call("record", **{"content": "x"} | {name: value})
                for name, values in (*DESCRIBED, *NAMED)
                for value in values
            ),
            call("record", "x", allow_tombstoned=True),
            call("record", "x", allow_tombstoned=True, actor=" ", reason="r"),
        ],
        "deriving": [
            *(derive(**{name: value}) for name, values in DERIVED for value in values),
            *(write(**{name: value}) for name, values in DESCRIBED for value in values),
            derive(operator="summarise", recipe=mr.Recipe()),
            derive(allow_tombstoned=True),
            *(read(value) for value in (*NO_KEY, "nobody", PROFILE)),
            *(read("plain", relation=value) for value in ("hearsay", 5)),
            *(read("plain", group=value) for value in ("x", 1.5, -1, True, None, 2**63)),
        ],
        "ingest": [
            *(call("ingest", value) for value in (None, 5, ["x"], [None], "x", {"x": 1})),
            *(call("ingest", [], **{name: value}) for name, values in NAMED for value in values),
        ],
        "register": [call("register", value) for value in (None, 5, "x", len)],
        "get": [call("get", value) for value in (*NO_KEY, "nobody", PROFILE)],
        "search": [
            *(call("search", value) for value in (None, 5, b"x", "x" * 5_000)),
            *(call("search", "x", scope=value) for value in (None, *NO_SCOPE)),
            *(call("search", "x", limit=value) for value in NO_LIMIT),
        ],
        "list": [
            *(call("list", scope=value) for value in NO_SCOPE),
            *(call("list", kind=value) for value in ("cash", 5)),
            *(call("list", state=value) for value in ("gone", 5)),
            *(call("list", limit=value) for value in NO_LIMIT),
        ],
        "derived": [
            *(lambda memory, kind=value: memory.derived(kind=kind)(len) for value in NO_SORT),
            *(call("derived", kind="summary", operator=value) for value in ("", "a@b", 5)),
            *(lambda memory, more=more: memory.derived(kind="summary", **more)(len) for more in NO_WAY),
        ],
        "tool": [
            *(call("tool", value) for value in (None, 5, "tool")),
            *(call("tool", len, name=value) for value in ("", "a@b", 5)),
            call("tool", len, observed="yes"),
            call("tool", len, reads=HOME),
            call("tool", dict),
        ],
        "generator": [
            *(call("generator", value) for value in (None, 5)),
            *(call("generator", len, operator=value) for value in ("", "a@b", 5)),
        ],
        "history": [call("history", value) for value in (*NO_KEY, "nobody")],
        "explain": [call("explain", value) for value in (*NO_KEY, "nobody")],
        "inspect": [
            *(call("inspect", value, **WHY) for value in (*NO_KEY, "nobody")),
            *(call("inspect", HOME, **WHY | {name: value}) for name in WHY for value in NO_NAME),
            *(call("inspect", HOME, **WHY, version=value) for value in (0, 7, "1", 1.5, [1], BIG)),
        ],
        "delete": [
            *(call("delete", value, **WHY) for value in (None, 5, "", b"", [5], [], "nobody", [HOME, HOME])),
            *(call("delete", HOME, **WHY | {name: value}) for name in WHY for value in NO_NAME),
            *(call("delete", HOME, **WHY, suspected=value) for value in (-1, 2, "x", float("nan"), True)),
        ],
        "correct": [
            *(call("correct", value, "x", **WHY) for value in (*NO_KEY, "nobody")),
            *(call("correct", HOME, value, **WHY) for value in NO_TEXT),
            *(call("correct", value, **WHY) for value in NO_CORRECTION),
            call("correct", {HOME: "x"}, "x", **WHY),
            call("correct", {HOME: "x", mr.Key(SCOPE, "home"): "y"}, **WHY),
            *(call("correct", HOME, "x", **WHY | {name: value}) for name in WHY for value in NO_NAME),
        ],
        "migrate": [
            *(call("migrate", HOME, value, **WHY) for value in NO_CONTRACT),
            *(call("migrate", value, **WHY) for value in NO_MIGRATION),
            *(
                call("migrate", HOME, mr.Interface(key=NEW, content="x"), rows=value, **WHY)
                for value in (5, "nobody@1", ["x"])
            ),
            *(
                lambda memory, key=key, content=content: memory.migrate(
                    HOME, mr.Interface(key=key, content=content), **WHY
                )
                for key, content in NO_INTERFACE
            ),
        ],
        "audit_provenance": [
            *(call("audit_provenance", declared=value) for value in (5, ["x"], {"x": 5}, {"x": "record"})),
            *(call("audit_provenance", declared={"x": [value]}) for value in (5, "story")),
            *(call("audit_provenance", seed=value) for value in (-1, 1.5, "1", True)),
            call("audit_provenance", progress="x"),
        ],
        "probe": [
            *(call("probe", value, budget=1) for value in (None, 5, [5], ["id"])),
            *(call("probe", [], budget=value) for value in NO_NUMBER if value is not None),
        ],
        "accept": [
            *(call("accept", value, **WHY) for value in (None, 5, [5], ["id"])),
            *(call("accept", [], **WHY | {name: value}) for name in WHY for value in NO_NAME),
        ],
        "reject": [
            *(call("reject", value, **WHY) for value in (None, 5, [5], ["id"])),
            *(call("reject", [], **WHY | {name: value}) for name in WHY for value in NO_NAME),
        ],
        "plan": [
            *(call("plan", value) for value in NO_CASE),
            *(call("plan", 1, **{name: value}) for name, values in PLANNED for value in values),
        ],
        "repair": [
            *(call("repair", value) for value in NO_CASE),
            *(call("repair", 1, **{name: value}) for name, values in PLANNED for value in values),
            *(call("repair", 1, wait=value) for value in NO_WAIT),
            *(call("repair", 1, suspected=value) for value in (-1, 2, "x", float("nan"), True)),
            *(call("repair", 1, progress=value) for value in ("x", 5)),
        ],
        "reembed": [
            *(call("reembed", **WHY | {name: value}) for name in WHY for value in NO_NAME),
            *(call("reembed", **WHY, batch=value) for value in (0, -1, 1.5, "1", True, None)),
            *(call("reembed", **WHY, keep_days=value) for value in NO_WAIT),
            *(call("reembed", **WHY, bounds=value) for value in (None, 0.2)),
            call("reembed", **WHY, progress="x"),
        ],
        "check_vectors": [
            *(call("check_vectors", rows=value) for value in (0, -1, 1.5, "1", True)),
            call("check_vectors", progress="x"),
        ],
        "feedback": [
            *(call("feedback", accepted=value) for value in (None, 1, "yes")),
            *(call("feedback", accepted=True, scope=value) for value in ("user/42", 5, None)),
        ],
        "leave": [
            *(call("leave", value, **WHY) for value in NO_NAME),
            *(call("leave", "berlin", **WHY | {name: value}) for name in WHY for value in NO_NAME),
            *(call("leave", "berlin", **WHY, weight=value) for value in (-1, 2, "x", True, None)),
            *(call("leave", "berlin", **WHY, scope=value) for value in ("user/42", 5, None)),
            call("leave", "berlin", **WHY, dry_run=1),
        ],
        "index_vectors": [call("index_vectors", progress="x")],
        "drop_vectors": [
            *(call("drop_vectors", value, **WHY) for value in (None, 5, "model", ("m", "1", 3, False))),
            *(call("drop_vectors", SPACE, **WHY | {name: value}) for name in WHY for value in NO_NAME),
            *(call("drop_vectors", SPACE, **WHY, early=value) for value in (1, "yes", None)),
        ],
        "undo": [
            *(call("undo", value, **WHY) for value in NO_CASE),
            *(call("undo", 1, **WHY | {name: value}) for name in WHY for value in NO_NAME),
            *(call("undo", 1, **WHY, wait=value) for value in NO_WAIT),
        ],
        "erase": [
            *(call("erase", value, **WHY) for value in NO_CASE),
            *(call("erase", 1, **WHY | {name: value}) for name in WHY for value in NO_NAME),
            *(call("erase", 1, **WHY, wait=value) for value in NO_WAIT),
            call("erase", 1, **WHY),  # a correction
        ],
        "receipt": [call("receipt", value) for value in NO_CASE if value not in (0, -1, 99)],
        "prune": [
            *(call("prune", value) for value in (*NO_NUMBER, 1, 10**7)),
            *(call("prune", **{name: value}) for name, values in NAMED for value in values),
        ],
        "merge": [call("merge", value) for value in (None, 5, [5], [None])],
        "housekeeper": [call("housekeeper", NO_HOUSE[n]) for n in range(len(NO_HOUSE))],
        "checkup": [
            *(call("checkup", keeping=value) for value in (5, "x")),
            *(call("checkup", since=value) for value in (-1, "x", 1.5)),
            *(call("checkup", progress=value) for value in ("x", 5)),
        ],
        "patrol": [
            *(call("patrol", value) for value in (5, ["holiday"], [5])),
            *(call("patrol", keeping=value) for value in (5, "x")),
            call("patrol", progress="x"),
        ],
        "run": [
            *(lambda memory, value=value: opened(memory, task=value) for value in NO_TEXT),
            *(lambda memory, value=value: opened(memory, task="t", scope=value) for value in ("s", 5)),
            *(lambda memory, value=value: opened(memory, task="t", id=value) for value in ("a/b", "", 5)),
        ],
        "runs": [call("runs", scope=value) for value in ("user/42", 5, ("",))],
        "trace": [call("trace", value) for value in ("nobody", ("user", "42"), "", 5)],
        "recover": [
            *(call("recover", value, [HOME], **WHY) for value in ("nobody", ("user", "42"), 5)),
            *(call("recover", "r", [HOME], **WHY | {name: value}) for name in WHY for value in NO_NAME),
        ],
        "replay": [
            *(call("replay", value, "nobody", len) for value in NO_CASE),
            call("replay", 1, "nobody", len),
        ],
    }
    return found


TABLE = table()


def public(kind: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(kind, inspect.isroutine) if not name.startswith("_")}


def test_every_verb_has_its_bad_arguments() -> None:
    assert set(TABLE) == public(mr.Memory) - {"open", "close", "status", "statistics", "vectors", "retrieval"}
    assert {"read", "write", "release", "bound"} == public(Derivation)


@pytest.mark.parametrize(
    "verb", [pytest.param(verb, id=f"{name}-{n}") for name in TABLE for n, verb in enumerate(TABLE[name])]
)
def test_a_bad_argument_is_a_typed_error_that_has_changed_nothing(memory: mr.Memory, verb: Verb) -> None:
    before = memory.store.snapshot(), memory.store.journal(None), memory.store.cases()
    with pytest.raises((InvalidInput, UnknownId, mr.Withdrawn)) as caught:
        verb(memory)
    assert str(caught.value)
    assert (memory.store.snapshot(), memory.store.journal(None), memory.store.cases()) == before


@pytest.mark.parametrize(
    "given",
    [
        {"path": None},
        {"path": 5},
        {"path": b""},
        {"path": ""},
        {"path": ":memory:"},
        *({"retention_days": value} for value in (None, *NO_NUMBER)),
        {"clock": 5},
        {"generator": 5},
        {"generator": len},
        {"pricing": 5},
        {"operators": 5},
        {"operators": [5]},
        {"operators": "ab"},
        {"checks": 5},
        {"checks": [5]},
    ],
    ids=str,
)
def test_a_memory_that_cannot_be_opened_leaves_nothing_behind(given: dict[str, Any], tmp_path: Path) -> None:
    arguments: dict[str, Any] = {"path": tmp_path / "agent.db"} | given
    with pytest.raises(InvalidInput):
        mr.Memory.open(**arguments)
    assert list(tmp_path.iterdir()) == []


def test_the_shorthand_is_the_same_for_a_record_and_for_a_derivation(memory: mr.Memory) -> None:
    described: dict[str, Any] = {
        "content": "described",
        "kind": "skill",
        "arch": "prompt",
        "source": "tool",
        "type": "fact",
        "slot": ("Mei", "home", "Lyon"),
        "semantic": ["plain", mr.Key(SCOPE, "home")],
        "scope": ["list", "is", "fine"],
    }
    recorded = memory.record(**described, id="r")
    with memory.deriving(kind="cache", arch="none", source="log", relation="cite", scope=SCOPE) as d:
        d.read("plain", relation="support", group=2)
        d.read(HOME)
        derived = d.write(**described, id="d")
        plain = d.write("as the derivation says")
    one, other = memory.get(recorded), memory.get(str(derived))
    for name in ("kind", "arch", "source", "type", "slot", "metadata"):
        assert getattr(one, name) == getattr(other, name)
    assert one.slot == mr.Slot(entity="Mei", attribute="home", value="Lyon")
    assert (one.kind, one.arch, one.source, one.type) == (mr.Kind.SKILL, Arch.PROMPT, Source.TOOL, Type.FACT)
    assert (memory.get(plain).kind, memory.get(plain).source, plain.scope) == (
        mr.Kind.CACHE,
        Source.LOG,
        SCOPE,
    )
    near = memory.store.snapshot().semantic
    assert [key for key, _ in near].count(recorded) == [key for key, _ in near].count(derived) == 2
    arcs = [(arc.parent.id, arc.relation, arc.group) for arc in memory.store.support([derived])]
    assert arcs == [("plain", Relation.SUPPORT, 2), ("home", Relation.CITE, 0)]


def test_a_text_as_scope_is_refused_with_what_was_meant(memory: mr.Memory) -> None:
    for refused in (
        call("record", "x", scope="user"),
        write(scope="user"),
        call("search", "x", scope="user"),
    ):
        with pytest.raises(InvalidInput, match=r"scope=\('user',\)"):
            refused(memory)


def test_keys_may_be_one_or_several_everywhere(memory: mr.Memory) -> None:
    case = memory.delete("plain", dry_run=True, **WHY)
    assert case.roots == (mr.Key((), "plain"),)
    both = memory.delete(["plain", mr.Key(SCOPE, "home")], dry_run=True, **WHY)
    assert both.roots == (mr.Key((), "plain"), mr.Key(SCOPE, "home"))


def test_a_memory_may_be_open_to_read_alone(memory: mr.Memory) -> None:
    path = memory.store.path
    memory.store.set_status(1, memory.store.case(1).status)
    with mr.Memory.open(path, readonly=True) as reader:
        assert reader.get(HOME).content == "She lives in Paris."
        assert reader.search("lives", scope=SCOPE)
        assert reader.status().open_cases[0].id == 1
        assert reader.plan(1).case == 1
        assert reader.explain(PROFILE).case is not None
        assert reader.store.check() == []
        for verb in (
            call("record", "x"),
            call("delete", HOME, **WHY),
            call("repair", 1),
            call("inspect", HOME, **WHY),
            call("prune"),
        ):
            with pytest.raises(StoreError, match="read-only"):
                verb(reader)
    with pytest.raises(StoreError):
        mr.Memory.open(path.with_name("none.db"), readonly=True)
    assert not path.with_name("none.db").exists()


def test_a_closed_memory_says_so(memory: mr.Memory) -> None:
    memory.close()
    closed: list[Verb] = [
        call("record", "x"),
        derive(),
        read("plain"),
        call("ingest", [Draft(key=NEW, content="x")]),
        call("get", HOME),
        call("search", "x"),
        call("list"),
        call("history", HOME),
        call("explain", HOME),
        call("inspect", HOME, **WHY),
        call("status"),
        call("delete", HOME, **WHY),
        call("correct", HOME, "x", **WHY),
        call("migrate", HOME, mr.Interface(key=NEW, content="x"), **WHY),
        call("plan", 1),
        call("repair", 1),
        call("undo", 1, **WHY),
        call("erase", 1, **WHY),
        call("receipt", 1),
        call("prune"),
    ]
    for verb in closed:
        with pytest.raises(StoreError, match="closed"):
            verb(memory)
    memory.close()


def test_a_repair_does_not_bring_back_what_was_removed(memory: mr.Memory) -> None:
    # The summary of likes alone would say again what the deletion of `same` forbids.
    same = memory.record("She likes tea. ", id="same", scope=SCOPE)
    memory.delete(same, **WHY)
    for verb in (
        call("record", "she likes  TEA.", scope=SCOPE),
        write(content="She likes tea.", scope=SCOPE),
    ):
        with pytest.raises(Tombstoned):
            verb(memory)
    memory.delete(HOME, **WHY)
    report = memory.repair(1)
    (left,) = (member for member in report.still_withdrawn if member.key.id == "profile")
    assert "must not be learned again" in left.why
    with pytest.raises(mr.Withdrawn):
        memory.get(PROFILE)
    memory.record("She likes tea.", id="elsewhere")  # another scope


def test_an_embedding_comes_back(memory: mr.Memory) -> None:
    embedding = Embedding(vector=(1.0, 0.5), model="m", revision="1", normalised=False)
    assert memory.get(memory.record("x", embedding=embedding)).embedding == embedding


@pytest.mark.parametrize(
    "act",
    [
        lambda m: m.delete("a", erase="no", reason="r", actor="me"),
        lambda m: m.delete("a", dry_run="no", reason="r", actor="me"),
        lambda m: m.correct("a", "x", dry_run="no", reason="r", actor="me"),
        lambda m: m.undo(1, dry_run="no", reason="r", actor="me"),
        lambda m: m.erase(1, dry_run="no", reason="r", actor="me"),
        lambda m: m.prune(dry_run="no"),
        lambda m: m.merge([], update="no"),
        lambda m: m.merge([], dry_run="no"),
        lambda m: m.record("x", allow_tombstoned="no"),
        lambda m: m.ingest([], allow_tombstoned="no"),
        lambda m: m.deriving(kind="summary", allow_tombstoned="no"),
        lambda m: m.checkup(repair="no"),
        lambda m: m.checkup(dry_run="no"),
        lambda m: m.reembed(dry_run="no", reason="r", actor="me"),
        lambda m: m.recover("run", "a", dry_run="no", reason="r", actor="me"),
    ],
)
def test_a_word_is_no_yes(tmp_path: Path, act: Callable[[Any], object]) -> None:
    with mr.Memory.open(tmp_path / "agent.db") as memory:
        memory.record("text", id="a")
        before = memory.store.journal()
        with pytest.raises(InvalidInput, match="True or False"):
            act(memory)
        assert memory.store.journal() == before
