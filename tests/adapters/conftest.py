"""The real tau-bench folder, read once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path

import pytest

from memorepair.adapters.files import locate, read_json
from memorepair.adapters.shapes import Row, as_list, as_object
from memorepair.adapters.tau_bench.database import TABLES, Database, read_database
from memorepair.adapters.tau_bench.importer import Import, read_import
from memorepair.adapters.tau_bench.traces import Run, read_runs
from memorepair.memory.artifact import Json


@pytest.fixture(scope="session")
def tau_bench(real_input: Callable[[str], Path]) -> Path:
    return real_input("traces-tau-bench")


@pytest.fixture(scope="session")
def database(tau_bench: Path) -> Database:
    return read_database(tau_bench)


@pytest.fixture(scope="session")
def runs(tau_bench: Path) -> tuple[Run, ...]:
    return read_runs(tau_bench)


@pytest.fixture(scope="session")
def made(tau_bench: Path) -> Import:
    return read_import(tau_bench)


@pytest.fixture(scope="session")
def migrated(tau_bench: Path) -> dict[str, Row]:
    """The users after the benchmark's own migration."""

    def read(value: Json) -> dict[str, Row]:
        return {id: as_object(row, id) for id, row in as_object(value, "users").items()}

    return read_json(locate(tau_bench, "airline_users_after_migration.json"), read)


@pytest.fixture(scope="session")
def answers(tau_bench: Path) -> dict[str, Row]:
    """What is known of every run, by its name."""

    def read(value: Json) -> dict[str, Row]:
        known = [as_object(run, "run") for run in as_list(value, "runs")]
        return {f"run-{run['task_id']}-{run['trial']}": run for run in known}

    return read_json(locate(tau_bench, "replay_answers.json"), read)


def _tuples(value: Json) -> object:
    if isinstance(value, dict):
        return tuple((name, _tuples(member)) for name, member in sorted(value.items()))
    if isinstance(value, list):
        return tuple(_tuples(member) for member in value)
    return value


def _hash_of(database: Database) -> Callable[[Mapping[tuple[str, str], Row]], str]:
    # The text of a tuple is made of its members' texts, so rows that stay are turned into text once.
    kept = {table: {id: str(_tuples(row)) for id, row in database.table(table).items()} for table in TABLES}

    def digest(own: Mapping[tuple[str, str], Row]) -> str:
        tables = []
        for table in sorted(TABLES):
            texts = kept[table] | {id: str(_tuples(row)) for (of, id), row in own.items() if of == table}
            members = ", ".join(f"({id!r}, {text})" for id, text in sorted(texts.items()))
            tables.append(f"({table!r}, ({members}))")
        return sha256(f"({', '.join(tables)})".encode()).hexdigest()

    return digest


@pytest.fixture(scope="session")
def hash_of() -> Callable[[Database], Callable[[Mapping[tuple[str, str], Row]], str]]:
    """The benchmark's hash of a database with rows of a run's own: sha256 of its sorted tuples as text."""
    return _hash_of
