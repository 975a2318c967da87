"""Remedies: a damage and its artifacts become a repair event, or the verb that mends them.

A remedy is a function of the store as it is: worked out again, it gives the same proposal as long as nothing
of what it looks at has changed. It writes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from memorepair.errors import InvalidInput
from memorepair.health.completing import completed
from memorepair.health.conflict.deciding import Rule, decide
from memorepair.health.detector import Expected
from memorepair.health.merging import merged
from memorepair.memory.artifact import Draft, Json, Key, Recipe, State
from memorepair.memory.store import Store
from memorepair.repair.carrying import fingerprint
from memorepair.repair.events import Deletion, Delta, EventKind, Maintenance, RepairEvent, Settlement
from memorepair.repair.ports import Proposal, Remedy

MOST = 10_000
"""Descendants that are counted for the impact of a remedy that withdraws; beyond, it is at least so many."""

LEAST_WEIGHT = 0.05
"""No memory is demoted below it: what nothing else answers is still found."""

_ACTOR = "memorepair"

WAY_BACK: Mapping[Remedy, str] = MappingProxyType(
    {
        Remedy.STATUS: "none is needed: the status is the one that the journal has",
        Remedy.REINDEX: "none is needed: the index is made from the content, which stays as it is",
        Remedy.COMPLETE: "undo the case: the former versions are served again",
        Remedy.REEMBED: "undo the case: the former versions are served again with their vectors",
        Remedy.MERGE: "undo the case: the archived ones are served again, their readers read them again",
        Remedy.SETTLE: "undo the case: what lost, and what was derived from it, is served again",
        Remedy.DEMOTE: "undo the case, or read the memory: it ranks as before",
        Remedy.REVIEW: "undo the case: nobody is asked any more",
        Remedy.SCOPE: "undo the case: it is served again where it was",
        Remedy.PERSON: "nothing is done",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A remedy that is asked for.

    Attributes
    ----------
    remedy, params
        What to do; JSON without content. `groups` (MERGE) joins the places of keys that say the same,
        `winners` (SETTLE) names a decision of a person, `weights` (DEMOTE) are the keys'.
    keys
        Whom it concerns, in order of birth.
    codes, confidence, why, cause
        Of the findings behind it.
    """

    remedy: Remedy
    keys: tuple[Key, ...]
    params: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    codes: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    confidence: float = 1.0
    why: str = ""
    cause: str = ""


