"""The world: what a run has done to it is taken back before it is done again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from memorepair.errors import InvalidInput, UnknownId
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import Draft, Json, Key, Source, State
from memorepair.memory.store import Store
from memorepair.recovery.planning import RecoveryPlan
from memorepair.recovery.replay import Made
from memorepair.recovery.tools import Tool
from memorepair.recovery.trace import TAKEN_BACK, Trace, step_recipe
from memorepair.repair.jsontext import canonical, parse


def taking_back(store: Store, chosen: RecoveryPlan, tools: Mapping[str, Tool]) -> Callable[[], None]:
    """What compensates the affected writes when it is called, the latest first; every tool is looked for now.

    A note is kept of each, so that none is compensated twice. An action that recoveries have taken again has
    run more than once, and what an undone recovery did stands in the world: each result is taken back by
    itself, in whatever version it is. A process that dies between the two compensates again: compensations
    must bear that.

    Raises
    ------
    UnknownId
        There is no tool of that name.
    InvalidInput
        It has no compensation any more.
    """
    calls: list[tuple[int, int, _Ran]] = []
    for place, action in enumerate(reversed(chosen.compensated)):
        calls += [(ran.at, place, ran) for ran in _executions(store, chosen.trace, action)]
    calls.sort(key=lambda call: call[:2], reverse=True)
    for _, _, ran in calls:
        if ran.tool not in tools:
            raise UnknownId(
                f"{ran.action} is to be taken back, and there is no tool {ran.tool}", witness=ran.tool
            )
        if tools[ran.tool].compensation is None:
            raise InvalidInput(f"tool {ran.tool} has no compensation any more", witness=ran.tool)

    def take_back() -> None:
        for _, _, ran in calls:
            compensation = tools[ran.tool].compensation
            if compensation is not None:
                compensation(ran.arguments, ran.observed)
                _note(store, ran, place=len(chosen.trace.steps))

    return take_back


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ran:
    """One execution of an action: the version of its result, when it came, the call and what it gave."""

    action: Key
    result: int
    at: int
    tool: str
    arguments: Mapping[str, Json]
    observed: Json


def _executions(store: Store, trace: Trace, action: Key) -> list[_Ran]:
    """Those that stand in the world; what a failed replay has discarded, it took back itself."""
    result = trace.observation_of(action)
    if result is None:
        return []
    back = _noted(store, action)
    times = [(past.created_at, past.version) for past in store.history(action)]
    found = []
    for past in store.history(result):
        if past.version in back or past.state is State.ERASED:
            continue
        called = max((there for there in times if there[0] <= past.created_at), default=min(times))[1]
        texts = store.former([(action, called), (result, past.version)])
        name, arguments = _call_of(texts[action].content)
        found.append(
            _Ran(
                action=action,
                result=past.version,
                at=past.created_at,
                tool=name,
                arguments=arguments,
                observed=parse(texts[result].content),
            )
        )
    return found


def _noted(store: Store, action: Key) -> list[Json]:
    """The versions of an action's result that have been taken back."""
    note = Key(action.scope, action.id + TAKEN_BACK)
    try:
        version = store.describe(note).version
    except UnknownId:
        return []
    said = parse(store.former([(note, version)])[note].content)
    results = said.get("results") if isinstance(said, dict) else None
    if not isinstance(results, list):
        raise InvalidInput(f"{note} does not say what was taken back", witness=note)
    return results


def _note(store: Store, ran: _Ran, *, place: int) -> None:
    results = [*_noted(store, ran.action), ran.result]
    store.write(
        [
            Draft(
                key=Key(ran.action.scope, ran.action.id + TAKEN_BACK),
                content=canonical({"taken back": ran.action.id, "results": results}),
                kind=Kind.OBSERVATION,
                source=Source.SYSTEM,
                recipe=step_recipe(place, cost=0.0),
            )
        ],
        act="compensate",
    )


def _call_of(content: str) -> tuple[str, Mapping[str, Json]]:
    action = parse(content)
    arguments = action.get("arguments") if isinstance(action, dict) else None
    if not isinstance(action, dict) or not isinstance(arguments, dict):
        raise InvalidInput("an action names its tool and its arguments", witness=content)
    return str(action.get("tool")), arguments


def undo_writes(made: Made, error: BaseException) -> bool:
    """Take back what a failed replay has written, the latest first; what stays is told with the error.

    Returns
    -------
    bool
        Whether no compensation has raised.
    """
    failed = False
    for tool, arguments, observed in reversed(made.written):
        left = f"{tool.name} ({tool.effect.value}) has run and was not taken back"
        if tool.compensation is None:
            error.add_note(left)
            continue
        try:
            tool.compensation(arguments, observed)
        except Exception as raised:  # noqa: BLE001 - the others are still to be taken back; the note tells it
            error.add_note(f"{left}: its compensation has raised {type(raised).__name__}")
            failed = True
    return not failed
