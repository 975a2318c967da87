"""Origins: what says only what sources of one origin say counts as one source with them."""

from __future__ import annotations

from collections.abc import Iterable

from memorepair.graphs.terms import PROPAGATING
from memorepair.memory.artifact import Key
from memorepair.memory.store import Store
from memorepair.recovery.trace import grouped


def with_echoes(
    store: Store, origins: Iterable[tuple[Key, ...]], faulty: Iterable[Key]
) -> tuple[tuple[Key, ...], ...]:
    """Each set of one origin, with what stands on it alone and the fault does not reach.

    A run knows a memory by its reads and by claims on these: a claim on the read of a copy is no second
    voice. What the fault reaches is judged by its own support. O(what the fault and the sets reach) look-ups.

    Raises
    ------
    UnknownId
        There is no such artifact.
    """
    sets = [one for one in origins if len(one) > 1]
    reached = _reach(store, faulty) if sets else set()
    return tuple(_echoes(store, one, reached) for one in sets)


def _reach(store: Store, keys: Iterable[Key]) -> set[Key]:
    found = set(keys)
    waiting = sorted(found)
    while waiting:
        new = {child.key for child in store.children(waiting.pop())} - found
        found |= new
        waiting += sorted(new)
    return found


def _echoes(store: Store, origin: tuple[Key, ...], reached: set[Key]) -> tuple[Key, ...]:
    found = dict.fromkeys(origin)
    waiting = list(origin)
    while waiting:
        children = {child.key for child in store.children(waiting.pop())} - found.keys() - reached
        for key in sorted(children):
            arcs = [arc for arc in store.support([key]) if arc.relation in PROPAGATING]
            if all(group & found.keys() for group in grouped((arc.group, arc.parent) for arc in arcs)):
                found[key] = None
                waiting.append(key)
    return tuple(found)
