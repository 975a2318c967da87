"""From a tau-bench folder to drafts: interfaces, rows below them, results of calls, what was said of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from memorepair.adapters.tau_bench.database import (
    TABLES,
    Database,
    describe,
    dumps,
    interface_id,
    read_database,
)
from memorepair.adapters.tau_bench.effects import WRITES, changed
from memorepair.adapters.tau_bench.looks import looks_at
from memorepair.adapters.tau_bench.replay import disagreement, operator_of
from memorepair.adapters.tau_bench.report import Disagreement, ReadAgreement, TauBenchReport
from memorepair.adapters.tau_bench.state import Held, RunState
from memorepair.adapters.tau_bench.statements import brought, values_of_text
from memorepair.adapters.tau_bench.traces import Run, Said, ToolCall, read_runs
from memorepair.errors import InvalidFile, InvalidInput
from memorepair.facade import Memory
from memorepair.graphs.terms import Kind, Relation
from memorepair.memory.artifact import Draft, Json, Key, Read, Recipe, Source

SCOPE = ("tau-bench", "airline")
"""One scope for all: every run reads the one database."""

READ_TOOLS = ("get_user_details", "get_reservation_details", "search_direct_flight", "search_onestop_flight")
"""Tools whose replay is compared at import."""

OBSERVED = WRITES | {"transfer_to_human_agents"}
"""Tools that act on the world; what they returned is kept as it is."""

Progress: TypeAlias = Callable[[str, int, int], None]

_INFERRED: Mapping[str, Json] = MappingProxyType({"provenance": "inferred"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """Drafts ready to be stored, parents before children, with the report on them."""

    drafts: tuple[Draft, ...]
    report: TauBenchReport

    def merged(self, memory: Memory) -> TauBenchReport:
        """Store what `memory` does not hold yet; the report, with what came of it."""
        done = memory.merge(self.drafts)
        return replace(self.report, same=done.same, refused=done.refused)


def import_tau_bench(
    memory: Memory, folder: str | Path, *, progress: Progress | None = None
) -> TauBenchReport:
    """Store a tau-bench folder in `memory`, in one transaction; what is there already stays as it is.

    A second import of the same folder changes nothing. A row that was changed or removed here since, and what
    stands on it, is refused and named in the report.

    Parameters
    ----------
    folder
        Holds ``airline_users.json``, ``airline_reservations.json``, ``airline_flights.json`` and
        ``gpt-4o-airline.jsonl``, each plain or with ``.xz``.
    progress
        Called with what is done, how many are done, how many there are.

    Raises
    ------
    InvalidFile
        A missing or malformed file; the witness names file, line and field. Nothing is stored.
    """
    made = read_import(folder, progress=progress)
    return made.merged(memory)


def read_import(folder: str | Path, *, progress: Progress | None = None) -> Import:
    """Read a tau-bench folder without storing it; parameters and errors of `import_tau_bench`."""
    folder = Path(folder)
    database = read_database(folder)
    runs = read_runs(folder)
    importer = _Importer(database)
    where = "the database"
    try:
        importer.add_database()
        for done, run in enumerate(runs, start=1):
            where = run.name
            importer.add_run(run)
            if progress is not None:
                progress("runs", done, len(runs))
    except InvalidInput as error:
        raise InvalidFile(f"{where}: {error.message}", witness=f"{where}: {error.witness}") from error
    return importer.finish(runs=len(runs))


def key(id: str) -> Key:
    """Key of an imported artifact."""
    return Key(SCOPE, id)


def _reads(ids: tuple[str, ...], relation: Relation) -> tuple[Read, ...]:
    return tuple(Read(key=key(id), relation=relation) for id in ids)


class _Importer:
    """Drafts under way, by id, with the counts of the report."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._drafts: dict[str, Draft] = {}
        self._by_kind: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()
        self._compared = 0
        self._disagreements: list[Disagreement] = []
        self._changes = 0

    def finish(self, *, runs: int) -> Import:
        drafts = tuple(self._drafts.values())
        report = TauBenchReport(
            runs=runs,
            artifacts=len(drafts),
            arcs=sum(len(draft.reads) for draft in drafts),
            by_kind=MappingProxyType(dict(self._by_kind)),
            changes=self._changes,
            reads=ReadAgreement(
                agree=self._compared - len(self._disagreements),
                total=self._compared,
                disagreements=tuple(self._disagreements),
            ),
            skipped=MappingProxyType(dict(self._skipped)),
        )
        return Import(drafts=drafts, report=report)

    def add_database(self) -> None:
        for table in TABLES:
            rows = self._database.table(table)
            interface = interface_id(table)
            self._add("interfaces", interface, describe(table, rows.values()), source=Source.SYSTEM)
            follows = _reads((interface,), Relation.SUPPORT)
            for id, row in rows.items():
                self._add("rows", f"{table}/{id}", dumps(row), source=Source.SYSTEM, reads=follows)

    def add_run(self, run: Run) -> None:
        state = RunState(self._database)
        given: set[str] = set()
        results: dict[str, frozenset[str]] = {}  # artifact -> the values it brings
        summaries: list[str] = []
        texts = [step for step in run.steps if isinstance(step, Said) and step.by_assistant]
        for step in run.steps:
            match step:
                case ToolCall(tool="think"):
                    self._skipped["thoughts"] += 1
                case ToolCall():
                    artifact = f"{run.name}/call-{step.message}"
                    self._add_call(artifact, step, state)
                    results[artifact] = brought(step, given)
                case Said(by_assistant=False):
                    given |= values_of_text(step.text)
                    self._skipped["users' messages"] += 1
                case Said():
                    repeated = values_of_text(step.text)
                    stated = tuple(id for id, values in results.items() if values & repeated)
                    answer = step is texts[-1]
                    sources = (*summaries, *stated) if answer else stated
                    if not sources:
                        self._skipped["messages that state no result"] += 1
                        continue
                    artifact = f"{run.name}/{'answer' if answer else f'message-{step.message}'}"
                    self._add(
                        "answers" if answer else "summaries",
                        artifact,
                        step.text,
                        kind=Kind.SUMMARY,
                        source=Source.EXTRACTION,
                        recipe=Recipe(operator="summarise"),
                        reads=_reads(sources, Relation.CONSOLIDATE if answer else Relation.CITE),
                        metadata=_INFERRED,
                    )
                    summaries.append(artifact)

    def _add_call(self, artifact: str, call: ToolCall, state: RunState) -> None:
        looked = looks_at(call, state, self._database)
        if call.tool in OBSERVED:
            self._add(
                "observed records",
                artifact,
                call.result,
                source=Source.TOOL,
                recipe=Recipe(params=call.arguments, observed=True),
                reads=_reads(looked, Relation.UPDATE),
                metadata={"tool": call.tool},
            )
            self._add_changes(artifact, call, state)
        else:
            self._add(
                "caches",
                artifact,
                call.result,
                kind=Kind.CACHE,
                source=Source.TOOL,
                recipe=self._recipe(artifact, call, looked),
                reads=_reads(looked, Relation.PRODUCE),
                metadata={"tool": call.tool},
            )

    def _recipe(self, artifact: str, call: ToolCall, looked: tuple[str, ...]) -> Recipe:
        """How to make a cache again; an operator that makes another result than the recorded one may not."""
        operator = operator_of(call.tool)
        if operator is None:
            return Recipe(params=call.arguments)
        why = disagreement(operator, key(artifact), call, (self._drafts[id] for id in looked))
        if call.tool in READ_TOOLS:
            self._compared += 1
            if why is not None:
                self._disagreements.append(Disagreement(key=key(artifact), why=why))
        if why is not None:
            return Recipe(params=call.arguments, observed=True)
        return Recipe(operator=operator.name, version=operator.version, params=call.arguments)

    def _add_changes(self, artifact: str, call: ToolCall, state: RunState) -> None:
        """Move the run's state on by what the recorded write changed; a user's row gets an after-image."""
        changes = changed(call, state)
        self._changes += bool(changes)
        for change in changes:
            holder = artifact
            if not change.as_result:
                holder = f"{artifact}/{change.table}/{change.id}"
                before = state.find(change.table, change.id)
                self._add(
                    "after-images",
                    holder,
                    dumps(change.row),
                    source=Source.TOOL,
                    recipe=Recipe(observed=True),
                    reads=_reads((artifact, *((before.artifact,) if before else ())), Relation.UPDATE),
                )
            state.put(change.table, change.id, Held(artifact=holder, row=change.row))

    def _add(
        self,
        what: str,
        id: str,
        content: str,
        *,
        source: Source,
        kind: Kind = Kind.RECORD,
        recipe: Recipe | None = None,
        reads: tuple[Read, ...] = (),
        metadata: Mapping[str, Json] | None = None,
    ) -> None:
        if id in self._drafts:
            raise InvalidInput(f"two artifacts would be {id}", witness=id)
        self._by_kind[what] += 1
        self._drafts[id] = Draft(
            key=key(id),
            content=content,
            kind=kind,
            source=source,
            recipe=recipe or Recipe(),
            reads=reads,
            metadata=metadata or {},
        )
