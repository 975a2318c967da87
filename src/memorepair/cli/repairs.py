"""Commands that plan a repair or carry it out."""

from __future__ import annotations

from typing import Annotated, cast

import typer

from memorepair.cli.guard import CLEAN, PROBLEMS, command
from memorepair.cli.options import (
    AsJson,
    Budget,
    CaseNumber,
    Db,
    DryRun,
    Solver,
    Suspected,
    Ties,
    Tradeoff,
    Wait,
    amount,
    opened,
)
from memorepair.cli.output import emit, pairs, progress, rows, say
from memorepair.cli.plain import plain
from memorepair.cli.selecting import held
from memorepair.cli.text import some
from memorepair.memory.artifact import Json
from memorepair.problems import Status
from memorepair.problems.integers import nearest
from memorepair.problems.proof import Ties as TieRule
from memorepair.repair.engine import RepairReport, admitted
from memorepair.repair.events import EventKind
from memorepair.repair.plan import RepairPlan


def add_to(app: typer.Typer) -> None:
    """Register plan and repair."""
    command(app, "plan")(plan)
    command(app, "repair")(repair)


def plan(
    case: CaseNumber,
    db: Db,
    tradeoff: Tradeoff = None,
    budget: Budget = None,
    ties: Ties = "fewest",
    solver: Solver = "pseudoflow",
    as_json: AsJson = False,
) -> int:
    """What repair would do for a case, why, and at what cost; changes nothing."""
    with opened(db) as memory:
        found = memory.plan(
            case, tradeoff=tradeoff, budget=_limit(budget), ties=cast(TieRule, ties), solver=solver
        )
    if as_json:
        emit(_told(found))
    else:
        _show_plan(found)
    return CLEAN


def repair(
    case: CaseNumber,
    db: Db,
    tradeoff: Tradeoff = None,
    budget: Budget = None,
    ties: Ties = "fewest",
    solver: Solver = "pseudoflow",
    wait: Wait = 0.0,
    retry: Annotated[bool, typer.Option("--retry", help="Even after three repairs that failed.")] = False,
    reselect: Annotated[
        bool,
        typer.Option("--reselect", help="Choose the rest anew after a failure or a surprising cost."),
    ] = False,
    suspected: Suspected = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> int:
    """Select, execute, validate, publish; exit code 1 if something stays withdrawn."""
    if dry_run:
        with opened(db) as memory, admitted(memory.store, case, wait=wait, retry=retry, suspected=suspected):
            pass
        return plan(case, db, tradeoff, budget, ties, solver, as_json)
    with opened(db) as memory, progress(quiet=as_json) as step:
        report = memory.repair(
            case,
            tradeoff=tradeoff,
            budget=_limit(budget),
            ties=cast(TieRule, ties),
            solver=solver,
            wait=wait,
            retry=retry,
            reselect=reselect,
            suspected=suspected,
            progress=step,
        )
    if as_json:
        emit(report.to_json())
    else:
        _show_report(report)
    return PROBLEMS if report.still_withdrawn else CLEAN


def _limit(budget: str | None) -> float | None:
    return None if budget is None else nearest(amount(budget, "a budget"))


def _told(found: RepairPlan) -> dict[str, Json]:
    candidates, selection = found.candidates, found.selection
    return {
        "case": found.case,
        "digest": found.digest,
        "status": selection.status.value,
        "tradeoff": found.tradeoff,
        "budget": found.budget,
        "objective": plain(selection.objective),
        "bound": plain(selection.bound),
        "gap": selection.gap,
        "verified": selection.verify(),
        "waves": len(found.waves),
        "unit": candidates.unit,
        "cost": found.cost,
        "cost_all": found.cost_all,
        "candidates": plain(found.rows()),
    }


def _show_plan(found: RepairPlan) -> None:
    candidates, selection = found.candidates, found.selection
    chosen = [row for row in found.rows() if row.chosen]
    feasible = selection.status is Status.FEASIBLE
    pairs(
        {
            "case": found.case,
            "chosen": f"{len(chosen)} of {int(candidates.executable.sum())} that can be repaired, in "
            f"{some(len(found.waves), 'wave')}",
            "selection": f"{selection.status.value}, {held(selection)} verified"
            if selection.verify()
            else "",
            "objective": f"{float(selection.objective):.6g}",
            "bound": f"{float(selection.bound):.6g}" if feasible else None,
            "gap": f"{selection.gap:.2g}" if feasible else None,
            "tradeoff": found.tradeoff,
            "budget": None if found.budget is None else f"{found.budget:,.12g} {candidates.unit}",
            "cost": f"{found.cost:,.0f} of {found.cost_all:,.0f} {candidates.unit} for all",
            "beyond the budget": len(found.beyond) or None,
        }
    )
    lines = [
        (row.key, row.mode, row.value, row.cost, "" if row.wave is None else row.wave, row.why)
        for row in sorted(found.rows(), key=lambda row: (row.wave is None, row.wave or 0, row.key))
    ]
    rows("candidates", ("key", "mode", "value", "cost", "wave", "why"), lines, wide="why")


def _against(report: RepairReport) -> str:
    over = f", {report.over_budget:,.12g} more than allowed" if report.over_budget else ""
    return f"{report.budget:,.12g}; foreseen {report.plan.cost:,.12g}, spent {report.cost:,.12g}{over}"


def _show_report(report: RepairReport) -> None:
    unit = report.plan.candidates.unit
    ratio = "" if report.cost_ratio is None else f" ({report.cost_ratio:.0%})"
    pairs(
        {
            "case": f"{report.case.id}, {report.case.status.value}",
            "cascade": report.cascade,
            "spared by evidence": str(len(report.spared)) if report.spared else None,
            "republished": str(len(report.republished)),
            "unchanged": str(len(report.unchanged)),
            "released early": str(len(report.released)),
            "left withdrawn": str(len(report.still_withdrawn)),
            "cost": f"{report.cost:,.0f} of {report.cost_all:,.0f} {unit} for all{ratio}",
            "budget": None if report.budget is None else _against(report),
            "validated": ", ".join(
                f"{check} {word} {times}" for (check, word), times in sorted(report.verdicts.items())
            ),
        }
    )
    if report.receipt is not None:
        say(f"erased {some(len(report.receipt.versions), 'version')}: {report.receipt.status}")
    if report.spared:
        rows("spared by evidence", ("key", "stands on"), report.spared.items(), wide="stands on")
    if report.still_withdrawn:
        lines = [(member.key, member.fate, member.why) for member in report.still_withdrawn]
        rows("left withdrawn", ("key", "fate", "why"), lines, wide="why")
    else:
        replaced = report.case.event in (EventKind.CORRECT, EventKind.MIGRATE)
        more = "; what replaces them is served" if replaced else ""
        say(f"nothing but the roots stays out of service{more}", style="green")
