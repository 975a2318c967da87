"""The tools that only look: their results as functions of the rows they look at.

Each returns the text that the recorded tool returned, to the byte.
"""

from __future__ import annotations

from collections.abc import Iterable

from memorepair.adapters.shapes import Row, as_object, object_of, text_of
from memorepair.adapters.tau_bench.arithmetic import evaluate
from memorepair.adapters.tau_bench.database import dumps
from memorepair.errors import InvalidInput

_ARITHMETIC = frozenset("0123456789+-*/(). ")

_AIRPORTS = (
    "SFO San Francisco;JFK New York;LAX Los Angeles;ORD Chicago;DFW Dallas;DEN Denver;SEA Seattle;"
    "ATL Atlanta;MIA Miami;BOS Boston;PHX Phoenix;IAH Houston;LAS Las Vegas;MCO Orlando;EWR Newark;"
    "CLT Charlotte;MSP Minneapolis;DTW Detroit;PHL Philadelphia;LGA LaGuardia"
)


def all_airports() -> str:
    """``list_all_airports``: codes with their cities."""
    return dumps({code: city for code, _, city in (one.partition(" ") for one in _AIRPORTS.split(";"))})


def user_details(row: Row | None) -> str:
    """``get_user_details``: the row as it stands."""
    return "Error: user not found" if row is None else dumps(row)


def reservation_details(row: Row | None) -> str:
    """``get_reservation_details``: the row as it stands."""
    return "Error: user not found" if row is None else dumps(row)  # sic: the words of the upstream tool


def direct_flights(flights: Iterable[Row], origin: str, destination: str, date: str) -> str:
    """``search_direct_flight``: flights of the pair that are available on the day, in table order."""
    found = [
        _on(flight, date)
        for flight in flights
        if _field(flight, "origin") == origin and _field(flight, "destination") == destination
        if _available(flight, date)
    ]
    return dumps([*found])


def onestop_flights(flights: Iterable[Row], origin: str, destination: str, date: str) -> str:
    """``search_onestop_flight``: pairs of available flights that meet.

    Two habits of the upstream tool are kept, for agreement to the byte: times are compared as texts, so that
    a first leg that lands the next day (``03:00:00+1``) meets flights of that day which leave later by the
    clock; and such a second leg is dated the next day but shows seats and prices of the day asked for.
    """
    flights = tuple(flights)
    second_legs = [flight for flight in flights if _field(flight, "destination") == destination]
    found: list[list[Row]] = []
    for first in flights:
        if _field(first, "origin") != origin or not _available(first, date):
            continue
        landing = _field(first, "scheduled_arrival_time_est")
        second_date = _day_after(date) if "+1" in landing else date
        found.extend(
            [_on(first, date) | {"date": date}, _on(second, date) | {"date": second_date}]
            for second in second_legs
            if _field(second, "origin") == _field(first, "destination")
            if landing <= _field(second, "scheduled_departure_time_est")
            if _available(second, second_date)
        )
    return dumps([[*pair] for pair in found])


def calculate(expression: str) -> str:
    """``calculate``: the value rounded to two digits, or what is wrong."""
    if not _ARITHMETIC.issuperset(expression):
        return "Error: invalid characters in expression"
    try:
        return str(round(evaluate(expression), 2))
    except (ArithmeticError, InvalidInput) as error:
        return f"Error: {error}"


def _field(flight: Row, name: str) -> str:
    return text_of(flight, name, "flight")


def _dates(flight: Row) -> Row:
    return object_of(flight, "dates", _field(flight, "flight_number"))


def _available(flight: Row, date: str) -> bool:
    dates = _dates(flight)
    return date in dates and text_of(as_object(dates[date], date), "status", date) == "available"


def _on(flight: Row, date: str) -> Row:
    """The flight on one day: its own fields, then those of the day."""
    day = as_object(_dates(flight).get(date, {}), date)
    return {name: value for name, value in flight.items() if name != "dates"} | day


def _day_after(date: str) -> str:
    """The next day as the recorded tool writes it, within the month."""
    if not date[-2:].isdecimal():
        raise InvalidInput(f"{date!r} is not a day", witness=date)
    return f"{date[:-2]}{int(date[-2:]) + 1}"
