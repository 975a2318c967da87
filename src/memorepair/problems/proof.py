"""Proof of a selection: arithmetic and searches that trust no solver.

Let p be the profits, i -> j "i requires j", x feasible: closed, 1 on the forced nodes F, 0 on the barred
nodes B. For any pi >= 0 on the arcs let r_i = p_i + sum_{j requires i} pi_ji - sum_{i requires j} pi_ij. Then

    sum p_i x_i  =  sum r_i x_i - sum pi_ij (x_j - x_i)  <=  sum r_i x_i  <=  sum_{free} max(0, r_i) + sum_F
    r_i,

because x_j >= x_i on every arc. The right side is a bound; a closure that meets it is optimal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from memorepair.errors import InvalidInput, ProofFailed
from memorepair.graphs.closure import violated_arc
from memorepair.graphs.digraph import Digraph, Index, Mask, read_only
from memorepair.graphs.reach import reach, slice_to
from memorepair.problems.integers import Integers, exact_total

Ties = Literal["fewest", "most"]
"""Which of several optima is the answer: the one contained in all, or the one that contains all."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Certificate:
    """The dual pi of a closure: what each arc carries from a candidate's profit to what it requires.

    Attributes
    ----------
    arcs : (t,) int32
        Numbers of the arcs of `requires` with pi > 0, ascending.
    amounts : (t,) int64, or Python integers
        pi there, > 0, in integer profit units; Python integers where the profits are.
    """

    arcs: Index
    amounts: Integers

    def __post_init__(self) -> None:
        for name, array, dtypes in (
            ("arcs", self.arcs, (np.int32,)),
            ("amounts", self.amounts, (np.int64, np.object_)),
        ):
            if not isinstance(array, np.ndarray):
                raise InvalidInput(f"{name} must be an array", witness=type(array).__name__)
            if array.dtype not in dtypes or array.shape != (len(self.arcs),):
                raise InvalidInput(
                    f"{name} must be {dtypes[0].__name__} of shape (t,)",
                    witness=(str(array.dtype), array.shape),
                )
        check_integers(self.amounts, "amounts")
        if len(self.arcs) and (self.arcs[0] < 0 or np.any(self.arcs[1:] <= self.arcs[:-1])):
            raise InvalidInput("arcs must ascend from 0 without repetition", witness=int(self.arcs.min()))
        if len(self.amounts) and self.amounts.min() <= 0:
            raise InvalidInput("amounts must be positive", witness=int(self.amounts.min()))
        read_only(self.arcs)
        read_only(self.amounts)

    @classmethod
    def of(cls, arcs: npt.NDArray[np.integer], amounts: Integers) -> Certificate:
        """From arcs in any order, each at most once, and amounts >= 0."""
        positive = np.flatnonzero(amounts > 0)
        order = positive[np.argsort(arcs[positive], kind="stable")]
        return cls(arcs=arcs[order].astype(np.int32), amounts=amounts[order])

    @classmethod
    def zero(cls) -> Certificate:
        """pi = 0: it proves that no closure is worth more than all positive profits together."""
        return cls(arcs=np.zeros(0, np.int32), amounts=np.zeros(0, np.int64))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Question:
    """A closure problem in integers, as the proof sees it.

    Attributes
    ----------
    requires
        n nodes, m arcs; i -> j reads "i requires j".
    profit : (n,) int64, or Python integers
        In int64 absolute values add up to less than 2^62.
    forced, barred : (n,) bool
        In every feasible closure; in none. A forced node's prerequisites are forced, a barred node's
        dependents barred.
    """

    requires: Digraph
    profit: Integers
    forced: Mask
    barred: Mask


def check_integers(array: Integers, name: str) -> None:
    """Raise InvalidInput where an object array holds anything but Python integers (witness: it)."""
    if array.dtype == np.object_:
        odd = [one for one in array.tolist() if type(one) is not int]
        if odd:
            raise InvalidInput(f"{name} must be integers", witness=odd[0])


