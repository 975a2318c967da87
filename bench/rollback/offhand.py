"""Offhand runs: an agent's steps taken and counted, none of them recorded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from memorepair import Key, Memory
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import Draft, Json, Scope
from memorepair.recovery import Recorder, Step
from memorepair.recovery.run import Asked, Call, Said, said
from memorepair.recovery.trace import MODEL_STEPS, TASK
from memorepair.repair.jsontext import canonical


class Offhand(Recorder):
    """A run of which only the outcome is looked at: it reads and writes the memory, and leaves no trace.

    Its memories stand on nothing, as in a memory without provenance.
    """

    def __init__(self, memory: Memory, *, scope: Scope) -> None:
        super().__init__(memory.store, scope=scope, id="offhand")
        self._taken: list[Step] = []
        self._settle(self._asked(TASK, Kind.USER_INPUT, "errands", (), cost=0.0))

    @property
    def steps(self) -> int:
        """How many steps were taken."""
        return len(self._taken)

    @property
    def calls(self) -> int:
        """Calls of the model among them."""
        return sum(step.kind in MODEL_STEPS for step in self._taken)

    @property
    def claims(self) -> tuple[str, ...]:
        """What was claimed, in order."""
        return tuple(step.content for step in self._taken if step.kind is Kind.CLAIM)

    @property
    def answered(self) -> str:
        """The last answer."""
        return next(step.content for step in reversed(self._taken) if step.kind is Kind.ANSWER)

    def _settle(self, asked: Asked) -> Step:
        return self._take(asked, said(asked.say))

    def _begin(self, call: Call, later: Callable[[], Step] | None) -> Step | None:
        self._take(call.action, said(call.action.say))
        return None

    def _end(self, call: Call, observed: Json) -> Step:
        return self._take(call.result, canonical(observed))

    def _keep(self, mutation: Asked, memory: Draft, content: Said) -> Key:
        self._take(mutation, said(mutation.say))
        self._store.write([replace(memory, content=said(content), reads=())], act="remember")
        return memory.key

    def _find(self, name: str, query: str, scope: Scope, limit: int) -> list[Key]:
        return [hit.artifact.key for hit in self._store.search(query, scope=scope, limit=limit)]

    def _look(self, key: Key, name: str) -> tuple[str, int | None]:
        there = self._store.get(key)
        return there.content, there.version

    def _take(self, asked: Asked, content: str) -> Step:
        step = Step(asked.key, asked.kind, content)
        self._taken.append(step)
        return step
