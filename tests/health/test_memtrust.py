"""Cases that others have published against faults of memory stores, each through the public door."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import memorepair as mr
from memorepair.errors import InvalidInput
from memorepair.governance import Policy
from memorepair.health import Expected, check_up
from memorepair.health.finding import Damage
from memorepair.housekeeping import Keeping
from memorepair.memory import points
from memorepair.memory.artifact import Draft, Embedding, Key, Slot
from memorepair.repair.ports import Remedy

Case = Mapping[str, Any]
ALL = Keeping(policy=Policy(confirmed=frozenset(Remedy)))
SIGNED: Any = {"actor": "ada", "reason": "a case"}

NOT_COVERED = {
    "ranking_quality": "hits are ranked by text or vector and by staleness, not by a field of the metadata",
    "extraction_quality/cases": "a memory keeps what is written: what is worth writing is for the writer",
    "extraction_quality/malformed_llm_response_cases": "no answer of a model is parsed on the way of a write",
}
"""Kinds that are not ours, and why."""


class Cut(Exception):
    """A process that dies."""


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[mr.Memory]:
    with mr.Memory.open(tmp_path / "agent.db") as opened:
        yield opened


@pytest.fixture
def cases(real_input: Callable[[str], Path]) -> Callable[..., list[Case]]:
    folder = real_input("memory-memtrust-cases")

    def load(name: str, part: str = "cases") -> list[Case]:
        found: list[Case] = json.loads((folder / f"{name}_cases.json").read_text(encoding="utf-8"))[part]
        assert found
        return found

    return load


def served(memory: mr.Memory) -> list[str]:
    return sorted(memory.get(one.key).content for one in memory.list(state="active"))


def test_every_kind_is_covered_or_says_why_not(real_input: Callable[[str], Path]) -> None:
    covered = {name.partition("_of_")[0].removeprefix("test_") for name in globals() if "_of_" in name}
    kinds: set[str] = set()
    for path in real_input("memory-memtrust-cases").glob("*_cases.json"):
        kind = path.name.removesuffix("_cases.json")
        parts = [part for part, value in json.loads(path.read_text()).items() if isinstance(value, list)]
        kinds |= {kind if part == "cases" and len(parts) == 1 else f"{kind}/{part}" for part in parts}
    named = {"feedback": "extraction_quality/feedback_loop_cases"}
    assert kinds == {named.get(one, one) for one in covered} | NOT_COVERED.keys()


def test_contradiction_of_two_facts_in_one_slot(memory: mr.Memory, cases: Callable[..., list[Case]]) -> None:
    """With the slot that the case names, the newer fact holds and the older is kept aside."""
    for case in cases("contradiction"):
        scope = ("session", case["session_id"])
        for side, value in (("initial_fact", "initial_value"), ("contradicting_fact", "updated_value")):
            memory.record(
                case[side],
                id=side,
                scope=scope,
                slot=Slot(entity="user", attribute=case["subject"], value=case[value]),
                metadata=case.get("metadata", {}),
            )
    found = memory.checkup(repair=True, keeping=_single(cases("contradiction")))
    assert found.checkup.counts() == {Damage.CONFLICTS: len(cases("contradiction"))}
    assert served(memory) == sorted(case["contradicting_fact"] for case in cases("contradiction"))
    for case in cases("contradiction"):
        older = Key(("session", case["session_id"]), "initial_fact")
        assert memory.inspect(older, **SIGNED).content == case["initial_fact"]
    assert memory.store.check() == []


def _single(found: list[Case]) -> Keeping:
    expected = Expected(single=frozenset(case["subject"] for case in found))
    return Keeping(policy=ALL.policy, expected=expected)


def test_contradiction_of_free_wording_is_never_passed_over(
    memory: mr.Memory, cases: Callable[..., list[Case]]
) -> None:
    """Without slots rules decide what they can, and the rest is for a judge or a person."""
    for case in cases("contradiction"):
        for side in ("initial_fact", "contradicting_fact"):
            memory.record(case[side], id=side, scope=("session", case["session_id"]))
    found = [one for one in check_up(memory.store).findings if one.damage is Damage.CONFLICTS]
    assert {one.keys[0].scope[1] for one in found} == {case["session_id"] for case in cases("contradiction")}


def embedding(vector: tuple[float, ...], model: str) -> Embedding:
    return Embedding(vector=vector, model=model, revision="1", normalised=True)


def test_embedding_drift_of_a_model_that_was_switched(
    tmp_path: Path, cases: Callable[..., list[Case]]
) -> None:
    """Both models' vectors stay, apart; the mixture is found; old records are still retrievable."""
    codes: set[str] = set()
    for case in cases("embedding_drift"):
        sizes = (768, 1536) if "768d" in case["model_a_label"] else (1536, 1536)
        with mr.Memory.open(tmp_path / f"{case['case_id']}.db", embedder=None) as memory:
            for side, dimension in zip("ab", sizes, strict=True):
                for n, record in enumerate(case[f"model_{side}_records"]):
                    vector = tuple(float(place == n) for place in range(dimension))
                    given = embedding(vector, case[f"model_{side}_label"])
                    memory.record(record["content"], id=f"{side}{n}", embedding=given)
            first = tuple(float(place == 0) for place in range(sizes[0]))
            hits = memory.search(embedding(first, case["model_a_label"]), by="vector")
            assert {hit.artifact.key.id[0] for hit in hits} == {"a"}
            assert hits[0].artifact.key.id == "a0"
            codes |= {one.code for one in check_up(memory.store, detectors=["embeddings"]).findings}
    assert codes == {"embedding_other_dimension", "embedding_other_model"}


