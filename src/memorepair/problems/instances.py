"""Instances: what is asked of select(), and what a solver sees of it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import get_args

import numpy as np

from memorepair.errors import InvalidInput, InvalidInstance, UnknownId
from memorepair.graphs.digraph import Digraph, Mask, read_only
from memorepair.problems import proof
from memorepair.problems.amounts import Amounts, Price
from memorepair.problems.integers import (
    TOTAL_LIMIT,
    Integers,
    Number,
    Numbers,
    check_unmasked,
    exact_total,
    fraction,
    is_table,
    numbers,
    scalar,
    shown,
    table,
)
from memorepair.problems.proof import Certificate as Certificate
from memorepair.problems.proof import Ties


def check_ties(ties: str) -> None:
    """Raise InvalidInput unless `ties` is "fewest" or "most"."""
    if not isinstance(ties, str) or ties not in get_args(Ties):
        raise InvalidInput(f'ties must be "fewest" or "most", not {shown(ties)}', witness=ties)


def check_hashable(ids: Iterable[object]) -> None:
    """Raise InvalidInstance where an id cannot be hashed (witness: it)."""
    for id in ids:
        try:
            hash(id)
        except TypeError:
            raise InvalidInstance(f"id {shown(id)} is not hashable", witness=id) from None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SelectionInstance:
    """Candidates to choose from, k of them, with their prerequisites.

        max  sum_i (w_i - lambda c_i) x_i    s.t.  x_i <= v_i,  x_i <= x_j where i requires j,  x_i = 1 for i
        in R,  sum_i c_i x_i <= beta

    Attributes
    ----------
    value : (k,) int64, float64 or object
        w_i, finite, of any sign. Ints, floats, Fractions, Decimals, these with an exponent of at most 5,000;
        a float stands for the shortest decimal that reads back as it. Mixed or beyond 64 bits they are kept
        as Fractions.
    cost : (k,), or (k, d) for d costs side by side
        c_i, finite, at least 0, numbers as above.
    requires : Digraph
        k nodes; an arc i -> j reads "i requires j" (j in P_i). Cycles are legal: all of a cycle or nothing.
    executable : (k,) bool
        v_i; what is false, and what requires it directly or not, is barred.
    required : (k,) bool
        R; these are chosen, with all they require.
    ids : tuple, or None
        Names of the candidates, hashable, unique; None names them 0 .. k - 1.
    tradeoff
        lambda, finite, at least 0: value per unit of cost; 0 where there are several costs.
    budget
        beta, finite, at least 0: a number, or d of them for d costs; None for no limit.

    Raises
    ------
    InvalidInstance
        One of the above does not hold; the witness is the id at fault, or the shape.
    """

    value: Numbers
    cost: Numbers
    requires: Digraph
    executable: Mask
    required: Mask
    ids: tuple[Hashable, ...] | None = None
    tradeoff: Number = 0
    budget: Number | tuple[Number, ...] | None = None

    def __post_init__(self) -> None:
        k = self.requires.n
        if self.ids is not None:
            self._check_ids(k)
        for name in ("value", "cost"):
            try:
                given = getattr(self, name)
                array = table(given, name) if name == "cost" and is_table(given) else numbers(given, name)
            except InvalidInstance as error:
                if isinstance(error.witness, int) and error.witness < k:
                    id = self.id_of(error.witness)
                    raise InvalidInstance(f"{error} at {shown(id)}", witness=id) from None
                raise
            if len(array) != k:
                raise InvalidInstance(
                    f"{len(array)} entries of {name} for {k} candidates", witness=array.shape
                )
            object.__setattr__(self, name, array)
        negative = np.argwhere(self.cost < 0)
        if len(negative):
            id = self.id_of(int(negative[0][0]))
            amount = shown(self.cost[*negative[0]])
            raise InvalidInstance(f"cost of {shown(id)} is negative: {amount}", witness=id)
        for name in ("executable", "required"):
            check_unmasked(getattr(self, name), name)
            mask = np.array(getattr(self, name))
            if mask.shape != (k,) or mask.dtype != np.bool_:
                raise InvalidInstance(f"{name} must be boolean of shape ({k},)", witness=mask.shape)
            read_only(mask)
            object.__setattr__(self, name, mask)
        object.__setattr__(self, "tradeoff", scalar(self.tradeoff, "tradeoff"))
        if self.tradeoff < 0:
            raise InvalidInstance(f"tradeoff {shown(self.tradeoff)} is negative", witness=self.tradeoff)
        if self.cost.ndim == 2 and fraction(self.tradeoff) != 0:
            raise InvalidInstance("several costs have no one tradeoff", witness=self.tradeoff)
        if self.budget is not None:
            self._check_budget()

    def _check_budget(self) -> None:
        if self.k == 0 and isinstance(self.budget, tuple) and self.cost.ndim == 1 and self.budget:
            # No candidate tells how many costs there are: the budgets do.
            object.__setattr__(self, "cost", self.cost.reshape(0, len(self.budget)))
        if isinstance(self.budget, tuple) and self.cost.ndim == 1:
            raise InvalidInstance(
                "several budgets are for several costs a candidate, rows of them", witness=self.budget
            )
        if isinstance(self.budget, tuple) != (self.cost.ndim == 2) or len(self.limits) != self.kinds:
            raise InvalidInstance(
                f"{len(self.limits)} budgets for {self.kinds} costs a candidate", witness=self.budget
            )
        limits = tuple(scalar(limit, "budget") for limit in self.limits)
        for limit in limits:
            if limit < 0:
                raise InvalidInstance(f"budget {shown(limit)} is negative", witness=limit)
        object.__setattr__(self, "budget", limits if isinstance(self.budget, tuple) else limits[0])

    def _check_ids(self, k: int) -> None:
        ids = self.ids or ()
        if len(ids) != k:
            raise InvalidInstance(f"{len(ids)} ids for {k} candidates", witness=len(ids))
        check_hashable(ids)
        if len(set(ids)) == k:
            return
        seen: set[Hashable] = set()
        for id in ids:
            if id in seen:
                raise InvalidInstance(f"id {shown(id)} is given twice", witness=id)
            seen.add(id)

    @property
    def k(self) -> int:
        """Number of candidates."""
        return self.requires.n

    @property
    def kinds(self) -> int:
        """d, the number of costs a candidate has."""
        return 1 if self.cost.ndim == 1 else self.cost.shape[1]

    @property
    def limits(self) -> tuple[Number, ...]:
        """The budgets, one a cost; empty where there is none."""
        if self.budget is None:
            return ()
        return self.budget if isinstance(self.budget, tuple) else (self.budget,)

    def id_of(self, position: int) -> Hashable:
        """Name of the candidate at `position`."""
        return position if self.ids is None else self.ids[position]

    def position(self, id: Hashable) -> int:
        """Place of the candidate `id`; O(k).

        Raises
        ------
        UnknownId
            No candidate has this id.
        """
        if self.ids is None:
            if isinstance(id, (int, np.integer)) and not isinstance(id, bool) and 0 <= id < self.k:
                return int(id)
        elif id in self.ids:
            return self.ids.index(id)
        raise UnknownId(f"no candidate has the id {shown(id)}", witness=id)

    def named(self, positions: Iterable[int]) -> tuple[Hashable, ...]:
        """Names of the candidates at `positions`, in order."""
        return tuple(map(self.id_of, positions))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClosureInstance:
    """Maximum closure in integers: all a solver sees.

    Attributes
    ----------
    profit : (k,) int64, or Python integers
        p_i; in int64 absolute values add up to less than 2^62. Python integers, of any size, only where the
        solver is the default one.
    requires : Digraph
        k nodes; an arc i -> j reads "i requires j".
    scale
        Profit units per original unit: p = scale (w - lambda c), rounded where `loss` is not 0.
    loss
        No closure's value in original units is off by more because of rounding.
    ties
        Which optimum is asked for: the smallest ("fewest") or the largest ("most").
    """

    profit: Integers
    requires: Digraph
    scale: Fraction = Fraction(1)
    loss: Fraction = Fraction(0)
    ties: Ties = "fewest"

    def __post_init__(self) -> None:
        if self.profit.dtype not in (np.int64, np.object_) or self.profit.shape != (self.requires.n,):
            witness = (str(self.profit.dtype), self.profit.shape)
            raise InvalidInstance(f"profit must be int64 of shape ({self.requires.n},)", witness=witness)
        if self.profit.dtype == np.object_:
            proof.check_integers(self.profit, "profit")
        else:
            self._check_total()
        check_ties(self.ties)
        read_only(self.profit)

    def _check_total(self) -> None:
        largest = max(int(self.profit.max(initial=0)), -int(self.profit.min(initial=0)))
        if largest * self.requires.n >= TOTAL_LIMIT:
            gain = exact_total(self.profit[self.profit > 0])
            expense = exact_total(self.profit[self.profit < 0])
            if gain - expense >= TOTAL_LIMIT:
                raise InvalidInstance("absolute profits add up to 2^62 or more", witness=gain - expense)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KnapsackInstance:
    """Maximum closure within budgets, in integers: a precedence-constrained knapsack.

    Attributes
    ----------
    requires : Digraph
        k nodes; an arc i -> j reads "i requires j".
    amounts
        Value, d costs, d budgets of at least 0 on the nodes.
    base
        What is already gained outside, in units of value: gaps are relative to the sum.
    """

    requires: Digraph
    amounts: Amounts
    base: int = 0

    def __post_init__(self) -> None:
        if self.amounts.value.shape != (self.requires.n,):
            raise InvalidInstance("amounts and nodes differ in number", witness=self.amounts.value.shape)
        if min(self.amounts.budget, default=0) < 0:
            raise InvalidInstance("a budget is negative", witness=self.amounts.budget)

    def at(self, price: Price) -> ClosureInstance:
        """The closure that is left when each cost has a price instead of a budget."""
        profit, unit, _ = self.amounts.priced(price)
        return ClosureInstance(profit=profit, requires=self.requires, scale=Fraction(unit))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Closure:
    """A solver's answer to a ClosureInstance.

    Attributes
    ----------
    mask : (k,) bool
        The closure.
    certificate
        pi on the instance's arcs; None from a solver that has no dual.
    """

    mask: Mask
    certificate: Certificate | None
