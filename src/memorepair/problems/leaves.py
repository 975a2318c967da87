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
from importlib import import_module

import numpy as np

from memorepair.errors import InvalidInput, ProofFailed
from memorepair.graphs.digraph import Digraph, Int64, Mask
from memorepair.graphs.reach import reach
from memorepair.problems.amounts import Amounts, Price
from memorepair.problems.proof import Certificate, Question, dual_bound, reduced_profits

MANY = 32
"""Leaves from which the compiled check pays."""

MISSING = "the leaves leave a part out, or name one twice"
OTHER = "leaves below one node decide differently"

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
            raise ProofFailed(MISSING, witness=path)
        if len({leaf.decisions[depth][0] for leaf in group}) > 1:
            raise ProofFailed(OTHER, witness=path)
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
    if any(len(leaf.certificate.arcs) and leaf.certificate.arcs[-1] >= requires.m for leaf in leaves):
        raise ProofFailed("a leaf names an arc that does not exist", witness=requires.m)
    if len(leaves) >= MANY and all(_fits(leaf.certificate) for leaf in leaves):
        return _upper_bound_of_many(requires, amounts, forced, barred, leaves)
    check_split(leaves)
    dependents = requires.reverse()
    bounds: list[int] = []
    for leaf in leaves:
        _check_nodes(np.array([node for node, _ in leaf.decisions], np.int64), requires.n)
        inside = forced | reach(requires, _positions(leaf, True))
        outside = barred | reach(dependents, _positions(leaf, False))
        if (inside & outside).any() or not amounts.keeps(inside):
            continue
        bounds.append(_leaf_bound(requires, amounts, inside, outside, leaf))
    return max(bounds, default=None)


def _upper_bound_of_many(
    requires: Digraph, amounts: Amounts, forced: Mask, barred: Mask, leaves: Sequence[Leaf]
) -> int | None:
    kernel = import_module("memorepair.problems.leaf_kernel")
    prices = [_priced(amounts, leaf) for leaf in leaves]
    decisions = np.array([one for leaf in leaves for pair in leaf.decisions for one in pair], np.int64)
    nodes, sides = decisions[::2].copy(), decisions[1::2].astype(np.bool_)
    _check_nodes(nodes, requires.n)
    state = np.zeros(requires.n, np.int8)
    state[forced], state[barred] = kernel.IN, kernel.OUT
    back = requires.reverse()
    sums, empty = np.empty(len(leaves), np.int64), np.empty(len(leaves), np.bool_)
    fault, leaf, depth = kernel.check_tree(
        requires.offsets,
        requires.heads,
        requires.tails(),
        back.offsets,
        back.heads,
        state,
        amounts.value,
        amounts.cost,
        np.array(amounts.budget, np.int64),
        nodes,
        sides,
        _ends([len(leaf.decisions) for leaf in leaves]),
        np.array([unit for unit, _ in prices], np.int64),
        np.array([charges for _, charges in prices], np.int64),
        np.concatenate([leaf.certificate.arcs for leaf in leaves]),
        np.concatenate([leaf.certificate.amounts for leaf in leaves]),
        _ends([len(leaf.certificate.arcs) for leaf in leaves]),
        sums,
        empty,
    )
    if fault != kernel.WHOLE:
        raise ProofFailed(
            MISSING if fault == kernel.MISSING else OTHER, witness=leaves[leaf].decisions[:depth]
        )
    return max(
        (
            _rounded(amounts, total, unit, charges)
            for total, (unit, charges), none in zip(sums.tolist(), prices, empty.tolist(), strict=True)
            if not none
        ),
        default=None,
    )


def _ends(lengths: list[int]) -> Int64:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(np.array(lengths, np.int64))))


def _fits(certificate: Certificate) -> bool:
    # Sums of r then stay below 2^61 + 2^62 in absolute value: the profits of a price fit 62 bits.
    amounts = certificate.amounts
    return amounts.dtype == np.int64 and float(amounts.sum(dtype=np.float64)) < 2.0**60


def _check_nodes(nodes: Int64, n: int) -> None:
    outside = (nodes < 0) | (nodes >= n)
    if outside.any():
        raise ProofFailed("a leaf names a node that does not exist", witness=int(nodes[outside][0]))


def _priced(amounts: Amounts, leaf: Leaf) -> tuple[int, tuple[int, ...]]:
    """K and K price of a leaf, per integer unit."""
    price = tuple(
        one * amounts.value_scale / scale for one, scale in zip(leaf.price, amounts.cost_scales, strict=True)
    )
    try:
        return amounts.charges(price)
    except InvalidInput as error:
        raise ProofFailed(str(error), witness=leaf.price) from None


def _rounded(amounts: Amounts, total: int, unit: int, charges: tuple[int, ...]) -> int:
    """The bound of a leaf: values are whole, so it may be rounded down."""
    return (
        total + sum(charge * limit for charge, limit in zip(charges, amounts.budget, strict=True))
    ) // unit


def _positions(leaf: Leaf, side: bool) -> Int64:
    return np.array([node for node, chosen in leaf.decisions if chosen is side], np.int64)


def _leaf_bound(requires: Digraph, amounts: Amounts, inside: Mask, outside: Mask, leaf: Leaf) -> int:
    unit, charges = _priced(amounts, leaf)
    question = Question(
        requires=requires, profit=amounts.profits(unit, charges), forced=inside, barred=outside
    )
    r = reduced_profits(question, leaf.certificate.arcs, leaf.certificate.amounts)
    return _rounded(amounts, dual_bound(question, r), unit, charges)


def whole_price(price: Price, amounts: Amounts) -> Price:
    """A price per integer unit, in original units."""
    return tuple(
        one * scale / amounts.value_scale for one, scale in zip(price, amounts.cost_scales, strict=True)
    )