def test_orphan_cleanup_of_a_whole_prefix(memory: mr.Memory, cases: Callable[..., list[Case]]) -> None:
    for case in cases("orphan_cleanup"):
        keys = [
            memory.record(file["content"], id=file["path_suffix"], scope=("files", case["case_id"]))
            for file in case["seed_files"]
        ]
        event = memory.delete(keys, **SIGNED, erase=True)
        memory.repair(event)
        assert memory.search("the", scope=("files", case["case_id"])) == []
        assert memory.list(scope=("files", case["case_id"]), state="active") == []
    assert [one for one in check_up(memory.store).findings if one.damage is Damage.STRUCTURE] == []
    assert memory.store.check() == []


def test_resource_sync_of_generated_files(memory: mr.Memory, cases: Callable[..., list[Case]]) -> None:
    """What the watcher made is made again, one less; what people put beside it stays, word for word."""
    for case in cases("resource_sync"):
        scope = ("files", case["case_id"])
        generated = [file for file in case["seed_files"] if file["origin"] == "generated"]
        mine = [file for file in case["seed_files"] if file["origin"] == "user"]
        drafts = [Draft(key=Key(scope, file["path_suffix"]), content=file["content"]) for file in generated]
        memory.merge(drafts)
        for file in mine:
            memory.record(file["content"], id=file["path_suffix"], scope=scope)
        synced = [Draft(key=draft.key, content=f"{draft.content} Synced.") for draft in drafts[1:]]
        memory.merge(synced, update=True)
        memory.delete(drafts[0].key, **SIGNED)
        left = {one.key.id: memory.get(one.key).content for one in memory.list(scope=scope, state="active")}
        assert {file["path_suffix"]: file["content"] for file in mine}.items() <= left.items()


def test_migration_rollback_of_a_swap_that_is_cut_off(
    tmp_path: Path, cases: Callable[..., list[Case]]
) -> None:
    for case in cases("migration_rollback"):
        path = tmp_path / f"{case['case_id']}.db"

        def cut(point: str) -> None:
            if point == points.COMMIT:
                raise Cut

        with mr.Memory.open(path) as memory:
            key = memory.record(case["content"], id="k")
            with pytest.raises(Cut), points.watched(cut):
                memory.record("migrated", id="k")
        with mr.Memory.open(path) as memory:
            assert memory.get(key).content == case["content"]
            assert memory.store.check() == []


