"""explain(): why one candidate is chosen or not, and at which price that changes."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import cast

import numpy as np

from memorepair.errors import InvalidInput
from memorepair.graphs.closure import least_closed_superset
from memorepair.graphs.digraph import Digraph, Index, Mask
from memorepair.graphs.order import find_cycle, waves
from memorepair.graphs.reach import reach
from memorepair.problems import Figure, Selection, SelectionInstance, Status, figure
from memorepair.problems.integers import Integers, Number, digits, fraction, nearest, shown
from memorepair.problems.profits import big_profits
from memorepair.problems.proof import Certificate
from memorepair.reductions.barred import witnesses
from memorepair.selection.choosing import solve
from memorepair.selection.frontier import Frontier, frontier


class Reason(Enum):
    """Why a candidate is chosen, or is not."""

    EARNS = "pays for itself"
    """Chosen: its value is at least its cost at the tradeoff."""
    PAID = "paid for by dependents"
    """Chosen: what it lacks is paid by candidates that require it, directly or not."""
    REQUIRED = "required"
    """Chosen: the instance says so."""
    NEEDED = "needed by what is required"
    """Chosen: a required candidate requires it, directly or not."""
    UNPAID = "chosen without being paid for"
    """Chosen by a solver or within a budget, though leaving it out would be worth more."""
    PRICED_OUT = "not worth its price"
    """Not chosen: no set that holds it is worth more than the best without it."""
    BUDGET = "beyond the budget"
    """Not chosen: it is in the optimum without budget."""
    MISSED = "missed by the solver"
    """Not chosen by a solver that is not exact: it is in the optimum."""
    BARRED = "barred"
    """Not chosen: it is not executable, or requires what is not."""
    NOTHING = "no selection"
    """Nothing is chosen: there is no feasible selection, or none was found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What decides about one candidate.

    Attributes
    ----------
    id
        The candidate.
    reason
        What decides.
    chosen
        Whether it is in the selection.
    profit
        Its own value less its priced cost, w - lambda c.
    tradeoff
        lambda.
    price
        The price at which it enters as the tradeoff falls, and leaves as it rises, without budget: chosen
        below (with ties to the most, also at it); inf for what is in at every price, -inf at none; None for
        what no price decides: barred, required, no cost in the instance, or several for each.
    payers
        Who pays what it lacks, and how much, the largest share first; empty unless `reason` is PAID. Where
        several could, the shares are those of the certificate.
    path
        Ids that each require the next: to what cannot be executed (BARRED), or from what is required (NEEDED,
        NOTHING); else empty.
    by
        Name of the solver.
    at_price
        Whether it is chosen at `price` itself.
    budgeted
        Whether there is a budget, which `price` knows nothing of.
    overrun
        Whether what is required costs more than the budget.
    """

    id: Hashable
    reason: Reason
    chosen: bool
    profit: Figure
    tradeoff: Number
    price: Fraction | float | None = None
    payers: tuple[tuple[Hashable, Figure], ...] = ()
    path: tuple[Hashable, ...] = ()
    by: str = "pseudoflow"
    at_price: bool = False
    budgeted: bool = False
    overrun: bool = False

    def __str__(self) -> str:
        head = f"{shown(self.id)} is {'chosen' if self.chosen else 'not chosen'}"
        chain = " needs ".join(map(shown, self.path))
        match self.reason:
            case Reason.EARNS:
                more = f"is worth {_shown(self.profit)} more than" if self.profit else "brings what"
                return f"{head}: it {more} it costs.{self._changes()}"
            case Reason.PAID:
                shares = [f"{shown(id)} pays {_shown(share)}" for id, share in self.payers[:_NAMED]]
                if len(self.payers) > _NAMED:
                    shares.append(f"{len(self.payers) - _NAMED} others the rest")
                return f"{head}: it lacks {_shown(-self.profit)}, {', '.join(shares)}.{self._changes()}"
            case Reason.REQUIRED:
                return f"{head}: it is required."
            case Reason.NEEDED:
                return f"{head}: {shown(self.path[0])} is required, and {chain}."
            case Reason.UNPAID:
                return f"{head} by {self.by}, though it lacks {_shown(-self.profit)} and nobody pays for it."
            case Reason.PRICED_OUT:
                return f"{head}: with all it needs it brings no more than it costs.{self._changes()}"
            case Reason.BUDGET:
                return f"{head}: it is worth its cost, but not within the budget.{self._changes()}"
            case Reason.MISSED:
                return f"{head} by {self.by}: it is in the optimum.{self._changes()}"
            case Reason.BARRED:
                return f"{head}: {chain + ', which' if len(self.path) > 1 else 'it'} cannot be executed."
            case Reason.NOTHING:
                why = (
                    f": {shown(self.path[0])} is required, but {chain}, which cannot be executed"
                    if chain
                    else ""
                )
                if self.overrun:
                    why = ": what is required costs more than the budget"
                return f"{head}, nothing is{why}."

    def to_json(self) -> dict[str, object]:
        """Plain values for JSON: an infinite price and a fraction without short decimal as text."""
        return {
            "id": _plain_id(self.id),
            "reason": self.reason.value,
            "chosen": self.chosen,
            "profit": _plain(self.profit),
            "tradeoff": _plain(self.tradeoff),
            "price": None if self.price is None else _plain(self.price),
            "payers": [[_plain_id(id), _plain(share)] for id, share in self.payers],
            "path": [_plain_id(id) for id in self.path],
            "sentence": str(self),
        }

    def _changes(self) -> str:
        price = self.price
        if price is None:
            return ""
        if self.budgeted:
            if not math.isfinite(price) or price < 0:
                return f" Without a budget it is in at {'every' if price == math.inf else 'no'} tradeoff."
            least = "up to" if self.at_price else "below"
            now = _shown(self.tradeoff)
            return f" Without a budget it is in {least} the tradeoff {_shown(price)}; that is {now} now."
        if price == math.inf:
            return " It is in at every tradeoff."
        if price == -math.inf:
            return " It is in at no tradeoff."
        if price < 0:
            return f" It is in at no tradeoff: each unit of cost would have to bring {_shown(-price)}."
        if self.chosen:
            change = "leaves above" if self.at_price else "leaves at"
        else:
            change = "enters at" if self.at_price else "enters below"
        return f" It {change} the tradeoff {_shown(price)}; that is {_shown(self.tradeoff)} now."


_NAMED = 5


def explain(selection: Selection, id: Hashable, *, curve: Frontier | None = None) -> Explanation:
    """Why the candidate `id` is chosen or not in `selection`, and at which price that changes.

    Parameters
    ----------
    selection
        From `select`.
    id
        A candidate.
    curve
        `frontier` of the same problem, where several candidates are explained: it is the larger part of the
        work.

    Returns
    -------
    Explanation
        `print` it for a sentence. Shares are exact up to ``selection.report.loss``.

    Raises
    ------
    UnknownId
        No candidate has this id.
    InvalidInput
        `selection` is none, or `curve` that of another problem.

    Notes
    -----
    One `frontier`; where the certificate does not prove an optimum, one more selection.

    Examples
    --------
    >>> from memorepair import select
    >>> selection = select(value=[5, 0], cost=[1, 8], requires=[(0, 1)], tradeoff=0.5)
    >>> print(explain(selection, 1))
    1 is chosen: it lacks 4, 0 pays 4. It leaves at the tradeoff 5/9; that is 0.5 now.
    """
    if not isinstance(selection, Selection):
        raise InvalidInput(f"only a selection can be explained, not {selection!r}", witness=selection)
    instance = selection.instance
    if curve is not None and not _same_problem(curve.instance, instance):
        raise InvalidInput("the curve is that of another problem", witness=curve)
    place = instance.position(id)
    price = fraction(instance.tradeoff)
    worth = fraction(instance.value[place])
    if price:
        worth -= price * fraction(instance.cost[place])
    about = Explanation(
        id=id,
        reason=Reason.NOTHING,
        chosen=selection.answer is not None and bool(selection.mask[place]),
        profit=figure(instance, worth),
        tradeoff=instance.tradeoff,
        path=selection.report.infeasible,
        by=selection.solver,
        at_price=selection.ties == "most",
        budgeted=instance.budget is not None,
        overrun=bool(selection.report.overrun),
    )
    bars = witnesses(instance.requires, instance.executable)
    if bars.step[place] >= 0:
        return replace(about, reason=Reason.BARRED, path=instance.named(bars.path(place)))
    if selection.answer is None:
        return about
    if instance.required[place]:
        return replace(about, reason=Reason.REQUIRED, path=())
    if least_closed_superset(instance.requires, instance.required)[place]:
        # Along reversed arcs the nearest required candidate is what "barred" calls the nearest witness.
        back = witnesses(instance.requires.reverse(), ~instance.required).path(place)
        return replace(about, reason=Reason.NEEDED, path=instance.named(reversed(back)))
    if instance.kinds == 1 and np.any(instance.cost != 0):
        found = frontier(instance) if curve is None else curve
        prices = found.most if selection.ties == "most" else found.fewest
        about = replace(about, price=prices.exact(place))
    proved = selection.status is Status.OPTIMAL and instance.budget is None
    if about.chosen:
        if worth >= 0:
            return replace(about, reason=Reason.EARNS, path=())
        payers = _payers(selection, place, proved=proved)
        return replace(about, reason=Reason.PAID if payers else Reason.UNPAID, payers=payers, path=())
    reason = Reason.PRICED_OUT
    if not proved and _unbudgeted(instance).mask[place]:
        reason = Reason.MISSED if instance.budget is None else Reason.BUDGET
    return replace(about, reason=reason, path=())


def _same_problem(one: SelectionInstance, other: SelectionInstance) -> bool:
    """Whether two problems differ in tradeoff and budget at most; O(1) where they share their arrays."""
    pairs = [(getattr(one, name), getattr(other, name)) for name in _ARRAYS]
    pairs += [(getattr(one.requires, name), getattr(other.requires, name)) for name in ("offsets", "heads")]
    return one.ids == other.ids and all(a is b or np.array_equal(a, b) for a, b in pairs)


_ARRAYS = ("value", "cost", "executable", "required")


def _unbudgeted(instance: SelectionInstance) -> Selection:
    cost = instance.cost if instance.kinds == 1 else np.zeros(instance.k, np.int64)
    return solve(replace(instance, cost=cost, budget=None), ties="fewest", solver="pseudoflow")


def _payers(selection: Selection, place: int, *, proved: bool) -> tuple[tuple[Hashable, Figure], ...]:
    """Who pays what the chosen candidate at `place` lacks; empty where nobody does."""
    instance, certificate = selection.instance, selection.certificate
    if proved and certificate is not None:
        kept = witnesses(instance.requires, instance.executable).step < 0
        shares = _trace(instance, kept, certificate, place)
        names = instance
    else:
        # The chosen set keeps the budget, as do all closures inside it, since costs are not negative. If it
        # is the best within the budget it is an optimum among them, so the dual of the problem on it, which
        # needs no budget, pays for each of its members. If it is not, it need not pay for all.
        names = _inside(instance, selection.mask)
        best = solve(names, ties="most", solver="pseudoflow")
        place = int(np.count_nonzero(selection.mask[:place]))
        if not best.mask[place] or best.certificate is None:
            return ()
        shares = _trace(names, np.ones(names.k, np.bool_), best.certificate, place)
    ordered = sorted(shares.items(), key=lambda share: (-share[1], share[0]))
    return tuple((names.id_of(payer), figure(instance, amount)) for payer, amount in ordered)


def _inside(instance: SelectionInstance, mask: Mask) -> SelectionInstance:
    """The instance on the chosen candidates alone, without budget."""
    return SelectionInstance(
        value=instance.value[mask],
        cost=instance.cost[mask] if instance.kinds == 1 else np.zeros(int(mask.sum()), np.int64),
        requires=instance.requires.induced(mask),
        executable=instance.executable[mask],
        required=instance.required[mask],
        ids=instance.named(np.flatnonzero(mask).tolist()),
        tradeoff=instance.tradeoff,
    )


def _trace(
    instance: SelectionInstance, kept: Mask, certificate: Certificate, start: int
) -> dict[int, Fraction]:
    """Follow pi back from `start` to the profits that what it lacks is paid from."""
    big = certificate.amounts.dtype == np.object_
    priced = big_profits(instance.value[kept], instance.cost[kept], instance.tradeoff, big=big)
    profit = cast(Integers, np.zeros(instance.k, priced.profit.dtype))
    profit[kept] = priced.profit
    # An arc leads here from who is paid to who pays, i from j where j requires i and pi_ji > 0.
    paid = instance.requires.heads[certificate.arcs]
    payer = instance.requires.tails()[certificate.arcs]
    support = Digraph.from_arcs(instance.k, paid, payer)
    upstream = reach(support, np.array([start]))
    inside = upstream[paid] & upstream[payer]
    paid, payer, amounts = _acyclic(instance.k, paid[inside], payer[inside], certificate.amounts[inside])
    order = waves(Digraph.from_arcs(instance.k, paid, payer))
    # In this order every node stands before its payers. One that is asked gives its own profit first. With
    # r >= 0, as for all that is chosen freely at an optimum, its inflow covers the rest: it pays on no more
    # than its profit and its inflow together.
    wanted = {start: -int(profit[start])}
    shares: dict[int, Fraction] = {}
    by_paid = np.argsort(-order[paid].astype(np.int64), kind="stable")
    given: set[int] = {start}
    for arc in by_paid.tolist():
        node, source = int(paid[arc]), int(payer[arc])
        if node not in given:
            given.add(node)
            _give(node, wanted, shares, profit, priced.scale)
        part = min(wanted.get(node, 0), int(amounts[arc]))
        if part:
            wanted[node] -= part
            wanted[source] = wanted.get(source, 0) + part
    for node in list(wanted):
        if node not in given:
            _give(node, wanted, shares, profit, priced.scale)
    return shares


def _give(
    node: int, wanted: dict[int, int], shares: dict[int, Fraction], profit: Integers, scale: Fraction
) -> None:
    own = min(wanted.get(node, 0), max(0, int(profit[node])))
    if own:
        wanted[node] -= own
        shares[node] = own / scale


def _acyclic(n: int, paid: Index, payer: Index, amounts: Integers) -> tuple[Index, Index, Integers]:
    """The same payments without those that go in a circle: nobody's balance changes."""
    left = amounts.copy()
    while True:
        positive = left > 0
        cycle = find_cycle(Digraph.from_arcs(n, paid[positive], payer[positive]))
        if cycle is None:
            return paid[positive], payer[positive], left[positive]
        ends = zip(cycle, (*cycle[1:], cycle[0]), strict=True)
        arcs = [int(np.flatnonzero(positive & (paid == i) & (payer == j))[0]) for i, j in ends]
        left[arcs] -= left[arcs].min()


def _shown(number: Number) -> str:
    if isinstance(number, float):
        return f"{number:.12g}"
    exact = fraction(number)
    return digits(exact) if exact.denominator < _READABLE else f"{nearest(exact):.12g}"


_READABLE = 1000


def _plain(number: Number) -> int | float | str:
    if isinstance(number, float):
        return number if math.isfinite(number) else str(number)
    exact = fraction(number)
    if isinstance(number, int) and abs(number) < _WRITTEN:
        return number
    near = nearest(exact)
    return near if math.isfinite(near) and fraction(near) == exact else digits(exact)


_WRITTEN = 10**4_000  # Python writes integers of up to 4,300 digits


def _plain_id(id: Hashable) -> object:
    if isinstance(id, int):
        return id if abs(id) < _WRITTEN else digits(id)
    return id if isinstance(id, str) else str(id)
