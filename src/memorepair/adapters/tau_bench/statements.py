"""Which results a message states: an inference from the values they share.

A value is *rare* when it is an id, a flight number, an e-mail address, a date, a full name or a sum of money.
A result *brings* the rare values it holds that nobody had given before, neither a user's message nor the call's
own arguments, as well as its subject: the user or reservation the call names. A message states every earlier
result of its run that brings a value which the message repeats.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

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
    """Rare values that a recorded result holds: its leaves where it is JSON, a text otherwise."""
    try:
        value = parse(result)
    except InvalidInput:
        return values_of_text(result)
    found: set[str] = set()
    todo: list[Json] = [value]
    if isinstance(value, int | float):
        return frozenset([_money(result)])
    while todo:
        node = todo.pop()
        if isinstance(node, str):
            found |= values_of_text(node)
        elif isinstance(node, list):
            todo.extend(node)
        elif isinstance(node, dict):
            found |= values_of_text(f"{node.get('first_name', '')} {node.get('last_name', '')}")
            for name, member in node.items():
                found |= values_of_text(name)
                if name in _NOT_MONEY:
                    continue
                if name in _MONEY_FIELDS and isinstance(member, int | float):
                    found.add(_money(str(member)))
                else:
                    todo.append(member)
    return frozenset(found)


def brought(call: ToolCall, given: AbstractSet[str]) -> frozenset[str]:
    """Values by which a message states the result of `call`; `given` are those that users gave before."""
    subject = {id for name in _SUBJECT if isinstance(id := call.arguments.get(name), str)}
    return values_of_result(call.result) - given - _values_of_arguments(call) | subject


def _values_of_arguments(call: ToolCall) -> frozenset[str]:
    """Rare values that a call was given; any of its numbers may be a sum."""
    found: set[str] = set()
    todo = [*call.arguments.values()]
    while todo:
        node = todo.pop()
        if isinstance(node, str):
            found |= values_of_text(node)
        elif isinstance(node, int | float):
            found.add(_money(str(node)))
        elif isinstance(node, list):
            todo.extend(node)
        elif isinstance(node, dict):
            found |= values_of_text(f"{node.get('first_name', '')} {node.get('last_name', '')}")
            todo.extend(node.values())
    return frozenset(found)


def _id(text: str) -> str:
    """People say the number of a payment method without its kind."""
    return (
        text.rsplit("_", 1)[-1] if text.startswith(("credit_card_", "gift_card_", "certificate_")) else text
    )


def _money(text: str) -> str:
    """A sum of money: its size in cents, whoever gets it."""
    return f"${round(abs(float(text.replace(',', ''))) * 100)}"
