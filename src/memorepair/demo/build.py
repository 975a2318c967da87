"""The assistant memory of the demo, written the way an agent writes: every derived part inside `deriving`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from memorepair.demo.tools import DAYS
from memorepair.demo.world import Table, lists, table, texts
from memorepair.errors import UnknownId
from memorepair.facade import Memory
from memorepair.graphs.terms import Arch, Kind, Relation
from memorepair.memory.artifact import Json, Key, Recipe, Scope, Source, TaskCase
from memorepair.repair.jsontext import canonical
from memorepair.repair.operators.operator import Call, Input

ADA: Scope = ("user", "ada")
BEN: Scope = ("user", "ben")
MEI: Scope = ("user", "mei")
OPS: Scope = ("team", "ops")

HOME = Key(ADA, "home")
ALLERGY = Key(MEI, "health.allergy")
RATES = Key(OPS, "currency.rates@1")
NEW_RATES = Key(OPS, "currency.rates@2")

_WORKDAYS = ("mon", "tue", "wed", "thu", "fri")
_USES = {
    ADA: {
        "profile": 40,
        "skill.greeting": 60,
        "skill.scheduling": 25,
        "plan.week": 12,
        "about": 8,
        "glance": 9,
    },
    MEI: {
        "profile": 20,
        "diet.overview": 30,
        "skill.restaurant-picker": 18,
        "meals.week": 10,
        "shortlist": 6,
    },
    OPS: {
        "skill.file-receipt": 35,
        "skill.check-limit": 12,
        "costs.month": 9,
        "report.travel": 4,
        "policy": 15,
    },
    BEN: {"profile": 10, "skill.reply-style": 14, "week": 6},
}


def build(memory: Memory) -> None:
    """Fill an empty memory: four scopes, about two hundred artifacts, some of them in use."""
    _ada(_Writer(memory, ADA))
    _ben(_Writer(memory, BEN))
    _mei(_Writer(memory, MEI))
    _ops(_Writer(memory, OPS))
    for scope, uses in _USES.items():
        for id, times in uses.items():
            for _ in range(times):
                memory.get(Key(scope, id))


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes into one scope."""

    memory: Memory
    scope: Scope

    def records(self, contents: dict[str, str], source: Source = Source.USER) -> None:
        for id, content in contents.items():
            self.memory.record(content, id=id, scope=self.scope, source=source)

    def described(self, rows: Table) -> None:
        for id, row in rows.items():
            content, more = cast("tuple[str, Table]", row)
            slot = cast("list[str] | None", more.get("slot"))
            self.memory.record(
                content,
                id=id,
                scope=self.scope,
                type=cast(str, more["type"]),
                slot=None if slot is None else (slot[0], slot[1]),
            )

    def derive(
        self,
        id: str,
        operator: str,
        reads: Iterable[str],
        *,
        kind: Kind = Kind.CACHE,
        arch: Arch = Arch.NONE,
        cases: tuple[TaskCase, ...] = (),
        **params: Json,
    ) -> None:
        """Write what the operator makes of what is read: the same operator that repair will run."""
        made_by = self.memory.operators.get(f"{operator}@1")
        if made_by is None:
            raise UnknownId(f"the demo has no operator {operator}", witness=operator)
        recipe = Recipe(operator=operator, params=params, cases=cases)
        with self.memory.deriving(kind=kind, arch=arch, scope=self.scope, recipe=recipe) as derivation:
            sources = [derivation.read(Key(self.scope, read)) for read in reads]
            inputs = tuple(
                Input(
                    key=source.key,
                    version=source.version,
                    kind=source.kind,
                    relation=Relation.DERIVE,
                    content=source.content,
                )
                for source in sources
            )
            call = Call(key=Key(self.scope, id), inputs=inputs, params=params, interfaces={}, own=None)
            derivation.write(made_by.make(call).content, id=id)

    def stated(
        self,
        id: str,
        content: str,
        reads: Iterable[str],
        *,
        kind: Kind,
        arch: Arch = Arch.NONE,
        observed: bool = False,
    ) -> None:
        """Write given text that stands on what is read."""
        recipe = Recipe(observed=observed)
        with self.memory.deriving(kind=kind, arch=arch, scope=self.scope, recipe=recipe) as derivation:
            for read in reads:
                derivation.read(Key(self.scope, read))
            derivation.write(content, id=id)

    def summary(self, id: str, *reads: str, characters: int = 400, sentences: int | None = None) -> None:
        self.derive(id, "summarise", reads, kind=Kind.SUMMARY, characters=characters, sentences=sentences)

    def prompt(self, id: str, template: str, *reads: str, cases: tuple[TaskCase, ...] = ()) -> None:
        self.derive(
            id,
            "prompt-skill",
            reads,
            kind=Kind.SKILL,
            arch=Arch.PROMPT,
            cases=cases,
            template=template + "\n{sources}",
        )


