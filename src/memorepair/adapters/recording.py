"""Recording: what another system has written down, as items with the links that say what came from what.

Items that are steps of an agent lie in runs, under the names that a run recorded here would have given them:
a run from elsewhere is shown, planned and recovered like one of our own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from memorepair.errors import InvalidInput
from memorepair.graphs.provenance import ProvenanceBuilder, ProvenanceGraph
from memorepair.graphs.support import SupportForm
from memorepair.graphs.terms import Arch, Kind, Relation
from memorepair.memory.artifact import Draft, Json, Key, Read, Recipe, Scope, Source
from memorepair.recovery.tools import Effect
from memorepair.recovery.trace import MODEL_STEPS, RESULT, STEPS, TASK, run_scope, step_recipe

UNDECLARED = "calls whose effect on the world is not declared, taken as irreversible"
EXAMPLES = 3
"""How many of the things of one sort that are missing are named."""

_NOTHING: Mapping[str, Json] = MappingProxyType({})
_PLAIN = Recipe()


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """Something that was recorded; `what` says in a word what it is there."""

    id: str
    what: str
    content: str
    kind: Kind = Kind.RECORD
    source: Source = Source.LOG
    recipe: Recipe = _PLAIN
    metadata: Mapping[str, Json] = field(default_factory=lambda: _NOTHING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """`head` came from `tail`; `rule` says how that was inferred, None where it is recorded."""

    tail: str
    head: str
    relation: Relation
    group: int
    rule: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a step stands: its run, its id there, its number among the run's steps."""

    run: str
    id: str
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Absence:
    """What is not in the files, or cannot be followed: how many times, and the first few places."""

    what: str
    count: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """What a file or a folder holds.

    Attributes
    ----------
    kind
        Kind of import.
    items, links
        In the order of the files.
    form
        How the groups of the links are read.
    missing
        What provenance would need and the files do not say.
    steps
        Id of an item -> its place in a run, for items that are steps.
    """

    kind: str
    items: tuple[Item, ...]
    links: tuple[Link, ...]
    form: SupportForm
    missing: tuple[Absence, ...]
    steps: Mapping[str, Place] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs, in the order of the files."""
        return tuple(dict.fromkeys(place.run for place in self.steps.values()))

    def key(self, scope: Scope, id: str) -> Key:
        """The key under which a memory stores an item."""
        place = self.steps.get(id)
        return Key(scope, id) if place is None else Key(run_scope(scope, place.run), place.id)

    @property
    def recorded(self) -> dict[str, int]:
        """Items by what they are, and the links that the files state."""
        found = Counter(item.what for item in self.items)
        found["links"] = sum(link.rule is None for link in self.links)
        return dict(found)

    @property
    def inferred(self) -> dict[str, int]:
        """Links that the files do not state, by the rule that found them."""
        return dict(Counter(link.rule for link in self.links if link.rule is not None))

    def graph(self) -> ProvenanceGraph[str]:
        """The provenance alone; nothing of it is stored."""
        builder = ProvenanceBuilder[str](support_form=self.form)
        for item in self.items:
            builder.add(item.id, kind=item.kind, arch=Arch.NONE)
        for link in self.links:
            builder.influence(link.tail, link.head, relation=link.relation, group=link.group)
        return builder.build()

    def drafts(self, scope: Scope) -> tuple[Draft, ...]:
        """What a memory stores of it, under the ids it has here.

        Raises
        ------
        InvalidInput
            A requirement can be met in several ways: a memory reads groups as alternatives.
        """
        reads: defaultdict[str, list[Read]] = defaultdict(list)
        met: set[tuple[str, int]] = set()
        for link in self.links:
            group = link.group
            if self.form == "requirements":  # all of them, each met in one way: one group
                if (link.head, group) in met:
                    raise InvalidInput(f"{link.head} has a requirement with choices", witness=link.head)
                met.add((link.head, group))
                group = 0
            reads[link.head].append(Read(key=self.key(scope, link.tail), relation=link.relation, group=group))
        return tuple(
            Draft(
                key=self.key(scope, item.id),
                content=item.content,
                kind=item.kind,
                source=item.source,
                recipe=self._recipe(item),
                reads=tuple(reads.get(item.id, ())),
                metadata={"what": item.what, **item.metadata},
            )
            for item in self.items
        )

    def _recipe(self, item: Item) -> Recipe:
        place = self.steps.get(item.id)
        if place is None:
            return item.recipe
        model = item.kind in MODEL_STEPS or item.kind is Kind.OBSERVATION
        step = step_recipe(place.number, cost=float(model), effect=_effect(item, place))
        params = {**item.recipe.params, **step.params}
        return replace(step, params=params, observed=step.observed or item.recipe.observed)


def _effect(item: Item, place: Place) -> Effect | None:
    """Of a call and of what was observed of it, for nobody has declared what it does."""
    called = item.kind is Kind.ACTION or (item.kind is Kind.OBSERVATION and place.id.endswith(RESULT))
    return Effect.IRREVERSIBLE if called else None


class Recorder:
    """Collects a `Recording`; items and links may come in any order, what is said twice counts once."""

    def __init__(self, kind: str, *, form: SupportForm = "alternatives") -> None:
        self._kind = kind
        self._form: SupportForm = form
        self._items: dict[str, Item] = {}
        self._links: dict[tuple[str, str, int], Link] = {}
        self._missing: defaultdict[str, list[str]] = defaultdict(list)
        self._run = ""
        self._of: dict[str, str] = {}  # step -> its run

    def begin(self, run: str) -> None:
        """Let the steps that are added from now on belong to a run; their ids begin with its name."""
        self._run = run

    def __contains__(self, id: str) -> bool:
        return id in self._items

    def get(self, id: str) -> Item | None:
        """The item with an id, where there is one."""
        return self._items.get(id)

    def add(self, item: Item) -> None:
        """Take an item.

        Raises
        ------
        InvalidInput
            Another item has its id (witness: the id).
        """
        if item.id in self._items:
            raise InvalidInput(f"{item.id} is there twice", witness=item.id)
        self._items[item.id] = item
        if self._run and item.kind in STEPS:
            self._of[item.id] = self._run

    def link(
        self, tail: str, head: str, relation: Relation, *, group: int = 0, rule: str | None = None
    ) -> None:
        """Take a link; of equal ends and group the first stays."""
        known = Link(tail=tail, head=head, relation=relation, group=group, rule=rule)
        self._links.setdefault((tail, head, group), known)

    def miss(self, what: str, where: str) -> None:
        """Note what is not there."""
        self._missing[what].append(where)

    def finish(self) -> Recording:
        """The recording; links that end nowhere, or where they began, are told and left out."""
        kept: list[Link] = []
        for link in self._links.values():
            if link.tail == link.head:
                self.miss("links from something to itself, left out", link.head)
            elif link.tail in self._items and link.head in self._items:
                kept.append(link)
            else:
                self.miss("links to what is not in the files, left out", f"{link.tail} -> {link.head}")
        steps = self._places(kept)
        return Recording(
            kind=self._kind,
            items=tuple(self._items.values()),
            links=tuple(kept),
            form=self._form,
            missing=tuple(
                Absence(what=what, count=len(places), examples=tuple(places[:EXAMPLES]))
                for what, places in self._missing.items()
            ),
            steps=MappingProxyType(steps),
        )

    def _places(self, links: list[Link]) -> dict[str, Place]:
        """Name steps as a recorded run does: its first input is the task, a result goes by its action."""
        steps = {id: self._items[id] for id in self._of}
        result: dict[str, str] = {}  # action -> the first that was observed of it
        for link in links:
            ends = [steps[end].kind for end in (link.tail, link.head) if end in steps]
            if ends == [Kind.ACTION, Kind.OBSERVATION]:
                result.setdefault(link.tail, link.head)
        task: dict[str, str] = {}
        for id, run in self._of.items():
            if steps[id].kind is Kind.USER_INPUT:
                task.setdefault(run, id)
        names: dict[str, str] = {}
        for id, run in self._of.items():
            if steps[id].kind is Kind.ACTION:
                self.miss(UNDECLARED, id)
            names[id] = TASK if task.get(run) == id else id.removeprefix(f"{run}/")
        names |= {id: names[of] + RESULT for of, id in result.items()}
        numbers: Counter[str] = Counter()
        places = {}
        for id, run in self._of.items():
            if run not in task:
                continue  # what nobody asked for is no run: its steps stay artifacts
            called = run.replace("/", "-").replace("::", "-")  # as part of a scope
            places[id] = Place(run=called, id=names[id], number=numbers[run])
            numbers[run] += 1
        for run in dict.fromkeys(self._of.values()):
            if run not in task:
                self.miss("runs without a recorded task, kept as artifacts", run)
        return places
