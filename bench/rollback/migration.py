"""python -m bench.rollback.migration: real runs after the benchmark's own migration, recovered call by call.

Upstream renamed a field of the users' addresses, and states which recorded results a replay on the migrated
database changes. Recovery from the addresses as they were must run exactly those calls again, show the
addresses of a full replay, and end in its database. What else a look shows is the world of today, in which
the run's later writes stand.

Last line of stdout with ``--json``: ``{runs, exact, same_addresses, same_database, tool_calls,
tool_calls_again, steps, steps_again}``; runs are those that saw an address.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from bench.rollback.airline import SCOPE, Airline, Clerk, calls_of
from bench.rollback.command import print_figures
from memorepair import Key, Memory
from memorepair.adapters.files import locate, read_json
from memorepair.adapters.shapes import Row, as_object
from memorepair.adapters.tau_bench.answers import changed_by_replay
from memorepair.adapters.tau_bench.database import Database, dumps, read_database
from memorepair.adapters.tau_bench.importer import key
from memorepair.adapters.tau_bench.traces import Run, ToolCall, read_runs
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import Json
from memorepair.recovery import Recorder, Step
from memorepair.recovery.trace import RESULT
from memorepair.repair.jsontext import parse


class Receptionist(Clerk):
    """Takes the calls as recorded; a look at a user shows the address, which memory has by itself."""

    def tells(self, call: ToolCall) -> bool:
        """The answer repeats everything."""
        return True

    def looks(self, run: Recorder, call: ToolCall) -> list[Step]:
        if call.tool != "get_user_details" or call.arguments.get("user_id") not in self.world.database.users:
            return []
        return [run.read(address_key(str(call.arguments["user_id"])), id=f"address for {call.message}")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrated:
    """One run after the migration: whether exactly the marked calls ran again, and what came of it."""

    exact: bool
    same_addresses: bool
    same_database: bool
    tool_calls: int
    tool_calls_again: int
    steps: int
    steps_again: int


def address_key(user: str) -> Key:
    """Where memory has a user's address."""
    return Key(SCOPE, f"address of {user}")


def migrate(
    root: Path, run: Run, before: Database, after: Database, marked: frozenset[Key]
) -> Migrated | None:
    """Recover a run from the addresses as they were before the migration; None where it saw none."""
    calls = calls_of(run)
    seen = {str(call.arguments.get("user_id")) for call in calls if call.tool == "get_user_details"}
    faulty = {address_key(user): dumps(after.users[user]["address"]) for user in seen & before.users.keys()}
    if not faulty:
        return None
    world, full = Airline(before), Airline(after)
    whole = {call.message: full.tool(call.tool)(**call.arguments) for call in calls}
    agent = Receptionist(run, {}, world)
    with Memory.open(root / "case.db") as memory:
        for user in seen & before.users.keys():
            memory.record(dumps(before.users[user]["address"]), id=address_key(user).id, scope=SCOPE)
        with memory.run(task="customer", scope=SCOPE, id=run.name) as recorder:
            agent(recorder)
        moved = world.moved(after)
        report = memory.recover(
            run.name,
            faulty,
            replacements=faulty,
            agent=Receptionist(run, {}, moved),
            reason="migration",
            actor="bench",
        )
        made, trace = report.made, memory.trace(run.name)
    assert made is not None
    for file in root.glob("*.db*"):
        file.unlink()
    texts = {one.id: draft.content for one, draft in made.drafts.items()}
    ran = {
        call.message: texts[result] for call in calls if (result := f"call {call.message}{RESULT}") in texts
    }
    return Migrated(
        exact={key(f"{run.name}/call-{message}") for message in ran}
        == {key(f"{run.name}/call-{call.message}") for call in calls} & marked,
        same_addresses=all(
            _address(parse(text)) == _address(whole[message]) for message, text in ran.items()
        ),
        same_database=moved.state == full.state,
        tool_calls=sum(step.kind is Kind.ACTION for step in trace.steps.values()),
        tool_calls_again=len(ran),
        steps=len(trace.steps),
        steps_again=len(made.steps),
    )


def _address(result: Json) -> Json:
    """Of what a look at a user has returned."""
    return as_object(parse(str(result)), "user")["address"]


def migration(folder: Path, *, limit: int | None = None) -> dict[str, int]:
    """The figures over all runs, or over the first `limit` that saw an address."""
    before, marked = read_database(folder), changed_by_replay(folder)

    def users(value: Json) -> Mapping[str, Row]:
        return {id: as_object(row, id) for id, row in as_object(value, "users").items()}

    after = replace(before, users=read_json(locate(folder, "airline_users_after_migration.json"), users))
    root = Path(tempfile.mkdtemp(prefix="migration-"))
    found: list[Migrated] = []
    try:
        for run in read_runs(folder):
            if (one := migrate(root, run, before, after, marked)) is not None:
                found.append(one)
                print(f"\r{len(found)} runs", end="", file=sys.stderr, flush=True)
            if len(found) == limit:
                break
    finally:
        shutil.rmtree(root)
        print(file=sys.stderr)
    names = (
        "exact",
        "same_addresses",
        "same_database",
        "tool_calls",
        "tool_calls_again",
        "steps",
        "steps_again",
    )
    return {"runs": len(found), **{name: sum(getattr(one, name) for one in found) for name in names}}


if __name__ == "__main__":
    print_figures("migration", __doc__, lambda folder, limit: migration(folder, limit=limit))
