"""Every tool of the airline, run on the database as one run sees it."""

from __future__ import annotations

from memorepair.adapters.shapes import Row, text_of
from memorepair.adapters.tau_bench import tools
from memorepair.adapters.tau_bench.acts import Done, act
from memorepair.adapters.tau_bench.database import Database
from memorepair.adapters.tau_bench.state import Held, RunState
from memorepair.adapters.tau_bench.traces import ToolCall


def run_tool(call: ToolCall, state: RunState, database: Database) -> Done:
    """Run a recorded call again and leave the rows it changes in `state`.

    Raises
    ------
    InvalidInput
        No tool of the airline, or arguments of another shape.
    """
    given = dict(call.arguments)

    def row(table: str, name: str) -> Row | None:
        held = state.find(table, text_of(given, name, call.tool))
        return None if held is None else held.row

    def route() -> tuple[str, str, str]:
        return (
            text_of(given, "origin", call.tool),
            text_of(given, "destination", call.tool),
            text_of(given, "date", call.tool),
        )

    match call.tool:
        case "get_user_details":
            return Done(result=tools.user_details(row("users", "user_id")))
        case "get_reservation_details":
            return Done(result=tools.reservation_details(row("reservations", "reservation_id")))
        case "search_direct_flight":
            return Done(result=tools.direct_flights(database.flights.values(), *route()))
        case "search_onestop_flight":
            return Done(result=tools.onestop_flights(database.flights.values(), *route()))
        case "calculate":
            return Done(result=tools.calculate(text_of(given, "expression", call.tool)))
        case "list_all_airports":
            return Done(result=tools.all_airports())
        case "think":
            return Done(result="")
        case _:
            done = act(call, state)
            for table, id, left in done.rows:
                state.put(table, id, Held(artifact="", row=left))
            return done