def _ada(ada: _Writer) -> None:
    ada.described(table("ada", "records"))
    ada.records(texts("ada", "letters"), source=Source.LOG)
    for id, person in table("ada", "contacts").items():
        ada.records({f"contact.{id}": canonical(person)})
    by_day: dict[str, list[str]] = {day: [] for day in _WORKDAYS}
    ada.derive("place", "place", ["home"])
    for name in ("zone", "currency", "country"):
        ada.derive(name, "field", ["place"], field=name)
    for id, event in table("ada", "events").items():
        title, day, utc, minutes = cast("tuple[str, str, str, int]", event)
        about: Json = {"title": title, "day": day, "utc": utc, "minutes": minutes}
        ada.records({f"event.{id}": canonical(about)})
        ada.derive(f"time.{id}", "local-time", ["zone", f"event.{id}"])
        by_day[day].append(f"time.{id}")
    for day in DAYS:
        ada.derive(f"weather.{day}", "weather", ["place"], day=day)
    nearest = list(table("places", "Paris", "nearest"))
    for what in nearest:
        ada.derive(f"nearest.{what}", "nearest", ["place"], what=what)
    ada.derive("commute", "commute", ["place", "office"])
    ada.derive("nearby", "nearby", ["place", *(f"contact.{id}" for id in table("ada", "contacts"))])
    ada.stated(
        "courier.pickup",
        "Courier booked for Saturday at 10:00, pick-up at 12 rue Oberkampf, number K-4471.",
        ["home"],
        kind=Kind.CACHE,
        observed=True,
    )
    for day in _WORKDAYS:
        ada.summary(f"day.{day}", *by_day[day])
        ada.summary(f"plan.{day}", f"weather.{day}", f"day.{day}")
    ada.summary("glance", *(f"day.{day}" for day in _WORKDAYS))
    ada.summary("plan.week", *(f"plan.{day}" for day in _WORKDAYS), "commute")
    ada.summary("outlook.weekend", "weather.sat", "weather.sun", "pref.running")
    ada.summary("about", "home", "job", "office", "partner")
    ada.summary("profile", "about", "pref.food", "pref.breakfast", "pref.travel", "pref.tone")
    ada.summary("errands", *(f"nearest.{what}" for what in nearest))
    ada.summary("deliveries", "courier.pickup", "home", "nearest.pharmacy")
    ada.summary("moving", "home", *texts("ada", "letters"), characters=1_200)
    ada.summary("month", "plan.week", "glance", "errands", "profile", characters=900)
    ada.summary("quarter", "month", "moving", "goal.spring", "about", characters=900)
    ada.prompt("skill.greeting", "Greet Ada briefly, knowing:", "profile", "pref.tone")
    ada.prompt("skill.packing", "Say what Ada should wear, from this:", "plan.week", "wardrobe")
    ada.prompt(
        "skill.weekend", "Suggest a weekend, from this:", "outlook.weekend", "nearby", "nearest.running-route"
    )
    ada.prompt("skill.scheduling", "Find a free hour, given:", "glance", "pref.meetings")
    ada.prompt("skill.errands", "Plan a round of errands, from this:", "errands", "commute")
    ada.stated(
        "skill.voice", "adapter:ada-voice:7f3a", ["profile", "letter.1"], kind=Kind.SKILL, arch=Arch.NEURAL
    )


def _ben(ben: _Writer) -> None:
    ben.records(texts("ben", "records"))
    for id, reads in lists("ben", "summaries").items():
        if id != "profile":
            ben.summary(id, *reads)
    ben.summary("profile", *lists("ben", "summaries")["profile"])
    for id, reads in lists("ben", "skills").items():
        ben.prompt(f"skill.{id}", "Write as Ben would, knowing:", *reads)


