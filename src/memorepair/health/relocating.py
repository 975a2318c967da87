"""Relocating: what lay in a wrong scope is written where it belongs, in the case that took it out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from memorepair.errors import InvalidInput, UnknownId
from memorepair.memory.artifact import SERVING, Draft, Key, Listing, Read, Recipe, Scope
from memorepair.memory.store import Store


def relocated(
    store: Store, keys: Sequence[Key], to: Scope, *, actor: str, reason: str, dry_run: bool = False
) -> list[Draft]:
    """Drafts of withdrawn artifacts in another scope; the look at each is journalled for the person.

    A dry run journals nothing: its drafts are for a write that is taken back.

    A draft says and is described as the artifact was, keeps its id where that is free, and stands on all that
    the artifact was made from: an event on any of it must reach the copy. What is there already with the same
    text is left out, so that a move that was cut off can be made again.

    Raises
    ------
    InvalidInput
        It lies in that scope; or it was made from what lies apart from that scope, where it would be a leak
        again, or from what an event took out of service, so that it would come back past a barrier.
    """
    homes: dict[Key, Key] = {}
    moving: dict[Key, Key] = {}
    for key in keys:
        if key.scope == to:
            raise InvalidInput(f"{key} lies in that scope", witness=key)
        home, free = _home(store, Key(to, key.id), store.describe(key).digest, set(moving.values()))
        homes[key] = home
        if free:
            moving[key] = home
    reads = {key: _reads(store, key, homes, to) for key in moving}
    recipes = store.recipes(list(moving))
    drafts: list[Draft] = []
    for key, home in moving.items():
        if dry_run:
            artifact = store.former([(key, store.describe(key).version)])[key]
        else:
            artifact = store.inspect(key, actor=actor, reason=reason)
        drafts.append(
            replace(
                artifact.draft(),
                key=home,
                embedding=artifact.embedding,
                recipe=recipes.get(key, Recipe()),
                reads=reads[key],
            )
        )
    return drafts


def _reads(store: Store, key: Key, homes: Mapping[Key, Key], to: Scope) -> tuple[Read, ...]:
    """What the copy of `key` stands on: what moves with it in its new place, all else where it is."""
    reads: dict[Read, None] = {}
    for arc in store.support([key]):
        parent, version = arc.parent, arc.parent_version
        if parent in homes:
            reads[Read(key=homes[parent], relation=arc.relation, group=arc.group)] = None
            continue
        if not _related(parent.scope, to):
            raise InvalidInput(f"{key} was made from {parent}, which lies apart from there", witness=parent)
        barred = not arc.parent_served or any(
            one.version == arc.read_version and one.case is not None for one in store.history(parent)
        )
        if barred:
            what = f"version {arc.read_version} of {parent}, which an event took out of service"
            raise InvalidInput(f"{key} was made from {what}", witness=parent)
        reads[Read(key=parent, version=version, relation=arc.relation, group=arc.group)] = None
    return tuple(reads)


def _home(store: Store, wanted: Key, digest: str, taken: Collection[Key]) -> tuple[Key, bool]:
    """The key, or the next that is free; not free where the text is served there already."""
    home, n = wanted, 1
    while True:
        there = _there(store, home)
        if there is None and home not in taken:
            return home, True
        if there is not None and there.digest == digest and there.state in SERVING:
            return home, False
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
