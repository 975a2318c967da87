"""Runs: an agent's steps recorded as it takes them, each with the ids of what it used."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import isawaitable, iscoroutinefunction
from secrets import token_hex
from types import MappingProxyType, TracebackType
from typing import Self, TypeAlias

from memorepair.errors import InvalidInput, UnknownId
from memorepair.graphs.terms import Kind, Relation
from memorepair.memory.arguments import KeyLike, SlotLike, as_key, as_keys, as_member, as_scope, as_slot
from memorepair.memory.artifact import Draft, Json, Key, Read, Recipe, Scope, Slot, Source
from memorepair.memory.capture import note_reads, note_step
from memorepair.memory.store import Store
from memorepair.memory.values import check_type, check_word, named
from memorepair.recovery.tools import Tool
from memorepair.recovery.trace import (
    RESULT,
    STEPS,
    TAKEN_BACK,
    TASK,
    WRITES,
    Step,
    is_run_scope,
    run_scope,
    step_recipe,
)
from memorepair.repair.jsontext import canonical

Said: TypeAlias = str | Callable[[], str]
"""A text, or what makes it when it is needed: then a replay need not make it again."""

Used: TypeAlias = Step | KeyLike
Uses: TypeAlias = Used | Iterable[Used | Sequence[Step | Key]]
"""What a step stands on: one thing, several needed together, or lists each of which is enough."""

_NOTHING: Mapping[str, Json] = MappingProxyType({})

_UNDECLARED = "a tool declares its effect: wrap the function with `tool`"

_RELATION = {Kind.USER_INPUT: Relation.INITIATE, Kind.MEMORY_READ: Relation.CITE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A step that the agent wants to take."""

    key: Key
    kind: Kind
    reads: tuple[Read, ...]
    recipe: Recipe
    say: Said
    slot: Slot | None = None

    def draft(self, content: str) -> Draft:
        """The step as it is stored."""
        return Draft(
            key=self.key,
            content=content,
            kind=self.kind,
            source=Source.USER if self.kind is Kind.USER_INPUT else Source.LOG,
            slot=self.slot,
            recipe=self.recipe,
            reads=self.reads,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call that the agent wants to make: the action, what will be observed, and how to run it."""

    action: Asked
    result: Asked
    tool: Tool
    arguments: dict[str, Json]


def said(say: Said) -> str:
    """The text; made now where it is not there yet."""
    if isinstance(say, str):
        return say
    if not callable(say):
        raise InvalidInput(f"a step says a text, or what makes one, not {named(say)}", witness=say)
    return say()


_MARK, _DIGEST = 8, 32
"""Hexadecimal digits."""


class Recorder(ABC):
    """The verbs of an agent; what becomes of a step is for the run or the replay to say.

    A step is named by its kind and a running number unless `id` names it; a replay finds it by its name.
    """

    def __init__(self, store: Store, *, scope: Scope, id: str) -> None:
        self._store = store
        self._scope = as_scope(scope)
        self._id = id
        self._steps = run_scope(self._scope, id)
        self._count: Counter[str] = Counter()
        self._names = {TASK}
        self._place = 0

    # what a run or a replay does with it --------------------------------------------------------

    @abstractmethod
    def _settle(self, asked: Asked) -> Step:
        """Take the step, or find it taken."""

    @abstractmethod
    def _begin(self, call: Call, later: Callable[[], Step] | None) -> Step | None:
        """Take an action: the step of what was observed, or None where the tool is to be run now.

        `later` runs the tool; None where it has to be awaited.
        """

    @abstractmethod
    def _end(self, call: Call, observed: Json) -> Step:
        """Keep what a tool has returned."""

    @abstractmethod
    def _keep(self, mutation: Asked, memory: Draft, content: Said) -> Key:
        """Write a memory through its mutation step."""

    @abstractmethod
    def _find(self, name: str, query: str, scope: Scope, limit: int) -> list[Key]:
        """What a search in memory finds."""

    @abstractmethod
    def _look(self, key: Key, name: str) -> tuple[Said, int | None]:
        """What a memory says, and in which version; `name` is the step that reads it."""

    # verbs --------------------------------------------------------------------------------------

    @property
    def id(self) -> str:
        """The run's id."""
        return self._id

    @property
    def scope(self) -> Scope:
        """Where the agent's memory lies."""
        return self._scope

    @property
    def task(self) -> Key:
        """The key of the task, the first step."""
        return Key(self._steps, TASK)

    def input(self, text: str, *, id: str | None = None) -> Step:
        """Something the user said."""
        return self._step(Kind.USER_INPUT, text, (), id=id)

    def read(self, key: KeyLike, *, id: str | None = None) -> Step:
        """Read a memory.

        Raises
        ------
        UnknownId, Withdrawn
        """
        return self._read(as_key(key), id)

    def recall(
        self,
        query: str,
        *,
        uses: Uses = (),
        scope: Scope | None = None,
        limit: int = 5,
        id: str | None = None,
    ) -> tuple[Step, ...]:
        """Search the memory; a step for each memory found, or one that says that nothing was.

        `uses` is what the query was made from: what was found stands on that too. The steps keep a keyed
        digest of the query, none of its words, whatever it was made from.
        """
        check_word(query, "a query")
        name = self._name("recall", id)
        where = self._scope if scope is None else as_scope(scope)
        found = self._find(name, query, where, limit)
        how: dict[str, Json] = {"recall": name, "query": self._digest(query)}
        if not found:
            self._settle(self._asked(name, Kind.MEMORY_READ, "[]", uses, cost=0.0, more=how))
        return tuple(
            self._read(key, None if id is None else f"{id} {key}", how, _reads(uses)) for key in found
        )

    def _digest(self, query: str) -> list[Json]:
        """What is kept of a query: a mark of the store's key, and a digest with that key."""
        return [self._store.digest("query")[:_MARK], self._store.digest(f"query\0{query}")[:_DIGEST]]

    def claim(
        self,
        text: Said,
        *,
        uses: Uses = (),
        facet: SlotLike | None = None,
        id: str | None = None,
        cost: float = 1.0,
    ) -> Step:
        """Something the agent holds to be true; `facet` is the single fact it states."""
        return self._step(Kind.CLAIM, text, uses, id=id, cost=cost, slot=as_slot(facet))

    def plan(self, text: Said, *, uses: Uses = (), id: str | None = None, cost: float = 1.0) -> Step:
        """What the agent means to do."""
        return self._step(Kind.PLAN, text, uses, id=id, cost=cost)

    def call(
        self, tool: Tool, /, *, plan: Used, uses: Uses = (), id: str | None = None, **arguments: Json
    ) -> Step:
        """Call a tool; the step of what was observed. The action is recorded before the tool runs.

        Raises
        ------
        InvalidInput
            The tool is a coroutine function, for `acall`.
        """
        check_type(tool, Tool, _UNDECLARED)
        if iscoroutinefunction(tool.function):
            raise InvalidInput(f"tool {tool.name} has to be awaited: use acall", witness=tool.name)
        asked = self._call(tool, plan, uses, id, arguments)
        done = self._begin(asked, lambda: self._end(asked, tool(**arguments)))
        return self._end(asked, tool(**arguments)) if done is None else done

    async def acall(
        self, tool: Tool, /, *, plan: Used, uses: Uses = (), id: str | None = None, **arguments: Json
    ) -> Step:
        """The same for a tool that may be a coroutine function."""
        asked = self._call(tool, plan, uses, id, arguments)
        done = self._begin(asked, None)
        if done is not None:
            return done
        observed = tool(**arguments)
        return self._end(asked, await observed if isawaitable(observed) else observed)

    def remember(
        self,
        content: Said,
        *,
        uses: Uses,
        id: str | None = None,
        kind: Kind | str = Kind.RECORD,
        scope: Scope | None = None,
        slot: SlotLike | None = None,
        consolidates: KeyLike | Iterable[KeyLike] = (),
    ) -> Key:
        """Write a memory; an id that exists gets its next version, also where the run has read it before.

        `consolidates`: memories that it merges. A run deletes nothing: that is for a person to declare.
        """
        kind = as_member(Kind, kind)
        where = self._scope if scope is None else as_scope(scope)
        if kind in STEPS or is_run_scope(where):
            raise InvalidInput("a memory is no step of a run", witness=kind.name.lower())
        if id is None:
            name = self._name("remember", None)
            key = Key(where, f"{self._id}-{name}")
        else:  # named by what it writes: a branch that writes something else shifts no other's name
            key = Key(where, id)
            name = self._name(f"remember {key}", None)
        says = canonical({"remember": str(key)})
        mutation = self._asked(name, Kind.MEMORY_MUTATION, says, uses, cost=0.0, more={WRITES: str(key)})
        relation = Relation.UPDATE if self._exists(key) else Relation.PRODUCE
        memory = Draft(
            key=key,
            content="",
            kind=kind,
            source=Source.EXTRACTION,
            slot=as_slot(slot),
            reads=(
                Read(key=mutation.key, relation=relation),
                *(Read(key=one, relation=Relation.CONSOLIDATE) for one in as_keys(consolidates)),
            ),
        )
        return self._keep(mutation, memory, content)

    def answer(self, text: Said, *, uses: Uses = (), id: str | None = None, cost: float = 1.0) -> Step:
        """What the agent tells the user."""
        return self._step(Kind.ANSWER, text, uses, id=id, cost=cost)

    # from verbs to steps ------------------------------------------------------------------------

    def _step(
        self,
        kind: Kind,
        say: Said,
        uses: Uses,
        *,
        id: str | None = None,
        cost: float = 0.0,
        slot: Slot | None = None,
    ) -> Step:
        name = self._name(kind.name.lower(), id)
        return self._settle(self._asked(name, kind, say, uses, cost=cost, slot=slot))

    def _read(
        self, key: Key, id: str | None, found: Mapping[str, Json] = _NOTHING, asking: tuple[Read, ...] = ()
    ) -> Step:
        name = self._name(f"read {key}", id)
        content, version = self._look(key, name)
        asked = Asked(
            key=Key(self._steps, name),
            kind=Kind.MEMORY_READ,
            reads=(
                *(
                    Read(key=key, version=version, relation=Relation.CITE, group=group)
                    for group in sorted({read.group for read in asking} or {0})
                ),
                *asking,
            ),
            recipe=step_recipe(self._next(), cost=0.0, more=found),
            say=content,
        )
        return self._settle(asked)

    def _call(self, tool: Tool, plan: Used, uses: Uses, id: str | None, arguments: dict[str, Json]) -> Call:
        check_type(tool, Tool, _UNDECLARED)
        name = self._name(tool.name, id, "", RESULT, TAKEN_BACK)
        action = Asked(
            key=Key(self._steps, name),
            kind=Kind.ACTION,
            reads=(Read(key=_key(plan), relation=Relation.PRODUCE), *_reads(uses)),
            recipe=step_recipe(self._next(), cost=0.0, effect=tool.effect),
            say=canonical({"tool": tool.name, "arguments": arguments}),
        )
        result = Asked(
            key=Key(self._steps, name + RESULT),
            kind=Kind.OBSERVATION,
            reads=(Read(key=action.key, relation=Relation.PRODUCE),),
            recipe=step_recipe(self._next(), cost=1.0, effect=tool.effect),
            say="",
        )
        return Call(action=action, result=result, tool=tool, arguments=arguments)

    def _asked(
        self,
        name: str,
        kind: Kind,
        say: Said,
        uses: Uses,
        *,
        cost: float,
        slot: Slot | None = None,
        more: Mapping[str, Json] = _NOTHING,
    ) -> Asked:
        reads = _reads(uses)
        if not reads and name != TASK:
            reads = (Read(key=self.task, relation=Relation.INITIATE),)
        return Asked(
            key=Key(self._steps, name),
            kind=kind,
            reads=reads,
            recipe=step_recipe(self._next(), cost=cost, more=more),
            say=say,
            slot=slot,
        )

    def _name(self, stem: str, id: str | None, *ends: str) -> str:
        """A name that is free, also with each of `ends`: a second step of it would overwrite the first."""
        if id is not None:
            check_word(id, "the id of a step")
        name = id
        while name is None or any(name + end in self._names for end in ends or ("",)):
            if id is not None:
                raise InvalidInput(f"two steps of run {self._id} are called {id}", witness=id)
            self._count[stem] += 1
            times = self._count[stem]
            name = stem if times == 1 else f"{stem} #{times}"
        self._names.update(name + end for end in ends or ("",))
        return name

    def _next(self) -> int:
        self._place += 1
        return self._place

    def _exists(self, key: Key) -> bool:
        try:
            self._store.describe(key)
        except UnknownId:
            return False
        return True


class Run(Recorder):
    """A run under way, as a context; every step is in the store when its verb returns.

    Parameters
    ----------
    store
        Where the steps go.
    task
        What the agent is asked to do; the first step.
    scope
        Where the agent's memory lies.
    id
        Random unless given.

    Notes
    -----
    A block that raises leaves the steps taken so far: a run without an answer.
    """

    def __init__(self, store: Store, *, task: str, scope: Scope = (), id: str | None = None) -> None:
        super().__init__(store, scope=scope, id=token_hex(6) if id is None else id)
        self._task = task
        self._open = self._used = False

    def __enter__(self) -> Self:
        if self._used:
            raise InvalidInput("a run is used once", witness=self._id)
        if self._exists(self.task):
            raise InvalidInput(f"there is a run {self._id} already", witness=self._id)
        self._open = self._used = True
        self._settle(self._asked(TASK, Kind.USER_INPUT, self._task, (), cost=0.0))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open = False

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open = False

    def _settle(self, asked: Asked) -> Step:
        content = said(asked.say)
        self._write(asked.draft(content))
        return Step(asked.key, asked.kind, content)

    def _begin(self, call: Call, later: Callable[[], Step] | None) -> None:
        self._write(call.action.draft(said(call.action.say)))

    def _end(self, call: Call, observed: Json) -> Step:
        content = canonical(observed)
        self._require_open()
        # The tool has run: what it returned is kept even where the action has left service meanwhile.
        self._store.write([call.result.draft(content)], act="step", quarantine=True)
        note_step(self._store, call.result.key)
        return Step(call.result.key, call.result.kind, content)

    def _keep(self, mutation: Asked, memory: Draft, content: Said) -> Key:
        text = said(content)
        self._require_open()
        # A memory that was read and is written again closes a cycle of keys, though of no versions.
        drafts = [mutation.draft(said(mutation.say)), replace(memory, content=text)]
        self._store.write(drafts, act="step", allow_cycles=True)
        return memory.key

    def _find(self, name: str, query: str, scope: Scope, limit: int) -> list[Key]:
        self._require_open()
        return [hit.artifact.key for hit in self._store.search(query, scope=scope, limit=limit)]

    def _look(self, key: Key, name: str) -> tuple[str, int | None]:
        self._require_open()
        there = self._store.get(key)
        note_reads(self._store, [there])
        return there.content, there.version

    def _write(self, *drafts: Draft) -> None:
        self._require_open()
        self._store.write(drafts, act="step")

    def _require_open(self) -> None:
        if not self._open:
            raise InvalidInput("a run takes its steps inside its with block", witness=self._id)


def _reads(uses: Uses) -> tuple[Read, ...]:
    """One read a thing used; lists are alternatives, each a group of its own."""
    if isinstance(uses, Step | Key | str):
        return (_read(uses, 0),)
    if not isinstance(uses, Iterable):
        raise InvalidInput(f"uses are steps or keys, or lists of them, not {named(uses)}", witness=uses)
    given = list(uses)
    together = [one for one in given if isinstance(one, Step | Key | str)]
    alternatives = [one for one in given if not isinstance(one, Step | Key | str)]
    if wrong := [one for one in alternatives if not isinstance(one, Iterable)]:
        raise InvalidInput(
            f"uses are steps or keys, or lists of them, not {named(wrong[0])}", witness=wrong[0]
        )
    if together and alternatives:
        raise InvalidInput("uses are things needed together, or lists each of which is enough", witness=uses)
    return (
        *(_read(one, 0) for one in together),
        *(_read(one, group) for group, some in enumerate(alternatives) for one in some),
    )


def _read(used: Used, group: int) -> Read:
    if isinstance(used, Step):
        return Read(key=used.key, relation=_RELATION.get(used.kind, Relation.SUPPORT), group=group)
    return Read(key=as_key(used), relation=Relation.DERIVE, group=group)


def _key(used: Used) -> Key:
    return used.key if isinstance(used, Step) else as_key(used)