def reduced_profits(question: Question, arcs: Index, amounts: Integers) -> Integers:
    """r, (n,), for pi = `amounts` on `arcs` (t,), 0 elsewhere; Python integers where int64 might wrap."""
    n, heads = question.requires.n, question.requires.heads[arcs]
    tails = _tails(question.requires, arcs)
    r, pi = question.profit.copy(), amounts
    fits = np.object_ not in (r.dtype, pi.dtype)
    if fits:
        traffic = np.bincount(tails, amounts, n) + np.bincount(heads, amounts, n)
        # Fewer than 2^31 nonnegative terms in floats err by a relative 2^-20 at most: below 2^61 the integer
        # sums, and their sums with p, stay inside int64.
        fits = bool(traffic.max(initial=0.0) < 2.0**61)
    if not fits:
        r, pi = r.astype(np.object_), pi.astype(np.object_)
    np.add.at(r, heads, pi)
    np.subtract.at(r, tails, pi)
    return r


def _tails(requires: Digraph, arcs: Index) -> Index:
    """Tail of each of `arcs`, without those of all."""
    return (np.searchsorted(requires.offsets, arcs, side="right") - 1).astype(np.int32)


def dual_bound(question: Question, r: Integers) -> int:
    """No feasible closure is worth more; O(n)."""
    return exact_total(r[question.forced]) + exact_total(r[~question.forced & ~question.barred & (r > 0)])


def extreme_optimum(question: Question, r: Integers, arcs: Index, ties: Ties) -> Mask:
    """The smallest or largest optimal closure, (n,) bool, given an optimal pi that is positive on `arcs`."""
    # Equality in the bound asks for x_i = 1 where i is free and r_i > 0, x_i = 0 where i is free and r_i < 0,
    # and x_i = x_j where pi_ij > 0. So the optimal closures are the sets that contain F and {r > 0}, miss B
    # and {r < 0}, and are closed under the arcs and under the reversed arcs with pi > 0. The least set that
    # contains what must be in and is closed in that way lies in each of them, hence misses what each of them
    # misses: it is the smallest. The complement of the least set that contains what must be out and is closed
    # the other way is the largest.
    requires = question.requires
    # Each node's reversed arcs are put before its arcs. They go by node: nodes without arcs share a place.
    arcs = arcs[np.argsort(requires.heads[arcs], kind="stable")]
    back_tails = requires.heads[arcs]
    grown = np.zeros(requires.n + 1, np.int32)
    np.cumsum(np.bincount(back_tails, minlength=requires.n), out=grown[1:])
    residual = Digraph(
        offsets=requires.offsets + grown,
        heads=np.insert(requires.heads, requires.offsets[back_tails], _tails(requires, arcs)),
    )
    free = ~question.forced & ~question.barred
    if ties == "fewest":
        return reach(residual, question.forced | (free & (r > 0)))
    return ~slice_to(residual, question.barred | (free & (r < 0)))


def check_feasible(question: Question, mask: Mask) -> None:
    """Closed, everything forced in, nothing barred in.

    Raises
    ------
    ProofFailed
        Witness: the arc (i, j) that leaves the set, or the node.
    """
    arc = violated_arc(question.requires, mask)
    if arc is not None:
        raise ProofFailed(f"node {arc[0]} is chosen without its prerequisite {arc[1]}", witness=arc)
    for fault, nodes in (
        ("barred but chosen", question.barred & mask),
        ("required but left out", question.forced & ~mask),
    ):
        if nodes.any():
            node = int(np.flatnonzero(nodes)[0])
            raise ProofFailed(f"node {node} is {fault}", witness=node)


def check_extreme(question: Question, r: Integers, arcs: Index, ties: Ties, mask: Mask) -> None:
    """`mask`, already proved optimal by pi, is the smallest or largest optimum.

    Raises
    ------
    ProofFailed
        Witness: a node on which it differs.
    """
    free = ~question.forced & ~question.barred
    settled = (
        question.forced | (free & (r > 0)) if ties == "fewest" else ~(question.barred | (free & (r < 0)))
    )
    if np.array_equal(mask, settled):  # what must be in, or all that may be in: no search can change it
        return
    differs = mask != extreme_optimum(question, r, arcs, ties)
    if differs.any():
        node = int(np.flatnonzero(differs)[0])
        raise ProofFailed(f"an optimum with {ties} members differs at node {node}", witness=node)