def propose(store: Store, wanted: Wanted, *, expected: Expected | None = None) -> Proposal | None:
    """Work a remedy out on the store as it is; None where nothing is left to do.

    Raises
    ------
    InvalidInput
        The params are not of this remedy.
    """
    with store.reading():
        found = _BUILDERS[wanted.remedy](store, wanted, expected or Expected())
        if found is None:
            return None
        looked_at = tuple(sorted({*wanted.keys, *found.roots, *found.also}))
        print_now = fingerprint(store, looked_at)
        impact = len(wanted.keys)
        if found.withdraws:
            impact = _descendants(store, found.roots)
    event = None
    if found.delta is not None:
        event = RepairEvent(
            kind=found.kind,
            roots=found.roots,
            delta=found.delta,
            reason=f"{wanted.remedy}: {wanted.why}" if wanted.why else str(wanted.remedy),
            actor=_ACTOR,
        )
    way_back = WAY_BACK[wanted.remedy]
    if wanted.remedy is Remedy.REEMBED and not wanted.keys:
        way_back = "undo the case while the former vectors are kept: they are searched again"
    return Proposal(
        remedy=wanted.remedy,
        keys=wanted.keys,
        params=wanted.params,
        codes=wanted.codes,
        confidence=wanted.confidence,
        why=found.why or wanted.why,
        cause=wanted.cause,
        way_back=way_back,
        looked_at=looked_at,
        fingerprint=print_now,
        impact=impact,
        event=event,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Built:
    """What a builder came to; `also` are keys that it has looked at beside the wanted ones."""

    kind: EventKind = EventKind.MAINTAIN
    roots: tuple[Key, ...] = ()
    delta: Delta | None = None
    withdraws: bool = False
    also: tuple[Key, ...] = ()
    why: str = ""


def _maintenance(delta: Maintenance, why: str = "") -> _Built | None:
    if not delta.touched:
        return None
    return _Built(roots=delta.touched, delta=delta, also=tuple(delta.duplicates.values()), why=why)


# builders --------------------------------------------------------------------------------------------


def _merge(store: Store, wanted: Wanted, expected: Expected) -> _Built | None:
    served = store.served(wanted.keys)
    recipes = store.recipes([key for key in wanted.keys if key in served])
    drafts: dict[Key, Draft] = {}
    duplicates: dict[Key, Key] = {}
    for group in _groups(wanted):
        members = [served[key] for key in group if key in served]
        if len(members) < 2:
            continue
        primary, draft = merged(members)
        drafts[primary.key] = _with_recipe(draft, recipes)
        duplicates |= {one.key: primary.key for one in members if one.key != primary.key}
    n = len(set(duplicates.values()))
    return _maintenance(
        Maintenance(drafts=drafts, duplicates=duplicates),
        f"{len(duplicates) + n} that say the same become {n}",
    )


def _groups(wanted: Wanted) -> list[list[Key]]:
    groups = wanted.params.get("groups", [list(range(len(wanted.keys)))])
    if not isinstance(groups, list):
        raise InvalidInput("a merge names groups of places", witness=groups)
    found: list[list[Key]] = []
    for group in groups:
        places = [one for one in group if isinstance(one, int)] if isinstance(group, list) else []
        if not places or max(places) >= len(wanted.keys) or min(places) < 0:
            raise InvalidInput("a group names places of the keys", witness=group)
        found.append([wanted.keys[place] for place in places])
    return found


def _with_recipe(draft: Draft, recipes: Mapping[Key, Recipe]) -> Draft:
    return replace(draft, recipe=recipes.get(draft.key, Recipe()))


def _settle(store: Store, wanted: Wanted, expected: Expected) -> _Built | None:
    """Pairs of keys, in their order; `winners` has the place (0, 1) of the one that a person chose."""
    served = store.served(wanted.keys)
    chosen = wanted.params.get("winners")
    winners: dict[Key, Key] = {}
    rules: Counter[str] = Counter()
    pairs = list(zip(wanted.keys[::2], wanted.keys[1::2], strict=True))
    both = [
        (number, one, other) for number, (one, other) in enumerate(pairs) if one in served and other in served
    ]
    # The newest statement first: what it has beaten has no say about what came before.
    both.sort(key=lambda pair: -max(served[pair[1]].updated_at, served[pair[2]].updated_at))
    for number, one, other in both:
        if isinstance(chosen, list) and number < len(chosen) and chosen[number] in (0, 1):
            wins, rule = chosen[number], "a person"
        else:
            decision = decide(served[one], served[other])
            if decision.wins is None or decision.rule is Rule.SCOPE:
                continue
            wins, rule = decision.wins, str(decision.rule)
        winner, loser = (one, other) if wins == 0 else (other, one)
        if loser not in winners and loser not in winners.values() and winner not in winners:
            winners[loser] = winner
            rules[rule] += 1
    if not winners:
        return None
    why = ", ".join(f"{rule} holds ({n})" for rule, n in sorted(rules.items()))
    return _Built(
        kind=EventKind.CORRECT,
        roots=tuple(winners),
        delta=Settlement(winners=winners),
        withdraws=True,
        also=tuple(winners.values()),
        why=why,
    )


def _review(store: Store, wanted: Wanted, expected: Expected) -> _Built | None:
    served = store.served(wanted.keys)
    unflagged = [key for key in wanted.keys if key in served and served[key].state is State.ACTIVE]
    return _maintenance(
        Maintenance(marks=dict.fromkeys(unflagged)),
        "rules cannot tell; both stay in service, flagged, until a person has looked",
    )


def _demote(store: Store, wanted: Wanted, expected: Expected) -> _Built | None:
    served = store.served(wanted.keys)
    weights = wanted.params.get("weights")
    if not isinstance(weights, list) or len(weights) != len(wanted.keys):
        raise InvalidInput("a demotion names a weight for each key", witness=wanted.keys)
    known = store.marks(list(served))
    marks: dict[Key, float | None] = {}
    for key, weight in zip(wanted.keys, weights, strict=True):
        if key in served and isinstance(weight, int | float):
            lower = max(LEAST_WEIGHT, min(1.0, float(weight)))
            if lower <= known.get(key, 1.0) / 2:  # weights sink all the time: only what counts is told anew
                marks[key] = lower
    return _maintenance(Maintenance(marks=marks), f"{len(marks)} rank lower until they are read again")


def _complete(store: Store, wanted: Wanted, expected: Expected) -> _Built | None:
    drafts = completed(store, wanted.keys, expected)
    return _maintenance(Maintenance(drafts=drafts), f"{len(drafts)} descriptions are completed")


def _reembed(store: Store, wanted: Wanted, expected: Expected) -> _Built | None:
    """Next versions without the vector they brought: the store's embedder makes one.

    Without keys the whole store moves into the embedder's space: no version changes, a case switches.
    """
    space, home = store.space, store.home()
    if not wanted.keys:
        if space is None or home is None or [list(home), list(space)] != wanted.params.get("spaces"):
            return None
        return _Built(
            why=f"everything gets a vector of {space.model} (revision {space.revision}, {space.dimension} "
            f"dimensions) beside that of {home.model} (revision {home.revision}, {home.dimension}); once "
            "both recall alike, searches are answered from the new ones"
        )
    if space is None or space != (expected.space or home or space):
        return _Built(why="the model that vectors should be of is not the one this memory was opened with")
    served = store.served(wanted.keys)
    recipes = store.recipes(list(served))
    drafts = {key: _with_recipe(one.draft(), recipes) for key, one in served.items()}
    return _maintenance(Maintenance(drafts=drafts, anew=True), f"{len(drafts)} get a vector of {space.model}")


def _scope(store: Store, wanted: Wanted, expected: Expected) -> _Built | None:
    """A leak leaves service first; a person says where it belongs."""
    served = store.served(wanted.keys)
    leaked = tuple(key for key in wanted.keys if key in served)
    if not leaked:
        return None
    return _Built(
        kind=EventKind.DELETE,
        roots=leaked,
        delta=Deletion(),
        withdraws=True,
        why=f"{len(leaked)} lie where others read them; out of service until a person has looked",
    )


def _mended(store: Store, wanted: Wanted, expected: Expected) -> _Built | None:
    return _Built(why=wanted.why)


_BUILDERS: Mapping[Remedy, Callable[[Store, Wanted, Expected], _Built | None]] = MappingProxyType(
    {
        Remedy.STATUS: _mended,
        Remedy.REINDEX: _mended,
        Remedy.COMPLETE: _complete,
        Remedy.REEMBED: _reembed,
        Remedy.MERGE: _merge,
        Remedy.SETTLE: _settle,
        Remedy.DEMOTE: _demote,
        Remedy.REVIEW: _review,
        Remedy.SCOPE: _scope,
        Remedy.PERSON: _mended,
    }
)


def _descendants(store: Store, roots: Sequence[Key]) -> int:
    seen, frontier = set(roots), list(roots)
    while frontier and len(seen) < MOST:
        for child in store.children(frontier.pop()):
            if child.key not in seen:
                seen.add(child.key)
                frontier.append(child.key)
    return len(seen)