def test_crash_recovery_of_an_index_that_is_lost(tmp_path: Path, cases: Callable[..., list[Case]]) -> None:
    path = tmp_path / "agent.db"
    with mr.Memory.open(path) as memory:
        for case in cases("crash_recovery"):
            memory.record(case["content"], id=case["case_id"])
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("INSERT INTO fts(fts) VALUES('delete-all')")
    with mr.Memory.open(path) as memory:
        word = "Tokyo"
        assert len(memory.search(word)) == 1  # a small scope is read, whatever the index says
        found = memory.checkup(repair=True)
        assert {one.code for one in found.checkup.findings} == {"index_damaged"}
        assert [one.proposal.remedy for one in found.outcomes if one.done] == [Remedy.REINDEX]
        assert len(memory.search(word)) == 1


def test_filter_injection_of_scopes(memory: mr.Memory, cases: Callable[..., list[Case]]) -> None:
    """A scope is texts; a number, which the cases call harmless, is refused as well, with a typed error."""
    memory.record("the secret of victim-a", scope=("user_id", "victim-a"))
    memory.record("what alice knows of a secret", scope=("user_id", "alice"))
    for case in cases("filter_injection"):
        scope: Any = (case["filter_key"], case["filter_value"])
        if isinstance(case["filter_value"], str):
            (hit,) = memory.search("secret", scope=scope)
            assert "alice" in hit.artifact.content
            continue
        with pytest.raises(InvalidInput):
            memory.search("secret", scope=scope)


def test_feedback_of_what_was_recalled(memory: mr.Memory, cases: Callable[..., list[Case]]) -> None:
    """A recalled memory that is extracted as a new one is a duplicate: one stays."""
    for case in cases("extraction_quality", "feedback_loop_cases"):
        scope = ("session", case["session_id"])
        memory.record(case["seed_content"], id="seed", scope=scope)
        (hit, *_) = memory.search(case["recall_query"], scope=scope, by="vector")
        memory.record(f"{hit.artifact.content} ", id="again", scope=scope)
        memory.record(f" {hit.artifact.content.upper()}", id="and again", scope=scope)
    memory.checkup(repair=True, keeping=ALL)
    left = served(memory)
    assert len(left) == len(cases("extraction_quality", "feedback_loop_cases"))
    for case in cases("extraction_quality", "feedback_loop_cases"):
        assert sum(case["unique_marker"].casefold() in text.casefold() for text in left) == 1


def test_compression_of_nothing(memory: mr.Memory, cases: Callable[..., list[Case]]) -> None:
    for case in cases("compression"):
        key = memory.record(case["content"], id=case["case_id"])
        assert memory.get(key).content == case["content"]


def test_language_degradation_of_other_scripts(memory: mr.Memory, cases: Callable[..., list[Case]]) -> None:
    found = cases("language_degradation")
    for case in found:
        memory.record(case["content"], id=case["case_id"])
    for case in found:
        (hit, *_) = memory.search(case["query"], by="vector")
        assert hit.artifact.key.id == case["case_id"]


def test_result_consistency_of_a_query_that_is_repeated(
    memory: mr.Memory, cases: Callable[..., list[Case]]
) -> None:
    for case in cases("result_consistency"):
        scope = ("session", case["session_id"])
        for n, record in enumerate(case["records"]):
            memory.record(record["content"], id=f"r{n}", scope=scope)
        told = {
            tuple(hit.artifact.key.id for hit in memory.search(case["query"], scope=scope, by="vector"))
            for _ in range(case["n_repeats"])
        }
        assert len(told) == 1
