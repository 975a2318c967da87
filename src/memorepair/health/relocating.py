"""Relocating: what lay in a wrong scope is written where it belongs, in the case that took it out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memorepair.errors import InvalidInput, UnknownId
from memorepair.health.remedies import described
from memorepair.memory.artifact import SERVING, Draft, Key, Listing, Read, Recipe, Scope
from memorepair.memory.store import Store


def relocated(store: Store, keys: Sequence[Key], to: Scope, *, actor: str, reason: str) -> list[Draft]:
    """Drafts of withdrawn artifacts in another scope; the look at each is journalled for the person.

    A draft says and is described as the artifact was, keeps its id where that is free, and stands on those of
    its sources that are served and lie in the scope, around it or inside it. What is there already with the
    same text is left out, so that a move that was cut off can be made again.

    Raises
    ------
    InvalidInput
        It lies in that scope.
    """
    recipes = store.recipes(list(keys))
    drafts: list[Draft] = []
    taken: set[Key] = set()
    for key in keys:
        if key.scope == to:
            raise InvalidInput(f"{key} lies in that scope", witness=key)
        home = _home(store, Key(to, key.id), store.describe(key).digest, taken)
        if home is None:
            continue
        taken.add(home)
        artifact = store.inspect(key, actor=actor, reason=reason)
        reads = tuple(
            Read(key=parent.key)
            for parent in store.parents(key)
            if parent.state in SERVING and _related(parent.key.scope, to)
        )
        drafts.append(
            replace(
                described(artifact),
                key=home,
                embedding=artifact.embedding,
                recipe=recipes.get(key, Recipe()),
                reads=reads,
            )
        )
    return drafts


def _home(store: Store, wanted: Key, digest: str, taken: set[Key]) -> Key | None:
    """The key, or the next that is free; None where the text is served there already."""
    home, n = wanted, 1
    while True:
        there = _there(store, home)
        if there is None and home not in taken:
            return home
        if there is not None and there.digest == digest and there.state in SERVING:
            return None
        n += 1
        home = Key(wanted.scope, f"{wanted.id}-{n}")


def _there(store: Store, key: Key) -> Listing | None:
    try:
        return store.describe(key)
    except UnknownId:
        return None


def _related(one: Scope, other: Scope) -> bool:
    shared = min(len(one), len(other))
    return one[:shared] == other[:shared]
