"""Recover: a failed run from its faulty memory to a new answer, as one case."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from inspect import isawaitable
from types import MappingProxyType
from typing import TypeAlias

from memorepair.errors import InvalidInput, MemoRepairError, RepairInProgress, StepFailed, TraceMismatch
from memorepair.graphs.support import Policy
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import Case, CaseStatus, Json, Key, Scope, State
from memorepair.memory.repairlock import check_wait
from memorepair.memory.store import Store
from memorepair.memory.values import check_type, named, require_names
from memorepair.recovery.begun import Begun
from memorepair.recovery.origins import with_echoes
from memorepair.recovery.planning import RecoveryPlan, make_plan
from memorepair.recovery.probing import echoes
from memorepair.recovery.publication import former_versions, publish, without_echoes
from memorepair.recovery.replay import Made, Replay
from memorepair.recovery.run import Recorder
from memorepair.recovery.tools import Tool
from memorepair.recovery.trace import (
    STEPS,
    RunLike,
    Trace,
    find_run,
    is_run_scope,
    out_of_service,
    read_trace,
)
from memorepair.recovery.world import taking_back, undo_writes
from memorepair.repair import engine
from memorepair.repair.assignment import OperatorTable
from memorepair.repair.cascade import Cascade, read_cascade
from memorepair.repair.events import EventKind, RepairEvent, Rollback
from memorepair.repair.operators.operator import Operator
from memorepair.repair.withdrawal import descends, event_of, withdraw

Agent: TypeAlias = Callable[[Recorder], object]
"""Takes the steps of a run: from a recorder the first time, from a replay when the run is recovered.

