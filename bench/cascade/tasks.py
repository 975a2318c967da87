"""Interdependent tasks: each builds on what earlier ones stored; steps are real functions of what they read.

The shape is that of a benchmark of interdependent agent tasks (bundled shopping, progressive search, group
travel, formal reasoning); the data are generated.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence

from bench.cascade.world import World, revised
from memorepair.errors import StepFailed
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import Draft, Json, Key, Read, Recipe, Source
from memorepair.repair.operators.operator import Call, Input, Operator
from memorepair.repair.operators.recompute import FunctionOperator
from memorepair.repair.operators.regen import ExtractiveSummariser, RegenOperator

Row = dict[str, Json]
Step = Callable[[Sequence[Row]], Row]

_COLOURS = ("red", "green", "blue", "black", "white")
_CITIES = ("Lisbon", "Vienna", "Oslo", "Turin", "Ghent", "Porto", "Basel", "Malmo")
_GOODS = ("Laptop", "Monitor", "Dock", "Keyboard", "Headset", "Camera", "Lamp", "Chair")
_LENGTH = 6
"""Tasks of a chain, each on the one before."""


def _number(row: Row, name: str) -> int:
    value = row.get(name)
    return value if isinstance(value, int) else 0


def _named(rows: Sequence[Row], what: str) -> list[Row]:
    return [row for row in rows if row.get("what") == what]


def _buy(rows: Sequence[Row]) -> Row:
    """The dearest offer that what is left of the purse pays."""
    bundles = _named(rows, "bundle")
    purse = min([_number(row, "left") for row in bundles or _named(rows, "purse")], default=0)
    offers = sorted(_named(rows, "offer"), key=lambda row: (-_number(row, "price"), str(row.get("name"))))
    chosen = next((row for row in offers if _number(row, "price") <= purse), None)
    held = [name for row in bundles for name in _texts(row, "items")]
    if chosen is None:
        return {"what": "bundle", "items": list[Json](held), "left": purse}
    return {
        "what": "bundle",
        "items": [*held, str(chosen.get("name"))],
        "left": purse - _number(chosen, "price"),
    }


def _search(rows: Sequence[Row]) -> Row:
    """What of the earlier answers, or of all pages, also fits the clue."""
    pages, clues, before = _named(rows, "page"), _named(rows, "clue"), _named(rows, "found")
    allowed = set(_texts(before[0], "names")) if before else {str(page.get("name")) for page in pages}
    names = [
        str(page.get("name"))
        for page in pages
        if str(page.get("name")) in allowed
        and all(_number(page, str(clue.get("field"))) >= _number(clue, "least") for clue in clues)
    ]
    return {"what": "found", "names": list[Json](sorted(names) or sorted(allowed))}


def _join(rows: Sequence[Row]) -> Row:
    """The plan so far with one more traveller: latest start, earliest end, a city nobody refuses."""
    plans, wishes = _named(rows, "plan"), _named(rows, "wish")
    refused = sorted({city for row in [*plans, *wishes] for city in _texts(row, "refused")})
    city = next((city for city in _CITIES if city not in refused), _CITIES[0])
    return {
        "what": "plan",
        "from": max((_number(row, "from") for row in [*plans, *wishes]), default=0),
        "to": min((_number(row, "to") for row in [*plans, *wishes]), default=0),
        "refused": list[Json](refused),
        "city": city,
    }


def _prove(rows: Sequence[Row]) -> Row:
    """A lemma: a number that follows from any one of its premises, which agree."""
    value = min((_number(row, "value") for row in rows if "value" in row), default=0)
    return {"what": "lemma", "value": value}


def _texts(row: Row, name: str) -> list[str]:
    value = row.get(name)
    return [str(one) for one in value] if isinstance(value, list) else []


_STEPS: Mapping[str, Step] = {"buy": _buy, "search": _search, "join": _join, "prove": _prove}


def _function(step: Step) -> Callable[[Call], str]:
    def run(call: Call) -> str:
        rows: list[Row] = []
        for source in call.inputs:
            try:
                value = json.loads(source.content)
            except ValueError as error:
                raise StepFailed(f"{source.key} is no row", witness=source.key) from error
            if isinstance(value, dict):
                rows.append(value)
        return json.dumps(step(rows))

    return run


def operators() -> tuple[Operator, ...]:
    """What makes the steps; `bench.priced` carries offers to another currency."""
    steps = (
        FunctionOperator(name=f"bench.{name}", function=_function(step)) for name, step in _STEPS.items()
    )
    carried = FunctionOperator(
        name="bench.priced",
        function=lambda call: (call.own or "").replace("USD", "EUR"),
        reads_own_version=True,
    )
    return (*steps, carried)


class _Maker:
    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.drafts: dict[Key, Draft] = {}
        self._make = {one.name: one for one in operators()}
        self._summarise = RegenOperator(name="summarise", generator=ExtractiveSummariser())

    def row(self, scope: str, id: str, row: Mapping[str, Json], *follows: Key) -> Key:
        reads = tuple(Read(key=key) for key in follows)
        return self._add(
            Draft(
                key=Key(("tasks", scope), id), content=json.dumps(dict(row)), source=Source.TOOL, reads=reads
            )
        )

    def step(self, scope: str, id: str, operator: str, *groups: Sequence[Key]) -> Key:
        """The result of a step on what it reads; each further group is enough by itself."""
        recipe = Recipe(operator=f"bench.{operator}")
        return self._made(scope, id, Kind.CACHE, recipe, groups)

    def summary(self, scope: str, id: str, *of: Key) -> Key:
        return self._made(scope, id, Kind.SUMMARY, Recipe(operator="summarise"), [of])

    def _made(self, scope: str, id: str, kind: Kind, recipe: Recipe, groups: Sequence[Sequence[Key]]) -> Key:
        key = Key(("tasks", scope), id)
        reads = tuple(Read(key=one, group=number) for number, group in enumerate(groups) for one in group)
        inputs = tuple(
            Input(
                key=one.key,
                version=1,
                kind=self.drafts[one.key].kind,
                relation=one.relation,
                content=self.drafts[one.key].content,
            )
            for one in reads
        )
        maker: Operator = self._summarise if kind is Kind.SUMMARY else self._make[recipe.operator or ""]
        made = maker.make(Call(key=key, inputs=inputs, params={}, interfaces={}, own=None))
        return self._add(Draft(key=key, content=made.content, kind=kind, recipe=recipe, reads=reads))

    def _add(self, draft: Draft) -> Key:
        self.drafts[draft.key] = draft
        return draft.key


def _shopping(make: _Maker, name: str) -> None:
    draw = make.draw
    shop = make.row(name, "interface", {"shop": name, "currency": "USD"})
    before = [make.row(name, "purse", {"what": "purse", "left": draw.randint(900, 2_500)})]
    for task in range(_LENGTH):
        offers = [
            make.row(
                name,
                f"offer-{task}-{number}",
                {
                    "what": "offer",
                    "name": f"{draw.choice(_GOODS)} {draw.randint(100, 999)}",
                    "price": draw.randint(20, 700),
                    "currency": "USD",
                    "colour": draw.choice(_COLOURS),
                    "said by buyers": " ".join(draw.choices(_COLOURS, k=draw.randint(3, 60))),
                },
                shop,
            )
            for number in range(4)
        ]
        bundle = make.step(name, f"task-{task}/bundle", "buy", [*before, *offers])
        make.summary(name, f"task-{task}/said", bundle, *offers[:2])
        before = [bundle]
    make.summary(name, "answer", *before)


def _searching(make: _Maker, name: str) -> None:
    draw = make.draw
    index = make.row(name, "interface", {"index": name})
    pages = [
        make.row(
            name,
            f"page-{number}",
            {
                "what": "page",
                "name": f"{draw.choice(_CITIES)} {number}",
                "rooms": draw.randint(1, 9),
                "stars": draw.randint(1, 5),
                "year": draw.randint(1990, 2025),
                "text": " ".join(draw.choices(_GOODS, k=draw.randint(4, 80))),
            },
            index,
        )
        for number in range(10)
    ]
    before: list[Key] = []
    for task in range(_LENGTH):
        field = draw.choice(("rooms", "stars", "year"))
        least = draw.randint(1, 3) if field != "year" else draw.randint(1990, 2005)
        clue = make.row(name, f"clue-{task}", {"what": "clue", "field": field, "least": least})
        looked = draw.sample(pages, 6)
        found = make.step(name, f"task-{task}/found", "search", [*before, clue, *looked])
        make.summary(name, f"task-{task}/said", found, looked[0])
        before = [found]
    make.summary(name, "answer", *before)


def _travelling(make: _Maker, name: str) -> None:
    draw = make.draw
    calendar = make.row(name, "interface", {"calendar": name})
    before: list[Key] = []
    for task in range(_LENGTH):
        begin = draw.randint(1, 90)
        wish = make.row(
            name,
            f"wish-{task}",
            {
                "what": "wish",
                "from": begin,
                "to": begin + draw.randint(100, 200),
                "refused": list[Json](draw.sample(_CITIES, draw.randint(0, 2))),
            },
            calendar,
        )
        plan = make.step(name, f"task-{task}/plan", "join", [*before, wish])
        make.summary(name, f"task-{task}/told", plan)
        before = [plan]
    make.summary(name, "itinerary", *before)


def _reasoning(make: _Maker, name: str) -> None:
    draw = make.draw
    system = make.row(name, "interface", {"system": name})
    value = draw.randint(2, 99)
    known = [
        make.row(name, f"axiom-{number}", {"what": "axiom", "value": value + number}, system)
        for number in range(4)
    ]
    for task in range(2 * _LENGTH):
        premises = draw.sample(known[-6:], 2)
        # Every third lemma has a second proof, which is enough.
        groups = [[premises[0]], [premises[1]]] if task % 3 == 0 else [premises]
        known.append(make.step(name, f"lemma-{task}", "prove", *groups))
    make.summary(name, "theorem", *known[-2:])


def tasks(seed: int, chains: int) -> World:
    """So many chains of each of the four sorts."""
    make = _Maker(random.Random(f"tasks {seed}"))
    for number in range(chains):
        for sort in (_shopping, _searching, _travelling, _reasoning):
            sort(make, f"{sort.__name__.strip('_')}-{number}")
    drafts = tuple(make.drafts.values())
    rows = tuple(one.key for one in drafts if one.kind is Kind.RECORD and one.key.id != "interface")
    return World(
        name="tasks",
        drafts=drafts,
        operators=operators(),
        deletable=rows,
        correctable=rows,
        migratable=tuple(one.key for one in drafts if one.key.id == "interface"),
        rows="bench.priced@1",
        revise=revised,
        renew=lambda content, draw: content.replace("USD", "EUR"),
    )
