"""Lagrange: gives each cost a price in place of its budget."""

from __future__ import annotations

from dataclasses import dataclass

from memorepair.problems import Closure, ClosureInstance, KnapsackInstance
from memorepair.problems.amounts import Price


@dataclass(frozen=True, slots=True, kw_only=True)
class Lagrange:
    """A relaxation: its optimum plus price times budget bounds the knapsack's, whatever the price from 0.

    It is met where the optimum uses up every budget that has a price.

    Attributes
    ----------
    price : tuple of d Fractions
        Value units per cost unit.
    """

    price: Price

    def apply(self, instance: KnapsackInstance, /) -> tuple[ClosureInstance, None]:
        """The closure of profits K (value - price cost), K the common denominator."""
        return instance.at(self.price), None

    def invert(self, solution: Closure, record: None = None, /) -> Closure:
        """The same closure; it may exceed the budgets."""
        return solution
