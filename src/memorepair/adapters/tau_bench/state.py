"""The database as one run sees it: the shared rows, with what the run's own writes made of them."""

from __future__ import annotations

from dataclasses import dataclass

from memorepair.adapters.shapes import Row
from memorepair.adapters.tau_bench.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A row together with the id of the artifact that holds it in this form."""

    artifact: str
    row: Row


class RunState:
    """Rows by table and id; a write of the run hides the shared row behind its own."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._own: dict[tuple[str, str], Held] = {}

    def find(self, table: str, id: str) -> Held | None:
        """The row as it stands now, None where there is none."""
        own = self._own.get((table, id))
        if own is not None:
            return own
        row = self._database.table(table).get(id)
        return None if row is None else Held(artifact=f"{table}/{id}", row=row)

    def put(self, table: str, id: str, held: Held) -> None:
        """Let `held` stand for the row from now on."""
        self._own[table, id] = held
