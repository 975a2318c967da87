"""Which rows a call looks at, told from its tool and its arguments."""

from __future__ import annotations

from memorepair.adapters.shapes import as_object, list_of, text_of
from memorepair.adapters.tau_bench.database import Database, interface_id
from memorepair.adapters.tau_bench.state import RunState
from memorepair.adapters.tau_bench.traces import ToolCall
from memorepair.errors import InvalidInput

NOTHING = frozenset({"calculate", "list_all_airports", "transfer_to_human_agents"})
"""Tools that look at no row."""


def looks_at(call: ToolCall, state: RunState, database: Database) -> tuple[str, ...]:
    """Ids of the artifacts that `call` read, each once, in the order of the tables' rows.

    A row that is not there is looked up in vain: what was read is the table's interface, which stands for the
    table's index. A search reads that index too, beside the flights that may answer it.

    Raises
    ------
    InvalidInput
        A tool that is not one of the airline's, or an argument of the wrong shape.
    """
    arguments = dict(call.arguments)

    def row(table: str, id: str) -> str:
        held = state.find(table, id)
        return interface_id(table) if held is None else held.artifact

    def named(table: str, argument: str) -> str:
        return row(table, text_of(arguments, argument, call.tool))

    def owner() -> list[str]:
        held = state.find("reservations", text_of(arguments, "reservation_id", call.tool))
        return [] if held is None else [row("users", text_of(held.row, "user_id", held.artifact))]

    def booked_flights() -> list[str]:
        legs = (as_object(leg, "flight") for leg in list_of(arguments, "flights", call.tool))
        return [row("flights", text_of(leg, "flight_number", "flight")) for leg in legs]

    found: list[str]
    match call.tool:
        case "get_user_details" | "send_certificate":
            found = [named("users", "user_id")]
        case "get_reservation_details" | "cancel_reservation" | "update_reservation_passengers":
            found = [named("reservations", "reservation_id")]
        case "update_reservation_baggages":
            found = [named("reservations", "reservation_id"), *owner()]
        case "update_reservation_flights":
            found = [named("reservations", "reservation_id"), *owner(), *booked_flights()]
        case "book_reservation":
            found = [named("users", "user_id"), *booked_flights()]
        case "search_direct_flight" | "search_onestop_flight":
            origin, destination = (text_of(arguments, name, call.tool) for name in ("origin", "destination"))
            joins = any if call.tool == "search_onestop_flight" else all
            found = [interface_id("flights")]
            found += [
                f"flights/{id}"
                for id, flight in database.flights.items()
                if joins((flight["origin"] == origin, flight["destination"] == destination))
            ]
        case tool if tool in NOTHING:
            found = []
        case _:
            raise InvalidInput(f"{call.tool!r} is no tool of the airline", witness=call.tool)
    return tuple(dict.fromkeys(found))