It may be a coroutine function.
"""

_NOTHING: Mapping[Key, str] = MappingProxyType({})
_NO_OPERATORS: Mapping[str, Operator] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryReport:
    """What a recovery did, or would do.

    Attributes
    ----------
    case
        As it is now; number 0 after a dry run.
    plan
        What of the run is taken again, kept, dropped.
    made
        What the replay made; None where there was none.
    reinstated
        Memories that are again in the version which something faulty had superseded.
    left
        Memories that stay out of service; `repair` of the case takes them up.
    echoes
        Memories in service that say what only the fault said, though no arc leads there: for a person to look
        at. Empty after a dry run.
    effects
        Affected calls that changed the world, that the replay has not made again and that nothing took back:
        what they did stands, for a person to look at. Empty where nothing was replayed.
    """

    case: Case
    plan: RecoveryPlan
    made: Made | None = None
    reinstated: Mapping[Key, int] = field(default_factory=lambda: MappingProxyType({}))
    left: tuple[Key, ...] = ()
    echoes: tuple[Key, ...] = ()
    effects: tuple[Key, ...] = ()

    @property
    def answer(self) -> str | None:
        """The answer as it is now; None where nothing was replayed."""
        return None if self.made is None else self.made.answer

    def to_json(self) -> dict[str, Json]:
        """The report as JSON; no content but the new answer."""
        made = self.made
        return {
            "case": self.case.id,
            "status": self.case.status.value,
            **self.plan.to_json(),
            "replayed": 0 if made is None else len(made.steps),
            "read_back": 0 if made is None else len(made.frozen),
            "model_calls": 0 if made is None else made.calls,
            "reinstated": {str(key): version for key, version in self.reinstated.items()},
            "left": [str(key) for key in self.left],
            "echoes": [str(key) for key in self.echoes],
            "effects": [str(key) for key in self.effects],
            "answer": self.answer,
        }


def recover(
    store: Store,
    run: RunLike,
    faulty: Collection[Key],
    *,
    reason: str,
    actor: str,
    agent: Agent | None = None,
    tools: Iterable[Tool] = (),
    replacements: Mapping[Key, str] = _NOTHING,
    evidence: Policy = "grounded",
    same_origin: tuple[tuple[Key, ...], ...] = (),
    approved: Collection[str] = (),
    operators: OperatorTable = _NO_OPERATORS,
    wait: float = 0.0,
    dry_run: bool = False,
) -> RecoveryReport:
    """Take the fault and all that rests on it out of service, take the run's affected steps again, publish.

    Parameters
    ----------
    run
        The failed run.
    faulty
        F: memories (or steps) that are wrong.
    agent
        What took the run; without one the case stays open, for `replay`.
    tools
        What takes back affected writes, found by the names of the tools.
    replacements
        What a person says in place of a faulty memory. One without gets back the version it had superseded,
        if that stands still; else nothing stands in its place.
    evidence
        What other support may spare: ``grounded``, ``direct`` or ``none``.
    same_origin
        Sets of artifacts that are one source, gone as soon as one of a set is; what stands on them alone, as
        their reads do, counts with them.
    approved
        Irreversible calls that may run, as the witness of `ApprovalNeeded` writes them.

    Raises
    ------
    UnknownId
        There is no such run or memory, or a tool to compensate with is missing.
    TraceMismatch, ApprovalNeeded
        From the replay: nothing was published, what it wrote was taken back where it can be, the barrier
        stands, and `replay` takes the case up again.

    Notes
    -----
    The case withdraws what other runs made of the fault too; `repair` of the case takes up their memories.
    """
    require_names(actor, reason)
    tools, approved = _checked(agent, tools, approved, wait)
    scope = find_run(store, run)
    roots = tuple(dict.fromkeys(faulty))
    named = frozenset(roots)
    bare = [root for root in roots if root not in replacements]
    former = former_versions(store, bare, lambda key: descends(store, key, named))
    event = RepairEvent(
        kind=EventKind.RECOVER,
        roots=roots,
        delta=Rollback(
            replacements=replacements,
            reinstated={root: one.version for root, one in former.items()},
        ),
        reason=reason,
        actor=actor,
        evidence=evidence,
        same_origin=with_echoes(store, same_origin, roots),
    )
    planned: list[RecoveryPlan] = []

    def look(number: int) -> None:
        planned.append(plan(store, number, scope))
        if agent is not None:  # a tool that is missing is told before anything is withdrawn
            taking_back(store, planned[0], {one.name: one for one in tools})

    case = withdraw(store, event, dry_run=dry_run, look=look)
    if agent is None or dry_run:
        left = _memories(planned[0].quarantined)
        return RecoveryReport(
            case=case,
            plan=planned[0],
            reinstated={root: one.version for root, one in former.items()},
            left=left,
            echoes=() if dry_run else _echoes(store, read_cascade(store, case.id), scope),
        )
    try:
        return replay(
            store, case.id, scope, agent, tools=tools, approved=approved, operators=operators, wait=wait
        )
    except RepairInProgress as error:
        error.add_note(_still_open(case.id))
        raise


def plan(store: Store, case: int, run: RunLike) -> RecoveryPlan:
    """What `replay` would do for a run that a case has reached; changes nothing.

    Raises
    ------
    UnknownId
        There is no such case or run.
    """
    return _plan(store, read_cascade(store, case), run)


def _plan(store: Store, cascade: Cascade, run: RunLike) -> RecoveryPlan:
    trace = read_trace(store, find_run(store, run))
    gone = {member.key for member in cascade.members if member.state is State.WITHDRAWN}
    gone |= {key for key, step in trace.steps.items() if out_of_service(step.listing)}
    rest = [member for member in cascade.open if member.key not in trace.steps]
    return make_plan(
        trace,
        faulty=cascade.roots,
        gone=gone,
        spared=cascade.evidence,
        derived=tuple(member.key for member in rest if member.kind not in STEPS),
        others=tuple(member.key for member in rest if member.kind in STEPS),
        awaited=_awaited(cascade, trace),
    )


def _awaited(cascade: Cascade, trace: Trace) -> frozenset[Key]:
    """Memories that the case has withdrawn, that the run wrote, and on which stands what others did."""
    members = {member.key for member in cascade.members}
    still = {member.key for member in cascade.open} - trace.steps.keys()
    return frozenset(
        arc.parent
        for arc in cascade.support
        if arc.child in still and arc.parent in members and arc.parent in trace.writers
    )


def replay(
    store: Store,
    case: int,
    run: RunLike,
    agent: Agent,
    *,
    tools: Iterable[Tool] = (),
    approved: Collection[str] = (),
    operators: OperatorTable = _NO_OPERATORS,
    wait: float = 0.0,
) -> RecoveryReport:
    """Take a run's affected steps again and publish them, in the case that has withdrawn them.

    Raises
    ------
    RepairInProgress
        A repair holds the store, still after `wait` seconds.
    UnknownId, TraceMismatch, ApprovalNeeded, StepFailed
        As `recover`.
    InvalidInput
        The case is undone.
    """
    tools, approved = _checked(agent, tools, approved, wait)
    with store.repairing(case, wait=wait):
        declared = store.case(case)
        if declared.status is CaseStatus.UNDONE:
            raise InvalidInput(f"case {case} has been undone", witness=case)
        store.discard_staged(case)  # of a replay that died
        cascade = read_cascade(store, case)
        chosen = _plan(store, cascade, run)
        take_back = taking_back(store, chosen, {one.name: one for one in tools})
        back = former_versions(store, _memories(one.key for one in cascade.open if one.kind not in STEPS))
        begun = Begun(store, case)
        player = Replay(
            store,
            chosen.trace,
            again=chosen.again,
            back=back,
            stated=cascade.roots,
            approved=approved,
            take_back=take_back,
            begun=begun,
        )
        try:
            _take_steps(agent, player)
            player.leave(_written_since(store, cascade, chosen))
            made = player.made
            if chosen.trace.answer in chosen.again and chosen.trace.answer not in made.drafts:
                raise TraceMismatch("the replay has come to no answer", witness=chosen.trace.answer)
            store.begin_repair(case, chosen.digest)
            said, heard = _said(store, cascade), _heard(store, cascade, made)
            drafts = without_echoes(store, made.drafts, said, heard, made.past)
            back = {key: former for key, former in back.items() if key not in drafts}
            publish(store, cascade, drafts, back, tuple(made.past))
        except BaseException as error:
            back_as_before = undo_writes(player.made, error)
            store.discard_staged(case)
            if back_as_before:  # else the notes stay: what may stand in the world is asked about
                begun.settle(published=False)
            error.add_note(_still_open(case))
            raise
        begun.settle(published=True)
        store.close_case(case)
    # Without a budget for repairs: only what stands on the same as before is served again.
    closed = engine.repair(store, case, operators=operators, budget=0.0, wait=wait).case
    after = read_cascade(store, case)
    return RecoveryReport(
        case=closed,
        plan=chosen,
        made=made,
        reinstated={**_restored(store, declared), **{key: former.version for key, former in back.items()}},
        left=_memories(member.key for member in after.open if member.kind not in STEPS),
        echoes=_echoes(store, cascade, chosen.trace.scope),
        effects=_effects(chosen, made),
    )


def _effects(chosen: RecoveryPlan, made: Made) -> tuple[Key, ...]:
    """Affected writes of a run that neither a compensation nor the replay has reached."""
    reached = {*chosen.kept, *chosen.compensated, *made.drafts}
    return tuple(
        key
        for key, step in chosen.trace.steps.items()
        if step.kind is Kind.ACTION and step.effect is not None and step.effect.writes and key not in reached
    )


def _echoes(store: Store, cascade: Cascade, run: Scope) -> tuple[Key, ...]:
    """What in the run's scope, and in those of the faulty memories, still says what only the fault said."""
    roots = store.served(list(cascade.roots))
    scopes = [run[:-1], *(key.scope for key in cascade.roots if not is_run_scope(key.scope))]
    return echoes(store, scopes, _said(store, cascade), [there.content for there in roots.values()])


