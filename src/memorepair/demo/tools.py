"""The assistant's tools: deterministic functions over their inputs and a bundled table."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, Decimal
from types import MappingProxyType
from typing import cast

from memorepair.demo.world import Table, table
from memorepair.errors import StepFailed
from memorepair.memory.artifact import Json
from memorepair.repair.jsontext import canonical, parse
from memorepair.repair.operators.operator import Call
from memorepair.repair.operators.recompute import FunctionOperator, operator

DAYS = {
    "mon": "Monday",
    "tue": "Tuesday",
    "wed": "Wednesday",
    "thu": "Thursday",
    "fri": "Friday",
    "sat": "Saturday",
    "sun": "Sunday",
}


def _texts(call: Call, prefix: str) -> list[str]:
    """Contents of the inputs whose id begins so: a tool knows its inputs by name, not by place."""
    return [source.content for source in call.inputs if source.key.id.startswith(prefix)]


def _text(call: Call, prefix: str) -> str:
    found = _texts(call, prefix)
    if not found:
        raise StepFailed(f"there is no input {prefix}", witness=call.key)
    return found[0]


def _object(call: Call, prefix: str) -> Table:
    return cast(Table, parse(_text(call, prefix)))


def _param(call: Call, name: str) -> str:
    return str(call.params[name])


@operator(name="place")
def place(call: Call) -> str:
    """Where somebody lives, from the sentence that says so."""
    found = re.search(r"lives in (\w+)", _text(call, "home"))
    city = found[1] if found else ""
    if city not in table("places"):
        raise StepFailed(f"the place service does not know {city!r}", witness=call.key)
    known = table("places", city)
    return canonical(
        {"city": city, "country": known["country"], "currency": known["currency"], "zone": known["zone"]}
    )


@operator(name="field")
def field(call: Call) -> str:
    """One field of a JSON result."""
    return str(_object(call, "place")[_param(call, "field")])


@operator(name="weather")
def weather(call: Call) -> str:
    """The forecast of one day at a place."""
    city, day = str(_object(call, "place")["city"]), _param(call, "day")
    return f"{DAYS[day]} in {city}: {table('places', city, 'sky')[day]}."


@operator(name="nearest")
def nearest(call: Call) -> str:
    """The nearest of something at a place."""
    city, what = str(_object(call, "place")["city"]), _param(call, "what")
    return f"Nearest {what}: {table('places', city, 'nearest')[what]}."


@operator(name="commute")
def commute(call: Call) -> str:
    """The way from a place to the office."""
    city = str(_object(call, "place")["city"])
    known = table("places", city)
    return f"From {city} the office is {known['minutes_to_office']} minutes away, first by {known['line']}."


@operator(name="nearby")
def nearby(call: Call) -> str:
    """The contacts who live at a place."""
    city = _object(call, "place")["city"]
    people = [cast(Table, parse(text)) for text in _texts(call, "contact.")]
    names = sorted(str(one["name"]) for one in people if one["city"] == city)
    return f"Friends in {city}: {', '.join(names) or 'nobody'}."


@operator(name="local-time")
def local_time(call: Call) -> str:
    """An appointment in a time zone."""
    zone, event = _text(call, "zone"), _object(call, "event.")
    hours, minutes = map(int, str(event["utc"]).split(":"))
    later = hours * 60 + minutes + cast(int, table("zones")[zone])
    day = DAYS[str(event["day"])]
    return f"{event['title']}: {day} at {later // 60:02d}:{later % 60:02d}, {event['minutes']} minutes."


@operator(name="safe-dishes")
def safe_dishes(call: Call) -> str:
    """The dishes of a menu that hold nothing the allergy record names."""
    allergy, menu = _text(call, "health."), _object(call, "menu.")
    dishes = cast("dict[str, list[str]]", menu["dishes"])
    safe = [dish for dish, holds in dishes.items() if not any(one in allergy for one in holds)]
    return f"{menu['name']}: {'、'.join(safe)}。"


def _rate(row: Table) -> Decimal:
    return Decimal(str(row["rate"] if "rate" in row else row["mid"]))


@operator(name="convert")
def convert(call: Call) -> str:
    """A receipt in euros, by a rate of either interface."""
    receipt, row = _object(call, "receipt."), _object(call, "rate.")
    euros = Decimal(str(receipt["amount"])) * _rate(row)
    cents = euros.quantize(Decimal("0.01"), ROUND_HALF_EVEN)
    return canonical({"eur": str(cents), "trip": receipt["trip"], "what": receipt["what"]})


@operator(name="trip-total")
def trip_total(call: Call) -> str:
    """What the converted receipts of a trip add up to."""
    receipts = [cast(Table, parse(text)) for text in _texts(call, "euros.")]
    euros = sum((Decimal(str(receipt["eur"])) for receipt in receipts), Decimal(0))
    return f"The trip to {str(receipts[0]['trip']).title()} cost {euros} EUR over {len(receipts)} receipts."


@operator(name="rates-to-v2", reads_own_version=True)
def rates_to_v2(call: Call) -> str:
    """The row migration: ``{pair, rate}`` becomes ``{base, quote, mid}`` with three decimals."""
    if call.own is None:
        raise StepFailed("a rate is carried over from its own version only", witness=call.key)
    row = cast(Table, parse(call.own))
    pair = str(row["pair"])
    mid: Json = str(_rate(row).quantize(Decimal("0.001"), ROUND_HALF_EVEN))
    return canonical({"base": pair[:3], "quote": pair[3:], "mid": mid})


TOOLS: tuple[FunctionOperator, ...] = (
    place,
    field,
    weather,
    nearest,
    commute,
    nearby,
    local_time,
    safe_dishes,
    convert,
    trip_total,
    rates_to_v2,
)
"""Everything the demo registers beside the operators that come with the package."""

PRICES = MappingProxyType(
    {
        "place": 40.0,
        "weather": 30.0,
        "nearest": 30.0,
        "commute": 30.0,
        "nearby": 20.0,
        "convert": 20.0,
        "safe-dishes": 15.0,
        "rates-to-v2": 15.0,
        "local-time": 10.0,
        "trip-total": 10.0,
        "field": 5.0,
    }
)
"""What a call of each tool costs the assistant, in tokens; texts cost what the default price list says."""
