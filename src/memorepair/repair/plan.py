"""Plans: which repairs are carried out, in which order, for which price."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256

import numpy as np

from memorepair.errors import InvalidInput
from memorepair.graphs.order import waves
from memorepair.memory.artifact import Json, Key
from memorepair.memory.exchange import SuspectedArc
from memorepair.problems import Selection, SelectionInstance
from memorepair.problems.integers import Number, fraction, total
from memorepair.problems.proof import Ties
from memorepair.repair.candidates import Candidates
from memorepair.repair.cascade import Cascade
from memorepair.repair.jsontext import canonical
from memorepair.repair.modes import Mode
from memorepair.repair.operators.attempt import number
from memorepair.repair.pricing import DEFAULT_TRADEOFF, normalised, scale_of
from memorepair.selection import select

REPAIR_ALL = "repair-all"
"""In place of a solver: whatever can be executed is, at any price."""

CHOSEN = "chosen"
PRICE = "price"
BUDGET = "budget"

_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRow:
    """A candidate as tables show it.

    Attributes
    ----------
    value, cost
        As priced; the cost in the candidates' unit.
    wave
        When it is carried out, counted from 0; None where it is not.
    reason
        ``chosen``, ``price``, ``budget`` for what would be chosen if there were none, or why it is barred;
        stable words.
    witness
        What proves the reason, written out: keys, or the operator's name.
    suspected
        Suspected arcs by which the case's cascade has reached it, written out.
    """

    key: Key
    mode: Mode
    operator: str | None
    value: float
    cost: float
    chosen: bool
    wave: int | None
    reason: str
    witness: tuple[str, ...]
    suspected: tuple[str, ...] = ()

    @property
    def why(self) -> str:
        """Reason with its witness, for people."""
        why = worded(self.reason, self.witness)
        return f"{why}; {', '.join(self.suspected)}" if self.suspected else why


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairPlan:
    """What `repair` will do for a case, and what it leaves.

    Attributes
    ----------
    case
        The case's number.
    candidates, selection
        All that could be done, and the proven choice. The candidates' figures are in their unit, and so are
        the selection's where there is a budget; else these are on the scale it was made on (medians of the
        event's candidates unless asked otherwise).
    tradeoff, budget
        What was asked: lambda on that scale; beta in the candidates' unit, None for no limit.
    waves
        Positions of the chosen candidates; prerequisites stand in earlier waves (E_req).
    left
        Keys that stay withdrawn: not chosen, barred, or without a successor.
    beyond
        Positions that the budget alone leaves out: without it they would be chosen.
    digest
        Of the case, its members with their versions and digests, and the choice: two equal digests are the
        same plan.
    suspected
        The suspected arcs that the case's cascade follows.
    """

    case: int
    candidates: Candidates
    selection: Selection
    tradeoff: float
    budget: float | None
    waves: tuple[tuple[int, ...], ...]
    left: tuple[Key, ...]
    beyond: frozenset[int]
    digest: str
    suspected: tuple[SuspectedArc, ...] = ()

    @property
    def cost(self) -> float:
        """What the chosen are foreseen to cost together, in the candidates' unit."""
        return float(total(self.candidates.cost[self.selection.mask]))

    @property
    def cost_all(self) -> float:
        """What all that can be executed is foreseen to cost."""
        return float(total(self.candidates.cost[self.candidates.executable]))

    def rows(self) -> tuple[PlanRow, ...]:
        """One row a candidate, in the candidates' order."""
        candidates = self.candidates
        wave = {place: number for number, places in enumerate(self.waves) for place in places}
        by_child: defaultdict[Key, list[str]] = defaultdict(list)
        for arc in self.suspected:
            by_child[arc.child].append(suspicion(arc))
        rows = []
        for place, (key, bar) in enumerate(zip(candidates.keys, candidates.bars, strict=True)):
            reason = CHOSEN if place in wave else BUDGET if place in self.beyond else PRICE
            rows.append(
                PlanRow(
                    key=key,
                    mode=candidates.modes[place],
                    operator=candidates.operators[place],
                    value=float(candidates.value[place]),
                    cost=float(candidates.cost[place]),
                    chosen=place in wave,
                    wave=wave.get(place),
                    reason=reason if bar is None else bar.reason,
                    witness=() if bar is None else tuple(map(str, bar.witness)),
                    suspected=tuple(by_child.get(key, ())),
                )
            )
        return tuple(rows)


def suspicion(arc: SuspectedArc) -> str:
    """A suspected arc, for people."""
    sure = "" if arc.probability is None else f", probability {arc.probability:.2f}"
    return f"suspected to stand on {arc.parent} ({arc.why}{sure})"


def worded(reason: str, witness: Sequence[object]) -> str:
    """A reason with its witness, for people."""
    if not witness:
        return reason
    more = len(witness) - _SHOWN
    tail = f" and {more} more" if more > 0 else ""
    return f"{reason} ({', '.join(map(str, witness[:_SHOWN]))}{tail})"


