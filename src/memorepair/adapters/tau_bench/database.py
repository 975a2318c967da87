"""The airline database the runs were made on, with the interface that each of its tables follows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from memorepair.adapters.files import locate, read_json
from memorepair.adapters.shapes import Row, as_object, list_of, object_of, text_of
from memorepair.errors import InvalidInput
from memorepair.memory.artifact import Json

TABLES = ("users", "reservations", "flights")
"""In the order of import."""

_KEYED = frozenset({"users.payment_methods", "flights.dates"})
"""Objects whose keys are data (ids, days), not field names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """Rows by id, in file order. A row is never changed in place: a run's state puts new rows beside it."""

    users: Mapping[str, Row]
    reservations: Mapping[str, Row]
    flights: Mapping[str, Row]

    def table(self, name: str) -> Mapping[str, Row]:
        """Rows of the table `name`, one of `TABLES`."""
        return {"users": self.users, "reservations": self.reservations, "flights": self.flights}[name]


def dumps(row: Json) -> str:
    """Upstream's byte form of a value: what its tools return, so that a replay can agree to the byte."""
    return json.dumps(row)


def read_database(folder: Path) -> Database:
    """Read the three tables.

    Raises
    ------
    InvalidFile
        A missing file, broken JSON, or a row without the fields that the tools read.
    """

    def table(name: str, check: Callable[[str, Row], None]) -> Mapping[str, Row]:
        def read(value: Json) -> Mapping[str, Row]:
            rows = {id: as_object(row, id) for id, row in as_object(value, name).items()}
            for id, row in rows.items():
                check(id, row)
            return MappingProxyType(rows)

        return read_json(locate(folder, f"airline_{name}.json"), read)

    return Database(
        users=table("users", _check_user),
        reservations=table("reservations", _check_reservation),
        flights=table("flights", _check_flight),
    )


def _check_id(id: str, row: Row, name: str) -> None:
    if text_of(row, name, id) != id:
        raise InvalidInput(f"{id}.{name} names another row", witness=f"{id}.{name}")


def _check_user(id: str, row: Row) -> None:
    object_of(row, "address", id)
    list_of(row, "reservations", id)
    for name, method in object_of(row, "payment_methods", id).items():
        text_of(as_object(method, f"{id}.payment_methods.{name}"), "source", f"{id}.payment_methods.{name}")


def _check_reservation(id: str, row: Row) -> None:
    _check_id(id, row, "reservation_id")
    text_of(row, "user_id", id)
    list_of(row, "flights", id)
    list_of(row, "payment_history", id)


def _check_flight(id: str, row: Row) -> None:
    _check_id(id, row, "flight_number")
    for name in ("origin", "destination", "scheduled_departure_time_est", "scheduled_arrival_time_est"):
        text_of(row, name, id)
    for day, state in object_of(row, "dates", id).items():
        text_of(as_object(state, f"{id}.dates.{day}"), "status", f"{id}.dates.{day}")


def interface_id(table: str, version: int = 1) -> str:
    """Id of a table's interface, such as ``airline.users@1``."""
    return f"airline.{table}@{version}"


def describe(table: str, rows: Iterable[Row], *, version: int = 1) -> str:
    """An interface's content: every field observed in the rows with its types, in the order first seen.

    ``*`` stands for keys that are data, ``[]`` for the members of a list.
    """
    seen: dict[str, set[str]] = {}
    todo: list[tuple[str, Json]] = [(table, row) for row in reversed([*rows])]
    while todo:
        path, value = todo.pop()
        seen.setdefault(path, set()).add(_type_name(value))
        if isinstance(value, dict):
            names = ((f"{path}.*" if path in _KEYED else f"{path}.{name}") for name in value)
            todo.extend([*zip(names, value.values(), strict=True)][::-1])
        elif isinstance(value, list):
            todo.extend((f"{path}[]", member) for member in reversed(value))
    fields: Json = {
        path.removeprefix(f"{table}."): " or ".join(sorted(types))
        for path, types in seen.items()
        if path != table
    }
    return dumps({"interface": interface_id(table, version), "fields": fields})


def _type_name(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "truth"
        case int() | float():
            return "number"
        case str():
            return "text"
        case list():
            return "list"
        case _:
            return "object"
