"""Worlds: small databases with tools that act on them, one for each domain."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from types import MappingProxyType
from typing import Protocol

from memorepair.memory.artifact import Json
from memorepair.recovery import Effect, Tool
from memorepair.repair.jsontext import canonical


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """One thing to get done: rows of a table that fit two facts, the cheapest of them, ordered or only named.

    `by` maps a column to the fact its value comes from; `to` is the fact an order needs, None where nothing
    is ordered.
    """

    table: str
    by: Mapping[str, str]
    to: str | None

    @property
    def facts(self) -> tuple[str, ...]:
        """All facts it needs, in order."""
        return tuple(dict.fromkeys((*self.by.values(), *(() if self.to is None else (self.to,)))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """What users of a domain have, and what they want done.

    Attributes
    ----------
    facts
        Name of a fact -> the values it can have.
    errands
        Of the task; every fact is needed by one or two of them.
    siblings
        Fact -> another errand that needs it, for a later task.
    """

    name: str
    facts: Mapping[str, tuple[str, ...]]
    errands: tuple[Errand, ...]
    siblings: Mapping[str, Errand]


def _errand(name: str, to: str | None = None, /, **by: str) -> Errand:
    return Errand(table=name, by=MappingProxyType(by), to=to)


def _domain(name: str, facts: Mapping[str, str], *errands: Errand) -> Domain:
    siblings = {
        fact: _errand(f"more {errand.table}", **errand.by)
        for errand in errands
        for fact in errand.by.values()
    }
    # What only an order needs is looked up by a sibling of its own.
    siblings |= {
        errand.to: _errand(f"offices of {errand.to}", place=errand.to)
        for errand in errands
        if errand.to is not None and errand.to not in siblings
    }
    return Domain(
        name=name,
        facts=MappingProxyType({fact: tuple(values.split()) for fact, values in facts.items()}),
        errands=errands,
        siblings=MappingProxyType(siblings),
    )


SHOPPING = _domain(
    "shopping",
    {
        "shoe size": "38 39 40 41 42 43",
        "shoe width": "narrow regular wide",
        "colour": "navy olive crimson amber violet",
        "coat length": "short knee long",
        "coffee roast": "light medium dark",
        "grinder": "espresso filter press mocha",
        "phone model": "P7 P8 P9 Q1 Q2",
        "case material": "leather rubber cork",
        "desk height": "68 70 72 74",
        "lamp socket": "E14 E27 GU10",
        "bulb tone": "warm neutral cool",
        "bike frame": "52 54 56 58",
        "tyre width": "28 32 40",
        "delivery": "locker office home neighbour",
        "gift wrap": "none paper ribbon",
        "pet food": "salmon lamb turkey",
        "pet weight": "small middle heavy",
    },
    _errand("shoes", "delivery", size="shoe size", width="shoe width"),
    _errand("coats", colour="colour", length="coat length"),
    _errand("coffee", roast="coffee roast", grind="grinder"),
    _errand("phone cases", "gift wrap", model="phone model", material="case material"),
    _errand("lamps", socket="lamp socket", tone="bulb tone"),
    _errand("tyres", frame="bike frame", width="tyre width"),
    _errand("desks", height="desk height"),
    _errand("pet food", kind="pet food", weight="pet weight"),
)

TRAVEL = _domain(
    "travel",
    {
        "home airport": "LYS CDG NCE MRS BOD",
        "seat": "aisle window middle",
        "meal": "vegan halal kosher regular",
        "loyalty": "blue silver gold",
        "room floor": "low middle high",
        "bed": "twin queen king",
        "car class": "compact estate van",
        "gearbox": "manual automatic",
        "train class": "first second",
        "quiet coach": "yes no",
        "museum day": "Tuesday Thursday Sunday",
        "guide language": "French English Chinese Spanish",
        "restaurant": "bistro ramen tapas grill",
        "table size": "two four six",
        "luggage": "cabin checked both",
        "invoice": "company private",
        "travel month": "May June September October",
    },
    _errand("flights", "invoice", airport="home airport", seat="seat"),
    _errand("meals", meal="meal", loyalty="loyalty"),
    _errand("hotels", "luggage", floor="room floor", bed="bed"),
    _errand("cars", size="car class", gearbox="gearbox"),
    _errand("trains", coach="train class", quiet="quiet coach"),
    _errand("museums", day="museum day", language="guide language"),
    _errand("restaurants", style="restaurant", seats="table size"),
    _errand("festivals", month="travel month"),
)

SUPPORT = _domain(
    "support",
    {
        "router": "R100 R200 R300 X50",
        "firmware": "1.8 2.0 2.1 3.4",
        "plan": "basic plus pro",
        "contract": "monthly yearly",
        "payment": "card debit transfer",
        "invoice day": "1 10 15 20",
        "printer": "inkjet laser label",
        "paper": "A4 A5 letter",
        "backup": "daily weekly monthly",
        "region": "north south west east",
        "contact": "phone mail chat",
        "hours": "morning noon evening",
        "warranty": "standard extended",
        "repair shop": "Lyon Paris Lille Nantes",
        "screen": "13 14 16",
        "keyboard": "azerty qwerty qwertz",
        "antivirus": "light full",
    },
    _errand("router patches", "contact", model="router", version="firmware"),
    _errand("tariffs", plan="plan", contract="contract"),
    _errand("invoices", kind="payment", day="invoice day"),
    _errand("cartridges", "repair shop", printer="printer", paper="paper"),
    _errand("backups", interval="backup", region="region"),
    _errand("call slots", hours="hours"),
    _errand("laptops", screen="screen", keyboard="keyboard"),
    _errand("covers", warranty="warranty", antivirus="antivirus"),
)

DOMAINS = (SHOPPING, TRAVEL, SUPPORT)


class World(Protocol):
    """What an agent acts on."""

    @property
    def state(self) -> str:
        """Hash of all that can change."""
        ...

    def tools(self) -> dict[str, Tool]:
        """What an agent may call."""
        ...

    def copy(self) -> World:
        """The same state, apart from this one."""
        ...


@dataclass(slots=True)
class Database:
    """Tables that are searched, orders that are placed."""

    tables: Mapping[str, tuple[Mapping[str, Json], ...]]
    orders: dict[str, Mapping[str, Json]] = field(default_factory=dict)

    @property
    def state(self) -> str:
        """Hash of all that can change."""
        return sha256(
            canonical({key: dict(order) for key, order in self.orders.items()}).encode()
        ).hexdigest()

    def copy(self) -> Database:
        """The same orders, apart from these."""
        return Database(tables=self.tables, orders=dict(self.orders))

    def tools(self) -> dict[str, Tool]:
        """What an agent may call."""

        def search(table: str, where: dict[str, str]) -> Json:
            return [
                dict(row)
                for row in self.tables[table]
                if all(row[column] == value for column, value in where.items())
            ]

        def order(table: str, item: str, to: str) -> Json:
            number = f"{table}/{item}/{to}"
            self.orders[number] = {"table": table, "item": item, "to": to}
            return {"order": number}

        def cancel(arguments: Mapping[str, Json], result: Json) -> None:
            if isinstance(result, dict):
                self.orders.pop(str(result["order"]), None)

        return {
            "search": Tool(name="search", function=search, effect=Effect.READ),
            "order": Tool(
                name="order", function=order, effect=Effect.COMPENSATABLE_WRITE, compensation=cancel
            ),
        }


def database(domain: Domain, rng: random.Random) -> Database:
    """Rows for every combination of values of every errand, the price drawn."""
    tables: dict[str, tuple[Mapping[str, Json], ...]] = {}
    for errand in (*domain.errands, *domain.siblings.values()):
        rows: list[dict[str, Json]] = [{}]
        for column, fact in errand.by.items():
            rows = [{**row, column: value} for row in rows for value in domain.facts[fact]]
        tables[errand.table] = tuple(
            {"item": f"{errand.table[:2]}-{number * 2 + copy}", "price": rng.randint(10, 400), **row}
            for number, row in enumerate(rows)
            for copy in range(2)
        )
    return Database(tables=MappingProxyType(tables))
