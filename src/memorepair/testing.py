"""Laws for a user's own tests: Hypothesis strategies of instances, assertions that trust no solver.

Needs Hypothesis, the extra `testing`. See docs/testing.md.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import cast

import numpy as np
import numpy.typing as npt

from memorepair.errors import MissingDependency, ProofFailed
from memorepair.graphs.closure import violated_arc
from memorepair.graphs.digraph import Digraph, Mask
from memorepair.problems import Selection, SelectionInstance, Status
from memorepair.problems.integers import Number, fraction

try:
    from hypothesis import strategies as st
except ImportError:
    raise MissingDependency(
        "memorepair.testing needs Hypothesis: pip install 'memorepair[testing]'", witness="hypothesis"
    ) from None

__all__ = ["assert_certificate", "assert_closed", "assert_optimal", "instances"]

BRUTE_FORCE = 12
"""Up to this many candidates `assert_optimal` looks at every set of them."""

_DECIMALS = st.decimals(-1000, 1000, places=2)
_KINDS: tuple[st.SearchStrategy[Number], ...] = (
    st.integers(-3, 3),  # many ties
    st.integers(-(10**6), 10**6),
    st.floats(-1000, 1000, allow_nan=False, width=32).map(lambda x: float(str(np.float32(x)))),
    _DECIMALS,
    st.fractions(-100, 100, max_denominator=60),
)
_PRICES: tuple[Number, ...] = (0, 1, 0.3, Decimal("1.5"), 2)
# A fixed alphabet: Hypothesis needs seconds to list all of Unicode when it first does.
_NAMES = st.one_of(st.integers(-(2**70), 2**70), st.text("ab0 \"'\\\n\x00é\u2028\U0001f600", max_size=6))


@st.composite
def instances(
    draw: st.DrawFn,
    *,
    max_size: int = 8,
    budgets: bool = False,
    named: bool = False,
    decimal: bool = False,
) -> SelectionInstance:
    """Instances of up to `max_size` candidates: cycles, loops, parallel arcs, ties, all kinds of numbers.

    Parameters
    ----------
    max_size
        Largest number of candidates.
    budgets
        Whether some have a budget, or several costs with a budget each.
    named
        Whether candidates have ids, text or integers, instead of positions.
    decimal
        Whether every number is a finite decimal: text formats can hold no 1/3.
    """
    k = draw(st.integers(0, max_size))
    kinds = draw(st.integers(1, 2)) if budgets and draw(st.booleans()) else 1
    numbers = draw(st.sampled_from(_KINDS[: 4 if decimal else 5]))
    amounts = numbers.map(_size)
    node = st.integers(0, max(k - 1, 0))
    arcs = draw(st.lists(st.tuples(node, node), max_size=2 * k if k else 0))
    value = draw(st.lists(numbers, min_size=k, max_size=k))
    several = kinds > 1 and k > 0
    entry = st.lists(amounts, min_size=kinds, max_size=kinds) if several else amounts
    cost = draw(st.lists(entry, min_size=k, max_size=k))
    budget: Number | tuple[Number, ...] | None = None
    if several:
        budget = tuple(draw(st.lists(amounts, min_size=kinds, max_size=kinds)))
    elif budgets:
        budget = draw(st.none() | amounts)
    flags = st.lists(st.sampled_from((False, False, False, True)), min_size=k, max_size=k)
    names = draw(st.lists(_NAMES, min_size=k, max_size=k, unique=True)) if named else None
    tails, heads = ([arc[end] for arc in arcs] for end in (0, 1))
    return SelectionInstance(
        value=cast("npt.NDArray[np.object_]", value),
        cost=cast("npt.NDArray[np.object_]", cost),
        requires=Digraph.from_arcs(k, tails, heads),
        executable=~np.array(draw(flags), np.bool_),
        required=np.array(draw(flags), np.bool_) if draw(st.booleans()) else np.zeros(k, np.bool_),
        ids=None if names is None else tuple(names),
        tradeoff=0 if several else draw(st.sampled_from(_PRICES)),
        budget=budget,
    )


def assert_closed(instance: SelectionInstance, chosen: Iterable[Hashable] | Mask) -> None:
    """`chosen`, ids or a (k,) boolean mask, lacks no prerequisite.

    Raises
    ------
    AssertionError
        It does; the message names who lacks what.
    """
    mask = _mask(instance, chosen)
    arc = violated_arc(instance.requires, mask)
    if arc is not None:
        tail, head = instance.named(arc)
        raise AssertionError(f"{tail!r} is chosen without {head!r}, which it requires")


def assert_certificate(selection: Selection) -> None:
    """The proof of `selection` holds: closed, within budget, status, figures and gap as its certificate says.

    Raises
    ------
    AssertionError
        It does not; the message says what is at fault.
    """
    try:
        selection.verify()
    except ProofFailed as error:
        raise AssertionError(f"{error} (witness: {error.witness!r})") from error


def assert_optimal(selection: Selection) -> None:
    """`selection` is an optimum, and the one its tie rule promises.

    Its certificate proves it; of up to `BRUTE_FORCE` candidates every set is looked at as well.

    Raises
    ------
    AssertionError
        It is not, or not proved; the message says what is at fault.
    """
    if selection.status is not Status.OPTIMAL:
        raise AssertionError(f"the status is {selection.status.value}, not optimal")
    assert_certificate(selection)
    if selection.instance.k <= BRUTE_FORCE:
        _compare(selection)


def _compare(selection: Selection) -> None:
    instance = selection.instance
    sets = _feasible(instance)
    price = fraction(instance.tradeoff)
    costs = [Fraction(0)] * instance.k if not price else [fraction(c) for c in instance.cost.tolist()]
    profit = [fraction(w) - price * c for w, c in zip(instance.value.tolist(), costs, strict=True)]
    worth = np.array(_totals(sets, profit), np.object_)
    own = _totals(selection.mask[None, :], profit)[0]
    best = max(worth.tolist())
    if best - own > 2 * selection.report.loss:
        better = instance.named(np.flatnonzero(sets[int(worth.argmax())]).tolist())
        raise AssertionError(f"{better!r} is worth {best}, the answer {own}")
    if selection.ties is None or selection.report.loss:
        return
    optima = sets[worth == best]
    extreme = optima.all(axis=0) if selection.ties == "fewest" else optima.any(axis=0)
    if not np.array_equal(extreme, selection.mask):
        other = instance.named(np.flatnonzero(extreme).tolist())
        raise AssertionError(f"{other!r} is an optimum with {selection.ties} members, not the answer")


def _feasible(instance: SelectionInstance) -> Mask:
    """All feasible sets, (sets, k) bool."""
    k = instance.k
    sets: Mask = (np.arange(1 << k)[:, None] >> np.arange(k)) & 1 == 1
    good = ~(sets & ~instance.executable).any(axis=1) & (sets | ~instance.required).all(axis=1)
    tails, heads = instance.requires.tails(), instance.requires.heads
    good &= (~sets[:, tails] | sets[:, heads]).all(axis=1)
    sets = sets[good]
    for kind, limit in enumerate(instance.limits):
        column = instance.cost if instance.cost.ndim == 1 else instance.cost[:, kind]
        spent = _totals(sets, [fraction(c) for c in column.tolist()])
        sets = sets[[one <= fraction(limit) for one in spent]]
    return sets


def _totals(sets: Mask, amounts: list[Fraction]) -> list[Fraction]:
    return [sum((amounts[i] for i in np.flatnonzero(one)), Fraction(0)) for one in sets]


def _mask(instance: SelectionInstance, chosen: Iterable[Hashable] | Mask) -> Mask:
    if isinstance(chosen, np.ndarray) and chosen.dtype == np.bool_:
        return chosen
    place = {id: position for position, id in enumerate(instance.ids or ())}
    mask = np.zeros(instance.k, np.bool_)
    for id in chosen:
        mask[place[id] if id in place else instance.position(id)] = True
    return mask


def _size(amount: Number) -> Number:
    return -amount if amount < 0 else amount
