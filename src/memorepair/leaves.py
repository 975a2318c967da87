"""Leaves: the proof of a budgeted bound, checked without trusting the search that found it.

A decision x_i = 1 forces what i requires, x_i = 0 forbids what requires i. Decisions split the feasible sets;
each leaf of the tree bounds its part by a price l >= 0 of each cost and a dual pi: a feasible x has c x <=
beta, so with p = w - l c and r as in `proof`

    w x  <=  l beta + (w - l c) x  <=  l beta + sum_{free} max(0, r_i) + sum_{forced} r_i,

or is empty because what it forces meets what it forbids, or costs more than the budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memorepair.amounts import Amounts, Price
from memorepair.errors import InvalidInput, ProofFailed
from memorepair.graphs.digraph import Digraph, Int64, Mask
from memorepair.graphs.reach import reach
from memorepair.proof import Certificate, Question, dual_bound, reduced_profits

Decision = tuple[int, bool]
"""A node, and whether it is chosen."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Leaf:
    """One part of the feasible sets, with what bounds it.

    Attributes
    ----------
    decisions : tuple of (position, bool)
        What is fixed on the way from the root.
    price : tuple of d Fractions
        Value per unit of each cost, in original units, at least 0.
    certificate
        pi on the arcs of ``requires``, in integer profit units over the price's common denominator.
    """

    decisions: tuple[Decision, ...]
    price: Price
    certificate: Certificate

    def __post_init__(self) -> None:
        if any(one < 0 for one in self.price):
            raise InvalidInput("a price is negative", witness=self.price)


def check_split(leaves: Sequence[Leaf]) -> None:
    """The leaves are those of one tree, each inner node of which is split into both sides.

    Raises
    ------
    ProofFailed
        Witness: the decisions down to the node at fault.
    """
    groups = [(list(leaves), 0)]
    while groups:
        group, depth = groups.pop()
        if len(group) == 1 and len(group[0].decisions) == depth:
            continue
        path = group[0].decisions[:depth] if group else ()
        if not group or any(len(leaf.decisions) <= depth for leaf in group):
            raise ProofFailed("the leaves leave a part out, or name one twice", witness=path)
        if len({leaf.decisions[depth][0] for leaf in group}) > 1:
            raise ProofFailed("leaves below one node decide differently", witness=path)
        for side in (True, False):
            below = [leaf for leaf in group if leaf.decisions[depth][1] is side]
            groups.append((below, depth + 1))


def upper_bound(
    requires: Digraph, amounts: Amounts, forced: Mask, barred: Mask, leaves: Sequence[Leaf]
) -> int | None:
    """No feasible set is worth more, in integer units; None where no set is feasible.

    Parameters
    ----------
    requires
        k nodes.
    amounts
        On all of them, 0 where barred.
    forced, barred : (k,) bool
        Closed against the arcs, as in `Question`.

    Raises
    ------
    ProofFailed
        The leaves do not split the sets, or one names a node or an arc that does not exist.

    Notes
    -----
    O(k + m) a leaf.
    """
    check_split(leaves)
    dependents = requires.reverse()
    bounds: list[int] = []
    for leaf in leaves:
        nodes = [node for node, _ in leaf.decisions]
        arcs = leaf.certificate.arcs
        if any(not 0 <= node < requires.n for node in nodes) or (len(arcs) and arcs[-1] >= requires.m):
            raise ProofFailed("a leaf names a node or an arc that does not exist", witness=leaf.decisions)
        inside = forced | reach(requires, _positions(leaf, True))
        outside = barred | reach(dependents, _positions(leaf, False))
        if (inside & outside).any() or not amounts.keeps(inside):
            continue
        bounds.append(_leaf_bound(requires, amounts, inside, outside, leaf))
    return max(bounds, default=None)


def _positions(leaf: Leaf, side: bool) -> Int64:
    return np.array([node for node, chosen in leaf.decisions if chosen is side], np.int64)


def _leaf_bound(requires: Digraph, amounts: Amounts, inside: Mask, outside: Mask, leaf: Leaf) -> int:
    price = tuple(
        one * amounts.value_scale / scale for one, scale in zip(leaf.price, amounts.cost_scales, strict=True)
    )
    try:
        profit, unit, charges = amounts.priced(price)
    except InvalidInput as error:
        raise ProofFailed(str(error), witness=leaf.price) from None
    question = Question(requires=requires, profit=profit, forced=inside, barred=outside)
    r = reduced_profits(question, leaf.certificate.arcs, leaf.certificate.amounts)
    allowance = sum(charge * limit for charge, limit in zip(charges, amounts.budget, strict=True))
    # Values are whole, so a bound may be rounded down.
    return (dual_bound(question, r) + allowance) // unit


def whole_price(price: Price, amounts: Amounts) -> Price:
    """A price per integer unit, in original units."""
    return tuple(
        one * scale / amounts.value_scale for one, scale in zip(price, amounts.cost_scales, strict=True)
    )
