"""Knapsack: a budgeted selection as integers on what is neither barred nor required."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from memorepair.graphs.digraph import Mask
from memorepair.problems import KnapsackInstance, SelectionInstance, budgeted_amounts
from memorepair.problems.amounts import Amounts
from memorepair.problems.integers import exact_total
from memorepair.problems.leaves import Leaf, whole_price
from memorepair.reductions.part import Part


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Freed:
    """What `Knapsack` took out.

    Attributes
    ----------
    part
        The free nodes with the arcs between them.
    forced : (k,) bool
        What is required, with what it requires.
    amounts
        On all nodes.
    """

    part: Part
    forced: Mask
    amounts: Amounts


class Knapsack:
    """Drops what is barred, fixes what is required, charges it to the budget.

    The rest of a feasible set is a closure of the free nodes within what is left of each budget, and worth
    the set's value less that of the required: as for `Barred` and `Required`. With pi = 0 on the other arcs,
    r of a required node is its profit, so the bounds too differ by the required nodes' value.
    """

    def apply(self, instance: SelectionInstance, /) -> tuple[KnapsackInstance | None, Freed]:
        """The knapsack; None where what is required costs more than the budget."""
        amounts, forced, barred = budgeted_amounts(instance)
        free = ~forced & ~barred
        requires, part = Part.induced(instance.requires, free)
        freed = Freed(part=part, forced=forced, amounts=amounts)
        if not amounts.keeps(forced):
            return None, freed
        return (
            KnapsackInstance(
                requires=requires,
                amounts=amounts.part(free, amounts.spent(forced)),
                base=exact_total(amounts.value[forced]),
            ),
            freed,
        )

    def invert(self, mask: Mask, leaves: Sequence[Leaf], freed: Freed, /) -> tuple[Mask, tuple[Leaf, ...]]:
        """The chosen set and its leaves on all nodes, prices in original units."""
        chosen = freed.forced.copy()
        chosen[freed.part.nodes] = mask
        priced = [(leaf, whole_price(leaf.price, freed.amounts)) for leaf in leaves]
        if freed.part.nodes.all():
            return chosen, tuple(replace(leaf, price=price) for leaf, price in priced)
        number = np.flatnonzero(freed.part.nodes).tolist()
        return chosen, tuple(
            Leaf(
                decisions=tuple([(number[node], side) for node, side in leaf.decisions]),
                price=price,
                certificate=freed.part.numbered(leaf.certificate),
            )
            for leaf, price in priced
        )
