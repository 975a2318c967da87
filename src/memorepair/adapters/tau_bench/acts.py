"""The tools that act: what each returns, and the rows it leaves, as functions of the rows it looks at.

Each returns the text that the recorded tool returned, to the byte, its errors included.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memorepair.adapters.shapes import Row, as_int, as_number, as_object, field, list_of, object_of, text_of
from memorepair.adapters.tau_bench.database import dumps
from memorepair.adapters.tau_bench.state import RunState
from memorepair.adapters.tau_bench.traces import ToolCall
from memorepair.errors import InvalidInput
from memorepair.memory.artifact import Json

_TODAY = "2024-05-15T15:00:00"
"""When every recorded booking was made."""

_BOOKED = ("HATHAT", "HATHAU", "HATHAV")
_SENT = tuple(f"certificate_{number}" for number in (3221322, 3221323, 3221324))
_INSURANCE, _BAG = 30, 50
"""Dollars a passenger, dollars a bag that is not free."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a call returned, and the rows it left: (table, id) -> row."""

    result: str
    rows: tuple[tuple[str, str, Row], ...] = ()


class _Refused(Exception):
    """What the tool answers instead of acting."""


def act(call: ToolCall, state: RunState) -> Done:
    """Run a tool that acts; the state is not changed.

    Raises
    ------
    InvalidInput
        No tool that acts, or arguments or rows of another shape.
    """
    given = dict(call.arguments)
    try:
        match call.tool:
            case "book_reservation":
                return _book(given, state)
            case "cancel_reservation":
                return _cancel(given, state)
            case "send_certificate":
                return _send(given, state)
            case "update_reservation_baggages":
                return _change_bags(given, state)
            case "update_reservation_flights":
                return _change_flights(given, state)
            case "update_reservation_passengers":
                return _change_passengers(given, state)
            case "transfer_to_human_agents":
                return Done(result="Transfer successful")
    except _Refused as refusal:
        return Done(result=f"Error: {refusal}")
    raise InvalidInput(f"{call.tool!r} is no tool that acts", witness=call.tool)


def _book(given: Row, state: RunState) -> Done:
    id = text_of(given, "user_id", "book")
    user = _row(state, "users", id, "user not found")
    number = next(one for one in _BOOKED if state.find("reservations", one) is None or one == _BOOKED[-1])
    passengers, cabin = list_of(given, "passengers", "book"), text_of(given, "cabin", "book")
    legs = [_leg(leg, cabin, len(passengers), state) for leg in list_of(given, "flights", "book")]
    total = sum(as_number(leg["price"], "price") for leg in legs) * len(passengers)
    total += _INSURANCE * len(passengers) if given.get("insurance") == "yes" else 0
    total += _BAG * as_int(field(given, "nonfree_baggages", "book"), "nonfree_baggages")
    payments = [as_object(one, "payment") for one in list_of(given, "payment_methods", "book")]
    methods = dict(object_of(user, "payment_methods", id))
    for payment in payments:
        name, amount = text_of(payment, "payment_id", "payment"), as_number(payment["amount"], "payment")
        if name not in methods:
            raise _Refused(f"payment method {name} not found")
        method = as_object(methods[name], name)
        if method.get("source") != "credit_card" and as_number(method["amount"], name) < amount:
            raise _Refused(f"not enough balance in payment method {name}")
    paid = sum(as_number(payment["amount"], "payment") for payment in payments)
    if paid != total:
        raise _Refused(f"payment amount does not add up, total price is {total}, but paid {paid}")
    for payment in payments:
        name = text_of(payment, "payment_id", "payment")
        method = as_object(methods[name], name)
        if method["source"] == "gift_card":
            methods[name] = _less(method, as_number(payment["amount"], name))
        elif method["source"] == "certificate":
            del methods[name]
    reservation: Row = {
        "reservation_id": number,
        "user_id": id,
        **{name: given[name] for name in ("origin", "destination", "flight_type", "cabin")},
        "flights": [*legs],
        "passengers": given["passengers"],
        "payment_history": [*payments],
        "created_at": _TODAY,
        **{name: given[name] for name in ("total_baggages", "nonfree_baggages", "insurance")},
    }
    booked = [*list_of(user, "reservations", id), number]
    after: Row = {**user, "payment_methods": methods, "reservations": booked}
    return Done(result=dumps(reservation), rows=(("reservations", number, reservation), ("users", id, after)))


def _cancel(given: Row, state: RunState) -> Done:
    id, reservation = _reservation(given, state)
    history = [as_object(one, id) for one in list_of(reservation, "payment_history", id)]
    refunds: list[Json] = [
        {"payment_id": one["payment_id"], "amount": -as_number(one["amount"], id)} for one in history
    ]
    return _left(id, {**reservation, "payment_history": [*history, *refunds], "status": "cancelled"})


