"""The experiment: every system on every event of every workload."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.cascade import families, loss, neural, validation
from bench.cascade.measures import Figures, Judged, pooled, ratio
from bench.cascade.price import RECOVERED, SHARE, Priced, price, summary
from bench.cascade.supports import each_by_itself
from bench.cascade.systems import (
    NAIVE,
    SYSTEMS,
    Known,
    Outcome,
    Setting,
    candidates_of,
    run,
    run_naive,
    settle,
    spared_by,
)
from bench.cascade.world import Truth
from bench.registry import note
from memorepair.adapters import toolbench as toolbench_files
from memorepair.graphs.support import Policy
from memorepair.memory.artifact import Key
from memorepair.repair.candidates import Candidates
from memorepair.repair.events import RepairEvent
from memorepair.repair.plan import REPAIR_ALL

SOUND = ("withdraw_only", "repair_all", "greedy_ratio", "greedy_cone", "greedy_marginal")
"""With every ``mincut*``: what must leave nothing stale where provenance is complete."""

_REPAIR_ALL = next(one for one in SYSTEMS if one.solver == REPAIR_ALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How much is measured.

    `each` events of each kind; `prices` of the frontier at which greedy is compared, all where None; `luck`
    draws of operators' faults; `runs` of tau-bench and `seeds` of losses; `size` of the validation set;
    `learners` and `tasks` of the neural one.
    """

    each: int
    luck: int
    prices: int | None
    runs: int
    seeds: int
    size: int
    learners: int
    tasks: int
    small: bool
    """Whether worlds are cut to a few runs, scopes and chains."""


