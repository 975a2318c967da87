"""Plans: which repairs are carried out, in which order, for which price."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from memorepair.graphs.order import waves
from memorepair.memory.artifact import Json, Key
from memorepair.problems import Selection, SelectionInstance
from memorepair.proof import Ties
from memorepair.repair.candidates import Candidates
from memorepair.repair.cascade import Cascade
from memorepair.repair.jsontext import canonical
from memorepair.repair.modes import Mode
from memorepair.repair.pricing import DEFAULT_TRADEOFF, normalised
from memorepair.selection import select

REPAIR_ALL = "repair-all"
"""In place of a solver: whatever can be executed is, at any price."""

CHOSEN = "chosen"
PRICE = "price"

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
        ``chosen``, ``price``, or why it is barred; stable words.
    witness
        What proves the reason, written out: keys, or the operator's name.
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

    @property
    def why(self) -> str:
        """Reason with its witness, for people."""
        return worded(self.reason, self.witness)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairPlan:
    """What `repair` will do for a case, and what it leaves.

    Attributes
    ----------
    case
        The case's number.
    candidates, selection
        All that could be done, and the proven choice. The selection's own figures are on the scale it was
        made on (medians of the event's candidates unless asked otherwise), the candidates' in their unit.
    waves
        Positions of the chosen candidates; prerequisites stand in earlier waves (E_req).
    left
        Keys that stay withdrawn: not chosen, barred, or without a successor.
    digest
        Of the case, its members with their versions and digests, and the choice: two equal digests are the
        same plan.
    """

    case: int
    candidates: Candidates
    selection: Selection
    waves: tuple[tuple[int, ...], ...]
    left: tuple[Key, ...]
    digest: str

    def rows(self) -> tuple[PlanRow, ...]:
        """One row a candidate, in the candidates' order."""
        candidates = self.candidates
        wave = {place: number for number, places in enumerate(self.waves) for place in places}
        rows = []
        for place, (key, bar) in enumerate(zip(candidates.keys, candidates.bars, strict=True)):
            reason = CHOSEN if place in wave else PRICE
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
                )
            )
        return tuple(rows)


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
    ties: Ties = "fewest",
    solver: str = "pseudoflow",
    normalise: bool = True,
    scale: tuple[float, float] | None = None,
) -> RepairPlan:
    """Choose among the candidates of a cascade, and put what is chosen in order.

    Parameters
    ----------
    tradeoff
        lambda: value per unit of cost; 0.3 where it is None.
    ties
        The smallest or the largest of several optima.
    solver
        Of `select`; or ``repair-all``, which requires everything executable, for comparison.
    normalise
        Whether value and cost count in medians of the candidates (see `normalised`), so that a tradeoff means
        the same in every event; False takes them as they are priced.
    scale
        The value and the cost that count as 1 there, where the case has a scale already.

    Raises
    ------
    InvalidInstance
        The tradeoff is negative or not finite.
    UnknownId
        There is no such solver.
    """
    priced = normalised(candidates, scale) if normalise else candidates
    everything = solver == REPAIR_ALL
    instance = SelectionInstance(
        value=priced.value,
        cost=priced.cost,
        requires=candidates.prerequisites,
        executable=candidates.executable,
        required=candidates.executable if everything else np.zeros(len(candidates.keys), np.bool_),
        ids=candidates.keys,
        tradeoff=DEFAULT_TRADEOFF if tradeoff is None else tradeoff,
    )
    selection = select(instance, ties=ties, solver="pseudoflow" if everything else solver)
    chosen = np.flatnonzero(selection.mask)
    wave = waves(candidates.prerequisites.induced(selection.mask))
    order = np.argsort(wave, kind="stable")
    steps = np.split(chosen[order], np.cumsum(np.bincount(wave))[:-1]) if len(chosen) else []
    return RepairPlan(
        case=cascade.case,
        candidates=candidates,
        selection=selection,
        waves=tuple(tuple(step.tolist()) for step in steps),
        left=tuple(candidates.keys[place] for place in np.flatnonzero(~selection.mask).tolist()),
        digest=plan_digest(cascade, candidates, chosen.tolist()),
    )


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