def _send(given: Row, state: RunState) -> Done:
    id, amount = text_of(given, "user_id", "send"), field(given, "amount", "send")
    user = _row(state, "users", id, "user not found")
    methods = object_of(user, "payment_methods", id)
    name = next((one for one in _SENT if one not in methods), None)
    if name is None:
        raise InvalidInput(f"{id} has every certificate there is", witness=id)
    new: Row = {"source": "certificate", "amount": amount, "id": name}
    after: Row = {**user, "payment_methods": {**methods, name: new}}
    said = f"Certificate {name} added to user {id} with amount {amount}."
    return Done(result=said, rows=(("users", id, after),))


def _change_bags(given: Row, state: RunState) -> Done:
    id, reservation = _reservation(given, state)
    wanted = as_int(field(given, "nonfree_baggages", id), "nonfree_baggages")
    more = max(0, wanted - as_int(field(reservation, "nonfree_baggages", id), id))
    after: Row = {
        **reservation,
        "total_baggages": field(given, "total_baggages", id),
        "nonfree_baggages": wanted,
    }
    return _paying(id, after, _BAG * more, given, state)


def _change_flights(given: Row, state: RunState) -> Done:
    id, reservation = _reservation(given, state)
    cabin, seats = text_of(given, "cabin", id), len(list_of(reservation, "passengers", id))
    old = [as_object(one, id) for one in list_of(reservation, "flights", id)]
    legs: list[Row] = []
    for raw in list_of(given, "flights", id):
        leg = as_object(raw, "flight")
        same = (
            one for one in old if all(one.get(name) == leg.get(name) for name in ("flight_number", "date"))
        )
        kept = next(same, None) if cabin == reservation.get("cabin") else None
        if kept is None:
            legs.append(_leg(leg, cabin, seats, state))
        else:
            legs.append({**leg, **{name: kept[name] for name in ("price", "origin", "destination")}})
    price = (_price(legs) - _price(old)) * seats
    return _paying(id, {**reservation, "flights": [*legs]}, price, given, state)


def _change_passengers(given: Row, state: RunState) -> Done:
    id, reservation = _reservation(given, state)
    passengers = list_of(given, "passengers", id)
    if len(passengers) != len(list_of(reservation, "passengers", id)):
        raise _Refused("number of passengers does not match")
    return _left(id, {**reservation, "passengers": passengers})


def _paying(id: str, after: Row, price: int | float, given: Row, state: RunState) -> Done:
    """Charge a change of a reservation to one payment method of its user."""
    owner = text_of(after, "user_id", id)
    user = _row(state, "users", owner, "user not found")
    methods = object_of(user, "payment_methods", owner)
    name = text_of(given, "payment_id", id)
    if name not in methods:
        raise _Refused("payment method not found")
    method = as_object(methods[name], name)
    if method["source"] == "certificate":
        raise _Refused("certificate cannot be used to update reservation")
    rows: list[tuple[str, str, Row]] = []
    if method["source"] == "gift_card":
        if as_number(method["amount"], name) < price:
            raise _Refused("gift card balance is not enough")
        rows.append(("users", owner, {**user, "payment_methods": {**methods, name: _less(method, price)}}))
    if price:
        payment: Row = {"payment_id": name, "amount": price}
        after = {**after, "payment_history": [*list_of(after, "payment_history", id), payment]}
    return Done(result=dumps(after), rows=(("reservations", id, after), *rows))


def _leg(raw: Json, cabin: str, seats: int, state: RunState) -> Row:
    """A flight as a reservation holds it, where there are seats."""
    leg = as_object(raw, "flight")
    number, date = text_of(leg, "flight_number", "flight"), text_of(leg, "date", "flight")
    flight = _row(state, "flights", number, f"flight {number} not found")
    dates = object_of(flight, "dates", number)
    if date not in dates:
        raise _Refused(f"flight {number} not found on date {date}")
    day = as_object(dates[date], number)
    if day["status"] != "available":
        raise _Refused(f"flight {number} not available on date {date}")
    if as_int(object_of(day, "available_seats", number)[cabin], number) < seats:
        raise _Refused(f"not enough seats on flight {number}")
    price = object_of(day, "prices", number)[cabin]
    return {**leg, "price": price, "origin": flight["origin"], "destination": flight["destination"]}


def _price(legs: Iterable[Row]) -> int | float:
    return sum(as_number(leg["price"], "price") for leg in legs)


def _less(method: Row, amount: int | float) -> Row:
    return {**method, "amount": as_number(method["amount"], "amount") - amount}


def _reservation(given: Row, state: RunState) -> tuple[str, Row]:
    id = text_of(given, "reservation_id", "reservation")
    return id, _row(state, "reservations", id, "reservation not found")


def _left(id: str, reservation: Row) -> Done:
    return Done(result=dumps(reservation), rows=(("reservations", id, reservation),))


def _row(state: RunState, table: str, id: str, missing: str) -> Row:
    held = state.find(table, id)
    if held is None:
        raise _Refused(missing)
    return held.row
