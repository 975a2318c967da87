"""Which results a message states: an inference from the values they share.

A value is *rare* when it is an id, a flight number, an e-mail address, a date, a full name or a sum of money.
A result *brings* the rare values it holds that nobody had given before, neither a user's message nor the
call's own arguments, as well as its subject: the user or reservation the call names. A message states every
earlier result of its run that brings a value which the message repeats.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from decimal import Decimal

from memorepair.adapters.tau_bench.traces import ToolCall
from memorepair.errors import InvalidInput
from memorepair.memory.artifact import Json
from memorepair.repair.jsontext import parse

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_YEAR = "2024"
"""Of the benchmark; its texts mostly leave it out."""

_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_ID = re.compile(r"\b[A-Z0-9]{6}\b|\b[a-z]+(?:_[a-z]+)*_\d{3,}\b|\b\d{7}\b")
_DATE = re.compile(r"\b(\d{4}-\d\d-\d\d)")
_SPOKEN_DATE = re.compile(
    rf"\b({'|'.join(_MONTHS)})[a-z]*\.? (\d{{1,2}})(?:st|nd|rd|th)?(?:,? (\d{{4}}))?\b", re.IGNORECASE
)
_MONEY = re.compile(r"\$ ?(\d[\d,]*(?:\.\d+)?)")
_AMOUNT = re.compile(r"\b(?:price is|paid|amount) (\d+(?:\.\d+)?)")
_NAME = re.compile(r"\b(?=([A-Z][a-z]+ [A-Z][a-z]+)\b)")
_MONEY_FIELDS = frozenset({"price", "amount", "basic_economy", "economy", "business"})
_NOT_MONEY = frozenset({"available_seats"})
_PAYMENT_KINDS = ("credit_card_", "gift_card_", "certificate_")
_SUBJECT = ("user_id", "reservation_id")


def values_of_text(text: str) -> frozenset[str]:
    """Rare values that a text names."""
    text = text.replace("*", "")
    spoken = (
        f"{year or _YEAR}-{_MONTHS.index(month[:3].lower()) + 1:02}-{int(day):02}"
        for month, day, year in _SPOKEN_DATE.findall(text)
    )
    return frozenset(
        [
            *_EMAIL.findall(text),
            *(_id(found) for found in _ID.findall(text)),
            *_DATE.findall(text),
            *spoken,
            *(_money(found) for found in _MONEY.findall(text)),
            *(_money(found) for found in _AMOUNT.findall(text)),
            *_NAME.findall(text),
        ]
    )


def values_of_result(result: str) -> frozenset[str]:
    """Rare values that a recorded result holds: of its fields where it is JSON, of its words otherwise."""
    try:
        value = parse(result)
    except InvalidInput:
        return values_of_text(result)
    return _values(value, every_number=not isinstance(value, dict | list))


def brought(call: ToolCall, given: AbstractSet[str]) -> frozenset[str]:
    """Values by which a message states the result of `call`; `given` are those that users gave before."""
    subject = {id for name in _SUBJECT if isinstance(id := call.arguments.get(name), str)}
    return values_of_result(call.result) - given - _values(dict(call.arguments), every_number=True) | subject


def _values(value: Json, *, every_number: bool) -> frozenset[str]:
    """Rare values in JSON; a number is money where its field says so, or anywhere with `every_number`."""
    found: set[str] = set()
    todo: list[tuple[str, Json]] = [("", value)]
    while todo:
        name, node = todo.pop()
        match node:
            case None | bool():
                pass
            case int() | float():
                if every_number or name in _MONEY_FIELDS:
                    found.add(_money(str(node)))
            case str():
                found |= values_of_text(node)
            case list():
                todo.extend((name, member) for member in node)
            case _:
                found |= values_of_text(f"{node.get('first_name', '')} {node.get('last_name', '')}")
                for field, member in node.items():
                    found |= values_of_text(field)
                    if field not in _NOT_MONEY:
                        todo.append((field, member))
    return frozenset(found)


def _id(text: str) -> str:
    """People say the number of a payment method without its kind."""
    return text.rpartition("_")[2] if text.startswith(_PAYMENT_KINDS) else text


def _money(text: str) -> str:
    """A sum of money by its size, whoever gets it."""
    return f"${abs(Decimal(text.replace(',', ''))).normalize():f}"
