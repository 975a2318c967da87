"""Scalarize: value less priced cost, as one integer a node."""

from __future__ import annotations

from dataclasses import dataclass

from memorepair.problems import Closure, ClosureInstance, SelectionInstance
from memorepair.problems.profits import big_profits
from memorepair.problems.proof import Ties


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalarize:
    """From value, cost and tradeoff to profit; required and executable are no longer looked at.

    Attributes
    ----------
    ties
        Which optimum is asked for.
    big
        Python integers rather than rounded ones where 64 bits do not hold them.
    """

    ties: Ties
    big: bool = False

    def apply(self, instance: SelectionInstance, /) -> tuple[ClosureInstance, None]:
        """p = w - lambda c in integers, with the scale and the bound on rounding."""
        priced = big_profits(instance.value, instance.cost, instance.tradeoff, big=self.big)
        reduced = ClosureInstance(
            profit=priced.profit,
            requires=instance.requires,
            scale=priced.scale,
            loss=priced.loss,
            ties=self.ties,
        )
        return reduced, None

    def invert(self, solution: Closure, record: None = None, /) -> Closure:
        """The same closure."""
        return solution
