"""Upstream's own answer to the migration of the users, compared with what a repair made of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from memorepair.adapters.files import locate, read_json
from memorepair.adapters.shapes import as_list, as_object, field
from memorepair.adapters.tau_bench.database import dumps
from memorepair.adapters.tau_bench.importer import key
from memorepair.facade import Memory
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import Case, Draft, Json, Key


def departures(
    memory: Memory, case: Case, drafts: Sequence[Draft], folder: Path
) -> tuple[tuple[Key, str], ...]:
    """What a memory, after a repair of all in `case`, holds otherwise than upstream's replay; empty if exact.

    Exact means: every user's row is the migrated database's; the caches that came out changed are the calls
    whose results a replay on it changes; every other withdrawn cache is served as it was, or stays withdrawn
    because of an observed record.

    Parameters
    ----------
    drafts
        As they were imported.
    folder
        Holds ``airline_users_after_migration.json`` and ``replay_answers.json`` besides the imported files.

    Raises
    ------
    InvalidFile
        One of the two is missing or malformed.
    """
    return tuple(sorted({*_rows(memory, folder), *_caches(memory, case, drafts, folder)}))


def _rows(memory: Memory, folder: Path) -> Iterator[tuple[Key, str]]:
    def read(value: Json) -> dict[Key, str]:
        return {key(f"users/{id}"): dumps(row) for id, row in as_object(value, "users").items()}

    expected = read_json(locate(folder, "airline_users_after_migration.json"), read)
    served = memory.store.served([*expected])
    for row, content in expected.items():
        if row not in served or served[row].content != content:
            yield row, "is not the migrated row"


def changed_by_replay(folder: Path) -> frozenset[Key]:
    """Calls whose results a replay on the migrated database changes."""

    def read(value: Json) -> frozenset[Key]:
        return frozenset(
            key(f"run-{run['task_id']}-{run['trial']}/call-{call['call_message']}")
            for run in (as_object(it, "run") for it in as_list(value, "runs"))
            for call in (as_object(it, "call") for it in as_list(field(run, "calls", "run"), "calls"))
            if call["result_changes_after_migration"]
        )

    return read_json(locate(folder, "replay_answers.json"), read)


def _caches(memory: Memory, case: Case, drafts: Sequence[Draft], folder: Path) -> Iterator[tuple[Key, str]]:
    members = {member.key for member in memory.store.members(case.id)}
    withdrawn = {it.key: it for it in drafts if it.key in members and it.kind is Kind.CACHE}
    served = memory.store.served([*withdrawn])
    changed = {it for it, now in served.items() if now.content != withdrawn[it].content}
    expected = changed_by_replay(folder)
    yield from ((it, "changed against the replay") for it in changed - expected)
    yield from ((it, "is not changed as in the replay") for it in expected - changed)
    observed = {draft.key for draft in drafts if draft.recipe.observed}
    candidates = memory.plan(case).candidates
    witness = dict(zip(candidates.keys, candidates.bars, strict=True))
    for it in withdrawn.keys() - served.keys() - expected:
        bar = witness.get(it)
        if bar is None or bar.witness[-1] not in observed:
            yield it, "stays withdrawn without an observed record as its witness"
