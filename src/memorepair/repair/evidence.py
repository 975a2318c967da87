"""Evidence: on what terms a case spares members of its cascade, and what each of them stands on.

Three semantics of losing a supporter, by the policy of the event and the groups of the reads:

================================= ========================================================================
any supporter gone                ``none``; also where all reads are one group
one alternative must stay         ``direct``: a group wholly outside the cascade;
                                  ``grounded``: a group that stands, be it through others that are spared
last supporter gone               ``grounded`` with a group of its own for each read
================================= ========================================================================
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from memorepair.errors import CorruptStore
from memorepair.graphs.support import POLICIES, Policy
from memorepair.memory.artifact import SERVING, Case, Json, Key
from memorepair.memory.snapshot import Snapshot
from memorepair.repair.events import RepairEvent


def worded(by: Sequence[Key]) -> str:
    """What keeps a spared member, in words."""
    return f"stands on {', '.join(map(str, by))}"


# what a case keeps of its terms
# -------------------------------------------------------------------------------


def evidence_terms(event: RepairEvent) -> dict[str, Json]:
    """The terms as JSON; empty under the policy ``none``."""
    if event.evidence == "none":
        return {}
    sets: list[Json] = [[key_parts(key) for key in one] for one in event.same_origin]
    return {"evidence": event.evidence, "same_origin": sets}


def read_terms(case: Case) -> tuple[Policy, tuple[tuple[Key, ...], ...]]:
    """The terms a case was opened on.

    Raises
    ------
    CorruptStore
        They are not what `evidence_terms` writes.
    """
    policy, sets = case.delta.get("evidence", "none"), case.delta.get("same_origin", [])
    if policy not in POLICIES or not isinstance(sets, list):
        raise CorruptStore(f"case {case.id} does not say what it spares", witness=case.id)
    read: list[tuple[Key, ...]] = []
    for one in sets:
        if not isinstance(one, list):
            raise CorruptStore(f"case {case.id} does not say what it spares", witness=case.id)
        read.append(tuple(key_of_parts(parts, case) for parts in one))
    return policy, tuple(read)


def key_parts(key: Key) -> list[Json]:
    """A key as JSON: the parts of its scope, then its id."""
    return [*key.scope, key.id]


def key_of_parts(parts: Json, case: Case) -> Key:
    """The key that `key_parts` has written into the delta of a case; CorruptStore where it has not."""
    if not isinstance(parts, list) or not parts:
        raise CorruptStore(f"case {case.id} names something that is no key", witness=case.id)
    *scope, id = map(str, parts)
    return Key(tuple(scope), id)


def duplicate_of(case: Case, key: Key) -> Key | None:
    """What the case has archived the key under, as a duplicate; None where it has not."""
    listed = case.delta.get("duplicate_of")
    for pair in listed if isinstance(listed, list) else []:
        if isinstance(pair, list) and len(pair) == 2 and pair[0] == key_parts(key):
            return key_of_parts(pair[1], case)
    return None


# the definition, for the checker
# ------------------------------------------------------------------------------


def spared_in(before: Snapshot, event: RepairEvent, cascade: Collection[Key]) -> set[Key]:
    """What the event spares of its cascade, worked out from the definition, without the store's help.

    Support is what is served in the very version that was read. A group stands once all of its reads do, with
    every copy of what they read; a member is spared by a group that stands on what is outside the cascade or,
    under ``grounded``, on what is spared already. O(versions + arcs).
    """
    if event.evidence == "none":
        return set()
    members = set(cascade)
    served = {key for key, view in before.current.items() if view.state in SERVING}
    copies = _copies(event)
    outside = served - members
    candidates = served & members - set(event.roots)
    waits: defaultdict[tuple[Key, int], set[Key]] = defaultdict(set)
    broken: set[tuple[Key, int]] = set()
    for arc in before.arcs:
        if arc.child in candidates:
            group = arc.child, arc.group
            waits[group] |= copies.get(arc.parent, {arc.parent})
            if arc.read_version != before.current[arc.parent].version:
                broken.add(group)
    feeds: defaultdict[Key, list[tuple[Key, int]]] = defaultdict(list)
    missing: dict[tuple[Key, int], int] = {}
    ready: list[Key] = []
    for group, needed in waits.items():
        lacking = needed - outside
        missing[group] = len(lacking) + (group in broken)
        for key in lacking:
            feeds[key].append(group)
        if not missing[group]:
            ready.append(group[0])
    spared = set(ready)
    if event.evidence == "direct":
        return spared
    waiting = list(spared)
    while waiting:
        for group in feeds[waiting.pop()]:
            missing[group] -= 1
            if not missing[group] and group[0] not in spared:
                spared.add(group[0])
                waiting.append(group[0])
    return spared


def _copies(event: RepairEvent) -> dict[Key, set[Key]]:
    """What counts as one source with each key; sets that meet are one."""
    found: dict[Key, set[Key]] = {}
    for origin in event.same_origin:
        whole = set(origin).union(*(found[key] for key in origin if key in found))
        for key in whole:
            found[key] = whole
    return found