def _mei(mei: _Writer) -> None:
    mei.described(table("mei", "records"))
    restaurants = list(table("mei", "menus"))
    for id in restaurants:
        mei.records({f"menu.{id}": canonical(table("mei", "menus")[id])}, source=Source.TOOL)
        mei.records({f"rating.{id}": texts("mei", "ratings")[id]}, source=Source.TOOL)
        mei.derive(f"safe.{id}", "safe-dishes", ["health.allergy", f"menu.{id}"])
    mei.summary("health.card", "health.allergy")
    mei.summary("diet.overview", "health.allergy", "diet.spice", "diet.tea", "diet.dinner", sentences=2)
    mei.summary("breakfast", "diet.overview", "diet.breakfast", characters=90)
    mei.summary("dinner", "diet.overview", "family.son", "family.mother")
    mei.summary(
        "shortlist",
        *(f"safe.{id}" for id in restaurants),
        *(f"rating.{id}" for id in restaurants),
        "pref.budget",
    )
    mei.summary("meals.week", "breakfast", "dinner", "shortlist")
    mei.summary("family.digest", "family.mother", "family.son", "meals.week")
    mei.summary("profile", "home", "job", "pref.language", "diet.overview")
    mei.summary("trip.plan", "trip.hangzhou", "diet.overview", "pref.budget")
    mei.summary("month", "profile", "family.digest", "trip.plan", "work.deadline", characters=600)
    mei.prompt(
        "skill.restaurant-picker",
        "选一家餐厅：",
        "shortlist",
        "health.allergy",
        "pref.budget",
        cases=(TaskCase(name="warns of allergies", contains=("过敏",)),),
    )
    mei.prompt("skill.shopping", "列一张购物清单：", "meals.week", "pref.budget")
    mei.prompt("skill.tea", "推荐一种茶：", "diet.tea", "diet.overview")


def _ops(ops: _Writer) -> None:
    ops.records(texts("ops", "records"), source=Source.HUMAN)
    ops.records({RATES.id: canonical(table("ops", "interface", "v1"))}, source=Source.SYSTEM)
    for currency, rate in texts("ops", "rates").items():
        row = canonical({"pair": f"{currency}EUR", "rate": rate})
        ops.stated(f"rate.{currency}", row, [RATES.id], kind=Kind.RECORD)
    trips = table("ops", "trips")
    for trip, receipts in trips.items():
        found = cast("list[tuple[str, str, str]]", receipts)
        for number, (what, amount, currency) in enumerate(found, start=1):
            receipt: Json = {"amount": amount, "currency": currency, "trip": trip, "what": what}
            ops.records({f"receipt.{trip}.{number}": canonical(receipt)})
            ops.derive(f"euros.{trip}.{number}", "convert", [f"receipt.{trip}.{number}", f"rate.{currency}"])
        ops.derive(
            f"total.{trip}", "trip-total", [f"euros.{trip}.{number + 1}" for number in range(len(found))]
        )
    ops.summary("policy", "policy.meals", "policy.hotel", "policy.receipts", "policy.approver")
    ops.summary("costs.europe", "total.oslo", "total.london", "total.zurich", "total.gdansk")
    ops.summary("costs.overseas", "total.boston", "total.shanghai", "total.osaka")
    ops.summary("costs.quiet", "total.london", "total.zurich", "total.gdansk", "policy.hotel")
    ops.summary("costs.month", "costs.europe", "costs.overseas", characters=700)
    ops.summary("report.travel", "costs.month", "policy", "team", "supplier", characters=900)
    ops.summary("report.quarter", "report.travel", "costs.quiet", characters=900)
    for id, procedure in table("ops", "procedures").items():
        ops.derive(
            f"skill.{id}", "rewrite-chain", [RATES.id], kind=Kind.SKILL, arch=Arch.CHAIN, procedure=procedure
        )
    ops.prompt("skill.expense-coach", "Advise on expenses, knowing:", "policy", "costs.month")
    ops.prompt("skill.trip-planner", "Plan a trip within the rules:", "policy", "supplier", "costs.quiet")
