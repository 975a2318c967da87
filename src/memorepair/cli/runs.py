"""Commands about runs: what an agent did, and how a failed run is recovered."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Annotated, cast

import typer

from memorepair.cli.guard import CLEAN, PROBLEMS, command
from memorepair.cli.options import (
    Actor,
    AsJson,
    CaseNumber,
    Db,
    DryRun,
    MaybeScope,
    Reason,
    SameOrigin,
    Wait,
    as_scope,
    opened,
)
from memorepair.cli.output import content, emit, pairs, rows, say
from memorepair.cli.text import some
from memorepair.errors import InvalidInput
from memorepair.graphs.support import Policy
from memorepair.memory.artifact import Json
from memorepair.recovery.recover import Agent, RecoveryReport
from memorepair.recovery.tools import Tool
from memorepair.recovery.trace import Recorded, Trace

RunName = Annotated[str, typer.Argument(metavar="RUN", help="Id of the run.")]
AgentName = Annotated[
    str | None,
    typer.Option(
        "--agent",
        metavar="MODULE:NAME",
        help="What took the run: a callable that takes a recorder, its tools in an attribute `tools`.",
    ),
]
Approved = Annotated[
    list[str] | None,
    typer.Option("--approve", help="An irreversible call that may run, as the error wrote it."),
]


def add_to(app: typer.Typer) -> None:
    """Register run list, run show, run recover, run replay, and recover beside them."""
    group = typer.Typer(help="What agents did, step by step.", no_args_is_help=True, rich_markup_mode=None)
    command(group, "list")(list_runs)
    command(group, "show")(show)
    command(group, "recover")(recover)
    command(group, "replay")(replay)
    app.add_typer(group, name="run")
    command(app, "recover")(recover)


def list_runs(db: Db, scope: MaybeScope = None, as_json: AsJson = False) -> int:
    """The runs, with the state of their task."""
    with opened(db) as memory:
        found = memory.runs(scope=None if scope is None else as_scope(scope))
    if as_json:
        emit(found)
    else:
        lines = [
            (one.key.scope[-1].partition(":")[2], "/".join(one.key.scope[:-1]), one.state.name.lower())
            for one in found
        ]
        rows("runs", ("run", "scope", "task"), lines)
    return CLEAN


def show(run: RunName, db: Db, as_json: AsJson = False) -> int:
    """The steps of a run, each with what it was made from; no content."""
    with opened(db) as memory:
        found = memory.trace(run)
    if as_json:
        emit(_told(found))
    else:
        lines = [
            (
                step.key.id,
                step.kind.name.lower(),
                step.listing.state.name.lower(),
                "" if step.effect is None else step.effect.value,
                ", ".join(sorted({arc.parent.id for arc in step.support})),
            )
            for step in found.steps.values()
        ]
        rows(f"run {found.id}", ("step", "kind", "state", "effect", "uses"), lines, wide="uses")
    return CLEAN


def recover(
    run: RunName,
    db: Db,
    faulty: Annotated[list[str], typer.Option("--faulty", help="A faulty memory; give each its own.")],
    actor: Actor,
    reason: Reason,
    correct: Annotated[
        list[str] | None,
        typer.Option("--correct", metavar="KEY=TEXT", help="What stands in place of a faulty memory."),
    ] = None,
    evidence: Annotated[str, typer.Option(help="grounded, direct or none.")] = "grounded",
    same_origin: SameOrigin = None,
    agent: AgentName = None,
    approved: Approved = None,
    wait: Wait = 0.0,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> int:
    """Take a fault and all that rests on it out of service; with --agent take the affected steps again.

    Exit code 1 while something stays out of service.
    """
    taken, tools = _agent(agent)
    with opened(db) as memory:
        report = memory.recover(
            run,
            faulty,
            reason=reason,
            actor=actor,
            agent=taken,
            tools=tools,
            replacements=dict(map(_replacement, correct or ())),
            evidence=cast(Policy, evidence),
            same_origin=[one.split() for one in same_origin or ()],
            approved=approved or (),
            wait=wait,
            dry_run=dry_run,
        )
    return _show_report(report, as_json, dry_run=dry_run)


def replay(
    case: CaseNumber,
    run: RunName,
    db: Db,
    agent: Annotated[str, typer.Option("--agent", metavar="MODULE:NAME", help="What took the run.")],
    approved: Approved = None,
    wait: Wait = 0.0,
    as_json: AsJson = False,
) -> int:
    """Take the affected steps of a run again, in a case that has withdrawn them."""
    taken, tools = _agent(agent)
    if taken is None:
        raise InvalidInput("a replay needs an agent", witness=agent)
    with opened(db) as memory:
        report = memory.replay(case, run, taken, tools=tools, approved=approved or (), wait=wait)
    return _show_report(report, as_json, dry_run=False)


def _agent(name: str | None) -> tuple[Agent | None, Iterable[Tool]]:
    """What the option names, with its tools; the recovery refuses those that are none."""
    if name is None:
        return None, ()
    module, _, attribute = name.partition(":")
    try:
        found: object = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidInput(f"there is no agent {name}: {error}", witness=name) from error
    except Exception as error:
        raise InvalidInput(
            f"there is no agent {name}: its module has raised {type(error).__name__}", witness=name
        ) from error
    if not callable(found):
        raise InvalidInput(f"{name} cannot be called", witness=name)
    tools: Iterable[Tool] = getattr(found, "tools", ())
    return cast(Agent, found), tools


def _replacement(text: str) -> tuple[str, str]:
    key, mark, content = text.partition("=")
    if not mark:
        raise InvalidInput("a correction is written KEY=TEXT", witness=text)
    return key, content


def _told(found: Trace) -> dict[str, Json]:
    def step(one: Recorded) -> dict[str, Json]:
        return {
            "key": str(one.key),
            "kind": one.kind.name.lower(),
            "state": one.listing.state.name.lower(),
            "effect": None if one.effect is None else one.effect.value,
            "uses": [
                {"key": str(arc.parent), "relation": arc.relation.name.lower(), "group": arc.group}
                for arc in one.support
            ],
        }

    return {
        "run": found.id,
        "scope": "/".join(found.scope[:-1]),
        "answer": None if found.answer is None else str(found.answer),
        "steps": [step(one) for one in found.steps.values()],
    }


def _show_report(report: RecoveryReport, as_json: bool, *, dry_run: bool) -> int:
    plan = report.plan
    if as_json:
        emit(report.to_json())
    else:
        pairs(
            {
                "case": "none, a dry run" if dry_run else f"{report.case.id}, {report.case.status.value}",
                "steps": f"{len(plan.again)} of {len(plan.trace.steps)} again, {len(plan.kept)} kept, "
                f"{len(plan.dropped)} dropped",
                "spared": str(len(plan.spared)),
                "quarantined": f"{some(len(plan.quarantined), 'memory', 'memories')}, "
                f"{some(len(plan.others), 'step')} of other runs",
                "taken back": str(len(plan.compensated)),
                "irreversible": str(len(plan.irreversible)),
                "reinstated": str(len(report.reinstated)),
            }
        )
        lines = [(key, "again") for key in plan.again] + [(key, "dropped") for key in plan.dropped]
        lines += [(key, "out of service") for key in report.left]
        lines += [(key, "says what the fault said: look at it") for key in report.echoes]
        lines += [(key, f"spared by {', '.join(map(str, on))}") for key, on in plan.spared.items()]
        lines += [(key, "what it did stands: look at it") for key in report.effects]
        rows("what becomes of it", ("key", "what"), lines, wide="what")
        if report.answer is not None:
            say("the new answer", style="green")
            content(report.answer)
    return PROBLEMS if report.left or (report.made is None and not dry_run) else CLEAN
