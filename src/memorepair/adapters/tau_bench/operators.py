"""Operators that make tool results and rows again from what they read."""

from __future__ import annotations

from collections.abc import Callable

from memorepair.adapters.shapes import Row, as_object, object_of, text_of
from memorepair.adapters.tau_bench import tools
from memorepair.adapters.tau_bench.database import dumps
from memorepair.errors import InvalidInput, StepFailed
from memorepair.repair.jsontext import parse
from memorepair.repair.operators.operator import Call, Operator
from memorepair.repair.operators.recompute import FunctionOperator

PREFIX = "tau-bench.airline."
PROVINCE_TO_STATE = f"{PREFIX}province-to-state@1"
"""Row migration of the users from ``airline.users@1`` to ``airline.users@2``, as ``name@version``."""


def _operator(
    name: str, function: Callable[[Call], str], *, reads_own_version: bool = False
) -> FunctionOperator:
    def make(call: Call) -> str:
        try:
            return function(call)
        except InvalidInput as error:
            raise StepFailed(f"{name}: {error.message}", witness=error.witness) from error

    return FunctionOperator(name=PREFIX + name, function=make, reads_own_version=reads_own_version)


def _rows(call: Call) -> list[Row]:
    """Inputs that are rows, in the order of their ids; an interface stands for its table's index."""
    rows = (given for given in call.inputs if not given.key.id.startswith("airline."))
    return [
        as_object(parse(given.content), given.key.id) for given in sorted(rows, key=lambda row: row.key.id)
    ]


def _only_row(call: Call) -> Row | None:
    rows = _rows(call)
    if len(rows) > 1:
        raise InvalidInput(f"one row was read, {len(rows)} are given", witness=str(call.key))
    return rows[0] if rows else None


def _parameter(call: Call, name: str) -> str:
    return text_of(dict(call.params), name, "params")


def _route(call: Call) -> tuple[str, str, str]:
    return _parameter(call, "origin"), _parameter(call, "destination"), _parameter(call, "date")


def _user_details(call: Call) -> str:
    return tools.user_details(_only_row(call))


def _reservation_details(call: Call) -> str:
    return tools.reservation_details(_only_row(call))


def _direct_flights(call: Call) -> str:
    return tools.direct_flights(_rows(call), *_route(call))


def _onestop_flights(call: Call) -> str:
    return tools.onestop_flights(_rows(call), *_route(call))


def _calculate(call: Call) -> str:
    return tools.calculate(_parameter(call, "expression"))


def _province_to_state(call: Call) -> str:
    if call.own is None:
        raise InvalidInput("a row migration needs the row", witness=str(call.key))
    row = as_object(parse(call.own), call.key.id)
    address = object_of(row, "address", call.key.id)
    renamed: Row = {"state" if name == "province" else name: value for name, value in address.items()}
    return dumps({**row, "address": renamed})  # a key that is there already keeps its place


OPERATORS: tuple[Operator, ...] = (
    _operator("get_user_details", _user_details),
    _operator("get_reservation_details", _reservation_details),
    _operator("search_direct_flight", _direct_flights),
    _operator("search_onestop_flight", _onestop_flights),
    _operator("calculate", _calculate),
    _operator("province-to-state", _province_to_state, reads_own_version=True),
)
"""All of them; the entry point ``tau-bench`` of the group ``memorepair.operators`` names this tuple."""
