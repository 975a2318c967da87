"""Recording: what another system has written down, as items with the links that say what came from what."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from memorepair.errors import InvalidInput
from memorepair.graphs.provenance import ProvenanceBuilder, ProvenanceGraph
from memorepair.graphs.support import SupportForm
from memorepair.graphs.terms import Arch, Kind, Relation
from memorepair.memory.artifact import Draft, Json, Key, Read, Recipe, Scope, Source

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
    """

    kind: str
    items: tuple[Item, ...]
    links: tuple[Link, ...]
    form: SupportForm
    missing: tuple[Absence, ...]

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
            reads[link.head].append(Read(key=Key(scope, link.tail), relation=link.relation, group=group))
        return tuple(
            Draft(
                key=Key(scope, item.id),
                content=item.content,
                kind=item.kind,
                source=item.source,
                recipe=item.recipe,
                reads=tuple(reads.get(item.id, ())),
                metadata={"what": item.what, **item.metadata},
            )
            for item in self.items
        )


class Recorder:
    """Collects a `Recording`; items and links may come in any order, what is said twice counts once."""

    def __init__(self, kind: str, *, form: SupportForm = "alternatives") -> None:
        self._kind = kind
        self._form: SupportForm = form
        self._items: dict[str, Item] = {}
        self._links: dict[tuple[str, str, int], Link] = {}
        self._missing: defaultdict[str, list[str]] = defaultdict(list)

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
        return Recording(
            kind=self._kind,
            items=tuple(self._items.values()),
            links=tuple(kept),
            form=self._form,
            missing=tuple(
                Absence(what=what, count=len(places), examples=tuple(places[:EXAMPLES]))
                for what, places in self._missing.items()
            ),
        )
