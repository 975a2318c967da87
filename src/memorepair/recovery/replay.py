"""Replay: the agent run again on repaired memory, with every step that still holds read back as recorded."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from memorepair.errors import ApprovalNeeded, TraceMismatch
from memorepair.graphs.terms import Kind, Relation
from memorepair.memory.artifact import Draft, Json, Key, Read, Scope
from memorepair.memory.store import Store
from memorepair.recovery.begun import Begun, require_again
from memorepair.recovery.run import Asked, Call, Recorder, Said, said
from memorepair.recovery.standing import Former, Standing
from memorepair.recovery.tools import ONCE, Effect, Tool
from memorepair.recovery.trace import (
    MODEL_STEPS,
    NAMED,
    STEPS,
    WRITES,
    Recorded,
    Step,
    Trace,
    grouped,
    out_of_service,
    told_named,
)
from memorepair.repair.jsontext import canonical


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What a replay has made; nothing of it is published yet.

    Attributes
    ----------
    drafts
        Steps and memories, in the order they were made.
    frozen
        Recorded steps that were read back.
    calls
        Calls of the model: claims, plans and answers made anew.
    written
        Calls of tools that changed the world, in order: tool, arguments, result.
    answer
        The final answer, made or read back; None where the agent came to none.
    past
        The former versions of memories that were read as the run had left them, with their texts.
    """

    drafts: Mapping[Key, Draft] = field(default_factory=lambda: MappingProxyType({}))
    frozen: tuple[Key, ...] = ()
    calls: int = 0
    written: tuple[tuple[Tool, Mapping[str, Json], Json], ...] = ()
    answer: str | None = None
    past: Mapping[tuple[Key, int], str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def steps(self) -> tuple[Key, ...]:
        """The steps among the drafts."""
        return tuple(key for key, draft in self.drafts.items() if draft.kind in STEPS)


@dataclass(frozen=True, slots=True, kw_only=True)
class _PutOff:
    """What is made only when it is used.

    `newest` is what it stands on in no version that has a number yet, `uses` what of that was put off before
    it, `place` its own place.
    """

    newest: frozenset[Key]
    uses: tuple[Key, ...]
    make: Callable[[], object]
    place: int


class Replay(Recorder):
    """An agent's verbs over a recorded run: what still holds is read back, what does not is done again.

    Parameters
    ----------
    trace
        The run as recorded; its affected steps are out of service.
    again
        V_replay: the steps to take again. Any other step out of service is taken only when its content is
        read, or when something is made that stands on it.
    back
        M_back: former versions that stand again, for memories that are out of service.
    stated
        Steps that a person has stated in place of faulty ones: they stand on nothing of the run.
    approved
        Actions with an irreversible effect that may run, as their canonical text.
    take_back
        Takes back what the affected writes did to the world; called once, before the first tool runs.
    begun
        Notes what is about to be done to the world.

    Raises
    ------
    TraceMismatch
        A step that still holds is asked for in another way than it was recorded: other sources, another tool,
        other arguments.
    ApprovalNeeded
        An irreversible tool would run that nobody approved; the witness is the action.
    """

    def __init__(
        self,
        store: Store,
        trace: Trace,
        *,
        again: Collection[Key],
        back: Mapping[Key, Former] = MappingProxyType({}),
        stated: Collection[Key] = (),
        approved: Collection[str] = (),
        take_back: Callable[[], None] | None = None,
        begun: Begun | None = None,
    ) -> None:
        super().__init__(store, scope=trace.scope[:-1], id=trace.id)
        self._trace = trace
        # What only an undone recovery had brought is a new step: the run itself had not come there.
        self._again = frozenset(again) | {key for key, step in trace.steps.items() if step.undone}
        self._back = back
        self._stated = frozenset(stated)
        self._approved = frozenset(approved)
        self._take_back = take_back
        self._begun = begun
        self._drafts: dict[Key, Draft] = {}
        self._put_off: dict[Key, _PutOff] = {}
        self._anew: set[Key] = set()  # memories whose last writing here the run had not come to
        self._frozen: dict[Key, None] = {}
        self._memory = Standing(store, trace.writers, back, self._frozen)
        self._calls = 0
        self._answer: Step | None = None
        self._written: list[tuple[Tool, Mapping[str, Json], Json]] = []
        self._served = store.served([key for key, step in trace.steps.items() if self._holds(step)])

    @property
    def made(self) -> Made:
        """What has been made so far."""
        return Made(
            drafts=MappingProxyType(self._drafts),
            frozen=tuple(self._frozen),
            calls=self._calls,
            written=tuple(self._written),
            answer=None if self._answer is None else self._answer.content,
            past=MappingProxyType(self._memory.past),
        )

    def prepare_world(self) -> None:
        """Take back what the affected writes did, where no tool has run that needed it."""
        take_back, self._take_back = self._take_back, None
        if take_back is not None:
            take_back()

    def leave(self, memories: Iterable[Key]) -> None:
        """Write none of these memories; what was read of them stands on what they would be made from."""
        for memory in memories:
            if memory in self._drafts:
                self._forget_former(memory)

    # the verbs' other half ----------------------------------------------------------------------

    def _settle(self, asked: Asked) -> Step:
        step = self._settled(asked)
        if step.kind is Kind.ANSWER:
            self._answer = step
        return step

    def _settled(self, asked: Asked) -> Step:
        recorded = self._trace.steps.get(asked.key)
        if recorded is not None and self._holds(recorded):
            return self._read_back(recorded, asked)
        if recorded is None or asked.key in self._again:
            return self._take(asked)
        self._put(asked.key, asked.reads, lambda: self._make(asked))
        return Step(asked.key, asked.kind, lambda: self._made(asked.key))

    def _begin(self, call: Call, later: Callable[[], Step] | None) -> Step | None:
        action, result = call.action, call.result
        recorded = self._trace.steps.get(action.key)
        observed = self._trace.steps.get(result.key)
        if recorded is not None and self._holds(recorded):
            self._read_back(recorded, action)
            if self._served[action.key].content != action.say:
                raise TraceMismatch(f"{action.key} was another call when it was recorded", witness=action.key)
            if observed is not None and self._holds(observed):
                return self._read_back(observed, result)
        wanted = recorded is None or observed is None or not self._again.isdisjoint((action.key, result.key))
        if not wanted:
            self._put(result.key, action.reads, lambda: self._call_late(call, later))
            return Step(result.key, result.kind, lambda: self._made(result.key))
        self._bring(read.key for read in action.reads)
        self._make_ready(call)
        return None

    def _end(self, call: Call, observed: Json) -> Step:
        if self._begun is not None:
            self._begun.end(call.action.key)
        if call.tool.effect.writes:
            self._written.append((call.tool, MappingProxyType(dict(call.arguments)), observed))
        recorded = self._trace.steps.get(call.action.key)
        if recorded is None or not self._holds(recorded):
            self._make(call.action)
        return self._make(replace(call.result, say=canonical(observed)))

    def _keep(self, mutation: Asked, memory: Draft, content: Said) -> Key:
        recorded = self._trace.steps.get(mutation.key)
        if memory.key in self._put_off:  # what was to read it before now reads it as it was before
            self._bring([key for key, one in self._put_off.items() if memory.key in one.uses])
            self._put_off.pop(memory.key, None)
        if recorded is not None and self._holds(recorded):
            if recorded.recipe.params.get(WRITES) != str(memory.key):
                raise TraceMismatch(
                    f"{mutation.key} wrote another memory when it was recorded", witness=mutation.key
                )
            self._read_back(recorded, mutation)
            self._anew.discard(memory.key)
            if memory.key in self._drafts:  # by an earlier write, taken again: this one stands
                self._forget_former(memory.key)
            return memory.key
        if recorded is None:
            self._anew.add(memory.key)
        reads = (*mutation.reads, *memory.reads)
        if recorded is None or mutation.key in self._again or memory.key in self._drafts:
            self._bring(read.key for read in reads)
            self._wrote(mutation, memory, content)  # what is written at all ends as it was written last
        else:
            self._put(memory.key, reads, lambda: self._wrote(mutation, memory, content))
        return memory.key

    def _wrote(self, mutation: Asked, memory: Draft, content: Said) -> None:
        self._make(mutation)
        text = said(content)
        self._forget_former(memory.key)
        self._drafts[memory.key] = replace(memory, content=text)

    def _forget_former(self, memory: Key) -> None:
        """Let what has read what the replay wrote, and does not publish, stand on what that was made from."""
        if memory not in self._drafts:
            return
        self._bring([key for key, one in self._put_off.items() if memory in one.newest])
        former = self._drafts.pop(memory)
        stood = former.reads or (Read(key=self.task, relation=Relation.INITIATE),)
        for key, draft in self._drafts.items():
            if any(_is_newest(read, memory) for read in draft.reads):
                reads = [
                    replace(source, relation=read.relation, group=read.group)
                    for read in draft.reads
                    for source in (stood if _is_newest(read, memory) else (read,))
                ]
                # The next replay asks for what the agent names.
                params = {NAMED: told_named(draft.reads), **draft.recipe.params}
                recipe = replace(draft.recipe, params=params)
                self._drafts[key] = replace(draft, reads=tuple(dict.fromkeys(reads)), recipe=recipe)

    def _find(self, name: str, query: str, scope: Scope, limit: int) -> list[Key]:
        reads = [step for step in self._trace.steps.values() if step.recipe.params.get("recall") == name]
        if not reads or not all(self._holds(step) for step in reads):
            return self._search(query, scope, limit)
        if any(self._is_other(step.recipe.params.get("query"), query) for step in reads):
            raise TraceMismatch(f"{name} searched for something else when it was recorded", witness=name)
        found = dict.fromkeys(
            key
            for step in reads
            for _, key, relation in step.named
            if relation is Relation.CITE and key.scope != self._steps
        )
        if len(found) < limit:  # what the replay has written by now is found beside
            found |= dict.fromkeys(key for key, text in self._own(scope).items() if _has(text, query))
        return list(found)[:limit]

    def _is_other(self, kept: Json, query: str) -> bool:
        """Whether it was another query; one that came from a store of another key cannot be compared."""
        mine = self._digest(query)
        return isinstance(kept, list) and kept[:1] == mine[:1] and kept != mine

    def _search(self, query: str, scope: Scope, limit: int) -> list[Key]:
        """A search in memory as it stands at this place of the run."""
        here = self._memory.differing(scope) | self._own(scope)
        mine = [key for key, text in here.items() if text is not None and _has(text, query)]
        stored = self._store.search(query, scope=scope, limit=limit + len(here))
        return [*mine, *(hit.artifact.key for hit in stored if hit.artifact.key not in here)][:limit]

    def _own(self, scope: Scope) -> dict[Key, str]:
        """What the replay has written to a scope so far, what was put off included."""
        self._bring([key for key in self._put_off if key.scope == scope])
        return {key: draft.content for key, draft in self._drafts.items() if key.scope == scope}

    def _look(self, key: Key, name: str) -> tuple[Said, int | None]:
        recorded = self._trace.steps.get(Key(self._steps, name))
        if recorded is not None and self._holds(recorded):
            self._require_seen(key, recorded)
            return "", None  # read back as a step
        if key in self._put_off:
            return lambda: self._drafts[key].content, None  # made with what is made of it
        if key in self._drafts:
            return self._drafts[key].content, None
        return self._memory.read(key)

    def _require_seen(self, key: Key, recorded: Recorded) -> None:
        """A read that holds has read nothing of what the replay has newly written before it: no arc tells.

        What others wrote while the run went on may have come between, and is read back.
        """
        if key not in self._anew or self._served[recorded.key].content == self._drafts[key].content:
            return
        read = {arc.read_version for arc in recorded.support if arc.parent == key}
        if read & self._memory.known_versions(key, self._trace.steps[self.task].listing.created_at):
            raise TraceMismatch(
                f"{recorded.key} had read what {key} said before the replay wrote it: name that step too, "
                "with what it says instead",
                witness=recorded.key,
            )

    # steps --------------------------------------------------------------------------------------

    def _holds(self, step: Recorded) -> bool:
        return not out_of_service(step.listing)

    def _read_back(self, recorded: Recorded, asked: Asked) -> Step:
        # A step that was spared may have lost some of its justifications: the agent then names those left.
        wanted = grouped((read.group, read.key) for read in asked.reads)
        # What a person has stated stands on nothing of the run, in whatever case it was stated.
        stated = asked.key in self._stated or not recorded.support
        as_recorded = stated or wanted <= recorded.justifications
        if recorded.kind is not asked.kind or not as_recorded:
            raise TraceMismatch(
                f"{asked.key} stood on something else when it was recorded; name the steps of a run that "
                "branches, so that each finds its own record",
                witness=asked.key,
            )
        self._frozen[asked.key] = None
        return Step(asked.key, asked.kind, self._served[asked.key].content)

    def _take(self, asked: Asked) -> Step:
        self._bring(read.key for read in asked.reads)
        return self._make(asked)

    def _make(self, asked: Asked) -> Step:
        there = self._drafts.get(asked.key)
        if there is None:
            there = asked.draft(said(asked.say))
            self._drafts[asked.key] = there
            self._calls += asked.kind in MODEL_STEPS
        return Step(asked.key, asked.kind, there.content)

    def _put(self, key: Key, reads: tuple[Read, ...], make: Callable[[], object]) -> None:
        """Put off; it stands on memories as they are now, not on what is put off after it."""
        newest = frozenset(read.key for read in reads if read.version is None)
        uses = tuple(read for read in newest if read in self._put_off)
        self._put_off[key] = _PutOff(newest=newest, uses=uses, make=make, place=self._place)

    def _made(self, key: Key) -> str:
        """What something that was put off says, now that somebody looks."""
        self._bring([key])
        return self._drafts[key].content

    def _bring(self, keys: Iterable[Key]) -> None:
        """Make what was put off and is stood on now, with all that it stands on, the earliest first."""
        found: dict[Key, _PutOff] = {}
        unseen = list(keys)
        while unseen:
            key = unseen.pop()
            if key in self._put_off and key not in found:
                found[key] = self._put_off[key]
                unseen += found[key].uses
        for key, one in sorted(found.items(), key=lambda item: item[1].place):
            if self._put_off.pop(key, None) is not None:
                one.make()

    def _call_late(self, call: Call, later: Callable[[], Step] | None) -> None:
        if later is None:
            raise TraceMismatch(
                f"{call.result.key} is needed after all, and cannot be awaited here", witness=call.result.key
            )
        self._make_ready(call)
        later()

    def _make_ready(self, call: Call) -> None:
        """Whatever has to be right before a tool runs; its call is the next thing that happens."""
        self._require_approval(call)
        action, text, effect = call.action.key, said(call.action.say), call.tool.effect
        if self._begun is not None:
            self._begun.require_approval(action, text, effect, self._approved)
        self.prepare_world()
        if self._begun is not None:
            self._begun.begin(action, text, effect)

    def _require_approval(self, call: Call) -> None:
        if call.tool.effect is Effect.IRREVERSIBLE and said(call.action.say) not in self._approved:
            raise ApprovalNeeded(
                f"{call.action.key} cannot be taken back: approve it, or leave the run as it is",
                witness=said(call.action.say),
            )
        # A recorded call whose result nobody has kept may have acted, and without it nothing takes it back.
        recorded = self._trace.steps.get(call.action.key)
        if recorded is not None and recorded.effect in ONCE and call.result.key not in self._trace.steps:
            require_again(call.action.key, said(call.action.say), self._approved)


def _has(text: str, query: str) -> bool:
    """Whether a search for the words of a query would find a text."""
    folded = text.casefold()
    return all(word in folded for word in query.casefold().split())


def _is_newest(read: Read, memory: Key) -> bool:
    """Whether it is a read of a memory as it stands at last, in no version that has a number already."""
    return read.key == memory and read.version is None
