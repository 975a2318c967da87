"""What a recorded write changed, told from its result without running it again."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memorepair.adapters.shapes import (
    Row,
    as_number,
    as_object,
    field,
    list_of,
    object_of,
    text_of,
)
from memorepair.adapters.tau_bench.database import dumps
from memorepair.adapters.tau_bench.state import RunState
from memorepair.adapters.tau_bench.traces import ToolCall
from memorepair.errors import InvalidInput
from memorepair.memory.artifact import Json
from memorepair.repair.jsontext import parse

WRITES = frozenset(
    {
        "book_reservation",
        "cancel_reservation",
        "send_certificate",
        "update_reservation_baggages",
        "update_reservation_flights",
        "update_reservation_passengers",
    }
)
"""Tools that may change the database."""

_PAYING = frozenset({"book_reservation", "update_reservation_baggages", "update_reservation_flights"})
_CERTIFICATE = re.compile(r"Certificate (\S+) added to user (\S+) with amount (\d+)\.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A row after a write. `as_result` holds where the recorded result is that row, to the byte."""

    table: str
    id: str
    row: Row
    as_result: bool


def changed(call: ToolCall, state: RunState) -> tuple[Changed, ...]:
    """Rows that the recorded write `call` left different from `state`; none where it failed or changed none.

    A reservation after a write is the recorded result. A user's row changes in three ways only: a booking
    joins its list; gift cards pay from their amount, certificates are used up; a sent one is added.

    Raises
    ------
    InvalidInput
        A result that is none of its tool, or that speaks of a user who is not there.
    """
    if call.tool not in WRITES or call.result.startswith("Error"):
        return ()
    if call.tool == "send_certificate":
        return (_certificate(call.result, state),)
    try:
        value = parse(call.result)
    except InvalidInput as error:
        raise InvalidInput(f"the result of {call.tool}: {error.message}", witness=call.tool) from error
    row = as_object(value, call.tool)
    id = text_of(row, "reservation_id", call.tool)
    before = state.find("reservations", id)
    if before is not None and dumps(before.row) == call.result:  # the order of fields counts: reads show it
        return ()
    reservation = Changed(table="reservations", id=id, row=row, as_result=True)
    if call.tool not in _PAYING:
        return (reservation,)
    paid = 0 if before is None else len(list_of(before.row, "payment_history", id))
    payer = _payer(row, list_of(row, "payment_history", id)[paid:], state, booked=before is None)
    return (reservation,) if payer is None else (reservation, payer)


def _user(id: str, state: RunState) -> Row:
    held = state.find("users", id)
    if held is None:
        raise InvalidInput(f"a result speaks of user {id!r}, who is not in the database", witness=id)
    return held.row


def _certificate(result: str, state: RunState) -> Changed:
    found = _CERTIFICATE.fullmatch(result)
    if found is None:
        raise InvalidInput("the result of send_certificate names no certificate", witness="send_certificate")
    certificate, id, amount = found.groups()
    user = _user(id, state)
    new: Row = {"source": "certificate", "amount": int(amount), "id": certificate}
    methods: Row = {**object_of(user, "payment_methods", id), certificate: new}
    row: Row = {**user, "payment_methods": methods}
    return Changed(table="users", id=id, row=row, as_result=False)


def _payer(reservation: Row, payments: list[Json], state: RunState, *, booked: bool) -> Changed | None:
    """The user's row after new payments (and a new booking); None where it stays as it was."""
    id = text_of(reservation, "user_id", "reservation")
    user = _user(id, state)
    methods = dict(object_of(user, "payment_methods", id))
    for item in payments:
        payment = as_object(item, "payment")
        name = text_of(payment, "payment_id", "payment")
        method = as_object(field(methods, name, id), name)
        match method.get("source"):
            case "gift_card":
                left = as_number(field(method, "amount", name), name)
                left -= as_number(field(payment, "amount", "payment"), "payment")
                methods[name] = method | {"amount": left}
            case "certificate":
                del methods[name]
            case _:
                pass
    after: Row = {**user, "payment_methods": methods}
    if booked:
        after["reservations"] = [*list_of(user, "reservations", id), reservation["reservation_id"]]
    return None if after == user else Changed(table="users", id=id, row=after, as_result=False)
