"""History: what operators have cost and how often they succeeded, as an estimate of the next time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memorepair.memory.costs import octave_of
from memorepair.memory.exchange import OperatorCost
from memorepair.repair.operators.attempt import number


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a run will cost.

    Attributes
    ----------
    cost
        Mean, in the unit that was asked for.
    spread
        Standard deviation of the runs behind it; None where there is one only.
    runs
        How many there are.
    """

    cost: float
    spread: float | None
    runs: int


class History:
    """Measured costs in one unit, and successes in all.

    Inputs of about one size, within a factor of two, are estimated from each other; a size that has not been
    seen from the nearest that was, in proportion.
    """

    def __init__(self, costs: Iterable[OperatorCost] = (), *, unit: str = "tokens") -> None:
        self._costs: dict[str, dict[int, OperatorCost]] = {}
        self._outcomes: dict[str, tuple[int, int]] = {}
        for one in costs:
            succeeded, runs = self._outcomes.get(one.operator, (0, 0))
            self._outcomes[one.operator] = (succeeded + one.succeeded, runs + one.runs)
            if one.unit == unit and one.cost is not None:
                self._costs.setdefault(one.operator, {})[one.octave] = one

    def estimate(self, operator: str, size: float) -> Estimate | None:
        """Of a run on so many characters; None where nothing is known, or nothing a float can hold."""
        known = self._costs.get(operator)
        if not known:
            return None
        wanted = octave_of(size)
        nearest = known.get(wanted) or known[min(known, key=lambda octave: (abs(octave - wanted), octave))]
        share = max(size, 1.0) / nearest.size
        cost = None if nearest.cost is None else number(nearest.cost * share)
        if cost is None:
            return None
        spread = None if nearest.spread is None else number(nearest.spread * share)
        return Estimate(cost=cost, spread=spread, runs=nearest.measured)

    def success(self, operator: str) -> float:
        """Probability that a run gives what can be published.

        Laplace's rule of succession, (s + 1) / (n + 2): no operator is sure, an unknown one is even.
        """
        succeeded, runs = self._outcomes.get(operator, (0, 0))
        return (succeeded + 1) / (runs + 2)