QUICK = Extent(each=3, luck=1, prices=60, runs=34, seeds=2, size=60, learners=2, tasks=1, small=True)
FULL = Extent(each=4, luck=2, prices=None, runs=34, seeds=4, size=120, learners=4, tasks=2, small=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A workload: figures by system, its frontier, how many events and candidates, what was unsound."""

    figures: dict[str, Figures]
    priced: Priced
    events: int
    members: int
    unsound: int


def measure_workload(name: str, data: Path, extent: Extent, seed: int = 0) -> Measured:
    """All systems on the events of one workload."""
    world = families.make(name, data, seed, quick=extent.small)
    with tempfile.TemporaryDirectory() as folder:
        setting = settle(world, Path(folder), seed)
        events = world.events(seed, extent.each)
        note(f"{name}: {len(world.drafts)} artifacts, {len(events)} events")
        offered = [candidates_of(setting, event) for event in events]
        priced = price(offered, prices=extent.prices)
        known: Known = {}
        against = [
            run(setting, event, _REPAIR_ALL, price=0.0, candidates=one, known=known)
            for event, one in zip(events, offered, strict=True)
        ]
        figures: dict[str, Figures] = {}
        unsound = 0
        for naive in NAIVE:
            outcomes = [
                run_naive(setting, event, naive, one) for event, one in zip(events, offered, strict=True)
            ]
            figures[naive] = pooled(_judged(setting, events, offered, outcomes, against))
        for system in SYSTEMS:
            prove = system.name in ("mincut_cutoff", "mincut_evidence")
            outcomes = (
                list(against)
                if system is _REPAIR_ALL
                else [
                    run(
                        setting,
                        event,
                        system,
                        price=priced.price,
                        candidates=one,
                        prove=prove,
                        known=known,
                    )
                    for event, one in zip(events, offered, strict=True)
                ]
            )
            unsound += sum(one.sound is False for one in outcomes)
            figures[system.name] = pooled(_judged(setting, events, offered, outcomes, against))
            if system.cutoff:
                figures[system.name]["released_share"] = ratio(
                    sum(one.released for one in outcomes), sum(len(one.keys) for one in offered)
                )
            if system.evidence:
                figures[system.name]["spared_share"] = ratio(
                    sum(one.spared for one in outcomes), sum(len(one.keys) for one in offered)
                )
                figures[system.name]["semantics"] = _semantics(setting, events, Path(folder), seed)
            if system.reselect:
                figures[system.name]["at_fault"] = _at_fault(
                    setting, events, offered, against, range(extent.luck)
                )
            note(f"  {system.name}: {figures[system.name]}")
        _add_proofs(figures, priced, _made_by_all(offered, against))
        return Measured(
            figures=figures,
            priced=priced,
            events=len(events),
            members=sum(len(one.keys) for one in offered),
            unsound=unsound,
        )


def _judged(
    setting: Setting,
    events: Sequence[RepairEvent],
    offered: Sequence[Candidates],
    outcomes: Sequence[Outcome],
    against: Sequence[Outcome],
) -> list[Judged]:
    judged = []
    for event, one, outcome, other in zip(events, offered, outcomes, against, strict=True):
        members = len(setting.truth.cascade(event.roots))
        judged.append(
            Judged(
                outcome=outcome,
                against=other,
                worth=dict(zip(one.keys, one.value.tolist(), strict=True)),
                members=members,
                healthy=len(setting.contents) - members,
            )
        )
    return judged


def _made_by_all(offered: Sequence[Candidates], against: Sequence[Outcome]) -> float:
    """Share of the value foreseen that repair-all recovers: some of its steps fail."""
    foreseen = sum(float(one.value[one.executable].sum()) for one in offered)
    recovered = 0.0
    for one, outcome in zip(offered, against, strict=True):
        recovered += sum(
            value for key, value in zip(one.keys, one.value.tolist(), strict=True) if key in outcome.recovered
        )
    return recovered / foreseen


def _add_proofs(figures: dict[str, Figures], priced: Priced, made: float) -> None:
    """The frontier, what greedy misses of it, what early cutoff saved, and whether the bar can be reached.

    Best and bound are told as shares of what repair-all recovers, as `recovered_value` is: a choice recovers
    at most what is foreseen of it.
    """
    row = figures["mincut"]
    row["price"] = priced.price
    row["optimum_best"] = round(priced.best / made, 5)
    row["optimum_bound"] = round(priced.bound / made, 5)
    row["optimum_proof"] = priced.bound / made < RECOVERED
    row["frontier"] = [[round(number, 6) for number in point] for point in priced.curve]
    for name, margins in priced.margins.items():
        figures[name]["missed"] = summary(margins)
        figures[name]["missed_at"] = margins
    before, after = row["cost_ratio"], figures["mincut_cutoff"]["cost_ratio"]
    if isinstance(before, float) and isinstance(after, float):
        figures["mincut_cutoff"]["cost_saved"] = ratio(before - after, before)


def _semantics(
    setting: Setting, events: Sequence[RepairEvent], folder: Path, seed: int
) -> dict[str, dict[str, float | None]]:
    """What each meaning of losing a supporter spares, and of that what it must not by its own label.

    ``any`` supporter gone; one of the ``alternatives`` must stay; the ``last`` supporter gone.
    """
    drafts = each_by_itself(setting.world.drafts)
    alone = settle(replace(setting.world, drafts=drafts), folder / "alone", seed, uses=False)
    told: dict[str, dict[str, float | None]] = {}
    meanings: tuple[tuple[str, Setting, Policy], ...] = (
        ("any", setting, "none"),
        ("alternatives", setting, "grounded"),
        ("last", alone, "grounded"),
    )
    for name, there, policy in meanings:
        members = sum(len(there.truth.cascade(event.roots)) - 1 for event in events)
        spared = [(event, spared_by(there, event, policy)) for event in events]
        wrong = [keys - _granted(there.truth, event, policy) for event, keys in spared]
        told[name] = {
            "spared_share": ratio(sum(len(keys) for _, keys in spared), members),
            "exposure": ratio(sum(map(len, wrong)), members),
        }
    return told


def _granted(truth: Truth, event: RepairEvent, policy: Policy) -> frozenset[Key]:
    return frozenset() if policy == "none" else truth.carried(event.roots)


def _at_fault(
    setting: Setting,
    events: Sequence[RepairEvent],
    offered: Sequence[Candidates],
    against: Sequence[Outcome],
    luck: Sequence[int],
) -> dict[str, Figures]:
    """Within a budget, where one step in ten fails and one in five costs thrice what was foreseen."""
    plain = next(one for one in SYSTEMS if one.name == "mincut_budget")
    found = {}
    for name, system in (("plain", plain), ("reselect", replace(plain, reselect=True))):
        outcomes = [
            run(setting, event, system, price=0.0, candidates=one, luck=draw)
            for draw in luck
            for event, one in zip(events, offered, strict=True)
        ]
        times = len(luck)
        judged = _judged(setting, [*events] * times, [*offered] * times, outcomes, [*against] * times)
        found[name] = pooled(judged)
        found[name]["failed"] = sum(one.failed for one in outcomes)
        found[name]["reselections"] = sum(one.reselections for one in outcomes)
    return found


def pruned_ancestors(data: Path) -> dict[str, int]:
    """Pruned artifacts that are ancestors of a final answer; must be 0."""
    recording = toolbench_files.read(data / "traces-toolbench" / "answers.jsonl.xz")
    graph = recording.graph()
    pruned = [item.id for item in recording.items if item.metadata.get("pruned")]
    answers = {item.id for item in recording.items if item.what == "answers"}
    found = {one for root in pruned for one in graph.cascade([root])} & answers
    return {"pruned": len(pruned), "answers": len(answers), "reached": len(found)}


def experiment(data: Path, extent: Extent, only: Collection[str] = ()) -> dict[str, object]:
    """All of it, or some workloads alone: a key a workload, then ``dropout``, ``validation``, ``neural``.

    ``more`` has what the command keeps and shows besides.
    """
    measured = {
        name: measure_workload(name, data, extent) for name in families.WORLDS if not only or name in only
    }
    result: dict[str, object] = {name: one.figures for name, one in measured.items()}
    seen: dict[str, object] = {
        "events": {name: one.events for name, one in measured.items()},
        "unsound": {name: one.unsound for name, one in measured.items()},
        "candidates": {name: one.members for name, one in measured.items()},
        "bars": {"recovered_value": RECOVERED, "cost_ratio": SHARE},
    }
    if only:
        return {**result, "more": seen}
    note("losses of provenance")
    result["dropout"], blocks = loss.dropout(data, runs=extent.runs, seeds=range(2_000, 2_000 + extent.seeds))
    with tempfile.TemporaryDirectory() as folder:
        note("validation")
        result["validation"] = validation.measure(Path(folder), size=extent.size)
        note("neural skills")
        result["neural"] = neural.measure(
            data, Path(folder), learners=extent.learners, seeds=range(extent.tasks)
        )
    result["more"] = {
        "blocks": blocks,
        "spurious": loss.spurious(data, runs=extent.runs, seed=2_000),
        "pruned": pruned_ancestors(data),
        **seen,
    }
    return result
