"""Checking: what an answer claims, held against its instance."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import cast

import numpy as np
from scipy.sparse.csgraph import dijkstra

from memorepair.errors import ProofFailed
from memorepair.graphs.closure import greatest_closed_subset, least_closed_superset
from memorepair.graphs.convert import to_csr
from memorepair.graphs.digraph import Index, Mask
from memorepair.problems import proof
from memorepair.problems.amounts import Amounts
from memorepair.problems.instances import SelectionInstance
from memorepair.problems.integers import Integers, Numbers, fraction, shown, total
from memorepair.problems.leaves import Leaf
from memorepair.problems.profits import BigProfits, big_profits
from memorepair.problems.proof import Certificate as Certificate
from memorepair.problems.proof import Question

Figure = int | float | Fraction
"""A float where values or costs are a float64 array or the tradeoff is a float; else exact, an int or, where
it is not whole, a Fraction, Decimals included. Beyond the range of a float it is exact too."""


def budgeted_amounts(instance: SelectionInstance) -> tuple[Amounts, Mask, Mask]:
    """Amounts on all candidates, 0 where barred; what is forced; what is barred."""
    barred = barred_nodes(instance)
    kept = Amounts.of(instance.value[~barred], instance.cost[~barred], instance.tradeoff, instance.limits)
    value = np.zeros(instance.k, np.int64)
    cost = np.zeros((instance.k, instance.kinds), np.int64)
    value[~barred], cost[~barred] = kept.value, kept.cost
    forced = least_closed_superset(instance.requires, instance.required)
    amounts = replace(kept, value=value, cost=cost)
    if any(amounts.slack) and not amounts.keeps(forced) and affordable(instance, forced):
        # The rounded budget grows to what is required; a set that keeps it then adds nothing that costs.
        limits = tuple(map(max, amounts.budget, amounts.spent(forced)))
        amounts = replace(amounts, budget=limits, widest=tuple(map(max, amounts.widest, limits)))
    return amounts, forced, barred


def affordable(instance: SelectionInstance, nodes: Mask) -> bool:
    """Whether `nodes` keep every budget, in exact arithmetic."""
    columns = instance.cost[nodes].reshape(-1, instance.kinds).T
    return all(
        total(cast(Numbers, np.ascontiguousarray(column))) <= fraction(limit)
        for column, limit in zip(columns, instance.limits, strict=True)
    )


def barred_nodes(instance: SelectionInstance) -> Mask:
    if instance.executable.all():
        return ~instance.executable
    return ~greatest_closed_subset(instance.requires, instance.executable)


def places_of(instance: SelectionInstance, path: Sequence[Hashable]) -> list[int]:
    """Positions of the ids on a path, all at once."""
    named = None if instance.ids is None else {id: place for place, id in enumerate(instance.ids)}
    try:
        return [instance.position(id) if named is None else named[id] for id in path]
    except (KeyError, TypeError):
        raise ProofFailed("the path names what is no candidate", witness=path) from None


def is_leaf(leaf: object, kinds: int) -> bool:
    return (
        isinstance(leaf, Leaf)
        and isinstance(leaf.certificate, Certificate)
        and isinstance(leaf.price, tuple)
        and len(leaf.price) == kinds
        and all(isinstance(one, (int, Fraction)) for one in leaf.price)
        and isinstance(leaf.decisions, tuple)
        and all(
            isinstance(one, tuple) and len(one) == 2 and type(one[0]) is int and type(one[1]) is bool
            for one in leaf.decisions
        )
    )


def check_same(name: str, claimed: object, found: object) -> None:
    if not _same(claimed, found):
        raise ProofFailed(f"{name} is {shown(found)}, not {shown(claimed)}", witness=claimed)


def _same(claimed: object, found: object) -> bool:
    if isinstance(claimed, tuple) and isinstance(found, tuple):
        return len(claimed) == len(found) and all(map(_same, claimed, found))
    return type(claimed) is type(found) and bool(claimed == found)


def check_witnesses(instance: SelectionInstance, barred_by: Index) -> None:
    """`barred_by` names, for what is barred and nothing else, a nearest non-executable prerequisite."""
    k, requires = instance.k, instance.requires
    if not isinstance(barred_by, np.ndarray) or barred_by.dtype != np.int32 or barred_by.shape != (k,):
        raise ProofFailed(f"barred_by must be int32 of shape ({k},)", witness=type(barred_by).__name__)
    barred = barred_nodes(instance)
    wrong = np.where(barred, (barred_by < 0) | (barred_by >= k), barred_by != -1)
    if barred.any() and not wrong.any():
        # By induction on the distance d to what is not executable: a node at d > 0 whose witness is that of a
        # prerequisite at d - 1 has a path of d arcs to it, and one that is not executable is its own.
        distance = dijkstra(
            to_csr(requires.reverse()),
            indices=np.flatnonzero(~instance.executable),
            unweighted=True,
            min_only=True,
        )
        tails, heads = requires.tails(), requires.heads
        nearer = (distance[tails] == distance[heads] + 1) & (barred_by[tails] == barred_by[heads])
        held = np.where(instance.executable, False, barred_by == np.arange(k))
        held[tails[nearer]] = True
        wrong = barred & ~held
    if wrong.any():
        place = int(np.flatnonzero(wrong)[0])
        raise ProofFailed("the witnesses of what is barred are wrong", witness=instance.id_of(place))


def check_choice(instance: SelectionInstance, question: Question, mask: Mask, barred_by: Index) -> None:
    if not isinstance(mask, np.ndarray) or mask.shape != (instance.k,) or mask.dtype != np.bool_:
        raise ProofFailed(f"mask must be boolean of shape ({instance.k},)", witness=type(mask).__name__)
    proof.check_feasible(question, mask)
    if (
        not np.array_equal(barred_by >= 0, question.barred)
        or instance.executable[barred_by[question.barred]].any()
    ):
        raise ProofFailed("the witnesses of what is barred are wrong", witness=int(question.barred.sum()))


def costs_of(instance: SelectionInstance, mask: Mask) -> tuple[Figure, ...]:
    costs = instance.cost[mask].reshape(-1, instance.kinds)
    columns = [cast(Numbers, np.ascontiguousarray(costs[:, kind])) for kind in range(instance.kinds)]
    return tuple(figure(instance, total(column)) for column in columns)


def question_of(instance: SelectionInstance, *, big: bool) -> tuple[Question, BigProfits]:
    # Profits are scaled over what is not barred, so that what cannot be chosen costs no digits.
    requires = instance.requires
    barred = barred_nodes(instance)
    if barred.any():
        priced = big_profits(instance.value[~barred], instance.cost[~barred], instance.tradeoff, big=big)
        profit = cast(Integers, np.zeros(instance.k, priced.profit.dtype))
        profit[~barred] = priced.profit
    else:
        priced = big_profits(instance.value, instance.cost, instance.tradeoff, big=big)
        profit = priced.profit
    forced = least_closed_superset(requires, instance.required)
    return Question(requires=requires, profit=profit, forced=forced, barred=barred), priced


def figure(instance: SelectionInstance, exact: Fraction) -> Figure:
    """`exact` as the caller of `instance` reads it: a float where it holds floats."""
    if isinstance(instance.tradeoff, float) or np.float64 in (instance.value.dtype, instance.cost.dtype):
        try:
            return float(exact)
        except OverflowError:
            return exact
    return int(exact) if exact.denominator == 1 else exact
