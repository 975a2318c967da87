"""Execution: a plan carried out in order, with early cutoff, up to what could be published."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType

import numpy as np

from memorepair.errors import StaleRead, Withdrawn
from memorepair.memory.artifact import Key, Recipe
from memorepair.memory.exchange import Member, OperatorRun, Progress
from memorepair.memory.points import MADE, OPERATOR, reach
from memorepair.memory.store import Store
from memorepair.problems.integers import fraction
from memorepair.repair.assignment import INPUT_UNAVAILABLE, OperatorTable
from memorepair.repair.bygone import Bygone
from memorepair.repair.cascade import Cascade
from memorepair.repair.events import Migration, RepairEvent
from memorepair.repair.footing import Footing, Standing
from memorepair.repair.giving import Giver
from memorepair.repair.judging import Judge
from memorepair.repair.modes import Mode
from memorepair.repair.operators.attempt import Failure, attempt
from memorepair.repair.ordering import reading_waves
from memorepair.repair.outcomes import (
    Dropped,
    Execution,
    Failed,
    Outcome,
    Released,
    Skipped,
    Staged,
    Unaffordable,
    Unchanged,
)
from memorepair.repair.plan import RepairPlan
from memorepair.repair.reselection import Replan, Reselection
from memorepair.repair.validation import Checks


def execute(
    store: Store,
    event: RepairEvent,
    cascade: Cascade,
    plan: RepairPlan,
    operators: OperatorTable,
    *,
    checks: Checks | None = None,
    replan: Replan | None = None,
    cutoff: bool = True,
    progress: Progress | None = None,
) -> Execution:
    """Carry the plan out over all of D(F), in topological order of what the members read.

    A member whose parents are all there, each with the digest the member had read, is released without
    execution, chosen or not (early cutoff; not without `cutoff`, which is for comparison). Any other is
    executed where the plan chose it: the operator is given served artifacts, fresh replacements and this
    run's validated results only; what it makes is validated and staged.

    Where the plan has a budget, no step is begun that is foreseen to cost more than the steps before it have
    left. What a step really costs is known only afterwards: the last one that fits may exceed the budget by
    what it costs more than foreseen. Once nothing is left only steps foreseen to cost nothing are begun.

    With `replan` what is left is chosen anew where a step has failed or cost more than foreseen, before the
    next wave begins, and where all chosen has been carried out and the budget has something left
    (`Reselection`).

    Notes
    -----
    O(members + arcs) besides the operators and the checks, and again for each re-selection.
    """
    footing = Footing(store, event, cascade, plan.candidates.keys)
    bygone = Bygone(store, event, cascade, footing)
    run = _Run(
        plan=plan,
        members={member.key: member for member in cascade.members},
        recipes=store.recipes(plan.candidates.keys),
        operators=operators,
        footing=footing,
        giver=Giver(store=store, event=event, footing=footing, bygone=bygone),
        judge=Judge(
            store=store,
            case=plan.case,
            checks=checks or Checks(),
            footing=footing,
            bygone=bygone,
            migrates=isinstance(event.delta, Migration),
        ),
        cutoff=cutoff,
    )
    again = None if replan is None else Reselection(plan.candidates, replan)
    places = run.places()
    total, at = len(places), 0
    stale: StaleRead | Withdrawn | None = None
    try:
        while True:
            if again is not None and again.due and run.between_waves(places, at):
                places, at = run.anew(again), 0
            elif at < len(places):
                if progress is not None:
                    progress("execute", total - len(places) + at, total)
                run.step(places[at], again)
                at += 1
            elif again is not None and run.remains(again):
                places, at = run.anew(again, expected=False), 0
            else:
                break
        run.explain_left()
    except (StaleRead, Withdrawn) as error:
        stale = error
    store.note_operator_runs(run.runs)
    if progress is not None and stale is None:
        progress("execute", total, total)
    times = 0 if again is None else again.times
    return Execution(outcomes=MappingProxyType(run.outcomes), stale=stale, reselections=times)


class _Run:
    """What one execution has come to; positions are those of the candidates."""

    def __init__(
        self,
        *,
        plan: RepairPlan,
        members: Mapping[Key, Member],
        recipes: Mapping[Key, Recipe],
        operators: OperatorTable,
        footing: Footing,
        giver: Giver,
        judge: Judge,
        cutoff: bool,
    ) -> None:
        self.plan = plan
        self.candidates = plan.candidates
        self.position = {key: place for place, key in enumerate(self.candidates.keys)}
        self.members = members
        self.recipes = recipes
        self.operators = operators
        self.footing = footing
        self.giver = giver
        self.judge = judge
        self.cutoff = cutoff
        self.chosen = {place for wave in plan.waves for place in wave}
        self.waves = reading_waves(self.candidates, footing, self.chosen)
        self.outcomes: dict[Key, Outcome] = {}
        self.runs: list[OperatorRun] = []
        # As exact decimals: 0.3 - 0.1 must leave 0.2 for what costs 0.2.
        self.left = None if plan.budget is None else fraction(plan.budget)

    # order
    # -----------------------------------------------------------------------------------------------------

    def places(self) -> list[int]:
        """What has no outcome yet, each after what it reads."""
        keys = self.candidates.keys
        order = np.argsort(self.waves, kind="stable").tolist()
        return [place for place in order if keys[place] not in self.outcomes]

    def between_waves(self, places: Sequence[int], at: int) -> bool:
        """Whether the place before has another wave: then nothing of one wave is chosen twice."""
        return not 0 < at < len(places) or bool(self.waves[places[at - 1]] != self.waves[places[at]])

    def remains(self, again: Reselection) -> bool:
        """Whether the budget has something left for what has not been begun."""
        left = None if self.left is None else float(self.left)
        return again.remainder([self.position[key] for key in self.outcomes], left)

    def anew(self, again: Reselection, *, expected: bool = True) -> list[int]:
        """What is left, in order, once it is chosen anew; at expected costs, or as foreseen."""
        ended = [(self.position[key], key in self.footing) for key in self.outcomes]
        left = None if self.left is None else float(self.left)
        self.chosen = again.chosen(
            [place for place, stands in ended if stands],
            [place for place, stands in ended if not stands],
            left,
            expected=expected,
        )
        self.waves = reading_waves(self.candidates, self.footing, self.chosen)
        return self.places()

    def explain_left(self) -> None:
        """An outcome for what the plan had chosen and a later choice left."""
        for place in (place for wave in self.plan.waves for place in wave):
            key = self.candidates.keys[place]
            if key in self.outcomes:
                continue
            required = self.candidates.prerequisites.successors(place).tolist()
            missing = [self.candidates.keys[one] for one in required]
            because = next(
                (one for one in missing if isinstance(self.outcomes.get(one), Failed | Skipped)), None
            )
            self.outcomes[key] = Dropped() if because is None else Skipped(because=because)

    # one member
    # -----------------------------------------------------------------------------------------------------

    def step(self, place: int, again: Reselection | None = None) -> None:
        """Release it, or execute it where it is chosen, or leave it."""
        key = self.candidates.keys[place]
        member, recipe = self.members[key], self.recipes.get(key, Recipe())
        if self.cutoff and self.footing.as_read(key) and not self.judge.tells(key, recipe):
            outcome: Outcome = Released(reads=self.footing.reads(key))
        elif place in self.chosen:
            outcome = self._execute(place, member, recipe)
        else:
            return
        self.outcomes[key] = outcome
        if isinstance(outcome, Staged | Unchanged | Failed):
            if again is not None:
                again.saw(place, outcome.cost, failed=isinstance(outcome, Failed))
            if self.left is not None:
                self.left = max(Fraction(0), self.left - fraction(outcome.cost))
        if isinstance(outcome, Staged):
            self.footing.add(
                Standing(
                    key=key, version=outcome.version, digest=outcome.digest, kind=member.kind, staged=True
                )
            )
        elif isinstance(outcome, Released | Unchanged):
            self.footing.add(
                Standing(key=key, version=member.version, digest=member.digest, kind=member.kind)
            )

    def _execute(self, place: int, member: Member, recipe: Recipe) -> Outcome:
        mode = self.candidates.modes[place]
        for required in self.candidates.prerequisites.successors(place).tolist():
            if self.candidates.keys[required] not in self.footing:
                return Skipped(because=self.candidates.keys[required])
        if mode is Mode.RECOMPUTE and (missing := self.footing.missing(member.key)) is not None:
            return Failed(reason=f"{INPUT_UNAVAILABLE}: {missing}", cost=0.0)
        foreseen = float(self.candidates.cost[place])
        if self.left is not None and fraction(foreseen) > self.left:
            return Unaffordable(foreseen=foreseen, left=float(self.left))
        name = self.candidates.operators[place] or ""
        operator = self.operators.get(name)
        if operator is None:
            return Failed(reason=f"there is no operator {name}", cost=0.0)
        given = self.giver.gather(member, recipe, mode, operator)
        verdicts, refused = self.judge.admit(given)
        if refused is not None:
            return Failed(reason=refused, cost=0.0, verdicts=verdicts)
        began = time.perf_counter()
        reach(OPERATOR)
        made = attempt(operator, given.call)
        reach(MADE)
        seconds = time.perf_counter() - began
        cost = foreseen if made.cost is None else float(made.cost)
        if isinstance(made, Failure):
            outcome: Outcome = Failed(reason=made.reason, cost=cost)
        else:
            outcome = self.judge.judge(member, given, verdicts, made, cost)
        self.runs.append(
            OperatorRun(
                operator=name,
                unit=self.candidates.unit,
                size=float(sum(len(source.content) for source in given.call.inputs)),
                cost=made.cost,  # a listed price says nothing new of the operator
                seconds=seconds,
                succeeded=not isinstance(outcome, Failed),
            )
        )
        return outcome
