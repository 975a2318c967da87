"""Reading: a store's served artifacts as the audit sees them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memorepair.errors import InvalidInput
from memorepair.graphs.terms import Kind
from memorepair.memory.arguments import as_member
from memorepair.memory.artifact import Artifact, Key, Recipe
from memorepair.memory.store import Store
from memorepair.repair.audit.corpus import Item

_MOST_LABELS = 200
"""With more operators than this, kinds alone are the labels: the audit learns every pair of labels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Served artifacts in order of birth, and the recorded arcs among them by position."""

    keys: tuple[Key, ...]
    versions: tuple[int, ...]
    items: tuple[Item, ...]
    arcs: tuple[tuple[int, int], ...]

    def labels(self, declared: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
        """Operator -> kinds, as label -> labels of this store."""
        known = {item.kind for item in self.items}
        told: dict[str, tuple[str, ...]] = {}
        for operator, kinds in declared.items():
            if not isinstance(operator, str):
                raise InvalidInput("an operator is declared by its name", witness=operator)
            if isinstance(kinds, str) or not isinstance(kinds, Iterable):
                raise InvalidInput("what an operator reads is a list of kinds", witness=operator)
            names = {as_member(Kind, kind).name.lower() for kind in kinds}
            below = tuple(sorted(label for label in known if label.partition(":")[0] in names))
            told |= {label: below for label in known if label.partition(":")[2] == operator}
        return told


def read_store(store: Store) -> Reading:
    """The store as it is served now; O(store)."""
    served = store.served_with_recipes()
    position = {artifact.key: place for place, (artifact, _) in enumerate(served)}
    snapshot = store.snapshot()
    supported = {arc.child for arc in snapshot.arcs if arc.parent != arc.child}
    operators = {recipe.operator for _, recipe in served}
    arcs = {
        (position[arc.parent], position[arc.child])
        for arc in snapshot.arcs
        if arc.parent in position and arc.child in position
    }
    # What stands only on something out of service is recorded, though its parents are not among the items.
    elsewhere = supported - {served[child][0].key for _, child in arcs}
    plain = len(operators) > _MOST_LABELS
    items = tuple(_item(artifact, recipe, elsewhere, plain=plain) for artifact, recipe in served)
    return Reading(
        keys=tuple(position),
        versions=tuple(artifact.version for artifact, _ in served),
        items=items,
        arcs=tuple(sorted(arcs)),
    )


def _item(artifact: Artifact, recipe: Recipe, elsewhere: set[Key], *, plain: bool) -> Item:
    kind = artifact.kind.name.lower()
    made = recipe.operator is not None or recipe.observed
    called = artifact.kind in (Kind.CACHE, Kind.RECORD) and made
    return Item(
        scope="/".join(artifact.key.scope),
        kind=kind if plain or recipe.operator is None else f"{kind}:{recipe.operator}",
        text=artifact.content,
        given=json.dumps(dict(recipe.params), ensure_ascii=False) if called and recipe.params else "",
        original=artifact.kind is Kind.RECORD and not made,
        derived=_is_derived(artifact, recipe) and artifact.key not in elsewhere,
    )


def _is_derived(artifact: Artifact, recipe: Recipe) -> bool:
    """What a person said, in a run too, was made from nothing here."""
    if artifact.kind is Kind.USER_INPUT:
        return False
    return artifact.kind is not Kind.RECORD or recipe.operator is not None
