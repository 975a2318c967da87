"""The closure as a linear program, between an instance and the files that hold one.

    max  sum_i p_i x_i    s.t.  x_i - x_j <= 0 where i requires j,  0 <= x <= 1,  sum_i c_i x_i <= beta

Without a budget its matrix is totally unimodular: the program solved as it stands gives whole numbers. With
one it needs integer variables. A required candidate has the lower bound 1, one that cannot be executed the
upper bound 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import numpy as np
import numpy.typing as npt

from memorepair.errors import InvalidFile
from memorepair.formats.text import decimal, fault
from memorepair.graphs.digraph import Digraph, Int64
from memorepair.problems import SelectionInstance
from memorepair.problems.integers import Number, fraction, shown

Exact = int | Fraction


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Row:
    """A constraint ``sum coefficients * columns <= limit`` with the line it stands on."""

    columns: Sequence[int]
    coefficients: Sequence[Exact]
    limit: Exact
    line: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Program:
    """What an LP or MPS file says, k variables.

    Attributes
    ----------
    names
        Of the variables, in order.
    profits : k numbers
        Objective, to be maximised.
    arcs : (m, 2) int64
        Prerequisites: rows ``x - y <= 0``, x and y.
    rows
        The others, in any order: budgets, or prerequisites as well.
    lower, upper : k of 0 or 1
        Bounds.
    whole
        Whether all variables are integers.
    """

    names: Sequence[str]
    profits: Sequence[Exact]
    arcs: Int64
    rows: Sequence[Row]
    lower: Sequence[int]
    upper: Sequence[int]
    whole: bool

    def instance(self) -> SelectionInstance:
        """The instance with the same feasible sets and the same objective; its tradeoff is 0.

        Raises
        ------
        InvalidFile
            A row is neither a prerequisite nor a budget, or a budget on continuous variables (witness: its
            line).
        """
        k = len(self.names)
        arcs: list[tuple[int, int]] = []
        budgets: list[Row] = []
        for row in self.rows:
            two = len(row.coefficients) == 2
            if two and sorted(row.coefficients) == [-1, 1] and row.limit == 0:
                one = row.columns[row.coefficients.index(1)]
                arcs.append((one, row.columns[row.coefficients.index(-1)]))
            elif row.limit >= 0 and all(coefficient.numerator >= 0 for coefficient in row.coefficients):
                if not self.whole:
                    raise fault(row.line, "a budget on variables that are not all integer")
                budgets.append(row)
            else:
                raise fault(row.line, "neither 'x - y <= 0' nor a budget, 'sum of costs <= limit'")
        costs: list[list[Exact]] = [[0] * k for _ in budgets]
        for cost, row in zip(costs, budgets, strict=True):
            for column, coefficient in zip(row.columns, row.coefficients, strict=True):
                cost[column] += coefficient
        limits = tuple(row.limit for row in budgets)
        one_cost = costs[0] if costs else [0] * k
        ends = np.concatenate([self.arcs, np.array(arcs, np.int64).reshape(-1, 2)])
        positions = all(name == f"x{place}" for place, name in enumerate(self.names))
        return SelectionInstance(
            value=cast("npt.NDArray[np.object_]", list(self.profits)),
            cost=cast(
                "npt.NDArray[np.object_]", one_cost if len(costs) <= 1 else list(zip(*costs, strict=True))
            ),
            requires=Digraph.from_arcs(k, ends[:, 0], ends[:, 1]),
            executable=np.array(self.upper, np.int64) == 1,
            required=np.array(self.lower, np.int64) == 1,
            ids=None if positions else tuple(self.names),
            budget=None if not limits else limits[0] if len(limits) == 1 else limits,
        )


def variable(place: int) -> str:
    """Name of the candidate at `place` in a file."""
    return f"x{place}"


def check_counted(instance: SelectionInstance) -> None:
    """Raise InvalidFile where there are costs that neither a tradeoff nor a budget counts."""
    if not fraction(instance.tradeoff) and instance.budget is None and np.any(instance.cost != 0):
        raise InvalidFile(
            "costs are held through a tradeoff or beside a budget; without either they would be lost",
            witness="cost",
        )


def net(instance: SelectionInstance) -> list[str]:
    """Profits w - lambda c as decimals, exact.

    Raises
    ------
    InvalidFile
        One has no finite decimal (witness: the id); or there are costs that neither a tradeoff nor a budget
        counts, which the file would lose.
    """
    check_counted(instance)
    price = fraction(instance.tradeoff)
    worth: list[Number] = instance.value.tolist()
    if price:
        costs: list[Number] = instance.cost.tolist()
        worth = [fraction(w) - price * fraction(c) for w, c in zip(worth, costs, strict=True)]
    return [decimal(one, instance.id_of(place)) for place, one in enumerate(worth)]


def budget_rows(instance: SelectionInstance) -> list[tuple[list[str], str]]:
    """Costs of each candidate and the limit, of each budget, as decimals."""
    rows = []
    for kind, limit in enumerate(instance.limits):
        column = instance.cost if instance.cost.ndim == 1 else instance.cost[:, kind]
        costs = [decimal(one, instance.id_of(place)) for place, one in enumerate(column.tolist())]
        rows.append((costs, decimal(limit, "budget")))
    return rows


def arcs(instance: SelectionInstance) -> list[tuple[int, int]]:
    """The prerequisites, without loops: these ask nothing, and a row cannot name a variable twice."""
    requires = instance.requires
    pairs = zip(requires.tails().tolist(), requires.heads.tolist(), strict=True)
    return [(tail, head) for tail, head in pairs if tail != head]


def comments(instance: SelectionInstance) -> list[str]:
    """Which candidate each variable is, where candidates have names."""
    return [f"{variable(place)} is {name}" for place, name in enumerate(plain_names(instance))]


def plain_names(instance: SelectionInstance) -> list[str]:
    """The candidates' names in ASCII for a comment, none where they have none."""
    return [shown(id).encode("ascii", "backslashreplace").decode("ascii")[:200] for id in instance.ids or ()]
