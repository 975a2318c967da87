"""Traces: the steps of a run as the store has them, typed, with what each was made from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from memorepair.errors import InvalidInput, UnknownId
from memorepair.graphs.terms import Kind, Relation
from memorepair.memory.arguments import as_key, as_member, as_scope
from memorepair.memory.artifact import CaseStatus, Json, Key, Listing, Read, Recipe, Scope, State
from memorepair.memory.exchange import SupportArc
from memorepair.memory.store import Store
from memorepair.recovery.tools import Effect

STEPS = frozenset(
    {
        Kind.USER_INPUT,
        Kind.MEMORY_READ,
        Kind.CLAIM,
        Kind.PLAN,
        Kind.ACTION,
        Kind.OBSERVATION,
        Kind.ANSWER,
        Kind.MEMORY_MUTATION,
    }
)
"""The kinds that are steps of a run; all others are memory."""

MODEL_STEPS = frozenset({Kind.CLAIM, Kind.PLAN, Kind.ANSWER})
"""Steps that take a call of the model."""

TASK = "task"
RESULT = ".result"
"""What the id of an observation adds to that of its action."""

TAKEN_BACK = ".taken-back"
"""What the id of the note about an action's executions that were compensated adds to that of the action."""

WRITES = "writes"
"""What a mutation step calls the memory that it writes."""

NAMED = "named"
"""Where a step's recipe says what its agent named, if it stands on something else: see `Recorded.named`."""

_RUN = "run:"

RunLike: TypeAlias = "str | Scope"


class Step:
    """A step as an agent holds it: what it was, and what it says when somebody looks.

    In a replay a step that was not run again is run when its content is first read.
    """

    __slots__ = ("_say", "_text", "key", "kind")

    def __init__(self, key: Key, kind: Kind, say: str | Callable[[], str]) -> None:
        self.key = key
        self.kind = kind
        self._say = say
        self._text: str | None = say if isinstance(say, str) else None

    @property
    def content(self) -> str:
        """The text; of an action or an observation canonical JSON."""
        if self._text is None:
            self._text = self._say if isinstance(self._say, str) else self._say()
        return self._text

    def __repr__(self) -> str:
        return f"Step({self.key}, {self.kind.name.lower()})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A step of a stored run, without its content.

    Attributes
    ----------
    support
        What it was made from, in the order it was given.
    effect
        Of the tool, for an action and its observation; None for other steps.
    undone
        An undone recovery had brought it: no step of the run, though what it did to the world stands.
    """

    listing: Listing
    support: tuple[SupportArc, ...]
    recipe: Recipe
    effect: Effect | None
    undone: bool = False

    @property
    def key(self) -> Key:
        """Its key."""
        return self.listing.key

    @property
    def kind(self) -> Kind:
        """Its kind."""
        return self.listing.kind

    @property
    def named(self) -> tuple[tuple[int, Key, Relation], ...]:
        """What its agent named, with the group and the relation of each.

        That is its support, but where a replay has put in place of a memory what an earlier version of it was
        made from: there it is the memory.
        """
        kept = self.recipe.params.get(NAMED)
        if kept is None:
            return tuple((arc.group, arc.parent, arc.relation) for arc in self.support)
        return tuple(_read_named(one, self.key) for one in kept) if isinstance(kept, list) else ()

    @property
    def justifications(self) -> frozenset[frozenset[Key]]:
        """What its agent named: the members of each support group."""
        return grouped((group, key) for group, key, _ in self.named)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A stored run: its steps in the order they were taken.

    Attributes
    ----------
    writers
        For each memory that the run wrote, its steps that did, in order.
    answer
        The last answer; None where the run ended without.
    """

    scope: Scope
    steps: Mapping[Key, Recorded]
    writers: Mapping[Key, tuple[Key, ...]]
    answer: Key | None

    @property
    def id(self) -> str:
        """The run's id."""
        return self.scope[-1].removeprefix(_RUN)

    def observation_of(self, action: Key) -> Key | None:
        """What was observed of an action; None where it never returned."""
        result = Key(action.scope, action.id + RESULT)
        return result if result in self.steps else None


def told_named(reads: Iterable[Read]) -> list[Json]:
    """What `Recorded.named` reads, as JSON."""
    return [[read.group, str(read.key), read.relation.name.lower()] for read in reads]


def _read_named(told: Json, step: Key) -> tuple[int, Key, Relation]:
    match told:
        case [int(group), str(key), str(relation)]:
            return group, as_key(key), as_member(Relation, relation)
        case _:
            raise InvalidInput(f"{step} does not say what its agent named", witness=step)


