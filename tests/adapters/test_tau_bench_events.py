"""Three real events on real runs keep the laws of the nave."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from memorepair.adapters.shapes import Row, as_object
from memorepair.adapters.tau_bench import import_tau_bench
from memorepair.adapters.tau_bench.answers import changed_by_replay, departures
from memorepair.adapters.tau_bench.database import Database, describe, dumps
from memorepair.adapters.tau_bench.events import (
    declare,
    largest_cascade,
    moved,
    reached,
    three_events,
    with_state,
)
from memorepair.adapters.tau_bench.importer import SCOPE, Import, key
from memorepair.adapters.tau_bench.operators import OPERATORS
from memorepair.errors import InvalidFile, Withdrawn
from memorepair.facade import Memory
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import Case, Key, State
from memorepair.memory.snapshot import Snapshot
from memorepair.repair.events import RepairEvent
from memorepair.repair.jsontext import parse
from memorepair.repair.soundness import exposed, is_sound_publication, soundness_violations

NAMES = ("correct", "delete", "migrate")
SMALL = NAMES[:2]
"""The migration's repair takes seconds: one run that repairs all has a test, the default price the bench."""


@pytest.fixture(scope="module")
def imported(made: Import, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed memory that holds the runs."""
    file = tmp_path_factory.mktemp("imported") / "runs.db"
    with Memory.open(file) as memory:
        memory.ingest(made.drafts)
    return file


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """An event on a fresh copy of the memory, the barrier up."""

    memory: Memory
    event: RepairEvent
    case: Case
    before: Snapshot

    @property
    def members(self) -> set[Key]:
        return {member.key for member in self.memory.store.members(self.case.id)}


Declare = Callable[[str], Declared]


@pytest.fixture
def declared(imported: Path, made: Import, tmp_path: Path) -> Iterator[Declare]:
    with ExitStack() as opened:

        def start(name: str) -> Declared:
            for part in imported.parent.glob(f"{imported.name}*"):
                shutil.copy2(part, tmp_path / part.name)
            event = three_events(made.drafts)[name]
            memory = opened.enter_context(Memory.open(tmp_path / imported.name, create=False))
            before = memory.store.snapshot()
            return Declared(memory=memory, event=event, case=declare(memory, event), before=before)

        yield start


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_served_behind_the_barrier(name: str, declared: Declare, made: Import) -> None:
    it = declared(name)
    drafts = {draft.key: draft for draft in made.drafts}
    assert it.members == reached(it.event.roots, made.drafts)
    assert it.case.withdrawn == len(it.members)
    hidden = it.members - set(it.event.roots)
    for member in hidden:
        with pytest.raises(Withdrawn):
            it.memory.get(member)
        assert [past.content for past in it.memory.history(member)] == [None]
    for word in {drafts[member].content.split()[0] for member in hidden if drafts[member].content}:
        hits = it.memory.search(word, scope=SCOPE, limit=len(drafts))
        assert not hidden & {hit.artifact.key for hit in hits}
    assert is_sound_publication(it.before, it.event, it.memory.store.snapshot())


@pytest.mark.parametrize("name", SMALL)
def test_a_repair_at_the_default_price_is_sound(name: str, declared: Declare) -> None:
    it = declared(name)
    report = it.memory.repair(it.case)
    after = it.memory.store.snapshot()
    assert soundness_violations(it.before, it.event, after) == ()
    assert exposed(it.before, it.event, after) == ()
    back = {
        member for member in it.members - set(it.event.roots) if after.current[member].state is State.ACTIVE
    }
    assert back == {*report.republished, *report.released, *report.unchanged}
    assert back


@pytest.mark.parametrize("name", SMALL)
def test_what_acted_on_the_world_is_never_made_again(name: str, declared: Declare, made: Import) -> None:
    it = declared(name)
    it.memory.repair(it.case, solver="repair-all")
    observed = {draft.key for draft in made.drafts if draft.recipe.observed} & it.members
    assert observed
    after = it.memory.store.snapshot()
    for member in observed:
        assert after.current[member].state is State.WITHDRAWN
        assert after.current[member].version == 1


def test_a_corrected_user_s_details_are_those_of_the_correction(declared: Declare, made: Import) -> None:
    it = declared("correct")
    it.memory.repair(it.case, solver="repair-all")
    (user,) = it.event.roots
    corrected = it.memory.get(user).content
    details = [
        draft.key
        for draft in made.drafts
        if draft.kind is Kind.CACHE and [read.key for read in draft.reads] == [user]
    ]
    assert len(details) > 1
    assert {it.memory.get(read).content for read in details} == {corrected}


def test_a_deleted_reservation_is_gone_wherever_it_was_shown(declared: Declare, made: Import) -> None:
    it = declared("delete")
    it.memory.repair(it.case, solver="repair-all")
    (root,) = it.event.roots
    row = next(draft.content for draft in made.drafts if draft.key == root)
    for draft in made.drafts:
        if row in draft.content:
            with pytest.raises(Withdrawn):
                it.memory.get(draft.key)


def test_the_migration_is_exactly_upstream_s_in_a_run_that_repairs_all(
    declared: Declare, made: Import, tau_bench: Path
) -> None:
    it = declared("migrate")
    it.memory.repair(it.case, solver="repair-all")
    assert len(changed_by_replay(tau_bench)) == 85
    assert departures(it.memory, it.case, made.drafts, tau_bench) == ()
    after = it.memory.store.snapshot()
    assert soundness_violations(it.before, it.event, after) == ()
    observed = {draft.key for draft in made.drafts if draft.recipe.observed} & it.members
    assert {after.current[member].state for member in observed} == {State.WITHDRAWN}


def test_the_comparison_sees_a_migration_that_was_not_repaired(
    declared: Declare, made: Import, tau_bench: Path
) -> None:
    it = declared("migrate")
    assert len(departures(it.memory, it.case, made.drafts, tau_bench)) == 500 + 85


def test_the_interface_after_the_migration_is_the_one_observed_in_the_rows_after_it(
    database: Database, migrated: dict[str, Row]
) -> None:
    before = describe("users", database.users.values())
    assert with_state(before) == describe("users", migrated.values(), version=2)


def test_a_correction_touches_address_and_payment_methods_only(database: Database) -> None:
    for row in [*database.users.values()][:20]:
        after = as_object(parse(moved(dumps(row))), "user")
        assert [*after] == [*row]
        assert {name for name in row if after[name] != row[name]} == {"address", "payment_methods"}


def test_the_largest_cascade_is_the_largest(made: Import) -> None:
    sizes = {
        draft.key: len(reached([draft.key], made.drafts))
        for draft in made.drafts
        if draft.key.id.startswith("users/s")
    }
    assert sizes[largest_cascade(made.drafts, "users/s")] == max(sizes.values())


def test_an_import_is_one_transaction_and_its_operators_are_found(
    tau_bench: Path, made: Import, tmp_path: Path
) -> None:
    steps: list[tuple[str, int, int]] = []
    with Memory.open(tmp_path / "fresh.db") as memory:
        with pytest.raises(InvalidFile):
            import_tau_bench(memory, tmp_path)
        assert memory.list() == []
        report = import_tau_bench(memory, tau_bench, progress=lambda *step: steps.append(step))
        assert report == made.report
        assert len(memory.list()) == report.artifacts
        assert memory.get(key("users/mia_li_3668")).content.startswith('{"name": {"first_name": "Mia"')
        for operator in OPERATORS:
            assert memory.operators.get(f"{operator.name}@{operator.version}") is not None
    assert steps[-1] == ("runs", 136, 136)


def test_the_bench_prints_its_figures_as_its_last_line(tau_bench: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench.nave", "--json", "--data", str(tau_bench)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    figures = json.loads(done.stdout.splitlines()[-1])
    assert (figures["artifacts"] > 4_000, figures["arcs"] > 6_000) == (True, True)
    assert (figures["read_agreement"], figures["migration_exact"]) == (1.0, True)
    assert tuple(figures["events"]) == NAMES
    for event in figures["events"].values():
        assert event["exposed"] == 0
        assert event["sound"]
        assert 0 < event["republished"] + event["cutoff"] + event["unchanged"] < event["cascade"]
        assert 0 < event["cost_ratio"] <= 1