def _still_open(case: int) -> str:
    return f"case {case} is open, its barrier stands: a replay takes it up again"


def _checked(
    agent: Agent | None, tools: Iterable[Tool], approved: Collection[str], wait: float
) -> tuple[tuple[Tool, ...], frozenset[str]]:
    """Refuse what no replay can work with, before anything is done."""
    if agent is not None and not callable(agent):
        raise InvalidInput(f"an agent is called with a recorder: {named(agent)} cannot be", witness=agent)
    check_wait(wait)
    if isinstance(approved, str):
        raise InvalidInput("approved are calls, each as the error wrote it, not one text", witness=approved)
    check_type(approved, Iterable, "approved are calls, each as the error wrote it")
    calls = frozenset(approved)
    for call in calls:
        check_type(call, str, "an approved call is written as the error wrote it")
    check_type(tools, Iterable, "tools are an iterable of them")
    given = tuple(tools)
    for one in given:
        check_type(one, Tool, "a tool declares its effect: wrap the function with `tool`")
    return given, calls


def _take_steps(agent: Agent, player: Replay) -> None:
    """Have the agent take its steps, in an event loop of its own where it is a coroutine function.

    Then what they did to the world the first time is taken back, unless a tool that ran needed that before.

    Raises
    ------
    StepFailed
        The agent, a tool that it called, or a compensation has raised; what it raised is the cause.
    InvalidInput
        It is a coroutine function, and an event loop is running here already.
    """
    try:
        taken = agent(player)
        if isawaitable(taken):
            _run(taken)
        player.prepare_world()
    except MemoRepairError:
        raise
    except Exception as error:
        raise StepFailed(f"the agent has raised {type(error).__name__}", witness=player.id) from error


def _run(taken: Awaitable[object]) -> None:
    async def whole() -> object:
        return await taken

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(whole())
        return
    if isinstance(taken, Coroutine):
        taken.close()
    raise InvalidInput(
        "inside an event loop an agent that is awaited is replayed in a thread: "
        "await asyncio.to_thread(memory.recover, ...)",
        witness=type(taken).__name__,
    )


def _written_since(store: Store, cascade: Cascade, chosen: RecoveryPlan) -> list[Key]:
    """Memories that the run wrote and that others have written since, which the fault does not reach."""
    writers = chosen.trace.writers
    served = store.served(sorted(writers.keys() - {member.key for member in cascade.members}))
    own = {arc.child for arc in store.support(sorted(served)) if arc.parent in writers[arc.child]}
    return [key for key in served if key not in own]


def _memories(keys: Iterable[Key]) -> tuple[Key, ...]:
    return tuple(sorted(keys))


def _restored(store: Store, case: Case) -> Mapping[Key, int]:
    """The former versions that the event itself has brought back."""
    delta = event_of(store, case).delta
    return delta.reinstated if isinstance(delta, Rollback) else {}


def _said(store: Store, cascade: Cascade) -> dict[Key, str]:
    """What the roots said when the case withdrew them."""
    roots = [(member.key, member.version) for member in cascade.members if member.root]
    return {key: there.content for key, there in store.former(roots).items()}


def _heard(store: Store, cascade: Cascade, made: Made) -> list[str]:
    """What a replay may repeat: the steps it read back, and what stands in place of the roots."""
    return [there.content for there in store.served([*made.frozen, *cascade.roots]).values()]
