"""Verbs about an agent's runs."""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterable, Mapping

from memorepair.facade.base import Opened, check_callable
from memorepair.graphs.support import Policy
from memorepair.memory.arguments import CaseLike, KeyLike, as_case, as_key, as_keys, as_scope, as_sets
from memorepair.memory.artifact import Key, Listing, Scope
from memorepair.memory.values import check_flags, check_type, check_word
from memorepair.recovery import recover as recovering
from memorepair.recovery.recover import Agent, RecoveryReport
from memorepair.recovery.run import Run
from memorepair.recovery.tools import Tool
from memorepair.recovery.trace import RunLike, Trace, find_run, read_trace, runs


class Running(Opened):
    """Verbs about an agent's runs."""

    def run(self, *, task: str, scope: Scope = (), id: str | None = None) -> Run:
        """A run of an agent, as a context: every step it takes is recorded with what it used.

        Steps lie in a scope of their own below `scope`, so that no search for memories finds them.

        Raises
        ------
        InvalidInput
            There is a run of this id in the scope already.
        """
        check_word(task, "a task")
        if id is not None:
            check_word(id, "the id of a run")
        return Run(self._store, task=task, scope=as_scope(scope), id=id)

    def runs(self, *, scope: Scope | None = None) -> builtins.list[Listing]:
        """The task of every run, or of the runs that worked in a scope; the run's id is in its scope."""
        return runs(self._store, None if scope is None else as_scope(scope))

    def trace(self, run: RunLike) -> Trace:
        """The steps of a run in the order they were taken, without content.

        Raises
        ------
        UnknownId
            There is no such run.
        """
        return read_trace(self._store, find_run(self._store, run))

    def recover(
        self,
        run: RunLike,
        faulty: KeyLike | Iterable[KeyLike],
        *,
        reason: str,
        actor: str,
        agent: Agent | None = None,
        tools: Iterable[Tool] = (),
        replacements: Mapping[Key, str] | Mapping[str, str] | None = None,
        evidence: Policy = "grounded",
        same_origin: Iterable[Iterable[KeyLike]] = (),
        approved: Collection[str] = (),
        wait: float = 0.0,
        dry_run: bool = False,
    ) -> RecoveryReport:
        """Roll a failed run back along its dependencies, and take again what its outcome needs.

        The faulty memories, and all that rests on them in any run, leave service at once. A faulty memory
        gets the content of `replacements`, or the version it had superseded, if that stands. With `agent`,
        which takes the steps of a run, the affected steps the answer rests on are taken again over the
        recorded rest; without it the case stays open for `replay`. `tools` take affected writes back.

        Raises
        ------
        UnknownId
            There is no such run or memory, or a tool to compensate with is missing.
        TraceMismatch, ApprovalNeeded, StepFailed
            From the replay. Nothing was published; the barrier stands; `replay` takes the case up again.
        """
        check_flags(dry_run=dry_run)
        return recovering.recover(
            self._store,
            run,
            as_keys(faulty),
            reason=reason,
            actor=actor,
            agent=agent,
            tools=tools,
            replacements=_as_texts(replacements),
            evidence=evidence,
            same_origin=as_sets(same_origin),
            approved=approved,
            operators=self._operators,
            wait=wait,
            dry_run=dry_run,
        )

    def replay(
        self,
        case: CaseLike,
        run: RunLike,
        agent: Agent,
        *,
        tools: Iterable[Tool] = (),
        approved: Collection[str] = (),
        wait: float = 0.0,
    ) -> RecoveryReport:
        """Take a run's affected steps again, in a case that has withdrawn them; see `recover`."""
        check_callable(agent, "an agent")
        return recovering.replay(
            self._store,
            as_case(case),
            run,
            agent,
            tools=tools,
            approved=approved,
            operators=self._operators,
            wait=wait,
        )


def _as_texts(replacements: Mapping[Key, str] | Mapping[str, str] | None) -> dict[Key, str]:
    if replacements is None:
        return {}
    check_type(replacements, Mapping, "replacements are a mapping from faulty keys to texts")
    return {as_key(key): text for key, text in replacements.items()}