def grouped(members: Iterable[tuple[int, Key]]) -> frozenset[frozenset[Key]]:
    """Support groups without their numbers."""
    groups: dict[int, set[Key]] = {}
    for group, key in members:
        groups.setdefault(group, set()).add(key)
    return frozenset(map(frozenset, groups.values()))


def is_run_scope(scope: Scope) -> bool:
    """Whether a scope holds the steps of a run."""
    return bool(scope) and scope[-1].startswith(_RUN)


def run_scope(scope: Scope, id: str) -> Scope:
    """Where the steps of a run lie: below the scope it works in, so that no search finds them there."""
    return as_scope((*scope, _RUN + id))


def find_run(store: Store, run: RunLike) -> Scope:
    """The scope of a run, by its id, or by its scope as a tuple or as it is written.

    Raises
    ------
    UnknownId
        There is no such run.
    InvalidInput
        Several runs, in different scopes, have this id.
    """
    if not isinstance(run, str):
        scope = as_scope(run)
        store.describe(Key(scope, TASK))
        return scope
    scopes = [listing.key.scope for listing in runs(store)]
    found = [scope for scope in scopes if scope[-1] == _RUN + run]
    found = found or [scope for scope in scopes if "/".join(scope) == run]
    if not found:
        raise UnknownId(f"there is no run {run}", witness=run)
    if len(found) > 1:
        named = ", ".join("/".join(scope) for scope in found)
        raise InvalidInput(f"several runs are called {run}: {named}", witness=run)
    return found[0]


def runs(store: Store, scope: Scope | None = None) -> list[Listing]:
    """The first step of every run, the task, in order of scope; of the runs that work in `scope`."""
    return [
        listing
        for listing in store.listing(kind=Kind.USER_INPUT)
        if listing.key.id == TASK
        and is_run_scope(listing.key.scope)
        and (scope is None or listing.key.scope[:-1] == scope)
    ]


def read_trace(store: Store, scope: Scope) -> Trace:
    """The steps of a run in the order they were taken, withdrawn or not; O(steps + arcs).

    Raises
    ------
    UnknownId
        There is no such run.
    """
    listings = [one for one in store.listing(scope=scope) if one.kind in STEPS]
    if not listings:
        raise UnknownId(f"there is no run {'/'.join(scope)}", witness=scope)
    keys = [one.key for one in listings]
    recipes = store.recipes(keys)
    support: dict[Key, list[SupportArc]] = {key: [] for key in keys}
    for arc in store.support(keys):
        support[arc.child].append(arc)
    # An undo gives every barrier back to its former owner: what the case still bars is what it had brought.
    cases = {one.case for one in listings if one.case is not None and out_of_service(one)}
    undone = {case for case in cases if store.case(case).status is CaseStatus.UNDONE}
    steps = {}
    for listing in sorted(listings, key=lambda one: (place_of(recipes[one.key]), one.key)):
        recipe = recipes[listing.key]
        steps[listing.key] = Recorded(
            listing=listing,
            support=tuple(support[listing.key]),
            recipe=recipe,
            effect=effect_of(recipe),
            undone=out_of_service(listing) and listing.case in undone,
        )
    of_run = {key: step for key, step in steps.items() if not step.undone}
    writers: dict[Key, tuple[Key, ...]] = {}
    for key, step in of_run.items():
        written = step.recipe.params.get(WRITES)
        if isinstance(written, str):
            memory = as_key(written)
            writers[memory] = (*writers.get(memory, ()), key)
    answers = [key for key, step in of_run.items() if step.kind is Kind.ANSWER]
    return Trace(
        scope=scope,
        steps=MappingProxyType(steps),
        writers=MappingProxyType(writers),
        answer=answers[-1] if answers else None,
    )


def place_of(recipe: Recipe) -> int:
    """Which step of its run it was, counted from 0."""
    place = recipe.params.get("place")
    return place if isinstance(place, int) else 0


def effect_of(recipe: Recipe) -> Effect | None:
    """The declared effect of the tool that a step calls; what is not declared any more is irreversible."""
    declared = recipe.params.get("effect")
    if declared is None:
        return None
    return Effect(str(declared)) if declared in set(Effect) else Effect.IRREVERSIBLE


def out_of_service(listing: Listing) -> bool:
    """Whether the barrier stands before it."""
    return listing.state not in (State.ACTIVE, State.PENDING_REVIEW)


def step_recipe(
    place: int, *, cost: float, effect: Effect | None = None, more: Mapping[str, Json] = MappingProxyType({})
) -> Recipe:
    """How a step says where it stood in its run, and what running it does."""
    params: dict[str, Json] = {"place": place, **more}
    if effect is not None:
        params["effect"] = effect.value
    return Recipe(params=params, cost=cost, observed=effect is not None and effect.writes)