def make_plan(
    cascade: Cascade,
    candidates: Candidates,
    *,
    tradeoff: float | None = None,
    budget: float | None = None,
    ties: Ties = "fewest",
    solver: str = "pseudoflow",
    normalise: bool = True,
    scale: tuple[float, float] | None = None,
) -> RepairPlan:
    """Choose among the candidates of a cascade, and put what is chosen in order.

    Parameters
    ----------
    tradeoff
        lambda: value per unit of cost. Where it is None: 0.3, with a budget 0, for there the limit speaks.
    budget
        beta: what the chosen may cost together, in the candidates' unit; None for no limit. The choice is as
        good as its bound and gap prove, as in `select`.
    ties
        The smallest or the largest of several optima.
    solver
        Of `select`; or ``repair-all``, which requires everything executable, for comparison. With a budget
        there is one solver and no tie rule.
    normalise
        Whether value and cost count in medians of the candidates (see `normalised`), so that a tradeoff means
        the same in every event; False takes them as they are priced.
    scale
        The value and the cost that count as 1 there, where the case has a scale already.

    Raises
    ------
    InvalidInput
        The tradeoff is negative or not finite (InvalidInstance); so is the budget, or another solver or a tie
        rule goes with it.
    UnknownId
        There is no such solver.
    NoSolution
        A solver reached its limit before its first answer.
    """
    check_budget(budget)
    if budget is not None:
        price = 0.0 if tradeoff is None else tradeoff
        selection = _within(candidates, price, budget, ties, solver, _scale(candidates, normalise, scale))
        free = select(replace(selection.instance, budget=None)).mask & ~selection.mask
    else:
        price = DEFAULT_TRADEOFF if tradeoff is None else tradeoff
        priced = normalised(candidates, scale) if normalise else candidates
        everything = solver == REPAIR_ALL
        instance = _instance(priced, price)
        if everything:
            instance = replace(instance, required=candidates.executable)
        selection = select(instance, ties=ties, solver="pseudoflow" if everything else solver)
        free = np.zeros(len(candidates.keys), np.bool_)
    chosen = np.flatnonzero(selection.mask)
    wave = waves(candidates.prerequisites.induced(selection.mask))
    order = np.argsort(wave, kind="stable")
    steps = np.split(chosen[order], np.cumsum(np.bincount(wave))[:-1]) if len(chosen) else []
    return RepairPlan(
        case=cascade.case,
        candidates=candidates,
        selection=selection,
        tradeoff=price,
        budget=budget,
        waves=tuple(tuple(step.tolist()) for step in steps),
        left=tuple(candidates.keys[place] for place in np.flatnonzero(~selection.mask).tolist()),
        beyond=frozenset(np.flatnonzero(free).tolist()),
        digest=plan_digest(cascade, candidates, chosen.tolist()),
    )


def check_budget(budget: object) -> None:
    """Raise InvalidInput unless `budget` is None, or a number that is finite and not negative."""
    if budget is not None and number(budget) is None:
        raise InvalidInput("a budget is a number, finite and not negative", witness=budget)


def _instance(candidates: Candidates, tradeoff: Number, budget: float | None = None) -> SelectionInstance:
    return SelectionInstance(
        value=candidates.value,
        cost=candidates.cost,
        requires=candidates.prerequisites,
        executable=candidates.executable,
        required=np.zeros(len(candidates.keys), np.bool_),
        ids=candidates.keys,
        tradeoff=tradeoff,
        budget=budget,
    )


def _scale(candidates: Candidates, normalise: bool, scale: tuple[float, float] | None) -> tuple[float, float]:
    return (scale or scale_of(candidates)) if normalise else (1.0, 1.0)


def _within(
    candidates: Candidates,
    tradeoff: float,
    budget: float,
    ties: Ties,
    solver: str,
    scale: tuple[float, float],
) -> Selection:
    """The choice within a budget.

    With w and c in medians u_w and u_c, w/u_w - l c/u_c = (w - l (u_w/u_c) c) / u_w: the price takes the
    scale. Costs stay as they were quoted, for what is divided is rounded and might keep another budget.
    """
    _instance(candidates, tradeoff)  # refuses a bad tradeoff as it was given, not as it is scaled
    unit_value, unit_cost = map(fraction, scale)
    price = fraction(tradeoff) * unit_value / unit_cost if tradeoff else Fraction(0)
    return select(_instance(candidates, price, budget), ties=ties, solver=solver)


def plan_digest(cascade: Cascade, candidates: Candidates, chosen: Iterable[int]) -> str:
    """SHA-256 (hex) of the case, its members with their versions and digests, the choice with its operators.

    It does not depend on the order in which members or positions come.
    """
    members: list[Json] = [
        [str(member.key), member.version, member.digest]
        for member in sorted(cascade.members, key=lambda member: member.key)
    ]
    steps: list[Json] = [
        [str(key), operator]
        for key, operator in sorted((candidates.keys[place], candidates.operators[place]) for place in chosen)
    ]
    text = canonical({"case": cascade.case, "members": members, "steps": steps})
    return sha256(text.encode()).hexdigest()
